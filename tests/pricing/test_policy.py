from __future__ import annotations

import dataclasses
import json
import tomllib
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from pricecrawl.domain.errors import UsageProblem
from pricecrawl.pricing.policy import BUILTIN, Settings, policy_body, read_policy

TEXT = """
version = "2026-02"
valid_from = 2026-02-01
[default]
required_margin = 0.12
cadence_minutes = {A = 10, B = 60, night = 240}
[category."Fragrance"]
required_margin = "0.20"
price_endings = [0.99, 0.49]
[sku."W-1"]
protected = true
required_margin = 0.30
"""


def read(text: str) -> Any:
    return read_policy(tomllib.loads(text, parse_float=Decimal), place="policy.toml")


def test_overrides_go_from_default_to_category_to_sku_to_stored() -> None:
    policy = read(TEXT)
    assert policy.valid_from == datetime(2026, 2, 1, tzinfo=UTC)
    assert policy.resolve("X").required_margin == Decimal("0.12")
    fragrance = policy.resolve("X", "Fragrance")
    assert fragrance.required_margin == Decimal("0.20")
    assert fragrance.price_endings == (Decimal("0.99"), Decimal("0.49"))
    both = policy.resolve("W-1", "Fragrance")
    assert (both.required_margin, both.protected) == (Decimal("0.30"), True)
    assert both.price_endings == fragrance.price_endings
    assert policy.resolve("W-1", "", {"required_margin": Decimal("0.5")}).required_margin == Decimal("0.5")
    assert policy.resolve("X").freshness_minutes("A") == 20
    assert policy.resolve("X").freshness_minutes("night") == 120


def test_a_table_of_a_category_adds_to_the_one_below_it() -> None:
    """A reduced rate in one country says nothing of the others, a slower tier nothing of the faster one."""
    policy = read("""
version = "books"
valid_from = 2026-02-01
[default]
tax_rates = {DE = 0.19, FR = 0.20}
cadence_minutes = {B = 30}
[category."Books"]
tax_rates = {DE = 0.07}
cadence_minutes = {night = 40}
[sku."B-1"]
tax_rates = {FR = 0.055}
""")
    assert policy.default.freshness_minutes("A") == 30
    book = policy.resolve("B-1", "Books")
    assert book.tax_rates == {"DE": Decimal("0.07"), "FR": Decimal("0.055")}
    assert [book.freshness_minutes(tier) for tier in ("A", "B", "night")] == [30, 60, 80]
    assert policy.resolve("X").tax_rates == {"DE": Decimal("0.19"), "FR": Decimal("0.20")}


@pytest.mark.parametrize(
    "name",
    [f.name for f in dataclasses.fields(Settings) if isinstance(f.default, Decimal)]
    + ["cap_decrease", "cap_increase"],
)
def test_five_that_was_meant_as_a_percentage_is_refused(name: str) -> None:
    """Taken as written it would be 500 %: the guard would be off, and nobody would know."""
    with pytest.raises(UsageProblem, match=f"{name} = .*0.10 is 10 %"):
        read(f'version = "x"\nvalid_from = 2026-02-01\n[default]\n{name} = 5')


def test_a_policy_survives_the_way_to_json_and_back() -> None:
    for policy in (BUILTIN, read(TEXT)):
        assert read_policy(json.loads(json.dumps(policy_body(policy)))) == policy


def test_the_contracts_defaults() -> None:
    default = Settings()
    assert default.required_margin == Decimal("0.10")
    assert (default.review_decrease, default.review_increase) == (Decimal("0.05"), Decimal("0.10"))
    assert (default.freshness_minutes("A"), default.freshness_minutes("B")) == (30, 120)
    assert default.strategy == "match"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("valid_from = 2026-02-01", "version must be"),
        (f'version = "{"x" * 65}"\nvalid_from = 2026-02-01', "1 to 64 characters"),
        ('version = "x"', "valid_from is missing"),
        ('version = "x"\nvalid_from = "soon"', "is no date"),
        ('version = "x"\nvalid_from = 2026-02-01\nmargin = 1', "unknown key 'margin'"),
        ('version = "x"\nvalid_from = 2026-02-01\n[default]\nmargin = 1', "unknown setting 'margin'"),
        ('version = "x"\nvalid_from = 2026-02-01\n[default]\nrequired_margin = 10', "under 1"),
        ('version = "x"\nvalid_from = 2026-02-01\n[default]\nrequired_margin = -0.1', "0 or more"),
        ('version = "x"\nvalid_from = 2026-02-01\n[default]\nrequired_margin = "ten"', "not usable"),
        ('version = "x"\nvalid_from = 2026-02-01\n[default]\nprotected = "yes"', "true or false"),
        ('version = "x"\nvalid_from = 2026-02-01\n[default]\nstrategy = "undercut"', "one of match"),
        ('version = "x"\nvalid_from = 2026-02-01\n[sku]\nW = 1', 'sku."W"] must be a table'),
        ('version = "x"\nvalid_from = 2026-02-01\n[default]\nreview_hours = 1.5', "whole number"),
        ('version = "x"\nvalid_from = 2026-02-01\n[default]\nconditions = "new"', "list of words"),
        ('version = "x"\nvalid_from = 2026-02-01\n[default]\nconditions = ["New"]', "'New' is none of new"),
        ('version = "x"\nvalid_from = 2026-02-01\n[default]\ncompetitors = "near"', "list of words"),
        ('version = "x"\nvalid_from = 2026-02-01\n[default]\nprice_endings = 0.99', "list of endings"),
        ('version = "x"\nvalid_from = 2026-02-01\n[default]\ntax_rates = 0.19', "must be a table"),
        ('version = "x"\nvalid_from = 2026-02-01\n[default]\ntax_rates = {DE = 19}', "under 1"),
        ('version = "x"\nvalid_from = 2026-02-01\n[default]\ntax_rates = {de = 0.19}', "'de' is no country"),
        ('version = "x"\nvalid_from = 2026-02-01\n[default]\ntax_rates = {UK = 0.2}', "'UK' is no country"),
        (
            'version = "x"\nvalid_from = 2026-02-01\n[category.Tea]\nbreaker_sku_share = 0.1',
            '[category."Tea"]: breaker_sku_share is about everything',
        ),
        ('version = "x"\nvalid_from = 2026-02-01\n[sku.W]\ncanary_share = 0.1', "set it in [default]"),
    ],
)
def test_a_mistake_is_named_with_its_place(text: str, message: str) -> None:
    with pytest.raises(UsageProblem, match=r"policy\.toml") as caught:
        read(text)
    assert message in str(caught.value)


COUNTS = [f.name for f in dataclasses.fields(Settings) if type(f.default) is int]


@pytest.mark.parametrize("name", [*COUNTS, "cadence_minutes"])
def test_a_number_that_no_calendar_holds_is_refused(name: str) -> None:
    head = f'version = "x"\nvalid_from = 2026-02-01\n[default]\n{name} = '
    shape = "{{A = {}}}" if name == "cadence_minutes" else "{}"
    with pytest.raises(UsageProblem, match=rf"{name} = .* it must be at most \d+"):
        read(head + shape.format(10**13))
    most = 525_600 if name.endswith("_minutes") else 3_650
    assert read(head + shape.format(most))


def test_a_price_of_nothing_is_no_ceiling() -> None:
    with pytest.raises(UsageProblem, match="more than 0"):
        read('version = "x"\nvalid_from = 2026-02-01\n[default]\nmax_price = 0')


def test_how_long_an_offer_may_count_at_most() -> None:
    assert BUILTIN.longest_freshness == 120
    text = 'version = "x"\nvalid_from = 2026-02-01\n[sku."W"]\nfreshness_cap_minutes = 300'
    assert read(text).longest_freshness == 300


def test_every_setting_can_be_written() -> None:
    """No field may exist that a policy file cannot set."""
    body = policy_body(BUILTIN)
    assert set(body["default"]) == {f.name for f in dataclasses.fields(Settings)}
