"""Asking a model, keeping the record, and turning its answer into candidates or a doubt.

A model's answer is never believed: selectors are parsed and run on the page, so that an amount can
only come from the page itself; a disagreement is a reason for review; anything malformed is no answer.
A failing model leaves everything as it was.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from pricecrawl.domain.candidate import Method, PriceKind, RawPrice, Tier
from pricecrawl.domain.consensus_groups import agree
from pricecrawl.domain.listing import RawListing
from pricecrawl.domain.market import Market
from pricecrawl.domain.money import read_price
from pricecrawl.domain.reasons import ReviewReason
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.rules import CATEGORY
from pricecrawl.extraction.selectors import RuleError, parse_rule
from pricecrawl.gateway.calls import (
    Completion,
    ModelCall,
    Outcome,
    Prompt,
    Provider,
    ProviderError,
    Purpose,
    Recorder,
)
from pricecrawl.gateway.prompts import (
    MAX_RULES_PER_CATEGORY,
    RULE_CATEGORIES,
    auto_mapping,
    verification,
)
from pricecrawl.gateway.pruning import prune
from pricecrawl.gateway.triggers import AiStatus

MAX_ANSWER = 20_000


@dataclass(frozen=True, slots=True)
class Tariff:
    """What a provider charges per million tokens; None where it is not known."""

    input_per_million: Decimal | None = None
    output_per_million: Decimal | None = None
    currency: str = "USD"

    def cost(self, input_tokens: int | None, output_tokens: int | None) -> Decimal | None:
        """Cost of one call, rounded to six places; None if anything needed is unknown."""
        if None in (self.input_per_million, self.output_per_million, input_tokens, output_tokens):
            return None
        assert self.input_per_million is not None
        assert self.output_per_million is not None
        assert input_tokens is not None
        assert output_tokens is not None
        total = self.input_per_million * input_tokens + self.output_per_million * output_tokens
        return (total / 1_000_000).quantize(Decimal("0.000001"))


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Rules by category that parse and match the page, and the candidates that they give on it."""

    rules: Mapping[str, tuple[str, ...]]
    candidates: tuple[RawPrice, ...]
    trace: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """A model's word on a price: its status, and the doubt that follows from a disagreement."""

    status: AiStatus
    reason: ReviewReason | None
    trace: tuple[str, ...]
    suggested: Decimal | None = None


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Verification(_Strict):
    agrees: bool
    price_text: str | None = Field(default=None, max_length=40)
    reason: str = Field(default="", max_length=2000)


_Mapping = create_model(  # type: ignore[call-overload]
    "_Mapping",
    __base__=_Strict,
    **{name: (list[str], Field(default_factory=list)) for name in RULE_CATEGORIES},
)


@dataclass
class Gateway:
    """One provider, one recorder. Not made at all unless the configuration switches it on."""

    provider: Provider
    recorder: Recorder
    tariff: Tariff = field(default_factory=Tariff)
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))

    def auto_map(
        self, document: Document, *, market: Market, source: str, correlation_id: str
    ) -> Suggestion | None:
        """Ask for selectors of a page; None if there was no usable answer."""
        prompt = auto_mapping(prune(document), document.final_url)
        answer = self._ask(prompt, _Mapping, source=source, correlation_id=correlation_id)
        if answer is None:
            return None
        rules: dict[str, tuple[str, ...]] = {}
        trace: list[str] = []
        for category in RULE_CATEGORIES:
            good = []
            for text in getattr(answer, category)[:MAX_RULES_PER_CATEGORY]:
                problem = _problem(text, document)
                if problem:
                    trace.append(f"The model's rule for {category} is not used: {problem}.")
                else:
                    good.append(text)
            if good:
                rules[category] = tuple(good)
        candidates = _candidates(rules, document, market)
        trace.append(f"The model suggests rules for {', '.join(rules) or 'nothing'}.")
        return Suggestion(rules, candidates, tuple(trace))

    def verify(
        self,
        document: Document,
        *,
        price: Decimal,
        currency: str | None,
        market: Market,
        source: str,
        correlation_id: str,
    ) -> Checked | None:
        """Ask whether a price is right; None if there was no usable answer."""
        prompt = verification(prune(document), document.final_url, price, currency)
        answer = self._ask(prompt, _Verification, source=source, correlation_id=correlation_id)
        if not isinstance(answer, _Verification):
            return None
        text = answer.price_text or ""
        suggested = (
            read_price(text, locale=document.locale or market.locale, market=market).amount if text else None
        )
        same = suggested is not None and agree(suggested, price, currency)
        if same or (answer.agrees and suggested is None):
            return Checked(AiStatus.VERIFIED, None, ("A model agrees with the price.",))
        # One that agrees and names another amount contradicts itself: it vouches for nothing.
        said = f" and reads “{text}”" if text and text in document.text else ""
        sentence = f"A model disagrees with the price{said}: a person must look."
        return Checked(
            AiStatus.CORRECTED, ReviewReason.AI_DISAGREES, (sentence,), suggested if said else None
        )

    def _ask(
        self, prompt: Prompt, shape: type[BaseModel], *, source: str, correlation_id: str
    ) -> BaseModel | None:
        """One recorded call; the validated answer, or None."""
        started = time.monotonic()
        completion = Completion("")
        outcome, error, attempts = Outcome.OK, "", 1
        answer: BaseModel | None = None
        try:
            completion, attempts = self.provider.complete(prompt)
            answer = shape.model_validate(_object(completion.text))
        except ProviderError as problem:
            outcome, error, attempts = problem.outcome, str(problem), problem.attempts
        except (ValueError, ValidationError, RecursionError) as problem:
            outcome, error = (
                Outcome.INVALID_ANSWER,
                f"the answer does not fit its schema ({type(problem).__name__})",
            )
        self.recorder.record(
            ModelCall(
                correlation_id=correlation_id,
                purpose=prompt.purpose,
                source=source,
                provider=self.provider.name,
                model=self.provider.model,
                model_version=completion.model_version,
                prompt_version=prompt.version,
                prompt_digest=prompt.digest,
                parameters=dict(self.provider.parameters),
                input_schema=prompt.input_schema,
                answer_schema=prompt.answer_schema,
                outcome=outcome,
                attempts=attempts,
                latency_ms=round((time.monotonic() - started) * 1000),
                input_tokens=completion.input_tokens,
                output_tokens=completion.output_tokens,
                cost=self.tariff.cost(completion.input_tokens, completion.output_tokens),
                cost_currency=self.tariff.currency if self.tariff.input_per_million is not None else None,
                answer=answer.model_dump() if answer is not None else None,
                error=error,
                called_at=self.now(),
            )
        )
        return answer


def joined(first: RawListing, suggestion: Suggestion) -> RawListing:
    """The first reading with the suggested candidates beside its own: nothing that was read is replaced."""
    known = {(price.kind, price.text, price.selector) for price in first.prices}
    more = tuple(c for c in suggestion.candidates if (c.kind, c.text, c.selector) not in known)
    return replace(first, prices=(*first.prices, *more))


def _object(text: str) -> dict[str, Any]:
    """The JSON object of an answer; a fence around it is forgiven."""
    if len(text) > MAX_ANSWER:
        raise ValueError("the answer is too long")
    text = text.strip()
    if text.startswith("```"):
        text = text.strip("`").removeprefix("json").strip()
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("the answer is no object")  # noqa: TRY004 callers catch one kind of bad answer
    return found


def _problem(text: str, document: Document) -> str:
    """Why a suggested rule cannot be used on this page; empty if it can."""
    try:
        rule = parse_rule(text)
        if rule.first(document) is None:
            return "it matches nothing on the page"
    except RuleError as error:
        return error.problem
    if rule.syntax.outer_html:
        return "it asks for HTML"
    return ""


def _candidates(
    rules: Mapping[str, tuple[str, ...]], document: Document, market: Market
) -> tuple[RawPrice, ...]:
    """What the suggested price rules read on the page; each amount stands there."""
    found: list[RawPrice] = []
    for kind in PriceKind:
        for text in rules.get(CATEGORY[kind], ()):
            for match in parse_rule(text).matches(document, 3):
                if (
                    read_price(match.value, locale=document.locale or market.locale, market=market).amount
                    is not None
                ):
                    context = "suggested by a model"
                    found.append(
                        RawPrice(
                            kind, match.value[:200], Method.EXPERT_AI, text, tier=Tier.GLOBAL, context=context
                        )
                    )
    return tuple(found)


__all__ = ["Checked", "Gateway", "Purpose", "Suggestion", "Tariff", "joined"]
