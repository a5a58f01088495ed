"""One page or feed answered whole: what it is, its price by consensus, its stock, its facts, and why.

This is what `pricecrawl extract` prints and what the case files are scored on. Pure: nothing is fetched.
"""

from __future__ import annotations

from typing import Any

from pricecrawl.domain.availability import Availability
from pricecrawl.domain.challenge import Classification, PageKind, ResponseFacts, classify
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.facts import Facts, moment, zone
from pricecrawl.extraction.feeds import answer_feed
from pricecrawl.extraction.listing_answer import answer_listing, empty_answer
from pricecrawl.extraction.reader import read_page


def answer_page(facts: Facts) -> dict[str, Any]:
    """Everything that one page or feed says, JSON-ready but for amounts, which are Decimals."""
    if _is_feed(facts):
        return answer_feed(facts)
    body = facts.body
    is_data = facts.kind == "json_ld" or _is_json_ld(body)
    if is_data:
        # A JSON-LD body alone: its page is nothing but the script.
        body = (
            b'<html><head><script type="application/ld+json">'
            + body.replace(b"</", b"<\\/")
            + b"</script></head></html>"
        )
    response = ResponseFacts(facts.status, facts.headers, body, facts.url, facts.final_url)
    found = classify(response) if not is_data else Classification(PageKind.PAGE, False, None, "json-ld")
    if found.page in (PageKind.GONE, PageKind.UNAVAILABLE):
        return _nothing(found)
    document = Document.from_bytes(
        body,
        url=facts.url,
        final_url=facts.final_url,
        status=facts.status,
        headers=facts.headers,
        locale=facts.locale,
    )
    reading = read_page(
        document,
        rules=facts.rules,
        market=facts.market,
        now=moment(facts.observed_at),
        zone=zone(facts.zone),
        explain=True,
    )
    if found.page is PageKind.CHALLENGE:
        if not (reading.is_product and reading.listing.prices and _is_success(facts.status)):
            return _nothing(found)
        found = classify(response, credible_price=True)
    answer = answer_listing(
        reading.listing,
        market=reading.market,
        given=facts.market,
        reading=reading,
        bare=is_data,
    )
    answer["page"] = "product"
    answer["rule"] = found.rule
    answer["trace"] = [f"The response is the page ({found.rule}).", *answer["trace"]]
    return answer


def _is_json_ld(body: bytes) -> bool:
    """A body that is a JSON-LD document itself, as some shops answer to those who ask for it."""
    head = body[:400].lstrip(b"\xef\xbb\xbf \t\r\n")
    return head[:1] in (b"{", b"[") and (b'"@context"' in head or b'"@type"' in head)


def _is_success(status: int | None) -> bool:
    return status is None or status < 300


def _is_feed(facts: Facts) -> bool:
    if facts.kind == "feed_json" or facts.platform:
        return True
    kind = next((value for name, value in facts.headers.items() if name.lower() == "content-type"), "")
    if "json" in kind.lower() and "ld+json" not in kind.lower() and facts.kind != "json_ld":
        return True
    head = facts.body[:200].lstrip(b"\xef\xbb\xbf \t\r\n")
    return facts.kind == "" and head[:1] in (b"{", b"[") and not _is_json_ld(facts.body)


def _nothing(found: Classification) -> dict[str, Any]:
    """The answer for a response that is no product page."""
    gone = found.page is PageKind.GONE
    answer = empty_answer()
    answer["availability"] = Availability.NOT_AVAILABLE if gone else Availability.UNKNOWN
    answer["page"] = found.page.value
    answer["rule"] = found.rule
    answer["vendor"] = found.vendor
    answer["trace"] = [
        f"The response is no product page: {found.page.value} by rule {found.rule}; nothing is read from it."
    ]
    return answer
