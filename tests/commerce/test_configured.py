"""Targets as the environment names them."""

from __future__ import annotations

import inspect

import pytest
from pydantic import SecretStr

from pricecrawl.commerce.adobe import AdobeCommerceTarget
from pricecrawl.commerce.configured import KINDS, placements, settings_of
from pricecrawl.config import Config
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.market import TaxBasis

URLS = {"url", "base_url", "admin_url", "api_url", "auth_url"}


def given(**settings: str) -> dict[str, dict[str, SecretStr]]:
    return {"shop": {key: SecretStr(value) for key, value in settings.items()}}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_made_of_what_it_needs(kind: str, tmp_path: object) -> None:
    needed, _ = settings_of(kind)
    url = f"file://{tmp_path}" if kind == "file" else "https://shop.example"
    made = placements(given(kind=kind, **{key: url if key in URLS else "canary-1" for key in needed}))
    assert made["shop"].target.name == "shop"
    for missing in needed:
        rest = {key: url if key in URLS else "canary-1" for key in needed if key != missing}
        with pytest.raises(
            UsageProblem, match=f"PRICECRAWL_TARGET_SHOP_{missing.upper()} is missing"
        ) as told:
            placements(given(kind=kind, **rest))
        assert "canary" not in str(told.value)


def test_every_setting_is_one_that_can_be_written() -> None:
    for kind, adapter in KINDS.items():
        for name in {name for names in settings_of(kind) for name in names} - adapter.places:
            default = inspect.signature(adapter).parameters[name].default
            assert default in (inspect.Parameter.empty, "") or isinstance(default, bool | TaxBasis), (
                kind,
                name,
            )


def test_the_environment_gives_places_and_the_basis_of_tax(monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in {
        "KIND": "adobe", "BASE_URL": "https://shop.example", "TOKEN": "canary-1",
        "TAX_BASIS": "excl", "CHANNEL": "uk",
    }.items():  # fmt: skip
        monkeypatch.setenv(f"PRICECRAWL_TARGET_OWN_{key}", value)
    made = placements(Config.load().targets)["own"]
    assert isinstance(made.target, AdobeCommerceTarget)
    assert made.target.capabilities.tax_bases == (TaxBasis.EXCLUSIVE,)
    assert made.channel == "uk"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "SHOP_KIND must be one of adobe"),
        ({"kind": "magento"}, "SHOP_KIND must be one of adobe"),
        (
            {"kind": "file", "url": "memory://x", "token": "canary-1"},
            "SHOP_TOKEN is no setting of the kind file",
        ),
        (
            {"kind": "adobe", "base_url": "https://x.example", "token": "canary-1", "bulk": "perhaps"},
            "SHOP_BULK must be true or false",
        ),
        (
            {"kind": "adobe", "base_url": "https://x.example", "token": "canary-1", "tax_basis": "net"},
            "SHOP_TAX_BASIS must be one of incl",
        ),
        (
            {"kind": "adobe", "base_url": "http://x.example", "token": "canary-1"},
            "SHOP_BASE_URL must be an https:// address",
        ),
        (
            {"kind": "adobe", "base_url": "https://x.example", "token": "canary-1", "settle_seconds": "-3"},
            "SHOP_SETTLE_SECONDS must be a number of seconds",
        ),
        (
            {"kind": "file", "url": "gopher://x/y"},
            "target shop cannot be opened",
        ),
        (
            {"kind": "adobe", "base_url": "https://x.example", "token": "canary-1", "channel": "a|b"},
            "cannot contain",
        ),
        # Taken and ignored, each of these would write the price of everybody instead.
        (
            {"kind": "file", "url": "memory://x", "channel": "uk"},
            "SHOP_CHANNEL is no setting of the kind file",
        ),
        (
            {
                "kind": "oscar",
                "base_url": "https://x.example",
                "user": "u",
                "password": "canary-1",
                "channel": "uk",
            },
            "SHOP_CHANNEL is no setting of the kind oscar",
        ),
        (
            {
                "kind": "adobe",
                "base_url": "https://x.example",
                "token": "canary-1",
                "customer_group": "staff",
            },
            "SHOP_CUSTOMER_GROUP is no setting of the kind adobe",
        ),
    ],
)
def test_what_is_wrong_is_said_by_the_name_of_its_variable(settings: dict[str, str], told: str) -> None:
    with pytest.raises(UsageProblem, match=told) as problem:
        placements(given(**settings))
    assert "canary" not in str(problem.value)


def test_patience() -> None:
    settings = {"kind": "adobe", "base_url": "http://127.0.0.1:8080", "token": "canary-1"}
    made = placements(given(**settings, settle_seconds="7.5", timeout_seconds="3"))["shop"]
    assert made.target.capabilities.settle_time.total_seconds() == 7.5
