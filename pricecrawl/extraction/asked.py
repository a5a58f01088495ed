"""Which of several products or offers in structured data a page's address asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pricecrawl.extraction.address import address, same_path
from pricecrawl.extraction.offers import OfferReading, offers_in
from pricecrawl.extraction.subject import Subject
from pricecrawl.extraction.things import Found, Node, fields, text_of, texts_of

GTINS = ("gtin", "gtin14", "gtin13", "gtin12", "gtin8", "ean", "upc", "isbn")
_IDENTITIES = ("sku", "productid", "mpn", "identifier", "serialnumber", *GTINS)
_NAME_PARTS = re.compile(r"\s[-–—/|·]\s|\s*[,()]\s*")
_TRAITS = ("size", "color", "colour", "material", "pattern", "model", "name")


@dataclass(slots=True, eq=False)
class Option:
    """One way to buy the product: an offer, with the variant that it belongs to."""

    offer: OfferReading
    variant: Node


def is_asked(best: Found, products: list[Found], subject: Subject) -> bool:
    """Whether the address names this product and none of its sisters: they are the variants of one thing."""
    wanted = subject.address.wanted
    sisters = [item for item in products if item is not best and item.path[:-1] == best.path[:-1]]
    if not wanted or not sisters or not any("variant" in part.lower() for part in best.path):
        return False
    mine = _variant_tokens(best.node, subject) & wanted
    return bool(mine) and not any(mine & _variant_tokens(item.node, subject) for item in sisters)


def asked_for(options: list[Option], subject: Subject) -> list[Option]:
    """The options that the page's address names, if it tells some from the others."""
    if len(options) < 2:
        return []
    wanted = subject.address.wanted
    strengths = []
    for option in options:
        mine = tokens(option.offer.node, subject)
        both = tokens(option.variant, subject) | mine
        traits = {
            part.lower() for key in _TRAITS for node in (option.variant, option.offer.node)
            for text in texts_of(node.get(key)) for part in (text, *_NAME_PARTS.split(text))
        }  # fmt: skip
        # An offer's own number tells it from its sisters; the product's is that of all of them.
        strength = 3 * len(wanted & both) + 3 * len(wanted & mine) + len(wanted & traits)
        links = [text_of(option.offer.node.get("url")), text_of(option.variant.get("url"))]
        if any(
            link and same_path(absolute(link, subject), own) for link in links for own in subject.addresses
        ):
            strength += 1
        handle = subject.address.handle
        if any(len(token) > 3 and (handle == token or handle.endswith(f"-{token}")) for token in both):
            strength += 2
        strengths.append(strength)
    best = max(strengths)
    chosen = [option for option, strength in zip(options, strengths, strict=True) if strength == best]
    return chosen if best > 0 and len(chosen) < len(options) else []


def _variant_tokens(node: Node, subject: Subject) -> set[str]:
    known = fields(node)
    found = tokens(known, subject)
    for offer in offers_in(known.get("offers")):
        found |= tokens(fields(offer), subject)
    return found


def tokens(node: Node, subject: Subject) -> set[str]:
    """Everything that names one variant or offer in an address, lower case."""
    found = {text.lower() for key in _IDENTITIES for text in texts_of(node.get(key))}
    for key in ("url", "@id"):
        link = text_of(node.get(key))
        if link:
            target = address(absolute(link, subject) or link)
            found |= target.wanted
            if "#" in link:
                found.add(link.rpartition("#")[2].lower())
            elif "/" not in link:
                found.add(link.lower())
    return {token for token in found if token}


def absolute(link: str, subject: Subject) -> str:
    """A link with the host of the page's address; empty for one that is relative to the path."""
    if link.startswith(("http://", "https://")):
        return link
    if link.startswith("//"):
        return f"https:{link}"
    if link.startswith("/"):
        return f"https://{subject.address.host}{link}"
    return ""
