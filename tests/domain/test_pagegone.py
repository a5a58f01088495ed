# ruff: noqa: E501  (tables of addresses and texts, one case a line)
"""A product's page that is gone, and what a row of such answers does to a listing."""

from __future__ import annotations

import pytest

from pricecrawl.domain.challenge import PageKind, ResponseFacts, classify
from pricecrawl.domain.pagegone import GoneState, GoneStep, advance, moved_away, moved_home

URL = "https://shop.example/p/lamp-old"
PRODUCT = '<h1>Lamp</h1><span class="price">€25.00</span><button>Add to cart</button>'


def _rule(body: str, *, status: int = 200, url: str = URL, final_url: str | None = None) -> str | None:
    """The rule that says gone, or None."""
    found = classify(ResponseFacts(status, {}, body.encode(), url, final_url))
    assert not found.blocked
    return found.rule if found.page is PageKind.GONE else None


def _html(title: str, body: str, attributes: str = "", head: str = "") -> str:
    return f"<!doctype html><html><head><title>{title}</title>{head}</head><body {attributes}>{body}</body></html>"


@pytest.mark.parametrize("status", [404, 410])
def test_the_status_says_it_even_over_a_teaser_with_a_price(status: int) -> None:
    assert _rule(_html("Shop", PRODUCT), status=status) == f"http-{status}"


@pytest.mark.parametrize(
    "title",
    [
        "404 Not Found – Shop",
        "404",
        "Page not found | Shop",
        "Shop - Error 404",
        "Product not found",
        "Seite nicht gefunden | Laden",
        "Page introuvable - Boutique",
        "Página no encontrada",
        "Pagina non trovata",
        "Pagina niet gevonden",
        "Strona nie została znaleziona",
        "Страница не найдена",
        "ページが見つかりません",
        "页面不存在",
        "Sayfa bulunamadı",
        "الصفحة غير موجودة",
        "Sidan hittades inte",
        "Siden blev ikke fundet",
        "Stránka nenalezena",
        "Az oldal nem található",
        "페이지를 찾을 수 없습니다",
    ],
)
def test_a_soft_404_by_its_title_or_heading(title: str) -> None:
    assert _rule(_html(title, "<p>Try our search.</p>")) == "soft-404-title"
    assert _rule(_html("Shop", f"<h1>{title}</h1><p>Try our search.</p>")) == "soft-404-heading"


@pytest.mark.parametrize(
    "title", ["Lamp 404 cm", "T-shirt '404 Not Found'", "Not found anywhere else: lamp", "Gone fishing lamp"]
)
def test_a_product_may_be_called_like_an_error(title: str) -> None:
    assert _rule(_html(title, PRODUCT)) is None


@pytest.mark.parametrize("title", ["Lamp model 4041", "Room 1404 lamps", "About us", "Lamps for 404 rooms"])
def test_numbers_in_other_titles_say_nothing(title: str) -> None:
    assert _rule(_html(title, "<h1>Lamps</h1><p>All about lamps.</p>")) is None


@pytest.mark.parametrize(
    ("attributes", "body", "head"),
    [
        ('class="error404 wp"', "", ""),
        ('class="cms-no-route cms-page-view"', "", ""),
        ('id="pagenotfound"', "", ""),
        ("", '<main class="template-404"><p>Oh dear</p></main>', ""),
        ("", '<section id="pagenotfound"></section><p>Oh dear</p>', ""),
        ("", "<p>Oh dear</p>", '<link rel="canonical" href="https://shop.example/404">'),
        ("", "<p>Oh dear</p>", '<meta name="prerender-status-code" content="404">'),
        ("", '<p>Oh dear</p><script id="__NEXT_DATA__">{"page":"/404","props":{}}</script>', ""),
    ],
)
def test_the_error_templates_of_common_shop_systems(attributes: str, body: str, head: str) -> None:
    assert _rule(_html("Shop", body + "<p>Something else</p>", attributes, head)) == "error-template"


def test_a_page_that_wants_no_index_and_shows_no_product() -> None:
    head = '<meta name="robots" content="noindex, follow">'
    assert _rule(_html("Shop", "<h1>Lamps</h1><p>Our lamps.</p>", head=head)) == "noindex"
    assert _rule(_html("Shop", PRODUCT, head=head)) is None


@pytest.mark.parametrize(
    ("final_url", "rule"),
    [
        ("https://shop.example/", "redirect-home"),
        ("https://www.shop.example/de-de/", "redirect-home"),
        ("https://shop.example/index.php", "redirect-home"),
        ("https://shop.example/404", "redirect-error"),
        ("https://shop.example/errors/product-not-found.html", "redirect-error"),
        ("https://shop.example/collections/lamps", "redirect-category"),
        ("https://shop.example/search?q=lamp", "redirect-category"),
        ("https://shop.example/p/", "redirect-parent"),
        ("https://shop.example/p/lamp-new", None),
        ("https://shop.example/en/p/lamp-old", None),
        ("https://www.shop.example/p/lamp-old", None),
        ("https://shop.example/products/lamp-old", None),
        (None, None),
    ],
)
def test_where_a_redirect_led(final_url: str | None, rule: str | None) -> None:
    assert moved_away(URL, final_url) == rule
    assert _rule(_html("Shop", "<h1>Welcome</h1><p>Have a look around.</p>"), final_url=final_url) == rule


def test_the_home_page_is_gone_even_with_something_to_buy_on_it() -> None:
    assert _rule(_html("Shop", PRODUCT), final_url="https://shop.example/") == "redirect-home"


def test_a_redirect_to_a_page_with_the_product_is_a_move() -> None:
    assert _rule(_html("Lamp", PRODUCT), final_url="https://shop.example/lamps/lamp-old") is None


def test_the_home_page_itself_is_not_gone() -> None:
    assert not moved_home("https://shop.example/", "https://shop.example/en/")
    assert moved_away("https://shop.example/", "https://shop.example/en/") is None


@pytest.mark.parametrize("url", ["http://[", "", "https://shop.example:99999/p", "\x00"])
def test_broken_addresses_say_nothing(url: str) -> None:
    assert moved_away(url, "http://[::1") is None


# --- the streak ------------------------------------------------------------------------------------------


def _walk(answers: list[bool]) -> list[GoneStep]:
    state, steps = GoneState(), []
    for gone in answers:
        state, step = advance(state, gone=gone)
        steps.append(step)
    return steps


def test_three_in_a_row_pause_once_and_one_good_page_resumes() -> None:
    assert _walk([True, True, True, True, False, False]) == [
        GoneStep.COUNTED,
        GoneStep.COUNTED,
        GoneStep.PAUSE,
        GoneStep.NOTHING,
        GoneStep.RESUME,
        GoneStep.NOTHING,
    ]


def test_a_good_page_between_breaks_the_row() -> None:
    assert GoneStep.PAUSE not in _walk([True, True, False, True, True])


def test_after_a_resume_three_more_are_needed() -> None:
    assert _walk([True] * 3 + [False] + [True] * 3)[-1] is GoneStep.PAUSE
