"""Bytes to characters, characters to a tree: what browsers do, within limits that are told."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pricecrawl.domain.errors import PricecrawlError
from pricecrawl.extraction.document import MAX_BYTES, Document, UnreadablePage
from pricecrawl.extraction.encoding import decode
from pricecrawl.extraction.textmap import JOINT, words_of
from tests.extraction.pages import answered, product
from tests.shared import examples

PRICED = '<span class="price">$19.00</span><button>Add to cart</button>'


def test_a_byte_order_mark_wins_over_header_and_meta() -> None:
    body = "\ufeff<meta charset=windows-1251><p>Чайник</p>".encode()
    text, encoding = decode(body, headers={"Content-Type": "text/html; charset=koi8-r"})
    assert encoding == "utf-8"
    assert text == "<meta charset=windows-1251><p>Чайник</p>"


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("gb2312", "gb18030", "喆品茶叶"),  # a character that only the superset has
        ("gbk", "gb18030", "不锈钢"),
        ("iso-8859-1", "cp1252", "“quoted” – 5 €"),
        ("us-ascii", "cp1252", "5 €"),
        ("shift_jis", "cp932", "①急須"),
        ("euc-kr", "cp949", "찻주전자 똠"),
        ("iso-8859-9", "cp1254", "Çaydanlık €"),
        ("big5", "big5hkscs", "茶壺"),
        ("windows-1251", "cp1251", "Чайник ₽".replace("₽", "")),
    ],
)
def test_a_label_means_what_browsers_take_it_for(label: str, codec: str, text: str) -> None:
    assert decode(text.encode(codec), headers={"content-type": f"text/html; charset={label}"})[0] == text


def test_the_header_wins_over_the_meta_and_the_meta_over_a_guess() -> None:
    body = "<meta charset=utf-8>Ж".encode("cp1251")
    assert decode(body, headers={"content-type": "text/html; charset=windows-1251"})[0].endswith("Ж")
    assert decode("<meta charset='windows-1251'>Ж".encode("cp1251"))[0].endswith("Ж")


def test_a_document_that_calls_itself_utf_16_in_a_meta_tag_is_utf_8() -> None:
    assert decode('<meta charset="utf-16">é'.encode())[0].endswith("é")


@pytest.mark.parametrize(
    ("locale", "codec", "text"),
    [("ru_RU", "cp1251", "Цена"), ("ja", "cp932", "税込"), (None, "cp1252", "5 €")],
)
def test_without_any_label_the_language_decides(locale: str | None, codec: str, text: str) -> None:
    assert decode(text.encode(codec), locale=locale)[0] == text


@pytest.mark.parametrize("label", ["rot13", "base64", "nonsense", "", "utf-7"])
def test_labels_of_no_encoding_are_ignored(label: str) -> None:
    assert decode("5 €".encode(), headers={"content-type": f"text/html; charset={label}"})[0] == "5 €"


@given(st.binary(max_size=300), st.sampled_from(["", "utf-8", "gbk", "shift_jis", "utf-16", "x"]))
@settings(max_examples=examples(150, 5000), deadline=None)
def test_any_bytes_give_a_document(body: bytes, label: str) -> None:
    document = Document.from_bytes(body, headers={"content-type": f"text/html; charset={label}"})
    assert document.tree.tag == "html"
    assert JOINT not in document.textmap.text.replace(JOINT, "")


@pytest.mark.parametrize("body", [b"", b"   ", b"<!-- only this -->", b"<!doctype html>", b"\x00\x00"])
def test_a_page_of_nothing_is_an_empty_document(body: bytes) -> None:
    assert answered(body, status=None)["price"] is None


def test_a_page_that_nests_too_deep_is_refused_in_one_sentence() -> None:
    body = b"<html><body>" + b"<div>" * 10_000 + b"$5.00" + b"</div>" * 10_000
    started = time.process_time()
    with pytest.raises(UnreadablePage, match="nests more than") as refusal:
        Document.from_bytes(body)
    assert isinstance(refusal.value, PricecrawlError)
    assert time.process_time() - started < 2


def test_a_page_that_nests_deep_is_still_read() -> None:
    body = product(
        "<div>" * 1500 + '<span class="price">$5.00</span><button>Add to cart</button>' + "</div>" * 1500
    )
    started = time.process_time()
    answered(body)
    assert time.process_time() - started < 2


def test_five_megabytes_are_read_within_two_seconds() -> None:
    filler = "".join(
        f"<p class='note n{n % 90}'>Note {n} on ${n}.00 and more words to read</p>" for n in range(72_000)
    )
    body = product(
        f'<span class="price">$19.00</span><button>Add to cart</button><div class="reviews">{filler}</div>'
    )
    assert len(body) > 4_000_000
    started = time.process_time()
    found = answered(body)
    assert time.process_time() - started < 2
    assert found["price"] == "19.00"


def test_five_megabytes_of_one_script_are_read_within_two_seconds() -> None:
    body = product(PRICED + '<script>var a="' + "{price:1," * 600_000 + "</script>")
    started = time.process_time()
    assert answered(body)["price"] == "19.00"
    assert time.process_time() - started < 2


def test_a_larger_page_than_the_limit_is_refused() -> None:
    with pytest.raises(UnreadablePage, match="more than the"):
        Document.from_bytes(b"x" * (MAX_BYTES + 1))


def test_comments_templates_and_scripts_are_no_text_of_the_page() -> None:
    body = product(
        "<!-- <span>$1.00</span> --><template><span class='price'>$2.00</span></template>"
        "<noscript><b class='price'>$3.00</b></noscript><script>var p='$4.00'</script>"
        "<style>.a:after{content:'$5.00'}</style>" + PRICED
    )
    assert answered(body)["price"] == "19.00"


def test_pieces_lead_back_to_their_elements() -> None:
    document = Document.from_bytes(b"<p id=a>one <b>two</b> three</p><p id=b>four</p>")
    textmap = document.textmap
    assert [str(piece).strip() for piece in textmap.pieces] == ["one", "two", "three", "four"]
    assert [textmap.holder(index).tag for index in range(4)] == ["p", "b", "p", "p"]
    assert [textmap.broken_between(index) for index in range(4)] == [False, False, True, True]
    assert [textmap.position(element) for element in document.tree.iter("p")] == [0, 3]
    assert words_of(next(document.tree.iter("p"))) == "one two three"


def test_a_line_break_breaks_a_line() -> None:
    textmap = Document.from_bytes(b"<p>5<br>00 $</p>").textmap
    assert textmap.broken_between(0)


def test_metas_title_and_addresses_are_found_once() -> None:
    document = Document.from_bytes(
        b"<html lang=de-AT><head><title> A  b </title><base href='/x/'><meta property='OG:Title' content='C'>"
        b"<meta name=og:title content=D><link rel='alternate canonical' href='y'></head></html>",
        url="https://shop.example/p",
    )
    assert document.lang == "de-AT"
    assert document.title == "A b"
    assert document.metas["og:title"] == "C"
    assert document.canonical == "https://shop.example/x/y"
