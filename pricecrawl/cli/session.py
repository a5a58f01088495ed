"""What a command of the pricing side opens first: the configuration, the database, the sources' markets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pricecrawl.config import Config
    from pricecrawl.workflows.candidates import KnownRules


@contextmanager
def database(config: Config | None = None) -> Iterator[Any]:
    """The engine of the configured database, closed at the end."""
    from pricecrawl.config import Config
    from pricecrawl.db.engine import open_engine

    engine = open_engine((config or Config.load()).database_url)
    try:
        yield engine
    finally:
        engine.dispose()


def countries(config: Config) -> dict[str, str]:
    """The country of every source of the catalogue of sources."""
    from pricecrawl.sources.catalog import Catalog

    return {entry.source.slug: entry.source.country for entry in Catalog.load(config)}


def price_rules(config: Config) -> dict[str, KnownRules]:
    """What each source's row says of where its prices stand."""
    from pricecrawl.extraction.rules import CATEGORY, GLOBAL
    from pricecrawl.sources.catalog import Catalog
    from pricecrawl.workflows.candidates import KnownRules

    general = {kind: GLOBAL.get(name, ()) for kind, name in CATEGORY.items()}
    return {
        entry.source.slug: KnownRules(
            shop={kind: getattr(entry.source.rules, name) for kind, name in CATEGORY.items()},
            general=general,
        )
        for entry in Catalog.load(config)
    }
