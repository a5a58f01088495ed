"""The readable text of a page as one string, with the way back from each character to its element.

Prices are found by one linear pass over this string instead of one query per rule, and a price
whose parts stand in elements of their own ("$", "47", "85") is still one run of text. Collecting
the pieces is left to libxml2; what needs Python (who owns a piece, is there a block boundary) is
asked only about the few pieces that matter.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from lxml import etree

JOINT = "\x1f"  # between two pieces of text: never part of a page's own text

_pieces = etree.XPath("descendant::text()[normalize-space()][not(parent::script or parent::style)]")
_first_piece = etree.XPath(
    "descendant::text()[normalize-space()][not(parent::script or parent::style)][1]", smart_strings=False
)

# Numbers in the wide digits of East Asian type: one for one, so that no character changes its place.
_WIDE_NUMBER = re.compile("[０-９]+(?:[，．][０-９]+)*")
_NARROW = str.maketrans("０１２３４５６７８９，．", "0123456789,.")

# A label is drawn inline but belongs to its own choice, so what stands in it is a line of its own.
INLINE_TAGS = frozenset(
    (
        *(
            "a",
            "abbr",
            "acronym",
            "b",
            "bdi",
            "bdo",
            "big",
            "cite",
            "code",
            "data",
            "del",
            "dfn",
            "em",
            "font",
        ),
        *(
            "i",
            "img",
            "input",
            "ins",
            "kbd",
            "link",
            "mark",
            "meta",
            "nobr",
            "q",
            "s",
            "samp",
            "small",
        ),
        *("span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr"),
    )
)
# Elements whose text nobody reads; `textarea` and `datalist` hold input, not statements.
SILENT_TAGS = frozenset(
    (
        *("script", "style", "noscript", "template", "svg", "math", "iframe", "object", "head", "textarea"),
        "datalist",
    )
)


MAX_DEPTH = 10_000


class TextMap:
    """All pieces of text of a tree in document order, joined by JOINT.

    Wide digits are in `text` as plain ones. Scripts and style sheets are left out; text of hidden elements
    is in it: ask who holds a piece before believing it.
    """

    __slots__ = ("_places", "pieces", "starts", "text")

    def __init__(self, root: etree._Element) -> None:
        body = root.find("body")
        self.pieces: list[etree._ElementUnicodeResult] = _pieces(body if body is not None else root)  # type: ignore[assignment]
        self._places: dict[etree._Element, int | None] = {}
        self.text = _WIDE_NUMBER.sub(_narrow, JOINT.join(self.pieces))
        self.starts = list(accumulate([len(piece) + 1 for piece in self.pieces], initial=0))

    def index_at(self, offset: int) -> int:
        """Number of the piece that holds the character at `offset`."""
        return bisect_right(self.starts, offset) - 1

    def holder(self, index: int) -> etree._Element:
        """The element that directly contains piece `index`."""
        piece = self.pieces[index]
        owner = piece.getparent()
        assert owner is not None
        if piece.is_tail:
            parent = owner.getparent()
            assert parent is not None
            return parent
        return owner

    def broken_between(self, index: int) -> bool:
        """True if a block boundary or line break stands between piece `index` and the next one."""
        if index + 1 >= len(self.pieces):
            return True
        follower = self.pieces[index + 1]
        if follower.is_tail:
            owner = follower.getparent()
            if owner is not None and owner.tag not in INLINE_TAGS:
                return True
        left, right = self.holder(index), self.holder(index + 1)
        if left is right:
            return False
        if _line_break_before(right, left):
            return True
        path: list[etree._Element] = []
        node: etree._Element | None = left
        while node is not None and len(path) < 12:
            path.append(node)
            node = node.getparent()
        node = right
        for _ in range(12):
            if node is None:
                return True
            if node in path:
                above = path[: path.index(node)]
                return any(step.tag not in INLINE_TAGS for step in above)
            if node.tag not in INLINE_TAGS:
                return True
            node = node.getparent()
        return True

    def nearer(self, left: int, middle: int, right: int) -> int:
        """Whether piece `middle` shares a smaller box with `right` (above 0), `left` (below), or neither."""
        if left == right or left == middle == right:
            return 0
        return self._depth_shared(middle, right) - self._depth_shared(left, middle)

    def _depth_shared(self, one: int, two: int) -> int:
        """How deep in the page the smallest box lies that holds both pieces; one piece is deeper than any."""
        if one == two:
            return MAX_DEPTH
        holder = self.holder(one)
        above = [holder, *holder.iterancestors()]
        node: etree._Element | None = self.holder(two)
        while node is not None:
            if node in above:
                return len(above) - above.index(node)
            node = node.getparent()
        return 0

    def position(self, element: etree._Element) -> int | None:
        """Number of the first piece of text in or under `element`; None if it holds none."""
        if element not in self._places:
            self._places[element] = self._position(element)
        return self._places[element]

    def _position(self, element: etree._Element) -> int | None:
        own: list[str] = _first_piece(element)  # type: ignore[assignment]
        index = -1
        for _ in range(50 if own else 0):
            try:
                index = self.pieces.index(own[0], index + 1)  # type: ignore[arg-type]
            except ValueError:
                return None
            holder: etree._Element | None = self.holder(index)
            while holder is not None and holder is not element:
                holder = holder.getparent()
            if holder is element:
                return index
        return None


def _narrow(number: re.Match[str]) -> str:
    return number[0].translate(_NARROW)


def _line_break_before(element: etree._Element, left: etree._Element) -> bool:
    """Whether a `br` or `hr` stands right before an element or the inline boxes that begin with it."""
    node: etree._Element | None = element
    for _ in range(6):
        if node is None or node is left:
            return False
        before = node.getprevious()
        if before is not None:
            return before.tag in ("br", "hr")
        node = node.getparent()
        if node is not None and node.text and not node.text.isspace():
            return False
    return False


def words_of(element: etree._Element, limit: int = 2000) -> str:
    """Readable text under one element on one line; scripts and templates left out."""
    parts: list[str] = []
    length = 0
    for node in element.iter():
        silent = node.tag in SILENT_TAGS or not isinstance(node.tag, str)
        text = None if silent else node.text
        for part in (text, node.tail if node is not element else None):
            if part and not part.isspace():
                parts.append(part)
                length += len(part)
        if length > limit:
            break
    return " ".join(" ".join(parts).split())
