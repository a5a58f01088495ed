"""Product identifiers: every form to one key."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stdnum import ean, isbn

from pricecrawl.domain.identifiers import Identifier, expand_upc_e, is_restricted, read_gtin, to_gtin14
from tests.score import score
from tests.shared import examples, needs_shared, shared

MANY = settings(max_examples=examples(300, 10_000), deadline=None)


def with_check(body: str) -> str:
    return body + str(ean.calc_check_digit(body))


@pytest.mark.parametrize(
    ("text", "kind", "key"),
    [
        ("5901234123457", "gtin13", "05901234123457"),
        ("EAN: 5901234123457", "gtin13", "05901234123457"),
        ("EAN-13 5901234123457", "gtin13", "05901234123457"),
        ("EAN135901234123457", "gtin13", "05901234123457"),
        ("5901234-12345 7", "gtin13", "05901234123457"),
        ("５９０１２３４１２３４５７", "gtin13", "05901234123457"),
        ("5901234123457.0", "gtin13", "05901234123457"),
        ("036000291452", "upc", "00036000291452"),
        ("36000291452", "upc", "00036000291452"),
        ("0036000291452", "gtin13", "00036000291452"),
        ("00036000291452", "gtin14", "00036000291452"),
        ("96385074", "gtin8", "00000096385074"),
        ("ISBN 0-306-40615-2", "isbn10", "09780306406157"),
        ("978-0-306-40615-7", "isbn13", "09780306406157"),
        ("0-8044-2957-X", "isbn10", "09780804429573"),
        ("979-0-2600-0043-8", "ismn", "09790260000438"),
        ("ISSN 0378-5955", "issn", None),
    ],
)
def test_every_form_has_its_key(text: str, kind: str, key: str | None) -> None:
    found = read_gtin(text)
    assert (found.valid, found.type, found.gtin14) == (True, kind, key)


@pytest.mark.parametrize(
    "text",
    [
        "5901234123456",
        "590123412345",
        "5.90123E+12",
        "0000000000000",
        "00000000",
        "978030640615X",
        "AB5901234123457",
        "12345",
        "n/a",
        "",
        None,
        "5901234123457 5901234123457",
    ],
)
def test_what_is_no_identifier(text: str | None) -> None:
    found = read_gtin(text)
    assert not found.valid
    assert found.gtin14 is None
    assert found.type is None


def test_numbers_kept_for_use_within_a_shop_are_valid_and_no_key() -> None:
    for body in ("200123400000", "021234500000", "041234500000", "981234500000"):
        found = read_gtin(with_check(body))
        assert (found.valid, found.restricted, found.gtin14) == (True, True, None)
    assert not is_restricted("00036000291452")


def test_the_indicator_digit_tells_a_case_from_its_content() -> None:
    case = read_gtin(with_check("1590123412345"))
    assert (case.type, case.indicator) == ("gtin14", 1)
    assert read_gtin("05901234123457").indicator == 0


@pytest.mark.parametrize(
    ("code", "upc"),
    [
        ("04252614", "042100005264"),
        ("425261", "042100005264"),
        ("01234134", None),
        ("0123456", None),
        ("21234565", None),
    ],
)
def test_zero_suppressed_codes_expand(code: str, upc: str | None) -> None:
    assert expand_upc_e(code) == upc


def test_eight_digits_are_a_upc_e_only_where_the_symbology_says_so() -> None:
    assert read_gtin("04252614", symbology="UPC-E").gtin14 == "00042100005264"
    assert read_gtin("04252614").type != "upc"


@MANY
@given(st.text(alphabet="0123456789", min_size=12, max_size=12))
def test_one_article_has_one_key_however_it_is_padded(body: str) -> None:
    code = with_check(body)
    key = to_gtin14(code)
    if not code.strip("0") or len(set(code)) == 1:
        assert not read_gtin(code).valid
        return
    assert key == "0" + code
    assert read_gtin("0" + code).gtin14 == read_gtin(code).gtin14
    if code.startswith("0"):
        assert to_gtin14(code[1:]) == key


@MANY
@given(st.text(alphabet="0123456789", min_size=12, max_size=12), st.integers(0, 12), st.integers(1, 9))
def test_one_wrong_digit_is_noticed(body: str, place: int, shift: int) -> None:
    code = with_check(body)
    wrong = code[:place] + str((int(code[place]) + shift) % 10) + code[place + 1 :]
    assert not read_gtin(wrong).valid


@MANY
@given(st.text(alphabet="0123456789", min_size=9, max_size=9))
def test_both_forms_of_a_book_number_have_one_key(body: str) -> None:
    ten = body + isbn._calc_isbn10_check_digit(body)
    thirteen = isbn.to_isbn13(ten)
    if ten.strip("0"):
        assert read_gtin(ten).gtin14 == read_gtin(thirteen).gtin14 == to_gtin14(thirteen)


@MANY
@given(
    st.text(max_size=40) | st.text(alphabet="0123456789 -XISBNEANGTIN:#", max_size=40),
    st.sampled_from([None, "UPC-E", "junk"]),
)
def test_no_text_breaks_the_reader(text: str, symbology: str | None) -> None:
    found = read_gtin(text, symbology=symbology)
    assert isinstance(found, Identifier)
    if found.gtin14 is not None:
        assert found.valid
        assert ean.is_valid(found.gtin14)


@needs_shared
@pytest.mark.parametrize(
    ("file", "area"),
    [
        ("corpora/gtin_extract_zyte.jsonl", None),
        ("corpora/gtin_classification_zyte.jsonl", None),
        ("corpora/gtin_isbn_stdnum.jsonl", None),
        ("cases/cases.jsonl", "gtin"),
    ],
)
def test_identifier_corpora(file: str, area: str | None) -> None:
    verdicts = score(shared(file), area)
    assert verdicts
    assert [(v.identity, v.wrong, v.error) for v in verdicts if not v.right] == []
