"""A client of the real application: real workflows, a real database, a real evidence folder."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import Engine

from pricecrawl.config import Config
from pricecrawl.db.tokens import TokenStore
from pricecrawl.domain.roles import Role
from pricecrawl.pricing.ports import Placement
from pricecrawl.web.app import create_app
from pricecrawl.web.problems import MEDIA_TYPE
from pricecrawl.workflows import tokens
from tests.factories import NOON
from tests.web.serving import serving
from tests.workflows.street import NOW, Street

ROWS = "".join(
    f'[[source]]\nslug = "{slug}"\nretailer = "{slug.title()}"\nbase_url = "https://{slug}.example/"\n'
    f'country = "DE"\ncurrency = "EUR"\nlocale = "de_DE"\ntax_basis = "incl"\n\n'
    for slug in ("kettles", "mugs", "pots")
)


@dataclass
class Api:
    """The application, its street, and a token by role. `now` is the time that it goes by."""

    app: FastAPI
    client: httpx.Client
    street: Street
    secrets: dict[Role, str]
    now: datetime = NOW
    ticking: bool = False
    started: float = field(default_factory=time.monotonic)
    made: list[str] = field(default_factory=list)

    def clock(self) -> datetime:
        """The time that the application goes by: it stands still unless it is `ticking`."""
        return self.now + timedelta(seconds=time.monotonic() - self.started if self.ticking else 0)

    def ask(
        self,
        method: str,
        path: str,
        *,
        role: Role | None = Role.OWNER,
        token: str | None = None,
        key: str | None = None,
        **more: Any,
    ) -> httpx.Response:
        """One request as a role (or with a token of one's own, or without any)."""
        headers = dict(more.pop("headers", {}))
        if token is None and role is not None:
            token = self.secrets[role]
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        if key is not None:
            headers["Idempotency-Key"] = key
        return self.client.request(method, f"/v1{path}", headers=headers, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> httpx.Response:
        """A POST with a JSON body."""
        return self.ask("POST", path, json=body, **more)

    def get(self, path: str, **more: Any) -> httpx.Response:
        """A GET."""
        return self.ask("GET", path, **more)

    def priced(self, price: str = "20.00") -> str:
        """A catalogue of one SKU with one offer, mapped and decided; returns the decision's id."""
        self.street.catalogue()
        self.street.observe(price)
        self.street.match()
        self.street.price()
        return str(self.street.decision().decision_id)

    def new_token(self, role: Role) -> tuple[str, str]:
        """Another token of a role: its name and the token."""
        name = f"{role.value}-{len(self.made) + 2}"
        self.made.append(name)
        store = TokenStore(self.street.engine)
        return name, tokens.issue(store, name, role, by="tests", now=NOON)


@contextmanager
def open_api(
    engine: Engine,
    url: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    placements: Mapping[str, Placement] | None = None,
) -> Iterator[Api]:
    """The application on `engine`'s database, with three shops in its rows."""
    rows = folder / "rows"
    rows.mkdir()
    (rows / "shopify.toml").write_text(ROWS, encoding="utf-8")
    monkeypatch.setenv("PRICECRAWL_HOME", str(folder))
    monkeypatch.setenv("PRICECRAWL_DATABASE_URL", url)
    monkeypatch.setenv("PRICECRAWL_EVIDENCE_URL", str(folder / "evidence"))
    monkeypatch.setenv("PRICECRAWL_SOURCES", str(rows))
    store = TokenStore(engine)
    secrets = {role: tokens.issue(store, role.value, role, by="tests", now=NOON) for role in Role}
    holder: list[Api] = []
    app = create_app(Config.load(), placements or {}, clock=lambda: holder[0].clock())  # noqa: PLW0108 - made later
    with serving(app) as url_of_api, httpx.Client(base_url=url_of_api, timeout=60) as client:
        holder.append(Api(app, client, Street(engine, folder), secrets))
        yield holder[0]


def problem(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The problem document of a response that must be one."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == MEDIA_TYPE
    found: dict[str, Any] = response.json()
    assert found["status"] == status
    assert found["code"] == code, found
    assert found["detail"].endswith((".", "?"))
    return found
