"""Buttons and links that buy, pre-order or ask to be told later: what a visitor could do on the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from lxml import etree

from pricecrawl.extraction.document import Document

MAX_CONTROLS = 400

_string = etree.XPath("string()", smart_strings=False)

_BUY = (
    r"add(?:ed)?[ -]?(?:item |this |\d+ )?(?:to|in(?:to)?)[ -]?(?:my |your |the |shopping )?(?:cart|bag|"
    r"basket|trolley|order|box)|add 2 cart|"
    r"buy(?: it| this)?(?: now| online)?|purchase(?: now)?|order(?: now| online| this)?|shop now|"
    r"get it now|checkout now|add to (?:my )?reservation|"
    r"reserve(?: it| this| now| online| (?:&|and) collect)?|"
    r"(?:click|reserve|order) (?:&|and) collect|jetzt reservieren|reservieren|reservieren (?:&|und) abholen|"
    r"réserver(?: maintenant| en ligne)?|zarezerwuj|reserveer(?: nu)?|reservera|rezervovat|забронировать|"
    r"in den (?:waren|einkaufs)?(?:korb|wagen)(?: (?:legen|hinzufügen))?|"
    r"jetzt (?:kaufen|bestellen)|kaufen|bestellen|"
    r"zum warenkorb hinzufügen|"
    r"ajouter (?:au|à mon|dans le|à la) (?:panier|sac|cabas)|acheter(?: maintenant)?|commander|"
    r"(?:añadir|agregar|anadir|meter) (?:al|a la|a tu|en el|en la) (?:carrito|carro|cesta|"
    r"bolsa)(?: de (?:la )?compras?)?|comprar(?: ahora| ya| agora)?|"
    r"aggiungi al(?:la)? (?:carrello|borsa)|acquista(?: ora)?|compra(?: ora| subito)?|"
    r"adicionar (?:ao carrinho|à sacola|ao cesto)|colocar no carrinho|"
    r"in (?:de )?(?:winkel(?:wagen|mand(?:je)?)|mandje)|toevoegen aan (?:winkelwagen|winkelmand(?:je)?)|"
    r"(?:nu )?bestellen|koop nu|"
    r"lägg (?:i|till i) (?:varukorg(?:en)?|kundvagn(?:en)?|korgen)|köp(?: nu)?|"
    r"læg i (?:indkøbs)?kurv(?:en)?|køb(?: nu)?|tilføj til kurv|"
    r"legg (?:i|til i) (?:handle)?(?:kurv|vogn)(?:en)?|kjøp(?: nå)?|lisää (?:ostos)?kori(?:in)?|"
    r"osta(?: nyt)?|"
    r"do koszyka|dodaj do koszyka|kup(?: teraz| i zapłać)?|zamów|(?:vložit |přidat )?do košíku|koupit|"
    r"objednat|"
    r"(?:pridať |vložiť )?do košíka|kúpiť|kosárba(?: teszem| rakom)?|megveszem|vásárlás|"
    r"adaug[ăa] în co[șşs]|cump[ăa]r[ăa](?: acum)?|в корзин[ау]|добавить в корзину|купить(?: сейчас|"
    r" в 1 клик)?|заказать|"
    r"(?:додати )?(?:в|у|до) кошик[а]?|купити|замовити|добави в количка(?:та)?|купи|"
    r"sepete ekle|satın al|hemen al|στο καλάθι|προσθήκη στο καλάθι|αγορά|"
    r"カートに(?:入れる|追加)|購入(?:する|手続きへ)?|今すぐ(?:買う|購入)|加入(?:购物车|購物車|購物袋)|(?:立即|直接)(?:购买|購買)|放入(?:购物车|購物車)|"
    r"장바구니(?: ?(?:담기|에 담기))?|구매하기|바로 ?구매|"
    r"(?:أضف|إضافة|اضف|أضيفي?) (?:إلى|الى|لل|ل)? ?(?:ال)?(?:سلة|عربة|حقيبة)(?: التسوق)?|أضف للسلة|"
    r"اشتري?(?: الآن)?|شراء(?: الآن)?|اطلب(?: الآن)?|إضافة للسلة|"
    r"הוס(?:ף|פה|יפו) ל(?:סל|עגלה)(?: הקניות)?|קנה עכשיו|thêm vào giỏ(?: hàng)?|mua ngay|"
    r"beli (?:sekarang|langsung)|\+ ?keranjang|"
    r"tambah ke (?:keranjang|troli)|"
    r"masukkan keranjang|หยิบใส่ตะกร้า|เพิ่มลงตะกร้า|ซื้อ(?:เลย|ทันที)?|u košaricu|dodaj u (?:košaricu|"
    r"korpu)|kupi|v košarico|į krepšelį|"
    r"pirkt|pievienot grozam|lisa (?:ostu)?korvi|osta"
)
_PRE_ORDER = (
    r"pre-?order(?: now| it| here| today)?|(?:jetzt )?vorbestellen|pré-?commander|précommander|"
    r"reservar(?: ahora)?|pre-?ordina(?: ora)?|preordina|"
    r"pré-?venda|pre-?venta|comprar en pre-?venta|förboka|förbeställ|forudbestil|forhåndsbestill|"
    r"ennakkotilaa|zamów w przedsprzedaży|przedsprzedaż|"
    r"předobjednat|predobjednať|előrendelés|precomand[ăa]|предзаказ(?:ать)?|оформить предзаказ|"
    r"передзамовлення|ön sipariş(?: ver)?|"
    r"予約(?:する|注文)?|预[订购定](?:现在)?|預[訂購]|立即[预預][订訂购購]|예약 ?(?:구매|주문)|"
    r"اطلب مسبق[اًا]?|طلب مسبق"
)
_NOTIFY = (
    r"notify me(?: when.*| if.*)?|(?:e-?mail|tell|alert|text) me when.*|get notified.*|"
    r"join (?:the )?wait(?:ing)? ?list|back in stock (?:alert|notification)s?|"
    r"(?:send|set) (?:me )?(?:an )?(?:stock )?alert|remind me|notify|request (?:stock )?alert|"
    r"benachrichtig\w*(?: mich| sie mich)?.*|(?:e-?mail|bescheid) (?:bei|wenn|erhalten).*(?:verfügbar|"
    r"lieferbar).*|m'(?:avertir|alerter|informer|prévenir).*|"
    r"(?:être|me) (?:averti|alerté|prévenu).*|prévenez-moi.*|avís[ae](?:me|nos|rme).*|notif[ií]c[ae]me.*|"
    r"avvisami.*|avisa(?:r-|-)?me.*|"
    r"(?:houd me|breng me) op de hoogte.*|mail mij.*|bevaka(?: produkt| vara)?|meddela mig.*|"
    r"giv mig besked.*|"
    r"powiadom(?: mnie)?.*|hlídat (?:dostupnost|cenu)|upozornit.*|értesít.*|anunț[ăa]-m[ăa].*|"
    r"сообщить о (?:поступлении|наличии)|уведомить.*|"
    r"повідомити.*|gelince haber ver.*|haber ver.*|stoğa gelince.*|入荷(?:通知|お知らせ).*|"
    r"再入荷.*|到货通知|到貨通知|재입고 ?알림.*|"
    r"(?:أعلمني|أبلغني|نبهني|أخبرني).*|عند توفر.*|הודיעו לי.*"
)
_SOLD_OUT = (
    r"sold out|out of stock|currently unavailable|not available|unavailable|no longer available|"
    r"out-of-stock|ausverkauft|nicht (?:verfügbar|lieferbar|auf lager)|"
    r"vergriffen|épuisé|rupture de stock|en rupture|indisponible|agotado|sin (?:stock|existencias)|"
    r"no disponible|esaurito|non disponibile|"
    r"esgotado|indispon[ií]vel|uitverkocht|niet (?:op voorraad|leverbaar)|slutsåld|slut i lager|"
    r"ej i lager|udsolgt|utsolgt|loppu(?:nut|unmyyty)?|"
    r"wyprzedan[ey]|niedostępn[ya]|brak w magazynie|vyprodáno|nedostupné|není skladem|vypredané|"
    r"elfogyott|nincs (?:készleten|raktáron)|stoc epuizat|"
    r"нет в наличии|распродано|недоступен|немає в наявності|закінчився|tükendi|stokta yok|εξαντλημένο|"
    r"売り切れ|在庫切れ|品切れ|缺货|缺貨|售罄|已售完|품절|"
    r"نفذت? (?:من )?(?:الكمية|المخزون)|نفذ|نفدت? الكمية|غير متوفر|אזל(?: מהמלאי)?|hết hàng|stok habis|"
    r"สินค้าหมด"
)

# A button may repeat the price behind its words: "Add to cart – $38.00", "Kaufen · 14,90 EUR".
_PRICE_BEHIND = r"(?:[\W\d]*\d[\W\d]*(?:[a-zčł]{2,3}\.?)?\W*)?"
BUY = re.compile(rf"\W*(?:{_BUY})\W*(?:\(.{{0,20}}\))?{_PRICE_BEHIND}", re.IGNORECASE)
PRE_ORDER = re.compile(rf"\W*(?:{_PRE_ORDER})\W*{_PRICE_BEHIND}", re.IGNORECASE)
NOTIFY = re.compile(rf"\W*(?:{_NOTIFY})\W*", re.IGNORECASE | re.DOTALL)
SOLD_OUT = re.compile(rf"\W*(?:{_SOLD_OUT})\W*", re.IGNORECASE)
_BUYING_NAMES = re.compile(
    r"add-?_?to-?_?(?:cart|bag|basket|trolley)|addtocart|add2cart|btn-?_?cart|buy-?_?(?:now|button|btn|"
    r"box-?button)|product-?_?form__?submit|"
    r"single_add_to_cart|product-?add|in-?_?den-?_?warenkorb|submit-?cart|cart-?add|purchase-?button|"
    r"button-?cart|tocart|add-?to-?order"
)
_MAYBE = re.compile(
    r"cart|buy|bag|basket|purchase|order|add|kauf|korb|panier|carrito|compra|koszyk|kosik|btn|button|cta|"
    r"notify|stock",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Control:
    """One control. `says` is what its words mean: buy, pre_order, notify, sold_out or nothing."""

    element: etree._Element
    text: str
    says: str
    enabled: bool

    @property
    def buys(self) -> bool:
        """A control that buys or pre-orders, whether or not it can be used now."""
        return self.says in ("buy", "pre_order", "sold_out", "named")


@lru_cache(maxsize=8192)
def meaning(text: str) -> str:
    """What the words of a control mean: `buy`, `pre_order`, `notify`, `sold_out` or nothing."""
    if len(text) > 70:
        return ""
    for pattern, name in ((PRE_ORDER, "pre_order"), (NOTIFY, "notify"), (SOLD_OUT, "sold_out"), (BUY, "buy")):
        if pattern.fullmatch(text):
            return name
    return ""


def _words(element: etree._Element) -> str:
    """Words on a control; longer texts are no labels."""
    text = (element.text or "") if len(element) == 0 else str(_string(element))
    return text[:400]


@lru_cache(maxsize=16_384)
def _may_buy(names: str) -> bool:
    """Whether a link's names leave it possible that it buys."""
    return _MAYBE.search(names) is not None


@lru_cache(maxsize=16_384)
def _named_to_buy(names: str) -> bool:
    """Whether the names of a control are those that themes give to the one that buys."""
    return _BUYING_NAMES.search(names.lower()) is not None


def _candidates(document: Document) -> Iterator[etree._Element]:
    """Elements that may be controls; links and boxes are many, so they are fetched only when asked for."""
    yield from document.tagged("button")
    yield from document.tagged("input")
    yield from document.tree.iter("a")
    if 'role="button"' in document.text:
        yield from (e for e in document.tree.iter("div", "span", "li", "p") if e.get("role") == "button")


def controls(document: Document) -> list[Control]:
    """Buttons, submit inputs and links dressed as buttons."""
    found: list[Control] = []
    real = False
    for element in _candidates(document):
        tag = element.tag
        classes = element.get("class") or ""
        if tag not in ("button", "input"):
            if real:
                break  # real buttons say what can be done: links are asked where there are none
            identity = element.get("id")
            named = _may_buy(classes) or (identity is not None and _may_buy(identity))
            if not named and element.get("role") != "button":
                continue
            text = _words(element)
        elif tag == "input":
            if (element.get("type") or "").lower() not in ("submit", "button", "image"):
                continue
            text = element.get("value") or element.get("alt") or element.get("title") or ""
        else:
            text = _words(element)
        text = " ".join(text.split())
        says = meaning(text)
        if not says:
            # "Add" alone says little; what it is read out as says the rest.
            spoken = " ".join((element.get("aria-label") or element.get("title") or "").split())
            says = meaning(spoken)
            text = spoken if says or not text else text
        if not says and len(text) < 70:
            names = f"{classes} {element.get('id') or ''} {element.get('name') or ''}"
            says = "named" if _named_to_buy(names) else ""
        if not says:
            continue
        real = real or says != "named"
        found.append(Control(element, text, says, _enabled(element)))
        if len(found) >= MAX_CONTROLS:
            break
    return found


def _enabled(element: etree._Element) -> bool:
    if element.get("disabled") is not None or element.get("aria-disabled") == "true":
        return False
    names = (element.get("class") or "").lower().split()
    return not {
        "disabled",
        "is-disabled",
        "btn-disabled",
        "button--disabled",
        "is--disabled",
        "inactive",
    }.intersection(names)
