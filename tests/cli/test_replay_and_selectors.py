"""`pricecrawl replay` and `pricecrawl selectors` over a shop that was really crawled."""

from __future__ import annotations

import asyncio
import gzip
import json
from decimal import Decimal
from pathlib import Path

import pytest
from aiohttp import web
from sqlalchemy import Engine, update

from pricecrawl.cli.main import run
from pricecrawl.cli.selectors import toml_list
from pricecrawl.db import tables
from pricecrawl.db.learning import LearningStore
from pricecrawl.domain.candidate import PriceKind
from pricecrawl.domain.events import EventType
from tests.crawl.fixtures import db, home
from tests.crawl.whole import FeedShop, crawl, everything, products, row

__all__ = ["db", "home"]

PRICES = {"kettle": "29,90", "toaster": "49,00", "whisk": "7,50"}
LIES = {"kettle": "39.90", "toaster": "59.00", "whisk": "9.50"}


def page(name: str) -> str:
    offer = {"@type": "Offer", "price": LIES[name], "priceCurrency": "EUR", "availability": "InStock"}
    data = {"@type": "Product", "name": name, "sku": f"S-{name}", "offers": offer}
    return (
        f'<html lang=de><head><script type="application/ld+json">{json.dumps(data)}</script></head>'
        f"<body><main><h1>{name}</h1><div class=offer><p class=today-price>{PRICES[name]} €</p>"
        "<button name=add>In den Warenkorb</button></div></main></body></html>"
    )


def command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        run(list(arguments))
    printed = capsys.readouterr()
    return int(ended.value.code or 0), printed.out, printed.err


@pytest.fixture
def crawled(db: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Three product pages whose markup and visible prices disagree, crawled once; the shop is gone then."""

    async def story() -> None:
        async with FeedShop() as shop:
            for name in PRICES:
                shop.special[f"/{name}"] = lambda _, name=name: web.Response(
                    text=page(name), content_type="text/html"
                )
            await crawl(row(shop, product_urls=list(PRICES)), "retailer")
            write_row(tmp_path, shop.origin)

    asyncio.run(story())
    monkeypatch.setenv("PRICECRAWL_SOURCES", str(tmp_path / "rows"))
    return db


def write_row(folder: Path, origin: str, rules: str = "") -> None:
    (folder / "rows").mkdir(exist_ok=True)
    (folder / "rows" / "retailer.toml").write_text(
        f'[[source]]\nslug = "kettles"\nretailer = "Kettles"\nbase_url = "{origin}/"\ncountry = "DE"\n'
        f'currency = "EUR"\nproduct_urls = ["kettle", "toaster", "whisk"]\n{rules}',
        encoding="utf-8",
    )


def with_rule(folder: Path, rule: str) -> None:
    file = folder / "rows" / "retailer.toml"
    file.write_text(
        file.read_text(encoding="utf-8") + f"rules = {{ price = ['{rule}'] }}\n", encoding="utf-8"
    )


def test_a_replay_of_unchanged_extraction_changes_nothing(
    crawled: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = command(capsys, "replay", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["pages"], found["observations"], found["same"], found["changes"]) == (3, 3, 3, [])


def test_a_replay_shows_what_a_new_rule_would_change_and_writes_nothing(
    crawled: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with_rule(tmp_path, "meta[name=nothing]::attr(content)")
    _, out, _ = command(capsys, "replay", "--source", "kettles", "--json")
    found = json.loads(out)
    assert found["changed"] == 3
    change = next(item for item in found["changes"] if item["source_sku"] == "S-kettle")
    assert change["fields"]["needs_review"] == {"before": True, "after": False}
    assert change["trace"]
    assert (
        change["reason"]
        == "39.90 EUR by json-ld Product.offers.price: a single source, nothing corroborates it."
    )
    assert (found["applicable"], found["stored"]) == (3, 0)
    assert len(everything(crawled, tables.observation)) == 3
    assert len(everything(crawled, tables.run)) == 1
    _, out, _ = command(capsys, "replay")
    assert "3 different" in out
    assert "--apply would store 3" in out


def test_a_replay_explains_a_doubt_and_another_stock(
    crawled: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "rows" / "retailer.toml"
    rules = "rules = { price = ['.today-price'], stock = ['h1::contains(kettle)->out_of_stock'] }\n"
    file.write_text(file.read_text(encoding="utf-8") + rules, encoding="utf-8")
    _, out, _ = command(capsys, "replay", "--json")
    changes = {item["source_sku"]: item for item in json.loads(out)["changes"]}
    assert set(changes["S-kettle"]["fields"]) == {"price", "currency", "availability"}
    reason = changes["S-kettle"]["reason"]
    assert "only one JSON-LD reading gives the price: no price is taken" in reason
    assert "Stock: out_of_stock by custom-stock h1::contains(kettle)->out_of_stock" in reason


def test_apply_appends_new_observations_of_the_same_evidence(
    crawled: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with_rule(tmp_path, "meta[name=nothing]::attr(content)")
    _, out, _ = command(capsys, "replay", "--apply", "--json")
    assert json.loads(out)["stored"] == 3
    before, after = everything(crawled, tables.observation)[:3], everything(crawled, tables.observation)[3:]
    assert {item.evidence_id for item in after} == {item.evidence_id for item in before}
    assert {item.observed_at for item in after} <= {item.observed_at for item in before}
    assert all(item.price is not None and not item.needs_review for item in after)
    (_, again) = everything(crawled, tables.run)
    assert (again.outcome, again.coverage, again.coverage_reason, again.job) == (
        "finished", "partial", "scoped", "replay",
    )  # fmt: skip
    _, out, _ = command(capsys, "replay", "--apply", "--json")
    assert json.loads(out)["stored"] == 0


def test_a_listing_that_is_missed_is_not_seen_again_by_a_replay(
    crawled: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with crawled.begin() as conn:
        conn.execute(tables.listing.update().values(consecutive_misses=2))
    with_rule(tmp_path, "meta[name=nothing]::attr(content)")
    _, out, _ = command(capsys, "replay", "--apply", "--json")
    found = json.loads(out)
    assert (found["changed"], found["applicable"], found["stored"]) == (3, 0, 0)


def test_damaged_evidence_and_a_page_that_lost_its_listing_are_told(
    crawled: Engine, home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with crawled.begin() as conn:
        conn.execute(
            tables.listing.update().where(tables.listing.c.source_sku == "S-whisk").values(source_sku="x")
        )
    _, out, _ = command(capsys, "replay", "--json")
    found = json.loads(out)
    assert (found["same"], found["lost"], found["added"]) == (2, 1, 1)
    for file in (home / "evidence").rglob("*.warc.gz"):
        file.unlink()
    code, out, _ = command(capsys, "replay")
    assert code == 0
    assert "3 unreadable" in out


def test_feeds_are_replayed_with_the_currency_that_the_shop_stated(
    db: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def story() -> None:
        async with FeedShop(products(300)) as shop:
            data = row(shop)
            del data["currency"]
            await crawl(data)
            (tmp_path / "rows").mkdir()
            text = '[[source]]\nslug = "kettles"\nretailer = "Kettles"\ncountry = "DE"\n'
            text += f'base_url = "{shop.origin}/"\n'
            (tmp_path / "rows" / "shopify.toml").write_text(text, encoding="utf-8")

    asyncio.run(story())
    monkeypatch.setenv("PRICECRAWL_SOURCES", str(tmp_path / "rows"))
    _, out, _ = command(capsys, "replay", "--json")
    found = json.loads(out)
    assert (found["pages"], found["same"], found["changes"]) == (2, 300, [])


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--since", "soon"), "is no day or time"),
        (("--since", "0001-01-01T00:00+05:00"), "is no day or time"),
        (("--source", "nowhere"), "no source 'nowhere'"),
    ],
)
def test_a_replay_of_nonsense_is_said(
    crawled: Engine, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], problem: str
) -> None:
    code, out, err = command(capsys, "replay", *arguments)
    assert (code, out) == (2, "")
    assert problem in err


def test_a_replay_since_tomorrow_reads_nothing(crawled: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = command(capsys, "replay", "--since", "2999-01-01", "--json")
    assert json.loads(out)["pages"] == 0


def test_a_doubt_that_a_person_answered_is_not_asked_again_by_the_next_crawl(
    db: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Markup and page disagree about stock for good: who confirmed the price in sight of it has answered."""
    sold_out = (
        page("kettle").replace("39.90", "29.90").replace("</h1>", "</h1><p class=stock>Ausverkauft</p>")
    )
    shown = {"body": sold_out}

    async def story(count: int) -> None:
        async with FeedShop() as shop:
            shop.special["/kettle"] = lambda _: web.Response(text=shown["body"], content_type="text/html")
            await crawl(row(shop, product_urls=["kettle"]), "retailer")
            write_row(tmp_path, shop.origin)
        assert len(LearningStore(db).open_reviews()) == count

    asyncio.run(story(1))
    monkeypatch.setenv("PRICECRAWL_SOURCES", str(tmp_path / "rows"))
    (review,) = LearningStore(db).open_reviews()
    assert review.reasons == ("stock_conflict",)
    arguments = ("--choose", "1", "--reason", "the button works")
    assert command(capsys, "review", "approve", f"candidate:{review.id}", *arguments)[0] == 0
    asyncio.run(story(0))
    assert [item.price for item in everything(db, tables.observation)] == [Decimal("29.90")] * 2
    _, out, _ = command(capsys, "replay", "--json")
    assert json.loads(out)["applicable"] == 0
    shown["body"] = sold_out.replace("29.90", "31.90").replace("29,90", "31,90")
    asyncio.run(story(1))


def test_a_review_shows_each_choice_in_a_sentence_and_says_what_it_did(
    crawled: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three pages are in doubt; one is confirmed."""
    review = LearningStore(crawled).open_reviews()[0]
    name = f"candidate:{review.id}"
    code, out, _ = command(capsys, "review", "show", name)
    told = " ".join(out.split())
    assert code == 0
    assert "suggested 39.90 EUR" in told
    assert "doubts sources_disagree" in told
    assert "The page shows 29.90 EUR" in told
    assert all(" ".join(sentence.split())[:40] in told for sentence in review.trace)
    right = 1 + [c.amount for c in review.candidates].index(Decimal("29.90"))
    arguments = ("review", "approve", name, "--reason", "seen", "--choose", str(right))
    code, _, err = command(capsys, *arguments, "--amount", "39.90")
    assert code == 2
    assert "reads 29.90, not 39.90" in err
    assert command(capsys, *arguments, "--amount", "cheap")[0] == 2
    code, out, _ = command(capsys, *arguments, "--amount", "29.9")
    assert code == 0
    assert out.startswith(f"approved {name}: 29.90 EUR, standard, by buy-box")


def test_a_doubt_without_any_reading_can_only_be_rejected(
    crawled: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    review = LearningStore(crawled).open_reviews()[0]
    with crawled.begin() as conn:
        conn.execute(update(tables.candidate_review).values(candidates=[]))
    code, _, err = command(capsys, "review", "approve", f"candidate:{review.id}", "--reason", "x")
    assert code == 2
    assert "selectors induce kettles --sku" in err
    assert "no reading" in command(capsys, "review", "show", f"candidate:{review.id}")[1]


# --- selectors --------------------------------------------------------------------------------------


def test_induce_confirm_list_export_and_read(crawled: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = command(capsys, "selectors", "induce", "kettles", "--price", "29,90", "--json")
    found = json.loads(out)
    assert code == 0
    best = found["proposals"][0]
    assert (best["rule"], best["checked"], best["found_on"]) == (".today-price", 2, 2)
    assert LearningStore(crawled).selectors("kettles") == {}
    code, out, _ = command(
        capsys, "selectors", "induce", "kettles", "-p", "29.90", "--confirm", "1", "--by", "ann"
    )
    assert "learned for kettles: .today-price" in out
    (entry,) = LearningStore(crawled).selectors("kettles")[PriceKind.STANDARD]
    assert (entry.selector, entry.created_by) == (".today-price", "ann")
    _, out, _ = command(capsys, "selectors", "list", "--json")
    assert [(item["source"], item["selector"], item["score"]) for item in json.loads(out)] == [
        ("kettles", ".today-price", 1)
    ]
    _, out, _ = command(capsys, "selectors", "list")
    assert ".today-price" in out
    _, out, _ = command(capsys, "selectors", "export", "kettles")
    assert out.splitlines()[1:] == ["[source.rules]", 'price = [".today-price"]']
    # The page that was confirmed is settled by it from now on; the shop's others wait for their own word.
    _, out, _ = command(capsys, "replay", "--json")
    (change,) = json.loads(out)["changes"]
    assert change["source_sku"] == "S-kettle"
    assert change["fields"] == {
        "price": {"before": "39.90", "after": "29.90"},
        "needs_review": {"before": True, "after": False},
    }


def test_induce_finds_the_page_that_shows_the_price(
    crawled: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, price in PRICES.items():
        code, out, _ = command(capsys, "selectors", "induce", "kettles", "--price", price, "--json")
        found = json.loads(out)
        assert (code, found["page"].rpartition("/")[2]) == (0, name)
        assert (found["proposals"][0]["rule"], found["proposals"][0]["found_on"]) == (".today-price", 2)


def test_induce_learns_from_a_page_on_which_no_price_was_read(
    db: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The shop that needs a rule most is the one whose pages gave nothing."""
    data = json.dumps({"@type": "Product", "name": "kettle", "sku": "S-kettle"})
    silent = (
        f'<html lang=de><head><script type="application/ld+json">{data}</script></head>'
        "<body><main><h1>kettle</h1><p class=figure>29,90</p></main></body></html>"
    )

    async def story() -> None:
        async with FeedShop() as shop:
            shop.special["/kettle"] = lambda _: web.Response(text=silent, content_type="text/html")
            await crawl(row(shop, product_urls=["kettle"]), "retailer")
            write_row(tmp_path, shop.origin)

    asyncio.run(story())
    monkeypatch.setenv("PRICECRAWL_SOURCES", str(tmp_path / "rows"))
    assert [item.reason for item in everything(db, tables.rejection)] == ["no_candidate"]
    assert json.loads(command(capsys, "replay", "--json")[1])["changes"] == []
    for arguments in ((), ("--sku", "S-kettle")):
        code, out, _ = command(capsys, "selectors", "induce", "kettles", "-p", "29,90", "--json", *arguments)
        found = json.loads(out)
        assert code == 0
        assert (found["proposals"][0]["rule"], found["proposals"][0]["value"]) == (".figure", "29,90")
    command(capsys, "selectors", "induce", "kettles", "-p", "29,90", "--confirm", "1")
    found = json.loads(command(capsys, "replay", "--apply", "--json")[1])
    (change,) = found["changes"]
    assert (found["new"], found["stored"], change["effect"]) == (1, 0, "new")
    assert change["fields"]["price"] == {"before": None, "after": "29.90"}
    assert "29.90 EUR by custom-css .figure" in change["reason"]
    told = " ".join(command(capsys, "replay")[1].split())
    assert "1 with a price where none was read" in told
    assert json.loads(command(capsys, "replay", "--since", "2199-01-01", "--json")[1])["new"] == 0
    asyncio.run(story())
    assert [item.price for item in everything(db, tables.observation)] == [Decimal("29.90")]


def test_a_shop_that_was_never_crawled_is_taught_from_a_saved_page(
    db: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_row(tmp_path, "https://kettles.example")
    monkeypatch.setenv("PRICECRAWL_SOURCES", str(tmp_path / "rows"))
    saved, other = tmp_path / "kettle.html", tmp_path / "whisk.html"
    saved.write_text(page("kettle"), encoding="utf-8")
    other.write_text(page("whisk"), encoding="utf-8")
    files = ("--page", str(saved), "--check", str(other))
    code, out, _ = command(capsys, "selectors", "induce", "kettles", "-p", "29,90", *files, "--confirm", "1")
    assert code == 0
    assert "It finds a price on 1 of 1 other pages of the shop." in out
    (entry,) = LearningStore(db).selectors("kettles")[PriceKind.STANDARD]
    assert entry.selector == ".today-price"
    found = json.loads(command(capsys, "extract", str(saved), "--source", "kettles", "--json")[1])
    assert ("29.90", "learned") in {(item["amount"], item["tier"]) for item in found["candidates"]}


def test_forget_takes_back_what_was_learned(crawled: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    command(capsys, "selectors", "induce", "kettles", "-p", "29,90", "--confirm", "1", "--by", "ann")
    code, _, err = command(capsys, "selectors", "forget", "kettles", ".never")
    assert code == 2
    assert "selectors list kettles" in err
    code, _, err = command(capsys, "selectors", "forget", "kettles", ".today-price", "--kind", "member")
    assert code == 2
    code, out, _ = command(capsys, "selectors", "forget", "kettles", " .today-price ", "--by", "bob")
    assert (code, out) == (0, "forgotten for kettles: standard .today-price\n")
    assert LearningStore(crawled).selectors("kettles") == {}
    assert {item.preferred_method for item in everything(crawled, tables.listing)} == {None}
    (said,) = [
        item
        for item in everything(crawled, tables.audit_event)
        if item.event_type == EventType.SELECTOR_FORGOTTEN.value
    ]
    assert (said.payload["selector"], said.payload["by"]) == (".today-price", "bob")


def test_forgetting_the_last_learned_rule_gives_the_row_its_say_again(
    crawled: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with_rule(tmp_path, ".of-the-row")
    command(capsys, "selectors", "teach", "kettles", ".first")
    command(capsys, "selectors", "teach", "kettles", ".second")
    command(capsys, "selectors", "forget", "kettles", ".first")
    learned = LearningStore(crawled).selectors("kettles")[PriceKind.STANDARD]
    assert [entry.selector for entry in learned] == [".second", ".of-the-row"]
    command(capsys, "selectors", "forget", "kettles", ".second")
    assert LearningStore(crawled).selectors("kettles") == {}


def test_a_rule_is_taught_by_hand(crawled: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = command(capsys, "selectors", "teach", "kettles", "p.today-price", "--by", "ann")
    assert (code, out) == (0, "learned for kettles: standard p.today-price\n")
    (entry,) = LearningStore(crawled).selectors("kettles")[PriceKind.STANDARD]
    assert (entry.selector, entry.created_by) == ("p.today-price", "ann")
    for rule, kind, problem in (
        ("..x", "standard", "at character 2"),
        (".x", "cheap", "is none of"),
        (".x::contains(gone)->out_of_stock", "standard", "gives a stock status"),
    ):
        code, _, err = command(capsys, "selectors", "teach", "kettles", rule, "--kind", kind)
        assert code == 2
        assert problem in err
    assert command(capsys, "selectors", "teach", "nowhere", ".x")[0] == 2
    assert "default rules" in command(capsys, "selectors", "teach", "kettles", ".price")[1]
    assert [e.selector for e in LearningStore(crawled).selectors("kettles")[PriceKind.STANDARD]] == [
        "p.today-price"
    ]


def test_a_rule_of_the_row_that_learned_ones_keep_from_being_used_is_told(
    crawled: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command(capsys, "selectors", "induce", "kettles", "-p", "29,90", "--confirm", "1")
    assert "not used" not in command(capsys, "selectors", "list")[1]
    with_rule(tmp_path, ".written-later")
    told = " ".join(command(capsys, "selectors", "list")[1].split())
    assert "kettles: these rules of its row for standard are not used" in told
    assert told.endswith(".written-later")
    command(capsys, "selectors", "forget", "kettles", ".today-price")
    assert "not used" not in command(capsys, "selectors", "list")[1]


def test_a_list_of_a_source_that_is_not_there_says_so(
    crawled: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(capsys, "selectors", "list", "kettles")[0] == 0
    code, _, err = command(capsys, "selectors", "list", "kettle")
    assert code == 2
    assert "kettle" in err


@pytest.mark.parametrize("rule", [".a\n.b", '.a[data-x="\U0001f525"]', "[title='\U0001f525\x7f']", ".p\\:q"])
def test_every_rule_survives_the_export(rule: str) -> None:
    import tomllib

    assert tomllib.loads(f"rules = {toml_list([rule])}") == {"rules": [rule]}


def test_what_export_prints_is_a_row(
    crawled: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import tomllib

    with_rule(tmp_path, 'meta[itemprop="price"]::attr(content)')
    _, out, _ = command(capsys, "selectors", "export", "kettles")
    told = tomllib.loads("[[source]]\n" + out)
    assert told["source"][0]["rules"] == {"price": ['meta[itemprop="price"]::attr(content)']}


def test_induce_for_a_price_that_no_page_shows(crawled: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = command(capsys, "selectors", "induce", "kettles", "--price", "123,45", "--sku", "S-kettle")
    assert code == 4
    assert "stands nowhere" in out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--price", "much"), "is no price"),
        (("--price", "29,90", "--kind", "cheap"), "is none of"),
        (("--price", "29,90", "--sku", "none"), "No page of the listing none"),
        (("--price", "29,90", "--confirm", "99"), "proposals, not 99"),
    ],
)
def test_induce_says_what_is_wrong(
    crawled: Engine, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], problem: str
) -> None:
    code, _, err = command(capsys, "selectors", "induce", "kettles", *arguments)
    assert code == 2
    assert problem in err
    assert LearningStore(crawled).selectors("kettles") == {}


@pytest.mark.parametrize("cut", [200, 12])
def test_a_damaged_page_is_told_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cut: int
) -> None:
    file = tmp_path / "page.html.gz"
    file.write_bytes(gzip.compress(page("kettle").encode() * 9)[:cut])
    code, out, err = command(capsys, "selectors", "test", ".now", str(file))
    assert (code, out) == (2, "")
    assert "page.html.gz cannot be read:" in " ".join(err.split())


def test_sel1_a_rule_is_tried_on_a_page_with_the_parser_that_crawls_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "page.html"
    saved.write_text(page("kettle").replace("<h1>", "<i class=bare data-price=7></i><h1>"), encoding="utf-8")
    code, out, _ = command(capsys, "selectors", "test", ".today-price", str(saved), "--json")
    found = json.loads(out)
    assert (code, found["matches"]) == (0, [{"value": "29,90 €", "status": None, "price": "29.90"}])
    code, out, _ = command(capsys, "selectors", "test", "p::contains(29)->in_stock", str(saved))
    assert "in_stock" in out
    code, out, _ = command(capsys, "selectors", "test", ".bare", str(saved))
    assert code == 4
    assert 'data-price="7"' in out
    code, _, err = command(capsys, "selectors", "test", "..x", str(saved))
    assert code == 2
    assert "at character 2" in err
    assert "\n     ^" in err
