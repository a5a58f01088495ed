"""Pricing the catalogue: load a batch, decide, save snapshots, decisions and events in one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from pricecrawl.db.policies import PolicyStore
from pricecrawl.db.pricing import Loaded, PricingStore
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.events import EventType
from pricecrawl.pricing.breaker import Moved, move, tripped
from pricecrawl.pricing.decision import Decision, DecisionReason, decide, with_findings
from pricecrawl.pricing.findings import Finding, Inputs, Verdict
from pricecrawl.pricing.fx import Rates
from pricecrawl.pricing.market_price import market_price
from pricecrawl.pricing.policy import Policy, Settings
from pricecrawl.pricing.states import State, advance
from pricecrawl.workflows import decision_rows as rows
from pricecrawl.workflows.events import event, stable_id
from pricecrawl.workflows.offers import (
    cost_of,
    held_sources,
    holds_on,
    offer_of,
    rates_of,
    subject_of,
)
from pricecrawl.workflows.policies import in_force, settings_of

BATCH = 500
KEPT = 1000
"""Decisions that a run hands back to be shown; a larger run is looked at in the database."""

WAITS = "is about to be taken back: a rollback waits"
"""What is said of a SKU whose rollback somebody has asked for and nobody has published."""

_RATES_BACK = timedelta(days=30)
_EMPTY = Settings()
_ZERO = Decimal(0)


@dataclass(slots=True)
class Priced:
    """What a run decided. `decisions` holds the first `KEPT` as (decision id, decision)."""

    run_id: str
    policy_version: str
    skus: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    superseded: int = 0
    recalled: int = 0
    decisions: list[tuple[str, Decision]] = field(default_factory=list)


def run(
    store: PricingStore,
    *,
    now: datetime,
    countries: Mapping[str, str],
    skus: Sequence[str] | None = None,
    correlation: str | None = None,
    authorized: bool = True,
) -> Priced:
    """Decide a price for `skus`, or for every active SKU.

    `countries` is the market of each source. `correlation` names what asked for it; asked twice under
    the same name, a SKU is decided once. Each batch is one transaction that takes the kill switches,
    costs and offers as they are at that moment.

    Raises:
        UsageProblem: one of `skus` is not in the catalogue.
    """
    pricing = _Run(
        store, now=now, countries=countries, skus=skus, correlation=correlation, authorized=authorized
    )
    for names in _named(skus) if skus is not None else _endless():
        if not pricing.batch(names):
            break
    pricing.finish()
    return pricing.result


def _named(skus: Sequence[str]) -> Iterator[list[str]]:
    unique = sorted(set(skus))
    yield from (unique[start : start + BATCH] for start in range(0, len(unique), BATCH))


def _endless() -> Iterator[None]:
    while True:
        yield None


class _Run:
    """One pricing run: what stays the same over its batches, and what the breaker has counted."""

    def __init__(
        self,
        store: PricingStore,
        *,
        now: datetime,
        countries: Mapping[str, str],
        skus: Sequence[str] | None,
        correlation: str | None,
        authorized: bool,
    ) -> None:
        self.store = store
        self.now = now
        self.countries = countries
        self.authorized = authorized
        self.after = ""
        self.settings: dict[tuple[str, str], Settings] = {}
        self.breaker = _Breaker(store, now)
        run_id = stable_id("pricing", correlation or now.isoformat())
        with store.begin() as tx:
            self.policy = in_force(PolicyStore(store.engine), tx, now)
            self.rates: Rates = rates_of(store.rates(tx, (now - _RATES_BACK).date()))
            version = self.policy.version if self.policy else "unavailable"
            self.result = Priced(run_id, version)
            self.taken_back = store.taken_back(tx, skus)
            self.cause = self._request(tx, correlation)

    def batch(self, names: list[str] | None) -> bool:
        """Price the next SKUs (or `names`); False when there are no more."""
        with self.store.begin() as tx:
            loaded = (
                self.store.named(tx, names)
                if names is not None
                else self.store.batch(tx, after=self.after, limit=BATCH)
            )
            if names is not None and len(loaded.skus) != len(names):
                missing = sorted(set(names) - {row.sku for row in loaded.skus})
                raise UsageProblem(
                    f"SKU {missing[0]} is not in the catalogue; `pricecrawl catalog import` adds it."
                )
            if not loaded.skus:
                return False
            self.after = loaded.skus[-1].sku
            decided = self._decide(tx, loaded)
            self._save(tx, loaded, decided)
        return True

    def finish(self) -> None:
        """Take back what was allowed before the breaker opened, as far as nobody has published it."""
        finding = self.breaker.opened
        if finding is None or not self.breaker.passed:
            return
        with self.store.begin() as tx:
            statuses = self.store.statuses(tx, list(self.breaker.passed))
            taken = [of for of, status in statuses.items() if status == State.APPROVED.value]
            expires = self.now + timedelta(hours=self._default().review_hours)
            for of in taken:
                advance(State.APPROVED, State.REVIEW_REQUIRED, what=f"decision {of}")
            self.store.set_status(
                tx, taken, was=State.APPROVED.value, becomes=State.REVIEW_REQUIRED.value, now=self.now
            )
            self.store.recall(tx, taken, finding.plain(), verdict=Verdict.REVIEW.value, expires_at=expires)
            self.store.append(
                tx,
                [
                    rows.review_requested(
                        of, self.breaker.passed[of], [finding], expires, now=self.now, key="recalled"
                    )
                    for of in taken
                ],
            )
        self.result.recalled = len(taken)
        back = set(taken)
        self.result.decisions = [
            (of, with_findings(made, (finding,)) if of in back else made)
            for of, made in self.result.decisions
        ]
        self.result.verdicts[Verdict.ALLOW.value] -= len(taken)
        self.result.verdicts[Verdict.REVIEW.value] += len(taken)

    def _decide(self, tx: Any, loaded: Loaded) -> list[tuple[str, Decision]]:
        holds = self.store.holds(tx)
        held = held_sources(holds)
        ids = [stable_id(self.result.run_id, row.sku) for row in loaded.skus]
        done = self.store.decided(tx, ids)
        decided = []
        for decision_id, row in zip(ids, loaded.skus, strict=True):
            if decision_id in done:
                continue
            settings, version = self._resolve(row, loaded.overrides.get(row.sku))
            subject = subject_of(row)
            offers = tuple(
                offer_of(item, countries=self.countries, held=held, chosen=loaded.chosen)
                for item in loaded.offers.get(row.sku, ())
            )
            snapshot = market_price(
                subject, offers, settings=settings or _EMPTY, rates=self.rates, now=self.now
            )
            inputs = Inputs(
                subject=subject,
                cost=cost_of(loaded.costs.get(row.sku, ()), self.now),
                settings=settings,
                policy_version=version,
                market=snapshot,
                now=self.now,
                holds=holds_on(row.sku, holds) if holds else (),
                previous_market=loaded.previous.get(row.sku),
                authorized=self.authorized,
                taken_back=WAITS if self._waits(loaded, row.sku) else self.taken_back.get(row.sku, ""),
            )
            decided.append((decision_id, decide(inputs)))
        return self.breaker.judge(tx, decided, self._default())

    def _save(self, tx: Any, loaded: Loaded, decided: list[tuple[str, Decision]]) -> None:
        numbers = self.store.snapshot_ids(tx, len(decided))
        events = []
        stale: dict[str, list[str]] = {}
        snapshots, decisions = [], []
        for number, (decision_id, decision) in zip(numbers, decided, strict=True):
            sku = decision.inputs.subject.sku
            snapshots.append(rows.snapshot(number, decision))
            decisions.append(rows.decision(decision_id, number, decision))
            events += rows.events(decision, decisions[-1], snapshots[-1], cause=self.cause)
            for old in loaded.open.get(sku, ()):
                if _rollback_waits(old, self.now):
                    continue  # somebody wants the price back: a run does not decide that away
                advance(old.status, State.STALE, what=f"decision {old.decision_id}")
                stale.setdefault(old.status, []).append(old.decision_id)
            self.result.verdicts[decision.verdict.value] += 1
        self.store.save(tx, snapshots, decisions)
        for was, old_ones in stale.items():
            self.store.set_status(tx, old_ones, was=was, becomes=State.STALE.value, now=self.now)
            self.result.superseded += len(old_ones)
        self.store.append(tx, events)
        self.result.skus += len(decided)
        room = KEPT - len(self.result.decisions)
        self.result.decisions += decided[:room]

    def _waits(self, loaded: Loaded, sku: str) -> bool:
        return any(_rollback_waits(row, self.now) for row in loaded.open.get(sku, ()))

    def _resolve(self, row: Any, overrides: Mapping[str, Any] | None) -> tuple[Settings | None, str]:
        """Settings of a SKU and the version that names them; None where they cannot be read."""
        policy: Policy | None = self.policy
        if policy is None or overrides:
            return settings_of(policy, row.sku, row.category, overrides)
        key = (row.sku if row.sku in policy.skus else "", row.category)
        settings = self.settings.get(key)
        if settings is None:
            settings = self.settings[key] = policy.resolve(row.sku, row.category)
        return settings, policy.version

    def _default(self) -> Settings:
        return self.policy.default if self.policy else _EMPTY

    def _request(self, tx: Any, correlation: str | None) -> str:
        payload = {"run": self.result.run_id, "policy_version": self.result.policy_version}
        if correlation is not None:
            payload["asked_by"] = correlation
        made = event(
            EventType.PRICING_REQUESTED,
            f"pricing:{self.result.run_id}",
            payload,
            now=self.now,
            correlation=self.result.run_id,
            producer="pricing",
            key=self.now.isoformat(),
        )
        self.store.append(tx, [made])
        return made.event_id


def _rollback_waits(row: Any, now: datetime) -> bool:
    """Whether an open decision is a rollback that may still be approved or published."""
    in_time = row.expires_at is None or row.expires_at > now
    return bool(row.decision_reason == DecisionReason.ROLLBACK.value and in_time)


class _Breaker:
    """The mass-change breaker over the batches of one run, by currency: a market each.

    A SKU that moves again within the window counts once, and what it moves adds up; a move that nobody
    has published yet ends with the decision that takes its place. Within one batch the count is complete
    before anything is stored; in a run of many batches those before the one that trips are taken back at
    the end.
    """

    def __init__(self, store: PricingStore, now: datetime) -> None:
        self.store = store
        self.now = now
        self.opened: Finding | None = None
        self.passed: dict[str, str] = {}
        self._window: _Window | None = None
        self._totals: dict[str, tuple[int, Decimal]] | None = None

    def judge(
        self, tx: Any, decided: list[tuple[str, Decision]], settings: Settings
    ) -> list[tuple[str, Decision]]:
        """The decisions, those that would move a price sent to review once too much moved."""
        if self._window is None:
            since = self.now - timedelta(minutes=settings.breaker_window_minutes)
            self._window = _Window(self.store.moves_since(tx, since))
        for _, made in decided:
            self._window.decided(made)
        if self.opened is None:
            self.opened = self._tripped(tx, self._window, settings)
        if self.opened is None:
            self.passed.update((of, made.inputs.subject.sku) for of, made in decided if move(made))
            return decided
        more = (self.opened,)
        return [(of, with_findings(made, more) if move(made) else made) for of, made in decided]

    def _tripped(self, tx: Any, window: _Window, settings: Settings) -> Finding | None:
        for currency in sorted(window.sums):
            moved = len(window.moves[currency])
            if moved < settings.breaker_min_moves:
                continue  # nothing can trip; do not add up the catalogue for it
            if self._totals is None:
                self._totals = self.store.totals(tx)
            count, total = self._totals.get(currency, (0, Decimal(0)))
            if found := tripped(Moved(moved, window.sums[currency], count, total), settings):
                return found
        return None


class _Window:
    """What moved: the value by currency and SKU, and its sum by currency."""

    def __init__(self, rows: Iterable[Any]) -> None:
        """From the moves that earlier runs allowed; those that still wait to be published are noted."""
        self.moves: dict[str, dict[str, Decimal]] = {}
        self.sums: dict[str, Decimal] = {}
        self._waiting: dict[tuple[str, str], Decimal] = {}
        for row in rows:
            if row.current_price is None or row.proposed_price is None:
                continue
            difference = abs(row.proposed_price - row.current_price)
            if row.status == State.APPROVED.value:
                self._waiting[row.currency, row.sku] = difference
            self._add(row.currency, row.sku, difference)

    def decided(self, made: Decision) -> None:
        """Another decision: it takes the place of the one of its SKU that waits."""
        subject = made.inputs.subject
        waited = self._waiting.pop((subject.currency, subject.sku), None)
        if waited is not None:
            self._add(subject.currency, subject.sku, -waited)
        if difference := move(made):
            self._add(subject.currency, subject.sku, difference)

    def _add(self, currency: str, sku: str, difference: Decimal) -> None:
        moves = self.moves.setdefault(currency, {})
        moves[sku] = moves.get(sku, _ZERO) + difference
        if moves[sku] == 0:
            del moves[sku]
        self.sums[currency] = self.sums.get(currency, _ZERO) + difference
