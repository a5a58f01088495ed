"""Which names in a page's markup will still be there tomorrow, and which speak of a price.

A class that a build tool made (`css-1x2y3z`, `sc-bdVaJa`), a layout utility (`mt-4`, `col-md-6`) or an id
with a product's number in it finds the price today and something else, or nothing, tomorrow.
"""

from __future__ import annotations

import re
from itertools import pairwise

from pricecrawl.extraction.selector_index import Node

STABLE_ATTRIBUTES = (
    "itemprop",
    "property",
    "data-testid",
    "data-test",
    "data-test-id",
    "data-qa",
    "data-automation-id",
    "data-hook",
    "data-element",
    "data-role",
    "data-price-type",
    "data-cy",
    "data-e2e",
    "data-enzyme-id",
    "data-component",
    "name",
)
"""Attributes that are written for machines or tests and outlive a redesign, the surest first."""

VALUE_ATTRIBUTES = ("content", "value", "data-value", "data-amount", "datetime", "amount")
"""Attributes besides any with `price` in their name whose value may be a price."""

SPOKEN_ATTRIBUTES = ("aria-label", "title", "alt")
"""Attributes that a browser reads out or shows: a price may stand there alone, its digits drawn elsewhere."""

_SPOKEN = re.compile(
    r"pri[cxs]|prei[sx]|prezz|prec[ie]|preco|preço|precio|prijs|pris\b|cena|cijena|kaina|hind\b|hinta|amount|cost|"
    r"fiyat|harga|gia\b|цена|ціна|سعر|价|價|価格|가격|ราคา",
    re.IGNORECASE,
)
_CURRENT = re.compile(
    r"sale|special|now|current|final|offer|deal|our|selling|today|actual|buy|main|product", re.IGNORECASE
)
_OTHER = re.compile(
    r"\bwas|was[-_ ]|old|list[-_]?price|rrp|msrp|uvp|strike|stroke|cross|before|previous|regular|original|"
    r"compare|"
    r"sav(e|ing)|discount|unit|per[-_]|base[-_]?price|instal|month|finance|credit|shipp|deliver|relat|recommend|"
    r"similar|upsell|cross[-_]?sell|also|bundle|accessor|sponsor|cart|basket|wish|member|club|loyal|coupon|gift|"
    r"warrant|swatch|carousel|slider|tile|range|total|excl|option|choice|min[-_]|max[-_]",
    re.IGNORECASE,
)
_UTILITY = re.compile(
    r"(?:(?:xs|sm|md|lg|xl|xxl|hover|focus|active)[:-])?(?:[mp][trblxy]?|w|h|col|row|gap|z|top|left|order|flex|grid|text|"
    r"font|fs|fw|bg|border|rounded|d|u|l|is|has|js|pull|float|align|justify|items|inline|block|hidden|visible|relative|"
    r"absolute|clearfix|container|wrapper|active|selected|show|hide|open|fade|in|bold|small|large|medium|tiny|big)"
    r"(?:[-_:/].*)?\d*\Z",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"\A[a-z]{1,3}[-_]{1,2}")
"""A design system's own letters before each of its classes."""
_MADE = re.compile(r"(?:css|sc|jss|jsx|svelte|emotion|styled|makeStyles|tw|_)[-_]?[A-Za-z0-9]{4,}\Z")
_VOWELS = re.compile(r"[aeiouyAEIOUY]")


def speaks_of_price(text: str) -> bool:
    """Whether a name has a word for price in it, in one of many languages."""
    return _SPOKEN.search(text) is not None


def speaks_of_current(text: str) -> bool:
    """Whether a name tells the price to pay from other prices."""
    return _CURRENT.search(text) is not None


def speaks_of_other(text: str) -> bool:
    """Whether a name belongs to an old, unit, shipping, member's or another product's price."""
    return _OTHER.search(text) is not None


def is_stable(name: str) -> bool:
    """Whether a class, id or attribute value is likely to be the same on the next page and next month."""
    if not 2 <= len(name) <= 60 or not re.match(r"[A-Za-z_À-￿][\w.:-]*\Z", name):
        return False
    digits = sum(char.isdigit() for char in name)
    if digits > 3 or digits * 3 > len(name):
        return False
    if _MADE.match(name) and not speaks_of_price(name):
        return False
    return not any(_is_scrambled(part) for part in re.split(r"[-_.:]+", name))


def is_utility(name: str) -> bool:
    """Whether a class is about looks or a passing state and says nothing of what stands there."""
    return any(_UTILITY.match(part) for part in (name, _PREFIX.sub("", name)))


def _is_scrambled(part: str) -> bool:
    """A piece of a name that no person would write: a number, a hash, many letters without a vowel."""
    if part.isdigit():
        return len(part) > 1
    if len(part) < 5:
        return False
    has_digit = any(char.isdigit() for char in part)
    mixed = part != part.lower() and part != part.upper()
    if has_digit and (mixed or not part.rstrip("0123456789").isalpha()):
        return True
    if re.fullmatch(r"[A-Za-z]{6,}", part) and not _VOWELS.search(part):
        return True
    # A hash of letters changes case more often than words in a row do.
    changes = sum(a.islower() and b.isupper() for a, b in pairwise(part))
    return changes >= 2 and len(part) <= 3.5 * changes


def names_of(element: Node) -> str:
    """All that an element is called, for the words above."""
    wanted = ("class", "id", *STABLE_ATTRIBUTES, "aria-label")
    return " ".join(value for name in wanted if (value := element.get(name)))
