"""Versioned thresholds: one default, overridden per category and per SKU, each dated.

A policy is a plain mapping (TOML in a file, JSON in the database):

    version = "2026-02"
    valid_from = 2026-02-01
    [default]
    required_margin = 0.12
    [category."Fragrance"]
    price_endings = [0.99]
    [sku."W-17"]
    protected = true

Every figure that a guardrail compares with stands here, with the contracts' default.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any

from pricecrawl.domain.condition import DAMAGED, NEW, OPEN_BOX, OTHER, REFURBISHED, USED
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.moments import in_utc
from pricecrawl.domain.money_locale import country_codes
from pricecrawl.pricing.strategy import STRATEGIES

BUILTIN_VERSION = "builtin-1"


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for one SKU. Shares are fractions (0.05 is 5 %), ages in the named unit.

    `unknown_shipping`: "none" takes an offer whose shop states no charge at its item price and asks
    for review where another shop's charge shows that it matters; "exclude" leaves it out.
    `unknown_tax_basis`: "same" reads an unstated basis as the SKU's own within the same country;
    "exclude" leaves it out. `tax_rates` maps a country to its rate, which makes amounts with and
    without tax comparable; without a rate they are not. `competitors` are the sources whose offers count, all
    where none is named.
    """

    strategy: str = "match"
    required_margin: Decimal = Decimal("0.10")
    review_decrease: Decimal = Decimal("0.05")
    review_increase: Decimal = Decimal("0.10")
    cap_decrease: Decimal | None = None
    cap_increase: Decimal | None = None
    max_price: Decimal | None = None
    price_endings: tuple[Decimal, ...] = ()
    protected: bool = False
    map_required: bool = False
    regulatory_required: bool = False
    cost_max_age_days: int = 90

    cadence_minutes: Mapping[str, int] = field(default_factory=lambda: {"A": 15, "B": 60})
    freshness_cap_minutes: int = 120

    competitors: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ("new",)
    allow_pre_order: bool = False
    marketplace_sellers: bool = False
    cross_market: bool = False
    unknown_shipping: str = "none"
    unknown_tax_basis: str = "same"
    tax_rates: Mapping[str, Decimal] = field(default_factory=dict)
    fx_max_age_days: int = 5  # the ECB publishes nothing from Maundy Thursday to Easter Tuesday
    mapping_threshold: Decimal = Decimal("0.995")

    anomaly_cost_share: Decimal = Decimal("0.50")
    anomaly_outlier_share: Decimal = Decimal("0.40")
    anomaly_market_move: Decimal = Decimal("0.30")

    review_hours: int = 24
    allow_exceptions: bool = False
    breaker_sku_share: Decimal = Decimal("0.30")
    breaker_value_share: Decimal = Decimal("0.10")
    breaker_min_moves: int = 20
    breaker_window_minutes: int = 60
    canary_min_batch: int = 50
    canary_share: Decimal = Decimal("0.05")

    def freshness_minutes(self, tier: str) -> int:
        """min(2 x cadence, cap); a tier without a cadence gets the cap."""
        cadence = self.cadence_minutes.get(tier)
        return self.freshness_cap_minutes if cadence is None else min(2 * cadence, self.freshness_cap_minutes)


@dataclass(frozen=True, slots=True)
class Policy:
    """One version: default settings and what overrides them for a category or a SKU."""

    version: str
    valid_from: datetime
    default: Settings = field(default_factory=Settings)
    categories: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    skus: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def resolve(self, sku: str, category: str = "", extra: Mapping[str, Any] | None = None) -> Settings:
        """Settings of one SKU: default, then its category, then its own, then `extra` (stored per SKU).

        A table within them (tax rates, cadences) adds to the one below it: what a category says of one
        country leaves the other countries as they are. Overrides are already of their field's type: see
        `read_policy` and `read_overrides`.
        """
        layers = (self.categories.get(category), self.skus.get(sku), extra)
        overrides: dict[str, Any] = {}
        for layer in layers:
            for name, value in (layer or {}).items():
                below = overrides.get(name, getattr(self.default, name))
                overrides[name] = {**below, **value} if name in _TABLES else value
        return dataclasses.replace(self.default, **overrides) if overrides else self.default

    @property
    def longest_freshness(self) -> int:
        """Minutes after which no offer counts any more, whatever the SKU."""
        name = "freshness_cap_minutes"
        layers = (*self.categories.values(), *self.skus.values())
        return max([self.default.freshness_cap_minutes, *(int(layer.get(name, 0)) for layer in layers)])


BUILTIN = Policy(version=BUILTIN_VERSION, valid_from=datetime(1970, 1, 1, tzinfo=UTC))

_FIELDS = {f.name: f for f in dataclasses.fields(Settings)}
_TABLES = frozenset({"cadence_minutes", "tax_rates"})
_OF_ALL = ("breaker_", "canary_")

# Fractions. A 5 that was meant as 5 % would be a limit of 500 %: no limit at all.
_UNDER_ONE = frozenset({"required_margin", "tax_rates"})
_SHARES = frozenset(
    {"review_decrease", "review_increase", "cap_decrease", "cap_increase", "mapping_threshold"}
    | {"anomaly_cost_share", "anomaly_outlier_share", "anomaly_market_move"}
    | {"breaker_sku_share", "breaker_value_share", "canary_share"}
)
# Ages and windows end within what a calendar holds: a year, a year, ten years.
_MOST = {"_minutes": 525_600, "_hours": 8_760, "_days": 3_650}
MOST = 1_000_000
_CHOICES = {
    "strategy": tuple(STRATEGIES),
    "unknown_shipping": ("none", "exclude"),
    "unknown_tax_basis": ("same", "exclude"),
}


def read_policy(body: Mapping[str, Any], *, place: str = "policy") -> Policy:
    """A policy from its plain mapping.

    Raises:
        UsageProblem: naming `place` and the key, for a missing version, an unknown key or a value
            of the wrong kind or range.
    """
    known = {"version", "valid_from", "default", "category", "sku"}
    for key in body:
        if key not in known:
            raise UsageProblem(f"{place}: unknown key {key!r}; a policy has {', '.join(sorted(known))}.")
    version = body.get("version")
    # A SKU's own settings add a digest to it: `2026-02+<12 characters>`.
    if not isinstance(version, str) or not version.strip() or len(version) > 64:
        raise UsageProblem(f'{place}: version must be a text of 1 to 64 characters, such as "2026-02".')
    given = read_overrides(body.get("default", {}), place=f"{place}: [default]")
    tables = {name: {**getattr(Settings(), name), **given[name]} for name in _TABLES & given.keys()}
    default = dataclasses.replace(Settings(), **(given | tables))
    return Policy(
        version=version,
        valid_from=_moment(body.get("valid_from"), place),
        default=default,
        categories=_layer(body, "category", place),
        skus=_layer(body, "sku", place),
    )


def read_overrides(table: Any, *, place: str) -> dict[str, Any]:
    """Settings as written, each turned into its field's type.

    Raises:
        UsageProblem: naming `place` and the key.
    """
    if not isinstance(table, Mapping):
        raise UsageProblem(f"{place} must be a table of settings.")
    out: dict[str, Any] = {}
    for key, value in table.items():
        if key not in _FIELDS:
            raise UsageProblem(f"{place}: unknown setting {key!r}; known are {', '.join(sorted(_FIELDS))}.")
        try:
            out[key] = _value(key, value)
        except (ValueError, TypeError, InvalidOperation) as problem:
            raise UsageProblem(f"{place}: {key} = {value!r} is not usable: {problem}") from None
    return out


def policy_body(policy: Policy) -> dict[str, Any]:
    """The policy as a plain JSON-ready mapping that `read_policy` reads back to an equal one."""
    return {
        "version": policy.version,
        "valid_from": policy.valid_from.isoformat(),
        "default": {name: _plain(getattr(policy.default, name)) for name in _FIELDS},
        "category": {name: _plain(layer) for name, layer in policy.categories.items()},
        "sku": {name: _plain(layer) for name, layer in policy.skus.items()},
    }


def _layer(body: Mapping[str, Any], key: str, place: str) -> dict[str, dict[str, Any]]:
    layer = body.get(key, {})
    if not isinstance(layer, Mapping):
        raise UsageProblem(f"{place}: [{key}] must be a table of tables.")
    read = {name: read_overrides(table, place=f'{place}: [{key}."{name}"]') for name, table in layer.items()}
    for name, overrides in read.items():
        if whole := next((setting for setting in overrides if setting.startswith(_OF_ALL)), None):
            raise UsageProblem(
                f'{place}: [{key}."{name}"]: {whole} is about everything that moves: set it in [default].'
            )
    return read


def _moment(value: Any, place: str) -> datetime:
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        if isinstance(value, datetime):
            return in_utc(value)
    except ValueError:
        raise UsageProblem(f"{place}: valid_from = {value!s} is no date; write 2026-02-01.") from None
    if isinstance(value, date):
        return datetime.combine(value, time(), tzinfo=UTC)
    raise UsageProblem(
        f"{place}: valid_from is missing; write the day the policy starts, such as 2026-02-01."
    )


def _value(key: str, value: Any) -> Any:
    example = getattr(Settings(), key)
    if key in _CHOICES:
        if value not in _CHOICES[key]:
            raise ValueError(f"it must be one of {', '.join(_CHOICES[key])}.")
        return value
    if isinstance(example, tuple):
        return _endings(value) if key == "price_endings" else _words(key, value)
    if isinstance(example, Mapping):
        return _table(key, value)
    if isinstance(example, bool):
        if not isinstance(value, bool):
            raise TypeError("it must be true or false.")
        return value
    if isinstance(example, int):
        return _count(key, value)
    if value is None and example is None:
        return None
    return _share(key, _decimal(value))


def _share(key: str, amount: Decimal) -> Decimal:
    if key == "max_price" and not amount:
        raise ValueError("it must be more than 0.")
    if key in _UNDER_ONE and amount >= 1:
        raise ValueError("it must be under 1 (0.10 is 10 %).")
    if key in _SHARES and amount > 1:
        raise ValueError("it is a share and at most 1 (0.10 is 10 %).")
    return amount


def _table(key: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError("it must be a table, such as { DE = 0.19 }.")
    if key == "cadence_minutes":
        return {str(name): _count(key, item) for name, item in value.items()}
    for name in value:
        if name not in country_codes():
            raise ValueError(f"{name!r} is no country code; write it like DE or GB.")
    return {str(name): _share(key, _decimal(item)) for name, item in value.items()}


def _endings(value: Any) -> tuple[Decimal, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise TypeError("it must be a list of endings, such as [0.99].")
    return tuple(_decimal(item) for item in value)


def _words(key: str, value: Any) -> tuple[str, ...]:
    if (
        isinstance(value, str)
        or not isinstance(value, Sequence)
        or not all(isinstance(item, str) and item for item in value)
    ):
        raise TypeError("it must be a list of words.")
    if key != "conditions":
        return tuple(value)
    known = (NEW, OPEN_BOX, REFURBISHED, USED, DAMAGED, OTHER)
    if unknown := [item for item in value if item not in known]:
        raise ValueError(f"{unknown[0]!r} is none of {', '.join(known)}.")
    return tuple(value)


def _decimal(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        raise TypeError("it must be a number.")
    amount = Decimal(str(value))
    if not amount.is_finite() or amount < 0:
        raise ValueError("it must be a number of 0 or more.")
    return amount


def _count(key: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("it must be a whole number of 0 or more.")
    most = next((most for unit, most in _MOST.items() if key.endswith(unit)), MOST)
    if value > most:
        raise ValueError(f"it must be at most {most}.")
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value
