"""Prices as people write them: one text in, one amount with its currency out.

`read_price` finds every number of a text, learns from signs and words what each is, and gives the one that is the
price, with what else it saw. It never raises and never guesses: an ambiguous sign stays without a currency, a text
whose numbers are dates, shares, counts or sizes has no amount.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

from pricecrawl.domain import money_roles as roles
from pricecrawl.domain.candidate import PriceUnit, RawPrice
from pricecrawl.domain.market import Market
from pricecrawl.domain.money_locale import (
    NOWHERE,
    LocaleFacts,
    context_of,
    currency_codes,
    currency_marks,
    minor_unit,
    written_decimals,
)
from pricecrawl.domain.money_numbers import NUMBER, Hints, fold, read_number
from pricecrawl.domain.money_roles import RANK, Role
from pricecrawl.domain.money_signs import Sign, look_up, prefix_sign, resolve, sign_in, suffix_sign

__all__ = ["Amount", "PriceReading", "Role", "amount_of", "minor_unit", "read_price"]

MAX_TEXT = 2000
MAX_NUMBERS = 60


@dataclass(frozen=True, slots=True)
class Amount:
    """One number of a text that is money, and what the words around it make of it.

    `signed` is true where a currency sign or code stands beside it; `tax` is `incl`, `excl` or None as written.
    """

    amount: Decimal
    currency: str | None
    role: Role
    signed: bool
    text: str
    tax: str | None = None


@dataclass(frozen=True, slots=True)
class PriceReading:
    """The price of a text.

    `amount` is in major units of `currency`; both None where the text has no price. `low` and `high` are set
    where the text shows a range (then `amount` is the low end), `is_from` where it shows only a lower end. `role`
    tells a price from a unit price, an instalment or an old price that stands alone. `amounts` lists every
    amount of money seen, in order.
    """

    amount: Decimal | None = None
    currency: str | None = None
    low: Decimal | None = None
    high: Decimal | None = None
    is_from: bool = False
    role: Role = Role.PRICE
    signed: bool = False
    tax: str | None = None
    text: str = ""
    amounts: tuple[Amount, ...] = ()

    def __bool__(self) -> bool:
        return self.amount is not None


NOTHING = PriceReading()


@dataclass(slots=True)
class _Found:
    """One number of the text while it is being understood."""

    start: int
    end: int
    token: str
    before: str = ""
    after: str = ""
    prefix: Sign | None = None
    suffix: Sign | None = None
    amount: Decimal | None = None
    currency: str | None = None
    role: Role = Role.PRICE
    tax: str | None = None
    minor: bool = False
    bracketed: bool = False
    high: _Found | None = None
    ranged: bool = False

    @property
    def sign(self) -> Sign | None:
        return self.prefix or self.suffix


def read_price(
    text: str | None,
    *,
    locale: str | None = None,
    currency: str | None = None,
    decimal_separator: str | None = None,
    market: Market | None = None,
) -> PriceReading:
    """The price that a text states.

    `locale` (else the market's) says which mark is the decimal one and whose sign is meant; `currency` is what
    the caller was told (an ISO code, or any text with a sign in it) and settles ambiguous signs, but never
    overrules a clear one; `decimal_separator` overrules everything about marks. Never raises.
    """
    if not text or not isinstance(text, str):
        return NOTHING
    folded = fold(text[:MAX_TEXT])
    hint = sign_in(currency)
    context = context_of(locale, market)
    told = _told(hint, market, context)
    if not any("0" <= c <= "9" for c in folded):
        return PriceReading(Decimal(0), told, text=text) if roles.is_free(folded) else NOTHING
    reader = _Reader(folded, hint, told, context, market, decimal_separator)
    return reader.read()


def _told(hint: Sign | None, market: Market | None, context: LocaleFacts) -> str | None:
    if hint is not None:
        found = resolve(hint, told=None, market=market, context=context)
        if found:
            return found
    return market.currency if market else None


class _Reader:
    """The steps of one reading; holds what was told so that the steps need not pass it on."""

    def __init__(
        self,
        text: str,
        hint: Sign | None,
        told: str | None,
        context: LocaleFacts,
        market: Market | None,
        separator: str | None,
    ) -> None:
        self.text = text
        self.hint = hint
        self.told = told
        self.context = context
        self.market = market
        self.separator = separator

    def read(self) -> PriceReading:
        found = self._numbers()
        self._signs(found)
        for item in found:
            self._understand(item)
        self._ranges(found)
        self._roles(found)
        return self._choose(found)

    def _numbers(self) -> list[_Found]:
        found: list[_Found] = []
        if self.separator and self.separator not in ".,":
            return self._odd_separator(self.separator)
        for match in NUMBER.finditer(self.text):
            if len(found) >= MAX_NUMBERS:
                break
            found.append(_Found(match.start(), match.end(), match[0]))
        return found

    def _odd_separator(self, mark: str) -> list[_Found]:
        """A mark such as the currency sign itself stands between whole and fraction."""
        pattern = re.compile(rf"\d[\d.,' ]*(?:{re.escape(mark)}\ ?\d{{1,2}}(?!\d)|{re.escape(mark)}\d+)?")
        return [_Found(m.start(), m.end(), m[0]) for m in pattern.finditer(self.text)][:MAX_NUMBERS]

    def _signs(self, found: list[_Found]) -> None:
        """Gives each sign between two numbers to the one it belongs to."""
        edges = [0, *(item.end for item in found)]
        for index, item in enumerate(found):
            item.before = self.text[edges[index] : item.start]
            nxt = found[index + 1].start if index + 1 < len(found) else len(self.text)
            item.after = self.text[item.end : nxt]
        for index, item in enumerate(found):
            prefix, at = _sign_before(item.before)
            previous = found[index - 1] if index else None
            if prefix and previous is not None and previous.suffix is not None:
                _, taken = _sign_after(previous.after)
                if at < taken and (previous.prefix is None or not item.before.startswith(" ")):
                    prefix = None
                elif at < taken:
                    previous.suffix = None
            item.prefix = prefix
            item.suffix, _ = _sign_after(item.after)

    def _understand(self, item: _Found) -> None:
        sign = _one_sign(item.prefix, item.suffix)
        item.currency = resolve(
            sign, told=self.told or None, market=self.market, context=self.context
        )
        if sign is not None and not sign.codes:
            item.currency = None
        item.amount = read_number(item.token, self._hints(item.currency, signed=sign is not None))

    def _hints(self, currency: str | None, *, signed: bool) -> Hints:
        home = ("", "")
        if self.hint is not None and self.hint.code and self.told and not signed:
            home = currency_marks(self.told)
        return Hints(
            separator=self.separator,
            decimal=self.context.decimal,
            group=self.context.group,
            home_decimal=home[0],
            home_group=home[1],
            digits=written_decimals(currency) if currency else None,
        )

    def _ranges(self, found: list[_Found]) -> None:
        for low, high in zip(found, found[1:], strict=False):
            between = self.text[low.end : high.start]
            if not _RANGE.fullmatch(between) or low.amount is None or high.amount is None:
                continue
            if low.ranged or not high.amount > low.amount > 0:
                continue
            signed = low.sign or high.sign
            if not signed and not ("." in low.token or "," in low.token):
                continue
            low.high, high.ranged = high, True
            if low.sign is None and high.sign is not None:
                low.suffix, low.currency = high.sign, high.currency

    def _roles(self, found: list[_Found]) -> None:
        dates = [m.span() for m in _DATE.finditer(self.text)]
        depth = 0
        for item in found:
            depth = max(0, depth + item.before.count("(") - item.before.count(")"))
            item.bracketed = depth > 0 and len(found) > 1
            item.role = self._role(item, dates)

    def _role(self, item: _Found, dates: list[tuple[int, int]]) -> Role:
        after = _past_sign(item.after) if item.suffix else item.after
        item.tax = roles.tax_after(after)
        sign = item.sign
        if item.amount is None or item.ranged:
            return Role.NOT_MONEY
        if item.after.lstrip(" ").startswith("%") or item.before.rstrip(" ").endswith("%"):
            return Role.NOT_MONEY
        if item.before.endswith("-") and _reduced(item.before, found_prefix=item.prefix is not None):
            return Role.SAVING
        if sign is None or sign.weak:
            if any(start < item.end and item.start < end for start, end in dates) and not self.hint:
                return Role.NOT_MONEY
            if roles.month_before(item.before, self.context.months):
                return Role.NOT_MONEY
            if _unsigned_noise(item, self.text):
                return Role.NOT_MONEY
        label = roles.label_before(item.before)
        if label in (Role.SAVING, Role.SHIPPING) or (label is Role.NOT_MONEY and sign is None):
            return label
        if roles.unit_before(item.before):
            return Role.UNIT
        follows = roles.label_after(after)
        if follows in (Role.UNIT, Role.INSTALMENT, Role.SAVING, Role.MEMBER):
            return follows
        if roles.times_before(item.before) and sign is not None:
            return Role.INSTALMENT
        if label is not None and label is not Role.NOT_MONEY:
            return label
        return follows or Role.PRICE

    def _choose(self, found: list[_Found]) -> PriceReading:
        money = [item for item in found if item.role is not Role.NOT_MONEY and item.amount is not None]
        listed = tuple(
            Amount(item.amount, item.currency, item.role, item.sign is not None, item.token, item.tax)
            for item in money
            if item.amount is not None
        )
        fit = [item for item in money if item.role in RANK]
        if not fit:
            return PriceReading(amounts=listed)
        strong = [item for item in fit if item.sign is not None and not item.sign.weak]
        pool = strong or [item for item in fit if item.sign is not None] or fit
        pool = [item for item in pool if item.amount] or pool
        best = min(pool, key=lambda item: (RANK[item.role], item.bracketed, item.tax == "excl", item.start))
        amount = best.amount
        if amount is None:
            return PriceReading(amounts=listed)
        low = high = None
        if best.high is not None:
            low, high = amount, best.high.amount
        if self._mills(best):
            amount = amount.quantize(Decimal("0.01"), ROUND_HALF_UP)
        return PriceReading(
            amount=amount,
            currency=best.currency,
            low=low,
            high=high,
            is_from=best.role is Role.FROM,
            role=best.role,
            signed=best.sign is not None,
            tax=best.tax,
            text=best.token,
            amounts=listed,
        )

    def _mills(self, item: _Found) -> bool:
        """A bare number of a told two-decimal currency with three decimals is rounded to what can be paid."""
        if self.hint is None or not self.hint.code or item.sign is not None or item.amount is None:
            return False
        exponent = item.amount.as_tuple().exponent
        return exponent == -3 and minor_unit(self.told) == 2 and written_decimals(self.told) == 2


_RANGE = re.compile(
    r"[^\d\w]{0,6}?\s*(?:-|–|—|~|〜|to|bis|à|a|hasta|al|до|till|tot|do|until|至|から)\s*[^\d]{0,6}",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"(?<!\d)(?:(?:0?[1-9]|[12]\d|3[01])([./-])(?:0?[1-9]|1[0-2])\1(?:19|20)?\d\d|(?:19|20)\d\d([./-])(?:0?[1-9]|1[0-2])\2"
    r"(?:0?[1-9]|[12]\d|3[01])|[01]?\d:[0-5]\d|2[0-3]:[0-5]\d)(?!\d)"
)
_TOKEN_BEFORE = re.compile(r"[^\s\d,;!?()\[\]|*+=<>%~]+$")
_TOKEN_AFTER = re.compile(r"[^\s\d,;:!?()\[\]|*+=<>%~–—-][^\s\d,;:!?()\[\]|*+=<>%~–—-]*")
_NO_CENTS = re.compile(r"[\s,.:*]{0,2}(?:[-–—]{1,2}|[-–—]?)\s*")


def _sign_before(gap: str) -> tuple[Sign | None, int]:
    """The sign that ends a gap, and where it begins."""
    bare = gap.rstrip(" :-–—=(")
    match = _TOKEN_BEFORE.search(bare[-24:])
    if match is None:
        return None, 0
    offset = len(bare) - len(bare[-24:])
    token = match[0]
    head = bare[: offset + match.start()].rstrip(" ")
    second = _TOKEN_BEFORE.search(head[-12:])
    if second is not None:
        joined = look_up(second[0] + token, after=False)
        if joined is not None and len(token) <= 4:
            return joined, len(head) - len(second[0])
    sign = look_up(token, after=False) or suffix_sign(token)
    return sign, len(bare) - len(token)


def _sign_after(gap: str) -> tuple[Sign | None, int]:
    """The sign that begins a gap, and where it ends."""
    skipped = _NO_CENTS.match(gap)
    begin = skipped.end() if skipped else 0
    match = _TOKEN_AFTER.match(gap, begin)
    if match is None:
        return None, 0
    token = match[0][:24]
    rest = gap[match.end() :].lstrip(" ")
    second = _TOKEN_AFTER.match(rest)
    if second is not None and len(second[0]) <= 8:
        joined = look_up(token + second[0], after=True)
        if joined is not None:
            return joined, len(gap) - len(rest) + len(second[0])
    sign = look_up(token, after=True) or prefix_sign(token)
    return sign, begin + (len(sign.text) if sign else 0)


def _past_sign(gap: str) -> str:
    _, end = _sign_after(gap)
    return gap[end:]


def _one_sign(prefix: Sign | None, suffix: Sign | None) -> Sign | None:
    """One sign out of one before and one after: what both can mean, else the code, else the first."""
    if prefix is None or suffix is None:
        return prefix or suffix
    common = tuple(code for code in prefix.codes if code in suffix.codes)
    if common:
        return Sign(prefix.text, common, code=prefix.code or suffix.code)
    if suffix.weak and not suffix.code:
        return prefix
    return suffix if suffix.code and not prefix.code else prefix


def _reduced(before: str, *, found_prefix: bool) -> bool:
    """A minus glued to an amount that no word or number leads up to: money taken off, not a price."""
    rest = before.rstrip("-")
    return not rest or rest[-1] in " (" or found_prefix


def _unsigned_noise(item: _Found, text: str) -> bool:
    """Sizes, counts, codes and parts of words, where no sign says that it is money."""
    after, before = item.after, item.before
    if roles.measure_after(after) or roles.count_after(after):
        return True
    if before[-1:].isalpha() and before[-1:].isascii():
        return True
    if after[:1].isalpha() and after[:1].isascii():
        return True
    if re.search(r"\d-$", text[max(0, item.start - 2) : item.start]) or re.match(
        r"-\d", after + text[item.end + len(after) :][:1]
    ):
        return True
    digits = re.sub(r"\D", "", item.token)
    return digits == item.token and len(digits) >= 12


def amount_of(raw: RawPrice, market: Market) -> tuple[Decimal, str | None] | None:
    """The amount and currency of a raw price, whatever its unit; None where it cannot be read.

    A currency that the source states beside the amount wins over the market's; the text's own clear sign wins
    over both only for text written for people.
    """
    stated = raw.currency if raw.currency in currency_codes() else None
    if raw.unit is PriceUnit.TEXT:
        if stated:
            market = Market(market.country, stated, market.locale, market.tax_basis)
        reading = read_price(raw.text, market=market)
        if reading.amount is None:
            return None
        return reading.amount, reading.currency
    currency = stated or market.currency
    number = _machine_number(raw.text)
    if number is None:
        return None
    if raw.unit is PriceUnit.MAJOR:
        return number, currency
    exponent = 2 if raw.unit is PriceUnit.X100 else raw.minor_unit
    if exponent is None:
        exponent = minor_unit(currency)
    if not 0 <= exponent <= 8:
        return None
    return number.scaleb(-exponent), currency


def _machine_number(text: str) -> Decimal | None:
    """A decimal number as programs print it: digits, one dot, perhaps an exponent; finite and not huge."""
    bare = text.strip()
    if not re.fullmatch(r"[+-]?\d{1,24}(?:\.\d{0,24})?(?:[eE][+-]?\d{1,2})?|[+-]?\.\d{1,24}", bare, re.ASCII):
        return None
    try:
        return Decimal(bare)
    except InvalidOperation:
        return None


_ = NOWHERE
