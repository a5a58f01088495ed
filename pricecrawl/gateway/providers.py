"""Providers: any server that speaks the OpenAI chat format, and a mock that answers from a table."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import requests
from pydantic import SecretStr

from pricecrawl.gateway.calls import Completion, Outcome, Prompt, ProviderError, Purpose

_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_HIDDEN = "***"
MAX_BODY = 1024 * 1024
"""Bytes of an answer; what is asked for fits into a hundredth of it."""


@dataclass(frozen=True)
class OpenAICompatible:
    """A chat-completions server. `base_url` ends before `/chat/completions`.

    `deadline_seconds` bounds the whole call with all its attempts.
    """

    base_url: str
    model: str
    key: SecretStr | None = field(default=None, repr=False)
    max_attempts: int = 2
    deadline_seconds: float = 60.0
    max_output_tokens: int = 1500
    name: str = "openai-compatible"
    _sleep: Callable[[float], None] = field(default=time.sleep, repr=False)
    _now: Callable[[], float] = field(default=time.monotonic, repr=False)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What is sent besides the messages: as little chance as a server allows."""
        return {"temperature": 0, "seed": 7, "max_tokens": self.max_output_tokens}

    def complete(self, prompt: Prompt) -> tuple[Completion, int]:
        """Ask; a busy or failing server is asked again within the deadline."""
        end = self._now() + self.deadline_seconds
        problem = ProviderError("no attempt was made", attempts=0)
        for attempt in range(1, self.max_attempts + 1):
            left = end - self._now()
            if left <= 0:
                break
            try:
                return self._ask(prompt, left), attempt
            except _TryAgainError as error:
                problem = ProviderError(str(error), error.outcome, attempts=attempt)
            except ProviderError as error:
                raise ProviderError(str(error), error.outcome, attempts=attempt) from None
            if attempt < self.max_attempts:
                self._sleep(min(0.5 * 2**attempt, max(end - self._now(), 0)))
        raise problem

    def _ask(self, prompt: Prompt, timeout: float) -> Completion:
        body = {
            "model": self.model,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.user},
            ],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": prompt.purpose.value, "strict": True, "schema": prompt.answer_schema},
            },
            **self.parameters,
        }
        headers = {"Authorization": f"Bearer {self.key.get_secret_value()}"} if self.key else {}
        end = self._now() + timeout
        try:
            with requests.post(
                f"{self.base_url.rstrip('/')}/chat/completions",
                json=body,
                headers=headers,
                timeout=(min(10.0, timeout), timeout),
                allow_redirects=False,
                stream=True,
            ) as response:
                answer = self._body(response, end)
        except requests.Timeout:
            raise _TryAgainError("the model did not answer in time", Outcome.TIMEOUT) from None
        except requests.RequestException as error:
            raise _TryAgainError(
                self._clean(f"the model cannot be reached ({type(error).__name__})")
            ) from None
        if response.status_code in _RETRIED:
            raise _TryAgainError(self._clean(f"the model answered {response.status_code}"))
        if response.status_code != requests.codes.ok:
            outcome = Outcome.REFUSED if response.status_code in (401, 402, 403) else Outcome.ERROR
            told = answer[:800].decode("utf-8", "replace")[:200]
            raise ProviderError(self._clean(f"the model answered {response.status_code}: {told}"), outcome)
        return self._read(answer)

    def _body(self, response: requests.Response, end: float) -> bytes:
        """The whole body; a server that trickles or never stops is left at the deadline or the limit."""
        body = bytearray()
        for chunk in response.iter_content(4096):
            body += chunk
            if self._now() > end:
                raise requests.Timeout
            if len(body) > MAX_BODY:
                raise ProviderError("the model's server sent too much", Outcome.INVALID_ANSWER)
        return bytes(body)

    def _read(self, body: bytes) -> Completion:
        try:
            answer = json.loads(body)
            choice = answer["choices"][0]["message"]
            text = choice["content"]
        except (ValueError, LookupError, TypeError, RecursionError):
            raise ProviderError(
                "the model's server sent no chat completion", Outcome.INVALID_ANSWER
            ) from None
        if not isinstance(text, str):
            said = choice.get("refusal") if isinstance(choice, dict) else None
            raise ProviderError(self._clean(f"the model refused: {said or 'no text'}"), Outcome.REFUSED)
        usage = answer.get("usage") if isinstance(answer.get("usage"), dict) else {}
        return Completion(
            text,
            str(answer.get("model") or ""),
            _count(usage.get("prompt_tokens")),
            _count(usage.get("completion_tokens")),
        )

    def _clean(self, text: str) -> str:
        """The text without the key, whoever put it there."""
        if self.key is not None and (secret := self.key.get_secret_value()):
            text = text.replace(secret, _HIDDEN)
        return " ".join(text.split())


class _TryAgainError(Exception):
    def __init__(self, message: str, outcome: Outcome = Outcome.ERROR) -> None:
        super().__init__(message)
        self.outcome = outcome


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


class MockProvider:
    """Answers from a table by purpose, the same every time; a list is answered in turn."""

    name = "mock"
    model = "mock-1"
    parameters: Mapping[str, Any] = {"temperature": 0}

    def __init__(self, answers: Mapping[Purpose, str | Sequence[str]]) -> None:
        self._answers = {k: [v] if isinstance(v, str) else list(v) for k, v in answers.items()}
        self.asked: list[Prompt] = []

    def complete(self, prompt: Prompt) -> tuple[Completion, int]:
        """The next answer for the prompt's purpose; the last one repeats."""
        self.asked.append(prompt)
        answers = self._answers.get(prompt.purpose)
        if not answers:
            raise ProviderError(f"the mock has no answer for {prompt.purpose.value}", Outcome.REFUSED)
        text = answers.pop(0) if len(answers) > 1 else answers[0]
        return Completion(text, "mock-1.0", len(prompt.user) // 4, len(text) // 4), 1
