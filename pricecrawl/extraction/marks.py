"""What the names on an element (class, id, test ids) say of what stands in it.

The words are those that shop themes of many makers and languages use. They are matched part by part
("price--line-through" has the parts price, line, through), as one, two or three parts together, so that
`sale` is found in `price-item--sale` and not in `wholesale`.
"""

from __future__ import annotations

import re
from functools import lru_cache


class Mark:
    """What the names on an element say of what is in it: bits of an int, since pages ask for thousands."""

    NONE = 0
    PRICE = 1 << 0
    CURRENT = 1 << 1
    OLD = 1 << 2
    REGULAR = 1 << 3
    SAVING = 1 << 4
    UNIT = 1 << 5
    INSTALMENT = 1 << 6
    SHIPPING = 1 << 7
    MEMBER = 1 << 8
    EXTRA = 1 << 9
    QUANTITY = 1 << 10
    NET = 1 << 11
    GROSS = 1 << 12
    CART = 1 << 13
    OTHERS = 1 << 14
    FURNITURE = 1 << 15
    CHOICE = 1 << 16
    CHOSEN = 1 << 17
    PRE_ORDER = 1 << 18
    BUY_BOX = 1 << 19
    PROSE = 1 << 20
    STOCK = 1 << 21
    PRICE_BOX = 1 << 22


# Names are matched on class, id, data-testid and the like, lower case, parts joined by "-".
_NAMES: dict[int, str] = {
    Mark.PRICE: r"""
        [a-z]*price[a-z]* preis[a-z]* prix precio prezzo prijs pris cena fiyat amount cost money hinta preco
        tsena harga
    """,
    Mark.CURRENT: r"""
        current now final sale sales special offer our ourprice actual selling active today salesprice
        saleprice finalprice ins new highlight buying (?:prc|price)-(?:dsc|disc)
    """,
    Mark.OLD: r"""
        old was strike[a-z]* striked crossed[a-z]* cross-price price-cross (?:prc|price)-org
        org-(?:prc|price) line-through linethrough oldprice wasprice priceold price-old rrp msrp srp uvp
        list-price price-list listprice compare-at compareat[a-z]* compare-price price-compare before
        previous suggested[a-z]* retail retailprice pseudo pseudoprice original-price price-original
        originalprice tachado barre ante[s]? stary puvodni del undiscounted non-sale first-price deleted
        regular-price-old slashed?
    """,
    Mark.REGULAR: r"""
        regular regularprice normal-price price-normal normalprice original standard full-price price-full
    """,
    Mark.SAVING: r"""
        sav(?:e|es|ed|ing|ings) you-save yousave discount-(?:amount|value|percent[a-z]*|badge|label)
        percent[a-z]* saved economy rabatt? ersparnis sparen cashback coupon voucher points rewards?
        gift-?card promo-?code savings?-[a-z]+
    """,
    Mark.UNIT: r"""
        unit unitprice unit-price price-unit per-unit perunit grundpreis ppu price-per[a-z-]*
        pricepermeasure comparison-price reference-price per-kg per-litre price-measure
    """,
    Mark.INSTALMENT: r"""
        instal+ments? monthly per-month financ[a-z]* credit klarna affirm afterpay clearpay sezzle zip-?pay
        paypal[a-z]* pay-?later pay-?monthly raty raten[a-z]* splatk[a-z]* leasing cuotas parcel[a-z]*
        parcela emi tabby tamara subscri[a-z]* autoship abo loan lease taksit[a-z]* bnpl laybuy humm alma
        scalapay split-?pay
    """,
    Mark.SHIPPING: r"""
        ship(?:s|ping[a-z]*)? deliver(?:y|ies)[a-z]* versand[a-z]* livraison postage freight shipment
        liefer(?:ung|kosten|zeit) envio spedizione dostawa doprava free-?shipping returns? pickup
    """,
    Mark.MEMBER: r"""
        members? membership memberprice club[a-z]* loyalty vip perks insiders? clubcard plus-price prime
        price-prime kart-fiyat[a-z]* kartenpreis prix-carte precio-tarjeta card-price subscriber-price
        loyal[a-z]* premium-price
    """,
    Mark.EXTRA: r"""
        warranty warranties garantie protection[a-z]* insurance care-?plan service-?plan add-?ons?
        gift-?wrap[a-z]* assembly installation donation deposit pfand extras? tradein trade-in eco-?tax
        upgrade
    """,
    Mark.QUANTITY: r"""
        tiers? tier-?pric[a-z]* bulk volume[a-z]* staffel[a-z]* quantity-(?:price|discount|break)[a-z]*
        price-?table price-break[a-z]* wholesale multi-?buy
    """,
    Mark.NET: r"""
        excl[a-z]* ex-tax ex-vat exvat sans-taxe
        sin-impuestos sem-impostos extax without-tax(?:es)? price-excluding-tax excluding-tax net netto
        net-price netprice tax-excluded ht excl-tax novat pretax
    """,
    Mark.GROSS: r"""
        including-tax price-including-tax incl inc-tax inc-vat incvat inctax with-tax gross brutto
        tax-included ttc incl-tax with-vat
    """,
    Mark.CART: r"""
        mini-?cart[a-z-]* mini-?basket[a-z-]* mini-?bag
        cart-(?:total|amount|count|summary|items?|drawer|flyout|sidebar|link|icon|subtotal|quick|preview|popup|notification|widget|content|empty|free|body|header|footer)[a-z-]*
        (?:header|top|site|shopping|ajax|side|off-?canvas)-?(?:cart|basket|bag)[a-z-]*
        basket-(?:total|summary|items?|link|icon) sub-?total warenkorb[a-z_-]*
        checkout-?(?:summary|total|cart|page|drawer|sidebar|preview|items?|list) cart-?items?
    """,
    Mark.OTHERS: r"""
        related[a-z]* recommend[a-z]* recs? reco similar[a-z]* also-?[a-z]* cross-?sell[a-z]* up-?sell[a-z]*
        carousel[a-z]* sponsor[a-z]* recently[a-z-]* last-?viewed best-?sell[a-z]* topseller trending
        popular[a-z]* suggest(?:ion|ions|ed-products?) alternatives? listing-card[a-z]* product-?cards?
        product-?tiles? product-?list[a-z]* products?-?grid[a-z]* product-?item-?(?:info|link|details)?
        product-?(?:box|thumb|teaser|miniature|slide|slider[a-z]*) grid-?products? item-?slider[a-z-]*
        product-?slider[a-z-]* teaser[a-z]* tile tiles you-?may[a-z-]* viewed
        customers?-(?:also|who|view|bought|buy|like|love|ultimately)[a-z-]*
        other-?(?:sellers?|offers?|products?)[a-z-]* more-?(?:products?|items?|from|like)[a-z-]*
        compar(?:e|ison)-?(?:table|products?|items?|list|grid|widget)[a-z-]*
        collection-?(?:grid|list|products?) wishlist[a-z]* ads? advert[a-z]* new-?arrivals?
        look-?products? shop-?the-?look accessor(?:y|ies) bundles? bundle-?items?
        frequently[a-z-]* bought-together fbt combo kit-?items? complete-the-look all-?offers?
        seller-?list[a-z]* alt(?:ernative)?-?offers?[a-z-]*
        offer-?list[a-z]* search-?results?[a-z-]* results-?list autocomplete
    """,
    Mark.FURNITURE: r"""
        nav navbar[a-z]* navigation[a-z-]* main-?nav[a-z-]* menu[a-z]* mega-?menu[a-z-]* top-?bar[a-z-]*
        site-?(?:header|footer) main-?header page-?(?:header|footer)
        header-?(?:main|top|bar|nav|container|wrapper) footer[a-z-]* breadcrumbs? newsletter[a-z_-]*
        announcement[a-z-]* cookie[a-z-]* promo-?(?:bar|banner|strip|header)[a-z-]* banner[a-z-]* usp[a-z-]*
        reviews? review-?[a-z]+ ratings?-?[a-z]* comments? testimonials? faqs? blog[a-z-]* modal[a-z-]*
        popup[a-z-]* pop-?over[a-z-]* tooltip[a-z-]* lightbox overlay drawer[a-z-]* off-?canvas
        search-?(?:bar|box|form|dropdown)[a-z-]* facets? filters?[a-z-]* account login[a-z-]* policy
        policies terms-(?:of|and|conditions?|use)[a-z-]* payment-?(?:icons?|methods?|options?) social[a-z-]*
        questions?
        marketing[a-z]* ticker countdown
    """,
    Mark.CHOICE: r"""
        options? sizes swatch(?:es)?[a-z-]* variants? variations? varients? selector[a-z]* select-?option
        radio[a-z]* size-?(?:list|option|selector|box) pack-?size[a-z]* choices? configurator[a-z-]*
        option-?(?:cost|price|value|list|item) dropdown[a-z]* variant-?(?:price|item|option|picker)[a-z-]*
        attribute-?(?:values?|list)?
    """,
    Mark.CHOSEN: r"""
        selected checked is-selected is-checked is-active chosen active current
    """,
    Mark.PRE_ORDER: r"""
        pre-?orders? pre-?order-?price presale pre-?sale vorbestell[a-z]*
    """,
    Mark.BUY_BOX: r"""
        buy-?box[a-z-]*
        product-?(?:info|infos|detail|details|summary|main|price|prices|pricing|form|essential|view|block|header|top|content|single|page|actions?|buy|purchase|primary-column|shop)[a-z-]*
        pdp[a-z-]* add-?to-?(?:cart|bag|basket)[a-z-]* purchase[a-z-]*
        buy-?(?:area|button|now|section|block)? summary details-?cart
        main-?price[a-z-]* offer-?(?:box|price|details) single-product
        item-?(?:price|info|details) productview[a-z-]* proddetails? articledetails?
        goods-?info[a-z-]*
    """,
    Mark.PRICE_BOX: r"""
        price-?(?:box|block|wrapper|container|info|section|area|panel|row|group|value|tag|actual|item)
        prices?-?container
    """,
    Mark.PROSE: r"""
        description[a-z-]* desc long-?text accordion-?tab[a-z-]* tab-?copy article-?(?:body|text|content)
        rte
    """,
    Mark.STOCK: r"""
        stock[a-z-]* in-?stock instock out-?of-?stock[a-z-]* outofstock availab(?:ility|le)[a-z-]*
        inventory[a-z-]* sold-?out soldout verfuegbarkeit verfugbarkeit lieferbarkeit disponibil[a-z]*
        dostupnost dostepnosc delivery-?(?:status|info)[a-z-]* stan-?magazynowy unavailable stock-?status
        voorraad lager[a-z]* nalichie disponib[a-z]* amount-in-stock
    """,
}

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_GLUE = re.compile(r"[^a-z0-9]+")
_SPECIAL = re.compile(r"[\\\[({?*+.|]")


def _split(pattern: str) -> list[str]:
    """Alternatives of a pattern at its outermost level."""
    parts, depth, start = [], 0, 0
    for place, character in enumerate(pattern):
        depth += (character in "([") - (character in ")]")
        if character == "|" and depth == 0:
            parts.append(pattern[start:place])
            start = place + 1
    return [*parts, pattern[start:]]


def _opened(alternative: str) -> list[str]:
    """An alternative that begins with a group, as one alternative for each member of the group."""
    if not alternative.startswith("(?:"):
        return [alternative]
    depth = 0
    for place, character in enumerate(alternative):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            inner, rest = alternative[3:place], alternative[place + 1 :]
            return [part + rest for part in _split(inner)]
    return [alternative]


def _index() -> tuple[dict[str, list[tuple[re.Pattern[str], int]]], list[tuple[str, int]]]:
    """Patterns by their first two letters; words that may have anything before them apart."""
    written: dict[str, dict[int, list[str]]] = {}
    anywhere: list[tuple[str, int]] = []
    for mark, pattern in _NAMES.items():
        for alternative in (opened for part in pattern.split() for opened in _opened(part)):
            if alternative.startswith("[a-z]*"):
                anywhere.append((alternative.removeprefix("[a-z]*").removesuffix("[a-z]*"), mark))
                continue
            literal = _SPECIAL.split(alternative)[0]
            if len(literal) < len(alternative) and alternative[len(literal)] in "?*":
                literal = literal[:-1]
            written.setdefault(literal[:2], {}).setdefault(mark, []).append(alternative)
    by_start = {
        start: [(re.compile("|".join(alternatives)), mark) for mark, alternatives in marks.items()]
        for start, marks in written.items()
    }
    return by_start, anywhere


_BY_START, _ANYWHERE = _index()


@lru_cache(maxsize=32_768)
def _of_part(part: str) -> int:
    found = Mark.NONE
    for word, mark in _ANYWHERE:
        if word in part:
            found |= mark
    for pattern, mark in _BY_START.get(part[:2], ()):
        if pattern.fullmatch(part):
            found |= mark
    return found


@lru_cache(maxsize=16_384)
def marks_of_names(names: str) -> int:
    """What the names on one element say; several at once where several are said."""
    parts = [part for part in _GLUE.split(_CAMEL.sub("-", names[:240]).lower()) if part][:24]
    if "card" in parts and "price" in parts:
        # "productCardPrice" is the price of a product's card, neither a price by card nor a card of others.
        parts = [p for place, p in enumerate(parts) if p != "card" or parts[place - 1 : place] != ["product"]]
    found = Mark.NONE
    tiled = "tile" in parts or "tiles" in parts
    for place, part in enumerate(parts):
        found |= _of_part(part)
        if place + 1 < len(parts):
            two = f"{part}-{parts[place + 1]}"
            found |= _of_part(two)
            if place + 2 < len(parts):
                found |= _of_part(f"{two}-{parts[place + 2]}")
    # A "product-card__price-box" may be the product's own; a tile never is, whatever its part is called.
    return found & ~Mark.PRICE_BOX if tiled else found
