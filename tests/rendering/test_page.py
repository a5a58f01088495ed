"""What a drawn page gives: its markup, its own calls, its complaints; and what it never gets from us."""

from __future__ import annotations

import json
import time

import pytest
from aiohttp import web

from pricecrawl.domain.challenge import PageKind, ResponseFacts, classify
from pricecrawl.domain.identity import declared
from pricecrawl.domain.market import Market
from pricecrawl.rendering.job import Rendered, RenderJob, RenderProblem
from tests.rendering.site import Site, html
from tests.rendering.test_wall import render

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

LIVE = """<!DOCTYPE html><title>Kettle</title><h1>Kettle</h1><div id="here"></div><script>
setTimeout(() => fetch("/api/price.json").then((r) => r.json()).then((d) => {
  document.querySelector("#here").innerHTML = '<b class="price">' + d.price + "</b>";
}), 300);
console.error("a complaint"); throw new Error("a mishap");
</script>"""


def priced(request: web.Request) -> web.Response:
    return web.json_response({"price": "19.90 EUR", "id": 7})


def test_the_page_is_read_when_what_is_waited_for_is_there() -> None:
    shop = Site({"/": html(LIVE), "/api/price.json": priced})
    done = render(shop, wait_for=".price")
    assert (done.status, done.found) == (200, True)
    assert b'<b class="price">19.90 EUR</b>' in done.html
    (call,) = done.calls
    assert (call.url, call.status, json.loads(call.body)["id"]) == (f"{shop.url}api/price.json", 200, 7)
    assert "a complaint" in done.console
    assert any("a mishap" in line for line in done.console)
    assert Rendered.from_json(json.loads(json.dumps(done.to_json()))) == done


def test_what_never_comes_is_said_and_the_page_is_read_as_it_is() -> None:
    done = render(Site({"/": html("<h1>Kettle</h1>")}), wait_for=".price", timeout=4)
    assert done.found is False
    assert b"<h1>Kettle</h1>" in done.html


def test_the_browser_goes_out_under_our_name_and_keeps_nothing() -> None:
    def page(request: web.Request) -> web.StreamResponse:
        text = '<h1>Kettle</h1><script>document.cookie = "c=1"; localStorage.x = 1; fetch("/again")</script>'
        response = web.Response(text=text, content_type="text/html")
        response.set_cookie("seen", "1")
        return response

    shop = Site({"/": page})
    identity = declared("PricecrawlBot", "1.0", "bot@shop.example", Market("DE", "EUR", "de_DE"))
    render(shop, headers=identity.headers, locale="de_DE")
    for asked in shop.log:
        assert asked.agent == "PricecrawlBot/1.0 (+bot@shop.example)"
        assert asked.headers["From"] == "bot@shop.example"
        assert asked.headers["Accept-Language"].startswith("de-DE")
        assert not [name for name in asked.headers if name.lower().startswith("sec-ch-ua")]
    shop.log.clear()
    render(shop, headers=identity.headers)
    assert "Cookie" not in shop.log[0].headers


@pytest.mark.parametrize("kind", ["alert", "confirm", "prompt"])
def test_a_dialog_is_never_answered(kind: str) -> None:
    """The script behind it never runs on: dismissing is an answer too."""
    shop = Site({"/": html(f'<h1>Kettle</h1><script>{kind}("Are you 18?"); fetch("/answered")</script>')})
    began = time.monotonic()
    with pytest.raises(RenderProblem, match="Are you 18"):
        render(shop, timeout=4)
    assert "/answered" not in shop.paths
    assert time.monotonic() - began < 40


def test_a_shell_with_nothing_in_it_is_no_page() -> None:
    done = render(Site({"/": html('<div id="app"></div><script>fetch("/api")</script>')}))
    found = classify(
        ResponseFacts(done.status, done.headers, done.html, done.url, done.final_url, rendered=True)
    )
    assert (found.page, found.blocked) == (PageKind.CHALLENGE, True)


def test_a_service_worker_is_not_installed() -> None:
    shop = Site(
        {
            "/": html('<h1>x</h1><script>navigator.serviceWorker.register("/sw.js").catch(() => 0)</script>'),
            "/sw.js": lambda request: web.Response(text="0", content_type="text/javascript"),
        }
    )
    render(shop)
    assert "/sw.js" not in shop.paths


def test_a_page_that_never_answers_ends_in_its_time() -> None:
    with pytest.raises(RenderProblem, match=r"could not be drawn|was not drawn"):
        render(
            Site(
                {
                    "/": lambda request: web.Response(
                        status=200, body=b"x" * 10, headers={"Content-Length": "9999"}
                    )
                }
            )
        )


def test_a_job_travels_as_json() -> None:
    job = RenderJob(
        "https://s.example/x", "https://s.example/", ("c.example",), ("/p",), (("User-Agent", "x"),)
    )
    assert RenderJob.from_json(json.loads(json.dumps(job.to_json()))) == job
