"""What the words beside an amount make of it, beyond what the money reader knows of single texts."""

from __future__ import annotations

import re
from functools import lru_cache

from pricecrawl.domain import money_roles as roles
from pricecrawl.domain.market import TaxBasis
from pricecrawl.domain.money_roles import Role

_VAT = (
    r"(?:vat|tax|taxes|impuestos?|impostos?|imposte|podatku|belasting(?:en)?|gst|mwst|ust|mehrwertsteuer|umsatzsteuer|tva|iva|btw|moms|mva|dph|ptu|áfa|afa|kdv|alv|"
    r"ндс|пдв|ддс|"
    r"φπα|ضريبة|الضريبة|מע\"?מ|税|tax\.)"
)
_GROSS = re.compile(
    rf"(?:incl?(?:uding|usive of|\.|)|inkl(?:usive|\.|)|inc\.?|includes|sis\.?|mit|avec|con|met|med|z|s|с|"
    rf"including|all) ?\.? ?(?:of |gesetzl(?:iche[rn]?|\.)? ?|der |la |l['’])?"
    rf"(?:\d+(?:[.,]\d+)? ?% ?)?{_VAT}|{_VAT} ?\.? ?(?:\(?\d+(?:[.,]\d+)? ?%\)? ?)?(?:incl|inkl|inc\b|"
    rf"included|inclus|incluid|inclusa|compres|"
    rf"inbegrepen|dahil|شامل)|\bttc\b|\bbrutto\b|iva incluid|tax included|with tax|"
    rf"税込|含税|부가세 ?포함|شامل|"
    rf"כולל מע|ivato|dahil",
    re.IGNORECASE,
)
_NET = re.compile(
    rf"(?:excl?(?:uding|usive of|\.|)|exkl(?:usive|\.|)|ex\.?|without|ohne|sans|sin|senza|zonder|utan|uden|"
    rf"f[ăa]r[ăa]|ilman|χωρίς|tanpa|uten|bez|без|ללא|בלי|zzgl\.?|plus|\+|before) ?\.? ?"
    rf"(?:of )?(?:\d+(?:[.,]\d+)? ?% ?)?{_VAT}|{_VAT} ?\.? ?(?:excl|exkl|excluded|exclu|no incluid|"
    rf"esclusa|niet inbegrepen|hariç|nélkül)|\bh\.?t\.?\b(?!\w)|"
    rf"\bnetto\b|hors (?:taxes?|tva)\b|ללא מע|"
    rf"税抜|税別|未税|不含税|부가세 ?별도|tax excluded|without tax|ex vat|غير شامل|לא כולל מע",
    re.IGNORECASE,
)
_EXTRA = re.compile(
    r"\b(?:protection|warranty|guarantee|insurance|protect(?:ion)? plan|care plan|garantie|versicherung|"
    r"garanzia|garantía|assurance|"
    r"assembly|installation|montage|einbau|gift ?wrap|geschenkverpackung|gift box|donat(?:e|ion)|"
    r"trade-?in|restocking|worth|membership|fee|charge|surcharge|"
    r"deposit|pfand|recycling|eco-?tax|customs|minimum order|order minimum|credit|gift ?card|bonus|"
    r"points?|cash ?back|back in rewards|"
    r"przedłużen\w*|gwarancj\w*|ubezpieczen\w*|záruk\w*|prodloužen\w*|pojištěn\w*|poisten\w*|jótállás\w*|"
    r"biztosítás\w*|garanți\w*|asigurar\w*|verlenging|verzekering|försäkring\w*|forsikring\w*|vakuutus\w*|"
    r"seguro|гаранти\w+|гаранті\w+|страхов\w+|sigorta\w*)\b|延長保証|長期保証|延保|보증 ?연장|加購|加购",
    re.IGNORECASE,
)
_SHIPPING_AFTER = re.compile(
    r"^\W{0,4}(?:(?:for|de|for the)\s)?(?:shipping|delivery|postage|p&p|versand(?:kosten)?|lieferung|"
    r"livraison|frais de port|envío|gastos de envío|"
    r"spedizione|verzending|verzendkosten|bezorging|frakt|leverans|levering|doprava|dostawa|wysyłka|"
    r"доставка|доставки|kargo)\b",
    re.IGNORECASE,
)
_LOW_AFTER = re.compile(
    r"^\W{0,3}(?:&|and|or|und|oder|y|et|e)\s"
    r"(?:under|below|less|more|over|up|mehr|weniger|unter|über|menos|más|moins|plus)\b",
    re.IGNORECASE,
)
_THRESHOLD = re.compile(
    r"\b(?:under|over|above|below|less than|more than|at least|up to|spend|orders? (?:of|over|above)|"
    r"unter|über|mindestens|ab einem|mindestbestellwert|bestellwert|superiores a|oltre|boven de|powyżej|"
    r"nad|свыше)\b[^.]{0,24}$",
    re.IGNORECASE,
)
# "Free" alone says little: a price may be duty free, and coffee caffeine-free.
_FREE_FROM = re.compile(
    r"(?:(?<![\w-])free(?=[^.]{0,36}?\b(?:ship|deliver|post|return|gift|sample|over|above|from|order|when|spend|"
    r"collect|pick|install|p&p|carriage))|frei|gratis|gratuit[eo]?|kostenlos|kostenfrei|zdarma|darmo\w*|бесплатн\w*|безкоштовн\w*|"
    r"ücretsiz|مجاني|חינם)"
    r"[^.]{0,40}$",
    re.IGNORECASE,
)
_PER_PIECE = re.compile(
    r"^\s*/\s*(?:pack|pk|stück|stk|st|piece|pc|pcs|each|ea|unit|count|ct|item|tablet|capsule|wash|load|"
    r"sheet|100|pièce|unità|unidad|szt|ks|kus|"
    r"шт|db|roll|bag|pod|serving|portion)\b",
    re.IGNORECASE,
)
_UNIT_WORDS = re.compile(
    r"(?:per|pro|je|/|par|por|al|за|na)\s?(?:100|1|1000)?\s?(?:kg|g|gr|ml|l|ltr|lt|cl|dl|m|m²|m2|m³|qm|"
    r"(?:kilo|milli|centi)?(?:lit(?:er|re|ro|r)s?|gram(?:m|me|mes|mi|os|s)?)|kilo|"
    r"oz|lb|fl\.? ?oz|sq|кг|г|мл|л|м)\b",
    re.IGNORECASE,
)
_MEMBER = re.compile(
    r"\b(?:member(?:s|ship)?\b(?! of)|family (?:price|preis|prix|pris|prijs)|"
    r"(?:bank|store|loyalty|payment|credit|debit) ?card\b|wallet\b|app (?:price|preis|only)|in-app|"
    r"club\b|clubcard|loyalty|with (?:your )?card|card ?holder|vip\b|"
    r"prime\b|insider|rewards? price|"
    r"mitglied\w*|mit (?:kunden|club|payback|vorteils)?karte|club|adhérent\w*|carte (?:fidélité|"
    r"de fidélité)|soci[oa]s?\b|tarjeta|"
    r"medlem\w*|klub\w*|s kartou|z kartą|"
    r"с картой|по карте|картой|кошельк\w*|банком|для членов|üye\w*|会员|會員|会員|"
    r"회원|kart(?:['’]?a)? özel|kart(?:lı|ıyla| ile| fiyatı)\b|สมาชิก)|לחברי|חברי מועדון|מועדון|לבעלי כרטיס",
    re.IGNORECASE,
)
_SUBSCRIBE = re.compile(
    r"\b(?:subscri\w+|autoship|auto-?delivery|repeat delivery|abo(?:nnement)?\b|im abo|spar-?abo|"
    r"s'abonner|suscr\w+|abonnam\w+|"
    r"подписк\w*|first order|new customers?|with code|use code|coupon|promo code|gutscheincode|"
    r"with trade|student|refurb\w*|open box|"
    r"upon opening|new card ?(?:member|holder)?s?|credit ?card|"
    r"after (?:discount|rebate|coupon|cash ?back)|auto-?replenish|"
    r"used from|used -|gebraucht|b-ware|occasion|second hand|rent(?:al)?\b|miete\w*|lease|"
    r"mit (?:dem )?(?:gutschein)?code\b|avec le code|con (?:el |il )?(?:c[oó]digo|codice)\b|"
    r"com o? ?(?:cupom|código)|z kodem\b|s kódem\b|med (?:rabat+)?kod(?:e|en)?\b|"
    r"kuponkód\w*|cu codul\b|промокод\w*|koduyla\b|kuponu?yla\b|"
    r"met (?:de )?(?:kortings)?code\b|con transferencia|por transferencia|con depósito|"
    r"(?:no|com|via|por) pix|no boleto|"
    r"bank transfer|überweisung|vorkasse|havale|przelew\w*|при оплате|наличными)|"
    r"クーポン|优惠[码券]|優惠[碼券]|쿠폰",
    re.IGNORECASE,
)


@lru_cache(maxsize=8192)
def tax_of(text: str) -> TaxBasis:
    """What a label says of tax."""
    if _NET.search(text):
        return TaxBasis.EXCLUSIVE
    return TaxBasis.INCLUSIVE if _GROSS.search(text) else TaxBasis.UNKNOWN


@lru_cache(maxsize=8192)
def before_role(text: str) -> Role | None:
    """Role by the last label before an amount; the money reader's words."""
    return roles.label_before(text)


_PRICE_LABEL = re.compile(
    r"(?:(?<![^\W\d_])(?:price|preis|prix|precio|prezzo|preço|prijs|pris|cena|hinta|ár|preț|fiyat[ıi]?|цена|ціна|"
    r"τιμή)|السعر|מחיר|価格|价格|價格|가격)\s*:?\s*(?:US|CA|AU|NZ|HK|SG)?\s*\Z",
    re.IGNORECASE,
)


@lru_cache(maxsize=8192)
def is_price_label(text: str) -> bool:
    """Whether a text ends with a word for "price", the letters of a dollar sign aside."""
    return _PRICE_LABEL.search(text) is not None


@lru_cache(maxsize=8192)
def after_role(text: str) -> Role | None:
    """Role by the words right after an amount; the money reader's words."""
    return roles.label_after(text)[0]


_CONVERTED = re.compile(
    r"(?:[≈≃~∼]|\b(?:approx(?:imately|\.)?|equivalent(?: to)?|environ|circa|ca\.|ungefähr|aproximadamente|"
    r"aprox\.?|około|cerca de))\s*:?\s*(?:[A-Z]{2,3}\s*)?\Z",
    re.IGNORECASE,
)
# "Pay $354 after $25 off on opening a card": the words after may be cut off where the next amount begins.
_AFTER_DISCOUNT = re.compile(
    r"\W{0,3}(?:after|nach abzug|après|después de|dopo)\b\W*"
    r"(?:$|rebate|coupon|discount|savings|tax credit|cash ?back|mail-?in|trade-?in|remise|descuento|sconto)",
    re.IGNORECASE,
)
_VALUE_AFTER = re.compile(
    r"\s*(?:(?:value|worth|wert|valeur|valor|valore)\b\s*\)?\s*\Z|相当|ポイント|포인트|積分|积分)",
    re.IGNORECASE,
)
# "6 875 ₸ x24": one of several payments, as "24 x 6 875" is.
_TIMES_AFTER = re.compile(r"\W{0,3}[x×х]\s?\d{1,2}(?![\d.,])", re.IGNORECASE)
# "Excludes $0.60 container deposit", "plus $0.60": a charge on top.
_ON_TOP = re.compile(
    r"\b(?:excludes?|excluding|not including|plus|zzgl\.?|zuzüglich|hors|exklusive|ekskl\.?|"
    r"esclus[oa]|sin incluir)\s*\Z",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"\b(?:deal|offer|sale|promotion|angebot|aktion|offre|oferta|offerta)\b[^.]{0,16}\b(?:has |is |ist )?"
    r"(?:ended|expired|is over|abgelaufen|beendet|vorbei|terminée|expirée|finalizad[oa]|scadut[oa])\b|"
    r"(?:\b00?\s?(?:d|days?|h|hrs?|hours?|m|mins?|s|secs?|tage?|std)\b\W*){3,}",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"(?<![\d.,])(\d{1,2})(\D{0,24})$")
_BY_ROLE = {
    Role.SAVING: "an amount saved",
    Role.SHIPPING: "a shipping charge",
    Role.INSTALMENT: "an instalment",
    Role.UNIT: "a unit price",
}


@lru_cache(maxsize=8192)
def is_converted(before: str) -> bool:
    """Whether the words before an amount say that it is only what another currency makes of the price."""
    return bool(_CONVERTED.search(before))


@lru_cache(maxsize=8192)
def no_price(before: str, after: str) -> str:
    """Why the words beside an amount make it no price of the thing; empty if they do not.

    `before` and `after` are what stands on the amount's own line.
    """
    if roles.times_before(before):
        return "one of several payments"
    if roles.unit_before(before) or _UNIT_WORDS.search(after[:24]):
        return "a unit price"
    if _TIMES_AFTER.match(after):
        return "one of several payments"
    if before.rstrip().endswith("(") and _PER_PIECE.match(after):
        return "a unit price"
    if _AFTER_DISCOUNT.match(after):
        return "a price under a condition"
    if _OVER.search(after) or _OVER.search(before[-40:]):
        return "a deal that is over"
    follows = after_role(after)
    if follows in _BY_ROLE:
        return _BY_ROLE[follows]
    return _limit_or_change(before, after) or _by_label(before, after)


def _limit_or_change(before: str, after: str) -> str:
    if _SHIPPING_AFTER.match(after):
        return "a shipping charge"
    if _LOW_AFTER.match(after) or _THRESHOLD.search(before) or _FREE_FROM.search(before):
        return "a limit and not a price"
    if _ON_TOP.search(before):
        return "a charge on top"
    minus = before[-1:] in ("-", "−", "–") and not before[:-1].strip()[-1:].isdigit()
    return "a surcharge or reduction" if minus or before.rstrip().endswith("+") else ""


def _by_label(before: str, after: str) -> str:
    role = before_role(before)
    if role in _BY_ROLE:
        return _BY_ROLE[role]
    if _VALUE_AFTER.match(after):
        return "what a gift or set is worth"
    if _EXTRA.search(before) or _EXTRA.match(after.lstrip(" \u00a0.,:;*)-–&+")):
        return "an extra"
    if _SUBSCRIBE.search(before) or _SUBSCRIBE.search(after[:40]):
        return "a price under a condition"
    counted = _COUNTED.search(before)
    if counted is not None and 2 <= int(counted[1]) <= 99 and roles.is_multibuy(counted[2]):
        return "a price for another quantity"
    return ""


_WITHOUT = re.compile(
    r"(?:^|\W)(?:without|non-?|ohne|sans|sin|senza|sem|zonder|utan|uten|uden|bez|без|fără|nélkül|ללא)\W+"
    r"(?:\w+\W+){0,2}$",
    re.IGNORECASE,
)


# "Club members earn 58 points" says what the price brings them, not that they pay another one.
_EARN = re.compile(
    r"[^.|]{0,24}?\b(?:earn|collect|gain|receive|sammel\w*|erhalten|gagne\w*|cumule\w*|acumula\w*|ganha\w*|"
    r"guadagna\w*|raccog\w*|spaar\w*|sparen|tjänar|optjener|zbier\w*|získ\w*|kerää|kazan\w*|получ\w+)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def is_for_members(text: str) -> bool:
    """Whether a label says that only members or holders of a card pay this.

    "Without a card" does not, and neither does what members earn with it.
    """
    found = _MEMBER.search(text)
    if found is None or _EARN.match(text, found.end()) is not None:
        return False
    return _WITHOUT.search(text[: found.start()]) is None


@lru_cache(maxsize=4096)
def is_without(text: str) -> bool:
    """Whether a label says that this is paid without membership or card."""
    found = _MEMBER.search(text)
    return found is not None and _WITHOUT.search(text[: found.start()]) is not None
