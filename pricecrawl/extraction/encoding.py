"""Which characters the bytes of a page mean.

Order of the WHATWG encoding standard: byte order mark, then the transport's charset, then the
document's own declaration, then UTF-8 if the bytes are valid UTF-8, then the legacy encoding of
the page's language. Labels mean what browsers take them for: gb2312 is GB18030, iso-8859-1 is
windows-1252, a document that calls itself UTF-16 in a meta tag is UTF-8.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping

from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding, read_bom, resolve_encoding

# The WHATWG table of fallback encodings per language, as far as it is not windows-1252.
_LEGACY = {
    language: encoding
    for encoding, languages in {
        "windows-1250": "cs hr sk",
        "windows-1251": "ba be bg kk ky mk ru sah sr tg tt uk",
        "windows-1254": "ku tr",
        "windows-1255": "he",
        "windows-1256": "ar fa",
        "windows-1257": "et lt lv",
        "windows-1258": "vi",
        "windows-874": "th",
        "iso-8859-2": "hu pl sl",
        "iso-8859-7": "el",
        "cp932": "ja",
        "cp949": "ko",
        "gb18030": "zh",
        "big5hkscs": "zh_tw zh_hk",
    }.items()
    for language in languages.split()
}

# Labels that Python does not know or understands more narrowly than browsers do.
_LABELS = {
    "x-gbk": "gb18030",
    "gbk": "gb18030",
    "x-sjis": "cp932",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "x-x-big5": "big5hkscs",
}


def _codec(label: str | None) -> str | None:
    if not label:
        return None
    label = label.strip().strip("\"'").lower()
    name = resolve_encoding(_LABELS.get(label, label))
    if name is None:
        return None
    name = _LABELS.get(name, name)
    try:
        info = codecs.lookup(name)
    except LookupError:
        return None
    # Codecs such as base64 or rot13 are not encodings of text.
    return info.name if getattr(info, "_is_text_encoding", True) else None


def content_type(headers: Mapping[str, str] | None) -> str:
    """Value of the Content-Type header whatever the case of its name; empty if there is none."""
    for name, value in (headers or {}).items():
        if name.lower() == "content-type":
            return value
    return ""


def decode(
    body: bytes, *, headers: Mapping[str, str] | None = None, locale: str | None = None
) -> tuple[str, str]:
    """Text of a response body and the name of the encoding that gave it. Never raises.

    Bytes that the encoding cannot mean become U+FFFD. A byte order mark is not part of the text.
    """
    marked, mark = read_bom(body)
    if marked is not None and mark is not None:
        return body[len(mark) :].decode(marked, "replace"), marked
    stated = _codec(http_content_type_encoding(content_type(headers)))
    if stated is None:
        stated = _codec(html_body_declared_encoding(body[:4096]))
        if stated is not None and stated.startswith(("utf-16", "utf-32")):
            stated = "utf-8"
    if stated is not None:
        return body.decode(stated, "replace"), stated
    try:
        return body.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        pass
    language = (locale or "").replace("-", "_").lower()
    legacy = _LEGACY.get(language) or _LEGACY.get(language.split("_")[0], "cp1252")
    return body.decode(_codec(legacy) or "cp1252", "replace"), legacy
