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
_SHARE = re.compile(rf"({_NUMBER})\s*(?:%|percent|prozent|pour\s?cent|por\s?ciento|procent)", re.IGNORECASE)
_AMOUNT = re.compile(rf"(?:[€$£¥₩]|\b[A-Z]{{3}}\b)\s*({_NUMBER})|({_NUMBER})\s*(?:[€$£¥₩]|\b[A-Z]{{3}}\b)")


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
    r"(?:any|buy|choose|kaufe?n?|achetez|compra|acquista|koop|ll?[ée]va(?:te)?|leve|prendi)\s+(?:any\s+)?\d",
    r"\d\s*(?:kaufen|nehmen|halen)\b|\d\s*,?\s*(?:paga[sn]?|paghi|payez|pague)\s+\d",
    r"(?:[2-9]|\d\d+)\s*(?:or more|oder mehr|ou plus|o m[áa]s|o pi[ùu]|of meer)\b|\d\s*\+\s*\d\b",
    r"(?:2nd|second|3rd|third)\b.{0,12}\b(?:half|free|off|\d)|(?:zweite|deuxi[èe]me|segunda|seconda|tweede)\b",
    r"[23](?:e|[èe]me|de|ª|\.)\s.{0,24}?(?:halv|halb|moiti|mitad|met[àa]|\d\d\s*%|gratis|offert)",
    r"spend\b|orders? (?:over|above)\b|over \W?\d|minimum (?:spend|order)|mindestbestell|ab \d+ (?:st|€|eur)",
    r"ab einem|d[èe]s \d|à partir de|a partir de|desde \d|minimo\b|vanaf \d|multi-?buy\b",
    r"per (?:case|carton)\b",
)
_AT_CHECKOUT = _words(
    r"at (?:the )?checkout\b|in (?:the )?(?:basket|cart|bag)\b|automatically\b|an der kasse\b|im warenkorb\b",
    r"en caisse\b|dans le panier\b|en la cesta\b|en el carrito\b|nel carrello\b|in winkelmand\b",
)

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


def read_promotion(text: str) -> Promotion:
    """The meaning of a promotion line, as a shop writes it beside one product.

    "Save £5", "was 20 now 15" and "-20 %" describe the shown price and take nothing more off it.
    "£2 off at checkout" does, by the stated amount; with a percentage the share is kept and the
    amount follows from the item price (see `unconditional_amount`).
    """
    text = _DELIVERY.sub("", " ".join(text.split())).strip(" .;|•,&+-–")
    if not text:
        return NO_PROMOTION
    share = _share_of(text)
    for kind, pattern in _KINDS:
        if pattern.search(text):
            if kind is PromotionKind.UNCONDITIONAL:
                return _at_checkout(text, share)
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


def _at_checkout(text: str, share: Decimal | None) -> Promotion:
    if share is not None:
        return Promotion(PromotionKind.UNCONDITIONAL, share=share, text=text)
    amounts = {first or second for first, second in _AMOUNT.findall(text)}
    if len(amounts) != 1:  # none, or several: which of them comes off is a guess
        return Promotion(PromotionKind.AMBIGUOUS, text=text)
    return Promotion(PromotionKind.UNCONDITIONAL, amount=_decimal(amounts.pop()), text=text)


def _share_of(text: str) -> Decimal | None:
    shares = {_decimal(number) for number in _SHARE.findall(text)}
    if len(shares) != 1:
        return None
    share = shares.pop() / 100
    return share if 0 < share < 1 else None


def _decimal(number: str) -> Decimal:
    return Decimal(number.replace(",", "."))
