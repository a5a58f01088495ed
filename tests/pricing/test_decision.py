from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from pricecrawl.domain.candidate import PriceKind
from pricecrawl.domain.mapping import MappingMethod, MappingStatus
from pricecrawl.domain.promotion import read_promotion
from pricecrawl.domain.reasons import FindingCode
from pricecrawl.pricing.decision import DecisionReason, decide, steps, with_findings
from pricecrawl.pricing.findings import Inputs, Verdict, review
from pricecrawl.pricing.guardrails import GUARDRAILS, evaluate, strictest
from pricecrawl.pricing.policy import Settings
from pricecrawl.pricing.states import State
from pricecrawl.pricing.subject import ActiveHold
from tests.pricing.factories import NOW, codes, cost, decision, market, offer, subject


def test_a_plain_match_is_allowed_at_the_market_price() -> None:
    made = decision(offer("20.00"))
    assert made.computed.proposed == Decimal("20.00")
    assert made.verdict is Verdict.ALLOW
    assert made.findings == ()
    assert made.state is State.APPROVED
    assert made.reason is DecisionReason.MATCH_MARKET


def test_the_arithmetic_of_the_floors() -> None:
    made = decision(offer("20.00"), cost=cost("10.00", map_price=Decimal("12.995")))
    floors = made.computed.floors
    assert floors is not None
    assert floors.variable_cost == Decimal("11.50")
    assert floors.margin_floor == Decimal("12.777778")  # 11.50 / 0.90, rounded up
    assert floors.allowed == Decimal("13.00")
    assert floors.binding == ("MAP",)


def test_the_margin_floor_rounds_up_to_the_quantum() -> None:
    # 11.50 / 0.9 = 12.7777...: 12.77 would miss the margin by a fraction of a cent.
    made = decision(offer("11.90"), subject=subject("13.00"))
    assert made.computed.proposed == Decimal("12.78")
    assert made.reason is DecisionReason.RAISED_TO_FLOOR
    assert codes(made) == {FindingCode.ON_FLOOR}
    assert made.verdict is Verdict.REVIEW


def test_a_floor_on_the_quantum_is_not_moved() -> None:
    made = decision(offer("5.00"), cost=cost("7.50"), subject=subject("10.00"))
    assert made.computed.proposed == Decimal("10.00")  # 9.00 / 0.9
    assert made.reason is DecisionReason.UNCHANGED


def test_a_market_price_between_two_steps_rounds_up_so_that_it_never_undercuts() -> None:
    made = decision(offer("20.001"))
    assert made.computed.rounded == Decimal("20.01")


@pytest.mark.parametrize(
    ("endings", "market", "proposed"),
    [
        (("0.99",), "20.00", "20.99"),
        (("0.99",), "20.99", "20.99"),
        (("0.49", "0.99"), "20.10", "20.49"),
        (("9.95",), "20.10", "29.95"),
    ],
)
def test_price_endings_go_up_never_under_the_market(
    endings: tuple[str, ...], market: str, proposed: str
) -> None:
    settings = Settings(price_endings=tuple(Decimal(e) for e in endings))
    assert decision(offer(market), settings=settings).computed.proposed == Decimal(proposed)


def test_an_ending_that_is_off_the_quantum_blocks() -> None:
    settings = Settings(price_endings=(Decimal("0.995"),))
    made = decision(offer("20.00"), settings=settings)
    assert codes(made) >= {FindingCode.OFF_QUANTUM}
    assert made.verdict is Verdict.BLOCK


def test_yen_have_no_decimals() -> None:
    ours = subject("2000", currency="JPY", country="JP")
    made = decision(
        offer("1980.5", currency="JPY", country="JP"), subject=ours, cost=cost("1000", currency="JPY")
    )
    assert made.computed.proposed == Decimal(1981)


def test_floors_come_after_caps_and_win_over_them() -> None:
    """A daily cap applied after the floor would leave a price under it when costs have jumped."""
    settings = Settings(cap_increase=Decimal("0.02"))
    made = decision(offer("30.00"), cost=cost("24.00"), settings=settings)
    assert made.computed.capped == Decimal("20.91")
    assert made.computed.floors is not None
    assert made.computed.proposed == made.computed.floors.allowed == Decimal("28.34")
    assert {FindingCode.TARGET_CAPPED, FindingCode.ON_FLOOR, FindingCode.INCREASE_OVER_LIMIT} <= codes(made)


def test_a_floor_over_the_ceiling_blocks_instead_of_choosing_one() -> None:
    made = decision(offer("12.00"), settings=Settings(max_price=Decimal("12.50")))
    assert made.computed.proposed == Decimal("12.78")
    assert FindingCode.ABOVE_CEILING in codes(made)
    assert made.verdict is Verdict.BLOCK


@pytest.mark.parametrize(
    ("current", "market", "expected"),
    [
        ("20.00", "19.00", set()),  # exactly 5 % down
        ("20.00", "18.99", {FindingCode.DECREASE_OVER_LIMIT}),
        ("20.00", "22.00", set()),  # exactly 10 % up
        ("20.00", "22.01", {FindingCode.INCREASE_OVER_LIMIT}),
        (None, "20.00", {FindingCode.NO_CURRENT_PRICE}),
    ],
)
def test_moves_over_the_limits_go_to_review(current: str | None, market: str, expected: set[str]) -> None:
    assert codes(decision(offer(market), subject=subject(current))) == expected


@pytest.mark.parametrize(("over", "stale"), [(timedelta(0), False), (timedelta(microseconds=1), True)])
def test_a_cost_is_too_old_a_moment_after_its_last_day(over: timedelta, stale: bool) -> None:
    kept = decision(offer(), cost=cost(confirmed_at=NOW - timedelta(days=90) - over))
    assert ("cost_stale" in codes(kept)) is stale
    ended = decision(offer(), cost=cost(valid_to=NOW + timedelta(microseconds=1) - over))
    assert ("cost_stale" in codes(ended)) is stale
    to_come = decision(offer(), cost=cost(valid_from=NOW + over))
    assert ("cost_stale" in codes(to_come)) is stale


def test_missing_stale_and_contradictory_inputs_block() -> None:
    ended = cost(valid_to=NOW)
    unconfirmed = cost(confirmed_at=NOW - timedelta(days=91))
    future = cost(valid_from=NOW + timedelta(days=1))
    cases = {
        FindingCode.COST_MISSING: decision(offer(), cost=None),
        FindingCode.COST_STALE: decision(offer(), cost=ended),
        FindingCode.COST_INCONSISTENT: decision(offer(), cost=cost(currency="USD")),
        FindingCode.MAP_MISSING: decision(offer(), cost=cost(map_required=True)),
        FindingCode.REGULATORY_MISSING: decision(offer(), settings=Settings(regulatory_required=True)),
        FindingCode.MARGIN_IMPOSSIBLE: decision(offer(), settings=Settings(required_margin=Decimal(1))),
        FindingCode.CURRENT_PRICE_INCONSISTENT: decision(offer(), subject=subject("0")),
        FindingCode.SKU_INACTIVE: decision(offer(), subject=subject(active=False)),
        FindingCode.CURRENCY_UNKNOWN: decision(offer(currency="ZZZ"), subject=subject(currency="ZZZ")),
        FindingCode.NOT_AUTHORIZED: decision(offer(), authorized=False),
        FindingCode.NO_ACCEPTED_MAPPING: decision(offer(mapping_status=MappingStatus.REJECTED)),
        FindingCode.NO_FRESH_COMPARABLE_MARKET_PRICE: decision(offer(condition="used")),
        FindingCode.HOLD_ACTIVE: decision(offer(), holds=(ActiveHold("sku", "W-1", "recall"),)),
    }
    for code, made in cases.items():
        assert code in codes(made), code
        assert made.verdict is Verdict.BLOCK, code
        assert made.state is State.BLOCKED
    for stale in (unconfirmed, future):
        assert FindingCode.COST_STALE in codes(decision(offer(), cost=stale))


def test_a_blank_cost_that_arrived_as_zero_is_no_floor() -> None:
    made = decision(offer("0.01"), cost=cost("0"))
    assert FindingCode.COST_INCONSISTENT in codes(made)
    assert made.computed.proposed is None


def test_a_policy_that_cannot_be_read_blocks() -> None:
    blocked = decide(Inputs(subject(), cost(), None, "none", market(offer()), NOW))
    assert codes(blocked) == {FindingCode.POLICY_UNAVAILABLE}
    assert blocked.computed.proposed is None
    assert blocked.verdict is Verdict.BLOCK


MODEL = {"mapping_method": MappingMethod.MODEL, "mapping_confidence": 0.999}


@pytest.mark.parametrize(
    ("offers", "expected"),
    [
        ((offer(first_use_reviewed=False, **MODEL),), {FindingCode.FIRST_PROBABILISTIC_USE}),
        ((offer(**MODEL),), set()),
        (
            (offer(mapping_method=MappingMethod.MODEL, mapping_confidence=0.9),),
            {FindingCode.MAPPING_UNDER_THRESHOLD},
        ),
        (
            (offer(), offer("19.50", offer_id=2, source="b", mapping_status=MappingStatus.REVIEW_REQUIRED)),
            {FindingCode.MAPPING_UNDER_THRESHOLD},
        ),
        (
            (offer(), offer("25.00", offer_id=2, source="b", mapping_status=MappingStatus.REVIEW_REQUIRED)),
            set(),
        ),
        ((offer(), offer("15.00", offer_id=2, source="b", mapping_status=MappingStatus.REJECTED)), set()),
        (
            (
                offer(),
                offer("21.00", offer_id=2, source="b", promotion=read_promotion("10% off with code X1Y")),
            ),
            {FindingCode.PROMOTION_UNCLEAR},
        ),
        (
            (
                offer(),
                offer("25.00", offer_id=2, source="b", promotion=read_promotion("10% off with code X1Y")),
            ),
            set(),
        ),
        (
            (offer(), offer("40.00", offer_id=2, source="b", promotion=read_promotion("Bundle deal"))),
            {FindingCode.PROMOTION_UNCLEAR},  # it does not say by how much
        ),
        ((offer(), offer("19.00", offer_id=2, source="b", price_kind=PriceKind.MEMBER)), set()),
        (
            (offer(), offer("19.00", offer_id=2, source="b", needs_review=True)),
            {FindingCode.CONFLICTING_EVIDENCE},
        ),
        (
            (offer(), offer(None, offer_id=2, source="b", needs_review=True)),
            {FindingCode.CONFLICTING_EVIDENCE},
        ),
        ((offer(), offer(None, offer_id=2, source="b")), set()),
        ((offer(), offer("30.00", offer_id=2, source="b", needs_review=True)), set()),
        (
            (offer(), offer("19.00", offer_id=2, source="b", currency=None)),
            {FindingCode.CONFLICTING_EVIDENCE},
        ),
        ((offer(), offer("21.00", offer_id=2)), {FindingCode.CONFLICTING_EVIDENCE}),  # one shop, two prices
        ((offer(), offer("20.00", offer_id=2)), set()),
        # Two doubts at once, each of which a person could settle.
        (
            (
                offer(),
                offer(
                    "19.00",
                    offer_id=2,
                    source="b",
                    needs_review=True,
                    mapping_status=MappingStatus.REVIEW_REQUIRED,
                ),
            ),
            {FindingCode.CONFLICTING_EVIDENCE, FindingCode.MAPPING_UNDER_THRESHOLD},
        ),
        # A doubt about an offer that is out for good anyway.
        ((offer(), offer("19.00", offer_id=2, source="b", needs_review=True, condition="used")), set()),
        (
            (offer(shipping=None), offer("20.00", offer_id=2, source="b", shipping=Decimal("3.90"))),
            {FindingCode.SHIPPING_ASSUMED},
        ),
        ((offer(shipping=None), offer("20.00", offer_id=2, source="b", shipping=Decimal(0))), set()),
    ],
)
def test_doubts_about_evidence_go_to_review(offers: tuple[object, ...], expected: set[str]) -> None:
    made = decision(*offers)  # type: ignore[arg-type]
    assert codes(made) == expected
    assert made.verdict is (Verdict.REVIEW if expected else Verdict.ALLOW)


def test_anomalies_go_to_review() -> None:
    dear = cost("45.00")
    assert FindingCode.ANOMALY_BELOW_COST in codes(decision(offer("20.00"), cost=dear))
    lone = (offer("20.00"), offer("36.00", offer_id=2, source="b"), offer("37.00", offer_id=3, source="c"))
    assert codes(decision(*lone)) == {FindingCode.ANOMALY_OUTLIER}
    assert codes(decision(*lone[:2])) == set()
    assert codes(decision(offer("20.00"), previous_market=Decimal("30.00"))) == {
        FindingCode.ANOMALY_MARKET_MOVE
    }
    assert codes(decision(offer("20.00"), previous_market=Decimal("19.00"))) == set()


def test_protected_skus_are_always_reviewed() -> None:
    assert codes(decision(offer(), subject=subject(protected=True))) == {FindingCode.PROTECTED_SKU}
    assert codes(decision(offer(), settings=Settings(protected=True))) == {FindingCode.PROTECTED_SKU}


def test_the_strictest_finding_is_the_verdict_and_all_are_kept() -> None:
    made = decision(offer("10.00"), subject=subject(protected=True), cost=cost(map_required=True))
    assert {FindingCode.PROTECTED_SKU, FindingCode.MAP_MISSING, FindingCode.ON_FLOOR} <= codes(made)
    assert made.verdict is Verdict.BLOCK


def test_every_finding_code_of_a_single_decision_has_a_guardrail() -> None:
    """All but the re-checks can be reached from honest inputs; those and the batch's are tested apart."""
    of_a_batch = {FindingCode.MASS_CHANGE, FindingCode.CANARY_FAILED}
    names = {guardrail.__name__ for guardrail in GUARDRAILS}
    assert len(names) == len(GUARDRAILS) == len(set(FindingCode) - of_a_batch)


@pytest.mark.parametrize(
    ("proposed", "code"),
    [
        ("12.00", FindingCode.UNDER_FLOOR),
        ("20.005", FindingCode.OFF_QUANTUM),
        ("-1.00", FindingCode.NOT_POSITIVE),
    ],
)
def test_the_re_check_blocks_a_result_that_a_step_got_wrong(proposed: str, code: FindingCode) -> None:
    made = decision(offer("20.00"))
    broken = made.computed._replace(proposed=Decimal(proposed))
    findings = evaluate(made.inputs, broken)
    assert code in {finding.code for finding in findings}
    assert strictest(findings) is Verdict.BLOCK


def test_a_batch_can_only_make_a_verdict_stricter() -> None:
    allowed, blocked = decision(offer()), decision(offer(), cost=None)
    mass = review(FindingCode.MASS_CHANGE, "too much moved")
    assert with_findings(allowed, (mass,)).verdict is Verdict.REVIEW
    assert with_findings(blocked, (mass,)).verdict is Verdict.BLOCK
    assert with_findings(blocked, (mass,)).findings == (*blocked.findings, mass)


def test_every_intermediate_value_is_kept_in_the_order_it_was_computed() -> None:
    names = [name for name, _, _ in steps(decision(offer()))]
    assert names == [
        "market_price",
        "target",
        "capped",
        "rounded",
        "variable_cost",
        "margin_floor",
        "map_price",
        "regulatory_floor",
        "allowed_floor",
        "proposed_price",
    ]
