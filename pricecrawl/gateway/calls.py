"""What goes through the door and what is written down about it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, Protocol

from pricecrawl.domain.errors import PricecrawlError


class Purpose(StrEnum):
    """What a model is asked for; nothing else is ever asked."""

    AUTO_MAPPING = "auto_mapping"
    VERIFICATION = "verification"


class Outcome(StrEnum):
    """How a call ended. Only OK gives an answer; the rest leaves everything as it was."""

    OK = "ok"
    INVALID_ANSWER = "invalid_answer"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question in full: its name and version, the two messages, and the schemas of both sides."""

    purpose: Purpose
    version: str
    system: str
    user: str
    input_schema: Mapping[str, Any]
    answer_schema: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """`sha256:<hex>` over everything that was asked."""
        asked = json.dumps([self.purpose.value, self.version, self.system, self.user], ensure_ascii=False)
        return "sha256:" + hashlib.sha256(asked.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Completion:
    """A provider's answer as text, with what it says of itself; token counts are None if unstated."""

    text: str
    model_version: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ModelCall:
    """The record of one call. Neither keys nor the page are in it; the page is known by its digest.

    `latency_ms` is wall time over all attempts, `cost` in `cost_currency` (None where prices or tokens
    are unknown), `answer` the parsed answer of an OK call.
    """

    correlation_id: str
    purpose: Purpose
    source: str
    provider: str
    model: str
    model_version: str
    prompt_version: str
    prompt_digest: str
    parameters: Mapping[str, Any]
    input_schema: Mapping[str, Any]
    answer_schema: Mapping[str, Any]
    outcome: Outcome
    attempts: int
    latency_ms: int
    input_tokens: int | None
    output_tokens: int | None
    cost: Decimal | None
    cost_currency: str | None
    answer: Mapping[str, Any] | None
    error: str
    called_at: datetime


class ProviderError(PricecrawlError):
    """A model could not be asked. The text holds no key."""

    def __init__(self, message: str, outcome: Outcome = Outcome.ERROR, *, attempts: int = 1) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.attempts = attempts


class Provider(Protocol):
    """Somebody who answers prompts."""

    @property
    def name(self) -> str:
        """Kind of provider, for the record."""
        ...

    @property
    def model(self) -> str:
        """The model that is asked for."""
        ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What is sent besides the messages, for the record."""
        ...

    def complete(self, prompt: Prompt) -> tuple[Completion, int]:
        """The answer and the number of attempts it took.

        Raises:
            ProviderError: there is no answer.
        """
        ...


class Recorder(Protocol):
    """Somebody who keeps the records."""

    def record(self, call: ModelCall) -> None:
        """Keep one record."""
        ...
