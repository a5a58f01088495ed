"""What a response's text shows, cheaply and in linear time: title, visible words, scripts, product evidence.

No DOM is built here: a page is judged before anything is extracted from it, so hostile bytes must cost
little. Every search is a literal or an expression that cannot backtrack.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from functools import cached_property

MAX_BYTES = 1024 * 1024
"""What is looked at of one body; an interstitial is a few kilobytes."""

_CHARSET = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9_.:-]{2,40})", re.ASCII)
_TEXT_CODEC = re.compile(
    r"utf-?8|utf-?16(?:-?[lb]e)?|(?:x-)?(?:iso-?8859|latin|windows|cp|koi8|mac|tis|big5|gb|euc|iso-?2022|s?hift_?jis|"
    r"sjis|ks_c|us-ascii|ascii)[\w-]*",
    re.IGNORECASE,
)
"""Encodings of web pages; a declared name outside of these never reaches the codec registry."""
_LONG_REFERENCE = re.compile(r"&#(?:[0-9]{8,}|x[0-9a-f]{8,});?")
_HIDDEN = re.compile(r"<(script|style|noscript|template|svg|title|dialog)\b|<!--")
_TAG = re.compile(r"<[^<>]*>")
_TITLE = re.compile(r"<title\b[^<>]*>([^<]{0,500})")
_HEADING = re.compile(r"<h[12]\b[^<>]*>")
_SOURCE = re.compile(r"<(?:script|iframe)\b[^<>]*?\bsrc\s*=\s*[\"']?([^\"'<> ]+)")
_LINK = re.compile(r"<a\b[^<>]*\bhref\s*=")
_JSON_LD = re.compile(r"<script\b[^<>]*\bapplication/ld\+json\b[^<>]*>")
_LD_PRODUCT = re.compile(
    r"\"@?type\"\s*:\s*(?:\[[^\]]{0,200})?\"(?:https?://schema\.org/)?"
    r"(?:product|productgroup|productmodel|individualproduct|someproducts|book|vehicle|offer)\""
)
_LD_PRICE = re.compile(r"\"(?:price|lowprice|highprice)\"\s*:\s*\"?[^\"0-9,}\]]{0,12}[0-9]")
_LD_NAME = re.compile(r"\"(?:offers|sku|gtin[0-9]{0,2}|mpn)\"\s*:")
_META_PRICE = re.compile(r"<meta\b[^<>]*\b(?:product|og):price:amount\b[^<>]*>")
_DIGIT = re.compile(r"content\s*=\s*[\"']?\s*[^\"'<>0-9]{0,8}[0-9]")
_MICRODATA = re.compile(r"itemprop\s*=\s*[\"']?(?:price|lowprice)\b")
_PRODUCT_TYPE = re.compile(
    r"schema\.org/product\b|og:type[\"'][^<>]{0,40}product|itemtype=[\"'][^\"']{0,60}/product\b"
)
_BUY = (
    *(
        "add to cart",
        "add to bag",
        "add to basket",
        "add to trolley",
        "add-to-cart",
        "add-to-bag",
        "add_to_cart",
    ),
    *("add-to-basket", "addtocart", "add2cart", "add to my cart", "buy now", "buy-now", "in den warenkorb"),
    *(
        "ajouter au panier",
        "añadir al carrito",
        "agregar al carrito",
        "añadir a la cesta",
        "aggiungi al carrello",
    ),
    *(
        "in winkelwagen",
        "in winkelmand",
        "in de winkelwagen",
        "do koszyka",
        "adicionar ao carrinho",
        "comprar",
    ),
    *(
        "sepete ekle",
        "в корзину",
        "купити",
        "у кошик",
        "до кошика",
        "カートに入れる",
        "加入购物车",
        "加入購物車",
    ),
    *("장바구니", "أضف إلى", "أضف للسلة", "اضف", "lägg i varukorg", "lägg i kundvagn", "læg i kurv"),
    *("legg i handlekurv", "lisää ostoskoriin", "do košíku", "kosárba", "adaugă în coș", "καλάθι"),
    *("product-form", "/cart/add", "data-product-id", "btn-cart", "buybox", "buy-box"),
)
_AMOUNT = re.compile(
    r"(?:[$€£¥₹₽₺₴₩₪]|\b(?:usd|eur|gbp|chf|pln|sek|nok|dkk|czk|huf|ron|try|sar|aed|egp|inr|jpy|krw|brl|mxn|aud|cad|zł|kč|kr|руб|"
    r"грн|lei|ft|r\$|rs|s\$|ر\.س|tl)\b\.?)\s{0,2}[0-9][0-9.,'’\s]{0,12}|"
    r"(?<![0-9.,'’])[0-9][0-9.,'’]{0,12}\s{0,2}(?:[$€£¥₹₽₺₴₩₪円元원]|(?:usd|eur|gbp|chf|pln|sek|nok|dkk|czk|huf|ron|sar|aed|zł|kč|kr|руб|грн|lei|ft|ر\.س|ريال|tl)\b)"
)
_APP_ROOT = re.compile(
    r"<(?:div|main|section|body)\b[^<>]*\bid\s*=\s*[\"']?(?:root|app|__next|__nuxt|application|react-root|gatsby|"
    r"svelte|ember|main-app|page|wrapper|container)[\w-]*|<app-root|__next_data__|__nuxt__|window\.__initial"
)
_UPPER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


class PageFacts:
    """One body seen as a page; every property is computed once, when first asked.

    `low` is the decoded text in lower case (ASCII letters at least), the same length as `text`.
    """

    def __init__(self, body: bytes, headers: Mapping[str, str]) -> None:
        self.size = len(body)
        self.text = decode(body[:MAX_BYTES], headers)
        lowered = self.text.lower()
        self.low = lowered if len(lowered) == len(self.text) else self.text.translate(_UPPER)

    @cached_property
    def is_json(self) -> bool:
        """Starts like a JSON document and not like markup."""
        return self.low.lstrip("\ufeff \t\r\n")[:1] in ("{", "[")

    @cached_property
    def is_html(self) -> bool:
        """Carries at least one tag of a document."""
        return (
            not self.is_json
            and re.search(
                r"<(?:!doctype|html|head|body|title|meta|div|script|h1|p|iframe)\b|<!doctype",
                self.low[:20000],
            )
            is not None
        )

    @cached_property
    def title(self) -> str:
        """Text of the first title element, in lower case with single spaces."""
        match = _TITLE.search(self.low)
        return _words(match.group(1)) if match else ""

    @cached_property
    def headings(self) -> tuple[str, ...]:
        """Texts of the first headings of level one and two."""
        shown, found, position = self.markup, list[str](), 0
        while len(found) < 6 and (match := _HEADING.search(shown, position)) is not None:
            end = shown.find("</h", match.end(), match.end() + 2000)
            position = end if end >= 0 else match.end() + 2000
            found.append(_words(_TAG.sub(" ", shown[match.end() : position])))
        return tuple(found)

    @cached_property
    def visible(self) -> str:
        """What a reader without scripts sees, in lower case with single spaces; no title."""
        return _words(_TAG.sub(" ", self.markup))

    @cached_property
    def sources(self) -> str:
        """The addresses of all scripts and frames, one a line."""
        return "\n".join(_SOURCE.findall(self.low))

    @cached_property
    def links(self) -> int:
        """Number of anchors with an address."""
        return sum(1 for _ in _LINK.finditer(self.markup))

    @cached_property
    def app_root(self) -> bool:
        """Has the empty element that a script-drawn shop draws itself into."""
        return _APP_ROOT.search(self.low) is not None

    @cached_property
    def structured_product(self) -> bool:
        """Markup of one product with a price: JSON-LD, microdata or the product meta tags."""
        if _MICRODATA.search(self.low):
            return True
        if any(_DIGIT.search(meta.group()) for meta in _META_PRICE.finditer(self.low)):
            return True
        for block in self._json_ld:
            if _LD_PRODUCT.search(block) and (_LD_PRICE.search(block) or _LD_NAME.search(block)):
                return True
        return False

    @cached_property
    def amount(self) -> bool:
        """Shows an amount of money to a reader."""
        return _AMOUNT.search(self.visible) is not None

    @cached_property
    def product(self) -> bool:
        """Evidence that this is a product's own page: structured, or an amount beside a way to buy it."""
        if self.structured_product:
            return True
        if not self.is_html:
            return False
        return self.amount and any(phrase in self.markup for phrase in _BUY)

    @cached_property
    def _json_ld(self) -> tuple[str, ...]:
        blocks = []
        for match in _JSON_LD.finditer(self.low):
            end = self.low.find("</script", match.end())
            blocks.append(self.low[match.end() : end if end >= 0 else len(self.low)])
            if len(blocks) == 20:
                break
        return tuple(blocks)

    @cached_property
    def markup(self) -> str:
        """The document without the insides of scripts, styles and comments: tags and text alone."""
        kept: list[str] = []
        position, low = 0, self.low
        while (match := _HIDDEN.search(low, position)) is not None:
            kept.append(low[position : match.start()])
            name = match.group(1)
            if name is None:
                end = low.find("-->", match.end())
                position = end + 3 if end >= 0 else len(low)
            else:
                end = low.find(f"</{name}", match.end())
                close = low.find(">", end) if end >= 0 else -1
                position = close + 1 if close >= 0 else len(low)
                kept.append(" ")
        kept.append(low[position:])
        return "".join(kept)


def decode(body: bytes, headers: Mapping[str, str]) -> str:
    """The body as text: byte order mark, header, then meta charset, else UTF-8 with replacements."""
    for mark, name in ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    declared = _CHARSET.search(headers.get("content-type", ""))
    meta = declared or _CHARSET.search(body[:2048].decode("latin-1"))
    if meta is not None and _TEXT_CODEC.fullmatch(meta.group(1)):
        try:
            return body.decode(meta.group(1), "replace")
        except (LookupError, ValueError):
            pass
    return body.decode("utf-8", "replace")


def _words(text: str) -> str:
    return " ".join(html.unescape(_LONG_REFERENCE.sub(" ", text)).split()).lower()
