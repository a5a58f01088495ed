"""Which of a product's variants a page is about: the one that its address names, else the one preselected.

A variant in a page's state carries ids and option values; the address names some of them
(`?variant=123`, `?attribute_pa_size=500g`, `#/size-l`), and so do the controls of the buying form
(a selected option, a ticked radio button, a hidden id).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lxml import etree

from pricecrawl.extraction.document import Document
from pricecrawl.extraction.subject import Subject
from pricecrawl.extraction.things import Node, as_list, short, text_of

MAX_VARIANTS = 500

_IDS = frozenset(
    (
        *("id", "sku", "variantid", "variant_id", "variation_id", "variationid", "code", "productid"),
        *("product_id", "id_product_attribute", "skuid", "sku_id", "itemid", "ean", "gtin", "barcode"),
    )
)
_OPTIONS = frozenset(
    (
        *("attributes", "options", "selectedoptions", "variationattributes", "variation_attributes"),
        *("optionvalues", "option_values", "combination", "traits", "attributevalues", "specs"),
    )
)
_OPTION_KEYS = frozenset(
    (
        *("option1", "option2", "option3", "size", "color", "colour", "material", "weight", "volume"),
        *("flavor", "flavour", "length", "width", "capacity", "storage", "style", "finish"),
    )
)
_NAMES = ("name", "label", "attribute", "key", "code", "option")
_VALUES = ("value", "valuename", "option", "label", "title")
_ID_FIELDS = re.compile(
    r"(?:^|[-_\[])(?:variant|variation|sku|combination|product_attribute)(?:[-_\[]*id)?\]?$|^id$"
)
_NOT_OPTIONS = re.compile(
    r"qty|quant|anzahl|menge|amount|country|land|currency|lang|locale|sort|order|rating|ship|deliver|"
    r"month|year|day\b|search|captcha|consent|newsletter",
    re.IGNORECASE,
)
_PREFIXES = re.compile(r"^(?:attributes?|options?|pa|properties|super_attribute|select|swatch|dwvar)[-_\[]+")


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen: option values as (name, value), both in plain form, and ids of variants."""

    values: tuple[tuple[str, str], ...] = ()
    ids: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.values or self.ids)


@lru_cache(maxsize=4096)
def _plain(value: str) -> str:
    """An option value without case, blanks and punctuation: "500 g" in a label is "500g" in an address."""
    return "".join(character for character in value.casefold() if character.isalnum())


@lru_cache(maxsize=4096)
def _plain_name(name: str) -> str:
    """An option's name without what frameworks put around it: `attribute_pa_size`, `options[Size]`."""
    name = name.casefold().strip()
    for _ in range(3):
        shorter = _PREFIXES.sub("", name)
        if shorter == name:
            break
        name = shorter
    return _plain(name)


def asked_choice(subject: Subject) -> Choice:
    """What the address asks for."""
    pairs = [(_plain_name(name), _plain(value)) for name, value in subject.address.options]
    for name, value in subject.address.options:
        if name == "#":
            # "#/25-size-l/3-color-red": parts of a path, each an id, a name and a value.
            for part in value.split("/"):
                words = [word for word in re.split(r"[-_:=]", part) if word]
                pairs += [("", _plain("".join(words[start:]))) for start in range(1, len(words))]
    return Choice(tuple(pairs), subject.address.wanted)


def preset_choice(document: Document, subject: Subject) -> Choice:
    """What the controls of the product's own form have chosen already."""
    values: list[tuple[str, str]] = []
    ids: set[str] = set()
    for element in document.tagged("select"):
        name = element.get("name") or element.get("id") or ""
        if _NOT_OPTIONS.search(name) or subject.aside(element):
            continue
        for option in element.iter("option"):
            if option.get("selected") is None or not (option.get("value", "x")).strip():
                continue
            _add(name, option.get("value") or "", ids, values)
            values.append((_plain_name(name), _plain(text_of(_text(option)))))
    for element in document.tagged("input"):
        kind = (element.get("type") or "").lower()
        name, value = element.get("name") or "", (element.get("value") or "").strip()
        if not value or value == "0" or _NOT_OPTIONS.search(name):
            continue
        ticked = kind == "radio" and element.get("checked") is not None
        held = kind == "hidden" and _ID_FIELDS.search(name.lower()) is not None
        if (ticked or held) and not subject.aside(element):
            _add(name, value, ids, values)
    return Choice(tuple(dict.fromkeys(pair for pair in values if pair[1])), frozenset(ids))


def _text(element: etree._Element) -> str:
    return "".join(str(part) for part in element.itertext())[:200]


def _add(name: str, value: str, ids: set[str], values: list[tuple[str, str]]) -> None:
    if _ID_FIELDS.search(name.lower()):
        ids.add(value.lower())
    else:
        values.append((_plain_name(name), _plain(value)))


def variants_of(known: Node) -> list[Node]:
    """The variants that a product's state lists."""
    for key in ("variants", "variations", "skus", "items", "combinations"):
        found = [item for item in as_list(known.get(key))[:MAX_VARIANTS] if isinstance(item, dict)]
        if found:
            return found
    return []


def chosen_variants(variants: Sequence[Node], choice: Choice) -> list[Node]:
    """The variants that a choice names: by id, else by all of their option values; none if it names none.

    A value that a variant leaves open is no contradiction; a different value of the same option is.
    """
    if not choice:
        return []
    by_id = [variant for variant in variants if _ids_of(variant) & choice.ids]
    if by_id and len(by_id) < max(len(variants), 2):
        return by_id
    named = {name for name, _ in choice.values if name}
    wanted = {value for _, value in choice.values}
    found: list[tuple[int, Node]] = []
    for variant in variants:
        strength = 0
        for name, value in _options_of(variant):
            if (name, value) in choice.values or (value in wanted and name not in named):
                strength += 1
            elif name and name in named:
                strength = -1
                break
        if strength > 0:
            found.append((strength, variant))
    best = max((strength for strength, _ in found), default=0)
    matching = [variant for strength, variant in found if strength == best]
    return matching if len(matching) < max(len(variants), 2) else []


def _ids_of(variant: Node) -> set[str]:
    found: set[str] = set()
    for key, value in variant.items():
        if short(key) in _IDS and not isinstance(value, dict | list):
            text = text_of(value).lower()
            found |= {text, text.rpartition("/")[2]}
    return found - {"", "0"}


def _options_of(variant: Node) -> Iterator[tuple[str, str]]:
    """(name, value) of everything that tells one variant from the others."""
    for name, value in variant.items():
        key = short(name)
        if key in _OPTIONS:
            yield from _option_values(value)
        elif key in _OPTION_KEYS and isinstance(value, str) and value:
            yield "" if key.startswith("option") else _plain_name(key), _plain(value)


def _option_values(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, item in value.items():
            text = text_of(item)
            if text:
                yield _plain_name(str(name)), _plain(text)
        return
    for item in as_list(value)[:20]:
        if isinstance(item, dict):
            low = {short(key): inner for key, inner in item.items()}
            name = next((text_of(low[key]) for key in _NAMES if key in low), "")
            text = next((text_of(low[key]) for key in _VALUES if key in low), "")
            if text:
                yield _plain_name(name) if name != text else "", _plain(text)
        elif text_of(item):
            yield "", _plain(text_of(item))
