from __future__ import annotations

from decimal import Decimal

import pytest

from pricecrawl.domain.mapping import MappingMethod, MappingStatus
from pricecrawl.domain.offer import Content
from pricecrawl.matching.gtin import Index, Product, contradictions, match_exact, part_key

OURS = Product(
    key="K-1",
    name="Aster Orange Blossom Eau de Parfum 50 ml",
    brand="Aster",
    gtins=frozenset({"09521234500001"}),
    mpns=frozenset({"AB-12/3"}),
    content=Content(1, Decimal(50), "ml"),
)


def listing(**changes: object) -> Product:
    values: dict[str, object] = {
        "key": "1",
        "name": "Orange Blossom EdP 50ml",
        "brand": "ASTER",
        "gtins": frozenset({"09521234500001"}),
        "content": Content(1, Decimal(50), "ml"),
    }
    return Product(**(values | changes))  # type: ignore[arg-type]


def the_match(seen: Product, *skus: Product) -> tuple[MappingStatus, MappingMethod]:
    (match,) = match_exact(seen, Index.of(skus or (OURS,)))
    return match.status, match.method


def test_a_gtin_that_nothing_contradicts_is_accepted() -> None:
    assert the_match(listing()) == (MappingStatus.AUTO_ACCEPTED, MappingMethod.GTIN_EXACT)


def test_no_identifier_in_common_is_no_match() -> None:
    assert match_exact(listing(gtins=frozenset({"09521234500018"})), Index.of([OURS])) == ()
    assert match_exact(listing(gtins=frozenset()), Index.of([OURS])) == ()


def test_brand_and_part_number_match_without_a_gtin_in_any_spelling() -> None:
    seen = listing(gtins=frozenset(), mpns=frozenset({"ab 123"}))
    assert the_match(seen) == (MappingStatus.AUTO_ACCEPTED, MappingMethod.BRAND_MPN_EXACT)


@pytest.mark.parametrize("changes", [{"brand": ""}, {"brand": "Other"}, {"mpns": frozenset({"12"})}])
def test_a_part_number_alone_or_a_short_one_is_no_identity(changes: dict[str, object]) -> None:
    base: dict[str, object] = {"gtins": frozenset(), "mpns": frozenset({"AB-12/3"})}
    assert match_exact(listing(**(base | changes)), Index.of([OURS])) == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"content": Content(6, Decimal(300), "ml")},
        {"content": Content(1, Decimal(30), "ml")},
        {"content": Content(1, Decimal(50), "g")},
        {"brand": "Molen"},
        {"name": "Orange Blossom EdP 50ml TESTER"},
        {"name": "Orange Blossom Refill 50ml"},
        {"name": "Orange Blossom Mini"},
        {"name": "Kupfer Wasserkessel", "brand": ""},
        {"name": "Aster Orange Blossom refurbished"},
    ],
)
def test_each_contradiction_sends_the_pair_to_a_person(changes: dict[str, object]) -> None:
    assert the_match(listing(**changes))[0] is MappingStatus.REVIEW_REQUIRED


@pytest.mark.parametrize(
    "changes",
    [
        {"brand": ""},
        {"brand": "Aster Parfums"},
        {"name": "Fleur d'oranger, eau de parfum"},  # another language, the brand agrees
        {"content": Content(1, Decimal("50.3"), "ml")},  # 1.7 fl oz
        {"content": Content()},
        {"name": "ÁSTER Orange-Blossom"},
    ],
)
def test_what_two_shops_may_say_differently_contradicts_nothing(changes: dict[str, object]) -> None:
    assert contradictions(listing(**changes), OURS) == ()


@pytest.mark.parametrize(
    ("theirs", "ours", "clash"),
    [
        ("Kettle red", "Kettle blue", True),
        ("Kettle red", "Kettle", False),
        ("Kettle rot", "Kettle rot", False),
        ("Shirt M", "Shirt L", True),
        ("Cologne for men", "Cologne women", True),
        ("Kettle tester", "Kettle tester", False),
    ],
)
def test_colours_fits_and_the_like_clash_only_where_both_sides_name_one(
    theirs: str, ours: str, clash: bool
) -> None:
    found = contradictions(Product("1", theirs, "A"), Product("S", ours, "A"))
    assert bool(found) is clash


def test_one_number_on_two_skus_is_nobodys_to_accept() -> None:
    twin = Product("K-2", OURS.name, OURS.brand, OURS.gtins, content=OURS.content)
    found = match_exact(listing(), Index.of([OURS, twin]))
    assert [match.sku for match in found] == ["K-1", "K-2"]
    assert {match.status for match in found} == {MappingStatus.REVIEW_REQUIRED}


def test_a_gtin_and_a_part_number_that_disagree_go_to_review() -> None:
    other = Product("K-2", "Aster Night Cream", "Aster", mpns=frozenset({"NC-77"}))
    found = match_exact(listing(mpns=frozenset({"NC77"})), Index.of([OURS, other]))
    assert [match.sku for match in found] == ["K-1"]
    assert any("K-2" in line for line in found[0].contradictions)


def test_part_numbers_are_compared_without_separators_and_case() -> None:
    assert part_key("AB-12/3") == part_key("ab 12.3") == "ab123"
