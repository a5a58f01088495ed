"""Decides what each number of a scanned text is: the price, another amount, or no money at all."""

from __future__ import annotations

import re
from itertools import pairwise

from pricecrawl.domain import money_roles as roles
from pricecrawl.domain.money_roles import RANK, Role
from pricecrawl.domain.money_scan import Found, Known, ahead_of_sign, past_sign

_RATING = re.compile(r"\s?(?:\(\d+\)|/\s?(?:5|10)(?!\d))")
_DATE = re.compile(
    r"(?<!\d)(?:(?:0?[1-9]|[12]\d|3[01])([./-])(?:0?[1-9]|1[0-2])\1(?:19|20)?\d\d|(?:19|20)\d\d([./-])(?:0?[1-9]|1[0-2])\2"
    r"(?:0?[1-9]|[12]\d|3[01])|(?:0?[1-9]|1[0-2])/(?:19|20)\d\d|[01]?\d:[0-5]\d|2[0-3]:[0-5]\d)(?!\d)"
)


def give_roles(text: str, found: list[Found], known: Known) -> None:
    """Sets `role`, `tax`, `quantity` and `bracketed` of every number of a scanned text."""
    dates = [match.span() for match in _DATE.finditer(text)] if len(found) > 1 else []
    depth = 0
    for previous, item in zip([None, *found], found, strict=False):
        if previous is not None and item.sign is None and _is_rating(previous):
            item.taken = True
        depth = max(0, depth + item.before.count("(") - item.before.count(")"))
        item.bracketed = depth > 0
        # A label that already speaks for the amount before it says nothing about this one.
        gap = item.before[previous.spoken :] if previous is not None else item.before
        item.role = _role(item, gap, dates, known)
    _give_tax(found)
    for old, new in pairwise(found):
        count = re.fullmatch(r"[2-9]|[12]\d", old.token)
        if count and old.sign is None and roles.is_multibuy(new.before):
            new.quantity = int(old.token)
        if roles.old_new_pair(old.before, new.before) and new.role in RANK and old.role in RANK:
            old.role, new.role = Role.BEFORE, Role.NOW


def _role(item: Found, gap: str, dates: list[tuple[int, int]], known: Known) -> Role:
    if item.amount is None or item.taken or _is_share(item):
        return Role.NOT_MONEY
    unsure = item.sign is None or item.sign.weak
    if _is_reduction(item):
        return Role.SAVING
    if unsure and (_is_noise(item) or _is_date(item, dates, known)):
        return Role.NOT_MONEY
    label = roles.label_before(gap)
    if label is Role.NOT_MONEY and item.sign is not None:
        label = None
    if label is Role.SAVING and item.before.lstrip(" ").startswith("%"):
        label = None  # `30 % off` speaks of the share before it
    if label in (Role.SAVING, Role.SHIPPING, Role.NOT_MONEY):
        return label
    if roles.unit_before(item.before):
        return Role.UNIT
    after = past_sign(item)
    follows, length = roles.label_after(after)
    if follows is not None:
        item.spoken = len(item.tail) - len(after) + length
    if follows is not None and follows is not Role.FROM:
        return follows
    if item.sign is not None and roles.times_before(ahead_of_sign(item)):
        return Role.INSTALMENT
    return label or follows or Role.PRICE


def _is_share(item: Found) -> bool:
    return item.after.lstrip(" ").startswith("%") or (item.before.rstrip(" ").endswith("%") and not item.sign)


def _is_reduction(item: Found) -> bool:
    """A minus glued to an amount or to its sign, with nothing before that it could join: money taken off."""
    before = item.before
    if item.prefix is not None and not before.endswith("-"):
        before = before[: before.rfind(item.prefix.text)] if item.prefix.text in before else before
    if not before.endswith("-"):
        return False
    rest = before.rstrip("-")
    return not rest or rest[-1] in " (:" or (item.prefix is not None and rest.endswith(item.prefix.text))


def _is_date(item: Found, dates: list[tuple[int, int]], known: Known) -> bool:
    if any(start < item.end and item.start < end for start, end in dates) and known.hint is None:
        return True
    return roles.month_before(item.before, known.context.months)


def _is_noise(item: Found) -> bool:
    """Sizes, counts, codes and parts of words, where no sign says that it is money."""
    after, before = item.tail, item.before
    weak = item.sign is not None
    if _is_rating(item):
        return True
    if roles.measure_after(after) or roles.count_after(after):
        return True
    if not weak and (_ascii_letter(before[-1:]) or _ascii_letter(after[:1])):
        return True
    if not weak and (roles.litre_after(after) or (before == "-" or item.after == "-")):
        return True
    return bool(re.fullmatch(r"\d{12,}", item.token))


def _is_rating(item: Found) -> bool:
    """`4.7/5` and `4,5 (123)`: stars, and how many gave them."""
    shape = item.sign is None and re.fullmatch(r"[0-5](?:[.,]\d)?", item.token)
    return bool(shape) and _RATING.match(item.tail) is not None


def _ascii_letter(char: str) -> bool:
    return char.isascii() and char.isalpha()


def _give_tax(found: list[Found]) -> None:
    """Which amounts are with tax and which without, as the words beside them say.

    One word between two amounts may belong to either: without tax is the smaller one, with tax the larger.
    """
    money = [item for item in found if item.role in RANK and item.amount is not None]
    for item in money:
        item.tax = roles.tax_after(past_sign(item)) or roles.tax_before(ahead_of_sign(item))
    for left, right in pairwise(money):
        shared = left.tax is not None and left.tax == right.tax and left.end + len(left.after) == right.start
        if not shared or left.amount is None or right.amount is None or left.amount == right.amount:
            continue
        if roles.tax_after(past_sign(right)) is not None or roles.tax_before(ahead_of_sign(left)) is not None:
            continue
        smaller, larger = (left, right) if left.amount < right.amount else (right, left)
        (larger if left.tax == "excl" else smaller).tax = None
