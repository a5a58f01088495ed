from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from pricecrawl.db.catalogue import CatalogueStore
from pricecrawl.db.tables import audit_event, sku, sku_cost, sku_identifier
from pricecrawl.domain.errors import ProblemsFound
from pricecrawl.workflows import catalogue
from tests.factories import NOON
from tests.workflows.street import COSTS, GTIN, NOW, SKUS, Street


def test_a_row_becomes_a_sku_with_its_identifiers_and_content(street: Street) -> None:
    text = (
        "sku;name;currency;gtin;mpn;size;pack;current_price;protected\n"
        f"K-9;Limo;EUR;{GTIN};BK-1/0;6 x 330 ml;6;5,94;ja\n"
    )
    done = catalogue.import_skus(CatalogueStore(street.engine), street.file(text), now=NOON, by="ann")
    assert (done.rows, done.added, done.changed) == (1, 1, 0)
    (row,) = street.rows(sku)
    assert (row.pack, row.base_quantity, row.base_unit) == (6, Decimal(1980), "ml")
    assert (row.current_price, row.protected, row.tier, row.tax_basis) == (Decimal("5.94"), True, "B", "incl")
    kinds = {(item.kind, item.value) for item in street.rows(sku_identifier)}
    assert kinds == {("gtin", f"0{GTIN}"), ("mpn", "BK-1/0"), ("part", "bk10")}
    (told,) = street.rows(audit_event, aggregate="catalogue")
    assert told.payload["by"] == "ann"
    assert told.payload["rows"] == 1


def test_content_is_read_from_the_name_when_no_column_states_it(street: Street) -> None:
    text = "sku,name,currency\nA,Gin 50 cl,EUR\nB,Limo 6 x 330 ml,EUR\nC,Kettle,EUR\n"
    catalogue.import_skus(CatalogueStore(street.engine), street.file(text), now=NOON, by="ann")
    found = {row.sku: (row.pack, row.base_quantity) for row in street.rows(sku)}
    assert found == {"A": (1, Decimal(500)), "B": (6, Decimal(1980)), "C": (1, None)}


def test_a_second_file_changes_only_what_it_states(street: Street) -> None:
    street.catalogue(costs="")
    text = "sku,name,currency,current_price\nK-1,Brewster Kettle 1 l,EUR,21.00\n"
    done = catalogue.import_skus(CatalogueStore(street.engine), street.file(text), now=NOON, by="ann")
    assert (done.added, done.changed) == (0, 1)
    (row,) = street.rows(sku)
    assert (row.current_price, row.brand, row.category, row.country) == (
        Decimal("21.00"),
        "Brewster",
        "kettles",
        "DE",
    )
    assert len(street.rows(sku_identifier)) == 3


CRATE = "sku,name,currency,pack,size,current_price\nC,{},EUR,6,330 ml,5.94\n"


@pytest.mark.parametrize(
    ("first", "second", "content"),
    [
        # A file of prices leaves alone what another file said is sold together.
        (CRATE.format("Cola"), "sku,name,currency,current_price\nC,Cola,EUR,6.10\n", (6, 1980)),
        (CRATE.format("Cola 330 ml"), "sku,name,currency\nC,Cola Classic 330 ml,EUR\n", (6, 1980)),
        (CRATE.format("Cola"), "sku,name,currency,pack\nC,Cola,EUR,12\n", (12, 3960)),
        (CRATE.format("Cola"), "sku,name,currency,size\nC,Cola,EUR,330 ml\n", (6, 1980)),
        (CRATE.format("Cola"), "sku,name,currency,size\nC,Cola,EUR,4 x 500 ml\n", (4, 2000)),
        # What a file states counts, and so does a cell that it leaves blank.
        (CRATE.format("Cola"), "sku,name,currency,pack,size\nC,Cola,EUR,,\n", (1, None)),
        (CRATE.format("Cola"), "sku,name,currency,pack,size\nC,Cola,EUR,4,500 ml\n", (4, 2000)),
        # What was only read from the name follows the name.
        ("sku,name,currency\nC,Cola 330 ml,EUR\n", "sku,name,currency\nC,Cola 500 ml,EUR\n", (1, 500)),
        ("sku,name,currency\nC,Cola 6 x 330 ml,EUR\n", "sku,name,currency\nC,Cola,EUR\n", (1, None)),
    ],
)
def test_a_file_without_a_column_leaves_the_content(
    street: Street, first: str, second: str, content: tuple[int, int | None]
) -> None:
    store = CatalogueStore(street.engine)
    catalogue.import_skus(store, street.file(first), now=NOON, by="ann")
    catalogue.import_skus(store, street.file(second), now=NOON, by="ann")
    (row,) = street.rows(sku)
    assert (row.pack, row.base_quantity) == content


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("sku,name,currency\nK-1,Kettle,USD\n", "currency"),
        ("sku,name,currency,tax_basis\nK-1,Kettle,EUR,excl\n", "tax_basis"),
        ("sku,name,currency,tax_basis\nK-1,Kettle,USD,excl\n", "currency"),
    ],
)
def test_a_price_is_not_called_by_another_currency_or_tax_basis(
    street: Street, text: str, column: str
) -> None:
    street.catalogue()
    store = CatalogueStore(street.engine)
    with pytest.raises(ProblemsFound, match=rf"line 2, column {column}: the price of 'K-1' is 20\.50 EUR"):
        catalogue.import_skus(store, street.file(text), now=NOON, by="ann")
    (row,) = street.rows(sku)
    assert (row.name, row.currency, row.tax_basis) == ("Brewster Kettle 1 l", "EUR", "incl")
    for price in ("22.00", ""):
        told = text.replace("\nK-1", ",current_price\nK-1").rstrip() + f",{price}\n"
        catalogue.import_skus(store, street.file(told), now=NOON, by="ann")
        (row,) = street.rows(sku)
        assert row.current_price == (Decimal(price) if price else None)


def test_what_a_blank_cell_takes_away_is_said(street: Street) -> None:
    store = CatalogueStore(street.engine)
    head = "sku,name,currency,current_price,protected,active\n"
    full = street.file(f"{head}A,Tea,EUR,5.00,yes,no\nB,Tea,EUR,5.00,yes,yes\nC,Tea,EUR,,no,yes\n")
    assert catalogue.import_skus(store, full, now=NOON, by="ann").notes == ()
    blank = street.file(f"{head}A,Tea,EUR,,,\nB,Tea,EUR,5.00,no,\nC,Tea,EUR,,,\nD,Tea,EUR,,,\n")
    assert catalogue.import_skus(store, blank, now=NOON, by="ann").notes == (
        "1 SKUs were protected and are not any more, for the file leaves it blank: A",
        "1 SKUs were not active and are now, for the file leaves it blank: A",
        "1 SKUs had a current price and have none now, for the file leaves it blank: A",
    )


def test_costs_do_not_hold_on_another_tax_basis(street: Street) -> None:
    """A floor of 11.50 before tax is none of 11.50 with it."""
    street.catalogue()
    store = CatalogueStore(street.engine)
    coming = street.file("sku,cogs,valid_from\nK-1,9.00,2027-01-01\n", "coming.csv")
    catalogue.import_costs(store, coming, now=NOON, by="ann")
    net = street.file("sku,name,currency,tax_basis,current_price\nK-1,Kettle,EUR,excl,17.00\n")
    done = catalogue.import_skus(store, net, now=NOON, by="ann")
    assert "1 SKUs change their tax basis" in done.notes[0]
    street.observe("20.00", at=NOON)
    street.match()
    street.price()
    assert "cost_stale" in {finding["code"] for finding in street.decision().findings}
    assert [row.valid_to for row in street.rows(sku_cost)] == [NOON, datetime(2027, 1, 1, tzinfo=UTC)]
    again = catalogue.import_skus(store, net, now=NOON, by="ann")
    assert again.notes == ()
    anew = street.file("sku,cogs,valid_from\nK-1,9.50,2026-03-01\n", "anew.csv")
    catalogue.import_costs(store, anew, now=NOON, by="ann")
    assert [row.valid_to for row in street.rows(sku_cost, cogs=Decimal("9.50"))] == [None]
    street.price(now=NOW + timedelta(minutes=1))
    assert "cost_stale" not in {finding["code"] for finding in street.decision().findings}


@pytest.mark.parametrize("cell", ["$12.50", "USD 12.50", "12.50 £", "ABC 12.50"])
def test_an_amount_in_another_currency_is_a_mistake(street: Street, cell: str) -> None:
    store = CatalogueStore(street.engine)
    path = street.file(f"sku,name,currency,current_price\nA,Tea,EUR,{cell}\n")
    with pytest.raises(ProblemsFound, match="is not in EUR"):
        catalogue.import_skus(store, path, now=NOON, by="ann")
    street.catalogue(costs="")
    with pytest.raises(ProblemsFound, match="is not in EUR"):
        catalogue.import_costs(store, street.file(f"sku,cogs\nK-1,{cell}\n"), now=NOON, by="ann")


@pytest.mark.parametrize(
    ("currency", "cell"), [("EUR", "€12.50"), ("EUR", "12.50 EUR"), ("CAD", "$12.50"), ("GBP", "£ 12.50")]
)
def test_an_amount_may_name_its_own_currency(street: Street, currency: str, cell: str) -> None:
    path = street.file(f"sku,name,currency,current_price\nA,Tea,{currency},{cell}\n")
    catalogue.import_skus(CatalogueStore(street.engine), path, now=NOON, by="ann")
    assert street.rows(sku)[0].current_price == Decimal("12.50")


@pytest.mark.parametrize(
    "cell", ["9 521234 500001", f"{GTIN} 9521234500018", f"{GTIN}|9521234500018", f'"{GTIN}, 9521234500018"']
)
def test_a_cell_has_one_gtin_as_printed_or_several(street: Street, cell: str) -> None:
    path = street.file(f"sku,name,currency,gtin\nA,Tea,EUR,{cell}\n")
    catalogue.import_skus(CatalogueStore(street.engine), path, now=NOON, by="ann")
    found = [row.value for row in street.rows(sku_identifier)]
    assert found == [f"0{GTIN}", "09521234500018"][: len(found)]
    assert len(found) == (2 if "018" in cell else 1)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("A,Tee,EUR,,,x", "line 2, column current_price: 'x' is no number"),
        ("A,Tee,EUR,,,-1", "line 2, column current_price: '-1' must be more than 0"),
        ("A,Tee,EUR,,,0", "line 2, column current_price: '0' must be more than 0"),
        ("A,Tee,EUR,,,1.005", "finer than 0.01, the smallest step of EUR"),
        ("A,Tee,JPY,,,10.5", "finer than 1, the smallest step of JPY"),
        ("A,Tee,ZZZ,,,1", "line 2, column currency: 'ZZZ' is no currency code"),
        ("A,Tee,,,,1", "line 2, column currency: the value is missing"),
        (",Tee,EUR,,,1", "line 2, column sku: the value is missing"),
        ("A,,EUR,,,1", "line 2, column name: the value is missing"),
        ("A,Tee,EUR,9521234500008,,1", "line 2, column gtin: '9521234500008' is no GTIN"),
        ("A,Tee,EUR,9.52123E+12,,1", "shortened by a spreadsheet"),
        ("A,Tee,EUR,,1.5,1", "line 2, column pack: '1.5' is no number of units"),
        ("A,Tee,EUR,,1,1\nA,Tee,EUR,,1,1", "line 3, column sku: 'A' is already on line 2"),
    ],
)
def test_a_wrong_line_is_named_and_nothing_is_imported(street: Street, line: str, message: str) -> None:
    path = street.file(f"sku,name,currency,gtin,pack,current_price\n{line}\nB,Good,EUR,,,2.00\n")
    with pytest.raises(ProblemsFound) as caught:
        catalogue.import_skus(CatalogueStore(street.engine), path, now=NOON, by="ann")
    assert message in str(caught.value)
    assert "Nothing was imported" in str(caught.value)
    assert caught.value.exit_code == 4
    assert street.rows(sku) == []
    assert street.rows(audit_event) == []


def test_every_mistake_of_a_file_is_said_at_once(street: Street) -> None:
    lines = "\n".join(f"S-{n},Tee,EUR,-1" for n in range(30))
    path = street.file(f"sku,name,currency,current_price\n{lines}\n")
    with pytest.raises(ProblemsFound) as caught:
        catalogue.import_skus(CatalogueStore(street.engine), path, now=NOON, by="ann")
    assert str(caught.value).count("must be more than 0") == 20
    assert "and 10 more" in str(caught.value)


def test_a_number_for_use_within_one_shop_is_said_and_not_kept(street: Street) -> None:
    text = "sku,name,currency,gtin\nA,Cheese,EUR,2012345000001\n"
    done = catalogue.import_skus(CatalogueStore(street.engine), street.file(text), now=NOON, by="ann")
    assert street.rows(sku_identifier) == []
    assert any("within one shop" in note for note in done.notes)


@pytest.mark.parametrize(("cell", "tier"), [("a", "A"), ("A", "A"), ("", "B"), ("night", "night")])
def test_a_tier_is_its_letter_in_any_case(street: Street, cell: str, tier: str) -> None:
    path = street.file(f"sku,name,currency,tier\nA,Tea,EUR,{cell}\n")
    catalogue.import_skus(CatalogueStore(street.engine), path, now=NOON, by="ann")
    assert street.rows(sku)[0].tier == tier


def test_prices_are_before_tax_where_the_till_adds_it(street: Street) -> None:
    text = "sku,name,currency,country\nA,Tea,USD,US\nB,Tee,EUR,DE\n"
    catalogue.import_skus(CatalogueStore(street.engine), street.file(text), now=NOON, by="ann")
    assert {row.sku: row.tax_basis for row in street.rows(sku)} == {"A": "excl", "B": "incl"}


def test_a_later_cost_ends_the_one_before(street: Street) -> None:
    street.catalogue()
    text = "sku,cogs,valid_from\nK-1,11.00,2026-04-01\nK-1,12.00,2026-05-01\n"
    done = catalogue.import_costs(CatalogueStore(street.engine), street.file(text), now=NOON, by="ann")
    assert (done.added, done.changed) == (2, 0)
    april, may = datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC)
    found = sorted((row.valid_from, row.valid_to, row.cogs) for row in street.rows(sku_cost))
    assert [(start, end) for start, end, _ in found][1:] == [(april, may), (may, None)]
    assert found[0][1] == april


@pytest.mark.parametrize("again", [False, True])
def test_an_earlier_cost_that_comes_late_ends_where_the_next_one_starts(street: Street, again: bool) -> None:
    """Else it would be in force again, years later, once the one after it has ended."""
    first = "sku,cogs,valid_from,valid_to\n"
    spring = f"{first}K-1,8.00,2026-01-01,\n" if again else ""
    street.catalogue(costs=spring + ("" if again else first) + "K-1,10.00,2026-02-01,2026-03-01\n")
    store = CatalogueStore(street.engine)
    late = street.file(f"{first}K-1,7.00,2026-01-01,\n", "late.csv")
    done = catalogue.import_costs(store, late, now=NOON, by="ann")
    assert (done.added, done.changed) == ((0, 1) if again else (1, 0))
    january, february, march = (datetime(2026, month, 1, tzinfo=UTC) for month in (1, 2, 3))
    found = sorted((row.valid_from, row.valid_to, row.cogs) for row in street.rows(sku_cost))
    assert found == [(january, february, Decimal("7.00")), (february, march, Decimal("10.00"))]


def test_what_a_file_has_no_column_for_stays(street: Street) -> None:
    """A weekly file of purchase prices must not lift the maker's minimum, nor make delivery free."""
    full = "sku,cogs,fulfilment,payment,map_price,regulatory_floor,map_required,valid_from\n"
    street.catalogue(costs=f"{full}K-1,10.00,1.00,0.50,18.00,12.00,yes,2026-01-01\n")
    store = CatalogueStore(street.engine)
    weekly = street.file("sku,cogs,valid_from\nK-1,9.00,2026-02-01\nK-1,8.00,2026-03-01\n", "weekly.csv")
    done = catalogue.import_costs(store, weekly, now=NOON, by="ann")
    assert (done.added, done.notes) == (2, ())
    for row, cogs in zip(street.rows(sku_cost), ("10.00", "9.00", "8.00"), strict=True):
        assert (row.cogs, row.fulfilment, row.payment) == (Decimal(cogs), Decimal("1.00"), Decimal("0.50"))
        assert (row.map_price, row.regulatory_floor, row.map_required) == (
            Decimal("18.00"), Decimal("12.00"), True
        )  # fmt: skip
    # The same day again, and a cell that is there and blank: taken at its word, and said.
    blank = street.file("sku,cogs,map_price,valid_from\nK-1,8.00,,2026-03-01\n", "blank.csv")
    done = catalogue.import_costs(store, blank, now=NOON, by="ann")
    assert done.changed == 1
    assert "1 SKUs had a minimum advertised or regulatory price and have none now" in done.notes[0]
    last = street.rows(sku_cost)[-1]
    assert (last.map_price, last.regulatory_floor, last.map_required) == (None, Decimal("12.00"), True)


def test_the_same_day_again_replaces_and_confirms_the_cost(street: Street) -> None:
    street.catalogue()
    later = NOON + timedelta(days=30)
    text = COSTS.replace("10.00", "10.50")
    done = catalogue.import_costs(CatalogueStore(street.engine), street.file(text), now=later, by="ann")
    assert (done.added, done.changed) == (0, 1)
    (row,) = street.rows(sku_cost)
    assert (row.cogs, row.imported_at) == (Decimal("10.50"), later)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("K-1,-1,,", "line 2, column cogs: '-1' must be more than 0"),
        ("K-1,0,,", "line 2, column cogs: '0' must be more than 0"),
        ("K-1,,,", "line 2, column cogs: the value is missing"),
        ("X-1,1.00,,", "line 2, column sku: 'X-1' is not in the catalogue"),
        ("K-1,1.00,USD,", "line 2, column currency: USD is not the SKU's currency, which is EUR"),
        ("K-1,1.00,,01/02/2026", "line 2, column valid_from: '01/02/2026' is no date"),
        ("K-1,1.00,,2026-01-01\nK-1,2.00,,2026-01-01", "line 3, column valid_from: 'K-1' has a cost"),
        ('K-1,"1,299",,', "line 2, column cogs: '1,299' can be read in two ways"),
    ],
)
def test_a_wrong_cost_is_named_and_nothing_is_imported(street: Street, line: str, message: str) -> None:
    street.catalogue(SKUS, "")
    path = street.file(f"sku,cogs,currency,valid_from\n{line}\n")
    with pytest.raises(ProblemsFound) as caught:
        catalogue.import_costs(CatalogueStore(street.engine), path, now=NOON, by="ann")
    assert message in str(caught.value)
    assert street.rows(sku_cost) == []
