"""The legal posture: what the code cannot do, and a table that points at what exists."""

from __future__ import annotations

import ast
import re
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

from pricecrawl import settings
from pricecrawl.db.tables import metadata
from pricecrawl.domain.listing import Listing, RawListing
from pricecrawl.domain.observation import Observation

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "pricecrawl"

PROSE = re.compile(
    r"description|marketing|prose|copy|blurb|summary|body_html|review_text|about|logo", re.IGNORECASE
)


@cache
def _modules() -> tuple[tuple[Path, ast.Module], ...]:
    paths = sorted(PACKAGE.rglob("*.py"))
    return tuple((path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))) for path in paths)


def _imports(tree: ast.Module) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_every_rule_has_a_row_and_every_path_in_it_exists() -> None:
    text = (ROOT / "docs" / "legal.md").read_text(encoding="utf-8")
    rows = {match[1]: match[0] for match in re.finditer(r"^\| (L\d+) .*$", text, re.MULTILINE)}
    assert list(rows) == [f"L{number}" for number in range(1, 12)]
    for rule, row in rows.items():
        *_, kept, proved = row.strip("| ").split("|")
        for cell in (kept, proved):
            paths = re.findall(r"`([^`]+\.(?:py|importlinter)|\.importlinter)`", cell)
            assert paths, (rule, cell)
            for path in paths:
                assert (ROOT / path).exists(), (rule, path)


@pytest.mark.parametrize("name", ["FormRequest", "basic_auth_header", "HTTPBasicAuth", "HttpAuthMiddleware"])
def test_nothing_can_fill_in_a_form_or_authenticate_to_a_shop(name: str) -> None:
    for path, tree in _modules():
        if "commerce" in path.parts:  # our own shop, where prices are published
            continue
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert name not in used | {part.rpartition(".")[2] for part in _imports(tree)}, path


def test_no_session_is_kept_and_no_dialog_refreshes_itself() -> None:
    assert settings.COOKIES_ENABLED is False
    assert settings.METAREFRESH_ENABLED is False
    assert settings.DOWNLOADER_MIDDLEWARES["scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware"] is None


SOLVERS = re.compile(
    "2captcha|twocaptcha|anticaptcha|capsolver|capmonster|cloudscraper|cfscrape|undetected|flaresolverr|"
    "curl.cffi|stealth|deathbycaptcha|nopecha|camoufox|patchright"
)


def test_nothing_that_solves_or_hides_is_a_dependency() -> None:
    for file in (ROOT / "requirements").glob("*.txt"):
        names = re.findall(
            r"^([a-z0-9][a-z0-9._-]*)==", file.read_text(encoding="utf-8").lower(), re.MULTILINE
        )
        assert names, file.name
        assert not [name for name in names if SOLVERS.search(name)], file.name
    for path, tree in _modules():
        assert not [name for name in _imports(tree) if SOLVERS.search(name.lower())], path


GESTURES = {
    *("click", "dblclick", "tap", "type", "press", "fill", "check", "set_checked", "select_option"),
    *("dispatch_event", "drag_to", "drag_and_drop", "insert_text", "wheel", "accept"),
}


def test_the_browser_has_no_hands() -> None:
    """No method that clicks, types or answers a dialog is called, by name or through a page method."""
    for path, tree in _modules():
        if not ({"middlewares", "rendering", "spiders"} & set(path.parts)):
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            if isinstance(node.func, ast.Attribute):
                assert node.func.attr not in GESTURES, (path, node.lineno)
            if isinstance(node.func, ast.Name) and node.func.id == "PageMethod" and node.args:
                first = node.args[0]
                assert isinstance(first, ast.Constant), (path, node.lineno)
                assert first.value not in GESTURES, (path, node.lineno)


def test_there_is_no_place_for_prose_or_pictures() -> None:
    columns = [
        f"{table.name}.{column.name}" for table in metadata.tables.values() for column in table.columns
    ]
    assert len(columns) > 100
    assert not [column for column in columns if PROSE.search(column.partition(".")[2])]
    for model in (RawListing, Listing, Observation):
        names = {field.name for field in fields(model)}
        assert not [name for name in names if PROSE.search(name)], model
        assert {
            "url",
            "image_url",
        } <= names  # a link to the page, the address of a picture and not the picture


def test_each_run_says_where_it_ran() -> None:
    run, proxy = metadata.tables["run"], metadata.tables["proxy"]
    assert "machine" in run.columns
    assert not run.columns["machine"].nullable
    assert "country" in proxy.columns


def test_what_answers_a_user_never_reaches_a_shop() -> None:
    """Crawl and index: no page and no endpoint imports what could ask a retailer."""
    for path, tree in _modules():
        if "web" in path.parts:
            imported = _imports(tree)
            assert not [
                name for name in imported if name.split(".")[0] in {"scrapy", "requests", "playwright"}
            ], path
            assert not [
                name for name in imported if name.startswith(("pricecrawl.spiders", "pricecrawl.rendering"))
            ], path


def test_spiders_only_ever_read() -> None:
    """No method but GET, and POST only where a read is asked for as JSON (GraphQL)."""
    for path, tree in _modules():
        if "spiders" not in path.parts:
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            if getattr(node.func, "attr", getattr(node.func, "id", "")) == "tostring":
                continue  # how markup is written out, not how a shop is asked
            for word in node.keywords:
                if word.arg == "method" and isinstance(word.value, ast.Constant):
                    assert word.value.value in {"GET", "POST"}, (path, node.lineno)
