"""Opening, migrating and refusing databases: each trouble is one clear sentence."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Engine, insert, select, text, update
from sqlalchemy.exc import DBAPIError

from pricecrawl.db import guards, migrate, partitions
from pricecrawl.db.audit import verify_chain, verify_observations
from pricecrawl.db.crawl import CrawlStore
from pricecrawl.db.engine import connect_engine, database_url, open_engine, upgrade
from pricecrawl.db.errors import translated
from pricecrawl.db.tables import audit_event, listing, metadata, observation, price_history, source
from pricecrawl.domain.errors import StorageBusy, StorageProblem, UsageProblem
from tests.factories import NOON, an_observation, crawl, finish, open_run
from tests.postgres import Server


def say(error: pytest.ExceptionInfo[BaseException]) -> str:
    """The sentence, which is one line, names a way out and ends as sentences do."""
    said = str(error.value)
    assert "\n" not in said
    assert said.endswith(".")
    return said


# --- addresses ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "postgres://u:secret@h/d",
        "postgresql://u:secret@h/d",
        "postgresql+psycopg2://u:secret@h/d",
        "postgresql+psycopg://u:secret@h/d",
    ],
)
def test_every_postgresql_address_means_psycopg_3(url: str) -> None:
    assert database_url(url).drivername == "postgresql+psycopg"


@pytest.mark.parametrize(
    "url", ["", "var/pricecrawl.db", "mysql://u:canary@h/d", "canary", "postgresql://u:canary@h:port/d"]
)
def test_anything_else_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(UsageProblem) as error:
        open_engine(url)
    assert "canary" not in say(error)
    assert error.value.exit_code == 2


# --- schema versions ---------------------------------------------------------------------------


def test_an_empty_database_gets_the_schema(tmp_path: Path, empty_pg_url: str) -> None:
    for url in (f"sqlite:///{tmp_path}/deep/in/here.db", empty_pg_url):
        engine = open_engine(url)
        with engine.connect() as conn:
            assert migrate.schema_state(conn) is migrate.SchemaState.CURRENT
        assert migrate.drift(engine) == []
        engine.dispose()
        assert upgrade(url) == migrate.head()


def test_tables_and_migrations_agree(engine: Engine) -> None:
    assert migrate.drift(engine) == []


def test_drift_is_found(engine: Engine) -> None:
    with engine.begin() as conn:
        conn.exec_driver_sql("ALTER TABLE sku ADD COLUMN colour VARCHAR(20)")
        conn.exec_driver_sql("DROP INDEX ix_listing_gtin")
        on_table = "" if engine.dialect.name == "sqlite" else " ON audit_event"
        conn.exec_driver_sql(f"DROP TRIGGER audit_event_no_delete{on_table}")
    found = "\n".join(migrate.drift(engine))
    assert "colour" in found
    assert "ix_listing_gtin" in found
    assert "missing guard: audit_event_no_delete" in found


def test_revisions_are_numbered_in_one_line() -> None:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(migrate.folder()))
    config.set_main_option("path_separator", "os")
    scripts = list(ScriptDirectory.from_config(config).walk_revisions())
    numbers = [script.revision for script in reversed(scripts)]
    assert numbers == migrate.revisions() == [f"{n:04d}" for n in range(1, len(numbers) + 1)]
    assert [script.down_revision for script in reversed(scripts)] == [None, *numbers[:-1]]


def test_a_newer_database_is_left_alone(database_url: str) -> None:
    engine = connect_engine(database_url)
    with engine.begin() as conn:
        conn.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    for call in (open_engine, upgrade):
        with pytest.raises(StorageProblem, match="newer version of pricecrawl") as error:
            call(database_url)
        say(error)
    engine.dispose()


def test_an_older_database_asks_for_the_upgrade(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    known = migrate.revisions()
    monkeypatch.setattr(migrate, "revisions", lambda: [*known, "9998"])
    with pytest.raises(StorageProblem, match="pricecrawl db upgrade") as error:
        open_engine(database_url)
    say(error)


def test_a_database_of_another_program_is_left_alone(tmp_path: Path, empty_pg_url: str) -> None:
    for url in (f"sqlite:///{tmp_path}/other.db", empty_pg_url):
        engine = connect_engine(url)
        with engine.begin() as conn:
            conn.exec_driver_sql("CREATE TABLE recipe (name TEXT)")
        for call in (open_engine, upgrade):
            with pytest.raises(StorageProblem, match="another program") as error:
                call(url)
            say(error)
        with engine.connect() as conn:
            assert not conn.dialect.has_table(conn, "alembic_version")
        engine.dispose()


def test_an_upgrade_that_fails_leaves_nothing(
    tmp_path: Path, empty_pg_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_conn: object) -> None:
        raise RuntimeError("the lights went out")

    monkeypatch.setattr(guards, "install", fail)
    for url in (f"sqlite:///{tmp_path}/x.db", empty_pg_url):
        with pytest.raises(RuntimeError):
            upgrade(url)
        engine = connect_engine(url)
        with engine.connect() as conn:
            assert migrate.schema_state(conn) is migrate.SchemaState.EMPTY
        engine.dispose()


def test_rows_survive_every_upgrade(tmp_path: Path, empty_pg_url: str) -> None:
    """From the first revision, with data, to the newest."""
    for url in (f"sqlite:///{tmp_path}/x.db", empty_pg_url):
        engine = connect_engine(url)
        assert migrate.upgrade(engine, "0001") == "0001"
        crawl(CrawlStore(engine), an_observation())
        with engine.connect() as conn:
            before = {name: conn.execute(text(f"SELECT count(*) FROM {name}")).scalar_one() for name in _KEPT}
        assert migrate.upgrade(engine) == migrate.head()
        with engine.connect() as conn:
            after = {name: conn.execute(text(f"SELECT count(*) FROM {name}")).scalar_one() for name in _KEPT}
        assert before == after
        assert set(before.values()) - {0}
        assert migrate.drift(engine) == []
        crawl(CrawlStore(engine), an_observation(price="18.00"), now=NOON + timedelta(days=1))
        engine.dispose()


_KEPT = ("source", "run", "listing", "observation", "price_history", "stock_history", "audit_event")


def test_several_processes_may_upgrade_at_once(tmp_path: Path, empty_pg_url: str) -> None:
    for url in (f"sqlite:///{tmp_path}/x.db", empty_pg_url):
        problems: list[BaseException] = []

        def run(url: str = url, problems: list[BaseException] = problems) -> None:
            try:
                upgrade(url)
            except BaseException as error:
                problems.append(error)

        threads = [threading.Thread(target=run) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert problems == []


def test_the_draft_of_a_migration_has_the_next_number(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "migrations"
    shutil.copytree(migrate.folder(), copy)
    monkeypatch.setattr(migrate, "folder", lambda: copy)
    engine = open_engine(sqlite_url)
    with engine.begin() as conn:
        conn.exec_driver_sql("DROP INDEX ix_listing_gtin")
    path = migrate.revise(engine, "index listings by gtin")
    assert path.name == f"{int(migrate.revisions()[-2]) + 1:04d}_index_listings_by_gtin.py"
    assert "ix_listing_gtin" in path.read_text()
    engine.dispose()


# --- trouble -----------------------------------------------------------------------------------


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("buy milk " * 500)
    with pytest.raises(StorageProblem, match="is not a database") as error:
        open_engine(f"sqlite:///{path}")
    assert str(path) in say(error)
    assert path.read_text() == "buy milk " * 500


def test_a_folder_where_the_file_should_be(tmp_path: Path) -> None:
    with pytest.raises(StorageProblem, match="cannot be opened") as error:
        open_engine(f"sqlite:///{tmp_path}")
    say(error)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageProblem, match="cannot be made") as error:
        open_engine(f"sqlite:///{tmp_path}/file/sub/x.db")
    say(error)


def test_a_locked_database(sqlite_url: str) -> None:
    engine = open_engine(sqlite_url, busy_timeout=0.1)
    store = CrawlStore(engine)
    run_id = open_run(store)
    other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageBusy, match="locked") as error:
        store.save_batch(run_id, [an_observation()], [])
    say(error)
    with engine.connect() as conn:
        # Readers go on while somebody writes.
        assert conn.execute(select(observation.c.id)).all() == []
    other.execute("ROLLBACK")
    other.close()
    assert store.save_batch(run_id, [an_observation()], []).inserted == 1
    engine.dispose()


def test_a_writer_waits_for_its_turn(sqlite_url: str) -> None:
    engine = open_engine(sqlite_url, busy_timeout=10)
    other = sqlite3.connect(
        sqlite_url.removeprefix("sqlite:///"), isolation_level=None, check_same_thread=False
    )
    other.execute("BEGIN IMMEDIATE")
    threading.Timer(0.3, lambda: other.execute("ROLLBACK")).start()
    CrawlStore(engine).sync_sources([("kettles", "retailer")])
    other.close()
    engine.dispose()


def test_reading_before_writing_cannot_be_overtaken(sqlite_url: str) -> None:
    """Two read-modify-write transactions run one after the other; a deferred one would fail."""
    engine = open_engine(sqlite_url)
    CrawlStore(engine).sync_sources([("kettles", "retailer")])

    def add() -> None:
        for _ in range(25):
            with engine.begin() as conn:
                seen = conn.execute(select(source.c.changed_by)).scalar_one() or "0"
                conn.execute(update(source).values(changed_by=str(int(seen) + 1)))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with engine.connect() as conn:
        assert conn.execute(select(source.c.changed_by)).scalar_one() == "100"
    engine.dispose()


def test_a_full_database_file_keeps_what_was_committed(sqlite_url: str) -> None:
    engine = open_engine(sqlite_url)
    store = CrawlStore(engine)
    run_id = open_run(store)
    with engine.connect() as conn:
        pages = conn.exec_driver_sql("PRAGMA page_count").scalar_one()
        conn.exec_driver_sql(f"PRAGMA max_page_count={pages + 20}")
    saved = 0

    def fill() -> None:
        nonlocal saved
        for start in range(0, 100_000, 50):
            batch = [an_observation(f"S{n}") for n in range(start, start + 50)]
            saved += store.save_batch(run_id, batch, []).inserted

    with pytest.raises(StorageProblem, match="disk is full") as error:
        fill()
    say(error)
    assert saved > 0
    with engine.connect() as conn:
        assert conn.execute(text("SELECT count(*) FROM observation")).scalar_one() == saved
        assert conn.execute(text("SELECT count(*) FROM listing")).scalar_one() == saved
        assert conn.execute(text("SELECT count(*) FROM price_history")).scalar_one() == saved
        assert conn.exec_driver_sql("PRAGMA integrity_check").scalar_one() == "ok"
    engine.dispose()


_FILL = """
import sys
from pricecrawl.db.crawl import CrawlStore
from pricecrawl.db.engine import open_engine
from pricecrawl.domain.errors import StorageProblem
from tests.factories import an_observation, open_run
store = CrawlStore(open_engine(sys.argv[1]))
run_id, saved = open_run(store), 0
try:
    while True:
        batch = [an_observation(f"S{n}") for n in range(saved, saved + 50)]
        saved += store.save_batch(run_id, batch, []).inserted
except StorageProblem as problem:
    print(saved)
    print(problem)
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 2 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="only root on Linux may mount a small file system"
)
def test_a_full_disk(small_disk: Path) -> None:
    url = f"sqlite:///{small_disk}/x.db"
    done = subprocess.run([sys.executable, "-c", _FILL, url], capture_output=True, text=True, check=True)
    saved, said = done.stdout.splitlines()
    assert "disk is full" in said or "no space left" in said
    assert int(saved) > 0
    conn = sqlite3.connect(f"{small_disk}/x.db")
    assert conn.execute("SELECT count(*) FROM observation").fetchone() == (int(saved),)
    assert conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    conn.close()


def test_a_damaged_database(sqlite_url: str) -> None:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    data = bytearray(path.read_bytes())
    data[4096:8192] = b"\xff" * 4096
    data[100:200] = b"\xff" * 100
    path.write_bytes(data)
    with pytest.raises(StorageProblem, match=r"damaged|not a database") as error:
        open_engine(sqlite_url)
    say(error)


def test_a_server_that_does_not_answer() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(StorageProblem, match="cannot be reached") as error:
            open_engine(f"postgresql://me:canary@127.0.0.1:{port}/prices")
    said = say(error)
    assert f"127.0.0.1:{port}/prices" in said
    assert "canary" not in said


@pytest.mark.postgres
def test_a_database_that_is_not_there(pg_server: Server) -> None:
    with pytest.raises(StorageProblem, match="does not exist") as error:
        open_engine(pg_server.url("no_such_database"))
    say(error)


@pytest.mark.postgres
def test_a_wrong_password(pg_server: Server) -> None:
    with pg_server.admin() as conn:
        if not conn.execute("SELECT 1 FROM pg_roles WHERE rolname = 'locksmith'").fetchone():
            conn.execute("CREATE ROLE locksmith LOGIN PASSWORD 'right'")
        (path,) = conn.execute("SHOW hba_file").fetchone() or ("",)
        rules = Path(path)
        before = rules.read_text()
        rules.write_text("local all locksmith scram-sha-256\n" + before)
        conn.execute("SELECT pg_reload_conf()")
    try:
        url = pg_server.url("postgres").replace("postgres@", "locksmith:canary@")
        with pytest.raises(StorageProblem, match="refused the password") as error:
            open_engine(url)
        cause: BaseException | None = error.value
        assert "locksmith@" in say(error)
        while cause is not None:
            assert "canary" not in str(cause)
            cause = cause.__cause__ or cause.__context__
    finally:
        rules.write_text(before)
        with pg_server.admin() as conn:
            conn.execute("SELECT pg_reload_conf()")


@pytest.mark.postgres
def test_a_row_that_somebody_else_holds(pg_url: str) -> None:
    engine = open_engine(pg_url + "&options=-c%20lock_timeout%3D100ms")
    CrawlStore(engine).sync_sources([("kettles", "retailer")])
    store = CrawlStore(engine)
    with psycopg.connect(pg_url) as other:
        other.execute("SELECT * FROM source FOR UPDATE")
        with pytest.raises(StorageBusy, match="locked") as error:
            store.set_enabled("kettles", False, by="me", reason="a test", now=NOON)
        say(error)
    engine.dispose()


def test_a_statement_that_is_wrong_keeps_its_traceback(engine: Engine) -> None:
    with pytest.raises(DBAPIError), engine.connect() as conn:
        conn.exec_driver_sql("SELECT nonsense FROM nowhere")


def test_values_never_reach_an_error_text(engine: Engine) -> None:
    with pytest.raises(DBAPIError) as error, engine.begin() as conn:
        conn.execute(insert(source), {"slug": "canary", "platform": None})
    assert "canary" not in str(error.value).replace("canary, null", "")  # PostgreSQL's DETAIL


def test_the_block_for_edges_translates_files_too(tmp_path: Path) -> None:
    with pytest.raises(StorageProblem) as error, translated():
        raise OSError(28, "No space left on device", str(tmp_path / "x"))
    assert "disk is full" in say(error)
    with pytest.raises(FileNotFoundError), translated():
        (tmp_path / "none").read_text()
    (tmp_path / "x").write_text("no database at all" * 100)
    with pytest.raises(StorageProblem, match="is not a database"), translated(f"the database {tmp_path}"):
        sqlite3.connect(tmp_path / "x").execute("SELECT 1 FROM sqlite_master")


# --- history stays -----------------------------------------------------------------------------


def test_history_cannot_be_changed(engine: Engine) -> None:
    crawl(CrawlStore(engine), an_observation())
    for table in guards.APPEND_ONLY:
        with engine.connect() as conn:
            before = conn.execute(select(metadata.tables[table])).all()
        assert before
        for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET id = id + 1"):
            with pytest.raises(DBAPIError, match="append-only"), engine.begin() as conn:
                conn.exec_driver_sql(statement)
        with engine.connect() as conn:
            assert conn.execute(select(metadata.tables[table])).all() == before


@pytest.mark.postgres
def test_history_is_split_by_month(pg_url: str) -> None:
    engine = open_engine(pg_url)
    store = CrawlStore(engine)
    months = [datetime(2026, month, 15, tzinfo=NOON.tzinfo) for month in (1, 2, 12)]
    for number, month in enumerate(months):
        crawl(store, an_observation("A", str(10 + number)), now=month)
    with engine.connect() as conn:
        kinds = conn.execute(
            text("SELECT relname, relkind FROM pg_class WHERE relname IN ('observation', 'price_history')")
        ).all()
        assert {row.relkind for row in kinds} == {"p"}
        for table in ("observation", "price_history"):
            for month in (1, 2, 12):
                rows = conn.execute(text(f"SELECT count(*) FROM {table}_2026_{month:02d}")).scalar_one()
                assert rows == 1
        assert partitions.strays(conn) == {"observation": 0, "price_history": 0}
    assert migrate.drift(engine) == []
    engine.dispose()


@pytest.mark.postgres
def test_a_row_of_an_unforeseen_month_has_a_place(pg_url: str) -> None:
    engine = open_engine(pg_url)
    store = CrawlStore(engine)
    crawl(store, an_observation())
    with engine.begin() as conn:
        row = conn.execute(select(observation)).mappings().one()
        late = dict(row) | {"id": row["id"] + 1, "observed_at": datetime(2031, 7, 1, tzinfo=NOON.tzinfo)}
        conn.execute(insert(observation), late)
    with engine.connect() as conn:
        assert partitions.strays(conn) == {"observation": 1, "price_history": 0}
    # Such a month stays in the default partition; writing to it goes on.
    crawl(store, an_observation(price="5.00"), now=datetime(2031, 7, 2, tzinfo=NOON.tzinfo))
    with engine.connect() as conn:
        assert partitions.strays(conn)["observation"] == 2
        assert conn.execute(select(price_history)).all()[-1].price == 5
    engine.dispose()


@pytest.mark.postgres
def test_a_reader_of_history_does_not_stop_a_crawl(pg_url: str) -> None:
    """The month's partition cannot be made while it reads; the rows find a place all the same."""
    engine = open_engine(pg_url)
    store = CrawlStore(engine)
    with engine.connect() as reader:
        reader.execute(select(observation)).all()
        crawl(store, an_observation())
    with engine.connect() as conn:
        assert partitions.strays(conn) == {"observation": 1, "price_history": 1}
    # The next month, asked for ahead, is made by the next run.
    crawl(store, an_observation(price="5.00"), now=NOON + timedelta(days=1))
    crawl(store, an_observation(price="6.00"), now=NOON + timedelta(days=31))
    with engine.connect() as conn:
        assert conn.exec_driver_sql("SELECT count(*) FROM observation_2026_04").scalar_one() == 1
    engine.dispose()


@pytest.mark.postgres
def test_a_connection_that_was_cut_is_replaced(pg_url: str) -> None:
    store = CrawlStore(open_engine(pg_url))
    run_id = open_run(store)
    with psycopg.connect(pg_url, autocommit=True) as operator:
        operator.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert store.save_batch(run_id, [an_observation()], []).inserted == 1
    store.engine.dispose()


@pytest.mark.postgres
def test_a_connection_that_is_cut_in_the_middle_is_one_sentence(pg_url: str) -> None:
    engine = open_engine(pg_url)

    def cut() -> None:
        with engine.begin() as conn:
            conn.execute(insert(source).values(slug="mugs", platform="x"))
            number = conn.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
            with psycopg.connect(pg_url, autocommit=True) as operator:
                operator.execute("SELECT pg_terminate_backend(%s)", (number,))
            conn.execute(select(source))

    with pytest.raises(StorageProblem) as error:
        cut()
    say(error)
    with engine.connect() as conn:
        assert conn.execute(select(source)).all() == []
    engine.dispose()


_WRITE = """
import sys
from pricecrawl.db.crawl import CrawlStore
from pricecrawl.db.engine import open_engine
from tests.factories import NOON, an_observation, finish, open_run
url, source = sys.argv[1:]
store = CrawlStore(open_engine(url))
run_id = open_run(store, source=source)
for start in range(0, 3000, 200):
    store.heartbeat(run_id, NOON)
    store.save_batch(run_id, [an_observation(f"S{n}", source=source) for n in range(start, start + 200)], [])
finish(store, run_id)
"""


def test_several_crawls_write_at_once(database_url: str) -> None:
    crawls = [subprocess.Popen([sys.executable, "-c", _WRITE, database_url, f"shop-{n}"]) for n in range(4)]
    assert [crawl.wait() for crawl in crawls] == [0, 0, 0, 0]
    engine = open_engine(database_url)
    with engine.connect() as conn:
        assert conn.execute(text("SELECT count(*) FROM observation")).scalar_one() == 12_000
        assert verify_chain(conn) == []
        assert verify_observations(conn) == []
    engine.dispose()


@pytest.mark.postgres
def test_a_listing_that_somebody_else_makes_at_the_same_moment(pg_url: str) -> None:
    engine = open_engine(pg_url)
    store = CrawlStore(engine)
    run_id = open_run(store)
    waiting = threading.Thread(target=store.save_batch, args=(run_id, [an_observation()], []))
    with engine.begin() as conn:
        values = {"source": "kettles", "source_sku": "A-1", "url": "", "name": ""}
        conn.execute(insert(listing).values(values | {"first_seen_at": NOON, "last_seen_at": NOON}))
        waiting.start()
        time.sleep(0.5)
    waiting.join()
    with engine.connect() as conn:
        assert [row.name for row in conn.execute(select(listing))] == ["Kettle A-1"]
        assert len(conn.execute(select(observation)).all()) == 1
        assert len(conn.execute(select(price_history)).all()) == 1
    engine.dispose()


def test_a_run_of_events_is_kept_with_the_state(engine: Engine) -> None:
    store = CrawlStore(engine)
    run_id = open_run(store)
    store.save_batch(run_id, [an_observation()], [])
    finish(store, run_id)
    with engine.connect() as conn:
        kinds = conn.execute(select(audit_event.c.event_type).order_by(audit_event.c.id)).scalars().all()
    assert kinds == [
        "collection.requested",
        *("offer.extracted", "offer.normalized", "observation.created"),
        "collection.finished",
    ]
