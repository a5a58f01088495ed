"""The targets that the environment names: `PRICECRAWL_TARGET_<NAME>_KIND` and what that kind needs.

The settings of a kind are the arguments of its adapter, so that an adapter is added by writing it and
naming it here. `CHANNEL` and `PRICE_LIST` say which of a platform's prices are ours, where it has several;
`SETTLE_SECONDS` and `TIMEOUT_SECONDS` how patient we are with it. Credentials go over HTTPS only, except
to this very machine.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from pricecrawl.commerce.adobe import AdobeCommerceTarget
from pricecrawl.commerce.base import PLACES
from pricecrawl.commerce.bigcommerce import BigCommerceTarget
from pricecrawl.commerce.commercetools import CommercetoolsTarget
from pricecrawl.commerce.file import FileTarget
from pricecrawl.commerce.medusa import MedusaTarget
from pricecrawl.commerce.oscar import OscarTarget
from pricecrawl.commerce.shopify import ShopifyTarget
from pricecrawl.commerce.vendure import VendureTarget
from pricecrawl.commerce.woocommerce import WooCommerceTarget
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.market import TaxBasis
from pricecrawl.pricing.ports import Placement

KINDS: dict[str, Any] = {
    "adobe": AdobeCommerceTarget,
    "bigcommerce": BigCommerceTarget,
    "commercetools": CommercetoolsTarget,
    "file": FileTarget,
    "medusa": MedusaTarget,
    "oscar": OscarTarget,
    "shopify": ShopifyTarget,
    "vendure": VendureTarget,
    "woocommerce": WooCommerceTarget,
}

_PATIENCE = ("settle_seconds", "timeout_seconds")
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_OURS = frozenset({"name", "settle_time", "timeout"})
"""Arguments that are not set as they are."""


def placements(targets: Mapping[str, Mapping[str, SecretStr]]) -> dict[str, Placement]:
    """Every target of `Config.targets`, by name.

    Raises:
        UsageProblem: a kind that does not exist, a setting that is missing, unknown or wrong; naming the
            variable, never its value.
    """
    return {name: _placement(name, settings) for name, settings in sorted(targets.items())}


def settings_of(kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a kind needs, and what it can be told besides."""
    arguments = {
        name: argument
        for name, argument in inspect.signature(KINDS[kind]).parameters.items()
        if name not in _OURS and argument.kind is not inspect.Parameter.VAR_KEYWORD
    }
    needed = tuple(name for name, argument in arguments.items() if argument.default is argument.empty)
    more = [name for name in arguments if name not in needed]
    return needed, (*more, *(name for name in PLACES if name in KINDS[kind].places))


def _placement(name: str, settings: Mapping[str, SecretStr]) -> Placement:
    given = {key: value.get_secret_value() for key, value in settings.items()}
    kind = given.pop("kind", "").lower()
    if kind not in KINDS:
        raise UsageProblem(f"{_variable(name, 'kind')} must be one of {', '.join(KINDS)}.")
    place = {key: given.pop(key) for key in PLACES if key in given and key in KINDS[kind].places}
    patience = _patience(name, given)
    needed, more = settings_of(kind)
    for key in needed:
        if key not in given:
            raise UsageProblem(f"{_variable(name, key)} is missing: a {kind} target needs it.")
    for key in given:
        if key not in {*needed, *more}:
            known = ", ".join(part.upper() for part in (*needed, *more, *_PATIENCE))
            raise UsageProblem(f"{_variable(name, key)} is no setting of the kind {kind}, which has {known}.")
    options = patience | {key: _value(name, kind, key, text) for key, text in given.items()}
    try:
        return Placement(KINDS[kind](**options, name=name), **place)
    except (ImportError, ValueError) as problem:
        raise UsageProblem(f"target {name} cannot be opened: {problem}.") from None


def _patience(name: str, given: dict[str, str]) -> dict[str, Any]:
    """Settle time and timeout, taken out of the settings."""
    found: dict[str, Any] = {}
    for key in _PATIENCE:
        if key not in given:
            continue
        text = given.pop(key)
        seconds = float(text) if text.replace(".", "", 1).isdecimal() else 0.0
        if not 0 < seconds <= 86_400:
            raise UsageProblem(f"{_variable(name, key)} must be a number of seconds above 0.")
        if key == "settle_seconds":
            found["settle_time"] = timedelta(seconds=seconds)
        else:
            found["timeout"] = seconds
    return found


def _address(name: str, key: str, url: str) -> str:
    parts = urlsplit(url)
    if (parts.scheme == "https" and parts.hostname) or (
        parts.scheme == "http" and parts.hostname in _LOOPBACK
    ):
        return url
    raise UsageProblem(
        f"{_variable(name, key)} must be an https:// address: a credential goes there with every call."
    )


def _value(name: str, kind: str, key: str, text: str) -> Any:
    if key == "tax_basis":
        try:
            return TaxBasis(text)
        except ValueError:
            raise UsageProblem(
                f"{_variable(name, key)} must be one of {', '.join(basis.value for basis in TaxBasis)}."
            ) from None
    if key == "bulk":
        if text.lower() not in {"true", "false"}:
            raise UsageProblem(f"{_variable(name, key)} must be true or false.")
        return text.lower() == "true"
    if key.endswith("url") and kind != "file":
        return _address(name, key, text)
    return text


def _variable(name: str, key: str) -> str:
    return f"PRICECRAWL_TARGET_{name.upper()}_{key.upper()}"
