"""The command line and the real download handler: exit codes, feeds, a crawl that is killed."""

from __future__ import annotations

import asyncio
import csv
import json
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

import pyarrow.parquet as pq
import pytest
from sqlalchemy import Engine, func, select

from pricecrawl.db import tables
from pricecrawl.db.engine import open_engine
from pricecrawl.exporters.rows import COLUMNS
from tests.crawl.whole import FeedShop, everything, lines, product, products, row

ROOT = Path(__file__).resolve().parents[2]


def write_rows(folder: Path, *rows: dict[str, Any]) -> None:
    """A user's folder of rows."""
    folder.mkdir(exist_ok=True)
    tables_ = ["[[source]]\n" + "\n".join(f"{k} = {json.dumps(v)}" for k, v in r.items()) for r in rows]
    (folder / "shopify.toml").write_text("\n\n".join(tables_), encoding="utf-8")


async def start(*arguments: str) -> Process:
    """A command of ours, in the root of the checkout, with this test's environment."""
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", *arguments, cwd=ROOT, stdin=DEVNULL, stdout=PIPE, stderr=PIPE
    )


async def until(true: Callable[[], bool], seconds: float = 90) -> None:
    """Wait for something that another process does."""
    last = monotonic() + seconds
    while not true():
        assert monotonic() < last, "it did not happen"
        await asyncio.sleep(0.05)


async def finish(process: Process) -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    out, err = await asyncio.wait_for(process.communicate(), 180)
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def command(*arguments: str) -> tuple[int, str, str]:
    return await finish(await start(*arguments))


@pytest.fixture
def rows(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "rows"
    folder.mkdir()
    monkeypatch.setenv("PRICECRAWL_SOURCES", str(folder))
    return folder


def test_scrapy_crawl_writes_every_format_with_the_same_flat_rows(
    db: Engine, rows: Path, tmp_path: Path
) -> None:
    names = {ending: tmp_path / f"out.{ending}" for ending in ("csv", "json", "jsonl", "parquet")}

    async def story() -> None:
        async with FeedShop([product(1, "1299.00"), product(2, "0.10", available=False)]) as shop:
            write_rows(rows, row(shop))
            outputs = [word for path in names.values() for word in ("-O", str(path))]
            code, _, err = await command("scrapy", "crawl", "kettles", *outputs)
            assert code == 0, err
            assert "Traceback" not in err

    asyncio.run(story())
    by_json = json.loads(names["json"].read_text(encoding="utf-8"))
    by_json.sort(key=lambda item: item["source_sku"])
    assert [list(item) for item in by_json] == [list(COLUMNS)] * 2
    assert [(item["price"], item["currency"], item["availability"]) for item in by_json] == [
        ("1299.00", "EUR", "in_stock"),
        ("0.10", "EUR", "out_of_stock"),
    ]
    assert by_json[0]["observed_at"].endswith("+00:00")
    assert by_json[0]["evidence_digest"].startswith("sha256:")
    assert sorted(lines(names["jsonl"]), key=lambda item: item["source_sku"]) == by_json

    table = pq.read_table(names["parquet"])
    assert tuple(table.column_names) == COLUMNS
    assert sorted(table.to_pylist(), key=lambda item: item["source_sku"]) == by_json

    with names["csv"].open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        by_csv = sorted(reader, key=lambda item: item["source_sku"])
        assert tuple(reader.fieldnames or ()) == COLUMNS
    assert by_csv == [
        {name: "" if value is None else str(value) for name, value in item.items()} for item in by_json
    ]


def test_scrapy_crawl_has_the_exit_code_of_the_run(db: Engine, rows: Path) -> None:
    async def story() -> None:
        async with FeedShop(products(2), robots_status=403, robots="no") as shop:
            write_rows(rows, row(shop), {**row(shop, "public"), "base_url": "https://shop.example.org/"})
            assert (await command("scrapy", "crawl", "kettles"))[0] == 3
            code, _, err = await command("scrapy", "crawl", "public")
            assert code == 2
            (said,) = [line for line in err.splitlines() if "PRICECRAWL_CONTACT" in line]
            assert "Traceback" not in err
            assert "shop.example.org" in said

    asyncio.run(story())


def test_pricecrawl_crawl_runs_several_sources_and_reports(db: Engine, rows: Path) -> None:
    async def story() -> None:
        async with FeedShop(products(30)) as good, FeedShop(robots_status=403, robots="no") as bad:
            write_rows(rows, row(good, "good"), row(bad, "bad"), row(good, "good-too"))
            code, out, err = await command("pricecrawl", "crawl", "good", "bad", "good-too", "--json")
            assert code == 3, err
            reports = {report["source"]: report for report in json.loads(out)}
            assert list(reports) == ["good", "bad", "good-too"]
            assert reports["good"]["listings"] == reports["good-too"]["listings"] == 30
            assert (reports["good"]["outcome"], reports["good"]["coverage"]) == ("finished", "complete")
            assert (reports["bad"]["outcome"], reports["bad"]["exit_code"]) == ("blocked", 3)
            assert "403" in reports["bad"]["detail"]

            code, out, _ = await command("pricecrawl", "crawl", "good")
            assert code == 0
            assert "finished" in out
            # Nothing is due for an hour, and what is off stays off.
            code, out, _ = await command("pricecrawl", "crawl", "--due", "--json")
            assert (code, json.loads(out)) == (0, [])

            code, out, _ = await command("pricecrawl", "status", "--json")
            standing = {item["source"]: item for item in json.loads(out)}
            assert standing["good"]["listings"] == 30
            assert standing["good"]["fresh"] is True
            assert standing["bad"]["refusals"] == 1
            assert (await command("pricecrawl", "status"))[1].count("\n") >= 4

    asyncio.run(story())


def test_a_name_that_is_no_source_is_a_usage_error(db: Engine, rows: Path) -> None:
    async def story() -> None:
        code, _, err = await command("pricecrawl", "crawl", "nowhere")
        assert (code, err.count("\n")) == (2, 1)
        assert "nowhere" in err

    asyncio.run(story())


def count(db: Engine, table: Any) -> int:
    with db.connect() as conn:
        return int(conn.execute(select(func.count()).select_from(table)).scalar_one())


def test_a_killed_crawl_loses_and_doubles_nothing(both: Engine, rows: Path) -> None:
    async def story() -> None:
        async with FeedShop(products(3000), delay=0.15) as shop:
            write_rows(rows, row(shop))
            assert (await command("scrapy", "crawl", "kettles"))[0] == 0
            for number in range(0, 3000, 2):
                shop.products[number]["variants"][0]["price"] = f"{12 + number}.00"
            process = await start("scrapy", "crawl", "kettles")
            await until(lambda: count(both, tables.observation) >= 3400)
            process.send_signal(signal.SIGKILL)
            await process.wait()
            committed = count(both, tables.observation)
            assert 3400 <= committed < 6000, "killed in the middle"
            assert everything(both, tables.run)[-1].outcome == "running"

            code, _, err = await command("scrapy", "crawl", "kettles")
            assert code == 0, err
            assert count(both, tables.observation) == committed + 3000

    asyncio.run(story())
    assert [run.outcome for run in everything(both, tables.run)] == ["finished", "interrupted", "finished"]
    listings = everything(both, tables.listing)
    assert len(listings) == len({item.source_sku for item in listings}) == 3000
    assert {item.consecutive_misses for item in listings} == {0}
    # Each of the 1500 changes is one row of history, whichever of the two runs saw it.
    assert count(both, tables.price_history) == 4500


def test_the_run_after_a_killed_one_keeps_its_pace(db: Engine, rows: Path) -> None:
    async def story() -> None:
        async with FeedShop(products(3), robots="User-agent: *\nCrawl-delay: 6\n") as shop:
            write_rows(rows, row(shop))
            process = await start("scrapy", "crawl", "kettles")
            await until(lambda: bool(shop.log))
            await until(lambda: bool(everything(db, tables.run)[0].counts))
            process.send_signal(signal.SIGKILL)
            await process.wait()
            asked = len(shop.log)
            again = await start("scrapy", "crawl", "kettles")
            await until(lambda: len(shop.log) > asked)
            again.send_signal(signal.SIGTERM)
            await finish(again)
            assert shop.log[asked].at - shop.log[asked - 1].at >= 6

    asyncio.run(story())


def test_a_signal_ends_a_crawl_in_good_order(db: Engine, rows: Path) -> None:
    async def story() -> None:
        robots = "User-agent: *\nCrawl-delay: 30\n"
        async with FeedShop(products(300), robots=robots) as shop:
            write_rows(rows, row(shop))
            process = await start("scrapy", "crawl", "kettles")
            await until(lambda: bool(shop.log))
            await asyncio.sleep(0.5)
            asked = monotonic()
            process.send_signal(signal.SIGTERM)
            code, _, err = await finish(process)
            assert code == 1, err
            assert monotonic() - asked < 15, "the delay of 30 s is not waited out"

    asyncio.run(story())
    (run,) = everything(db, tables.run)
    assert (run.outcome, run.coverage) == ("interrupted", "partial")


def test_sources_are_listed_as_spiders(rows: Path) -> None:
    write_rows(rows, row(FeedShop(origin="http://127.0.0.1:9")))
    code, out, _ = asyncio.run(command("scrapy", "list"))
    assert code == 0
    assert "kettles" in out.splitlines()


@pytest.mark.postgres
def test_a_secret_reaches_neither_log_nor_evidence_nor_database(
    pg_url: str, rows: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    canary = "canary-7f3a"
    url = pg_url.replace("postgres@", f"postgres:{canary}@")
    monkeypatch.setenv("PRICECRAWL_DATABASE_URL", url)
    monkeypatch.setenv("PRICECRAWL_SECRET_KEY", f"{canary}-key")
    monkeypatch.setenv("PRICECRAWL_NOTIFY", f"mailto://me:{canary}@mail.example")

    async def story() -> None:
        async with FeedShop(products(3)) as shop:
            write_rows(rows, row(shop))
            code, out, err = await command("scrapy", "crawl", "kettles", "-L", "DEBUG")
            assert code == 0, err
            assert canary not in out + err
            # And when the database is not there, the sentence that says so names it without the password.
            monkeypatch.setenv("PRICECRAWL_DATABASE_URL", f"postgresql://me:{canary}@127.0.0.1:1/nowhere")
            code, out, err = await command("scrapy", "crawl", "kettles", "-L", "DEBUG")
            assert code == 1
            assert canary not in out + err
            assert "PRICECRAWL_DATABASE_URL" in err

    asyncio.run(story())
    for path in home.rglob("*"):
        assert path.is_dir() or canary.encode() not in path.read_bytes()
    engine = open_engine(pg_url)
    for table in tables.metadata.sorted_tables:
        assert canary not in str(everything(engine, table))
    engine.dispose()
