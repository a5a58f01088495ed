"""The quick look at a name, against the words that it must not miss."""

from __future__ import annotations

import pytest

from pricecrawl.domain import condition

WORDS = [
    word.replace("_", gap).replace("*", ending)
    for words in (condition._DAMAGED, condition._REFURBISHED, condition._OPEN_BOX, condition._USED)
    for word in words.split()
    for gap in (" ", "-")
    for ending in ("", "ed")
]


@pytest.mark.parametrize("shape", ["{}", "Camera ({}) 50", "5{}", "{}_x"])
def test_no_strong_word_is_missed(shape: str) -> None:
    for word in WORDS:
        for written in (word, word.upper(), word.title()):
            name = shape.format(written)
            strong = any(pattern.search(name) for _, pattern in condition._STRONG)
            assert not (strong and condition._says_nothing(name)), name


def test_plain_names_need_no_second_look() -> None:
    assert condition._says_nothing("Kettle base filter saving 2250")
    assert not condition._says_nothing("Kettle, refurbished")
    assert not condition._says_nothing("Чайник")


NEW_WORDS = {"neu": "wie fast nicht", "neuf": "comme quasi pas", "nuevo": "como casi", "nuovo": "come quasi",
             "novo": "como quase", "nieuw": "als", "ny": "som næsten nästan", "nowy": "jak prawie",
             "nový": "jako téměř", "новый": "как почти",
             "new": "as nearly almost not", "uusi": "kuin"}  # fmt: skip


@pytest.mark.parametrize(("new", "before"), [(new, b) for new, w in NEW_WORDS.items() for b in w.split()])
def test_as_good_as_new_is_used(new: str, before: str) -> None:
    for written in (f"{before} {new}", f"{before} {new}".title(), f"Zustand: {before} {new}, OVP"):
        assert condition.read_condition(written) == condition.USED
    assert condition.read_condition(new) == condition.NEW


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("New with defects", condition.DAMAGED),
        ("Neuf avec défauts", condition.DAMAGED),
        ("New (other)", condition.OPEN_BOX),
        ("Neu: Sonstige", condition.OPEN_BOX),
        ("openbox", condition.OPEN_BOX),
    ],
)
def test_new_with_a_reservation_is_not_new(text: str, expected: str) -> None:
    assert condition.read_condition(text) == expected


@pytest.mark.parametrize("shape", ["Camera ({})", "[{}] Camera", "Camera - {}", "Camera 【{}】 50 mm"])
@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Renewed", condition.REFURBISHED),
        ("Used", condition.USED),
        ("used, very good", condition.USED),
        ("Like New", condition.USED),
        ("wie neu", condition.USED),
        ("Open Box", condition.OPEN_BOX),
        ("Damaged", condition.DAMAGED),
    ],
)
@pytest.mark.parametrize("stated", ["", "https://schema.org/NewCondition"])
def test_a_name_that_sets_its_condition_apart_says_so(
    shape: str, word: str, expected: str, stated: str
) -> None:
    assert condition.read_condition(stated, shape.format(word)) == expected


@pytest.mark.parametrize(
    "name",
    [
        "Renewed Kindle of hope",
        "Used Books: a history",
        "Cream (damaged hair)",
        "Filter - used in model X",
        "Like New polish",
        "Mask (for damaged skin)",
        "Lamp (500 ml)",
    ],
)
def test_words_within_a_name_say_nothing(name: str) -> None:
    assert condition.read_condition("", name) == condition.NEW
    assert condition.read_condition("new", name) == condition.NEW
