"""Exact identity: a trusted GTIN, then brand and part number, each held against what else is known.

An identifier settles the matter only where nothing contradicts it. Shops put the number of a single
bottle on a crate of six, of the perfume on its tester, and now and then simply the wrong one; each
contradiction sends the pair to a person instead of into a price.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from pricecrawl.domain.mapping import MappingMethod, MappingStatus
from pricecrawl.domain.offer import ONE_UNIT, Content, same_content

VERSION = "exact-2"


@dataclass(frozen=True, slots=True)
class Product:
    """One side of a pair: a listing or one of our SKUs. `gtins` are GTIN-14."""

    key: str
    name: str
    brand: str = ""
    gtins: frozenset[str] = frozenset()
    mpns: frozenset[str] = frozenset()
    content: Content = ONE_UNIT
    variant: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """A pair that an identifier makes, and what speaks against it."""

    sku: str
    method: MappingMethod
    identifier: str
    contradictions: tuple[str, ...] = ()

    @property
    def status(self) -> MappingStatus:
        """Accepted unless something contradicts it."""
        return MappingStatus.REVIEW_REQUIRED if self.contradictions else MappingStatus.AUTO_ACCEPTED


@dataclass(slots=True)
class Index:
    """Our SKUs by identifier."""

    by_gtin: dict[str, list[Product]] = field(default_factory=dict)
    by_part: dict[tuple[str, str], list[Product]] = field(default_factory=dict)

    @classmethod
    def of(cls, skus: Iterable[Product]) -> Index:
        """An index of these SKUs."""
        index = cls()
        for sku in skus:
            for gtin in sku.gtins:
                index.by_gtin.setdefault(gtin, []).append(sku)
            for part in _parts(sku):
                index.by_part.setdefault(part, []).append(sku)
        return index


def match_exact(listing: Product, index: Index) -> tuple[Match, ...]:
    """Every SKU that an exact identifier of the listing names, by SKU.

    A part number counts only with its maker and only where no GTIN has spoken; where the two name
    different SKUs, all of them go to review.
    """
    by_gtin = {sku.key: (sku, gtin) for gtin in sorted(listing.gtins) for sku in index.by_gtin.get(gtin, ())}
    by_part = {
        sku.key: (sku, part[1]) for part in sorted(_parts(listing)) for sku in index.by_part.get(part, ())
    }
    found, method = (
        (by_gtin, MappingMethod.GTIN_EXACT) if by_gtin else (by_part, MappingMethod.BRAND_MPN_EXACT)
    )
    general: list[str] = []
    if len(found) > 1:
        general.append(f"the identifier names several SKUs: {', '.join(sorted(found))}")
    elsewhere = sorted(set(by_part) - set(by_gtin)) if by_gtin and not set(by_gtin) & set(by_part) else []
    if elsewhere:
        general.append(f"maker and part number name another SKU: {', '.join(elsewhere)}")
    return tuple(
        Match(key, method, identifier, (*general, *contradictions(listing, sku)))
        for key, (sku, identifier) in sorted(found.items())
    )


def contradictions(listing: Product, sku: Product) -> tuple[str, ...]:
    """What the two descriptions say that cannot both be true of one product, as sentences."""
    found = []
    if listing.content.pack != sku.content.pack:
        found.append(f"a pack of {listing.content.pack} there, of {sku.content.pack} here")
    elif not same_content(listing.content, sku.content):
        found.append(f"{_content(listing.content)} there, {_content(sku.content)} here")
    brands_agree = _same_brand(listing.brand, sku.brand)
    if brands_agree is False:
        found.append(f"the brand is {listing.brand} there, {sku.brand} here")
    theirs, ours = words(f"{listing.name} {listing.variant}"), words(sku.name)
    for what, marks in _MARKS.items():
        said, meant = theirs & marks, ours & marks
        one_sided = what in _TELLING_ALONE and bool(said) != bool(meant)
        if one_sided or (said and meant and not said & meant):
            found.append(f"{what}: {_list(said)} there, {_list(meant)} here")
    if brands_agree is not True and theirs and ours and not theirs & ours:
        found.append("the two names have no word in common")
    return tuple(found)


@lru_cache(maxsize=4096)
def words(text: str) -> frozenset[str]:
    """The words of a name without case, accents and punctuation; numbers stay whole."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    return frozenset(re.findall(r"[^\W_]+", plain))


def part_key(text: str) -> str:
    """A part number without case and separators: `AB-12/3` and `ab123` are one."""
    return re.sub(r"[\W_]+", "", text).casefold()


def _parts(product: Product) -> set[tuple[str, str]]:
    brand = part_key(product.brand)
    # A part number of one or two characters is a size or a colour code as often as not.
    return {(brand, key) for mpn in product.mpns if brand and len(key := part_key(mpn)) >= 3}


def _same_brand(one: str, other: str) -> bool | None:
    """None where a side states no brand."""
    first, second = words(one), words(other)
    if not first or not second:
        return None
    joined, other_joined = part_key(one), part_key(other)
    return bool(first & second) or joined in other_joined or other_joined in joined


def _content(content: Content) -> str:
    if content.base_quantity is None:
        return f"{content.pack} pieces"
    return f"{content.base_quantity.normalize():f} {content.base_unit}"


def _list(marks: frozenset[str]) -> str:
    return ", ".join(sorted(marks)) or "nothing of the kind"


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that make another article of it. Those that tell alone are never left out of a name by
# chance: a tester is called a tester.
_MARKS: Mapping[str, frozenset[str]] = {
    "presentation": _set(
        "tester refill nachfuller nachfullung recharge sample probe echantillon miniature mini travel "
        "bundle giftset geschenkset coffret estuche"
    ),
    "condition": _set("refurbished renewed reconditioned generaluberholt used gebraucht occasion"),
    "colour": _set(
        "black white red blue green yellow orange purple violet pink brown grey gray beige silver gold navy "
        "turquoise schwarz weiss rot blau grun gelb lila rosa braun grau silber noir blanc rouge bleu vert "
        "jaune rose brun gris argent nero bianco rosso blu verde giallo negro blanco rojo azul amarillo"
    ),
    "for whom": _set("men women herren damen homme femme uomo donna kids kinder baby"),
    "fit": _set("xxs xs s m l xl xxl xxxl"),
}
_TELLING_ALONE = frozenset({"presentation", "condition"})
