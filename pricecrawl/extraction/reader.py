"""One page read whole: every source of facts, brought together, with a sentence for each choice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from decimal import Decimal

from pricecrawl.domain.availability import Availability, StockReading, decide
from pricecrawl.domain.candidate import (
    MAX_GENERIC_CANDIDATES,
    Method,
    PriceKind,
    RawPrice,
    Tier,
)
from pricecrawl.domain.listing import RawListing
from pricecrawl.domain.market import Market, TaxBasis
from pricecrawl.domain.money import amount_of, read_price
from pricecrawl.domain.money_signs import sign_in
from pricecrawl.domain.reasons import ReviewReason
from pricecrawl.extraction.amounts import occurrences, unsigned
from pricecrawl.extraction.buybox import look, raw_of
from pricecrawl.extraction.codes import told_gtin
from pricecrawl.extraction.contents import told_content
from pricecrawl.extraction.controls import Control, controls
from pricecrawl.extraction.document import Document
from pricecrawl.extraction.embedded import read_embedded
from pricecrawl.extraction.jsonld import json_ld_nodes
from pricecrawl.extraction.microdata import microdata_nodes, rdfa_nodes
from pricecrawl.extraction.names import name_key
from pricecrawl.extraction.opengraph import read_opengraph
from pricecrawl.extraction.page_market import offered_currency, page_market, scripted_currency, without_former
from pricecrawl.extraction.products import Structured, read_structured
from pricecrawl.extraction.promotions import told_promotion
from pricecrawl.extraction.reconcile import RANGE, Reconciled, amounts, reconcile
from pricecrawl.extraction.rules import CATEGORY, Rules, default_chooser
from pricecrawl.extraction.seen import Seen
from pricecrawl.extraction.settling import Visible
from pricecrawl.extraction.stock import configured_stock, control_stock, told_stock
from pricecrawl.extraction.subject import Subject, nowhere, subject_of
from pricecrawl.extraction.surroundings import Surroundings
from pricecrawl.extraction.textmap import words_of

_METHODS = {
    PriceKind.SALE: Method.DEAL_PRICE,
    PriceKind.MEMBER: Method.MEMBER_PRICE,
    PriceKind.PRE_ORDER: Method.PRE_ORDER_PRICE,
    PriceKind.LIST: Method.ORIGINAL_PRICE,
}
_WORDS = {
    PriceKind.STANDARD: "Price",
    PriceKind.SALE: "Deal",
    PriceKind.MEMBER: "Member",
    PriceKind.PRE_ORDER: "Pre-order",
    PriceKind.LIST: "Original",
}


FIRM_SCORE = 10.0
"""Score of a visible price that stands at the button that buys, under the product's heading."""


@dataclass(frozen=True, slots=True)
class PageReading:
    """What one page says.

    `listing` holds every candidate that votes; `set_aside` the amounts that do not, each with its reason.
    `market` is the caller's, completed from the page. `is_product` tells that the page shows one product.
    `trace` explains each choice in a sentence.
    """

    listing: RawListing
    trace: tuple[str, ...]
    is_product: bool
    market: Market = field(default_factory=Market)
    set_aside: tuple[tuple[RawPrice, str], ...] = ()


def read_page(
    document: Document,
    *,
    rules: Rules | None = None,
    market: Market | None = None,
    now: datetime | None = None,
    zone: tzinfo | None = None,
    explain: bool = False,
) -> PageReading:
    """Read a page with the rules of its source. Pure: the same page gives the same reading.

    `now` (aware) tells which of several offers holds; `zone` is the shop's, for dates without a time.
    With `explain`, every visible amount that is no price is in `set_aside` too, with its reason.

    Raises:
        RuleError: a configured rule is wrong.
    """
    reader = _Reader(document, rules or Rules(), market or Market(), now, zone, explain=explain)
    try:
        return reader.read()
    finally:
        # The subject and its surroundings know each other; apart, the tree goes as soon as nobody holds it.
        reader.subject.aside = nowhere


class _Reader:
    """The steps of one reading, and what they hand on."""

    def __init__(
        self,
        document: Document,
        rules: Rules,
        market: Market,
        now: datetime | None,
        zone: tzinfo | None,
        *,
        explain: bool = False,
    ) -> None:
        self.document = document
        self.explain = explain
        self.rules = rules
        self.given = market
        self.subject: Subject = subject_of(document, now=now, zone=zone)
        self.subject.country = market.country or ""
        self.surroundings = Surroundings(document, self.subject)
        self.subject.aside = self.surroundings.aside
        self.trace: list[str] = []
        self.doubts: list[str] = []

    def read(self) -> PageReading:
        structured = self._structured()
        stated = [p.currency for reading in structured if reading.own for p in reading.prices if p.currency]
        stated += [p.currency for r in structured if r.own for o in r.options for p in o.prices if p.currency]
        if not stated:
            stated = [p.currency for reading in structured for p, _ in reading.set_aside if p.currency]
        self.market = page_market(self.document, self.given, stated)
        found = occurrences(self.document.textmap)
        self.controls: list[Control] = controls(self.document)
        self.found = found
        visible = look(self.document.textmap, found, self.surroundings, self.controls)
        payable = any(item.kind is not PriceKind.LIST for item in visible.chosen)
        if not payable and (bare := unsigned(self.document)):
            signed = {item.first for item in found}
            found = sorted((*found, *(i for i in bare if i.first not in signed)), key=lambda i: i.start)
            visible = look(self.document.textmap, found, self.surroundings, self.controls)
        shown, choices = self._shown(visible)
        self._find_currency([*shown, *choices], structured)
        self._prefer_shown_currency(shown, structured)
        seen_stock = self._seen_stock()
        best = max((item.score for item in visible.chosen), default=0.0)
        if self._needs_state(structured, shown, best, [*seen_stock, *_stock_of(structured)]):
            embedded = read_embedded(self.document, self.subject)
            if embedded is not None:
                structured.append(embedded)
        payable = any(price.kind is not PriceKind.LIST for price in shown)
        if not payable and not choices:
            shown += self._confirming(visible, structured)
            payable = any(price.kind is not PriceKind.LIST for price in shown)
        if not payable and not choices and not any(r.own and (r.prices or r.options) for r in structured):
            shown += self._likeliest(visible, decide([*seen_stock, *_stock_of(structured)]).value)
        named = self.subject.heading is not None
        together = reconcile(structured, shown, choices, market=self.market, named=named)
        stock = [*seen_stock, *_stock_of(structured)]
        self.trace.append(f"Stock: {decide(stock).reason}")
        self.trace += together.trace
        prices = [*together.prices, *self._by_rules(visible)]
        promotion = self._promotion(visible)
        listing = replace(self._listing(structured, prices, stock, together), promotion_text=promotion)
        is_product = bool(together.prices) or any(
            reading.own and (reading.stock or reading.likeness >= 0.5) for reading in structured
        )
        aside = [*together.set_aside, *(self._aside(visible) if self.explain else ())]
        return PageReading(listing, tuple(self.trace), is_product, self.market, tuple(aside[:200]))

    def _find_currency(self, shown: Sequence[RawPrice], structured: Sequence[Structured]) -> None:
        """Where several currencies share a sign, the page's scripts or its list of currencies may name it."""
        if self.market.currency is not None:
            return
        tags = {reading[1] for price in shown if (reading := amount_of(price, self.market)) is not None}
        if len(tags) == 1 and None not in tags:
            self.market = replace(self.market, currency=tags.pop())
            return
        prices = [*shown, *(price for reading in structured if reading.own for price in reading.prices)]
        readings = [(price.text, amount_of(price, self.market)) for price in prices]
        unclear = [text for text, reading in readings if reading is not None and reading[1] is None]
        if unclear:
            named = scripted_currency(self.document) or offered_currency(self.document, unclear)
            named = named or self._only_currency(unclear)
            self.market = replace(self.market, currency=named)

    def _only_currency(self, unclear: Sequence[str]) -> str | None:
        """The currency of all amounts on the page that name one, if the unclear signs can stand for it."""
        plain = replace(self.market, currency=None)
        texts = {item.text for item in self.found if item.signed}
        codes = {read_price(text, market=plain).currency for text in texts} - {None}
        code = codes.pop() if len(codes) == 1 else None
        signs = [sign_in(text) for text in unclear]
        return code if all(sign is None or code in sign.codes for sign in signs) else None

    def _prefer_shown_currency(self, shown: Sequence[RawPrice], structured: Sequence[Structured]) -> None:
        """Where the caller knows no currency, that of the price tag comes before that of the markup."""
        stated = self.market.currency
        if self.given.currency is not None or stated is None:
            return
        payable = [price for price in shown if price.kind is not PriceKind.LIST]
        # Only a sign that stands for one currency everywhere counts: "$" is what the markup says it is.
        markets = (Market(), replace(self.market, currency=None))
        readings = [amount_of(price, market) for price in payable for market in markets]
        seen = {reading[1] for reading in readings if reading is not None}
        if len(seen) == 1 and (code := seen.pop()) is not None and code != stated:
            self.market = replace(self.market, currency=code)
            self.doubts.append(ReviewReason.CURRENCY_CONFLICT.value)
            self.trace.append(f"The page shows {code} while its markup states {stated}: a person must look.")

    def _structured(self) -> list[Structured]:
        readings: list[Structured | None] = [
            read_structured(nodes, method, self.subject)
            for nodes, method in (
                (json_ld_nodes(self.document), Method.JSON_LD),
                (microdata_nodes(self.document), Method.MICRODATA),
                (rdfa_nodes(self.document), Method.RDFA),
            )
            if nodes
        ]
        readings.append(read_opengraph(self.document))
        return [reading for reading in readings if reading is not None]

    def _shown(self, visible: Visible) -> tuple[list[RawPrice], list[RawPrice]]:
        """Visible prices and unchosen options, without kinds that a rule of the shop owns."""
        owned = {kind for kind, name in CATEGORY.items() if self.rules.tier(name) is not Tier.GLOBAL}
        shown = [raw_of(item, generic=False) for item in visible.chosen if item.kind not in owned]
        shown = without_former(shown, replace(self.market, currency=self.given.currency))
        choices = [raw_of(item, generic=False) for item in visible.options if item.kind not in owned]
        return shown, choices

    def _confirming(self, visible: Visible, structured: Sequence[Structured]) -> list[RawPrice]:
        """A vague amount of the product's area that is what the data says: the page shows that price."""
        if self.rules.tier(CATEGORY[PriceKind.STANDARD]) is not Tier.GLOBAL:
            return []
        said = amounts((p for reading in structured if reading.own for p in reading.prices), self.market)
        vague = [item for item in visible.vague if item.kind is PriceKind.STANDARD and not item.lowest]
        found = [raw_of(item, generic=False) for item in sorted(vague, key=lambda item: -item.score)]
        return [price for price in found if amounts([price], self.market) & said][:1]

    def _likeliest(self, visible: Visible, stock: Availability) -> list[RawPrice]:
        """Where no source gives a price: the one vague amount that stands out, as a guess for a person."""
        if stock not in (Availability.IN_STOCK, Availability.PRE_ORDER, Availability.UNKNOWN):
            return []
        if self.rules.tier(CATEGORY[PriceKind.STANDARD]) is not Tier.GLOBAL:
            return []
        vague = sorted((i for i in visible.vague if i.kind is PriceKind.STANDARD), key=lambda i: -i.score)
        if not vague or any(i.digits != vague[0].digits and i.score > vague[0].score - 1 for i in vague):
            return []
        return [raw_of(vague[0], generic=True)]

    def _needs_state(
        self,
        structured: Sequence[Structured],
        shown: Sequence[RawPrice],
        best: float,
        stock: Sequence[StockReading],
    ) -> bool:
        """The page's own state is read unless two sources already agree and none disagrees.

        A price tag right beside the button that buys needs no second source (`best` is its score).
        """
        values = [self._gross(reading.prices) for reading in structured if reading.own]
        if any(reading.options for reading in structured):
            return True
        asked = any(reading.asked for reading in structured if reading.own)
        if not asked and (self.subject.address.options or self._is_range(structured, shown)):
            return True
        values = [value for value in values if value]
        if shown:
            if not values and best >= FIRM_SCORE:
                return False
            values.append(self._gross(shown))
        if not values:
            # Nothing is shown or marked up: where the shop says it is sold out, no state makes it a price.
            return decide(stock).value is not Availability.OUT_OF_STOCK
        return len(values) < 2 or any(value != values[0] for value in values) or len(values[0]) != 1

    def _is_range(self, structured: Sequence[Structured], shown: Sequence[RawPrice]) -> bool:
        """Whether a source gives only the low end of a range: the state may tell which variant is chosen."""
        prices = [*shown, *(price for reading in structured if reading.own for price in reading.prices)]
        return any(RANGE in price.context for price in prices)

    def _gross(self, prices: Sequence[RawPrice]) -> set[Decimal]:
        """Amounts that may be paid, without those that say they leave tax out."""
        return amounts((p for p in prices if p.tax_basis is not TaxBasis.EXCLUSIVE), self.market)

    def _by_rules(self, visible: Visible) -> list[RawPrice]:
        """The cascade: per kind the learned, else the row's, else our default rules."""
        found: list[RawPrice] = []
        for kind in (
            PriceKind.SALE,
            PriceKind.MEMBER,
            PriceKind.PRE_ORDER,
            PriceKind.LIST,
            PriceKind.STANDARD,
        ):
            tier = self.rules.tier(CATEGORY[kind])
            prices = self._defaults(kind, visible) if tier is Tier.GLOBAL else self._configured(kind, tier)
            found += prices
        return found

    def _configured(self, kind: PriceKind, tier: Tier) -> list[RawPrice]:
        """Prices by the shop's own rules: they are believed wherever they point."""
        found: list[RawPrice] = []
        rules = self.rules.rules(CATEGORY[kind])
        for rule in rules:
            method = _METHODS.get(kind, rule.method)
            for match in rule.matches(self.document, 20):
                price = RawPrice(
                    kind, match.value[:200], method, rule.text, tier=tier, context=match.text[:80]
                )
                if not any(p.text == price.text and p.selector == price.selector for p in found):
                    found.append(price)
        names = ", ".join(rule.text for rule in rules[:4])
        self.trace.append(f"{_WORDS[kind]}: the {tier.value} rules apply ({names}) and give {len(found)}.")
        return found

    def _defaults(self, kind: PriceKind, visible: Visible) -> list[RawPrice]:
        """Prices by our default rules, among the visible amounts of the product's area."""
        found: list[RawPrice] = []
        pool = [*visible.chosen, *(visible.vague if kind is PriceKind.STANDARD else ())]
        for item in pool:
            if kind is PriceKind.STANDARD:
                if item.kind is not kind or item.lowest:
                    continue
            elif item.kind not in (kind, PriceKind.STANDARD):
                continue
            rule = self._default_rule(kind, item)
            if rule is None:
                continue
            price = raw_of(item, generic=kind is PriceKind.STANDARD)
            method = _METHODS.get(kind, Method.GENERIC_CSS)
            price = replace(price, kind=kind, method=method, selector=rule, tier=Tier.GLOBAL)
            if not any(p.text == price.text and p.selector == price.selector for p in found):
                found.append(price)
            if len(found) >= MAX_GENERIC_CANDIDATES:
                break
        if found:
            self.trace.append(f"{_WORDS[kind]}: the default rules apply and give {len(found)}.")
        return found

    def _default_rule(self, kind: PriceKind, item: Seen) -> str | None:
        """The first default rule that selects the amount's element or a box that holds it alone."""
        if kind is PriceKind.SALE and (item.kind is not PriceKind.STANDARD or item.lowest or item.regular):
            return None
        if kind in (PriceKind.MEMBER, PriceKind.PRE_ORDER, PriceKind.LIST) and item.kind is not kind:
            return None
        levels = item.around.levels[: 4 if kind is PriceKind.STANDARD else 3]
        chooser, rules = default_chooser(CATEGORY[kind])
        ranks = [rank for element, _ in levels if (rank := chooser.first(element)) is not None]
        return rules[min(ranks)].text if ranks else None

    def _seen_stock(self) -> list[StockReading]:
        """What configured rules, the product's own controls and the words of its area say."""
        found = configured_stock(self.document, self.rules)
        owned = self.rules.tier("stock") is not Tier.GLOBAL
        found += control_stock(self.controls, self.surroundings)
        found += told_stock(self.document, self.surroundings, named=not owned)
        return [reading for reading in found if reading.value is not Availability.UNKNOWN]

    def _listing(
        self,
        structured: Sequence[Structured],
        prices: Sequence[RawPrice],
        stock: Sequence[StockReading],
        together: Reconciled,
    ) -> RawListing:
        own = [reading for reading in structured if reading.own]
        best = sorted(own, key=lambda reading: (reading.method is Method.EMBEDDED, -reading.likeness))
        hints = [*together.hints, *self.doubts]

        def first(name: str) -> str:
            ruled = self._field(name)
            if ruled:
                return ruled
            return next((value for reading in best if (value := getattr(reading, name))), "")

        document = self.document
        heading = words_of(self.subject.heading, 300) if self.subject.heading is not None else ""
        name = self._name(first("name"), heading)
        sku = (
            self._field("source_sku")
            or first("sku")
            or self.subject.address.handle
            or self.subject.address.host
        )
        return RawListing(
            source_sku=sku[:255],
            url=document.final_url or document.url,
            name=name[:1000],
            brand=first("brand"),
            gtin_text=first("gtin") or told_gtin(document.textmap, self.surroundings),
            mpn_text=first("mpn"),
            size_text=first("size")
            or told_content(document.textmap, self.subject.heading, self.surroundings),
            variant_text=next((reading.variant for reading in best if reading.variant), ""),
            category=first("category"),
            condition_text=next((reading.condition for reading in best if reading.condition), ""),
            seller=next((reading.seller for reading in best if reading.seller), ""),
            shipping_text=self._field("shipping")
            or next((reading.shipping for reading in best if reading.shipping), ""),
            image_url=self._image(first("image")),
            prices=tuple(prices),
            stock=tuple(stock),
            tax_basis=self.given.tax_basis,
            review_hints=tuple(dict.fromkeys(hints)),
        )

    def _name(self, structured: str, heading: str) -> str:
        """The product's name: structured data that the heading confirms, else the heading."""
        ruled = self._field("name")
        if ruled:
            return ruled
        if structured and (not heading or self.subject.names_it(structured) >= 0.5):
            return heading if self._adds_the_shop(structured, heading) else structured
        if heading:
            return heading
        return structured or self.document.title

    def _adds_the_shop(self, name: str, heading: str) -> bool:
        """Whether a name is the heading and the shop's own name behind it, as titles are made."""
        if not heading or not name.startswith(heading):
            return False
        rest = name[len(heading) :].strip()
        shop = "".join(name_key(rest).split())
        if len(shop) < 3 or rest[0].isalnum():
            return False
        host = "".join(name_key(self.subject.address.host).split())
        label = max(self.subject.address.host.split("."), key=len, default="")
        sites = {"".join(name_key(self.document.metas.get("og:site_name", "")).split())} - {""}
        return shop in sites or shop in host or (len(label) >= 4 and "".join(name_key(label).split()) in shop)

    def _field(self, category: str) -> str:
        """The value of a configured rule for one of the facts; empty where none is configured."""
        if self.rules.tier(category) is Tier.GLOBAL:
            return ""
        for rule in self.rules.rules(category):
            match = rule.first(self.document)
            if match is not None:
                return match.value
        return ""

    def _promotion(self, visible: Visible) -> str:
        """The line of the shop's rule, else one near the price that gives more for less."""
        if ruled := self._field("promotion"):
            return ruled
        told = told_promotion(self.document.textmap, self.surroundings, visible.chosen)
        if told:
            self.trace.append(f"Promotion: {told!r} makes a lower price depend on the quantity.")
        return told

    def _image(self, link: str) -> str:
        return self.document.absolute(link) if link else ""

    def _aside(self, visible: Visible) -> Iterable[tuple[RawPrice, str]]:
        for item in visible.aside[:80]:
            yield raw_of(item, generic=True), item.reason


def _stock_of(structured: Sequence[Structured]) -> list[StockReading]:
    """Stock by the data that is the page's own, where it says anything."""
    found = (stock for reading in structured if reading.own for stock in reading.stock)
    return [stock for stock in found if stock.value is not Availability.UNKNOWN]
