"""Sizes and packs as names and size fields state them."""

from __future__ import annotations

import time
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pricecrawl.domain.measure import (
    Agreement,
    Size,
    compare,
    is_implausible,
    read_pack,
    read_size,
    states_nothing,
)
from pricecrawl.domain.measure_units import UNITS
from tests.score import score
from tests.shared import examples, needs_shared, shared

MANY = settings(max_examples=examples(300, 10_000), deadline=None)

TEXTS = """
Plum jam 340 g | 340 g 1 340
Cider .33 L | 330 ml 1 330
Vin rouge 75 cl | 750 ml 1 750
Rice 2,5 kg | 2500 g 1 2500
Pasta 1.000 g | 1000 g 1 1000
Flour 1,250 kg | 1250 g 1 1250
Oil 0,750 l | 750 ml 1 750
1 500 ml | 1500 ml 1 1500
Hair oil No 7 35 ml | 35 ml 1 35
Mist 62 240 mL / 8.1 fl oz | 240 ml 1 240
Eau de Toilette 3.4 FL. OZ / 100 ML | 100 ml 1 100
Net Wt 12 oz (340g) | 340 g 1 340
Flower 1/8 oz | 0.125 oz 1 3.543690390625
1½ L | 1500 ml 1 1500
1 1/2 lb | 1.5 lb 1 680.388555
2 lb 4 oz | 36 oz 1 1020.5828325
1 kg 500 g | 1500 g 1 1500
6x33cl | 330 ml 6 1980
330 ml x 24 | 330 ml 24 7920
600mlx24本 | 600 ml 24 14400
4 x 6 x 330 ml | 330 ml 24 7920
720 ml (6 x 120 ml) | 120 ml 6 720
4 x 125 g (500 g) | 125 g 4 500
6 Flaschen à 0,75 l | 750 ml 6 4500
3 barquettes de 60g | 60 g 3 180
Caja 24 uds 33 cl | 330 ml 24 7920
6er-Pack 0,5 l | 500 ml 6 3000
Beer 500 ml 12pk | 500 ml 12 6000
Twin pack shampoo 250 ml | 250 ml 2 500
2x Shampoo 250 ml | 250 ml 2 500
Shampoo 250 ml x2 | 250 ml 2 500
Крупа 5 шт х 400г | 400 g 5 2000
矿泉水550毫升×24瓶 | 550 ml 24 13200
우유 900ml 2팩 | 900 ml 2 1800
حليب 2 لتر | 2000 ml 1 2000
קפה 200 גרם | 200 g 1 200
Γάλα 1 λίτρο | 1000 ml 1 1000
น้ำ 600 มล. x 12 | 600 ml 12 7200
Shower gel 200ml + 50ml | 250 ml 1 250
2 x (500 ml + 50 ml) | 550 ml 2 1100
50 + 50 ml | 100 ml 1 100
Sun cream SPF 50 40ml | 40 ml 1 40
Paracetamol 500 mg 16 tablets | 16 each 1 -
Eggs 10 pcs | 10 each 1 -
Batteries AA 4-pack | 1 each 4 -
500 g (100 g = 0,40 €) | 500 g 1 500
Tile 30 x 60 cm | -
Photo 10x15 | -
Cable 2 m | -
5G router | -
SSD 128 GB | -
je 100 g | -
3 g/l | -
250ml-300ml | -
50 ml, 100 ml | -
Size 42 | -
Shirt L | -
 | -
"""


def texts() -> list[tuple[str, str]]:
    return [tuple(line.rsplit(" | ", 1)) for line in TEXTS.strip("\n").split("\n")]  # type: ignore[misc]


@pytest.mark.parametrize(("text", "expected"), texts())
def test_one_size(text: str, expected: str) -> None:
    size = read_size(text)
    if expected == "-":
        assert size is None
        return
    assert size is not None
    amount, unit, pack, base = expected.split()
    assert (size.amount, size.unit, size.pack) == (Decimal(amount), unit, int(pack))
    assert size.base_quantity == (None if base == "-" else Decimal(base))


def test_the_locale_tells_a_british_pint_from_an_american_one() -> None:
    american, british = read_size("1 pint"), read_size("1 pint", locale="en_GB")
    assert american is not None
    assert british is not None
    assert american.base_quantity == Decimal("473.176473")
    assert british.base_quantity == Decimal("568.26125")


@pytest.mark.parametrize(
    ("text", "pack"),
    [
        ("2x Gin", 2),
        ("Gin x 3", 3),
        ("Gin 6-pack", 6),
        ("Pack of 12 pens", 12),
        ("Lot de 4 savons", 4),
        ("Confezione da 8 rotoli", 8),
        ("Набор из 5 ложек", 5),
        ("Set van 3 kaarsen", 3),
        ("4er Set Gläser", 4),
        ("6本セット", 6),
        ("3병 세트", 3),
        ("Doppelpack Kerzen", 2),
        ("Gin 70 cl", 1),
        ("Tile 30 x 60 cm", 1),
        ("Gin", 1),
        (None, 1),
    ],
)
def test_packs_in_seven_languages_and_more(text: str | None, pack: int) -> None:
    assert read_pack(text) == pack


@MANY
@given(
    st.integers(1, 9999),
    st.integers(0, 2),
    st.sampled_from(
        sorted(name for name, unit in UNITS.items() if unit.base in ("g", "ml") and not unit.tiny)
    ),
    st.sampled_from(["", " ", "\xa0"]),
    st.sampled_from([".", ","]),
    st.sampled_from(["{}", "Foo {}", "{} Foo", "Foo ({})", "1 x {}", "Foo – {}."]),
)
def test_every_unit_with_every_writing(
    number: int, digits: int, unit: str, blank: str, mark: str, shape: str
) -> None:
    amount = Decimal(number).scaleb(-digits)
    text = shape.format(str(amount).replace(".", mark) + blank + unit)
    size = read_size(text)
    known = UNITS[unit]
    assert size is not None, text
    assert size.base_quantity == (amount * known.scale * known.factor).normalize(), text


@MANY
@given(
    st.integers(2, 48),
    st.sampled_from(["250 ml", "0,33 l", "75cl", "125 g", "1.5 L"]),
    st.sampled_from(
        [
            "{n} x {s}",
            "{n}x{s}",
            "{n} × {s}",
            "{s} x {n}",
            "{s} × {n}",
            "{n}-pack {s}",
            "{s} pack of {n}",
            "{n} bottles of {s}",
            "{n} х {s}",
            "{s}*{n}",
        ]
    ),
)
def test_every_writing_of_a_multipack(count: int, single: str, shape: str) -> None:
    one, many = read_size(single), read_size(shape.format(n=count, s=single))
    assert one is not None
    assert many is not None
    assert (many.amount, many.pack) == (one.amount, count)
    assert many.base_quantity == one.base_quantity * count if one.base_quantity else False


@settings(max_examples=examples(800, 50_000), deadline=None)
@given(st.text(max_size=60) | st.text(alphabet="0123456789.,/½xх×* -+()mlgkLczoft克г파", max_size=60))
def test_no_text_breaks_the_reader(text: str) -> None:
    began = time.process_time()
    size, pack = read_size(text), read_pack(text)
    assert time.process_time() - began < 0.1
    assert pack >= 1
    if size is not None:
        assert size.amount > 0
        assert size.pack >= 1
        assert (size.base_quantity is None) == (size.base_unit is None)


SOUP = """
Kettle steel x X * 2x x2 6 12 0 330 1.5 3/4 ml l kg g lb oz 4G spf pack packs pk twin triple 6-pack 6er er
tray multibox box case of de set bundle kit lot crate paquet pcs (box (set - _ . , " ' 100%
"""


@settings(max_examples=examples(1000, 200_000), deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(SOUP.split()), st.sampled_from(["", " ", " ", "-", "\t"])),
        min_size=1,
        max_size=7,
    )
)
def test_the_quick_look_never_misses_a_size_or_a_pack(parts: list[tuple[str, str]]) -> None:
    text = "".join(word + gap for word, gap in parts)
    if states_nothing(text):
        assert (read_size(text), read_pack(text)) == (None, 1)


def test_the_quick_look_tells_plain_names() -> None:
    assert states_nothing("Kettle base filter saving 2250")
    assert states_nothing("Cordless kettle")
    assert not states_nothing("Kettle 1.7 l")
    assert not states_nothing("Чайник")


def test_hostile_lengths_are_read_in_time() -> None:
    for pattern in ("9", "9 x ", "1/2 ", "9 g + ", "x9", "pack of 9 ", "9 9 ", "½", "9.9"):
        began = time.process_time()
        read_size(pattern * 50_000)
        assert time.process_time() - began < 0.2, pattern


def test_seven_hundred_and_seven_hundred_fifty_neither_agree_nor_contradict() -> None:
    def ml(one: int, other: int) -> Agreement:
        return compare((Decimal(one), "ml"), (Decimal(other), "ml"))

    assert ml(750, 750) is Agreement.AGREE
    assert ml(355, 354) is Agreement.AGREE
    assert ml(700, 750) is Agreement.UNKNOWN
    assert ml(750, 700) is Agreement.UNKNOWN
    assert ml(700, 1000) is Agreement.CONTRADICT
    assert ml(0, 700) is Agreement.UNKNOWN
    assert compare((Decimal(700), "g"), (Decimal(700), "ml")) is Agreement.UNKNOWN


@pytest.mark.parametrize(
    ("text", "implausible"),
    [
        ("7,624 ml", True),
        ("7624 ml", True),
        ("25 kg", False),
        ("18.9 l", False),
        ("700 ml", False),
        ("90 kg", True),
    ],
)
def test_sizes_that_no_single_unit_comes_in(text: str, implausible: bool) -> None:
    size = read_size(text)
    assert size is not None
    assert is_implausible(size) is implausible


def test_pieces_alone_are_never_implausible() -> None:
    assert not is_implausible(Size(Decimal(99999), "each"))


@needs_shared
@pytest.mark.parametrize(
    ("file", "area"), [("corpora/quantity_off.jsonl", None), ("cases/cases.jsonl", "size_string")]
)
def test_size_corpora(file: str, area: str | None) -> None:
    verdicts = score(shared(file), area)
    assert verdicts
    assert [(v.identity, v.wrong, v.error) for v in verdicts if not v.right] == []
