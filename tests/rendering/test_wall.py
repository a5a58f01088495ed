"""A rendered page reaches its shop, the hosts its row names, and nothing else: the server logs tell."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from pricecrawl.config import Config
from pricecrawl.domain.errors import Refused
from pricecrawl.rendering.chromium import find_chromium
from pricecrawl.rendering.job import Rendered, RenderJob, RenderProblem
from pricecrawl.rendering.local import LocalRenderer
from pricecrawl.rendering.wall import Wall, resolver_rules
from tests.rendering.site import Listener, Site, html, moved

pytestmark = pytest.mark.xdist_group("browser")
browser = pytest.mark.browser


def render(
    site: Site,
    path: str = "",
    *,
    around: Callable[[Site], None] = lambda site: None,
    next_door: Listener | None = None,
    **more: object,
) -> Rendered:
    async def story() -> Rendered:
        async with site, next_door or Listener():
            around(site)
            async with LocalRenderer(find_chromium(Config.load())) as renderer:
                job = RenderJob(site.url + path, site.url, **{"settle_ms": 800, "timeout": 10, **more})  # type: ignore[arg-type]
                return await renderer.render(job)

    return asyncio.run(story())


EVERY_WAY = """<!DOCTYPE html><title>Kettle</title><h1>Kettle</h1>
<img src="http://127.0.0.1:{port}/img"><script src="http://evil.localhost:{port}/script.js"></script>
<link rel="stylesheet" href="http://evil.localhost:{port}/style.css">
<link rel="preload" as="fetch" href="http://127.0.0.1:{port}/preload">
<link rel="prefetch" href="http://127.0.0.1:{port}/prefetch"><link rel="preconnect" href="http://127.0.0.1:{port}">
<img src="http://169.254.169.254/latest/meta-data/"><img src="http://[::1]:{port}/v6">
<img src="http://2130706433:{port}/decimal"><img src="/redirect">
<img src="/to-private"><img src="/private/own">
<iframe src="http://127.0.0.1:{port}/frame"></iframe><iframe src="/frame"></iframe>
<video src="http://127.0.0.1:{port}/video"></video><object data="http://127.0.0.1:{port}/object"></object>
<script>
const next = "127.0.0.1:{port}";
fetch("http://" + next + "/fetch").catch(() => 0);
fetch("/redirect-fetch", {{redirect: "follow"}}).catch(() => 0);
navigator.sendBeacon("http://" + next + "/beacon", "x");
new WebSocket("ws://" + next + "/socket");
new WebSocket("ws://evil.localhost:{port}/socket");
new WebSocket("ws://169.254.169.254/socket");
new EventSource("http://" + next + "/events");
new Worker(URL.createObjectURL(new Blob([
  'fetch("http://' + next + '/worker").catch(()=>0); new WebSocket("ws://' + next + '/worker-socket")'])));
try {{ window.open("http://" + next + "/window"); }} catch (e) {{}}
try {{
  const peer = new RTCPeerConnection({{iceServers: [{{urls: "stun:127.0.0.1:{port}"}}]}});
  peer.createDataChannel("x"); peer.createOffer().then((offer) => peer.setLocalDescription(offer));
}} catch (e) {{}}
</script>"""


@browser
def test_nothing_arrives_next_door_and_all_is_reported() -> None:
    shop, other = Site(), Listener()

    def furnish(site: Site) -> None:
        there = f"http://127.0.0.1:{other.port}"
        site.pages |= {
            "/": html(EVERY_WAY.format(port=other.port)),
            "/frame": html(
                f'<img src="{there}/frame-img"><script>new WebSocket("ws://127.0.0.1:{other.port}/f")</script>'
            ),
            "/redirect": moved(f"{there}/redirected"),
            "/redirect-fetch": moved(f"http://evil.localhost:{other.port}/redirected"),
            "/to-private": moved("/private/redirected"),
        }

    done = render(shop, around=furnish, next_door=other, disallow=("/private",))
    assert other.log == []
    assert not [path for path in shop.paths if path.startswith("/private")]
    assert b"<h1>Kettle</h1>" in done.html
    stopped = {item.url.replace(str(other.port), "N"): item.why for item in done.stopped}
    wanted = {
        *(
            f"http://127.0.0.1:N/{name}"
            for name in ("img", "fetch", "beacon", "frame", "frame-img", "redirected")
        ),
        *(
            f"http://127.0.0.1:N/{name}"
            for name in ("worker", "events", "video", "object", "preload", "window")
        ),
        *("http://evil.localhost:N/script.js", "http://evil.localhost:N/style.css"),
        *("http://evil.localhost:N/redirected", "http://169.254.169.254/latest/meta-data/"),
        *("http://[::1]:N/v6", "http://127.0.0.1:N/decimal"),
        *("ws://127.0.0.1:N/socket", "ws://evil.localhost:N/socket", "ws://169.254.169.254/socket"),
        *("ws://127.0.0.1:N/worker-socket", "ws://127.0.0.1:N/f"),
    }
    assert wanted - stopped.keys() == set()
    assert stopped["http://169.254.169.254/latest/meta-data/"] == "an address inside of a network"
    private = {url for url, why in stopped.items() if why == "robots.txt: Disallow: /private"}
    assert {url.rpartition("/")[2] for url in private} == {"own", "redirected"}


@browser
def test_robots_rules_of_the_shop_bind_what_its_page_asks_for() -> None:
    shop = Site()
    page = '<h1>Kettle</h1><img src="/private/x"><img src="/redirect"><script>fetch("/private/y")</script>'
    shop.pages |= {"/": html(page), "/redirect": moved("/private/z")}
    done = render(shop, disallow=("/private",))
    assert sorted(path for path in shop.paths if path != "/favicon.ico") == ["/", "/redirect"]
    assert {item.why for item in done.stopped} == {"robots.txt: Disallow: /private"}
    assert len(done.stopped) == 3


@browser
@pytest.mark.parametrize("how", ["header", "script", "refresh"])
def test_a_page_that_leads_elsewhere_is_not_followed(how: str) -> None:
    shop, other = Site(), Listener()

    def furnish(site: Site) -> None:
        there = f"http://127.0.0.1:{other.port}/elsewhere"
        site.pages["/"] = {
            "header": moved(there),
            "script": html(f'<h1>here</h1><script>location = "{there}"</script>'),
            "refresh": html(f'<meta http-equiv="refresh" content="0;url={there}"><h1>here</h1>'),
        }[how]

    if how == "header":
        with pytest.raises(RenderProblem, match="elsewhere, which is not fetched"):
            render(shop, around=furnish, next_door=other)
    else:
        done = render(shop, around=furnish, next_door=other)
        assert any("elsewhere" in item.url for item in done.stopped)
    assert other.log == []


# --- without a browser -------------------------------------------------------------------------------


async def nowhere(host: str, port: int) -> list[str]:
    return {"shop.example": ["93.184.216.34"], "cdn.example": ["2606:2800:220:1::1"]}.get(host, [])


def rules(job: RenderJob, resolve: Callable[[str, int], Awaitable[list[str]]] = nowhere) -> str:
    return asyncio.run(resolver_rules(Wall.of(job), resolve))


def test_every_name_is_pinned_to_an_address_and_all_else_is_not_found() -> None:
    job = RenderJob("https://shop.example/x", "https://shop.example/", ("cdn.example", "gone.example"))
    assert rules(job) == (
        "MAP cdn.example:80 [2606:2800:220:1::1]:80, MAP cdn.example:443 [2606:2800:220:1::1]:443, "
        "MAP shop.example:80 93.184.216.34:80, MAP shop.example:443 93.184.216.34:443, MAP * ~NOTFOUND"
    )


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.0.0.7", "169.254.169.254", "::ffff:192.168.0.1", "fd00::1"]
)
def test_a_public_name_that_leads_inside_is_refused(address: str) -> None:
    async def inside(host: str, port: int) -> list[str]:
        return ["93.184.216.34", address]

    with pytest.raises(Refused, match="inside of a network"):
        rules(RenderJob("https://shop.example/", "https://shop.example/"), inside)


@pytest.mark.parametrize(
    ("url", "home", "assets"),
    [
        ("https://shop.example/", "http://169.254.169.254/", ()),
        ("https://shop.example/", "file:///etc/passwd", ()),
        ("https://other.example/", "https://shop.example/", ()),
        ("https://cdn.example/", "https://shop.example/", ("cdn.example",)),
        ("https://shop.example:8443/", "https://shop.example/", ()),
        ("file:///etc/passwd", "https://shop.example/", ()),
        ("https://shop.example/", "https://shop.example/", ("127.0.0.1",)),
        ("https://shop.example/", "https://shop.example/", ("localhost",)),
        ("https://shop.example/", "https://shop.example/", ("metadata.internal",)),
        ("https://shop.example/private/x", "https://shop.example/", ()),
    ],
)
def test_jobs_that_no_page_may_have(url: str, home: str, assets: tuple[str, ...]) -> None:
    with pytest.raises(Refused):
        Wall.of(RenderJob(url, home, assets, ("/private",)))


def test_sub_requests_may_go_to_named_hosts_and_pages_may_not() -> None:
    wall = Wall.of(
        RenderJob("https://shop.example/", "https://shop.example/", ("cdn.example",), ("/private",))
    )
    assert wall.why_not("https://cdn.example/a.js") is None
    assert wall.why_not("https://www.shop.example/a.js") is None
    assert wall.why_not("data:text/html,x") is None
    assert wall.why_not("https://cdn.example/", navigation=True) == "not the shop's own host"
    assert wall.why_not("https://other.example/a.js") == "a host that the row does not name"
    assert wall.why_not("https://cdn.example:8443/a.js") == "a host that the row does not name"
    assert wall.why_not("https://127.0.0.1/") == "an address inside of a network"
    assert wall.why_not("ftp://shop.example/") == "the scheme ftp"
    assert wall.why_not("https://shop.example/%70rivate") == "robots.txt: Disallow: /private"
