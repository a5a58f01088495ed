"""New, refurbished, used: the condition of an article as shops name it in some twenty languages."""

from __future__ import annotations

import re

NEW, REFURBISHED, USED, OPEN_BOX, DAMAGED, OTHER = (
    "new",
    "refurbished",
    "used",
    "open_box",
    "damaged",
    "other",
)

# A star stands for any ending.
_REFURBISHED = """
refurb* renewed reconditioned remanufactured generalüberholt* wiederaufbereitet* aufbereitet*
reconditionn* remis_à_neuf reacondicionad* restaurad* ricondizionat* recondicionad* gereviseerd*
refabricad* renoverad* kunnostettu* repasovan* odnowion* poleasing* восстановлен* відновлен* yenilenmiş
整備済* 翻新 리퍼* مجدد مجددة מחודש
"""
_OPEN_BOX = """
open_box ex_display display_model demo_unit ex_demo vorführ* ausstellungs* b_ware b_stock b_grade
modèle_d’exposition modèle_d'exposition emballage_ouvert caja_abierta embalaje_abierto esposizione
showmodel demoex* rozbalen* powystawow* 展示品 開封品 전시상품
"""
_USED = """
pre_owned pre_loved secondhand second_hand used_item used_condition used_like_new used_very_good used_good
used_acceptable like_new gebraucht* d'occasion d’occasion segunda_mano de_segunda usato usata usati usate
seminov* usado usada usados usadas tweedehands begagnad* brukt brugt käytetty použit* bazarov* używan* б/у
бывш*_в_употреблении вживан* ikinci_el 中古 二手 중고* مستعمل* משומש
"""
_DAMAGED = (
    "damaged for_parts beschädigt* defekt* endommagé* dañad* danneggiat* uszkodzon* ジャンク поврежден*"
)
_NEW = """
new brand_new newcondition neu neuware neuf neuve nuevo nueva nuovo nuova novo nova nieuw ny nytt uusi
nový nová nowy nowa новый новая новое новий yeni sıfır 新品 全新 새상품 새제품 جديد חדש
"""


def _whole(words: str) -> re.Pattern[str]:
    parts = (re.escape(word).replace(r"\*", r"\w*").replace("_", "[- ]") for word in words.split())
    return re.compile(rf"(?<![^\W\d_])(?:{'|'.join(parts)})(?![^\W\d_])", re.IGNORECASE)


_STRONG = (
    (DAMAGED, _whole(_DAMAGED)),
    (REFURBISHED, _whole(_REFURBISHED)),
    (OPEN_BOX, _whole(_OPEN_BOX)),
    (USED, _whole(_USED)),
)
_PLAIN = (
    (USED, _whole("used usedcondition occasion gebruikt ex_rental (used)")),
    (REFURBISHED, _whole("refurbishedcondition")),
    (DAMAGED, _whole("damagedcondition")),
    (NEW, _whole(_NEW)),
)
# In a name these words are as often part of what the article is called.
_WEAK_IN_NAMES = _whole(
    "like_new usato usata usati usate usado usada usados usadas restaurad* demo_unit esposizione defekt* "
    "damaged for_parts aufbereitet* renewed"
)


def _beginnings(patterns: str) -> frozenset[str]:
    """The first three letters of the first run of letters of every ASCII word."""
    runs = (re.match("[a-z]+", word) for word in patterns.split() if word.isascii())
    return frozenset(run[0][:3] for run in runs if run)


_RUNS = re.compile(r"[a-z]+")
_BEGINNINGS = _beginnings(f"{_DAMAGED} {_REFURBISHED} {_OPEN_BOX} {_USED}")


def _says_nothing(name: str) -> bool:
    """True for an ASCII name of which no word begins like a strong one: one quick look for most names."""
    return name.isascii() and _BEGINNINGS.isdisjoint([run[:3] for run in _RUNS.findall(name.lower())])


def read_condition(text: str, name: str = "") -> str:
    """`new`, `refurbished`, `used`, `open_box`, `damaged`, or `other` for a statement no word here covers.

    `text` is what the shop states as the condition (a schema.org address too); a name counts where it
    says so in words that mean nothing else. Nothing stated is `new`.
    """
    stated = text.strip().rsplit("/", 1)[-1] if "schema.org" in text else text.strip()
    for condition, pattern in _STRONG + _PLAIN:
        if stated and pattern.search(stated):
            return condition
    if stated:
        return OTHER
    if _says_nothing(name):
        return NEW
    for condition, pattern in _STRONG:
        match = pattern.search(name)
        if match and not _WEAK_IN_NAMES.fullmatch(match[0]):
            return condition
    return NEW
