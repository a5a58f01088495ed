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

_REFURBISHED = (
    r"refurb\w*|renewed|reconditioned|remanufactured|generalüberholt\w*|wiederaufbereitet\w*|aufbereitet\w*|reconditionn\w+|remis à neuf|"
    r"reacondicionad\w+|restaurad[oa]s?|ricondizionat\w+|recondicionad\w+|gereviseerd\w*|refabricad\w+|renoverad\w*|kunnostettu\w*|"
    r"repasovan\w+|odnowion\w+|poleasing\w*|восстановлен\w+|відновлен\w+|yenilenmiş|整備済\w*|翻新|리퍼\w*|مجدد|مجددة|מחודש"
)
_OPEN_BOX = (
    r"open[- ]box|ex[- ]display|display model|demo unit|ex[- ]demo|vorführ\w*|ausstellungs\w*|b[- ]ware|b[- ]stock|b[- ]grade|modèle d.exposition|"
    r"emballage ouvert|caja abierta|embalaje abierto|esposizione|showmodel|demoex\w*|rozbalen\w+|powystawow\w+|展示品|開封品|전시상품"
)
_USED = (
    r"pre[- ]owned|pre[- ]loved|second[- ]?hand|used (?:item|condition|like new|very good|good|acceptable)|\(used\)|like new|gebraucht\w*|"
    r"d.occasion|occasion|segunda mano|de segunda|usat[oiae]|seminov[oa]s?|usad[oa]s?|tweedehands|begagnad\w*|brukt|brugt|käytetty|"
    r"použit\w+|bazarov\w+|używan\w+|б/у|бывш\w+ в употреблении|вживан\w+|ikinci el|中古|二手|중고\w*|مستعمل\w*|משומש"
)
_DAMAGED = r"damaged|for parts|beschädigt\w*|defekt\w*|endommagé\w*|dañad\w+|danneggiat\w+|uszkodzon\w+|ジャンク|поврежден\w+"
_NEW = (
    r"new|brand new|newcondition|neu|neuware|neuf|neuve|nuevo|nueva|nuovo|nuova|novo|nova|nieuw|ny|nytt|uusi|nový|nová|nowy|nowa|новый|новая|"
    r"новое|новий|yeni|sıfır|新品|全新|새상품|새제품|جديد|חדש"
)


def _whole(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W\d_])(?:{words})(?![^\W\d_])", re.IGNORECASE)


_STRONG = (
    (DAMAGED, _whole(_DAMAGED)),
    (REFURBISHED, _whole(_REFURBISHED)),
    (OPEN_BOX, _whole(_OPEN_BOX)),
    (USED, _whole(_USED)),
)
_PLAIN = (
    (USED, _whole(r"used|usedcondition|occasion|usado|usato|gebruikt|ex[- ]rental")),
    (REFURBISHED, _whole(r"refurbishedcondition")),
    (DAMAGED, _whole(r"damagedcondition|damaged")),
    (NEW, _whole(_NEW)),
)
# In a name these words are as often part of what the article is called.
_WEAK_IN_NAMES = _whole(
    r"occasion|like new|usat[oiae]|usad[oa]s?|restaurad[oa]s?|demo unit|esposizione|defekt\w*|damaged|for parts|aufbereitet\w*|renewed"
)


def read_condition(text: str, name: str = "") -> str:
    """`new`, `refurbished`, `used`, `open_box`, `damaged`, or `other` for a statement that no word here covers.

    `text` is what the shop states as the condition (a schema.org address too); a name counts where it says so in
    words that mean nothing else. Nothing stated is `new`.
    """
    stated = text.strip().rsplit("/", 1)[-1] if "schema.org" in text else text.strip()
    for condition, pattern in _STRONG + _PLAIN:
        if stated and pattern.search(stated):
            return condition
    if stated:
        return OTHER
    for condition, pattern in _STRONG:
        match = pattern.search(name)
        if match and not _WEAK_IN_NAMES.fullmatch(match[0]):
            return condition
    return NEW
