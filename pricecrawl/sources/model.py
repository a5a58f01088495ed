"""The row of one source: frozen, refusing unknown keys.

A row is data. It holds no code, no secret and no operational state (enabled, permissions and
streaks live in the database, where they change without a deploy), and it has no field that could
switch politeness off: `delay_seconds` can only make a crawl slower.

A platform subclasses `Source` beside its spider and adds the keys that its own navigation needs.
"""

from __future__ import annotations

import functools
import re
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any, ClassVar
from urllib.parse import urljoin, urlsplit

import babel
from babel.core import get_global
from babel.numbers import get_territory_currencies
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
)

from pricecrawl.domain.egress import EgressKind
from pricecrawl.domain.market import Market, TaxBasis
from pricecrawl.domain.urls import is_public_host

SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_DURATION = re.compile(r"(\d+)\s*(m|min|h|d)")
_UNITS = {"m": "minutes", "min": "minutes", "h": "hours", "d": "days"}
_COUNTRY = re.compile(r"[A-Z]{2}")
FRESHNESS_LIMIT = timedelta(minutes=120)

# Private-use and placeholder territories that CLDR lists but no shop stands in.
_NO_COUNTRY = frozenset({"EU", "EZ", "QO", "UN", "XA", "XB", "ZZ"})


@functools.cache
def countries() -> frozenset[str]:
    """Every ISO 3166-1 alpha-2 code."""
    names = (str(name) for name in babel.Locale("en").territories)
    return frozenset(name for name in names if _COUNTRY.fullmatch(name)) - _NO_COUNTRY


@functools.cache
def currencies() -> frozenset[str]:
    """Every ISO 4217 code that some country uses today."""
    return frozenset(code for country in countries() for code in get_territory_currencies(country))


def _did_you_mean(better: str | None) -> str:
    return f"; did you mean {better!r}?" if better else ""


class Tier(StrEnum):
    """How often a source is due: A every 15 minutes, B every 60, C as its `cadence` says."""

    A = "A"
    B = "B"
    C = "C"


_CADENCE = {Tier.A: timedelta(minutes=15), Tier.B: timedelta(minutes=60)}


class Row(BaseModel):
    """Base of every table in a row file: frozen, no unknown keys, text trimmed."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True, strict=False)


def one_line(value: str) -> str:
    """A rule or URL of a row is one line: longer texts are code in disguise."""
    if "\n" in value or "\r" in value:
        raise ValueError("must be one line")
    if not value.strip():
        raise ValueError("is empty")
    return value


def rule(value: str) -> str:
    """A selector rule, refused with the position of its mistake."""
    from pricecrawl.extraction.selectors import RuleError, parse_rule

    try:
        parse_rule(one_line(value))
    except RuleError as problem:
        place = f"at character {problem.position + 1}"
        raise ValueError(f"the rule {value!r} is wrong {place}: {problem.problem}") from None
    return value


def url_pattern(value: str) -> str:
    """A regular expression over addresses, in RE2's syntax: linear time whatever a person types."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(one_line(value), options)
    except re2.error as problem:
        text = problem.args[0]
        reason = text.decode() if isinstance(text, bytes) else str(text)
        raise ValueError(f"the pattern {value!r} is wrong: {reason}") from None
    return value


def css(value: str) -> str:
    """A plain CSS selector."""
    from cssselect import HTMLTranslator, SelectorError

    try:
        HTMLTranslator().css_to_xpath(one_line(value))
    except SelectorError as problem:
        raise ValueError(f"the selector {value!r} is wrong: {problem}") from None
    return value


def public_host(value: str) -> str:
    """A public host name: no address, no port, nothing inside of a network."""
    if not is_public_host(value) or any(mark in value for mark in "/:*"):
        raise ValueError(f"{value!r} is no public host name such as cdn.example.com")
    return value.lower()


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _duration(value: Any) -> Any:
    if isinstance(value, timedelta):
        return value
    match = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if not match or int(match[1]) == 0:
        raise ValueError('write a duration such as "15m", "4h" or "1d"')
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


Line = Annotated[str, AfterValidator(one_line)]
RuleText = Annotated[str, AfterValidator(rule)]
UrlPattern = Annotated[str, AfterValidator(url_pattern)]
# One text or a list of them; kept in the order written, because the order is the priority.
RuleList = Annotated[tuple[RuleText, ...], BeforeValidator(_listed)]
Lines = Annotated[tuple[Line, ...], BeforeValidator(_listed)]
Duration = Annotated[timedelta, BeforeValidator(_duration)]


class Expect(Row):
    """How many listings a healthy run of this source yields; outside of it the run says so."""

    min_listings: Annotated[int, Field(strict=True, ge=1)] | None = None
    max_listings: Annotated[int, Field(strict=True, ge=1)] | None = None

    @field_validator("max_listings")
    @classmethod
    def _ordered(cls, value: int | None, info: ValidationInfo) -> int | None:
        low = info.data.get("min_listings")
        if value is not None and low is not None and value < low:
            raise ValueError(f"max_listings {value} is less than min_listings {low}")
        return value

    def met(self, listings: int) -> bool | None:
        """None when the row expects nothing."""
        if self.min_listings is None and self.max_listings is None:
            return None
        return (self.min_listings or 0) <= listings <= (self.max_listings or listings)


class RowRules(Row):
    """Selector rules of this shop, per what they read; the first that matches wins.

    A kind of price that has a rule here never falls back to the global defaults for that kind.
    """

    price: RuleList = ()
    sale_price: RuleList = ()
    member_price: RuleList = ()
    pre_order_price: RuleList = ()
    original_price: RuleList = ()
    stock: RuleList = ()
    source_sku: RuleList = ()
    name: RuleList = ()
    brand: RuleList = ()
    gtin: RuleList = ()
    mpn: RuleList = ()
    size: RuleList = ()
    category: RuleList = ()
    image: RuleList = ()
    shipping: RuleList = ()
    promotion: RuleList = ()


class Source(Row):
    """One retailer's shop on one platform.

    `base_url` ends in a slash; paths of the row are relative to it. `country` is ISO 3166-1
    alpha-2, `currency` ISO 4217, `locale` a CLDR name such as `de_CH`. A currency or locale that is
    left out stays unknown until the shop states it. `egress` is the way out: direct, the pool's proxies of
    `country`, or Zyte; a row that names one that there is not, does not start. `render` has pages drawn by a
    browser, which waits for the CSS selector `wait_for` and then `settle_ms`. Sub-requests may go to the shop
    and to `asset_hosts`; a run draws at most `render_budget` pages. `sells_as` are names of the shop itself,
    its legal one for instance, that its pages give as the seller: any other is a marketplace seller.
    """

    # Hosts besides the base URL's own that this platform's requests may go to.
    extra_hosts: ClassVar[tuple[str, ...]] = ()

    slug: Line
    retailer: Line
    base_url: Line
    country: Line
    location: str = ""
    currency: Line | None = None
    locale: Line | None = None
    tax_basis: TaxBasis = TaxBasis.UNKNOWN
    delay_seconds: Annotated[float, Field(strict=True, ge=0, le=3600)] = 0.0
    egress: EgressKind = EgressKind.DIRECT
    render: Annotated[bool, Field(strict=True)] = False
    wait_for: Annotated[str, AfterValidator(css)] | None = None
    settle_ms: Annotated[int, Field(strict=True, ge=0, le=30_000)] = 500
    asset_hosts: Annotated[
        tuple[Annotated[str, AfterValidator(public_host)], ...], BeforeValidator(_listed)
    ] = ()
    render_budget: Annotated[int, Field(strict=True, ge=1, le=100_000)] = 200
    sells_as: Annotated[tuple[Line, ...], BeforeValidator(_listed)] = ()
    tier: Tier = Tier.B
    cadence: Annotated[Duration | None, Field(validate_default=True)] = None
    expect: Expect = Expect()
    rules: RowRules = RowRules()

    @field_validator("slug")
    @classmethod
    def _slug(cls, value: str) -> str:
        if not SLUG.fullmatch(value) or len(value) > 100:
            raise ValueError("use up to 100 small letters and digits, in words joined by '-'")
        return value

    @field_validator("base_url")
    @classmethod
    def _base_url(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("write the shop's address as https://host/ or https://host/path/")
        if parts.username or parts.password:
            raise ValueError("must not hold a user name or password: rows carry no secrets")
        if parts.query or parts.fragment:
            raise ValueError("must not hold a query or fragment")
        return value if value.endswith("/") else value + "/"

    @field_validator("country")
    @classmethod
    def _country(cls, value: str) -> str:
        if value not in countries():
            alias = (get_global("territory_aliases").get(value.upper()) or [None])[0]
            better = value.upper() if value.upper() in countries() else alias
            raise ValueError(f"{value!r} is no ISO 3166 country code" + _did_you_mean(better))
        return value

    @field_validator("currency")
    @classmethod
    def _currency(cls, value: str | None) -> str | None:
        if value is not None and value not in currencies():
            better = value.upper() if value.upper() in currencies() else None
            raise ValueError(f"{value!r} is no ISO 4217 code of a currency in use" + _did_you_mean(better))
        return value

    @field_validator("locale")
    @classmethod
    def _locale(cls, value: str | None) -> str | None:
        if value is None:
            return None
        try:
            return str(babel.Locale.parse(value.replace("-", "_")))
        except (ValueError, babel.UnknownLocaleError):
            raise ValueError(f"{value!r} is no CLDR locale such as de_CH") from None

    @field_validator("cadence")
    @classmethod
    def _cadence_of_tier(cls, value: timedelta | None, info: ValidationInfo) -> timedelta | None:
        tier = info.data.get("tier")
        if tier is Tier.C and value is None:
            raise ValueError('tier C needs a cadence such as cadence = "4h"')
        if tier in _CADENCE and value is not None:
            raise ValueError(f'tier {tier} has its own pace; write tier = "C" to give a cadence')
        return value

    @property
    def every(self) -> timedelta:
        """Time between two runs."""
        return self.cadence or _CADENCE[self.tier]

    @property
    def freshness(self) -> timedelta:
        """How long an observation of this source stays usable: twice the cadence, at most 120 min."""
        return min(2 * self.every, FRESHNESS_LIMIT)

    @property
    def market(self) -> Market:
        """Context for reading this shop's prices."""
        return Market(
            country=self.country, currency=self.currency, locale=self.locale, tax_basis=self.tax_basis
        )

    @property
    def sold_by(self) -> tuple[str, ...]:
        """Names under which the shop itself sells."""
        return (self.retailer, *self.sells_as)

    @property
    def host(self) -> str:
        """Host name of the shop, without a port."""
        return urlsplit(self.base_url).hostname or ""

    def url(self, path: str = "") -> str:
        """Absolute URL of a path of this shop; a leading slash means the shop's root, not the host's."""
        if urlsplit(path).scheme:
            return path
        return urljoin(self.base_url, path.lstrip("/"))
