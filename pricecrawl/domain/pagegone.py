"""Does a response say that the product's page is gone? And what a row of such answers means.

Sources of the rules: 404 and 410; a redirect to the home page, a category or an error address; a title or
heading that says "not found" where nothing on the page is a product; the error templates of the common shop
systems; and a page that asks not to be indexed and shows no product. One answer proves nothing: three in a
row make a listing NOT_AVAILABLE and pause its checks, and one good page resumes it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote, urlsplit

from pricecrawl.domain.challenge_page import PageFacts
from pricecrawl.domain.run import GONE_BEFORE_NOT_AVAILABLE

_NOT_FOUND = (
    r"(?:page|product|item|url|site|resource|file) (?:was |is |could )?(?:not|n't) (?:be )?found|not found|"
    r"can(?:no|')?t find (?:the|that|this|your) (?:page|product)|"
    r"(?:couldn't|could not|can't|cannot) be found|page (?:does not|doesn't|no longer) exist|"
    r"(?:page|product|item) (?:is )?no longer (?:exists|available)|nothing (?:was )?found here|page missing|"
    r"page unavailable|seite (?:wurde )?nicht gefunden|nicht gefunden|seite existiert nicht|"
    r"(?:seite|artikel|produkt) gibt es nicht|nicht mehr (?:verfügbar|erhältlich|lieferbar|im sortiment)|"
    r"n'est plus (?:disponible|en vente|commercialisé)|ya no est[áa] disponible|non è più disponibile|"
    r"não está mais disponível|niet meer (?:leverbaar|verkrijgbaar|beschikbaar)|"
    r"není (?:již )?v (?:nabídce|prodeji)|"
    r"už nie je v (?:ponuke|predaji)|nie jest już dostępn|nem kapható|"
    r"больше не прода|снят с продажи|販売終了|已下架|"
    r"page (?:non trouvée|introuvable)|introuvable|n'existe (?:pas|plus)|no encontrad[oa]|no existe|"
    r"non trovat[oa]|não encontrad[oa]|niet gevonden|strona nie (?:istnieje|została znaleziona)|"
    r"nie znaleziono|sidan (?:hittades inte|kunde inte hittas|finns inte)|ikke fundet|"
    r"siden (?:blev ikke fundet|findes ikke|ble ikke funnet|finnes ikke)|sivua ei löyt|"
    r"nenalezen|stránka (?:sa )?nenašla|nem található|pagina nu (?:a fost găsită|există)|bulunamadı|"
    r"не найден|не знайден|δεν βρέθηκε|見つかりません|存在しません|页面不存在|找不到|未找到|頁面不存在|"
    r"찾을 수 없|غير موجود|لم يتم العثور|לא נמצא"
)
_SAYS_GONE = re.compile(
    rf"(?<![a-z])(?:{_NOT_FOUND})|^(?:error\s*)?(?:404|410)\b|\b(?:404|410)(?: error| page)?\s*$"
    r"|\berror 404\b|\b404\s*[-–|:]|[-–|:]\s*404\b|^(?:gone|oops!?|page not available)$"
)
_TAG = re.compile(r"<(body|html|main|section|div|link|meta)\b[^<>]*>")
_ERROR_CLASS = re.compile(
    r"\b(?:error-?404|template-404|page-404|404-page|page_404|is-404|http-404|cms-no-?route|pagenotfound|"
    r"page-not-found|page--not-found|not-found-page|product-not-found)\b"
)
_ERROR_HREF = re.compile(r"\bhref\s*=\s*[\"']?[^\"'<> ]*/(?:404|not-found|page-not-found|error-?404)\b")
_ERROR_STATE = re.compile(
    r"\"page\"\s?:\s?\"/(?:404|_error)\"|\"statuscode\"\s?:\s?(?:404|410)\b|\"pagetype\"\s?:\s?\"(?:404|not-?found)\""
)
_HOME = re.compile(
    r"/?(?:[a-z]{2}(?:[-_][a-z]{2,4})?/?){0,2}(?:(?:index|home|default|start|startseite|accueil|inicio)(?:\.[a-z]{3,5})?/?)?",
    re.IGNORECASE,
)
_ERROR_PATH = re.compile(
    r"(?:^|/)(?:404|410|error|errors|not-?found|page-?not-?found|error-?404|404-error|oops|gone|sitemissing|no-?route|"
    r"product-?not-?found|unavailable|discontinued)(?:[/.]|$)",
    re.IGNORECASE,
)
_CATEGORY_PATH = re.compile(
    r"(?:^|/)(?:collections?|categor(?:y|ies|ia|ie)|kategorien?|c|cat|shop|search|suche|recherche|"
    r"buscar|s|catalog(?:ue)?|products|brands?|department|browse|all)(?:/|$)",
    re.IGNORECASE,
)
_PRODUCT_PATH = re.compile(
    r"(?:^|/)(?:p|products?|produkte?|produit|producto|prodotto|dp|item|itm|pd|prod|artikel)/[^/]+",
    re.IGNORECASE,
)


def moved_home(url: str, final_url: str | None) -> bool:
    """The request for a deeper address ended at the shop's root, or its root of a language."""
    paths = _paths(url, final_url)
    return paths is not None and not _is_home(paths[0]) and _is_home(paths[1])


def moved_away(url: str, final_url: str | None) -> str | None:
    """Name of the rule when a redirect led from a product's address to none, else None."""
    paths = _paths(url, final_url)
    if paths is None:
        return None
    asked, landed = paths
    if asked == landed or _is_home(asked):
        return None
    if _is_home(landed):
        return "redirect-home"
    if _ERROR_PATH.search(landed) and not _ERROR_PATH.search(asked):
        return "redirect-error"
    if asked.rstrip("/").startswith(landed.rstrip("/") + "/"):
        return "redirect-parent"
    if _CATEGORY_PATH.search(landed) and not _PRODUCT_PATH.search(landed) and _last(asked) != _last(landed):
        return "redirect-category"
    return None


def says_it_twice(page: PageFacts) -> bool:
    """Title and first heading both say that there is no such page: what else it shows are other products."""
    says = _SAYS_GONE.search
    return bool(says(page.title)) and any(says(h) for h in page.headings[:1] if len(h) < 120)


def reason(page: PageFacts, url: str, final_url: str | None) -> str | None:
    """Why this body, which shows no product, says that the page is gone; None when it does not.

    Call it for responses that are no challenge and have no product evidence.
    """
    if page.is_json:
        return None
    moved = moved_away(url, final_url)
    if moved is not None:
        return moved
    if _SAYS_GONE.search(page.title):
        return "soft-404-title"
    if any(_SAYS_GONE.search(heading) for heading in page.headings[:3] if len(heading) < 120):
        return "soft-404-heading"
    tags = [(match.group(1), match.group()) for match in _TAG.finditer(page.markup)]
    if any(_is_error_template(name, tag) for name, tag in tags) or _ERROR_STATE.search(page.low):
        return "error-template"
    if any(name == "meta" and _forbids_index(tag) for name, tag in tags):
        return "noindex"
    return None


def _is_error_template(name: str, tag: str) -> bool:
    """The shop system's own mark of its error page, on an element that spans the page or in the head."""
    if name == "link":
        return "canonical" in tag and _ERROR_HREF.search(tag) is not None
    if name == "meta":
        return "prerender-status-code" in tag and ("404" in tag or "410" in tag)
    if name in ("section", "div"):
        return "pagenotfound" in tag or "page-not-found" in tag or "template-404" in tag
    return _ERROR_CLASS.search(tag) is not None


def _forbids_index(tag: str) -> bool:
    return "noindex" in tag and ("robots" in tag or "googlebot" in tag)


class GoneStep(StrEnum):
    """What to do after one check of a listing."""

    NOTHING = "nothing"
    COUNTED = "counted"
    PAUSE = "pause"
    RESUME = "resume"


@dataclass(frozen=True, slots=True)
class GoneState:
    """Page-gone results in a row, and whether the listing's checks are paused because of them."""

    streak: int = 0
    paused: bool = False


def advance(state: GoneState, *, gone: bool) -> tuple[GoneState, GoneStep]:
    """The state after one more answer of the listing's own page.

    The third gone result in a row gives PAUSE once (NOT_AVAILABLE, one notice); before it the listing keeps
    its status. A page that is there resets the streak, with RESUME where it was paused. Outages and
    refusals are no answers: do not call this for them.
    """
    if not gone:
        return GoneState(), GoneStep.RESUME if state.paused else GoneStep.NOTHING
    streak = state.streak + 1
    if state.paused:
        return GoneState(streak, True), GoneStep.NOTHING
    if streak >= GONE_BEFORE_NOT_AVAILABLE:
        return GoneState(streak, True), GoneStep.PAUSE
    return GoneState(streak, False), GoneStep.COUNTED


def _paths(url: str, final_url: str | None) -> tuple[str, str] | None:
    if not final_url or final_url == url:
        return None
    try:
        return unquote(urlsplit(url).path) or "/", unquote(urlsplit(final_url).path) or "/"
    except ValueError:
        return None


def _is_home(path: str) -> bool:
    return len(path) <= 40 and _HOME.fullmatch(path) is not None


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2].lower()
