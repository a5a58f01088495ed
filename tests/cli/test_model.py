"""`pricecrawl model` against a chat server on loopback and a shop that was really crawled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import web
from sqlalchemy import Engine

from pricecrawl.db import tables
from pricecrawl.gateway.prompts import RULE_CATEGORIES
from tests.cli.test_replay_and_selectors import command
from tests.crawl.fixtures import db, home
from tests.crawl.whole import FeedShop, crawl, everything, row
from tests.gateway.test_gateway import CANARY, Server, chat, server

__all__ = ["db", "home", "server"]

SHOWN = (
    '<html lang=de><head><script type="application/ld+json">{"@type":"Product","name":"Kettle","sku":"K",'
    '"offers":{"@type":"Offer","price":"29.90","priceCurrency":"EUR","availability":"InStock"}}</script></head>'
    "<body><main><h1>Kettle</h1><p class=price>29,90 €</p><button name=add>In den Warenkorb</button></main>"
)


def crawled(html: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        async with FeedShop() as shop:
            shop.special["/kettle"] = lambda _: web.Response(text=html, content_type="text/html")
            data = row(shop, product_urls=["kettle"])
            await crawl(data, "retailer")
            (folder / "rows").mkdir()
            (folder / "rows" / "retailer.toml").write_text(
                f'[[source]]\nslug = "kettles"\nretailer = "Kettles"\nbase_url = "{shop.origin}/"\n'
                'country = "DE"\ncurrency = "EUR"\nproduct_urls = ["kettle"]\n',
                encoding="utf-8",
            )

    asyncio.run(story())
    monkeypatch.setenv("PRICECRAWL_SOURCES", str(folder / "rows"))


@pytest.fixture
def on(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name, value in {
        "URL": server.url, "MODEL": "tiny", "KEY": CANARY, "AUTO_MAPPING": "1", "VERIFICATION": "1",
        "INPUT_PRICE": "0.5", "OUTPUT_PRICE": "2",
    }.items():  # fmt: skip
        monkeypatch.setenv(f"PRICECRAWL_AI_{name}", value)
    return server


def test_without_a_model_the_commands_say_so(
    db: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    crawled(SHOWN, tmp_path, monkeypatch)
    for name in ("suggest", "verify"):
        code, _, err = command(capsys, "model", name, "kettles")
        assert code == 2
        assert "No model is switched on" in err
    assert everything(db, tables.model_call) == []
    code, out, _ = command(capsys, "model", "usage")
    assert (code, "no model was ever asked" in out) == (0, True)


def test_a_shop_without_rules_and_price_gets_suggestions(
    db: Engine,
    on: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    crawled(
        "<html><body><main><h1>Kettle</h1><p id=stock>In stock</p></main></body></html>",
        tmp_path,
        monkeypatch,
    )
    on.script = [
        (200, chat({name: [] for name in RULE_CATEGORIES} | {"name": ["h1"], "price": [".nowhere"]}))
    ]
    code, out, _ = command(capsys, "model", "suggest", "kettles", "--json")
    found = json.loads(out)
    assert code == 0
    (item,) = found
    assert (item["asked"], item["rules"], item["candidates"]) == (True, {"name": ["h1"]}, [])
    assert any(".nowhere" in sentence or "matches nothing" in sentence for sentence in item["trace"])
    (call,) = everything(db, tables.model_call)
    assert (call.purpose, call.outcome) == ("auto_mapping", "ok")
    assert everything(db, tables.learned_selector) == []


def test_a_price_that_was_found_needs_no_mapping(
    db: Engine,
    on: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    crawled(SHOWN, tmp_path, monkeypatch)
    _, out, _ = command(capsys, "model", "suggest", "kettles")
    assert "not asked (a standard price was found)" in out
    assert on.requests == []


def test_a_disagreement_opens_a_review_and_is_asked_once(
    db: Engine,
    on: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    crawled(SHOWN, tmp_path, monkeypatch)
    on.script = [(200, chat({"agrees": False, "price_text": "19,90 €", "reason": "x"}))]
    _, out, _ = command(capsys, "model", "verify", "kettles", "--by", "ann", "--json")
    (said,) = json.loads(out)
    assert (said["asked"], said["status"]) == (True, "corrected")
    first, doubted = everything(db, tables.observation)
    assert (first.needs_review, doubted.needs_review, doubted.review_reasons) == (
        False,
        True,
        ["ai_disagrees"],
    )
    assert (doubted.price, doubted.evidence_id) == (first.price, first.evidence_id)
    (review,) = everything(db, tables.candidate_review)
    assert (review.status, review.reasons) == ("open", ["ai_disagrees"])
    (listing,) = everything(db, tables.listing)
    assert listing.price == first.price
    (call,) = everything(db, tables.model_call)
    assert (call.purpose, call.outcome, call.source) == ("verification", "ok", "kettles")
    assert CANARY not in out + repr(call)


def test_an_agreement_is_remembered(
    db: Engine,
    on: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    crawled(SHOWN, tmp_path, monkeypatch)
    on.script = [(200, chat({"agrees": True, "price_text": None, "reason": ""}))]
    _, out, _ = command(capsys, "model", "verify", "kettles")
    assert "asked (a price that nobody checked yet), verified" in out
    _, out, _ = command(capsys, "model", "verify", "kettles")
    assert "not asked (the price is verified already)" in out
    assert len(everything(db, tables.model_call)) == 1
    assert len(everything(db, tables.observation)) == 1
    _, out, _ = command(capsys, "model", "usage", "--json")
    assert [(u["model"], u["calls"], u["cost"]) for u in json.loads(out)] == [("tiny", 1, "0.000760")]
