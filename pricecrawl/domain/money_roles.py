"""What an amount is, told by the words around it: now, before, from, per unit, per month, saved, shipping.

A label before an amount counts for that amount, the nearest one if there are several; a label after it counts
where it follows at once.
"""

from __future__ import annotations

import re
from enum import StrEnum

from pricecrawl.domain import money_words as words


class Role(StrEnum):
    """What one amount in a text is. Only the first group can be the price of the thing."""

    NOW = "now"
    PRICE = "price"
    FROM = "from"
    MEMBER = "member"
    UNIT = "unit"
    INSTALMENT = "instalment"
    USUAL = "usual"
    BEFORE = "before"
    SAVING = "saving"
    SHIPPING = "shipping"
    NOT_MONEY = "not_money"


RANK = {
    Role.NOW: 0,
    Role.PRICE: 1,
    Role.FROM: 1,
    Role.MEMBER: 2,
    Role.UNIT: 3,
    Role.INSTALMENT: 4,
    Role.USUAL: 5,
    Role.BEFORE: 6,
}
"""Which roles may be the price of a text, best first."""

_WORD = re.compile(r"[^\W\d_]+")
_LONGEST = 5


def _split(text: str) -> list[str]:
    return [part.strip().casefold() for part in re.split(r"[|\n]", text) if part.strip()]


def _key(label: str) -> str:
    return " ".join(_WORD.findall(label.casefold()))


def _unspaced(char: str) -> bool:
    """Scripts that write words without blanks between them."""
    return "\u0e00" <= char <= "\u0eff" or "\u2e80" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7af"


class _Labels:
    """Labels by their words, and as plain alternatives for scripts without blanks."""

    def __init__(self, groups: dict[Role, str]) -> None:
        self.by_words: dict[str, Role] = {}
        unspaced: dict[str, Role] = {}
        for role, text in groups.items():
            for label in _split(text):
                if _unspaced(label[0]):
                    unspaced[label] = role
                else:
                    self.by_words.setdefault(_key(label), role)
        self.unspaced = unspaced
        ordered = sorted(unspaced, key=len, reverse=True)
        self.pattern = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    def last(self, gap: str) -> Role | None:
        """Role of the last label in a text."""
        if self.pattern is not None and any(map(_unspaced, gap)):
            found = None
            for found in self.pattern.finditer(gap):  # noqa: B007 - the last match is the wanted one
                pass
            if found is not None:
                return self.unspaced[found[0]]
        tokens = _WORD.findall(gap[-80:].casefold())
        for end in range(len(tokens), 0, -1):
            for begin in range(max(0, end - _LONGEST), end):
                role = self.by_words.get(" ".join(tokens[begin:end]))
                if role is not None:
                    return role
        return None

    def first(self, gap: str) -> tuple[Role | None, int]:
        """Role and end of a label that a text begins with, after at most four characters without letters."""
        head = gap[:60]
        found = _WORD.search(head)
        if found is None or found.start() > 4 or any(c.isdigit() for c in head[: found.start()]):
            return None, 0
        if self.pattern is not None and _unspaced(found[0][0]):
            match = self.pattern.match(gap, found.start())
            return (self.unspaced[match[0]], match.end()) if match else (None, 0)
        spans = list(_WORD.finditer(head))[:_LONGEST]
        tokens = [span[0].casefold() for span in spans]
        for end in range(len(tokens), 0, -1):
            role = self.by_words.get(" ".join(tokens[:end]))
            if role is not None:
                return role, spans[end - 1].end()
        return None, 0


def _months() -> str:
    months, pers = _split(words.MONTH), _split(words.PER)
    return "|".join([*months, *(f"{per} {month}" for per in pers for month in months)])


_BEFORE = _Labels(
    {
        Role.BEFORE: words.BEFORE,
        Role.USUAL: words.USUAL,
        Role.FROM: words.FROM,
        Role.SAVING: words.SAVING,
        Role.SHIPPING: words.SHIPPING,
        Role.INSTALMENT: words.INSTALMENT,
        Role.MEMBER: words.MEMBER,
        Role.UNIT: words.UNIT,
        Role.NOW: words.NOW,
        Role.NOT_MONEY: words.NOT_MONEY,
    }
)
_AFTER = _Labels(
    {
        Role.INSTALMENT: _months(),
        Role.SAVING: words.AFTER_SAVING,
        Role.MEMBER: words.AFTER_MEMBER,
        Role.FROM: words.AFTER_FROM,
    }
)
_COUNTED = _Labels({Role.NOT_MONEY: words.COUNTED})
_TAX = _Labels({Role.PRICE: words.INCLUSIVE, Role.UNIT: words.EXCLUSIVE})


def _alternatives(text: str) -> str:
    return "|".join(re.escape(word) for word in sorted(_split(text), key=len, reverse=True))


_MEASURE = rf"(?:(?:\d+(?:[.,]\d+)?\s*)?(?:{_alternatives(words.UNIT_MEASURES)}))(?![^\W\d_])"
_PER = r"(?:/|per|pro|je|par|por|al|alla|a|at|za|за|för|/\s*1|el|la|le|au|the)"
_AFTER_UNIT = re.compile(rf"\W{{0,3}}{_PER}\s*{_MEASURE}", re.IGNORECASE)
_BEFORE_UNIT = re.compile(rf"(?<![^\W\d_]){_MEASURE}\s*[=:]\s*\D{{0,4}}$", re.IGNORECASE)
_TIMES = re.compile(
    r"(?:^|\d|(?<![^\W\d_]))\s?(?:x|×|х|fois|veces|mal|rate|cuotas)\s*"
    r"(?:sans frais|sem juros|sin interés)?\s*(?:of|de|da|à|von|a)?\W{0,4}$",
    re.IGNORECASE,
)
# Single letters and `ft` keep their case: `G`, `L`, `M` and `Ft` are also currency signs.
_ANY_CASE = "|".join(word for word in _split(words.MEASURES) if len(word) > 1 and word not in ("ft", "км"))
_AFTER_MEASURE = re.compile(
    rf"\s?-?(?:(?:(?i:{_alternatives(_ANY_CASE)})|{_alternatives(words.MEASURES)}|W|V)(?![^\W\d_])|[\"″”°](?!\s*,))"
)
_AFTER_LITRE = re.compile(r"\s?L(?![^\W\d_])")
_AFTER_OPEN_END = re.compile(r"\W{0,3}(?:[~〜～]|& up|\+(?!\s?\w)|-[tT][óőÓŐ]l)")
_LAST_WORD = re.compile(r"([^\W\d_]{3,})[\s.,]*$")
_ENGLISH_MONTHS = frozenset(_split(words.ENGLISH_MONTHS))
_FREE = frozenset(_key(label) for label in _split(words.FREE))
_FREE_LEADS = frozenset(("for", "it s", "price", "preis", "prix", "precio", "prezzo", "cena"))
_PAIRS = tuple(
    (
        re.compile(rf"(?<![^\W\d_]){old}\W{{0,3}}[^\W\d_]{{0,3}}[^\w]{{0,3}}$", re.IGNORECASE),
        re.compile(rf"(?<![^\W\d_]){new}(?![^\W\d_])", re.IGNORECASE),
    )
    for old, new in (("de", "por"), ("van", "voor"), ("da", "a"), ("de", "à"), ("z", "na"), ("с", "до"))
)
_MULTIBUY = re.compile(
    r"\s?/\W{0,3}|\s?(?:[^\W\d_]+\s)?(?:for|für|pour|por|voor|för|za|за|til)(?![^\W\d_])\W*"
    r"(?:only|nur|seulement|solo)?\W*[^\W\d_]{0,3}\W{0,3}",
    re.IGNORECASE,
)


def label_before(gap: str) -> Role | None:
    """The role that the last label in the text before an amount gives it."""
    return _BEFORE.last(gap) if gap else None


def label_after(gap: str) -> tuple[Role | None, int]:
    """The role that the text right after an amount (and its sign) gives it, and where those words end."""
    if not gap or gap.isspace():
        return None, 0
    unit = _AFTER_UNIT.match(gap)
    if unit is not None:
        return Role.UNIT, unit.end()
    role, end = _AFTER.first(gap.replace("/", " ", 1))
    if role is not None:
        # `kr Rabatt: 20 kr` leads on to the next amount, whatever stood before it.
        return (None, 0) if gap[end : end + 1] == ":" else (role, end)
    return (Role.FROM, 1) if _AFTER_OPEN_END.match(gap) else (None, 0)


def old_new_pair(before_old: str, before_new: str) -> bool:
    """True for `De R$ 100 por R$ 80` and `van € 20 voor € 15`.

    The first is the old price, the second the new.
    """
    return any(old.search(before_old) and new.search(before_new) for old, new in _PAIRS)


def is_multibuy(gap: str) -> bool:
    """True for the ` for ` of `3 for £10`."""
    return bool(_MULTIBUY.fullmatch(gap))


def unit_before(gap: str) -> bool:
    """True for `1 l = ` before an amount."""
    return ("=" in gap or ":" in gap) and bool(_BEFORE_UNIT.search(gap))


def times_before(gap: str) -> bool:
    """True for `12x de ` before an amount: one of several payments."""
    return bool(_TIMES.search(gap[-24:]))


def measure_after(gap: str) -> bool:
    """True where a unit of measure follows at once."""
    return bool(_AFTER_MEASURE.match(gap))


def litre_after(gap: str) -> bool:
    """True where a lone capital L follows: a litre, or the sign of a few currencies."""
    return bool(_AFTER_LITRE.match(gap))


def count_after(gap: str) -> bool:
    """True where a word for pieces, reviews, stars or days follows at once."""
    return _COUNTED.first(gap)[0] is not None


def tax_after(gap: str) -> str | None:
    """`incl` or `excl` where the text after an amount says which."""
    return _tax_word(_TAX.first(gap)[0]) if gap else None


def tax_before(gap: str) -> str | None:
    """`incl` or `excl` where the text before an amount ends with it: `(税込 1,100円)`."""
    bare = gap.rstrip(" :(-–")
    if not bare or not bare[-1].isalpha() or ("(" not in gap and ":" not in gap[-3:] and len(bare) > 24):
        return None
    tail = bare[-24:]
    tokens = _WORD.findall(tail.casefold())
    for size in range(min(3, len(tokens)), 0, -1):
        role = _TAX.by_words.get(" ".join(tokens[-size:]))
        if role is not None:
            return _tax_word(role)
    return next((_tax_word(role) for label, role in _TAX.unspaced.items() if tail.endswith(label)), None)


def _tax_word(role: Role | None) -> str | None:
    return None if role is None else ("incl" if role is Role.PRICE else "excl")


def month_before(gap: str, months: frozenset[str]) -> bool:
    """True where the last word before a number is the name of a month."""
    word = _LAST_WORD.search(gap)
    return word is not None and (word[1].casefold() in _ENGLISH_MONTHS or word[1].casefold() in months)


def is_free(text: str) -> bool:
    """True for a text that says nothing but `free`."""
    if len(text) > 40:
        return False
    key = _key(text)
    return key in _FREE or any(
        key == f"{lead} {free}" for lead in _FREE_LEADS for free in _FREE if free in key
    )
