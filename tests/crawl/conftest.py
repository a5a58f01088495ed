"""Fixtures of this folder."""

from tests.crawl.fixtures import both, db, home

__all__ = ["both", "db", "home"]
