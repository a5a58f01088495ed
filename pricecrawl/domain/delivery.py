"""What delivery costs, as a shop writes it beside one product: a charge, nothing, or nothing from a sum on.

What only some get for nothing (members, holders of a code, who collects it) says nothing of the charge that
everybody pays, and neither does what is missing to a sum in somebody's basket.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from pricecrawl.domain.market import Market
from pricecrawl.domain.money import PriceReading, read_price
from pricecrawl.domain.promotion import MONEY

_FREE = re.compile(
    r"\bfree\b|gratis|kostenlos|kostenfrei|\bfrei\b|gratuit|offert|zdarma|za darmo"
    r"|бесплатн|безкоштовн|無料|免运费|包邮|무료|مجاني|חינם|ücretsiz",
    re.IGNORECASE,
)
_OVER = r"over|above|exceeding|über|oltre|boven|över|powyżej"
_FROM = r"from|of|ab|dès|à partir de|a partir de|desde|da|vanaf|från|fra|od|от"
_LIMIT = re.compile(
    rf"(?<!\w)(?:(?P<over>{_OVER})|{_FROM})\s+(?:(?:einem|bestellwert|orders?|of|von|de|d'achats?)\s+){{0,3}}"
    rf"(?P<money>{MONEY})",
    re.IGNORECASE,
)
# For something else, or for some.
_ELSE = re.compile(
    r"\b(?:collect(?:ion)?|pick[- ]?up|in[- ]store|abholung|selbstabhol\w*|filiale|retrait|magasin|recogida"
    r"|tienda|ritiro|negozio|afhalen|ophalen|odbiór|returns?|rückgabe|retouren?|retours?|devoluci\w+|resi|gift|samples?"
    r"|prime|members?(?:hip)?|mitglied\w*|membres?|soci[os]?|leden|clubs?|code|coupon|gutschein|subscri\w+|abo)\b",
    re.IGNORECASE,
)
# Free on a condition, or not yet.
_IF = re.compile(
    r"\b(?:with|mit|avec|con|met|when|if|wenn|first|app|noch|away|left|encore|altri|nog|bis zu[mr]?)\b"
    r"|\d\W{0,3}(?:more|mehr|de plus|más)\b",
    re.IGNORECASE,
)
_PARTS = re.compile(r"[;|()•]|[.,](?!\d)|\s[-–—]\s")


@dataclass(frozen=True, slots=True)
class Charge:
    """`amount` in major units of `currency`, None where the text does not say.

    `free_from` is the price from which on nothing is charged, or, with `over`, the one beyond which.
    """

    amount: Decimal | None = None
    currency: str | None = None
    free_from: Decimal | None = None
    over: bool = False

    def of(self, price: Decimal | None, currency: str | None) -> Decimal | None:
        """The charge for one article at `price`, in the currency of the price; None where it is not known."""
        if currency is not None and self.currency is not None and self.currency != currency:
            return None
        if price is None or self.free_from is None or price < self.free_from:
            return self.amount
        return self.amount if price == self.free_from and self.over else Decimal(0)


UNKNOWN = Charge()
NOTHING = PriceReading()


@lru_cache(maxsize=4096)
def read_charge(text: str, market: Market) -> Charge:
    """The charge that a text states; unknown where it states none."""
    parts = [part for part in _PARTS.split(text) if part.strip() and not _ELSE.search(part)]
    somewhere_free = any(map(_FREE.search, parts))
    free = False
    charge, limit, over = NOTHING, NOTHING, False
    for part in parts:
        rest, says_free, found = part, _FREE.search(part), _LIMIT.search(part)
        if says_free and _IF.search(part):
            continue
        if found and (says_free or (found["over"] and somewhere_free)):
            limit, over = _stated(found["money"], market), bool(found["over"])
            rest = part[: found.start()] + part[found.end() :]
        elif says_free and not any(map(str.isdigit, part)):
            free = True
        if charge.amount is None:
            charge = _stated(rest, market)
    if charge.amount is None and free and limit.amount is None:
        return Charge(Decimal(0))
    currency = charge.currency or limit.currency
    if limit.currency != currency:
        return Charge(charge.amount, currency)
    return Charge(charge.amount, currency, limit.amount, over)


def _stated(part: str, market: Market) -> PriceReading:
    """The one amount of a part, the lower end of a range; nothing where its sign leaves the currency open."""
    if not any(map(str.isdigit, part)):
        return NOTHING
    reading = read_price(part, market=market)
    if reading.amount is None and len(reading.amounts) == 1:
        only = reading.amounts[0]
        reading = PriceReading(only.amount, only.currency, signed=only.signed)
    return NOTHING if reading.signed and reading.currency is None else reading
