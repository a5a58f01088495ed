"""Currency signs and words as shops write them, and which currency one stands for in a given place.

CLDR's signs (`money_cldr`) come first; `_WRITTEN` adds what shops write and CLDR does not list: abbreviations,
names, old spellings. A sign that several currencies share is settled by what the caller told, the market, the
locale, or CLDR's root locale, in this order; otherwise it stays open. Nothing is ever the dollar by default.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from pricecrawl.domain.market import Market
from pricecrawl.domain.money_cldr import ROOT_SIGNS, SIGNS
from pricecrawl.domain.money_locale import LocaleFacts, currency_codes, sign_key, tender_of

_DOLLARS = SIGNS["$"]

# Sign or word → currencies. An empty value is money that ISO 4217 does not know (the toman is ten rials).
_WRITTEN = {
    # dollars and pesos
    "US$": "USD", "U$S": "USD", "U$": "USD", "U.S.$": "USD", "$US": "USD", "USD$": "USD", "US": "USD", "AU$": "AUD",
    "A$": "AUD", "AUD$": "AUD", "CAN$": "CAD", "C$": "CAD NIO", "CDN$": "CAD", "CND$": "CAD", "S$": "SGD",
    "NT": "TWD", "NT$": "TWD", "HK$": "HKD", "MX$": "MXN", "R$": "BRL", "RD$": "DOP", "J$": "JMD", "BZ$": "BZD",
    "CUC$": "CUC", "$b": "BOB", "$U": "UYU", "T$": "TOP", "TT$": "TTD", "Z$": "ZWL", "G$": "GYD", "GY$": "GYD",
    "EC$": "XCD", "N$": "NAD", "FJ$": "FJD", "WS$": "WST", "L$": "LRD", "SI$": "SBD", "MOP$": "MOP", "B$": "BND BSD",
    "COL$": "COP", "AR$": "ARS", "Mex$": "MXN", "dollar": _DOLLARS, "dollars": _DOLLARS, "peso": "", "pesos": "",
    "dólares": _DOLLARS, "долл": _DOLLARS, "доллар": _DOLLARS, "долларов": _DOLLARS, "＄": _DOLLARS, "﹩": _DOLLARS,
    "美元": "USD", "美金": "USD", "美股": "USD", "달러": "USD", "ドル": _DOLLARS, "港元": "HKD", "港幣": "HKD",
    "台幣": "TWD", "新台幣": "TWD", "$MN": "MXN",
    # euro
    "euro": "EUR", "euros": "EUR", "eur": "EUR", "евро": "EUR", "евра": "EUR", "ευρώ": "EUR", "eura": "EUR", "ユーロ": "EUR",
    "欧元": "EUR", "유로": "EUR", "يورو": "EUR", "אירו": "EUR", "eurų": "EUR", "eiro": "EUR", "eurot": "EUR", "evro": "EUR",
    # pounds
    "£": "GBP EGP SYP LBP FKP GIP SHP SSP", "￡": "GBP EGP", "₤": "GBP ITL TRL", "E£": "EGP", "L.E": "EGP", "LE": "EGP",
    "L£": "LBP", "S£": "SYP", "LL": "LBP", "stg": "GBP", "pound": "GBP EGP", "pounds": "GBP EGP", "£E": "EGP",
    "GBP£": "GBP", "IR£": "IEP", "جنيه": "EGP SDG", "ج م": "EGP", "ج.س": "SDG", "英镑": "GBP", "ポンド": "GBP",
    # yen, yuan, won
    "¥": "JPY CNY", "￥": "JPY CNY", "yen": "JPY", "円": "JPY", "yuan": "CNY", "rmb": "CNY", "元": "CNY TWD HKD",
    "圆": "CNY", "圓": "TWD HKD", "人民币": "CNY", "人民幣": "CNY", "块": "CNY", "원": "KRW", "won": "KRW", "일본엔": "JPY",
    "日圓": "JPY", "日元": "JPY",
    # kroner
    "kr": "SEK NOK DKK ISK", "Kr": "SEK NOK DKK ISK", "KR": "SEK NOK DKK ISK", "krona": "SEK ISK", "kronor": "SEK",
    "kroner": "NOK DKK", "krone": "NOK DKK", "krónur": "ISK", "króna": "ISK", "Dkr": "DKK", "Nkr": "NOK", "Skr": "SEK",
    "Ikr": "ISK", "SKr": "SEK", "NKr": "NOK", "DKr": "DKK",
    # francs
    "Fr": "CHF", "SFr": "CHF", "sFr": "CHF", "SFR": "CHF", "Fr.": "CHF", "Frs": "CHF", "fr": "CHF", "FS": "CHF",
    "franc": "", "francs": "", "Franken": "CHF", "₣": "CHF FRF", "CFA": "XOF XAF", "FCFA": "XAF XOF", "F CFA": "XOF XAF",
    "GFr": "GNF", "FBu": "BIF", "Fbu": "BIF", "FRw": "RWF", "RF": "RWF", "R₣": "RWF", "Fdj": "DJF", "CF": "KMF",
    "FG": "GNF", "₶": "FRF",
    # rubles and their neighbours
    "руб": "RUB BYN", "рублей": "RUB BYN", "рубль": "RUB BYN", "рубля": "RUB BYN", "р": "RUB BYN", "Р": "RUB BYN", "Rbl": "RUB BYN",
    "rub": "RUB", "p": "RUB", "грн": "UAH", "гривень": "UAH", "гривня": "UAH", "hrn": "UAH", "тг": "KZT", "тенге": "KZT",
    "₸": "KZT", "сум": "UZS", "so'm": "UZS", "som": "KGS UZS", "сом": "KGS", "с": "KGS TJS", "S'": "UZS",
    "лв": "BGN", "лева": "BGN", "ден": "MKD", "ДЕН": "MKD", "den": "MKD", "дин": "RSD", "Дин": "RSD", "din": "RSD",
    "Dinara": "RSD", "КМ": "BAM", "ЅM": "TJS", "SM": "TJS", "бел. руб": "BYN", "Br": "BYN ETB", "₾": "GEL",
    "ლ": "GEL", "ლარი": "GEL", "lari": "GEL", "ман": "AZN", "man": "AZN", "₼": "AZN", "֏": "AMD", "драм": "AMD",
    # central and southern Europe
    "Kč": "CZK", "Kc": "CZK", "Kčs": "CSK", "korun": "CZK", "zł": "PLN", "zl": "PLN", "złotych": "PLN", "złote": "PLN",
    "Zł": "PLN", "ZŁ": "PLN", "Ft": "HUF", "FT": "HUF", "forint": "HUF", "lei": "RON MDL", "leu": "RON MDL", "RON": "RON",
    "Lek": "ALL", "lekë": "ALL", "kn": "HRK", "kuna": "HRK", "TL": "TRY", "лир": "TRY", "₺": "TRY", "lira": "TRY", "YTL": "TRY",
    "Sk": "SKK", "Esc": "CVE PTE", "DM": "DEM", "Lt": "LTL", "Ls": "LVL",
    # Hebrew and Arabic
    "₪": "ILS", 'ש"ח': "ILS", "ש'ח": "ILS", "שח": "ILS", "שקל": "ILS", "שקלים": "ILS", "nis": "ILS", "ريال": "SAR QAR OMR YER IRR",
    "ر.س": "SAR", "ر.ع": "OMR", "ر.ق": "QAR", "ر.ي": "YER", "SR": "SAR SCR", "QR": "QAR", "﷼": "IRR SAR QAR OMR YER",
    "ریال": "IRR", "تومان": "", "تومن": "", "درهم": "AED MAD", "د.إ": "AED", "د.ا": "JOD", "د.أ": "JOD", "Dh": "AED MAD", "Dhs": "AED MAD", "DH": "AED MAD",
    "د.م": "MAD", "دينار": "KWD BHD JOD IQD LYD TND DZD", "د.ك": "KWD", "د.ب": "BHD", "د.ع": "IQD", "ع.د": "IQD",
    "د.ت": "TND", "د.ج": "DZD", "دج": "DZD", "د.ل": "LYD", "ل.د": "LYD", "د": "IQD KWD BHD JOD", "دينار أردني": "JOD", "دينار كويتي": "KWD",
    "KD": "KWD", "BD": "BHD", "JD": "JOD", "ID": "IQD", "LD": "LYD", "DT": "TND", "DA": "DZD", "ل.س": "SYP", "ل.ل": "LBP",
    "ش.ج": "ILS", "ش.ص": "SOS", "ج.م": "EGP", "جن": "SDG", "نافكا": "ERN", "ናቕፋ": "ERN", "؋": "AFN", "د.ب.": "BHD", "دب": "BHD",
    "ريال سعودي": "SAR", "درهم إماراتي": "AED", "ر.س.": "SAR", "⃁": "SAR",
    # south and south-east Asia
    "Rs": "INR PKR LKR NPR MUR SCR", "Re": "INR PKR", "₨": "INR PKR LKR NPR MUR SCR", "रु": "INR NPR", "रू": "NPR INR", "ரூ": "INR LKR", "රු": "LKR",
    "rupees": "INR PKR LKR NPR", "rupee": "INR PKR LKR NPR", "₹": "INR", "৳": "BDT", "টাকা": "BDT", "Tk": "BDT", "บาท": "THB", "฿": "THB",
    "baht": "THB", "₫": "VND", "đ": "VND", "Đ": "VND", "vnđ": "VND", "VND": "VND", "đồng": "VND", "Rp": "IDR", "RM": "MYR", "₱": "PHP", "₭": "LAK",
    "៛": "KHR", "Ks": "MMK", "K": "MMK PGK ZMW", "Nu": "BTN", "Rf": "MVR", "₮": "MNT", "төг": "MNT",
    # Africa and the Americas
    "R": "ZAR", "KSh": "KES", "KShs": "KES", "Ksh": "KES", "TSh": "TZS", "USh": "UGX", "Sh": "KES TZS UGX SOS", "₦": "NGN",
    "₵": "GHS", "GH¢": "GHS", "GH₵": "GHS", "MT": "MZN", "MTn": "MZN", "MK": "MWK", "ZK": "ZMW", "Kz": "AOA", "kwz": "AOA", "Ar": "MGA",
    "Db": "STN", "UM": "MRU", "Nfk": "ERN", "ብር": "ETB", "Birr": "ETB", "D": "GMD", "E": "SZL", "P": "BWP", "Sl": "SLE",
    "Le": "SLE", "SPL": "", "B/": "PAB", "S/": "PEN", "Bs": "BOB VES", "Q": "GTQ", "q": "GTQ", "L": "HNL MDL LSL", "₡": "CRC", "₲": "PYG", "Gs": "PYG",
    "G": "HTG", "ƒ": "AWG ANG XCG", "Afl": "AWG", "VT": "VUV", "Vt": "VUV",
    # old and other money
    "₧": "ESP", "pts": "ESP", "₿": "", "Ƀ": "", "BTC": "",
}  # fmt: skip

# Shared signs whose first currency holds wherever the place does not write another one with it.
_FIRST_UNLESS_LOCAL = frozenset(
    ("£", "￡", "руб", "рублей", "рубль", "рубля", "р", "Р", "元", "lei", "leu", "LEI")
)

# Codes that are words: they count only where nothing else is money, or where the caller expects them.
_WORD_CODES = frozenset("ALL TRY TOP CUP GEL PEN MAD BOB MOP SOS BAM".split())
# Letters that are sizes, units and list marks as well: signs only where the place uses them.
_LETTER_SIGNS = frozenset("DEFGKLMPSdegklmps")


@dataclass(frozen=True, slots=True)
class Sign:
    """One sign found beside a number.

    `codes` are the currencies it may stand for (empty for money without an ISO code), `code` is true for an ISO
    code, `weak` for something that is as well a word, a unit or a size.
    """

    text: str
    codes: tuple[str, ...]
    code: bool = False
    weak: bool = False


@lru_cache(maxsize=1)
def table() -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Signs by exact key, and by folded key for what is long or foreign enough to be safe in any case."""
    exact: dict[str, tuple[str, ...]] = {}
    for source in (SIGNS, _WRITTEN):
        for sign, codes in source.items():
            key = sign_key(sign)
            known = exact.get(key, ())
            exact[key] = known + tuple(code for code in codes.split() if code not in known)
    folded: dict[str, tuple[str, ...]] = {}
    for key, found in exact.items():
        if len(key) > 2 or (len(key) == 2 and not key.isascii() and key not in ("км", "КМ")):
            folded.setdefault(key.casefold(), found)
    return exact, folded


@lru_cache(maxsize=1)
def longest() -> int:
    """Length of the longest sign."""
    return max(map(len, table()[0]))


@lru_cache(maxsize=8192)
def look_up(token: str, *, after: bool) -> Sign | None:
    """The sign that a whole token is, if any; lower-case ISO codes count only after a number."""
    key = sign_key(token)
    if not key or len(key) > longest():
        return None
    exact, folded = table()
    if key in exact:
        return Sign(token, exact[key], weak=key in _LETTER_SIGNS)
    if len(key) == 3 and key.isascii() and key.isalpha():
        code = key.upper()
        if code in currency_codes() and (key.isupper() or after):
            return Sign(token, (code,), code=True, weak=code in _WORD_CODES or not key.isupper())
    if key.casefold() in folded:
        return Sign(token, folded[key.casefold()])
    # `AUD$`, `$SGD`, `€EUR`: a code and a sign of one currency written together.
    for code, rest in ((key[:3], key[3:]), (key[-3:], key[:-3])):
        if rest in exact and code.isupper() and code in currency_codes():
            return Sign(token, (code,), code=True)
    return None


_key = lru_cache(maxsize=4096)(sign_key)


def resolve(
    sign: Sign | None, *, told: str | None, market: Market | None, context: LocaleFacts
) -> str | None:
    """The one currency a sign stands for here, or None where nothing settles it."""
    if sign is None:
        return told or (market.currency if market else None)
    key = _key(sign.text)
    if len(sign.codes) == 1 and not sign.weak:
        local = context.signs.get(key)
        return sign.codes[0] if not local or sign.code or sign.codes[0] in local else local[0]
    local = context.signs.get(key, ())
    possible = sign.codes + tuple(code for code in local if code not in sign.codes)
    country = market.country if market and market.country else context.country
    for code in (told, market.currency if market else None, tender_of(country), context.tender):
        if code and code in possible:
            return code
    if len(local) == 1 and context.country:
        return local[0]
    root = ROOT_SIGNS.get(sign.text)
    if root:
        return root
    if key in _FIRST_UNLESS_LOCAL or key.casefold() in _FIRST_UNLESS_LOCAL:
        return sign.codes[0]
    return sign.codes[0] if len(sign.codes) == 1 and sign.text not in _LETTER_SIGNS else None


_HINT_TOKEN = re.compile(r"[^\s\d,;:!?()\[\]|*+=<>%]+")


@lru_cache(maxsize=4096)
def sign_in(hint: str | None) -> Sign | None:
    """The first sign or code in a hint such as `EUR`, `kr` or `Price: $ 34.44`."""
    if not hint:
        return None
    for match in _HINT_TOKEN.finditer(hint[:200]):
        found = look_up(match[0], after=True) or prefix_sign(match[0])
        if found and not (found.weak and len(hint.strip()) > 3):
            return found
    return None


def prefix_sign(token: str) -> Sign | None:
    """The longest sign that a token begins with, ended where a word would not go on."""
    for end in range(min(len(token) - 1, longest() + 3), 0, -1):
        if _joined(token[end - 1], token[end]):
            continue
        found = look_up(token[:end], after=True)
        if found:
            return found
    return None


def suffix_sign(token: str) -> Sign | None:
    """The longest sign that a token ends with, begun where no word is cut."""
    for start in range(max(1, len(token) - longest() - 3), len(token)):
        if _joined(token[start - 1], token[start]):
            continue
        found = look_up(token[start:], after=False)
        if found:
            return found
    return None


def _joined(left: str, right: str) -> bool:
    """True inside a word: two letters of a script that writes words with blanks between them."""
    return left.isalpha() and right.isalpha() and not (_cjk(left) or _cjk(right))


def _cjk(char: str) -> bool:
    return "\u2e80" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7af" or "\u0e00" <= char <= "\u0e7f"
