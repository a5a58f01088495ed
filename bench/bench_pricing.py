"""How fast prices are decided: the core against bare arithmetic, a run against loading and storing alone.

Both ratios come from one process, the sides alternating, on the processor's clock.
`PRICECRAWL_BENCH_SKUS` sets the number of SKUs (five offers each).
"""

from __future__ import annotations

import gc
import os
import random
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import ROUND_CEILING, ROUND_UP, Decimal
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Engine, Table, select

from bench.figure import Figure
from pricecrawl.db import tables
from pricecrawl.db.engine import open_engine
from pricecrawl.db.policies import PolicyStore
from pricecrawl.db.pricing import PricingStore
from pricecrawl.db.sql import insert_rows
from pricecrawl.domain.availability import Availability
from pricecrawl.domain.candidate import PriceKind
from pricecrawl.domain.mapping import MappingMethod, MappingStatus
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.offer import Offer
from pricecrawl.pricing.decision import Decision, decide
from pricecrawl.pricing.findings import Inputs, Verdict
from pricecrawl.pricing.fx import Rates
from pricecrawl.pricing.market_price import market_price
from pricecrawl.pricing.policy import Settings, read_policy
from pricecrawl.pricing.subject import Cost, Subject
from pricecrawl.workflows import policies, price

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
OFFERS = 5
# Inputs are built so many at a time: memory stays flat and neither side waits for it.
AT_A_TIME = 2000
ROUNDS = 3

T = TypeVar("T")
Values = tuple[Any, ...]
Case = tuple[Subject, tuple[Offer, ...], Cost, Decimal]


def run() -> list[Figure]:
    """Both ratios."""
    skus = int(os.environ.get("PRICECRAWL_BENCH_SKUS", "20000"))
    return [_core(skus), _whole(skus)]


# --- the core ----------------------------------------------------------------------------------


def _core(skus: int) -> Figure:
    rng = random.Random(7)
    spent = {bare: 0.0, engine: 0.0}
    rounds = max(1, skus // AT_A_TIME)
    gc.collect()
    gc.freeze()
    for _ in range(rounds):
        cases = [_case(rng, number) for number in range(AT_A_TIME)]
        assert list(bare(cases)) == list(map(values, engine(cases))), "the two decide differently"
        for side in spent:
            spent[side] += min(_seconds(_consume, side(cases)) for _ in range(ROUNDS))
    done = rounds * AT_A_TIME
    each = {side: seconds / done * 1e6 for side, seconds in spent.items()}
    return Figure(
        name="decision core / bare Decimal loop",
        value=spent[engine] / spent[bare],
        how=f"{done} SKUs x {OFFERS} offers: {each[engine]:.1f} against {each[bare]:.1f} us a SKU",
        at_most=4,
    )


def engine(cases: Sequence[Case]) -> Iterator[Decision]:
    """What is decided, by the engine: every value, every reason, every finding."""
    settings, rates = Settings(), Rates()
    for subject, offers, cost, previous in cases:
        snapshot = market_price(subject, offers, settings=settings, rates=rates, now=NOW)
        yield decide(Inputs(subject, cost, settings, "v", snapshot, NOW, previous_market=previous))


def values(decision: Decision) -> Values:
    """The figures of a decision in the order of `bare`."""
    computed, market = decision.computed, decision.inputs.market
    floors = computed.floors
    assert floors is not None
    landed = tuple(
        item.landed for item in sorted(market.eligible + market.excluded, key=lambda x: x[0].offer_id)
    )
    return (
        *(landed, market.price, computed.target, computed.rounded, floors.variable_cost),
        *(floors.margin_floor, floors.allowed, computed.proposed, computed.change),
        decision.verdict is Verdict.ALLOW,
    )


def bare(cases: Sequence[Case]) -> Iterator[Values]:
    """The same formulas and limits in a loop: the same values, but no reasons and no findings."""
    cent, kept, one = Decimal("0.01"), Decimal("0.000001"), Decimal(1)
    margin, down, up = Decimal("0.10"), Decimal("0.05"), Decimal("0.10")
    half, far, jump = Decimal("0.50"), Decimal("0.60"), Decimal("0.30")
    oldest = NOW - timedelta(minutes=120)
    for subject, offers, cost, previous in cases:
        landed = tuple([offer.item_price + offer.shipping - offer.promotion.amount for offer in offers])
        eligible = sorted(
            amount
            for amount, offer in zip(landed, offers, strict=True)
            if offer.availability is Availability.IN_STOCK and offer.observed_at >= oldest
        )
        variable_cost = cost.cogs + cost.fulfilment + cost.payment
        margin_floor = (variable_cost / (one - margin)).quantize(kept, ROUND_CEILING)
        floor = max(variable_cost, margin_floor, cost.map_price or margin_floor).quantize(cent, ROUND_CEILING)
        if not eligible:
            yield landed, None, None, None, variable_cost, margin_floor, floor, None, None, False
            continue
        current = subject.current_price
        market = eligible[0]
        target = market.quantize(cent, ROUND_CEILING)
        proposed = max(target, floor)
        change = ((proposed - current) / current).quantize(kept, ROUND_UP)
        allowed = (
            proposed >= variable_cost
            and proposed >= margin_floor
            and proposed > 0
            and proposed % cent == 0
            and current % cent == 0
            and current - proposed <= current * down
            and proposed - current <= current * up
            and proposed != floor
            and market >= variable_cost * half
            and (len(eligible) < 3 or market >= eligible[len(eligible) // 2] * far)
            and abs(market - previous) <= previous * jump
        )
        yield landed, market, market, target, variable_cost, margin_floor, floor, proposed, change, allowed


def _case(rng: random.Random, number: int) -> Case:
    base = rng.randint(500, 9000)
    offers = tuple(
        Offer(
            offer_id=number * OFFERS + place,
            source=f"shop-{place}",
            source_sku=f"x{number}",
            item_price=Decimal(base + rng.randint(-200, 400)) / 100,
            currency="EUR",
            shipping=Decimal(rng.choice((0, 390))) / 100,
            price_kind=PriceKind.STANDARD,
            availability=Availability.IN_STOCK if rng.random() < 0.9 else Availability.OUT_OF_STOCK,
            observed_at=NOW - timedelta(minutes=rng.randint(0, 140)),
            mapping_id=place,
            mapping_status=MappingStatus.AUTO_ACCEPTED,
            mapping_method=MappingMethod.GTIN_EXACT,
            tax_basis=TaxBasis.INCLUSIVE,
            country="DE",
        )
        for place in range(OFFERS)
    )
    cost = Cost(
        currency="EUR",
        cogs=Decimal(base * 6 // 10) / 100,
        fulfilment=Decimal("0.50"),
        payment=Decimal("0.20"),
        map_price=Decimal(base) / 100 if rng.random() < 0.1 else None,
        regulatory_floor=None,
        map_required=False,
        regulatory_required=False,
        valid_from=NOW - timedelta(days=9),
        valid_to=None,
        confirmed_at=NOW - timedelta(days=1),
    )
    subject = Subject(f"S-{number}", "EUR", "DE", current_price=Decimal(base) / 100)
    return subject, offers, cost, Decimal(base) / 100


# --- the whole run -----------------------------------------------------------------------------


def _whole(skus: int) -> Figure:
    with tempfile.TemporaryDirectory() as folder:
        first, second = (open_engine(f"sqlite:///{Path(folder) / name}") for name in ("a.db", "b.db"))
        for database in (first, second):
            _fill(database, skus)
        deciding = _seconds(_price, first)
        storing = _store_again(first, second)
        first.dispose()
        second.dispose()
    each = {"run": deciding / skus * 1e6, "store": storing / skus * 1e6}
    return Figure(
        name="load, decide, store / the same rows merely loaded and stored",
        value=deciding / storing,
        how=f"{skus} SKUs x {OFFERS} offers: {each['run']:.0f} against {each['store']:.0f} us a SKU",
        at_most=4,
    )


def _price(database: Engine) -> None:
    store = PolicyStore(database)
    # Random prices all move at once; the breaker is not what is measured.
    body = {
        "version": "bench",
        "valid_from": "2026-01-01",
        "default": {"breaker_sku_share": "1", "breaker_value_share": "1"},
    }
    policies.propose(store, read_policy(body), by="ann", now=NOW)
    policies.approve(store, "bench", by="bob", reason="bench", now=NOW)
    countries = {f"shop-{place}": "DE" for place in range(OFFERS)}
    price.run(PricingStore(database), now=NOW, countries=countries)


def _store_again(first: Engine, second: Engine) -> float:
    """Seconds to load what a run loads and store what it stored, in the same batches."""
    written = {
        table: _rows(first, table, size)
        for table, size in (
            (tables.market_price_snapshot, price.BATCH),
            (tables.price_decision, price.BATCH),
            (tables.audit_event, price.BATCH * 4),
        )
    }
    store, after, spent = PricingStore(second), "", 0.0
    while True:
        output = {table: next(rows, []) for table, rows in written.items()}
        started = time.process_time()
        with store.begin() as tx:
            loaded = store.batch(tx, after=after, limit=price.BATCH)
            for table, rows in output.items():
                insert_rows(tx, table, rows)
        spent += time.process_time() - started
        if not loaded.skus:
            return spent
        after = loaded.skus[-1].sku


def _rows(database: Engine, table: Table, size: int) -> Iterator[list[dict[str, Any]]]:
    with database.connect() as conn:
        found = conn.execute(select(table), execution_options={"yield_per": size}).mappings()
        for some in batched(found, size):
            yield [dict(row) for row in some]


def _fill(database: Engine, skus: int) -> None:
    rng = random.Random(7)
    with database.begin() as conn:
        shops = [f"shop-{place}" for place in range(OFFERS)]
        insert_rows(conn, tables.source, [{"slug": shop, "platform": "retailer"} for shop in shops])
        runs = [{"id": n, "source": shop, "platform": "retailer"} for n, shop in enumerate(shops, 1)]
        ended = {"started_at": NOW, "outcome": "finished"}
        insert_rows(conn, tables.run, [row | ended for row in runs])
    for numbers in batched(range(skus), 5000):
        made: dict[Table, list[dict[str, Any]]] = {}
        for number in numbers:
            for table, row in _stored(rng, number):
                made.setdefault(table, []).append(row)
        with database.begin() as conn:
            for table, rows in made.items():
                insert_rows(conn, table, rows)


def _stored(rng: random.Random, number: int) -> Iterator[tuple[Table, dict[str, Any]]]:
    """The rows of one SKU: itself, its cost, and five mapped and observed listings."""
    subject, offers, cost, _ = _case(rng, number)
    name = f"S{number:07}"
    yield (
        tables.sku,
        {
            "sku": name,
            "name": f"Product {number}",
            "currency": "EUR",
            "country": "DE",
            "current_price": subject.current_price,
            "imported_at": NOW,
        },
    )
    amounts = {"cogs": cost.cogs, "fulfilment": cost.fulfilment, "payment": cost.payment}
    dates = {"valid_from": cost.valid_from, "imported_at": cost.confirmed_at}
    yield tables.sku_cost, {"sku": name, "currency": "EUR", "map_price": cost.map_price, **amounts, **dates}
    for place, offer in enumerate(offers):
        of = number * OFFERS + place + 1
        state = {"availability": offer.availability.value, "price": offer.item_price, "currency": "EUR"}
        yield (
            tables.evidence,
            {
                "id": of,
                "source": offer.source,
                "digest": f"sha256:{of:064x}",
                "warc": "bench.warc.gz",
                "offset": of,
                "length": 1,
                "url": "https://shop.example/",
                "status": 200,
                "fetched_at": NOW,
            },
        )
        yield (
            tables.listing,
            {
                "id": of,
                "source": offer.source,
                "source_sku": offer.source_sku,
                "url": "https://shop.example/",
                "name": f"Product {number}",
                "first_seen_at": NOW,
                "last_seen_at": NOW,
                "last_observation_id": of,
                **state,
            },
        )
        yield (
            tables.observation,
            {
                "id": of,
                "run_id": place + 1,
                "listing_id": of,
                "price_kind": "standard",
                "method": "json-ld",
                "shipping": offer.shipping,
                "tax_basis": "incl",
                "observed_at": offer.observed_at,
                "evidence_id": of,
                "extractor_version": "1",
                **state,
            },
        )
        yield (
            tables.mapping,
            {
                "id": of,
                "listing_id": of,
                "sku": name,
                "method": offer.mapping_method.value,
                "status": offer.mapping_status.value,
                "mapper_version": "bench",
                "evidence": {},
                "first_use_reviewed": True,
                "created_at": NOW,
            },
        )


def _consume(decisions: Iterator[Any]) -> None:
    deque(decisions, maxlen=0)


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """`itertools.batched`, which Python 3.11 does not have."""
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some


def _seconds(work: Callable[[Any], Any], given: Any) -> float:
    started = time.process_time()
    work(given)
    return time.process_time() - started
