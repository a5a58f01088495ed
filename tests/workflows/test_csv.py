"""Files as people's programs write them; every mistake named by file, line and column."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricecrawl.domain.errors import PricecrawlError, ProblemsFound, UsageProblem
from pricecrawl.pricing.policy import read_policy
from pricecrawl.workflows.csv_input import CellProblem, flag, moment, read_sheet
from pricecrawl.workflows.csv_numbers import NumberStyle, number_style
from pricecrawl.workflows.times import since

TEXT = "sku,name,price\nW-1,Brühkaffee „Süd“,12.50\nW-2,Tee,3.20\n"


def read(path: Path) -> list[dict[str, str]]:
    sheet = read_sheet(path, required=["sku", "name"], optional=["price"], aliases={"our price": "price"})
    return [dict(row.values) for row in sheet.rows]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_way_to_write_a_table_reads_the_same(
    tmp_path: Path, delimiter: str, encoding: str, newline: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(TEXT.replace(",", delimiter).replace("\n", newline).encode(encoding))
    assert read(path) == [
        {"sku": "W-1", "name": "Brühkaffee „Süd“", "price": "12.50"},
        {"sku": "W-2", "name": "Tee", "price": "3.20"},
    ]


def test_a_spreadsheets_sep_line_names_the_delimiter_and_lines_still_count(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("sep=;\r\nSKU;Name;Our Price\r\nW-1;Tee;3,20\r\nW-2;Tee\r\n", encoding="utf-8")
    with pytest.raises(
        ProblemsFound, match=r"a\.csv, line 4, column Name: the line has 2 values for 3 columns"
    ):
        read(path)


@pytest.mark.parametrize("above", ["\n", "\r\n\r\n", "  \n\n", "\nsep=;\n"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_blank_lines_above_the_headings_hide_nothing(tmp_path: Path, above: str, delimiter: str) -> None:
    above = above.replace(";", delimiter)
    path = tmp_path / "a.csv"
    path.write_text(above + "sku,name\nW-1,Tee\nW-2\n".replace(",", delimiter), encoding="utf-8", newline="")
    with pytest.raises(
        ProblemsFound, match=rf"line {above.count(chr(10)) + 3}, column sku: the line has 1 values"
    ):
        read(path)


def test_headings_are_read_without_case_and_separators_and_others_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('" SKU ",NAME,Our-Price,Colour\n"W-1","a ""b"", c",1,red\n\n', encoding="utf-8")
    sheet = read_sheet(path, required=["sku", "name"], optional=["price"], aliases={"our price": "price"})
    assert sheet.ignored == ("Colour",)
    assert dict(sheet.rows[0].values) == {"sku": "W-1", "name": 'a "b", c', "price": "1"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"  \n ", "is empty"),
        (b"PK\x03\x04rest", "is a spreadsheet workbook"),
        (b"sku,name\n", "no line below them"),
        (b"sku,price\nW,1\n", "line 1: the column 'name' is missing (found: sku, price)"),
        (b"sku,name,SKU\nW,x,y\n", "two columns mean 'sku'"),
        (b'sku,name\nW,"open\n', "line 2: the quotes do not fit"),
        (b'sku,name\nW,"a"b\n', "line 2: the quotes do not fit"),
        (b"sku,name\nW,\x81\x8d\n", "is not text in UTF-8, UTF-16 or Windows-1252"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "is not text"),
    ],
)
def test_a_file_that_is_no_table_is_refused_with_one_sentence(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "broken.csv"
    path.write_bytes(content)
    with pytest.raises(UsageProblem) as caught:
        read(path)
    assert message in str(caught.value)
    assert "broken.csv" in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(UsageProblem, match="name an existing CSV file"):
            read(path)


def test_a_decimal_comma_that_splits_a_line_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("sku,name,price\nW-1,Tee,12,50\n", encoding="utf-8")
    with pytest.raises(ProblemsFound, match=r"line 2.*a decimal comma needs quotes") as caught:
        read(path)
    assert caught.value.exit_code == 4


@given(st.binary(max_size=300))
def test_no_bytes_make_it_raise_anything_but_a_sentence(data: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        path.write_bytes(data)
        with contextlib.suppress(PricecrawlError):
            read(path)


@pytest.mark.parametrize(
    ("numbers", "text", "amount"),
    [
        (["12.50"], "1,299.00", "1299.00"),
        (["12,50"], "1.299,00", "1299.00"),
        (["12,50"], "1.299", "1299"),
        (["12.50"], "1,299", "1299"),
        (["12.50"], "1.299", "1.299"),
        ([], "1'299.50", "1299.50"),
        ([], "1 299,50", "1299.50"),
        ([], "€ 12,50", "12.50"),
        ([], "12.50 EUR", "12.50"),
        ([], "-3", "-3"),
        ([], "0.125", "0.125"),
        ([], "7", "7"),
        ([], "1.299.000", "1299000"),
    ],
)
def test_numbers_are_read_in_the_style_of_their_file(numbers: list[str], text: str, amount: str) -> None:
    assert number_style([*numbers, text]).amount(text) == Decimal(amount)


@pytest.mark.parametrize("text", ["1,299", "1.299", "999,999"])
def test_a_number_that_could_be_thousands_or_decimals_is_asked_about(text: str) -> None:
    with pytest.raises(CellProblem, match="two ways"):
        number_style([text]).amount(text)
    assert number_style([text], told=",").amount("1,299") == Decimal("1.299")


@pytest.mark.parametrize("text", ["", "abc", "1,2,3", "12.5.0,1", "1e3", "NaN", "--1", "½", "1.29.00"])
def test_what_is_no_number_is_none(text: str) -> None:
    for mark in (None, ".", ","):
        with pytest.raises(CellProblem):
            NumberStyle(mark).amount(text)


def test_mixed_styles_in_one_file_are_refused_where_they_differ() -> None:
    style = number_style(["12.50", "13.50", "1,5"])
    with pytest.raises(CellProblem, match="another decimal mark"):
        style.amount("1,5")


def test_words_for_yes_and_no_and_dates() -> None:
    assert [flag(word) for word in ("Yes", "1", "ja", "NO", "0", "falsch")] == [True] * 3 + [False] * 3
    assert moment("2026-02-01") == moment("01.02.2026") == moment("2026-02-01T00:00+00:00")
    for wrong in ("01/02/2026", "31.02.2026", "tomorrow"):
        with pytest.raises(CellProblem, match="is no date"):
            moment(wrong)
    with pytest.raises(CellProblem, match="write yes or no"):
        flag("maybe")


@pytest.mark.parametrize("text", ["9999-12-31T23:59-05:00", "0001-01-01T00:00+05:00"])
def test_a_time_that_no_calendar_holds_is_no_date(text: str) -> None:
    with pytest.raises(CellProblem, match="is no date"):
        moment(text)
    with pytest.raises(UsageProblem, match="is no time"):
        since(text)
    for value in (text, datetime.fromisoformat(text)):
        with pytest.raises(UsageProblem, match="is no date"):
            read_policy({"version": "x", "valid_from": value})


def test_a_time_in_a_zone_is_the_same_moment_in_utc() -> None:
    expected = datetime(2026, 2, 1, 5, tzinfo=UTC)
    for text in ("2026-02-01T06:00+01:00", "2026-02-01T05:00Z", "2026-02-01T05:00"):
        assert moment(text) == since(text) == expected
        assert moment(text).tzinfo is since(text).tzinfo is UTC
        assert read_policy({"version": "x", "valid_from": text}).valid_from == expected
