"""What goes in and comes out, as pydantic models: unknown keys are refused, amounts are decimal strings."""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StrictBool,
    StringConstraints,
    WithJsonSchema,
)

from pricecrawl.db.status import SourceStatus
from pricecrawl.domain.availability import Availability
from pricecrawl.domain.candidate import PriceKind
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.said import says_something

# No control characters: PostgreSQL stores no NUL, and none of the others means anything in a name.
_PRINTABLE = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*$"

# Something besides spaces; whether it can be read is looked at afterwards, for no such pattern is portable.
_SAYS = r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*[^\x00-\x20\x7f-\xa0][^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*$"


def _readable(text: str) -> str:
    if not says_something(text):
        raise ValueError("there is nothing in it that can be read")
    return text


def _iso(value: object) -> object:
    """A time as text: of a bare number nobody knows the unit."""
    if not isinstance(value, str) or not re.match(r"\d{4}-\d{2}-\d{2}[Tt ]", value):
        raise ValueError("a time is ISO 8601 with an offset, such as 2026-02-01T12:00:00Z")
    return value


Amount = Annotated[
    Decimal,
    PlainSerializer(lambda amount: format(amount, "f"), return_type=str),
    WithJsonSchema({"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+)?$", "examples": ["19.99"]}),
]
Word = Annotated[str, StringConstraints(min_length=1, max_length=300, pattern=_PRINTABLE)]
Line = Annotated[str, StringConstraints(max_length=2000, pattern=_PRINTABLE)]
Sku = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=_PRINTABLE)]
Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=100)]
DecisionId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f-]{36}$")]
Reason = Annotated[
    str,
    StringConstraints(min_length=1, max_length=2000, pattern=_SAYS),
    AfterValidator(_readable),
    Field(description="Why; kept for good."),
]
Facts = dict[str, Any]


class Asked(BaseModel):
    """Base of every request: no unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Given(BaseModel):
    """Base of every response."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# --- observations ------------------------------------------------------------------------------


class PriceSeen(Asked):
    """One amount as the shop wrote it; `currency` only where the shop states one beside it."""

    kind: PriceKind = PriceKind.STANDARD
    text: Word
    currency: Annotated[str, StringConstraints(pattern="^[A-Z]{3}$")] | None = None


class ObservationIn(Asked):
    """One offer as a collector of one's own saw it: text as it stood, nothing computed."""

    source: Slug
    source_sku: Word
    url: Annotated[str, StringConstraints(min_length=1, max_length=2000, pattern=_PRINTABLE)]
    name: Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=_PRINTABLE)]
    brand: Line = ""
    gtin: Line = ""
    mpn: Line = ""
    size: Line = ""
    variant: Line = ""
    category: Line = ""
    condition: Line = ""
    seller: Line = ""
    shipping: Line = ""
    promotion: Line = ""
    quantity: Line = ""
    prices: Annotated[tuple[PriceSeen, ...], Field(max_length=20)] = ()
    availability: Availability = Availability.UNKNOWN
    tax_basis: TaxBasis = TaxBasis.UNKNOWN
    observed_at: Annotated[AwareDatetime, BeforeValidator(_iso)] | None = Field(
        default=None, description="When it was seen: within the last seven days, by default now."
    )
    collector: Word = Field(default="api", description="Which collector, in which version, saw it.")


class EvidenceOut(Given):
    """Where the document as it came is kept."""

    digest: str
    warc: str
    offset: int
    length: int


class ObservationOut(Given):
    """What became of an observation: NORMALIZED with a price or a review, or QUARANTINED with a reason."""

    state: Literal["NORMALIZED", "QUARANTINED"]
    run_id: int
    evidence: EvidenceOut
    observation_id: int | None = None
    listing_id: int | None = None
    price: Amount | None = None
    currency: str | None = None
    availability: Availability | None = None
    needs_review: bool = False
    review_id: str | None = None
    reasons: tuple[str, ...] = ()
    detail: str = ""


# --- mappings and prices -----------------------------------------------------------------------


class MappingsIn(Asked):
    """Which listings to look at: those of one source, or all."""

    source: Slug | None = None


class MappingsOut(Given):
    """What a matching run did; mappings that are new or changed, by status."""

    listings: int
    unmatched: int
    added: dict[str, int]
    changed: dict[str, int]


class SkuIn(Asked):
    """One of our SKUs."""

    sku: Sku


class OfferOut(Given):
    """An offer, and why it may not establish a market price, if it may not."""

    observation_id: int
    source: str
    source_sku: str
    item_price: Amount | None
    currency: str | None
    shipping: Amount | None
    landed: Amount | None
    mapping_id: int
    reasons: tuple[str, ...]


class MarketPriceOut(Given):
    """The lowest eligible landed price of a SKU at this moment, and every offer that was looked at."""

    sku: str
    market_price: Amount | None
    currency: str
    note: str
    freshness: str
    winning_observation_id: int | None
    eligible: tuple[OfferOut, ...]
    excluded: tuple[OfferOut, ...]
    policy_version: str
    computed_at: datetime


class SkusIn(Asked):
    """Which SKUs to decide a price for."""

    skus: Annotated[tuple[Sku, ...], Field(min_length=1, max_length=500)]


class FindingOut(Given):
    """One check that had something to say."""

    code: str
    verdict: str
    detail: str


class DecisionOut(Given):
    """One decision with every figure on the way to its price."""

    decision_id: str
    sku: str
    status: str
    verdict: str
    decision_reason: str
    currency: str
    tax_basis: str
    current_price: Amount | None
    market_price: Amount | None
    competitive_target: Amount | None
    variable_cost: Amount | None
    required_margin: Amount | None
    margin_floor: Amount | None
    map_price: Amount | None
    regulatory_floor: Amount | None
    allowed_floor: Amount | None
    proposed_price: Amount | None
    change_pct: Amount | None
    findings: tuple[FindingOut, ...]
    policy_version: str
    snapshot_id: int | None
    expires_at: datetime | None
    created_at: datetime


class DecisionsOut(Given):
    """The decisions of one request, in order of SKU; `superseded` earlier ones went stale by them."""

    run_id: str
    policy_version: str
    superseded: int
    recalled: int
    decisions: tuple[DecisionOut, ...]


class EvaluationOut(Given):
    """Today's verdict on a stored decision; `current` is false when the price would be another one today."""

    decision_id: str
    verdict: str
    status: str
    current: bool
    policy_version: str
    findings: tuple[FindingOut, ...]


# --- reviews and policies ----------------------------------------------------------------------


class ApproveIn(Asked):
    """Yes, and why; `choice` is the number of the right reading where a reading is reviewed.

    `amount` is what that reading was seen to read: a page read again meanwhile confirms nothing else.
    """

    reason: Reason
    choice: Annotated[int, Field(strict=True, ge=1, le=1000)] | None = None
    amount: Annotated[str, StringConstraints(pattern=r"^[0-9]{1,12}(\.[0-9]{1,6})?$")] | None = None


class RejectIn(Asked):
    """No, and why."""

    reason: Reason


class SettledOut(Given):
    """What was decided."""

    review_id: str
    result: Literal["approved", "rejected"]
    by: str


class ReviewOut(Given):
    """One line of the queue."""

    review_id: str
    kind: str
    subject: str
    summary: str
    reasons: tuple[str, ...]
    created_at: datetime
    expires_at: datetime | None


class ReviewsOut(Given):
    """What waits for a person, prices first, each kind oldest first."""

    reviews: tuple[ReviewOut, ...]


class ReviewShownOut(Given):
    """One review with what a person decides by: all that is stored of it, and the evidence of a price."""

    review_id: str
    kind: str
    detail: Facts
    offers: tuple[Facts, ...]


class PolicyIn(Asked):
    """A version of the pricing policy, shaped as a policy file is."""

    policy: Facts


class PolicyOut(Given):
    """A proposed version and the review that somebody else settles."""

    version: str
    review_id: str


# --- publications ------------------------------------------------------------------------------


class PublishIn(Asked):
    """Which decision to publish. There is no way to give a price."""

    price_decision_id: DecisionId


class PublicationOut(Given):
    """One write of one decision to one target, and how it stands."""

    publication_id: str
    decision_id: str
    sku: str
    target: str
    scope: str
    amount: Amount
    currency: str
    tax_basis: str
    status: str
    attempts: int
    verdict: str | None
    verdict_detail: str
    rollback_of: str | None
    sent_at: datetime | None
    verified_at: datetime | None


class PublicationsOut(Given):
    """The publications of a decision, one for each configured target; a rollback is for one alone."""

    publications: tuple[PublicationOut, ...]
    refused: dict[str, str] = Field(default={}, description="Targets that take no publication now, and why.")


class VerificationOut(Given):
    """What a second look at a publication found; `ok` is false where the shop has something else."""

    publication: PublicationOut
    ok: bool
    detail: str
    mismatches: tuple[str, ...]
    found: Amount | None
    shown: Amount | None


class RollbackIn(Asked):
    """Which SKU goes back: to the last verified price before, or to that of the decision that is named."""

    sku: Sku
    reason: Reason
    to_decision_id: DecisionId | None = None
    target: Annotated[str, StringConstraints(pattern=r"^[a-z0-9_-]{1,60}$")] | None = Field(
        default=None, description="Needed only where more than one target is configured."
    )


class RollbackOut(Given):
    """The decision to go back. ALLOW was published at once; REVIEW waits for a person."""

    decision_id: str
    sku: str
    target: str
    takes_back: str
    to_decision_id: str
    amount: Amount
    verdict: str
    reasons: tuple[str, ...]
    publication: PublicationOut | None


# --- operations --------------------------------------------------------------------------------


class TraceOut(Given):
    """The chain from a price to the stored bytes; `missing` names every link that is not there."""

    complete: bool
    missing: tuple[str, ...]
    sku: Facts
    publications: tuple[Facts, ...]
    approvals: tuple[Facts, ...]
    decision: Facts | None
    policy: Facts | None
    snapshot: Facts | None
    offers: tuple[Facts, ...]
    events: tuple[Facts, ...]


class StatusOut(Given):
    """How every source stands."""

    version: str
    at: datetime
    sources: tuple[SourceStatus, ...]


class EventOut(Given):
    """One event of the log; `id` is its place in it."""

    id: int
    event_id: str
    event_type: str
    schema_version: str
    aggregate: str
    correlation_id: str
    causation_id: str | None
    occurred_at: datetime
    producer: str
    payload: Facts


class EventsOut(Given):
    """Events after a place in the log; ask again with `after` = `last` for the next ones."""

    events: tuple[EventOut, ...]
    last: int


class SwitchIn(Asked):
    """Whether a source may run, and why."""

    enabled: StrictBool
    reason: Reason


class SwitchOut(Given):
    """How the switch of a source stands now."""

    source: str
    enabled: bool
    reason: str | None


class HoldIn(Asked):
    """What to hold; `value` names the target, source or SKU and is empty for everything."""

    scope: Literal["everything", "target", "source", "sku"]
    value: Annotated[str, StringConstraints(max_length=200, pattern=_PRINTABLE)] = ""
    reason: Reason


class HoldOut(Given):
    """One kill switch that is on."""

    hold_id: int
    scope: str
    value: str
    reason: str
    set_by: str
    set_at: datetime


class HoldsOut(Given):
    """Every kill switch that is on, oldest first."""

    holds: tuple[HoldOut, ...]


class ClearedOut(Given):
    """How many switches of that name were on."""

    scope: str
    value: str
    cleared: int
