"""What an amount is, told by the words around it: now, before, from, per unit, per month, saved, shipping.

Words are those that shops of some thirty languages put beside a price. A word before an amount counts for that
amount; a word after it counts where it follows at once.
"""

from __future__ import annotations

import re
from enum import StrEnum


class Role(StrEnum):
    """What one amount in a text is. Only the first group can be the price of the thing."""

    NOW = "now"
    PRICE = "price"
    FROM = "from"
    MEMBER = "member"
    UNIT = "unit"
    INSTALMENT = "instalment"
    USUAL = "usual"
    BEFORE = "before"
    SAVING = "saving"
    SHIPPING = "shipping"
    NOT_MONEY = "not_money"


RANK = {
    Role.NOW: 0,
    Role.PRICE: 1,
    Role.FROM: 1,
    Role.MEMBER: 2,
    Role.UNIT: 3,
    Role.INSTALMENT: 4,
    Role.USUAL: 5,
    Role.BEFORE: 6,
}
"""Which roles may be the price of a text, best first."""


def _words(text: str) -> str:
    """Alternatives, longest first, that begin where a word begins in scripts that have word boundaries."""
    parts = sorted((w.strip() for w in text.split("|") if w.strip()), key=len, reverse=True)
    out = []
    for part in parts:
        escaped = re.escape(part).replace(r"\ ", r"[ -]?")
        begin = r"(?<![^\W\d_])" if part[0].isalpha() and ord(part[0]) < 0x2E80 else ""
        end = r"(?![^\W\d_])" if part[-1].isalpha() and ord(part[-1]) < 0x2E80 else ""
        out.append(begin + escaped + end)
    return "|".join(out)


_NOW = _words(
    "now|now only|sale price|sale|deal price|special price|special|offer price|our price|your price|promo price|"
    "today|jetzt|jetzt nur|nur|aktionspreis|angebotspreis|sonderpreis|neuer preis|maintenant|prix promo|prix soldé|"
    "ahora|precio oferta|oferta|adesso|prezzo scontato|ora|agora|por apenas|nu|voor|nu voor|actieprijs|nå|nyt|nyní|"
    "akční cena|teraz|cena promocyjna|promocja|acum|akciós ár|сейчас|теперь|цена со скидкой|по акции|зараз|"
    "şimdi|indirimli fiyat|今だけ|現在|セール価格|特価|现价|促销价|特價|优惠价|할인가|판매가|الآن|בִמבצע|עכשיו|τώρα|erikoishinta|kampanjpris|"
    "tilbud|tilbudspris|reapris|rea"
)
_BEFORE = _words(
    "was|were|before|previously|old price|old|original price|originally|orig|list price|"
    "rrp|r.r.p|srp|msrp|m.s.r.p|compare at|compare at price|instead of|typical price|usually|"
    "full price|statt|bisher|vorher|früher|alter preis|uvp|uvp des herstellers|ursprünglich|streichpreis|"
    "listenpreis|niedrigster preis|avant|au lieu de|prix barré|prix conseillé|ancien prix|antes|precio anterior|pvpr|"
    "prima|prezzo consigliato|prezzo precedente|anziché|anzichè|invece di|was voor|adviesprijs|tidligere|før|"
    "førpris|tidigare|ord pris|ord|rek pris|norm|ovh|původní cena|původně|před slevou|"
    "dříve|pôvodná cena|pred zľavou|przed|najniższa cena|stara cena|preț vechi|prp|eredeti ár|régi ár|"
    "было|раньше|старая цена|цена без скидки|була|стара ціна|eski fiyat|liste fiyatı|定価|通常価格|希望小売価格|原价|原價|市场价|"
    "建議售價|정가|정상가|원가|قبل|كان|السعر السابق|במקום|πριν|αρχική τιμή|π.λ.τ"
)
_USUAL = _words(
    "regular price|reg|regular|retail price|retail|normal price|usual price|normalpreis|regulärer preis|prix habituel|prix normal|"
    "precio habitual|precio normal|prezzo normale|preço normal|normale prijs|ordinarie pris|normalpris|normaalihinta|běžná cena|"
    "bežná cena|cena regularna|preț normal|обычная цена|звичайна ціна|normal fiyat|通常価格|정상가"
)
_FROM = _words(
    "from|starting at|starts at|starting from|as low as|ab|schon ab|bereits ab|à partir de|a partir de|dès|desde|da|"
    "a partire da|vanaf|från|fra|od|již od|už od|od:|от|від|alkaen|από|αρχική από|de la|începând de la|başlayan|"
    "starting|min price|lowest price|ราคาเริ่มต้น|จาก|mulai|mulai dari|từ|من|ابتداء من|החל מ"
)
_SAVING = _words(
    "save|you save|saving|savings|saved|discount|off|rabatt|sie sparen|du sparst|ersparnis|sparen|spare|spar|"
    "économisez|économie|remise|réduction|ahorra|ahorras|ahorro|descuento|dto|risparmi|risparmio|sconto|desconto|"
    "economize|poupe|je bespaart|korting|bespaar|voordeel|du sparar|säästä|säästät|ušetříte|sleva|ušetríte|zľava|"
    "oszczędzasz|zniżka|rabat|reducere|megtakarítás|kedvezmény|скидка|экономия|выгода|знижка|економія|indirim|"
    "割引|お得|节省|立减|優惠|할인|적립|وفر|خصم|הנחה|έκπτωση|cashback|cash back|coupon|gutschein|voucher|bonus|points|"
    "deposit|pfand|consigne|statiegeld|pant|dont|davon|of which|écotaxe|éco-participation"
)
_SHIPPING = _words(
    "shipping|free shipping|delivery|free delivery|postage|p&p|shipping on orders|orders over|orders above|orders of|"
    "on orders|order over|spend|spend over|when you spend|minimum order|min order|minimum spend|over|versand|"
    "versandkosten|versandkostenfrei ab|lieferung|lieferkosten|zzgl|porto|livraison|frais de port|livraison gratuite|"
    "dès|envío|envíos|gastos de envío|spedizione|spese di spedizione|frete|verzending|verzendkosten|bezorging|frakt|"
    "leverans|levering|fragt|toimitus|doprava|poštovné|dostawa|wysyłka|livrare|szállítás|доставка|доставки|мин|"
    "минимальный заказ|мінімальне|kargo|配送料|送料|运费|運費|배송비|التوصيل|الشحن|משלוח|μεταφορικά|invest|worth"
).replace(_words("dès") + "|", "")
_INSTALMENT = _words(
    "per month|monthly|instalments|installments|instalment|installment|payments of|payment of|interest-free|klarna|"
    "afterpay|clearpay|affirm|raten|rate|monatlich|mensualités|mensuel|cuotas|cuotas de|mensualidades|rate da|"
    "parcelas|parcelas de|termijnen|avbetalning|delbetalning|splátka|splátky|raty|rata|rate de|рассрочка|в месяц|"
    "на месяц|taksit|分割|月々|分期|할부|قسط|أقساط|תשלומים|δόσεις"
)
_MEMBER = _words(
    "member price|members price|members only|for members|club price|clubcard price|clubcard|loyalty price|with card|mit karte|"
    "mitgliederpreis|mitgliedspreis|für mitglieder|prix adhérent|prix membre|precio socio|precio socios|prezzo soci|prezzo socio|ledenprijs|"
    "medlemspris|jäsenhinta|klubová cena|cena klubowa|cena dla klubowiczów|по карте|с картой|цена по карте|会员价|會員價|会員価格|회원가|"
    "سعر الأعضاء"
)
_UNIT = _words(
    "unit price|price per|per unit|per kg|per litre|per liter|grundpreis|prix au kilo|prix au litre|prezzo al kg|"
    "jämförpris|enhetspris|kilopris|literpris|jednotková cena|cena jednostkowa|egységár|цена за|cena za|preço por|"
    "precio por|単価|单价|단가"
)
_CODE = _words(
    "sku|ean|gtin|upc|isbn|art nr|artikelnummer|art|item|item no|item number|model|ref|réf|mpn|asin|code|no|nr|"
    "артикул|код|код товара|kód|kod|referencia|codice|品番|型号|货号"
)
_COUNT = _words(
    "qty|quantity|pack of|set of|box of|case of|menge|anzahl|quantité|cantidad|quantità|aantal|antal|množství|ilość|"
    "количество|rating|rated|bewertung|note|valoración|reviews|stock|in stock|spf|abv|alc|vol|size|größe|taille|talla|"
    "page|seite|step|since|seit|depuis|age|aged|no older than|hodnocení|ocena|оценка|рейтинг"
)

_LABEL = re.compile(
    f"(?P<before>{_BEFORE})|(?P<usual>{_USUAL})|(?P<from>{_FROM})|(?P<saving>{_SAVING})|(?P<shipping>{_SHIPPING})|"
    f"(?P<instalment>{_INSTALMENT})|(?P<member>{_MEMBER})|(?P<unit>{_UNIT})|(?P<now>{_NOW})|"
    f"(?P<code>{_CODE})|(?P<count>{_COUNT})",
    re.IGNORECASE,
)
_ROLE = {
    "before": Role.BEFORE,
    "usual": Role.USUAL,
    "from": Role.FROM,
    "saving": Role.SAVING,
    "shipping": Role.SHIPPING,
    "instalment": Role.INSTALMENT,
    "member": Role.MEMBER,
    "unit": Role.UNIT,
    "now": Role.NOW,
    "code": Role.NOT_MONEY,
    "count": Role.NOT_MONEY,
}

_PER = r"(?:/|per|pro|je|par|por|al|alla|a|at|za|за|för|/\s*1|el|la|le|au|the)"
_MEASURES = (
    r"(?:(?:\d+(?:[.,]\d+)?\s*)?(?:kg|kilogramm?|kilo|g|gr|gramm?|mg|l|lt|ltr|litre|liter|litro|ml|cl|dl|m|m²|m2|m³|qm|cm|mm|ft|sq\.?\s?ft|"
    r"sqft|yd|oz|fl\.?\s?oz|lb|lbs|pound|ounce|gal|quart|sheet|wash|кг|г|л|мл|м|м²|кв\.?\s?м|шт|公斤|克|升|斤|キロ))(?![^\W\d_])"
)
_AFTER_UNIT = re.compile(rf"^\W{{0,3}}{_PER}\s*{_MEASURES}", re.IGNORECASE)
_BEFORE_UNIT = re.compile(rf"{_MEASURES}\s*[=:]\s*\D{{0,4}}$", re.IGNORECASE)
_AFTER_MONTH = re.compile(
    r"^\W{0,3}(?:/|per|a|pro|im|par|al|por|each|every|ao|na|v|в|за|na|w)?\s*"
    r"(?:month|months|mo|mth|monat|mtl|mtl|monatlich|mois|mes|mese|mês|maand|mnd|månad|mån|måned|kk|měsíc|měs|mesiac|"
    r"miesiąc|mies|lună|hó|месяц|мес|місяць|ay|月|개월|شهر|חודש|μήνα|week|year|yr|jahr|an|año|anno|pm)(?![^\W\d_])",
    re.IGNORECASE,
)
_TIMES = re.compile(
    r"(?:\d|(?<![^\W\d_]))\s?(?:x|×|х|fois|veces|mal|rate|cuotas)\s*(?:of|de|da|à|von|a)?\W{0,4}$",
    re.IGNORECASE,
)
_PAIRS = tuple(
    (re.compile(rf"(?<![^\W\d_]){old}\W{{0,3}}[^\W\d_]{{0,3}}[^\w]{{0,3}}$", re.IGNORECASE), re.compile(rf"(?<![^\W\d_]){new}(?![^\W\d_])", re.IGNORECASE))
    for old, new in (("de", "por"), ("van", "voor"), ("da", "a"), ("de", "à"), ("z", "na"), ("с", "до"))
)
_QUANTITY = re.compile(r"(?<![\d.,])([2-9]|[12]\d)\s?(?:[^\W\d_]+\s)?(?:for|für|pour|por|voor|för|za|за|til)(?![^\W\d_])\W*(?:only|nur|seulement|solo)?\W*[^\W\d_]{0,3}\W{0,3}$", re.IGNORECASE)
_AFTER_SAVING = re.compile(
    r"^\W{0,3}(?:off|discount|rabatt|de remise|de réduction|de descuento|di sconto|korting|cashback|скидк|back|pfand|deposit|statiegeld|consigne|d.éco|eco[- ]?(?:part|tax|fee))",
    re.IGNORECASE,
)
_AFTER_COUNT = re.compile(
    r"^\s*(?:-\s*)?(?:\+\s*)?(?:reviews?|ratings?|stars?|sterne?n?|bewertung(?:en)?|avis|étoiles?|opiniones|estrellas|recensioni|stelle|"
    r"pcs|pieces?|pack|packs|stück|stk|st|pièces?|pzas?|pezzi|stuks|ks|szt|шт|штук|個|件|개|items?|left|sold|in stock|remaining|"
    r"days?|tage?|jours?|días|giorni|hours?|stunden|years?|jahre?|month|months|monate?|mois|minutes?|min|"
    r"out of|von 5|sur 5|/ ?5(?!\d)|/ ?10(?!\d)|people|customers|käufer|times|orders|отзыв\w*|звезд\w*)(?![^\W\d_])",
    re.IGNORECASE,
)
_AFTER_MEASURE = re.compile(
    r"^\s?-?(?:(?:kg|g|mg|µg|lbs?|oz|ml|cl|dl|ltr|litres?|liters?|litros?|mm|cm|km|inch(?:es)?|in|ft|yd|kw|kwh|w|wh|mah|ah|v|hz|khz|mhz|ghz|kb|mb|"
    r"gb|tb|mp|px|dpi|rpm|bar|psi|db|lm|kcal|kj|tabs?|caps(?:ules)?|tablets?|kg|г|кг|мг|мл|л|литр\w*|см|мм|м|"
    r"гр|克|公斤|千克|毫升|升|厘米|グラム|リットル|그램|كجم|جم|مل|لتر|ג|ק\"ג|מ\"ל)(?![^\W\d_])|[\"″”°](?!\s*,))",
)
_AFTER_LITRE = re.compile(r"^\s?L(?![^\W\d_])")
_AFTER_INCL = re.compile(
    r"^[^\d]{0,4}(?:incl?|inkl|ttc|ivato|iva incl|con iva|med moms|s dph|z vat|brutto|с ндс|税込|含税)",
    re.IGNORECASE,
)
_AFTER_EXCL = re.compile(
    r"^[^\d]{0,4}(?:exc|excl|ex|exkl|zzgl|ht|h\.t|\+\s?(?:iva|vat|mwst|tva|moms|dph)|netto|bez dph|bez vat|sin iva|sem iva|ekskl|utan moms|без ндс|税抜|税別|未税)"
    r"(?![^\W\d_])",
    re.IGNORECASE,
)
_AFTER_MEMBER = re.compile(r"^[^\d]{0,4}(?:with card|for members|mit karte|members only|club)", re.IGNORECASE)
_AFTER_FROM = re.compile(
    r"^[^\d\w]{0,3}(?:~|〜|～|から|부터|起|alkaen|-tól|-től|and up|& up|\+(?!\s?\w)|upwards|ve üzeri|et plus)",
    re.IGNORECASE,
)
_ENGLISH_MONTHS = frozenset(
    ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"]
)
_LAST_WORD = re.compile(r"([^\W\d_]{3,})[\s.,]*$")
_FREE = re.compile(
    r"\W*(?:(?:for|it's|price|preis|prix|precio|prezzo|cena)\W+)?(?:free|free of charge|gratis|kostenlos|kostenfrei|umsonst|gratuite?|offert|gratuito|"
    r"grátis|zdarma|zadarmo|za darmo|bezpłatnie|gratuit|ingyenes|ilmainen|бесплатно|безкоштовно|безплатно|ücretsiz|bedava|無料|免费|免費|무료|مجاني|"
    r"مجانا|חינם|δωρεάν|miễn phí|ฟรี)\W*",
    re.IGNORECASE,
)


def label_before(gap: str) -> Role | None:
    """The role that the last label in the text before an amount gives it."""
    if not gap or not any(c.isalpha() for c in gap):
        return None
    role = None
    for match in _LABEL.finditer(gap):
        role = _ROLE[match.lastgroup or "now"]
    return role


def label_after(gap: str) -> Role | None:
    """The role that the text right after an amount (and its sign) gives it."""
    if not gap:
        return None
    if _AFTER_MONTH.match(gap):
        return Role.INSTALMENT
    if _AFTER_UNIT.match(gap):
        return Role.UNIT
    if _AFTER_SAVING.match(gap):
        return Role.SAVING
    if _AFTER_MEMBER.match(gap):
        return Role.MEMBER
    if _AFTER_FROM.match(gap):
        return Role.FROM
    return None


def old_new_pair(before_old: str, before_new: str) -> bool:
    """True for `De R$ 100 por R$ 80` and `van € 20 voor € 15`: the first is the old price, the second the new."""
    return any(old.search(before_old) and new.search(before_new) for old, new in _PAIRS)


def quantity_before(gap: str) -> int:
    """How many units an amount buys: 3 for `3 for `, 1 where nothing is said."""
    match = _QUANTITY.search(gap[-40:])
    return int(match[1]) if match else 1


def unit_before(gap: str) -> bool:
    """True for `1 l = ` before an amount."""
    return bool(_BEFORE_UNIT.search(gap))


def times_before(gap: str) -> bool:
    """True for `12x de ` before an amount: one of several payments."""
    return bool(_TIMES.search(gap))


def measure_after(gap: str) -> bool:
    """True where a unit of measure follows at once."""
    return bool(_AFTER_MEASURE.match(gap))


def litre_after(gap: str) -> bool:
    """True where a lone capital L follows: a litre, or the sign of a few currencies."""
    return bool(_AFTER_LITRE.match(gap))


def count_after(gap: str) -> bool:
    """True where a word for pieces, reviews, stars or days follows at once."""
    return bool(_AFTER_COUNT.match(gap))


def tax_after(gap: str) -> str | None:
    """`incl` or `excl` where the text after an amount says which."""
    if _AFTER_INCL.match(gap):
        return "incl"
    return "excl" if _AFTER_EXCL.match(gap) else None


def month_before(gap: str, months: frozenset[str]) -> bool:
    """True where the last word before a number is the name of a month."""
    word = _LAST_WORD.search(gap)
    return bool(word) and (word[1].casefold() in _ENGLISH_MONTHS or word[1].casefold() in months)


def is_free(text: str) -> bool:
    """True for a text that says nothing but `free`."""
    return bool(_FREE.fullmatch(text))
