"""Measured on other people's pages and markup, where a checkout has them beside it."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import pytest

from pricecrawl.cli.batch import decode
from pricecrawl.cli.extract import answer
from pricecrawl.cli.output import plain
from tests.score import score
from tests.shared import needs_shared, rows, shared

pytestmark = needs_shared


def test_every_product_page_is_right_and_none_is_wrong_in_silence() -> None:
    verdicts = score(shared("corpora/pages/cases.jsonl"), "page")
    assert len(verdicts) >= 29
    assert [v.identity for v in verdicts if not v.right] == []


@pytest.mark.parametrize(
    "area",
    ["json_ld", "microdata_og", "wrong_price", "availability", "encoding", "timezone", "page_gone", "feed"],
)
def test_every_reported_fault_is_right(area: str) -> None:
    verdicts = score(shared("cases/cases.jsonl"), area)
    assert verdicts
    assert [(v.identity, v.wrong, v.error) for v in verdicts if not v.right] == []


def number(value: Any) -> Decimal | None:
    try:
        return Decimal(str(value).lstrip("$"))
    except InvalidOperation:
        return None


def test_every_offer_of_the_vocabulary_s_examples_is_among_the_candidates() -> None:
    path = shared("corpora/schemaorg_offers.jsonl")
    missing = []
    count = 0
    for row in rows("corpora/schemaorg_offers.jsonl"):
        count += 1
        found = plain(answer(decode(row["input"], Path(path).parent)))
        seen = {(number(c["amount"]), c["currency"]) for c in found["candidates"]}
        currency = row["offers"].get("priceCurrency")
        for key in ("price", "lowPrice", "highPrice"):
            wanted = row["offers"].get(key)
            if wanted is None:
                continue
            amounts = {amount for amount, code in seen if currency in (None, code)}
            if number(wanted) not in amounts:
                missing.append((row["id"], key, wanted))
        state = row["offers"].get("availability", "").lower()
        if state and state not in json.dumps(found["stock"]).lower():
            missing.append((row["id"], "availability", state))
    assert count == 108
    assert missing == []


def test_feeds_give_every_item_with_its_price() -> None:
    for row in rows("corpora/pages/index.jsonl"):
        if row["kind"] != "feed":
            continue
        body = shared(f"corpora/pages/{row['file']}").read_text(encoding="utf-8")
        given = decode({"kind": "feed_json", "content": body, "url": "https://shop.example/api"}, Path())
        found = plain(answer(given))
        prices = sorted(Decimal(item["price"]) for item in found["items"] if item["price"])
        expected = [Decimal(item["price"]) for item in row["expected"]["items"] if number(item.get("price"))]
        assert prices == sorted(expected), row["file"]
