"""New, refurbished, used: the condition of an article as shops name it in some twenty languages."""

from __future__ import annotations

import re
from functools import lru_cache

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
# Words for "new" that say the opposite, or new with a reservation: they go before the plain ones.
_AS_IF_NEW = """
as_new nearly_new almost_new not_new wie_neu fast_neu nicht_neu comme_neuf comme_neuve quasi_neuf quasi_neuve
pas_neuf como_nuevo como_nueva casi_nuevo casi_nueva come_nuovo come_nuova quasi_nuovo quasi_nuova como_novo
como_nova quase_novo quase_nova als_nieuw som_ny som_nytt næsten_ny nästan_ny nästan_nytt nesten_ny kuin_uusi
jako_nový jako_nová téměř_nový jak_nowy jak_nowa jak_nowe prawie_nowy как_новый как_новая как_новое
почти_новый почти_новая як_новий як_нова yeni_gibi כמו_חדש
"""
_NEW_BUT_OPENED = """
openbox new_other new_(other) neu:_sonstige neuf:_autre nuevo:_otro nuovo:_altro
"""
_NEW_BUT_FLAWED = """
with_defects with_flaws mit_fehlern mit_mängeln avec_défauts con_defectos con_difetti com_defeitos
met_gebreken
"""
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
_RESERVED = (
    (DAMAGED, _whole(_NEW_BUT_FLAWED)),
    (OPEN_BOX, _whole(_NEW_BUT_OPENED)),
    (USED, _whole(_AS_IF_NEW)),
)
_PLAIN = (
    (USED, _whole("used usedcondition occasion gebruikt ex_rental (used)")),
    (REFURBISHED, _whole("refurbishedcondition")),
    (DAMAGED, _whole("damagedcondition")),
    (NEW, _whole(_NEW)),
)
_STATED = _STRONG + _RESERVED + _PLAIN
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


# Set apart from what the article is called: "Camera (Renewed)", "[Used] Camera", "Camera - used, very good".
_APART = re.compile(r"[(\[【（]([^()\[\]【】（）]{2,40})[)\]】）]|\s[-–—|]\s([^-–—|]{2,40})$")
_OF_AN_ARTICLE = _STRONG + _RESERVED + ((USED, _whole("used")),)


def _set_apart(name: str) -> str | None:
    """The condition that a name states in brackets, or after a dash at its end, alone or before a stop."""
    for match in _APART.finditer(name):
        words = (match[1] or match[2]).strip()
        for condition, pattern in _OF_AN_ARTICLE:
            found = pattern.match(words)
            if found and not words[found.end() :].lstrip()[:1].isalnum():
                return condition
    return None


@lru_cache(maxsize=1024)
def _stated(text: str) -> str:
    """What a shop's statement says; empty where it states nothing."""
    stated = text.strip().rsplit("/", 1)[-1] if "schema.org" in text else text.strip()
    if not stated:
        return ""
    return next((known for known, pattern in _STATED if pattern.search(stated)), OTHER)


def read_condition(text: str, name: str = "") -> str:
    """`new`, `refurbished`, `used`, `open_box`, `damaged`, or `other` for a statement no word here covers.

    `text` is what the shop states as the condition (a schema.org address too); a name counts where it
    says so in words that mean nothing else, and goes before a shop that calls everything new where it sets
    them apart. Nothing stated is `new`.
    """
    stated = _stated(text)
    if stated not in {"", NEW}:
        return stated
    apart = _set_apart(name)
    if apart is not None:
        return apart
    if stated or _says_nothing(name):
        return NEW
    for condition, pattern in _STRONG:
        match = pattern.search(name)
        if match and not _WEAK_IN_NAMES.fullmatch(match[0]):
            return condition
    return NEW
