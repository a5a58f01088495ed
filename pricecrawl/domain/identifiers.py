"""Product identifiers as shops write them, brought to one key: the GTIN-14.

GTIN-8, UPC-A, GTIN-13 and GTIN-14 are one number space of GS1, right-aligned; an ISBN-10 and an ISMN
have a thirteen-digit form in it. Check digits come from python-stdnum. A number from a range that GS1
keeps for use within one company or for coupons is well-formed and still no key: two shops use it for
two products.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from stdnum import ean, isbn, ismn, issn

from pricecrawl.domain.money_numbers import fold

MAX_TEXT = 200


@dataclass(frozen=True, slots=True)
class Identifier:
    """One identifier read from a text.

    `text` is what was found, without separators; `type` one of `gtin8`, `upc`, `gtin13`, `gtin14`,
    `isbn10`, `isbn13`, `ismn`, `issn`, or None where the check digit or length is wrong. `gtin14` is
    the key, None where the number is not valid, not a GTIN (a bare ISSN) or `restricted`. `indicator`
    is the first digit of a GTIN-14 where it says that this is a case of something (1 to 8) or sold by
    measure (9); else 0.
    """

    valid: bool = False
    gtin14: str | None = None
    type: str | None = None
    text: str | None = None
    restricted: bool = False
    indicator: int = 0


NOTHING = Identifier()

_LABEL = re.compile(
    r"^(?:(?P<label>isbn|ean|gtin|upc|issn|ismn|jan|barcode|ucc|itf|gs1|strichcode|code[- ]barres)"
    r"(?:[- ]?[ae](?=\W|\d))?)"
    r"(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_EDGE = " \t\r\n()[]{}#:;.,-–—_*'\"/"
_SIZES = ("14", "13", "12", "10", "8")
_LENGTHS = {8, 10, 11, 12, 13, 14}
_UPC_E = re.compile(r"upc[-_ ]?e", re.IGNORECASE)


def read_gtin(text: str | None, *, symbology: str | None = None) -> Identifier:
    """The identifier that a text holds, with or without a label and separators. Never raises.

    `symbology` says how a code was printed: eight digits of a `UPC-E` symbol are a zero-suppressed UPC-A.
    """
    if not text or not isinstance(text, str):
        return NOTHING
    bare = fold(text[:MAX_TEXT]).strip(_EDGE)
    label = ""
    match = _LABEL.match(bare)
    readings = [bare]
    if match:
        label = match["label"].casefold()
        rest = match["rest"]
        readings = [rest.strip(_EDGE)]
        trimmed = rest.lstrip(" -_")
        readings += [trimmed[len(size) :].strip(_EDGE) for size in _SIZES if trimmed.startswith(size)]
    found = [code for code in map(_digits, readings) if code]
    if symbology and _UPC_E.fullmatch(symbology.strip()):
        found = [upc for upc in map(expand_upc_e, found) if upc]
    known = [_identify(code, label, dashed) for code, dashed in _with_shape(found, readings)]
    best = next((item for item in known if item.valid), None)
    if best is not None:
        return best
    fits = [item for item in known if item.text and len(item.text) in _LENGTHS]
    return fits[0] if fits else NOTHING


def to_gtin14(code: str) -> str | None:
    """The GTIN-14 of a valid GTIN-8, UPC-A, GTIN-13 or GTIN-14 without separators; None for anything else."""
    if not re.fullmatch(r"\d{8}|\d{12,14}", code, re.ASCII) or not code.strip("0") or not ean.is_valid(code):
        return None
    return code.zfill(14)


def expand_upc_e(code: str) -> str | None:
    """The UPC-A of a UPC-E number (six digits, or eight with number system and check digit)."""
    if re.fullmatch(r"\d{6}", code, re.ASCII):
        body = _upc_a_body("0", code)
        return body + str(ean.calc_check_digit(body))
    if not re.fullmatch(r"[01]\d{7}", code, re.ASCII):
        return None
    full = _upc_a_body(code[0], code[1:7]) + code[7]
    return full if ean.is_valid(full) else None


def is_restricted(gtin14: str) -> bool:
    """True in the ranges of GS1 that are no product keys: in-store, within a company, coupons, refunds."""
    if gtin14.startswith("000000"):
        return gtin14[6] in "02"
    thirteen = gtin14[1:]
    return thirteen.startswith(("02", "04", "05", "2", "980", "981", "982", "983", "984", "99"))


def _upc_a_body(system: str, digits: str) -> str:
    last = digits[5]
    if last in "012":
        return f"{system}{digits[:2]}{last}0000{digits[2:5]}"
    if last == "3":
        return f"{system}{digits[:3]}00000{digits[3:5]}"
    if last == "4":
        return f"{system}{digits[:4]}00000{digits[4]}"
    return f"{system}{digits[:5]}0000{last}"


def _digits(text: str) -> str | None:
    """Digits (and a last X) of a text that holds nothing else but blanks and hyphens.

    A float's `.0` is dropped.
    """
    bare = re.sub(r"\.0{1,2}$", "", text)
    if not re.fullmatch(r"[\d][\d\s-]*[\dXx]", bare, re.ASCII):
        return None
    return re.sub(r"[\s-]", "", bare).upper()


def _with_shape(codes: list[str], readings: list[str]) -> list[tuple[str, bool]]:
    """Each code with whether it was written `1234-5678`, as only an ISSN is."""
    dashed = any(re.fullmatch(r"\d{4}-\d{3}[\dXx]", reading) for reading in readings)
    return [(code, dashed) for code in codes]


def _identify(code: str, label: str, dashed: bool) -> Identifier:
    if not code.strip("0") or len(set(code)) == 1:
        return Identifier(text=code)
    if len(code) == 8:
        return _eight(code, periodical=dashed or label == "issn")
    if not code.isdigit() and len(code) != 10:
        return Identifier(text=code)
    if len(code) == 10:
        if isbn.is_valid(code):
            return _valid(code, "isbn10", isbn.to_isbn13(code).zfill(14))
        return Identifier(text=code)
    # A spreadsheet drops the leading zero of a UPC; the check digit tells.
    padded = code.zfill(12) if len(code) == 11 else code
    key = to_gtin14(padded)
    if key is None:
        return Identifier(text=code)
    return _valid(code, _type(padded), key)


def _eight(code: str, *, periodical: bool) -> Identifier:
    key = to_gtin14(code)
    if key is not None and not periodical:
        return _valid(code, "gtin8", key)
    if issn.is_valid(code):
        return Identifier(valid=True, type="issn", text=code)
    return Identifier(text=code) if key is None else _valid(code, "gtin8", key)


def _type(code: str) -> str:
    if len(code) == 14:
        return "gtin14"
    if len(code) == 12:
        return "upc"
    if code.startswith("9790") and ismn.is_valid(code):
        return "ismn"
    return "isbn13" if code.startswith(("978", "979")) else "gtin13"


def _valid(code: str, kind: str, key: str) -> Identifier:
    restricted = is_restricted(key)
    return Identifier(
        valid=True,
        gtin14=None if restricted else key,
        type=kind,
        text=code,
        restricted=restricted,
        indicator=int(key[0]),
    )
