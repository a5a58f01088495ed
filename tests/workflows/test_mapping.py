from __future__ import annotations

from datetime import timedelta

from pricecrawl.db.mappings import MappingStore
from pricecrawl.db.reviews import ReviewStore
from pricecrawl.db.tables import mapping
from pricecrawl.workflows import mapping as matching
from pricecrawl.workflows import review
from tests.factories import NOON
from tests.workflows.street import NOW, Street


def statuses(street: Street) -> list[str]:
    return [row.status for row in street.rows(mapping)]


def test_running_twice_changes_nothing_and_leaves_no_further_event(street: Street) -> None:
    street.catalogue()
    street.observe("20.00")
    street.match()
    again = street.match(now=NOW + timedelta(minutes=1))
    assert (again.added, again.changed) == ({}, {})
    assert street.events(f"mapping:{street.rows(mapping)[0].id}") == ["mapping.evaluated"]


def test_a_listing_that_changes_what_it_is_goes_back_to_review(street: Street) -> None:
    street.catalogue()
    street.observe("20.00")
    street.match()
    street.observe("20.00", pack=6, at=NOON + timedelta(hours=1))
    assert street.match(now=NOW + timedelta(hours=1)).changed == {"REVIEW_REQUIRED": 1}
    street.observe("20.00", pack=1, at=NOON + timedelta(hours=2))
    assert street.match(now=NOW + timedelta(hours=2)).changed == {"AUTO_ACCEPTED": 1}


def test_a_listing_that_loses_the_number_goes_back_to_review(street: Street) -> None:
    street.catalogue()
    street.observe("20.00")
    street.match()
    street.observe("20.00", gtin="09521234500018", at=NOON + timedelta(hours=1))
    street.match(now=NOW + timedelta(hours=1))
    assert statuses(street) == ["REVIEW_REQUIRED"]


def test_what_a_person_decided_stays_until_something_new_speaks_against_it(street: Street) -> None:
    street.catalogue()
    street.observe("20.00", pack=6)
    street.match()
    reviews = ReviewStore(street.engine)
    number = street.rows(mapping)[0].id
    review.approve(reviews, f"mapping:{number}", by="ann", reason="sold singly", now=NOW)
    street.match(now=NOW + timedelta(minutes=1))
    assert statuses(street) == ["HUMAN_ACCEPTED"]
    street.observe("20.00", pack=6, brand="Other", at=NOON + timedelta(hours=1))
    street.match(now=NOW + timedelta(hours=1))
    assert statuses(street) == ["REVIEW_REQUIRED"]
    review.reject(reviews, f"mapping:{number}", by="ann", reason="no", now=NOW + timedelta(hours=1))
    street.observe("20.00", at=NOON + timedelta(hours=2))
    street.match(now=NOW + timedelta(hours=2))
    assert statuses(street) == ["REJECTED"]


def test_part_numbers_find_their_sku_in_any_spelling(street: Street) -> None:
    street.catalogue()
    street.observe("20.00", gtin=None, mpn="bk 100")
    assert street.match().added == {"AUTO_ACCEPTED": 1}
    (row,) = street.rows(mapping)
    assert row.method == "brand_mpn_exact"


def test_one_source_alone_can_be_matched(street: Street) -> None:
    street.catalogue()
    street.observe("20.00")
    street.observe("20.00", source="mugs")
    store = MappingStore(street.engine)
    assert matching.run(store, now=NOW, source="mugs").listings == 1
    assert matching.run(store, now=NOW).listings == 2
