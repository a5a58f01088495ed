"""What shops say about stock, in the words of their languages and of machines.

Phrases are matched whole words at a time, the longest first, so that "not in stock" is never read as
"in stock". Sources: schema.org's ItemAvailability, the product feeds' value lists, and the wordings
that shop systems ship with in their translations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from pricecrawl.domain.availability import Availability

_A = Availability

# schema.org ItemAvailability, OpenGraph product:availability, Google's and Facebook's feeds. What cannot be
# shipped now is not in stock, whether or not the order is taken.
_SCHEMA = {
    _A.IN_STOCK: "instock instoreonly onlineonly limitedavailability limitedstock lowstock available "
    "availablefororder instockatstore madetoorder",
    _A.OUT_OF_STOCK: "outofstock soldout oos backorder backordered reserved unavailable notavailable "
    "notinstock pending",
    _A.NOT_AVAILABLE: "discontinued",
    _A.PRE_ORDER: "preorder presale presell",
}
_SCHEMA_WORDS = {word.lower(): state for state, words in _SCHEMA.items() for word in words.split()}


def schema_availability(text: str) -> Availability:
    """The state that a machine-readable availability names, whole address or bare word; else UNKNOWN."""
    word = re.split(r"[/#]", text.strip().rstrip("/"))[-1]
    word = word.rpartition(":")[2]
    key = re.sub(r"[\s_-]", "", word).lower()
    return _SCHEMA_WORDS.get(key, Availability.UNKNOWN)


_IN = """
in stock|instock|available now|available immediately|available to order|available for delivery
ready to ship|ships today|in stock now
ships immediately|available|currently in stock|low stock|limited stock|few left|last pieces|last one
only a few left|ready for dispatch
auf lager|sofort lieferbar|lieferbar|sofort verfügbar|verfügbar|vorrätig|am lager|lagernd
sofort versandfertig|versandfertig|ab lager
sofort lieferbar lieferzeit|wenige verfügbar|nur noch wenige|geringer bestand
en stock|disponible|disponible immédiatement|disponible en ligne|stock disponible
derniers articles en stock|stock limité|en stock en ligne
en existencia|hay existencias|disponible ahora|disponible para envío|últimas unidades
quedan pocas unidades|con existencias
disponibile|disponibilità immediata|in magazzino|subito disponibile|ultimi pezzi|pronta consegna
disponibile subito
em estoque|disponível|em stock|pronta entrega|últimas unidades|produto disponível
op voorraad|leverbaar|direct leverbaar|beschikbaar|ruim op voorraad|uit voorraad leverbaar
i lager|finns i lager|på lager|tilgjengelig|tillgänglig|tillgänglig nu|på lager online|varastossa
heti saatavilla|saatavilla|saatavana
w magazynie|dostępny|dostępna|produkt dostępny|na stanie|dostępny od ręki|dostępność dostępny|skladem
na skladě|skladom|na sklade|ihned k odeslání
raktáron|készleten|azonnal elérhető|elérhető|în stoc|in stoc|disponibil|stoc limitat|na zalihi|na zalogi
dostupno|u prodaji|yra sandėlyje|ir noliktavā|laos
в наличии|есть в наличии|в наличності|є в наявності|в наявності|на складе|доступен|на склад|в наличност
налично|готов к отправке|готово до відправки
stok ready|ready stock|stok masih ada
stokta|stokta var|stokta mevcut|mevcut|hızlı teslimat|διαθέσιμο|άμεσα διαθέσιμο|σε απόθεμα
παραλαβή από το κατάστημα άμεσα
متوفر|متوفر في المخزون|متوفرة|متاح|متوفر حاليا|במלאי|קיים במלאי|זמין במלאי|còn hàng|stok tersedia|tersedia
ada stok|มีสินค้า|พร้อมส่ง
在庫あり|在庫有り|有货|有貨|现货|現貨|有现货|재고 있음|재고있음|판매중
"""
_OUT = """
out of stock|sold out|soldout|not in stock|no stock|currently unavailable|temporarily unavailable
unavailable|not available|no longer available
out-of-stock|temporarily out of stock|currently out of stock|item unavailable|product unavailable
backorder|back order|backordered|on backorder|back-order
available on backorder|on back order|currently sold out|this item is sold out|out of print|zero in stock
unavailable online|0 in stock|awaiting stock|изчерпано|изчерпан|läbi müüdud|išparduota|izpārdots|otsas
nicht lieferbar|nicht verfügbar|ausverkauft|vergriffen|nicht auf lager|nicht vorrätig
derzeit nicht verfügbar|momentan nicht verfügbar
zur zeit nicht lieferbar|derzeit nicht lieferbar|aktuell nicht verfügbar|leider ausverkauft
nicht mehr verfügbar|nicht mehr lieferbar|zurzeit nicht verfügbar
momentan nicht lieferbar|aktuell nicht lieferbar|fehlt am lager|lieferrückstand|im zulauf
épuisé|en rupture de stock|rupture de stock|en rupture|indisponible|non disponible|plus disponible
actuellement indisponible|stock épuisé|produit épuisé|hors stock
victime de son succès|temporairement indisponible
agotado|sin stock|sin existencias|no disponible|producto agotado|fuera de stock|temporalmente agotado
actualmente no disponible|no hay existencias
esaurito|non disponibile|prodotto esaurito|attualmente non disponibile|terminato
non disponibile al momento|temporaneamente non disponibile
esgotado|indisponível|fora de estoque|sem estoque|produto indisponível|sem stock|produto esgotado
uitverkocht|niet op voorraad|niet leverbaar|niet beschikbaar|tijdelijk niet leverbaar
tijdelijk uitverkocht|momenteel niet leverbaar
slutsåld|slut i lager|ej i lager|finns ej i lager|inte i lager|tillfälligt slut|udsolgt|ikke på lager
ikke tilgængelig|utsolgt|ikke tilgjengelig|midlertidig utsolgt
loppu|loppunut|loppu varastosta|ei saatavilla|ei varastossa|loppuunmyyty|tilapäisesti loppu
wyprzedany|wyprzedane|niedostępny|niedostępna|produkt niedostępny|brak w magazynie|brak na stanie
brak towaru|chwilowo niedostępny|towar niedostępny
vyprodáno|není skladem|nedostupné|momentálně nedostupné|dočasně nedostupné|vypredané|nie je na sklade
nedostupný|momentálne nedostupné|nie je skladom
elfogyott|nincs készleten|nincs raktáron|nem elérhető|nem rendelhető|stoc epuizat|indisponibil
nu este în stoc|nu este disponibil|nedostupno|rasprodano|ni na zalogi|razprodano
нет в наличии|распродано|нет на складе|отсутствует|недоступен|закончился|товар закончился
временно отсутствует|немає в наявності|немає на складі|закінчився|продано|под заказ
няма наличност|изчерпан|не е налично|нет в продаже|снят с продажи|знято з продажу
stokta yok|tükendi|stokta bulunmuyor|temin edilemiyor|mevcut değil|satışta değil|εξαντλημένο|εξαντλήθηκε
μη διαθέσιμο|δεν είναι διαθέσιμο
غير متوفر|نفذت الكمية|نفدت الكمية|نفذ من المخزون|نفد من المخزون|نفذ المخزون|غير متاح|غير متوفرة
غير متوفر حاليا|انتهت الكمية|אזל מהמלאי|אזל המלאי|לא במלאי|אזל|חסר במלאי|לא זמין
hết hàng|tạm hết hàng|stok habis|habis|kehabisan stok|tidak tersedia|สินค้าหมด|หมด
売り切れ|在庫切れ|在庫なし|品切れ|完売|入荷待ち
缺货|缺貨|售罄|已售完|無庫存|无货|暂无库存|補貨中|품절|일시품절|매진|재고 없음
"""
_GONE = """
prodej skončil|prodej ukončen|prodej byl ukončen|ukončená výroba|výroba ukončena
již se nevyrábí|už se nevyrábí
výroba byla ukončena|wird nicht mehr hergestellt|wird nicht mehr produziert|produktion eingestellt
no longer made|no longer manufactured|no longer in production|n'est plus fabriqué|n'est plus commercialisé
nie jest już produkowany|produkt wycofany z oferty|tillverkas inte längre|wordt niet meer gemaakt
fuori catalogo|non più prodotto|ya no se fabrica|már nem gyártják|kifutott termék|снят с производства
discontinued|no longer sold|this product has been discontinued|product discontinued|eingestellt
nicht mehr im sortiment|artikel nicht mehr verfügbar|arrêté
descatalogado|fuori produzione|uit assortiment|utgått|udgået|utgått ur sortimentet|wycofany ze sprzedaży
produkt wycofany|ukončený prodej|снято с производства|販売終了|生産終了|停产|단종
"""
_PRE = """
pre-order|preorder|pre order|pre-order now|available for pre-order|available for preorder|coming soon
pre-sale|presale|vorbestellen|vorbestellbar|jetzt vorbestellen|vorbestellung
erscheint am|noch nicht erschienen|précommande|en précommande|à paraître|pré-commande|reserva|en reserva
preventa|próximo lanzamiento|preordine|in prenotazione|prenota ora|pré-venda|em pré-venda
pré-encomenda|reserveren|pre-orderen|förboka|förbeställ|forudbestil|forhåndsbestill|forhåndsbestilling
ennakkotilaus|przedsprzedaż|zapowiedź|předobjednávka|predobjednávka|előrendelhető|precomandă
предзаказ|передзамовлення|ön sipariş|ön siparişte|προπαραγγελία|طلب مسبق|הזמנה מוקדמת
đặt trước|予約受付中|予約販売
预售|預售|预订|預購|예약판매|예약 구매
"""
_MEMBER = """
members only|member only|members-only|exclusive to members|for members only|only for members
sign in to see price|sign in to see the price|log in to see price|login to see price
log in to see prices|login for price|sign in for price|login to view price|sign in to view price
log in to view price|trade customers only|nur für mitglieder|preise nach anmeldung|preis nach login
anmelden um preise zu sehen|réservé aux membres|connectez-vous pour voir le prix
connectez-vous pour voir les prix|solo para socios|inicia sesión para ver el precio|solo per soci
accedi per vedere il prezzo
apenas para membros|alleen voor leden|log in om prijzen te zien|endast för medlemmar|kun for medlemmer
vain jäsenille|tylko dla klubowiczów|zaloguj się aby zobaczyć cenę|jen pro členy|только для членов клуба
войдите чтобы увидеть цену
会員限定|仅限会员|会员专享|회원 전용|للأعضاء فقط|לחברים בלבד
become a member to buy|join to buy|membership required
"""
# Not statements about now: alerts, conditions, questions.
_NOTHING = """
back in stock|email me when back in stock
when available|when in stock|if available|when back in stock|in stock soon
back in stock soon|notify me when available|not available for pickup|unavailable for pickup
not available in stores
check availability|check stock|store availability|see availability|availability in store
subject to availability|while stocks last|in stock and|when this item is available|wenn verfügbar
wenn wieder verfügbar
sobald verfügbar|wieder verfügbar|wieder lieferbar|wieder auf lager|de retour en stock|quand disponible
cuando esté disponible|quando disponibile|quando disponível|weer op voorraad|åter i lager|igjen på lager
ponownie dostępny
opět skladem|znovu skladem|when it is back in stock|available sizes|available colors|available colours
available in|also available|available options|available at|available from|available on|is available
are available|be available
available languages|available payment|available online|not available for|available for|not available in
unavailable in|gift wrap available|verfügbar in|verfügbar bis|disponible en|disponible dans|disponibile in
out of stock items
"""

_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*|\d+")
_LONGEST = 7
_NEGATIONS = frozenset(
    (
        *(
            "not",
            "no",
            "nicht",
            "kein",
            "keine",
            "non",
            "pas",
            "niet",
            "ikke",
            "inte",
            "ej",
            "ei",
            "nie",
            "nu",
        ),
        *("nem", "не", "нет", "немає", "değil", "yok", "غير", "לא", "δεν"),
    )
)


_SOLID = re.compile("[\u0e00-\u0eff\u2e80-\u9fff\uac00-\ud7af]")


def _unspaced(character: str) -> bool:
    return (
        "\u0e00" <= character <= "\u0eff"
        or "\u2e80" <= character <= "\u9fff"
        or "\uac00" <= character <= "\ud7af"
    )


def _key(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold().replace("-", " ")))


@lru_cache(maxsize=1)
def _tables() -> tuple[dict[tuple[str, ...], Availability | None], dict[str, Availability], frozenset[str]]:
    phrases: dict[tuple[str, ...], Availability | None] = {}
    unspaced: dict[str, Availability] = {}
    for state, block in (
        (_A.IN_STOCK, _IN), (_A.OUT_OF_STOCK, _OUT), (_A.NOT_AVAILABLE, _GONE), (_A.PRE_ORDER, _PRE),
        (_A.MEMBER_ONLY, _MEMBER), (None, _NOTHING),
    ):  # fmt: skip
        for phrase in re.split(r"[|\n]", block):
            bare = phrase.strip()
            if not bare:
                continue
            if _unspaced(bare[0]) and state is not None:
                unspaced[bare] = state
            else:
                phrases[_key(bare)] = state
    firsts = frozenset(key[0] for key in phrases if key)
    return phrases, unspaced, firsts


@dataclass(frozen=True, slots=True)
class Said:
    """One phrase about stock: its state, where it stands, and which share of the text it is (0..1)."""

    value: Availability
    start: int
    end: int
    share: float
    text: str


# Alone on its line it is the state of a single piece; within a line it is as often a count ("500 sold").
_SOLD = frozenset(("sold", "verkauft", "vendu", "vendue", "vendido", "vendida", "venduto", "verkocht", "såld",
                   "solgt", "myyty", "sprzedane", "prodáno", "eladva", "продано", "satıldı"))  # fmt: skip
_EDGES = " !.*-–—•:\t\n\u00a0"


@lru_cache(maxsize=16_384)
def sayings(text: str) -> tuple[Said, ...]:
    """Every statement about stock in one short text, in order; the chrome of a shop's pages repeats."""
    found: list[Said] = []
    if text.strip(_EDGES).casefold() in _SOLD:
        return (Said(_A.OUT_OF_STOCK, 0, len(text), 1.0, text.strip(_EDGES)),)
    if _SOLID.search(text):
        found = _solid_sayings(text)
    phrases, _, firsts = _tables()
    folded = text.casefold().replace("-", " ")
    if firsts.isdisjoint(_WORD.findall(folded)):
        return tuple(found)
    letters = sum(map(str.isalnum, text)) or 1
    words = [(m.group(), m.start(), m.end()) for m in _WORD.finditer(folded)]
    place = 0
    while place < len(words):
        size = _phrase_at(words, place) if words[place][0] in firsts else 0
        if not size:
            place += 1
            continue
        meant = phrases[tuple(word for word, _, _ in words[place : place + size])]
        if meant is not None:
            begin, end = words[place][1], words[place + size - 1][2]
            if meant is _A.IN_STOCK:
                meant = _counted(words, place, size)
            share = sum(map(str.isalnum, text[begin:end])) / letters
            found.append(Said(meant, begin, end, share, text[begin:end]))
        place += size
    return tuple(found)


def _phrase_at(words: list[tuple[str, int, int]], place: int) -> int:
    """How many words the longest phrase at a place has; 0 if none begins there."""
    phrases = _tables()[0]
    for size in range(min(_LONGEST, len(words) - place), 0, -1):
        if tuple(word for word, _, _ in words[place : place + size]) in phrases:
            return size
    return 0


def _solid_sayings(text: str) -> list[Said]:
    """Phrases of scripts that write no blanks between words."""
    found: list[Said] = []
    letters = sum(map(str.isalnum, text)) or 1
    for phrase, meant in _tables()[1].items():
        at = text.find(phrase)
        if at >= 0:
            found.append(Said(meant, at, at + len(phrase), len(phrase) / letters, phrase))
    # 在庫 (stock) is part of 在庫切れ (none): the longest phrase at a place speaks.
    return [a for a in found if not any(b is not a and b.start <= a.start and b.end >= a.end for b in found)]


def _counted(words: list[tuple[str, int, int]], place: int, size: int) -> Availability:
    """Out of stock by "0 new in stock" or "not currently in stock"; a number above zero is stock."""
    before = [word for word, _, _ in words[max(0, place - 3) : place]]
    after = [word for word, _, _ in words[place + size : place + size + 1]]
    for word in reversed(before):
        if word.isdigit():
            return _A.OUT_OF_STOCK if int(word) == 0 else _A.IN_STOCK
        if word in _NEGATIONS:
            return _A.OUT_OF_STOCK
    if after and after[0].isdigit() and int(after[0]) == 0:
        return _A.OUT_OF_STOCK
    return _A.IN_STOCK


_NUMBER = re.compile(r"(?<![\d.,])\d{1,6}(?![\d.,]*\d)")
_COUNT_LABEL = re.compile(
    r"\b(?:only|just) \d+ left\b|\d+ left (?:in stock|at this)|nur noch \d|"
    r"plus que \d|(?:sólo|solo) quedan? \d|"
    r"restano solo \d|nog maar \d|bara \d+ kvar|kun \d+ igjen|kun \d+ tilbage|vain \d+ jäljellä|"
    r"tylko \d+ szt|zostało \d|już jen \d|poslední \d|осталось \d|"
    r"son \d+ (?:ürün|adet)|残り\d|仅剩\d|僅剩\d|sisa \d|"
    r"stock|availab|quantity|inventory|lager|bestand|verfügbar|stock disponible|disponibil|voorraad|"
    r"ilość|stan|skladem|наличи|остат|stok|مخزون|مלאי|库存|在庫|재고",
    re.IGNORECASE,
)


@lru_cache(maxsize=8192)
def counted_state(text: str) -> Availability:
    """State told by a lone count beside a word for stock ("Stock: 0", "Lagerbestand: 12"); else UNKNOWN."""
    if len(text) > 60:
        return _A.UNKNOWN
    numbers = _NUMBER.findall(text)
    if len(numbers) != 1 or not _COUNT_LABEL.search(text):
        return _A.UNKNOWN
    return _A.IN_STOCK if int(numbers[0]) > 0 else _A.OUT_OF_STOCK


def state_of(text: str) -> Availability:
    """The state that a short text states as a whole: what a stock rule's value means."""
    machine = schema_availability(text)
    if machine is not _A.UNKNOWN:
        return machine
    said = sayings(text[:300])
    if said:
        order = (_A.NOT_AVAILABLE, _A.OUT_OF_STOCK, _A.MEMBER_ONLY, _A.PRE_ORDER, _A.IN_STOCK)
        return min((item.value for item in said), key=order.index)
    counted = counted_state(text)
    if counted is not _A.UNKNOWN:
        return counted
    bare = text.strip()
    if bare.isdigit() and len(bare) <= 6:
        return _A.IN_STOCK if int(bare) > 0 else _A.OUT_OF_STOCK
    low = bare.casefold()
    if low in (
        "true",
        "yes",
        "1",
        "ja",
        "oui",
        "sí",
        "si",
        "sim",
        "tak",
        "ano",
        "да",
        "так",
        "evet",
        "نعم",
        "כן",
    ):
        return _A.IN_STOCK
    if low in ("false", "no", "nein", "non", "não", "nie", "ne", "нет", "ні", "hayır", "لا", "לא"):
        return _A.OUT_OF_STOCK
    return _A.UNKNOWN
