"""Whether the seller that a page names is the shop itself.

Nearly every shop's markup names a seller, and nearly always it is the shop: by its name, its legal name or
its address. Only another one is a marketplace seller, whose offers are not the shop's own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import urlsplit

_WORDS = re.compile(r"[^\W_]+")

# Legal forms, as they stand at the end of a company's name (dots and spaces do not count).
_FORMS = (
    "ltd limited llc llp inc incorporated corp corporation co company plc pty lp pbc gmbh mbh ag kg kgaa "
    "ohg ug ek ev se sa sas sasu sarl eurl snc sl slu srl srls spa sapa lda ltda bv nv vof bvba cv ab as asa "
    "aps oy oyj hf ehf sp zoo sro doo dd kft zrt nyrt rt ood eood ad uab sia ou kk gk pte sdn bhd jsc ooo "
    "oao zao fzco fze"
)
_LEGAL = frozenset(_FORMS.split())

_SHOP = (
    "the official online store stores shop shops webshop eshop onlineshop boutique tienda negozio winkel "
    "and und et y e www com net org biz info eu co"
)
# Words that a shop puts around its name.
_AROUND = frozenset(_SHOP.split())


def is_shop(seller: str, url: str, names: Iterable[str] = ()) -> bool:
    """True when `seller` is the shop at `url`, or one of `names` (of the retailer), or says nothing.

    Names are compared without case, accents, punctuation, legal forms, and words such as "online shop".
    """
    host = (urlsplit(url).hostname or "").lower()
    if seller.startswith(("http://", "https://")):
        return (urlsplit(seller).hostname or "").lower().removeprefix("www.") == host.removeprefix("www.")
    named = _bare(seller, host)
    if not named:
        return True
    if any(named == _bare(name, host) for name in names):
        return True
    # shop.kettle-world.co.uk: one of its labels, or several of them, spell the name.
    labels = [label for label in host.split(".")[:-1] if label not in _AROUND]
    return any(named == "".join(_WORDS.findall(_folded(label))) for label in labels)


@lru_cache(maxsize=4096)
def _bare(name: str, host: str) -> str:
    """The words of a name that make it that name, in one."""
    words = _WORDS.findall(_folded(name))
    ending = set(host.split(".")[1:])
    while len(words) > 1 and (words[-1] in _LEGAL or words[-1] in ending or len(words[-1]) == 1):
        words.pop()
    kept = [word for word in words if word not in _AROUND] or words
    return "".join(kept)


def _folded(text: str) -> str:
    spread = unicodedata.normalize("NFKD", text.casefold())
    return "".join(mark for mark in spread if not unicodedata.combining(mark))
