"""What a promotion line means for the price of one unit that an ordinary customer pays.

Only an unconditional, public promotion lowers a landed price. Everything that asks something of the
customer (membership, a code, a payment method, a subscription, another quantity) is named, so that
the offer can be left out for the right reason; what cannot be read is AMBIGUOUS, never ignored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from pricecrawl.domain.money import read_price


class PromotionKind(StrEnum):
    """What a promotion asks for."""

    NONE = "none"
    UNCONDITIONAL = "unconditional"
    CONDITIONAL = "conditional"
    CODE = "code"
    MEMBER = "member"
    PERSONALIZED = "personalized"
    PAYMENT_METHOD = "payment_method"
    SUBSCRIPTION = "subscription"
    BUNDLE = "bundle"
    AMBIGUOUS = "ambiguous"


@dataclass(frozen=True, slots=True)
class Promotion:
    """A promotion as understood.

    `amount` is what an unconditional promotion still takes off the shown item price, in the
    offer's currency (0 when the shown price already contains it). `share` is the fraction that a
    text states for any kind (0.20 for "20 %"), None when it states none.
    """

    kind: PromotionKind = PromotionKind.NONE
    amount: Decimal = Decimal(0)
    share: Decimal | None = None
    text: str = ""


NO_PROMOTION = Promotion()

_NUMBER = r"\d+(?:[.,]\d{1,3})?"
_PERCENT = r"(?:%|percent|prozent|pour\s?cent|por\s?ciento|procent)"
_SHARE = re.compile(rf"({_NUMBER})\s*{_PERCENT}", re.IGNORECASE)


def _words(*phrases: str) -> re.Pattern[str]:
    """Any of the phrases (regular expressions), each starting at a word."""
    return re.compile(r"\b(?:" + "|".join(phrases) + ")", re.IGNORECASE)


_CODE = _words(
    r"coupon|voucher|promo(?:tion)?(?:al)?[ -]?code\b|discount code\b|(?:with|use|enter) (?:the )?code\b",
    r"code[: ]+[A-Z0-9]{3,}\b|gutschein|rabattcode|aktionscode|code promo\b|bon de r[ée]duction",
    r"c[óo]digo\b|cup[óo]n\b|codice\b|kortingscode|kupon",
)
_SUBSCRIPTION = _words(
    r"subscri(?:be|ption|bers?)\b|auto[- ]?(?:ship|delivery|renew)|repeat deliver|sparabo\b|im abo\b",
    r"abonnement|abonn[ée]s?\b|suscripci[óo]n|suscr[íi]bete|abbonamento|sottoscri",
)
_PERSONALIZED = _words(
    r"(?:just|selected) for you\b|personal(?:i[sz]ed)? (?:offer|price|deal)|your (?:price|offer)\b",
    r"new customers?\b|first (?:order|purchase)\b|students?\b|unidays|seniors?\b|military\b|key workers?\b",
    r"employee|staff (?:price|discount)|neukunden?\b|erstbestellung|premi[èe]re commande|nouveaux clients",
    r"nuevos clientes|primer pedido|nuovi clienti|nieuwe klanten",
)
_MEMBER = _words(
    r"members?(?:hip)?\b|clubcard|club price|loyalty|rewards?\b|nectar price|prime (?:price|deal|members?)\b",
    r"mitglieder?|kundenkarte|payback|vorteilskarte|membres?\b|carte (?:de )?fid[ée]lit[ée]|adh[ée]rents?\b",
    r"socios?\b|miembros?\b|tarjeta de cliente|soci\b|fidaty|carta fedelt[àa]|leden(?:prijs|voordeel)?\b",
    r"会員|회원",
)
_PAYMENT = _words(
    r"pay(?:ing|ment)? (?:with|by|via)\b|when you pay\b|paypal|klarna|apple pay|google pay|store card\b",
    r"(?:credit|debit|gift) card\b|bank transfer|cash (?:price|discount)|cashback|bei zahlung",
    r"per lastschrift|vorkasse|skonto|en payant|par carte\b|pagando|con tarjeta|pagamento con|betaal met",
)
_BUNDLE = _words(
    r"bundle|free gift|gift with\b|with (?:the )?purchase of|when (?:bought|purchased) with|bought together",
    r"buy \w+,? get\b|bogo\b|b1g1|two for one|meal deal|mix (?:and|&) match|gratis (?:dazu|bei)|im set\b",
    r"cadeau|offert pour|regalo|omaggio|trade[- ]?in\b",
)
# Another quantity or a minimum: "2 for £5", "3 x 2", "any 2", "buy 3", "2 or more", "2+1", "spend £50".
_CONDITIONAL = _words(
    r"\d+\s*(?:for|f[üu]r|pour|por|per|voor|za|f[öo]r|x|à)\s*(?:only|just|nur|seulement|solo|slechts)?\s*"
    r"(?:[€$£¥₩]|the price of)?\s*\d",
    r"(?:any|buy|choose|add|kaufe?n?|achetez|compra|acquista|koop|ll?[ée]va(?:te)?|leve|prendi)\s+(?:any\s+)?"
    r"(?:\d|two|three|four|zwei|drei|deux|trois|dos|tres|due|tre|twee|drie)\b",
    r"\d\s*(?:kaufen|nehmen|halen)\b|\d\s*,?\s*(?:paga[sn]?|paghi|payez|pague)\s+\d",
    r"(?:[2-9]|\d\d+)\s*(?:or more|oder mehr|ou plus|o m[áa]s|o pi[ùu]|of meer)\b|\d\s*\+\s*\d\b",
    r"(?:2nd|second|3rd|third)\b.{0,12}\b(?:half|free|off|\d)|(?:zweite|deuxi[èe]me|segunda|seconda|tweede)\b",
    r"[23](?:e|[èe]me|de|ª|\.)\s.{0,24}?(?:halv|halb|moiti|mitad|met[àa]|\d\d\s*%|gratis|offert)",
    r"spend\b|orders? (?:over|above|of|from)\b|over \W?\d|minimum (?:spend|order)|mindestbestell",
    r"ab \d+ ?(?:st|€|eur|fl|dos|pack|kart|kist|art|teil|paar)",
    r"ab einem|d[èe]s \d|à partir de|a partir de|desde \d|minimo\b|vanaf \d|multi-?buy\b",
    r"per (?:case|carton)\b",
)
_AT_CHECKOUT = _words(
    r"(?:at|in|during) (?:the |your )?(?:checkout|basket|cart|bag|till)\b|automatically\b",
    r"(?:an der kasse|im warenkorb|automatisch)\b|(?:en caisse|(?:dans le|au) panier|automatiquement)\b",
    r"(?:en (?:la )?caja|en (?:la cesta|el carrito)|autom[áa]ticamente)\b",
    r"(?:(?:alla|in) cassa|nel carrello|automaticamente)\b|(?:in (?:de )?winkel(?:mand|wagen))\b",
)

# "£5 off", "save an extra 10 %", "Rabatt: 2,50 €", "-20 %": a figure that is said to come off.
_DIGITS = r"\d(?:[\d.,'\u2019\u00a0\u202f ]{0,20}\d)?"
_SIGN = (
    r"(?:(?-i:[A-Z]{1,2})?[€$£¥₩₹₽₺₫฿₴₪₱]|(?-i:\b[A-Z]{3}\b)"
    r"|\b(?:kr\.?|zł|kč|ft|lei|rs\.?|tl|euros?|yen|won)(?!\w))"
)
MONEY = rf"(?:{_SIGN}\s?{_DIGITS}|{_DIGITS}\s?{_SIGN})"
_FIGURE = rf"(?:(?P<share>{_NUMBER}\s*{_PERCENT})|(?P<money>{MONEY}))"
_LESS = (
    r"(?:off|less|discount|saved?|savings?|reduction|deducted|rabatt|nachlass|sparen|günstiger"
    r"|remise|r[ée]duction|rabais|[ée]conomie|descuento|dto|rebaja|ahorro|sconto|risparmio|korting|desconto)\b"
)
_TAKE = (
    r"(?:save|less|minus|discount|deduct|spare?n?|rabatt|nachlass|remise|r[ée]duction|[ée]conomisez"
    r"|descuento|ahorra|sconto|risparmia|korting|bespaar|desconto)\b"
)
# What may stand beside it and asks for nothing. Any other word may be a condition, a charge or a credit.
_PLAIN = (
    r"(?:an?|the|of|get|take|extra|additional|further|instant(?:ly)?|immediate(?:ly)?|applied|taken|you|your"
    r"|will|be|is|sie|vous|de|di|du|un|una|uno|une|einen?|ein|zusätzlich(?:e[rnms]?)?|weitere[rnms]?|sofort(?:iger)?"
    r"|suppl[ée]mentaires?|imm[ée]diate?|adicional|inmediato|ulteriore|aggiuntivo|immediato|direct)\b"
)
_NOW = (
    r"(?:now|today|only|online|heute|jetzt|nur|aujourd.hui|hoy|oggi|vandaag|sale|deal|offer|angebot|aktion)\b"
)
_BESIDE = rf"(?:\W{{1,3}}{_PLAIN})*"
_CUT = re.compile(
    rf"(?:[-−–]\s?|\b{_TAKE}{_BESIDE}\W{{1,3}})?{_FIGURE}(?:{_BESIDE}\W{{1,3}}{_LESS})?", re.IGNORECASE
)
_SAYS_NOTHING = re.compile(rf"\b(?:{_PLAIN}|{_NOW})|[\W_]+", re.IGNORECASE)

# In order: the first that matches names the kind. A condition on who buys or how is looked for
# before one on how many, and both before a plain reduction, because lines often mix them
# ("Members: 3 for 2", "10 % off with code SPRING").
_KINDS: tuple[tuple[PromotionKind, re.Pattern[str]], ...] = (
    (PromotionKind.CODE, _CODE),
    (PromotionKind.SUBSCRIPTION, _SUBSCRIPTION),
    (PromotionKind.PERSONALIZED, _PERSONALIZED),
    (PromotionKind.MEMBER, _MEMBER),
    (PromotionKind.PAYMENT_METHOD, _PAYMENT),
    (PromotionKind.BUNDLE, _BUNDLE),
    (PromotionKind.CONDITIONAL, _CONDITIONAL),
    (PromotionKind.UNCONDITIONAL, _AT_CHECKOUT),
)

# Lines that only describe the price already shown.
_ALREADY_SHOWN = _words(
    r"(?:was|now|before|save|saving|saved|you save|reduced|reduction|sale|clearance|discount(?:ed)?|off)\b",
    r"(?:deal|rrp|msrp|price (?:drop|cut)|rollback|limited (?:time|offer)|flash|special (?:offer|price))\b",
    r"(?:statt|jetzt|reduziert|rabatt|sie sparen|angebot|aktion|soldes?|promo(?:tion)?|remise|au lieu de)\b",
    r"(?:antes|ahora|oferta|descuento|rebajas?|rebajado|offerta|sconto|ribasso|prima)\b",
    r"(?:korting|aanbieding|nu|voor)\b",
)
_ONLY_A_SHARE = re.compile(r"[-−–]?\s*\d+\s*%")

# A promise about delivery says nothing about the item: shipping is read on its own.
_DELIVERY = re.compile(
    r"(?:\bfree\W+(?:\w+\W+){0,2}?(?:delivery|shipping|postage|returns?|click (?:and|&) collect|collection)\b"
    r"|\b(?:versandkostenfrei|kostenlose[rn]? (?:versand|lieferung)|livraison (?:gratuite|offerte)"
    r"|env[íi]o gratis|spedizione gratuita|gratis (?:verzending|versand|lieferung)))[^.;|•]*",
    re.IGNORECASE,
)
_PROMISES = re.compile(r"[%€$£¥₩]|\b(?:free|gratis|offer|deal|promo\w*|discount|save)\b", re.IGNORECASE)


def read_promotion(text: str, currency: str | None = None) -> Promotion:
    """The meaning of a promotion line, as a shop writes it beside one product sold in `currency`.

    "Save £5", "was 20 now 15" and "-20 %" describe the shown price and take nothing more off it.
    "£2 off at checkout" does, by the stated amount; with a percentage the share is kept and the
    amount follows from the item price (see `unconditional_amount`). That needs every word of the line:
    "up to £2 off", "£2 delivery" and "£2 credit" at checkout, or £2 where prices are in dollars, take
    nothing off for certain.
    """
    text = _DELIVERY.sub("", " ".join(text.split())).lstrip(" .;|•,&+").rstrip(" .;|•,&+-–")
    if not text:
        return NO_PROMOTION
    share = _share_of(text)
    for kind, pattern in _KINDS:
        if pattern.search(text):
            if kind is PromotionKind.UNCONDITIONAL:
                return _at_checkout(text, share, currency)
            return Promotion(kind, share=share, text=text)
    if _ALREADY_SHOWN.search(text) or _ONLY_A_SHARE.fullmatch(text):
        return Promotion(PromotionKind.NONE, share=share, text=text)
    if _PROMISES.search(text):
        return Promotion(PromotionKind.AMBIGUOUS, share=share, text=text)
    return Promotion(PromotionKind.NONE, text=text)


def unconditional_amount(promotion: Promotion, item_price: Decimal) -> Decimal:
    """What the promotion takes off `item_price` for everybody, in the same currency."""
    if promotion.kind is not PromotionKind.UNCONDITIONAL:
        return Decimal(0)
    if promotion.share is not None:
        return item_price * promotion.share
    return promotion.amount


def _at_checkout(text: str, share: Decimal | None, currency: str | None) -> Promotion:
    unclear = Promotion(PromotionKind.AMBIGUOUS, share=share, text=text)
    said = _AT_CHECKOUT.sub(" ", text).strip()
    cut = _CUT.search(said)
    if cut is None or cut[0] == (cut["share"] or cut["money"]):  # nothing says that it comes off
        return unclear
    if _SAYS_NOTHING.sub("", said[: cut.start()] + " " + said[cut.end() :]):
        return unclear
    if cut["share"]:
        return unclear if share is None else Promotion(PromotionKind.UNCONDITIONAL, share=share, text=text)
    read = read_price(cut["money"], currency=currency)
    if read.amount is None or not read.signed or (currency is not None and read.currency != currency):
        return unclear
    return Promotion(PromotionKind.UNCONDITIONAL, amount=read.amount, text=text)


def _share_of(text: str) -> Decimal | None:
    shares = {_decimal(number) for number in _SHARE.findall(text)}
    if len(shares) != 1:
        return None
    share = shares.pop() / 100
    return share if 0 < share < 1 else None


def _decimal(number: str) -> Decimal:
    return Decimal(number.replace(",", "."))
