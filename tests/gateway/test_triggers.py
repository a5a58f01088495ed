"""When a model may be asked: every condition alone stops it, and any configuration is a real one."""

from __future__ import annotations

from dataclasses import fields, replace
from decimal import Decimal
from typing import Any

import pytest

from pricecrawl.domain.availability import Availability
from pricecrawl.extraction.rules import CATEGORY
from pricecrawl.gateway.prompts import RULE_CATEGORIES
from pricecrawl.gateway.triggers import AiStatus, ShopConfig, may_auto_map, may_verify
from pricecrawl.sources.model import RowRules

NAMES = [item.name for item in fields(ShopConfig)]
MAPPING: dict[str, Any] = {
    "enabled": True,
    "config": None,
    "challenged": False,
    "availability": Availability.IN_STOCK,
    "standard_price": None,
}
CHECKING: dict[str, Any] = {
    "enabled": True, "price": Decimal(20), "html": "<p>20", "actor": "ann", "ai_status": None, "skip": False,
}  # fmt: skip


def test_auto_mapping_asks_only_when_every_condition_holds() -> None:
    assert may_auto_map(**MAPPING).ask
    assert may_auto_map(**MAPPING | {"config": ShopConfig()}).ask


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"enabled": False}, "switched off"),
        ({"config": ShopConfig(price=(".p",))}, "has a configuration"),
        ({"challenged": True}, "challenge"),
        ({"availability": Availability.NOT_AVAILABLE}, "gone"),
        ({"standard_price": Decimal(20)}, "was found"),
    ],
)
def test_each_condition_alone_stops_auto_mapping(change: dict[str, Any], reason: str) -> None:
    verdict = may_auto_map(**MAPPING | change)
    assert not verdict.ask
    assert reason in verdict.reason


@pytest.mark.parametrize("availability", [a for a in Availability if a is not Availability.NOT_AVAILABLE])
def test_a_page_that_is_not_certainly_gone_may_be_mapped(availability: Availability) -> None:
    assert may_auto_map(**MAPPING | {"availability": availability}).ask


@pytest.mark.parametrize("name", NAMES)
def test_o7_x2_any_single_field_makes_a_configuration_real(name: str) -> None:
    """A shop with only pre-order, original or JSON-LD keys must not be taken for an empty one."""
    for value in ((".rule",), "key", False):
        config = replace(ShopConfig(), **{name: value})
        assert not config.is_shell
        assert not may_auto_map(**MAPPING | {"config": config}).ask
    assert replace(ShopConfig(), **{name: ()}).is_shell
    assert ShopConfig().is_shell


def test_o7_every_category_that_a_row_or_the_reader_knows_is_in_the_shell_test() -> None:
    assert set(RowRules.model_fields) <= set(NAMES)
    assert set(CATEGORY.values()) <= set(NAMES)
    assert set(RULE_CATEGORIES) <= set(NAMES)


def test_a_rows_rules_and_learned_selectors_make_a_configuration() -> None:
    assert ShopConfig.of(RowRules(), {}).is_shell
    for name in RowRules.model_fields:
        assert not ShopConfig.of(RowRules(**{name: [".x"]}), {}).is_shell
    for kind in CATEGORY:
        assert not ShopConfig.of(None, {kind: [".x"]}).is_shell


def test_verification_asks_only_when_every_condition_holds() -> None:
    assert may_verify(**CHECKING).ask


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"enabled": False}, "switched off"),
        ({"skip": True}, "skipped"),
        ({"price": None}, "no price"),
        ({"html": ""}, "not at hand"),
        ({"actor": ""}, "nobody asked"),
        ({"ai_status": AiStatus.VERIFIED}, "verified already"),
        ({"ai_status": AiStatus.CORRECTED}, "corrected already"),
        ({"ai_status": AiStatus.CONFIRMED}, "confirmed already"),
    ],
)
def test_each_condition_alone_stops_verification(change: dict[str, Any], reason: str) -> None:
    verdict = may_verify(**CHECKING | change)
    assert not verdict.ask
    assert reason in verdict.reason


def test_e11_a_models_word_and_a_persons_are_not_the_same() -> None:
    assert len(set(AiStatus)) == 3
    assert AiStatus.VERIFIED.value != AiStatus.CONFIRMED.value
