"""Prices as people write them: one text in, one amount with its currency out.

`read_price` finds every number of a text (`money_scan`), learns from signs (`money_signs`) and words
(`money_roles`) what each is, and gives the one that is the price, with what else it saw. It never
raises and never guesses: an ambiguous sign stays without a currency, a text whose numbers are dates,
shares, counts or sizes has no amount.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from functools import lru_cache

from pricecrawl.domain import money_roles as roles
from pricecrawl.domain.candidate import PriceUnit, RawPrice
from pricecrawl.domain.market import Market
from pricecrawl.domain.money_judge import give_roles
from pricecrawl.domain.money_locale import context_of, currency_codes, minor_unit, written_decimals
from pricecrawl.domain.money_numbers import fold
from pricecrawl.domain.money_roles import RANK, Role
from pricecrawl.domain.money_scan import Found, Known, scan
from pricecrawl.domain.money_signs import resolve, sign_in

__all__ = ["Amount", "PriceReading", "Role", "amount_of", "minor_unit", "read_price", "written_decimals"]

MAX_TEXT = 2000


@dataclass(frozen=True, slots=True)
class Amount:
    """One number of a text that is money, and what the words around it make of it.

    `signed` is true where a currency sign or code stands beside it; `tax` is `incl`, `excl` or None as
    written; `quantity` is how many units it buys (`3 for £10`).
    """

    amount: Decimal
    currency: str | None
    role: Role
    signed: bool
    text: str
    tax: str | None = None
    quantity: int = 1


@dataclass(frozen=True, slots=True)
class PriceReading:
    """The price of a text.

    `amount` is in major units of `currency`; both None where the text has no price. `low` and `high`
    are set where the text shows a range (then `amount` is the low end), `is_from` where it shows only a
    lower end. `role` tells a price from a unit price, an instalment or an old price that stands alone.
    `amounts` lists every amount of money seen, in order.
    """

    amount: Decimal | None = None
    currency: str | None = None
    low: Decimal | None = None
    high: Decimal | None = None
    is_from: bool = False
    role: Role = Role.PRICE
    signed: bool = False
    tax: str | None = None
    quantity: int = 1
    text: str = ""
    amounts: tuple[Amount, ...] = ()

    def __bool__(self) -> bool:
        return self.amount is not None


NOTHING = PriceReading()


def read_price(
    text: str | None,
    *,
    locale: str | None = None,
    currency: str | None = None,
    decimal_separator: str | None = None,
    market: Market | None = None,
) -> PriceReading:
    """The price that a text states.

    `locale` (else the market's) says which mark is the decimal one and whose sign is meant; `currency`
    is what the caller was told (an ISO code, or any text with a sign in it) and settles ambiguous
    signs, but never overrules a clear one; `decimal_separator` overrules everything about marks. Never
    raises.
    """
    if not text or not isinstance(text, str):
        return NOTHING
    return _read(text[:MAX_TEXT], locale, currency, decimal_separator, market)


@lru_cache(maxsize=4096)
def _read(
    text: str, locale: str | None, currency: str | None, separator: str | None, market: Market | None
) -> PriceReading:
    """The reading itself; kept, because a page and its checks ask for the same few texts again and again."""
    folded = fold(text)
    free = not _DIGIT.search(folded)
    if free and not roles.is_free(folded):
        return NOTHING
    context = context_of(locale, market)
    hint = sign_in(currency)
    told = resolve(hint, told=None, market=market, context=context)
    if free:
        return PriceReading(Decimal(0), told, text=text)
    known = Known(hint, told, market, context, separator or None)
    found = scan(folded, known)
    give_roles(folded, found, known)
    return _choose(found, known)


def _choose(found: list[Found], known: Known) -> PriceReading:
    money = [item for item in found if item.role is not Role.NOT_MONEY and item.amount is not None]
    listed = tuple(_amount(item) for item in money)
    fit = [item for item in money if item.role in RANK]
    signed = [item for item in fit if item.sign is not None]
    pool = [item for item in signed if item.sign is not None and not item.sign.weak] or signed or fit
    pool = [item for item in pool if item.amount] or pool
    if not pool:
        return PriceReading(amounts=listed)
    own = known.told if any(item.currency == known.told for item in pool) else None
    best = min(pool, key=lambda item: _preference(item, own))
    best = _with_tax(best, pool) or best
    amount = best.amount or Decimal(0)
    low = high = None
    if best.high is not None:
        low, high = amount, best.high.amount
    role = Role.PRICE if best.role is Role.USUAL else best.role
    blind = (
        high is not None
        and known.anywhere
        and best.currency is None
        and not re.search(r"\w", best.before[:-1])
    )
    return PriceReading(
        amount=None if blind else _payable(best, amount, known),
        currency=None if blind else best.currency,
        low=low,
        high=high,
        is_from=best.role is Role.FROM and high is None,
        role=role,
        signed=best.sign is not None,
        tax=best.tax,
        quantity=best.quantity,
        text=best.token,
        amounts=listed,
    )


def _preference(item: Found, own: str | None) -> tuple[int, bool, bool, bool, bool, int]:
    """Best first: the role, one unit, the told currency if it is there, not an aside, with tax, the first."""
    foreign = own is not None and item.currency != own
    return (RANK[item.role], item.quantity > 1, foreign, item.bracketed, item.tax == "excl", item.start)


def _with_tax(best: Found, pool: list[Found]) -> Found | None:
    """`£100.00 (£120.00 inc VAT)`.

    What a consumer pays is the price, where the text says which one that is.
    """
    if best.tax is not None or best.sign is None or best.amount is None:
        return None
    for item in pool:
        same = item.sign is not None and item.currency == best.currency and item.role is best.role
        if (
            same
            and item.tax == "incl"
            and item.amount is not None
            and 1 < item.amount / best.amount < _MAX_TAX
        ):
            return item
    return None


_MAX_TAX = Decimal("1.3")


def _amount(item: Found) -> Amount:
    return Amount(
        item.amount or Decimal(0),
        item.currency,
        item.role,
        item.sign is not None,
        item.token,
        item.tax,
        item.quantity,
    )


def _payable(item: Found, amount: Decimal, known: Known) -> Decimal:
    """A bare number of a told two-decimal currency with three decimals is rounded to what can be paid."""
    if known.hint is None or not known.hint.code or item.sign is not None or known.context.decimal:
        return amount
    if amount.as_tuple().exponent == -3 and minor_unit(known.told) == written_decimals(known.told) == 2:
        return amount.quantize(Decimal("0.01"), ROUND_HALF_UP)
    return amount


_DIGIT = re.compile(r"[0-9]")


def amount_of(raw: RawPrice, market: Market) -> tuple[Decimal, str | None] | None:
    """The amount and currency of a raw price, whatever its unit; None where it cannot be read.

    A currency that the source states beside the amount wins over the market's; for text written for
    people the text's own clear sign wins over both.
    """
    stated = raw.currency if raw.currency in currency_codes() else None
    if raw.unit is PriceUnit.TEXT:
        if stated:
            market = Market(market.country, stated, market.locale, market.tax_basis)
        reading = read_price(raw.text, market=market)
        return None if reading.amount is None else (reading.amount, reading.currency)
    currency = stated or market.currency
    number = _machine_number(raw.text)
    if number is None:
        return None
    if raw.unit is PriceUnit.MAJOR:
        return number, currency
    exponent = 2 if raw.unit is PriceUnit.X100 else raw.minor_unit
    if exponent is None:
        exponent = minor_unit(currency)
    return (number.scaleb(-exponent), currency) if 0 <= exponent <= 8 else None


_MACHINE_NUMBER = re.compile(r"[+-]?(?:\d{1,24}(?:\.\d{0,24})?|\.\d{1,24})(?:[eE][+-]?\d{1,2})?", re.ASCII)


def _machine_number(text: str) -> Decimal | None:
    """A decimal number as programs print it: digits, one dot, perhaps an exponent; finite and not huge."""
    bare = str(text).strip()
    if not _MACHINE_NUMBER.fullmatch(bare):
        return None
    try:
        return Decimal(bare)
    except InvalidOperation:
        return None
