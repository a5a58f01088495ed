"""What a policy would have done with what was seen: two policies side by side, nothing written.

Time runs SKU by SKU. Whenever a run has read one of its listings, the price is decided under each
policy from the readings known by then, those from before the replayed time among them; an allowed price
becomes the price of the next moment under that policy, one in review or blocked leaves it. Mappings,
listings' facts and switches are today's; what a person chose of a reading in doubt counts from then on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from pricecrawl.db.history import HistoryStore, Past
from pricecrawl.db.policies import PolicyStore
from pricecrawl.domain.errors import ProblemsFound, UsageProblem
from pricecrawl.pricing.decision import Decision, decide
from pricecrawl.pricing.findings import Inputs, Verdict
from pricecrawl.pricing.fx import Rates
from pricecrawl.pricing.market_price import MarketPrice, market_price
from pricecrawl.pricing.policy import BUILTIN, Policy, Settings, read_policy
from pricecrawl.workflows.offers import cost_of, offer_of, rates_of, subject_of
from pricecrawl.workflows.policies import settings_of

_ZERO = Decimal(0)


@dataclass(slots=True)
class Money:
    """Sums in one currency, at one sale of each SKU that has a final price and a cost."""

    revenue: Decimal = _ZERO
    cost: Decimal = _ZERO
    start: Decimal = _ZERO

    @property
    def margin(self) -> Decimal | None:
        """Share of the final prices that is left after variable cost."""
        return None if self.revenue == 0 else (self.revenue - self.cost) / self.revenue

    @property
    def price_level(self) -> Decimal | None:
        """Final prices against the first ones: 0.97 is three percent cheaper."""
        return None if self.start == 0 else self.revenue / self.start


@dataclass(slots=True)
class Side:
    """One policy's sums. Shares are fractions; `money` is by currency: amounts in two are not added up."""

    version: str
    decisions: int = 0
    changes: int = 0
    reviews: int = 0
    blocks: int = 0
    priced: int = 0
    winning: int = 0
    money: dict[str, Money] = field(default_factory=dict)

    @property
    def win_rate(self) -> Decimal | None:
        """Share of moments with a market price at which ours was not over it."""
        return None if self.priced == 0 else Decimal(self.winning) / self.priced


@dataclass(slots=True)
class Simulated:
    """The policy in force and the candidate over the same past."""

    since: datetime
    skus: int
    moments: int
    current: Side
    candidate: Side


def run(
    store: HistoryStore, candidate: Policy, *, since: datetime, now: datetime, countries: Mapping[str, str]
) -> Simulated:
    """Replay what was observed from `since` on under the policy in force and under `candidate`.

    Raises:
        UsageProblem: nothing that is mapped was observed since then.
        ProblemsFound: the policy in force cannot be read.
    """
    policies = (_in_force(store, now), candidate)
    sides = tuple(Side(policy.version) for policy in policies)
    rates = rates_of(store.rates())
    skus = moments = 0
    back = timedelta(minutes=max(policy.longest_freshness for policy in policies))
    for past in store.pasts(since, back=back):
        if not past.seen:
            continue
        skus += 1
        moments += len(_moments(past))
        for policy, side in zip(policies, sides, strict=True):
            settings, _ = settings_of(policy, past.sku.sku, past.sku.category, past.overrides)
            _replay(past, settings, side, since=since, rates=rates, countries=countries)
    if skus == 0:
        raise UsageProblem(
            f"no listing of a SKU was observed since {since:%Y-%m-%d}: there is nothing to replay."
        )
    return Simulated(since, skus, moments, *sides)


def _in_force(store: HistoryStore, now: datetime) -> Policy:
    with store.engine.connect() as conn:
        row = PolicyStore(store.engine).in_force(conn, now)
    if row is None:
        return BUILTIN
    try:
        return read_policy(row.body, place=f"policy {row.version}")
    except UsageProblem as problem:
        raise ProblemsFound(f"the policy in force cannot be read: {problem}") from None


def _moments(past: Past) -> list[list[Any]]:
    """Readings in groups that one run brought, in order of time."""
    groups: dict[int, list[Any]] = {}
    for row in past.seen:
        groups.setdefault(row.run_id, []).append(row)
    return sorted(groups.values(), key=lambda rows: rows[-1].observed_at)


def _replay(
    past: Past,
    settings: Settings | None,
    side: Side,
    *,
    since: datetime,
    rates: Rates,
    countries: Mapping[str, str],
) -> None:
    start = past.price_at_start
    final, variable_cost = start, None
    for made in _decisions(past, settings, side.version, since=since, rates=rates, countries=countries):
        before, proposed = made.inputs.subject.current_price, made.computed.proposed
        allowed = made.verdict is Verdict.ALLOW and proposed is not None
        final = proposed if allowed else before
        side.decisions += 1
        side.reviews += made.verdict is Verdict.REVIEW
        side.blocks += made.verdict is Verdict.BLOCK
        side.changes += allowed and proposed != before
        if made.computed.floors is not None:
            variable_cost = made.computed.floors.variable_cost
        market = made.inputs.market.price
        if market is not None and final is not None:
            side.priced += 1
            side.winning += final <= market
    if final is not None and variable_cost is not None:
        money = side.money.setdefault(past.sku.currency, Money())
        money.revenue += final
        money.cost += variable_cost
        money.start += start or final


def _decisions(
    past: Past,
    settings: Settings | None,
    version: str,
    *,
    since: datetime,
    rates: Rates,
    countries: Mapping[str, str],
) -> Iterator[Decision]:
    """A decision per moment; each starts from the price that the one before left."""
    known = {row.listing_id: row for row in past.before}
    ours = replace(subject_of(past.sku), current_price=past.price_at_start)

    def market_at(at: datetime) -> MarketPrice:
        chosen = {of: choice for of, (when, choice) in past.chosen.items() if when <= at}
        offers = tuple(
            offer_of(row, countries=countries, held=frozenset(), chosen=chosen) for row in known.values()
        )
        return market_price(ours, offers, settings=settings or Settings(), rates=rates, now=at)

    previous = market_at(since).price
    for rows in _moments(past):
        known.update((row.listing_id, row) for row in rows)
        at = rows[-1].observed_at
        snapshot = market_at(at)
        cost = cost_of(past.costs, at)
        if cost is not None and cost.confirmed_at > at:
            cost = replace(cost, confirmed_at=at)  # what was confirmed later was not stale then
        made = decide(Inputs(ours, cost, settings, version, snapshot, at, previous_market=previous))
        if made.verdict is Verdict.ALLOW and made.computed.proposed is not None:
            ours = replace(ours, current_price=made.computed.proposed)
        previous = snapshot.price if snapshot.price is not None else previous
        yield made
