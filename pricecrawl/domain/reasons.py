"""Why something was not done. Five ways to say no, never swapped.

A source refuses, a spider skips, normalization rejects, pricing excludes, a guardrail blocks or
asks for review. An outage (timeout, 5xx) is none of these. Every use is counted or stored.
"""

from __future__ import annotations

from enum import StrEnum


class RefusalReason(StrEnum):
    """A source said no to us."""

    ROBOTS_FORBIDDEN = "robots_forbidden"
    ROBOTS_LOGIN = "robots_login"
    ROBOTS_DISALLOWED = "robots_disallowed"
    CHALLENGE = "challenge"
    HTTP_401 = "http_401"
    HTTP_403 = "http_403"
    EMPTY_BODY = "empty_body"
    LOGIN_REQUIRED = "login_required"


class SkipReason(StrEnum):
    """A spider saw an entry and did not make a listing of it."""

    NO_PRICE = "no_price"
    NO_OFFER = "no_offer"
    NO_IDENTITY = "no_identity"
    NOT_A_PRODUCT_PAGE = "not_a_product_page"
    NOT_OFFERED = "not_offered"
    GIFT_CARD = "gift_card"
    DUPLICATE = "duplicate"
    OUT_OF_SCOPE = "out_of_scope"
    ROBOTS_PATH = "robots_path"
    REREAD_FAILED = "reread_failed"
    VARIANT_PAGE_UNREADABLE = "variant_page_unreadable"
    MULTI_VARIANT_UNPRICED = "multi_variant_unpriced"
    PAGE_GONE = "page_gone"
    RENDER_BUDGET = "render_budget"
    NO_LOCAL_COPY = "no_local_copy"


class RejectionReason(StrEnum):
    """Normalization found a listing that must not enter the data."""

    NO_SOURCE_SKU = "no_source_sku"
    NO_NAME = "no_name"
    NO_CANDIDATE = "no_candidate"
    UNREADABLE_PRICE = "unreadable_price"
    NON_POSITIVE_PRICE = "non_positive_price"
    PRICE_TOO_LARGE = "price_too_large"
    CURRENCY_UNKNOWN = "currency_unknown"
    CURRENCY_MISMATCH = "currency_mismatch"
    GTIN_SIZE_VETO = "gtin_size_veto"
    BAD_URL = "bad_url"
    FIELD_TOO_LONG = "field_too_long"


class ReviewReason(StrEnum):
    """Why a price read from a page waits for a person."""

    NO_CONSENSUS = "no_consensus"
    TIE = "tie"
    CURRENCY_CONFLICT = "currency_conflict"
    CURRENCY_UNKNOWN = "currency_unknown"
    TAX_BASIS_CONFLICT = "tax_basis_conflict"
    SOURCES_DISAGREE = "sources_disagree"
    MEMBER_TIE = "member_tie"
    ORIGINAL_TIE = "original_tie"
    SINGLE_SOURCE_OUT_OF_STOCK = "single_source_out_of_stock"
    LOW_CONFIDENCE_OUT_OF_STOCK = "low_confidence_out_of_stock"
    ANCHOR_DRIFT = "anchor_drift"
    FACTOR_100 = "factor_100"
    IMPLAUSIBLE_MOVE = "implausible_move"
    LOW_CONFIDENCE = "low_confidence"
    VARIANT_AMBIGUOUS = "variant_ambiguous"
    STOCK_CONFLICT = "stock_conflict"
    AI_DISAGREES = "ai_disagrees"


class ExclusionReason(StrEnum):
    """Why an offer may not establish a market price."""

    MAPPING_NOT_ACCEPTED = "mapping_not_accepted"
    NOT_COMPARABLE_CONDITION = "not_comparable_condition"
    NOT_COMPARABLE_QUANTITY = "not_comparable_quantity"
    NOT_AVAILABLE = "not_available"
    AVAILABILITY_UNKNOWN = "availability_unknown"
    STALE = "stale"
    NEEDS_REVIEW = "needs_review"
    MEMBER_PRICE = "member_price"
    PERSONALIZED = "personalized"
    PAYMENT_METHOD = "payment_method"
    SUBSCRIPTION = "subscription"
    CODE_REQUIRED = "code_required"
    BUNDLE_AMBIGUOUS = "bundle_ambiguous"
    PROMOTION_CONDITIONAL = "promotion_conditional"
    PROMOTION_AMBIGUOUS = "promotion_ambiguous"
    CURRENCY_UNKNOWN = "currency_unknown"
    NO_FX_RATE = "no_fx_rate"
    STALE_FX_RATE = "stale_fx_rate"
    SHIPPING_UNKNOWN = "shipping_unknown"
    TAX_BASIS_MISMATCH = "tax_basis_mismatch"
    MARKET_MISMATCH = "market_mismatch"
    SELLER_NOT_ELIGIBLE = "seller_not_eligible"
    SOURCE_HELD = "source_held"
    NO_PRICE = "no_price"


class FindingCode(StrEnum):
    """What a guardrail found: the first group blocks a price, the second sends it to review."""

    POLICY_UNAVAILABLE = "policy_unavailable"
    HOLD_ACTIVE = "hold_active"
    NOT_AUTHORIZED = "not_authorized"
    SKU_INACTIVE = "sku_inactive"
    CURRENCY_UNKNOWN = "currency_unknown"
    NO_ACCEPTED_MAPPING = "no_accepted_mapping"
    NO_FRESH_COMPARABLE_MARKET_PRICE = "no_fresh_comparable_market_price"
    COST_MISSING = "cost_missing"
    COST_STALE = "cost_stale"
    COST_INCONSISTENT = "cost_inconsistent"
    MARGIN_IMPOSSIBLE = "margin_impossible"
    MAP_MISSING = "map_missing"
    REGULATORY_MISSING = "regulatory_missing"
    CURRENT_PRICE_INCONSISTENT = "current_price_inconsistent"
    UNDER_FLOOR = "under_floor"
    OFF_QUANTUM = "off_quantum"
    NOT_POSITIVE = "not_positive"
    ABOVE_CEILING = "above_ceiling"

    DECREASE_OVER_LIMIT = "decrease_over_limit"
    INCREASE_OVER_LIMIT = "increase_over_limit"
    NO_CURRENT_PRICE = "no_current_price"
    ON_FLOOR = "on_floor"
    FIRST_PROBABILISTIC_USE = "first_probabilistic_use"
    MAPPING_UNDER_THRESHOLD = "mapping_under_threshold"
    PROMOTION_UNCLEAR = "promotion_unclear"
    CONFLICTING_EVIDENCE = "conflicting_evidence"
    SHIPPING_ASSUMED = "shipping_assumed"
    PROTECTED_SKU = "protected_sku"
    TARGET_CAPPED = "target_capped"
    ANOMALY_BELOW_COST = "anomaly_below_cost"
    ANOMALY_OUTLIER = "anomaly_outlier"
    ANOMALY_MARKET_MOVE = "anomaly_market_move"
    TAKEN_BACK = "taken_back"
    MASS_CHANGE = "mass_change"
    CANARY_FAILED = "canary_failed"
