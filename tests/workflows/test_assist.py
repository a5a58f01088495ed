"""When a model is asked about stored pages."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from pricecrawl.db.replay import StoredPage
from pricecrawl.domain.listing import RawListing
from pricecrawl.domain.market import Market
from pricecrawl.domain.observation import EvidenceRef
from pricecrawl.evidence.store import StoredResponse
from pricecrawl.gateway.calls import ModelCall, Purpose
from pricecrawl.gateway.gateway import Gateway
from pricecrawl.gateway.prompts import RULE_CATEGORIES
from pricecrawl.gateway.providers import MockProvider
from pricecrawl.gateway.triggers import ShopConfig
from pricecrawl.workflows.assist import Item, suggest

URL = "https://kettles.example/p/1"
BODY = b"<html><body><main><h1>Kettle</h1><b class=now>29,90</b></main></body></html>"


class Notes(list[ModelCall]):
    def record(self, call: ModelCall) -> None:
        self.append(call)


@pytest.mark.parametrize(
    ("status", "asked", "reason"),
    [(200, True, "healthy"), (404, False, "gone for certain"), (403, False, "challenge")],
)
def test_only_a_healthy_page_is_mapped(status: int, asked: bool, reason: str) -> None:
    ref = EvidenceRef("sha256:0", "x.warc.gz", 0, 1, URL, datetime(2026, 3, 1, tzinfo=UTC))
    stored = StoredResponse(URL, status, {"content-type": "text/html"}, BODY, ref.fetched_at, ref.digest)
    item = Item(
        StoredPage("kettles", ref, ()), stored, RawListing("1", URL, name="Kettle"), Market("DE", "EUR")
    )
    answer = json.dumps({name: [] for name in RULE_CATEGORIES})
    notes = Notes()
    gateway = Gateway(MockProvider({Purpose.AUTO_MAPPING: answer}), notes)
    (found,) = suggest(gateway, [item], config=ShopConfig(), version="1")
    assert (found.verdict.ask, bool(notes)) == (asked, asked)
    assert reason in found.verdict.reason
