"""`pricecrawl proxies`: the pool that some rows leave through. A password is never shown."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import unquote, urlsplit

import typer

from pricecrawl.cli.options import AsJson
from pricecrawl.cli.output import out, print_json
from pricecrawl.config import Config
from pricecrawl.domain.errors import UsageProblem

if TYPE_CHECKING:
    from pricecrawl.db.proxies import ProxyHealth, ProxyStore
    from pricecrawl.domain.egress import Proxy

Names = Annotated[list[str], typer.Argument(help="Ids or host:port.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True, help="The pool of proxies: add, list, take out, bring back.")
    group.command()(add)
    group.command("list")(list_proxies)
    group.command()(restore)
    group.command()(disable)
    group.command()(remove)
    app.add_typer(group, name="proxies")


def add(
    address: Annotated[
        str, typer.Argument(help="http://user@host:8080, or https or socks5.", show_default=False)
    ],
    country: Annotated[str, typer.Option("--country", help="Where it sits, as ISO 3166 code: DE.")],
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add a proxy; it serves sources of its country from their next run on."""
    from dataclasses import replace

    from pricecrawl.sources.model import countries

    if country not in countries():
        raise UsageProblem(f"{country!r} is no ISO 3166 country code such as DE.")
    proxy = _parse(address, country)
    if password_stdin:
        proxy = replace(proxy, password=sys.stdin.readline().rstrip("\r\n"))
    with _store() as store:
        number = store.add(proxy)
        (item,) = [item for item in store.all() if item.proxy.id == number]
    if as_json:
        print_json(_plain(item))
    else:
        out.print(f"Proxy {number} is in the pool: {proxy} in {country}.", markup=False)


def list_proxies(as_json: AsJson = False) -> None:
    """Every proxy and how it does."""
    from rich.table import Table

    with _store() as store:
        rows = [_plain(item) for item in store.all()]
    if as_json:
        print_json(rows)
        return
    if not rows:
        out.print(
            "The pool is empty: `pricecrawl proxies add http://user@host:8080 --country DE` adds to it."
        )
        return
    table = Table(box=None, pad_edge=False)
    for name in ("id", "proxy", "in", "used", "good", "failed", "ms", "last error"):
        table.add_column(name, overflow="fold", no_wrap=name in ("id", "in", "used"))
    for row in rows:
        cells = (row["id"], row["address"], row["country"], "yes" if row["active"] else "out")
        numbers = (row["successes"], row["failures"], row["average_ms"], row["last_error"])
        table.add_row(*("" if cell is None else str(cell) for cell in (*cells, *numbers)))
    out.print(table)


def restore(names: Names, as_json: AsJson = False) -> None:
    """Bring proxies back with a clean slate: failures count from nought again."""
    with _store() as store:
        _changed(store.restore(names), "back in the pool", as_json)


def disable(names: Names, as_json: AsJson = False) -> None:
    """Take proxies out of use; their record stays."""
    with _store() as store:
        _changed(store.disable(names), "out of use", as_json)


def remove(names: Names, as_json: AsJson = False) -> None:
    """Forget proxies, their password and their record."""
    with _store() as store:
        _changed(store.remove(names), "forgotten", as_json)


def _changed(numbers: list[int], what: str, as_json: bool) -> None:
    if as_json:
        print_json({"changed": numbers})
    else:
        out.print(f"{'Proxy' if len(numbers) == 1 else 'Proxies'} {', '.join(map(str, numbers))}: {what}.")


def _parse(address: str, country: str) -> Proxy:
    from pricecrawl.domain.egress import PROTOCOLS, Proxy

    # Never with the address in it: it may hold a password.
    wrong = UsageProblem("Write a proxy as http://host:8080, https://host:443 or socks5://user@host:1080.")
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        raise wrong from None
    if parts.scheme not in PROTOCOLS:
        raise UsageProblem(f"A proxy speaks {', '.join(PROTOCOLS[:-1])} or {PROTOCOLS[-1]}.")
    if not host or port is None or parts.path.strip("/") or parts.query or parts.fragment:
        raise wrong
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return Proxy(0, host, port, parts.scheme, country, user or None, password or None)


def _plain(item: ProxyHealth) -> dict[str, Any]:
    proxy = item.proxy
    return {
        "id": proxy.id,
        "address": str(proxy),
        "host": proxy.host,
        "port": proxy.port,
        "protocol": proxy.protocol,
        "username": proxy.username,
        "has_password": proxy.password is not None,
        "country": proxy.country,
        "active": item.active,
        "successes": item.successes,
        "failures": item.failures,
        "average_ms": item.average_ms,
        "last_used_at": item.last_used_at,
        "last_failure_at": item.last_failure_at,
        "last_error": item.last_error,
    }


@contextmanager
def _store() -> Iterator[ProxyStore]:
    from pricecrawl.db.engine import open_engine
    from pricecrawl.db.proxies import ProxyStore

    engine = open_engine(Config.load().database_url)
    try:
        yield ProxyStore(engine)
    finally:
        engine.dispose()
