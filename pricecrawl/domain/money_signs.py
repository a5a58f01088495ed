"""Currency signs and words as shops write them, and which currency one stands for in a given place.

CLDR's signs (`money_cldr`) come first; `_WRITTEN` adds what shops write and CLDR does not list:
abbreviations, names, old spellings. A sign that several currencies share is settled by what the caller
told, the market, the locale, or CLDR's root locale, in this order; otherwise it stays open. Nothing is
ever the dollar by default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from pricecrawl.domain.market import Market
from pricecrawl.domain.money_cldr import ROOT_SIGNS, SIGNS
from pricecrawl.domain.money_locale import LocaleFacts, currency_codes, sign_key, tender_of

_DOLLARS = SIGNS["$"]

# Currencies: what shops write for them (without blanks and dots); a line that begins with blanks goes on.
# NONE is money that ISO 4217 does not know (the toman is ten rials, so it must never pass for one).
_WRITTEN = """
BOB DOP HKD MOP NIO TOP WST: $
USD: US$ U$S U$ $US USD$ US 美元 美金 美股 달러
AUD: AU$ A$ AUD$
CAD: CAN$ CDN$ CND$
CAD NIO: C$
SGD: S$
TWD: NT NT$ 台幣 新台幣
HKD: HK$ 港元 港幣
MXN: MX$ Mex$ $MN
BRL: R$
DOP: RD$
JMD: J$
BZD: BZ$
CUC: CUC$
BOB: $b
UYU: $U
TOP: T$
TTD: TT$
ZWL: Z$
GYD: G$ GY$
XCD: EC$
NAD: N$
FJD: FJ$
WST: WS$
LRD: L$
SBD: SI$
MOP: MOP$
BND BSD: B$
COP: COL$
ARS: AR$
DOLLARS: dollar dollars dólares долл доллар долларов ＄ ﹩ ドル
NONE: peso pesos franc francs تومان تومن SPL ₿ Ƀ BTC
EUR: euro euros eur евро евра ευρώ eura ユーロ 欧元 유로 يورو אירו eurų eiro eurot evro
GBP EGP SYP LBP FKP GIP SHP SSP: £
GBP EGP: ￡ pound pounds
GBP ITL TRL: ₤
EGP: E£ LE £E جم
LBP: L£ LL لل
SYP: S£ لس
GBP: stg GBP£ 英镑 ポンド
IEP: IR£
EGP SDG: جنيه
SDG: جس جن
JPY CNY: ¥ ￥
JPY: yen 円 일본엔 日圓 日元
CNY: yuan rmb 圆 人民币 人民幣 块
CNY TWD HKD: 元
TWD HKD: 圓
KRW: 원 won
SEK NOK DKK ISK: kr Kr KR
SEK ISK: krona
SEK: kronor Skr SKr
NOK DKK: kroner krone
ISK: krónur króna Ikr
DKK: Dkr DKr
NOK: Nkr NKr
CHF: Fr SFr sFr SFR Frs fr FS Franken
CHF FRF: ₣
XOF XAF: CFA FCFA
XAF XOF: FCFA
GNF: GFr FG
BIF: FBu Fbu
RWF: FRw RF R₣
DJF: Fdj
KMF: CF
FRF: ₶
RUB BYN: руб рублей рубль рубля р Р Rbl
RUB: rub p
UAH: грн гривень гривня hrn
KZT: тг тенге ₸
UZS: сум so'm S'
KGS UZS: som
KGS: сом
KGS TJS: с
BGN: лв лева
MKD: ден ДЕН den
RSD: дин Дин din Dinara
BAM: КМ
TJS: ЅM SM
BYN: белруб
BYN ETB: Br
GEL: ₾ ლ ლარი lari
AZN: ман man ₼
AMD: ֏ драм
CZK: Kč Kc korun
CSK: Kčs
PLN: zł zl złotych złote Zł ZŁ
HUF: Ft FT forint
RON MDL: lei leu
RON: RON
ALL: Lek lekë
HRK: kn kuna
TRY: TL лир ₺ lira YTL
SKK: Sk
CVE PTE: Esc
DEM: DM
LTL: Lt
LVL: Ls
ILS: ₪ ש"ח ש'ח שח שקל שקלים nis شج
SAR QAR OMR YER IRR: ريال
SAR: رس ريالسعودي ⃁
OMR: رع
QAR: رق QR
YER: ري
SAR SCR: SR
IRR SAR QAR OMR YER: ﷼
IRR: ریال
AED MAD: درهم Dh Dhs DH
AED: دإ درهمإماراتي
JOD: دا دأ دينارأردني JD
MAD: دم
KWD BHD JOD IQD LYD TND DZD: دينار
KWD: دك ديناركويتي KD
BHD: دب BD
IQD: دع عد ID
TND: دت DT
DZD: دج DA
LYD: دل لد LD
IQD KWD BHD JOD: د
SOS: شص
ERN: نافكا ናቕፋ Nfk
AFN: ؋
INR PKR LKR NPR MUR SCR: Rs ₨
INR PKR: Re
INR NPR: रु
NPR INR: रू
INR LKR: ரூ
LKR: රු
INR PKR LKR NPR: rupees rupee
INR: ₹
BDT: ৳ টাকা Tk
THB: บาท ฿ baht
VND: ₫ đ Đ vnđ VND đồng
IDR: Rp
MYR: RM
PHP: ₱
LAK: ₭
KHR: ៛
MMK: Ks
MMK PGK ZMW: K
BTN: Nu
MVR: Rf
MNT: ₮ төг
ZAR: R
KES: KSh KShs Ksh
TZS: TSh
UGX: USh
KES TZS UGX SOS: Sh
NGN: ₦
GHS: ₵ GH¢ GH₵
MZN: MT MTn
MWK: MK
ZMW: ZK
AOA: Kz kwz
MGA: Ar
STN: Db
MRU: UM
ETB: ብር Birr
GMD: D
SZL: E
BWP: P
SLE: Sl Le
PAB: B/
PEN: S/
BOB VES: Bs
GTQ: Q q
HNL MDL LSL: L
CRC: ₡
PYG: ₲ Gs
HTG: G
AWG ANG XCG: ƒ
AWG: Afl
VUV: VT Vt
ESP: ₧ pts
"""

# Shared signs whose first currency holds wherever the place does not write another one with it.
_FIRST_UNLESS_LOCAL = frozenset(
    ("£", "￡", "руб", "рублей", "рубль", "рубля", "р", "Р", "元", "lei", "leu", "LEI")
)

# Codes that are words: they count only where nothing else is money, or where the caller expects them.
_WORD_CODES = frozenset(("ALL", "TRY", "TOP", "CUP", "GEL", "PEN", "MAD", "BOB", "MOP", "SOS", "BAM"))
# Letters that are sizes, units and list marks as well: signs only where the place uses them.
_LETTERS = "D E F G K L M P S d e g k l m p s"
_SHORT_WORDS = "Nu Re Le Ar US NT ID LE MT DA BD SR SM LL FS Sh Sl UM RF man den din som won lira fr Esc"
_LETTER_SIGNS = frozenset(f"{_LETTERS} {_SHORT_WORDS}".split())


@dataclass(frozen=True, slots=True)
class Sign:
    """One sign found beside a number.

    `codes` are the currencies it may stand for (empty for money without an ISO code), `code` is true
    for an ISO code, `weak` for something that is as well a word, a unit or a size.
    """

    text: str
    codes: tuple[str, ...]
    code: bool = False
    weak: bool = False


def _written() -> Iterator[tuple[str, str]]:
    codes = ""
    for line in _WRITTEN.strip().split("\n"):
        head, colon, signs = line.partition(": ")
        if colon:
            codes = {"NONE": "", "DOLLARS": _DOLLARS}.get(head, head)
        else:
            signs = line
        yield from ((sign, codes) for sign in signs.split())


@lru_cache(maxsize=1)
def table() -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Signs by exact key, and by folded key for what is long or foreign enough to be safe in any case."""
    exact: dict[str, tuple[str, ...]] = {}
    for sign, codes in (*SIGNS.items(), *_written()):
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
