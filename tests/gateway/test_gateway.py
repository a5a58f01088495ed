"""Asking a real HTTP server on loopback, the mock, the record of each call, and what answers may do."""

from __future__ import annotations

import contextlib
import json
import logging
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import Engine, select

from pricecrawl.config import Config
from pricecrawl.db.model_calls import ModelCallStore
from pricecrawl.db.tables import model_call
from pricecrawl.domain.candidate import Method, PriceKind, RawPrice
from pricecrawl.domain.listing import RawListing
from pricecrawl.domain.market import Market
from pricecrawl.domain.reasons import ReviewReason
from pricecrawl.extraction.document import Document
from pricecrawl.gateway.calls import ModelCall, Outcome, Purpose
from pricecrawl.gateway.gateway import Gateway, Tariff, joined
from pricecrawl.gateway.prompts import RULE_CATEGORIES
from pricecrawl.gateway.providers import MAX_BODY, MockProvider, OpenAICompatible
from pricecrawl.gateway.pruning import MAX_PRUNED, prune
from pricecrawl.gateway.setup import gateway_of
from pricecrawl.gateway.triggers import AiStatus

CANARY = "sk-canary-5f2b9c71"
EUR = Market("DE", "EUR", "de_DE")
NOW = datetime(2026, 3, 1, tzinfo=UTC)
PAGE = Document(
    "<html><head><meta property='og:title' content=Kettle><script>track('secret')</script></head><body>"
    "<header>Login</header><main><h1>Kettle</h1><div class=buy><b class=now>29,90 €</b>"
    "<s class=was>49,90 €</s></div><form><input type=email value=ann@example.org><b>Kaufen</b></form></main>",
    url="https://shop.example/k",
)


class Notes(list[ModelCall]):
    """A recorder that keeps everything in memory."""

    def record(self, call: ModelCall) -> None:
        self.append(call)


class Server(ThreadingHTTPServer):
    """A chat-completions server that answers from a script of (status, body)."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script: list[tuple[int, Any]] = []
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append((dict(self.headers), body))
        script = self.server.script
        status, answer = script.pop(0) if len(script) > 1 else script[0]
        sent = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()


def chat(content: object, **more: Any) -> dict[str, Any]:
    text = content if isinstance(content, str) else json.dumps(content)
    usage = {"prompt_tokens": 1200, "completion_tokens": 80}
    return {"model": "tiny-2026-01", "choices": [{"message": {"content": text}}], "usage": usage, **more}


def rules(**given: list[str]) -> dict[str, list[str]]:
    return {name: given.get(name, []) for name in RULE_CATEGORIES}


def over_http(server: Server, notes: Notes, **options: Any) -> Gateway:
    provider = OpenAICompatible(server.url, "tiny", SecretStr(CANARY), _sleep=lambda _: None, **options)
    return Gateway(provider, notes, Tariff(Decimal("0.5"), Decimal(2)), now=lambda: NOW)


def mocked(notes: Notes, **answers: Any) -> Gateway:
    return Gateway(
        MockProvider({Purpose(name): json.dumps(answer) for name, answer in answers.items()}), notes
    )


def ask_map(gateway: Gateway, document: Document = PAGE):
    return gateway.auto_map(document, market=EUR, source="kettles", correlation_id="run:7")


def ask_check(gateway: Gateway, price: str = "29.90", document: Document = PAGE):
    return gateway.verify(
        document, price=Decimal(price), currency="EUR", market=EUR, source="kettles", correlation_id="run:7"
    )


def test_an_answer_becomes_rules_and_candidates_of_the_page(server: Server) -> None:
    notes = Notes()
    server.script = [(200, chat(rules(price=[".buy .now"], original_price=[".was"])))]
    found = ask_map(over_http(server, notes))
    assert found.rules == {"price": (".buy .now",), "original_price": (".was",)}
    assert [(c.kind, c.text, c.method, c.selector) for c in found.candidates] == [
        (PriceKind.STANDARD, "29,90 €", Method.EXPERT_AI, ".buy .now"),
        (PriceKind.LIST, "49,90 €", Method.EXPERT_AI, ".was"),
    ]


def test_a_call_is_recorded_in_full(server: Server) -> None:
    notes = Notes()
    server.script = [(200, chat(rules(price=[".now"])))]
    ask_map(over_http(server, notes))
    (call,) = notes
    assert (call.provider, call.model, call.model_version) == ("openai-compatible", "tiny", "tiny-2026-01")
    assert (call.purpose, call.outcome, call.attempts, call.source, call.correlation_id) == (
        Purpose.AUTO_MAPPING, Outcome.OK, 1, "kettles", "run:7",
    )  # fmt: skip
    assert (call.input_tokens, call.output_tokens) == (1200, 80)
    assert (call.cost, call.cost_currency) == (Decimal("0.000760"), "USD")
    assert call.prompt_version == "auto-mapping/1"
    assert call.prompt_digest.startswith("sha256:")
    assert call.parameters == {"temperature": 0, "seed": 7, "max_tokens": 1500}
    assert set(call.answer_schema["properties"]) == set(RULE_CATEGORIES)
    assert (call.answer["price"], call.called_at, call.error) == ([".now"], NOW, "")
    assert call.latency_ms >= 0
    (_, sent) = server.requests[0]
    assert sent["response_format"]["json_schema"]["schema"] == call.answer_schema
    assert sent["temperature"] == 0


def test_the_record_is_kept_on_both_databases(engine: Engine, server: Server) -> None:
    store = ModelCallStore(engine)
    server.script = [(200, chat(rules(price=[".now"]))), (500, "boom")]
    gateway = over_http(server, store, max_attempts=1)
    ask_map(gateway)
    ask_map(gateway)
    with engine.connect() as conn:
        first, second = conn.execute(select(model_call).order_by(model_call.c.id)).all()
    assert (first.outcome, first.cost, first.answer["price"], first.called_at) == (
        "ok",
        Decimal("0.00076"),
        [".now"],
        NOW,
    )
    assert (second.outcome, second.answer, "500" in second.error) == ("error", None, True)
    (used,) = store.use()
    assert (used.calls, used.failed, used.cost, store.count()) == (2, 1, Decimal("0.00076"), 2)


def test_a_busy_server_is_asked_again_and_a_broken_one_leaves_things_alone(server: Server) -> None:
    notes = Notes()
    server.script = [(429, "slow down"), (200, chat(rules(price=[".now"])))]
    assert ask_map(over_http(server, notes)) is not None
    assert notes[0].attempts == 2
    server.script = [(503, "x")]
    assert ask_map(over_http(server, notes, max_attempts=3)) is None
    assert (notes[1].outcome, notes[1].attempts) == (Outcome.ERROR, 3)


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (401, "bad key", Outcome.REFUSED),
        (404, "no model", Outcome.ERROR),
        (302, "", Outcome.ERROR),
        (200, "<html>", Outcome.INVALID_ANSWER),
        (200, {"choices": []}, Outcome.INVALID_ANSWER),
        (200, {"choices": [{"message": {"content": None, "refusal": "no"}}]}, Outcome.REFUSED),
        (200, chat("not json"), Outcome.INVALID_ANSWER),
        (200, chat([1, 2]), Outcome.INVALID_ANSWER),
        (200, chat({"price": ".now"}), Outcome.INVALID_ANSWER),
        (200, chat(rules() | {"run_this": ["x"]}), Outcome.INVALID_ANSWER),
        (200, chat("x" * 30_000), Outcome.INVALID_ANSWER),
        (200, chat("[" * 15_000), Outcome.INVALID_ANSWER),
        (200, "[" * 200_000, Outcome.INVALID_ANSWER),
        (200, " " * (MAX_BODY + 1), Outcome.INVALID_ANSWER),
    ],
)
def test_anything_malformed_is_no_answer(server: Server, status: int, body: Any, outcome: Outcome) -> None:
    notes = Notes()
    server.script = [(status, body)]
    assert ask_map(over_http(server, notes)) is None
    assert notes[0].outcome is outcome
    assert notes[0].answer is None


def test_a_slow_server_is_a_timeout_and_one_that_is_not_there_an_error() -> None:
    notes = Notes()
    silent = ThreadingHTTPServer(("127.0.0.1", 0), Handler)  # accepts, never serves
    url = f"http://127.0.0.1:{silent.server_address[1]}/v1"
    provider = OpenAICompatible(url, "tiny", deadline_seconds=0.3, max_attempts=1)
    assert ask_map(Gateway(provider, notes)) is None
    silent.server_close()
    assert ask_map(Gateway(OpenAICompatible(url, "tiny", max_attempts=1), notes)) is None
    assert [call.outcome for call in notes] == [Outcome.TIMEOUT, Outcome.ERROR]


def test_a_server_that_trickles_is_left_at_the_deadline(server: Server, monkeypatch: Any) -> None:
    """Each byte comes in time, the answer does not."""

    def trickle(handler: Handler) -> None:
        handler.rfile.read(int(handler.headers["content-length"]))
        handler.send_response(200)
        handler.end_headers()
        with contextlib.suppress(OSError):
            for _ in range(100):
                handler.wfile.write(b" " * 4096)
                handler.wfile.flush()
                time.sleep(0.05)

    monkeypatch.setattr(Handler, "do_POST", trickle)
    notes = Notes()
    started = time.monotonic()
    assert ask_map(over_http(server, notes, deadline_seconds=0.4, max_attempts=2)) is None
    assert time.monotonic() - started < 2
    assert notes[0].outcome is Outcome.TIMEOUT


def test_a_model_that_agrees_and_names_another_amount_vouches_for_nothing() -> None:
    said = ask_check(
        mocked(Notes(), verification={"agrees": True, "price_text": "49,90 €", "reason": "it is right"})
    )
    assert (said.status, said.reason) == (AiStatus.CORRECTED, ReviewReason.AI_DISAGREES)
    fine = ask_check(mocked(Notes(), verification={"agrees": True, "price_text": "29,90 €", "reason": ""}))
    assert (fine.status, fine.reason) == (AiStatus.VERIFIED, None)


def test_suggested_rules_must_parse_and_match() -> None:
    notes = Notes()
    answer = rules(price=["..x", ".nowhere", ".now"], name=["!h1", "h1"])
    found = ask_map(mocked(notes, auto_mapping=answer))
    assert found.rules == {"price": (".now",), "name": ("h1",)}
    assert sum("not used" in sentence for sentence in found.trace) == 3
    assert [c.text for c in found.candidates] == ["29,90 €"]


def test_o1_x1_a_second_pass_adds_to_the_first_and_replaces_nothing() -> None:
    found = ask_map(mocked(Notes(), auto_mapping=rules(price=[".now"], name=["h1"])))
    own = RawPrice(PriceKind.STANDARD, "31.00", Method.OPENGRAPH, "meta", currency="EUR")
    first = RawListing("K-1", "https://shop.example/k", name="Kettle 1.5 l", prices=(own,))
    both = joined(first, found)
    assert [price.text for price in both.prices] == ["31.00", "29,90 €"]
    assert (both.name, both.source_sku) == ("Kettle 1.5 l", "K-1")
    assert joined(both, found) == both


def test_a_model_cannot_bring_an_amount_that_the_page_does_not_show() -> None:
    found = ask_map(mocked(Notes(), auto_mapping=rules(price=["regex:/(1,00 €)/", "h1", "~9,99~"])))
    assert found.candidates == ()


def test_agreement_verifies_and_disagreement_is_only_a_doubt() -> None:
    notes = Notes()
    good = ask_check(mocked(notes, verification={"agrees": True, "price_text": None, "reason": ""}))
    assert (good.status, good.reason) == (AiStatus.VERIFIED, None)
    same = ask_check(mocked(notes, verification={"agrees": False, "price_text": "29,90 €", "reason": "?"}))
    assert same.status is AiStatus.VERIFIED
    bad = ask_check(mocked(notes, verification={"agrees": False, "price_text": "49,90 €", "reason": "x"}))
    assert (bad.status, bad.reason, bad.suggested) == (
        AiStatus.CORRECTED, ReviewReason.AI_DISAGREES, Decimal("49.90"),
    )  # fmt: skip
    made_up = ask_check(mocked(notes, verification={"agrees": False, "price_text": "1,00 €", "reason": "x"}))
    assert (made_up.reason, made_up.suggested) == (ReviewReason.AI_DISAGREES, None)
    assert ask_check(mocked(notes, verification={"agrees": "yes"})) is None


def test_the_mock_says_the_same_every_time() -> None:
    notes = Notes()
    gateway = mocked(notes, auto_mapping=rules(price=[".now"]))
    first, second = ask_map(gateway), ask_map(gateway)
    assert first == second
    assert notes[0].prompt_digest == notes[1].prompt_digest
    assert ask_check(gateway) is None
    assert notes[2].outcome is Outcome.REFUSED


def test_a_key_reaches_no_record_no_log_and_no_error(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    notes = Notes()
    caplog.set_level(logging.DEBUG)
    server.script = [(400, f"your key {CANARY} is wrong"), (200, chat(rules(price=[".now"])))]
    gateway = over_http(server, notes)
    ask_map(gateway)
    ask_map(gateway)
    assert server.requests[0][0]["Authorization"] == f"Bearer {CANARY}"
    said = repr(notes) + repr(gateway) + repr(gateway.provider) + caplog.text
    assert "***" in notes[0].error
    assert CANARY not in said


def test_what_is_sent_is_pruned() -> None:
    html = prune(PAGE)
    assert "29,90 €" in html
    assert 'class="now"' in html
    assert "og:title" in html
    for hidden in ("track(", "Login", "ann@example.org"):
        assert hidden not in html
    big = Document("<html><body>" + "<div class=row><p>text of a row</p></div>" * 20_000)
    pruned = prune(big)
    assert len(pruned) <= MAX_PRUNED
    assert pruned.count("<div") == pruned.count("</div>")


@pytest.mark.parametrize(
    ("settings", "on"),
    [
        ({}, False),
        ({"AI_URL": "https://ai.example/v1", "AI_MODEL": "m"}, False),
        ({"AI_AUTO_MAPPING": "true", "AI_MODEL": "m"}, False),
        ({"AI_URL": "https://ai.example/v1", "AI_MODEL": "m", "AI_VERIFICATION": "true"}, True),
        (
            {"AI_URL": "https://ai.example/v1", "AI_MODEL": "m", "AI_AUTO_MAPPING": "true", "AI_KEY": CANARY},
            True,
        ),
    ],
)
def test_the_gateway_is_off_unless_it_is_switched_on(
    settings: dict[str, str], on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(f"PRICECRAWL_{name}", value)
    config = Config.load()
    made = gateway_of(config, Notes())
    assert (made is not None) is on
    assert CANARY not in repr(config)
