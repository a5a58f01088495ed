"""Finds the numbers of a text and gives each the sign, the cents and the range end that belong to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise

from pricecrawl.domain import money_roles as roles
from pricecrawl.domain.market import Market
from pricecrawl.domain.money_locale import NOWHERE, LocaleFacts, currency_marks, tender_of, written_decimals
from pricecrawl.domain.money_numbers import NUMBER, Hints, read_number
from pricecrawl.domain.money_roles import Role
from pricecrawl.domain.money_signs import Sign, look_up, prefix_sign, resolve, suffix_sign

MAX_NUMBERS = 60


@dataclass(slots=True)
class Found:
    """One number of the text while it is being understood.

    `before` and `after` are the gaps to its neighbours, `tail` the text that follows whatever it holds,
    `spoken` how much of that is a label of this number.
    """

    start: int
    end: int
    token: str
    before: str = ""
    after: str = ""
    tail: str = ""
    prefix: Sign | None = None
    suffix: Sign | None = None
    amount: Decimal | None = None
    currency: str | None = None
    role: Role = Role.PRICE
    tax: str | None = None
    bracketed: bool = False
    whole: bool = False
    quantity: int = 1
    high: Found | None = None
    taken: bool = False
    spoken: int = 0

    @property
    def sign(self) -> Sign | None:
        """The sign that stands beside the number, on whichever side."""
        return self.prefix or self.suffix


@dataclass(frozen=True, slots=True)
class Known:
    """What the caller knows.

    The told currency and how it was told, the market, the locale, a sure decimal mark.
    """

    hint: Sign | None = None
    told: str | None = None
    market: Market | None = None
    context: LocaleFacts = NOWHERE
    separator: str | None = None

    @property
    def anywhere(self) -> bool:
        """True where nothing says which place or currency this is."""
        return self.told is None and self.hint is None and self.market is None and self.context is NOWHERE

    @property
    def expected(self) -> tuple[str, ...]:
        """Currencies that the place suggests, surest first."""
        country = self.market.country if self.market and self.market.country else self.context.country
        codes = (
            self.told,
            self.market.currency if self.market else None,
            tender_of(country),
            self.context.tender,
        )
        return tuple(code for code in codes if code)


def scan(text: str, known: Known) -> list[Found]:
    """Every number of a folded text, in order, with sign, amount, currency and range end."""
    found = _numbers(text, known.separator)
    _gaps(text, found)
    _signs(found, known)
    for item in found:
        _understand(item, known)
    _cents(text, found, known)
    _multiples(found, known)
    _ranges(found, known)
    return found


def _numbers(text: str, separator: str | None) -> list[Found]:
    pattern = NUMBER
    if separator and separator not in ".,":
        # A mark such as the currency sign itself stands between the whole and the fraction.
        mark = re.escape(separator)
        pattern = re.compile(rf"\d[\d.,' ]*(?:{mark}\ ?\d{{1,2}}(?!\d)|{mark}\d+)?")
    found = []
    for match in pattern.finditer(text):
        found.append(Found(match.start(), match.end(), match[0]))
        if len(found) >= MAX_NUMBERS:
            break
    return found


def _gaps(text: str, found: list[Found]) -> None:
    edge = 0
    for item, following in zip(found, [*found[1:], None], strict=True):
        item.before = text[edge : item.start]
        item.after = text[item.end : following.start if following else len(text)]
        item.tail = text[item.end : item.end + 60]
        edge = item.end


def _signs(found: list[Found], known: Known) -> None:
    """Gives each sign to its number; one that stands between two goes by the style of the whole text."""
    if not found:
        return
    begins, ends = [], []
    for item in found:
        item.prefix, at = sign_before(item.before[-40:])
        at += max(0, len(item.before) - 40)
        begins.append(at)
        item.suffix, past = sign_after(item.after[:40])
        item.whole = bool(_WHOLE_MARK.match(item.after))
        ends.append(past)
    leads, trails = found[0].prefix is not None, found[-1].suffix is not None
    for index, (left, right) in enumerate(pairwise(found)):
        if left.suffix is None or right.prefix is None or begins[index + 1] >= ends[index]:
            continue
        before = _leads(left, right, leads, trails)
        if before:
            left.suffix = None
        else:
            right.prefix = None
    for item in found:
        if item.prefix is not None and not _usable(item.prefix, item, known):
            item.prefix = None
        if item.suffix is not None and not _usable(item.suffix, item, known):
            item.suffix = None


def _leads(left: Found, right: Found, leads: bool, trails: bool) -> bool:
    """True where a sign between two numbers stands before the right one, false where after the left one."""
    if left.prefix is None and _FOOTNOTE.fullmatch(right.token) and not _FOOTNOTE.fullmatch(left.token):
        return False
    if leads != trails:
        return leads
    to_left = left.suffix is not None and left.after.startswith(left.suffix.text)
    to_right = right.prefix is not None and left.after.endswith(right.prefix.text)
    return to_right if to_left != to_right else left.prefix is not None


def _usable(sign: Sign, item: Found, known: Known) -> bool:
    """A letter or word that is also a sign counts where the place expects it, or where nothing is known."""
    if not sign.weak or any(code in known.expected for code in sign.codes):
        return True
    if not known.anywhere and not sign.code:
        return False
    shape = re.sub(r"\D", "", item.token)
    if sign.code:
        return shape != item.token and not roles.measure_after(item.after)
    money = re.fullmatch(r"\d+|\d{1,3}(?:[., ']\d{3})+|.*[.,]\d\d", item.token)
    return bool(money) and not (item.after[:1] == sign.text and sign.text.islower())


def _understand(item: Found, known: Known) -> None:
    named = _named(item.after, known.context)
    if named is not None:
        item.suffix = named
    sign = one_sign(item.prefix, item.suffix)
    item.currency = resolve(sign, told=known.told, market=known.market, context=known.context)
    if sign is not None and not sign.codes:
        item.currency = None
    elif sign is None and item.whole and item.currency is None:
        item.currency = known.context.tender
    item.amount = read_number(
        item.token, _hints(item.currency, known, signed=sign is not None, whole=item.whole)
    )


def _named(gap: str, context: LocaleFacts) -> Sign | None:
    """A currency spelled out after a number in the locale's own words.

    `dollars jamaïcains` is no dollar sign.
    """
    words = gap[:60].strip().casefold().split(" ")
    if not context.names or not words[0] or not words[0][:1].isalpha():
        return None
    for count in range(min(len(words), 6), 0, -1):
        name = " ".join(words[:count])
        code = context.names.get(name) or context.names.get(name.rstrip(".,;:!)*"))
        if code is not None and len(name) > 2:
            return Sign(gap.strip()[: len(name)], (code,), code=True)
    return None


def _hints(currency: str | None, known: Known, *, signed: bool, whole: bool) -> Hints:
    home = ("", "")
    if known.hint is not None and known.hint.code and known.told and not signed:
        home = currency_marks(known.told)
    return Hints(
        separator=known.separator,
        decimal=known.context.decimal,
        group=known.context.group,
        home_decimal=home[0],
        home_group=home[1],
        digits=0 if whole else written_decimals(currency) if currency else None,
    )


def _cents(text: str, found: list[Found], known: Known) -> None:
    """`35€ 99`, `$19 99`, `5 zł 99 gr`, `99¢`: the minor unit written apart."""
    for item in found:
        if item.taken or item.amount is None:
            continue
        minor = _MINOR.match(item.after)
        if minor is None or not _is_minor(minor[0].strip(" ."), item, known):
            continue
        item.amount = item.amount.scaleb(-2)
        item.suffix = Sign(minor[0].strip(), item.sign.codes if item.sign else known.expected[:1])
        item.currency = item.currency or _minor_currency(minor[0].strip(" ."), known)
        item.whole = True
    for left, right in pairwise(found):
        if left.amount is None or right.amount is None or left.taken or left.amount != int(left.amount):
            continue
        gap = text[left.end : right.start]
        if (
            right.whole
            and right.amount < 1
            and left.sign is not None
            and right.before.strip(" ") == _bare(left)
        ):
            _join(left, right, left.amount + right.amount)
        elif re.fullmatch(r"\d\d", right.token) and _split_cents(gap, left, right):
            _join(left, right, left.amount + right.amount.scaleb(-2))


def _split_cents(gap: str, left: Found, right: Found) -> bool:
    """Two digits after the sign, or after a blank where the sign leads, with nothing that claims them."""
    if written_decimals(left.currency) != 2 or re.search(r"[.,]", left.token[-3:]):
        return False
    after = right.after.lstrip(" ")
    if right.suffix is not None or after[:1] in tuple("%/-:'x×"):
        return False
    if roles.measure_after(right.after) or roles.count_after(right.after):
        return False
    if left.suffix is not None and left.prefix is None:
        return gap.strip(" ") == _bare(left) and not gap.startswith("  ")
    return left.prefix is not None and gap == " " and not after[:1].isalnum()


def _bare(item: Found) -> str:
    return item.suffix.text if item.suffix else ""


def _join(left: Found, right: Found, amount: Decimal) -> None:
    left.amount, left.after, left.tail, left.end = amount, right.after, right.tail, right.end
    left.token = f"{left.token}.{right.token}"
    right.taken = True


def _is_minor(word: str, item: Found, known: Known) -> bool:
    """Words such as `p`, `c` and `ct` are cents only where the place has them; `gr` only after zloty."""
    plain = word.casefold()
    if item.prefix is not None or not re.fullmatch(r"\d{1,4}(?:[.,]\d)?", item.token):
        return False
    if plain in _MINOR_OF:
        return any(code in _MINOR_OF[plain] for code in known.expected) and not item.after.startswith("  ")
    if plain == "gr":
        return bool(re.search(r"z[łl]\W*$", item.before, re.IGNORECASE))
    return True


def _minor_currency(word: str, known: Known) -> str | None:
    fixed = {"pence": "GBP", "коп": "RUB", "копеек": "RUB", "grosz": "PLN"}
    return known.expected[0] if known.expected else fixed.get(word.casefold())


def _multiples(found: list[Found], known: Known) -> None:
    """`1.5万円`, `kr. 45k`, `3 тыс.

    Руб.`: thousands and ten thousands, where a sign says that it is money.
    """
    for item, following in zip(found, [*found[1:], None], strict=True):
        match = _MULTIPLE.match(item.after)
        if match is None or item.amount is None or item.taken:
            continue
        word = match[0].strip(" .")
        factor = _FACTORS[word.casefold()]
        rest = item.after[match.end() :]
        if not rest.strip() and following is not None and factor == 10_000 and following.sign is not None:
            if following.amount is not None and following.amount < factor and item.token.isdigit():
                _join(item, following, item.amount * factor + following.amount)
                item.suffix, item.currency = following.suffix, following.currency
            continue
        suffix, _ = sign_after(rest[:40])
        if item.prefix is None and (suffix is None or suffix.weak):
            continue
        if item.prefix is None or suffix is not None:
            item.suffix = suffix
            _understand(item, known)
        if item.amount is not None:
            item.amount *= factor
            item.after = rest


def _between(low: Found, high: Found) -> str:
    """The text between two numbers without the signs that belong to them."""
    gap = low.after
    if low.suffix is not None:
        gap = gap.replace(low.suffix.text, "", 1)
    if high.prefix is not None and high.prefix.text in gap:
        gap = "".join(gap.rsplit(high.prefix.text, 1))
    return gap


def _ranges(found: list[Found], known: Known) -> None:
    for low, high in pairwise(found):
        if low.amount is None or high.amount is None or low.taken or high.taken:
            continue
        if not high.amount > low.amount > 0 or not _RANGE.fullmatch(_between(low, high)):
            continue
        if high.after.lstrip(" ").startswith("%"):
            continue
        if not (low.sign or high.sign) and not re.search("[.,]", low.token):
            continue
        if low.sign is None and high.sign is not None:
            low.suffix = high.sign
            _understand(low, known)
        elif high.sign is None:
            high.currency = low.currency
        low.high, high.taken = high, True


_RANGE = re.compile(
    r"(?:\s?[,.:][-–—]{1,2})?\s*"
    r"(?:-|–|—|~|〜|～|(?:to|bis|à|a|hasta|al|do|till|tot|until|и до|до|至|から|ila)(?![^\W_]))\s*",
    re.IGNORECASE,
)
_TOKEN_BEFORE = re.compile(r"[^\s\d,;!?()\[\]|*+=<>%~]+$")
_TOKEN_AFTER = re.compile(r"[^\s\d,;:!?()\[\]|*+=<>%~–—-][^\s\d,;:!?()\[\]|*+=<>%~–—-]*")
_NO_CENTS = re.compile(r"[\s,.:*]{0,2}(?:[-–—]{1,2})?\s*")
# A digit or two glued to a sign after an amount: its footnote, or its cents.
_FOOTNOTE = re.compile(r"\d{1,2}")
_WHOLE_MARK = re.compile(r"\s?[,.:]\s?[-–—]{1,2}(?!\d)|[-–—](?=\s|$)(?!\s*\S*\d)")
_MINOR = re.compile(
    r"\s?(?:¢|cents?|centimes?|centavos?|céntimos?|centesimi|cts?|c|pence|p|копе[ей]\w*|коп|groszy|grosze|grosz|gr|öre|øre|bani|kuruş|"
    r"haléř\w*|fillér|sen|分)(?![^\W\d_])\.?"
)
_MINOR_OF = {
    "p": {"GBP", "GIP", "FKP", "SHP"},
    "c": {"AUD", "NZD", "ZAR", "EUR", "CAD", "USD", "SGD"},
    "ct": {"EUR", "CHF"},
    "cts": {"EUR", "CHF", "CAD"},
    "sen": {"MYR", "IDR"},
    "分": {"CNY"},
}
_FACTORS = {
    "k": 1000, "тыс": 1000, "tys": 1000, "tis": 1000, "tsd": 1000, "千": 1000, "천": 1000,
    "万": 10_000, "萬": 10_000, "만": 10_000,
    "rb": 1000, "ribu": 1000, "jt": 1_000_000, "juta": 1_000_000, "lakh": 100_000,
    "m": 1_000_000, "mio": 1_000_000, "mln": 1_000_000, "млн": 1_000_000, "million": 1_000_000,
    "millionen": 1_000_000, "crore": 10_000_000, "億": 100_000_000, "亿": 100_000_000, "억": 100_000_000,
}  # fmt: skip
_MULTIPLE = re.compile(
    r"(?:[kK]|M)(?![^\W_])|\s?(?:[千천万萬만億亿억]|(?:rb|ribu|jt|juta|тыс|tys|tis|tsd|mio|mln|млн|lakh|crore|million|millionen)(?![^\W\d_])\.?)",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def sign_before(gap: str) -> tuple[Sign | None, int]:
    """The sign that ends a gap, and where it begins."""
    bare = gap.rstrip(" :-–—=")
    match = _TOKEN_BEFORE.search(bare[-24:])
    if match is None:
        return None, 0
    token = match[0]
    begin = len(bare) - len(token)
    head = bare[:begin].rstrip(" ")
    if len(token) <= 4:
        second = _TOKEN_BEFORE.search(head[-12:])
        joined = look_up(second[0] + token, after=False) if second and _joins(second[0], token) else None
        if joined is not None and second is not None:
            return joined, len(head) - len(second[0])
    return look_up(token, after=False) or suffix_sign(token), begin


def _joins(first: str, second: str) -> bool:
    """`US $` and `F CFA` are one sign in two words; `Kč s` is a sign and a word."""
    return not (first.isalpha() and second.isalpha()) or len(second) > 2


@lru_cache(maxsize=4096)
def sign_after(gap: str) -> tuple[Sign | None, int]:
    """The sign that begins a gap, and where it ends."""
    skipped = _NO_CENTS.match(gap)
    begin = skipped.end() if skipped else 0
    match = _TOKEN_AFTER.match(gap, begin)
    if match is None:
        return None, 0
    token = match[0][:24]
    rest = gap[match.end() :].lstrip(" ")
    second = _TOKEN_AFTER.match(rest) if len(token) <= 6 else None
    if second is not None and len(second[0]) <= 8 and _joins(token, second[0]):
        joined = look_up(token + second[0], after=True)
        if joined is not None:
            return joined, len(gap) - len(rest) + len(second[0])
    sign = look_up(token, after=True) or prefix_sign(token)
    return sign, begin + (len(sign.text) if sign else 0)


def past_sign(item: Found) -> str:
    """What follows a number and its own sign."""
    return item.tail[sign_after(item.after[:40])[1] :] if item.suffix else item.tail


def ahead_of_sign(item: Found) -> str:
    """What leads up to a number and its own sign."""
    if item.prefix is None:
        return item.before
    at = item.before.rfind(item.prefix.text)
    return item.before[:at] if at >= 0 else item.before


def one_sign(prefix: Sign | None, suffix: Sign | None) -> Sign | None:
    """One sign out of one before and one after: what both can mean, else the code, else the first."""
    if prefix is None or suffix is None:
        return prefix or suffix
    common = tuple(code for code in prefix.codes if code in suffix.codes)
    if common:
        return Sign(prefix.text, common, code=prefix.code or suffix.code)
    if suffix.weak != prefix.weak:
        return prefix if suffix.weak else suffix
    return suffix if suffix.code and not prefix.code else prefix
