"""A person's saved choice of method: it selects among this page's candidates and vouches for nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from pricecrawl.domain.candidate import Candidate, Method
from pricecrawl.domain.consensus_groups import Group, groups

REFUSED_METHODS = frozenset({Method.MEMBER_PRICE, Method.ORIGINAL_PRICE})
"""A secondary kind of price may not stand in as the listing's price."""


@dataclass(frozen=True, slots=True)
class Preference:
    """The (method, selector) behind the candidate that a person picked; selector None means any."""

    method: Method
    selector: str | None = None

    def describe(self) -> str:
        """For a trace sentence."""
        return f"{self.method.value} {self.selector or ''}".strip()


@dataclass(frozen=True, slots=True)
class Preferred:
    """What the preference selected (None: it fell through), and why in a sentence.

    `moved`: the selector that the person picked gives nothing any more, another of its method does.
    """

    group: Group | None
    sentence: str
    moved: bool = False


def select_preferred(
    preference: Preference | None,
    primary: Sequence[Candidate],
    currency: str | None,
    agrees: Callable[[Decimal], bool],
) -> Preferred | None:
    """Pick the largest group of the preferred method among `primary` candidates of one currency.

    `primary` holds only kinds that may be a price. `agrees` tells whether an amount agrees with what
    would otherwise decide (the anchor, or the vote); it settles a tie within the method. None when
    there is no preference.
    """
    if preference is None:
        return None
    name = preference.describe()
    if preference.method in REFUSED_METHODS:
        return Preferred(
            None, f"The saved choice {name} is refused: a member or list price is never the price."
        )
    of_method = [c for c in primary if c.method is preference.method]
    exact = [c for c in of_method if preference.selector in (None, c.selector)]
    mine = exact or of_method
    if not mine:
        return Preferred(
            None, f"The saved choice {name} matched no candidate on this page; the usual rules decide."
        )
    found = groups(mine, currency)
    most = len(found[0].sources)
    top = [group for group in found if len(group.sources) == max(most, *(len(g.sources) for g in found))]
    if len(top) > 1:
        top = [group for group in top if agrees(group.amount)]
    if len(top) != 1:
        return Preferred(
            None,
            f"The saved choice {name} read several prices and none stands out; the usual rules decide.",
        )
    moved = "" if exact else " (its selector no longer matches, its method does)"
    return Preferred(top[0], f"The saved choice {name} is honoured{moved}: {top[0].describe()}.", not exact)
