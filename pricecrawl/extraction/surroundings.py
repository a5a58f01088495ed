"""What stands around an amount: the words in class names, the labels beside it, and whose card it is in.

The rules come from how shops are built: a price says what it is by a label before or after it, by a
strike-through, or by the name of the box it stands in; other products stand in repeated cards, in
lists of links and under headings of their own, never in a box that holds the product's own heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from lxml import etree

from pricecrawl.extraction.address import address, same_path
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.marks import Mark, marks_of_names
from pricecrawl.extraction.subject import Subject
from pricecrawl.extraction.textmap import words_of
from pricecrawl.extraction.visibility import Visibility

_TAG_MARKS = {
    "nav": Mark.FURNITURE,
    "footer": Mark.FURNITURE,
    "aside": Mark.OTHERS,
    "del": Mark.OLD,
    "s": Mark.OLD,
    "strike": Mark.OLD,
    "ins": Mark.CURRENT,
    "option": Mark.CHOICE,
    "select": Mark.CHOICE,
    "label": Mark.NONE,
}
_ATTRIBUTES = ("class", "id", "data-testid", "data-test", "data-test-id", "data-qa", "data-role", "itemprop")
_ROLES = {
    "navigation": Mark.FURNITURE,
    "banner": Mark.FURNITURE,
    "contentinfo": Mark.FURNITURE,
    "dialog": Mark.FURNITURE,
    "search": Mark.FURNITURE,
    "complementary": Mark.OTHERS,
    "radio": Mark.CHOICE,
    "option": Mark.CHOICE,
}
_STRUCK = re.compile(r"text-decoration[a-z-]*\s*:\s*[^;]*line-through", re.IGNORECASE)
_CHOICE_TAGS = frozenset(("li", "label", "button", "a", "div", "tr", "span"))
_CARD_TAGS = frozenset(("li", "article", "div", "a", "td", "section", "tr", "figure"))
_LESSER_HEADINGS = frozenset(("h2", "h3", "h4", "h5"))
_CART_SUM = re.compile(
    r"(?:cart|basket|bag|checkout|order)[-_]*(?:summary|total|review|details)", re.IGNORECASE
)
_UNKNOWN: Any = object()
_BUYING_TITLE = re.compile(
    r"pric|preis|prix|prec|prezz|prijs|\bpris|cena|hinta|fiyat|цен|ціна|价|價|가격|"
    r"\bbuy(?!ing|s)\b|\bpurchase\b|\border\b|^new$|(?:buy|brand) new|kauf|"
    r"bestell|achet|command|compr|acquist|koop|köp|kup|choose|select|option|size|colou?r|variant|quantit|"
    r"auswahl|wähl|größe|taille|talla|taglia|maat|storlek|availab|verfügbar|stock|deal|offer|angebot|sale",
    re.IGNORECASE,
)
MAX_CLIMB = 60
MAX_FAMILY = 600
_PICTURE = re.compile(r"\.(?:jpe?g|png|webp|gif|avif|svg)(?:[?#]|$)|/media/", re.IGNORECASE)
_OTHERS_TITLE = re.compile(
    r"related|associated|similar|also (?:viewed|bought|like|purchased|love|considered)|you (?:may|might)|"
    r"recommend|recently viewed|"
    r"frequently bought|bought together|sponsored|best ?sellers?|trending|popular (?:products|items)|"
    r"more (?:from|like|items)|"
    r"other (?:editions|versions|titles|products|offers|vendors)|see also|andere (?:verkopers|anbieter|"
    r"verkäufer)|weitere (?:anbieter|verkäufer|angebote)|autres (?:vendeurs|offres)|altri venditori|"
    r"otros vendedores|outros vendedores|inni sprzedawcy|andra säljare|другие продавцы|"
    r"complete the look|goes (?:well )?with|pairs well|accessories|other sellers|compare with|"
    r"alternatives?\b|"
    r"ähnliche|passend|zubehör|kunden (?:kauften|haben|sahen)|auch interessieren|wird oft zusammen|"
    r"empfehl|weitere (?:produkte|artikel)|zuletzt|"
    r"similaires|aussi (?:aimer|acheté|consulté)|recommandé|accessoires|produits? (?:associés|"
    r"complémentaires)|vus récemment|"
    r"similares|relacionados|también|recomend|accesorios|vistos|simili|correlati|anche|consigliat|"
    r"accessori\b|"
    r"vergelijkbare|gerelateerd|ook bekeken|aanbevolen|accessoires|liknande|relaterade|andra köpte|"
    r"tilbehør|lignende|andre købte|"
    r"podobn|polecane|klienci|inni kupili|akcesoria|související|doporuč|příslušenství|súvisiace|odporúč|"
    r"hasonló|kapcsolódó|ajánlott|"
    r"похож|рекоменд|с этим товаром|аксессуары|вас может|схожі|супутні|benzer|ilgili|önerilen|関連|おすすめ|"
    r"一緒に|类似|相关|推荐|"
    r"相關|推薦|관련|추천|함께|ذات صلة|مشابه|قد يعجبك|منتجات أخرى|דומים|מוצרים נוספים|σχετικά|παρόμοια",
    re.IGNORECASE,
)


@dataclass(slots=True, eq=False)
class Around:
    """Everything around one element, up to the box that it shares with the product's heading.

    `levels` are (element, marks) of the element and the boxes around it, nearest first. `other` names why
    the place belongs to something else, empty if it does not. `shared` is the nearest box that also holds
    the heading, None where there is no heading.
    """

    levels: tuple[tuple[etree._Element, int], ...]
    other: str
    hidden: bool
    shared: etree._Element | None
    struck: bool = False
    chosen: bool = False
    ticked: bool = False

    @property
    def steps(self) -> int:
        """How many elements lie between the element and the shared box."""
        return len(self.levels)


class Surroundings:
    """Answers about the elements of one page, each element looked at once."""

    def __init__(self, document: Document, subject: Subject) -> None:
        self.document = document
        self.subject = subject
        self.visibility = Visibility(document)
        self.spine: dict[etree._Element, int] = {}
        node = subject.heading
        while node is not None:
            self.spine[node] = len(self.spine)
            node = node.getparent()
        self._marks: dict[etree._Element, int] = {}
        self._targets: dict[etree._Element, str] = {}
        self._around: dict[etree._Element, Around] = {}
        self._other: dict[etree._Element, str] = {}
        self.priced: set[etree._Element] = set()
        self._titled: dict[etree._Element, str] = {}
        self._sections: dict[etree._Element, etree._Element | None] = {}
        self._shelves: dict[tuple[etree._Element, object, str], bool] = {}
        self._families: dict[etree._Element, dict[tuple[object, str], list[etree._Element]]] = {}
        self._repeated: dict[etree._Element, bool] = {}

    def marks(self, element: etree._Element) -> int:
        """What tag, role, style and names of one element say."""
        known = self._marks.get(element)
        if known is not None:
            return known
        names = " ".join([value for name in _ATTRIBUTES if (value := element.get(name))])
        found = marks_of_names(names) if names else Mark.NONE
        if found & Mark.OTHERS and found & Mark.PRICE:
            # A theme's own names count more than its test ids: "productCardPrice" may be the product's.
            themed = marks_of_names(f"{element.get('class') or ''} {element.get('id') or ''}")
            if themed & Mark.PRICE and not themed & Mark.OTHERS:
                found &= ~Mark.OTHERS
        tag = element.tag
        found |= _TAG_MARKS.get(tag, Mark.NONE) if isinstance(tag, str) else Mark.NONE
        role = element.get("role")
        if role:
            found |= _ROLES.get(role, Mark.NONE)
        if self._is_struck(element):
            found |= Mark.OLD
        if element.get("aria-checked") == "true" or element.get("aria-selected") == "true":
            found |= Mark.CHOSEN | Mark.CHOICE
        if element.get("aria-current") == "true" or element.get("checked") is not None:
            found |= Mark.CHOSEN
        self._marks[element] = found
        return found

    def around(self, element: etree._Element) -> Around:
        """What surrounds an element, see `Around`."""
        known = self._around.get(element)
        if known is None:
            known = self._around[element] = self._look(element)
        return known

    def aside(self, element: etree._Element) -> bool:
        """Whether an element stands among other products or in the furniture of the page."""
        return bool(self.around(element).other)

    def _look(self, element: etree._Element) -> Around:
        chain: list[etree._Element] = []
        node: etree._Element | None = element
        shared: etree._Element | None = None
        while node is not None and len(chain) < MAX_CLIMB:
            if node in self.spine:
                shared = node
                break
            chain.append(node)
            node = node.getparent()
        other = self._elsewhere(chain)
        if other:
            return Around((), other, False, shared)
        levels = tuple((step, self.marks(step)) for step in chain)
        struck = chosen = ticked = False
        for steps, (step, marks) in enumerate(levels):
            if steps < 4 and not struck:
                struck = step.tag in ("del", "s", "strike") or self._is_struck(step)
            if marks & Mark.CHOSEN and steps < 6 and step.tag in _CHOICE_TAGS:
                chosen = True
            if step.tag == "label" and _has_box(step):
                ticked = True
        return Around(
            levels=levels,
            other="",
            hidden=self.visibility.hidden(element),
            shared=shared,
            struck=struck,
            chosen=chosen,
            ticked=ticked,
        )

    def _is_struck(self, element: etree._Element) -> bool:
        """Whether its own style or a rule of the page draws a line through an element."""
        style = element.get("style")
        return bool(style and _STRUCK.search(style)) or self.visibility.struck(element)

    def _elsewhere(self, chain: list[etree._Element]) -> str:
        """Why an element belongs to something else; asked from the outside in, each box once."""
        reason = ""
        for node in reversed(chain):
            known = self._other.get(node)
            if known is None:
                known = self._other[node] = reason or self._belongs_elsewhere(node, self.marks(node))
            reason = known
        return reason

    def _belongs_elsewhere(self, node: etree._Element, marks: int) -> str:
        """Why what stands in `node` is not the product's, or nothing."""
        if marks & Mark.FURNITURE and (
            not marks & (Mark.PRICE | Mark.BUY_BOX) or node.tag in ("nav", "footer")
        ):
            return "in the furniture of the page"
        if marks & Mark.CART and (not marks & Mark.BUY_BOX or _CART_SUM.search(node.get("class") or "")):
            return "in the cart"
        if marks & Mark.OTHERS and not marks & (Mark.BUY_BOX | Mark.PRICE_BOX) and not self._sells(node):
            return "among other products"
        tag = node.tag
        if tag == "a" and self._leads_away(node):
            return "in a link to another page"
        if tag == "header" and self._is_site_header(node):
            return "in the furniture of the page"
        if tag in _CARD_TAGS and not marks & (Mark.CHOICE | Mark.CHOSEN) and self._is_card(node):
            return "in one of several cards"
        return ""

    def _sells(self, node: etree._Element) -> bool:
        """Whether the product itself is bought in an `aside`: it has a button and leads to no other page."""
        if (
            node.tag != "aside"
            or marks_of_names(" ".join(filter(None, map(node.get, _ATTRIBUTES)))) & Mark.OTHERS
        ):
            return False
        buttons = sum(1 for _ in islice(node.iter("button"), 3))
        return 0 < buttons < 3 and not any(self._leads_away(link) for link in islice(node.iter("a"), 12))

    def _leads_away(self, link: etree._Element) -> bool:
        return bool(self._target(link))

    def _target(self, link: etree._Element) -> str:
        """The path of the other page that a link leads to, empty if it leads to none."""
        known = self._targets.get(link)
        if known is None:
            known = self._targets[link] = self._path_of((link.get("href") or "").strip())
        return known

    def _path_of(self, href: str) -> str:
        if not href or href.startswith(("#", "javascript:", "?", "mailto:", "tel:")):
            return ""
        target = self.document.absolute(href)
        if any(same_path(target, own) for own in self.subject.addresses):
            return ""
        return address(target).path

    def _is_site_header(self, node: etree._Element) -> bool:
        return not any(parent.tag in ("main", "article", "section") for parent in node.iterancestors())

    def _is_card(self, node: etree._Element) -> bool:
        """One of several like siblings that have prices and link somewhere: a shelf of other products."""
        known = self._repeated.get(node)
        if known is not None:
            return known
        parent = node.getparent()
        name = first_name(node)
        result = False
        if parent is not None and node in self.priced and (name or node.tag in ("li", "article", "a")):
            result = self._is_shelf(parent, node.tag, name) and self._links_away(node)
        self._repeated[node] = result
        return result

    def _is_shelf(self, parent: etree._Element, tag: object, name: str) -> bool:
        """Whether at least three like children stand here, two of which have a price and lead elsewhere."""
        known = self._shelves.get((parent, tag, name))
        if known is None:
            like = self._family(parent).get((tag, name), [])[:60]
            priced = [child for child in like if child in self.priced]
            known = len(like) >= 3 and len(priced) >= 2
            known = known and len([child for child in priced if self._links_away(child)]) >= 2
            self._shelves[parent, tag, name] = known
        return known

    def _family(self, parent: etree._Element) -> dict[tuple[object, str], list[etree._Element]]:
        """Children of a box by tag and first class; of a very long list the first ones."""
        known = self._families.get(parent)
        if known is None:
            known = self._families[parent] = {}
            for child in islice(parent, MAX_FAMILY):
                known.setdefault((child.tag, first_name(child)), []).append(child)
        return known

    def note_prices(self, holders: Iterable[etree._Element]) -> None:
        """Remember the boxes that hold amounts: a shelf is told by several of them."""
        for holder in holders:
            node: etree._Element | None = holder
            for _ in range(10):
                if node is None or node in self.priced:
                    break
                self.priced.add(node)
                node = node.getparent()

    def section(self, levels: Sequence[tuple[etree._Element, int]]) -> str:
        """The lesser heading under which an amount stands, if it names anything but the buying.

        A page goes on to other things under further headings; what the product costs stands under its own.
        """
        if self.subject.heading is None:
            return ""
        for element, _ in levels[:12]:
            heading = self._sections.get(element, _UNKNOWN)
            if heading is _UNKNOWN:
                heading = self._sections[element] = self._heading_of(element)
            if heading is not None:
                text = words_of(heading, 120)
                own = _BUYING_TITLE.search(text) or self.subject.names_it(text) >= 0.85
                return "" if own or any(character.isdigit() for character in text) else text
        return ""

    def _heading_of(self, box: etree._Element) -> etree._Element | None:
        """The lesser heading that a box begins with or that stands before it among its sisters."""
        first = next((child for child in islice(box, 2) if isinstance(child.tag, str)), None)
        for candidate in (first, first[0] if first is not None and len(first) else None):
            if candidate is not None and candidate.tag in _LESSER_HEADINGS and self._is_below(candidate):
                return candidate
        before = box.getprevious()
        for _ in range(12):
            if before is None or before in self.spine:
                return None
            if before.tag in _LESSER_HEADINGS:
                return before if self._is_below(before) else None
            before = before.getprevious()
        return None

    def _is_below(self, heading: etree._Element) -> bool:
        """Whether a heading comes after the product's own."""
        own = self.subject.heading
        if own is None or own.tag in _LESSER_HEADINGS:
            return False
        top, place = self.document.textmap.position(own), self.document.textmap.position(heading)
        return top is not None and place is not None and place > top

    def card_title(self, levels: Sequence[tuple[etree._Element, int]]) -> str:
        """Why a box around an amount is a card of another product, empty if it is not."""
        section = self.section(levels)
        for element, _ in levels[:10]:
            if section and self._names_another(element):
                return f"beside the name of another product under “{section[:40]}”"
            known = self._titled.get(element)
            if known is None:
                known = self._titled[element] = self._titled_others(element)
            if known:
                return known
        return ""

    def _titled_others(self, box: etree._Element) -> str:
        first = box[0] if len(box) else None
        heading = first if first is not None and isinstance(first.tag, str) else None
        texts = [words_of(heading, 80)] if heading is not None else []
        before = box.getprevious()
        if before is not None and before.tag in ("h2", "h3", "h4", "h5"):
            texts.append(words_of(before, 80))
        if any(len(text) < 70 and _OTHERS_TITLE.search(text) for text in texts):
            return "under a heading of other products"
        return "beside the linked name and picture of another product" if self._links_a_product(box) else ""

    def _names_another(self, box: etree._Element) -> bool:
        """Whether a box links to another page by a name."""
        for number, link in enumerate(box.iter("a")):
            if number > 4:
                return False
            if self._target(link) and sum(map(str.isalpha, words_of(link, 60))) >= 4:
                return True
        return False

    def _links_a_product(self, box: etree._Element) -> bool:
        """A picture and a name that lead to one and the same other page.

        Without the product's heading a box may be the page itself: there three such are a shelf in it.
        """
        pictures: set[str] = set()
        names: set[str] = set()
        for number, link in enumerate(box.iter("a")):
            if number > 12:
                return False
            target = self._target(link)
            if not target or _PICTURE.search(link.get("href") or ""):
                continue
            if next(link.iter("img"), None) is not None:
                pictures.add(target)
            if len(words_of(link, 60)) >= 8:
                names.add(target)
        found = len(pictures & names)
        return found > 0 and (found < 3 or self.subject.heading is not None)

    def _links_away(self, node: etree._Element) -> bool:
        if node.tag == "a":
            return self._leads_away(node)
        for number, link in enumerate(node.iter("a")):
            if self._leads_away(link):
                return True
            if number > 8:
                break
        return False


def first_name(element: etree._Element) -> str:
    """The first class of an element: what themes call the kind of box it is."""
    names = (element.get("class") or "").split()
    return names[0] if names else ""


def _has_box(label: etree._Element) -> bool:
    """Whether a label belongs to a tick box: what it names is an extra."""
    for box in label.iter("input"):
        return (box.get("type") or "").lower() == "checkbox"
    return False
