"""Whole pages in the manner of many shop systems and countries, each answered as a user would see it."""

from __future__ import annotations

import pytest

from tests.extraction.pages import Page, answered, differences, written

SHOPS = written()
PAGES = [*SHOPS, *written("hard_pages.txt")]


def test_there_are_many_and_each_has_its_own_label() -> None:
    assert len(PAGES) >= 125
    assert len({page.label for page in PAGES}) == len(PAGES)


@pytest.mark.parametrize("page", PAGES, ids=[page.label for page in PAGES])
def test_a_page_is_read_right(page: Page) -> None:
    found = answered(page.body, url=page.url, locale=page.locale, now=page.now)
    assert differences(page.expected, found) == {}, found["trace"]


@pytest.mark.parametrize("page", SHOPS, ids=[page.label for page in SHOPS])
def test_every_choice_is_told_in_sentences(page: Page) -> None:
    found = answered(page.body, url=page.url, locale=page.locale)
    assert found["trace"]
    for sentence in found["trace"]:
        assert sentence.endswith(".")
        assert sentence[0].isupper() or sentence[0].isdigit()
    for candidate in found["candidates"]:
        assert {
            "kind",
            "amount",
            "currency",
            "method",
            "selector",
            "confidence",
            "weight",
            "tier",
        } <= candidate.keys()
