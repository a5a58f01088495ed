"""Every source is a spider name: `scrapy list` prints sources, `scrapy crawl <source>` runs one."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterable, Mapping
from typing import Any, Self

from scrapy import Request, Spider
from scrapy.exceptions import UsageError
from scrapy.settings import BaseSettings
from scrapy.utils.misc import walk_modules_iter

from pricecrawl.config import Config
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.sources.catalog import Catalog
from pricecrawl.sources.model import Source
from pricecrawl.spiders.base import PlatformSpider

MODULES = ("pricecrawl.spiders",)
logger = logging.getLogger(__name__)


class UnknownSource(UsageError, KeyError):
    """Scrapy asks a loader for a KeyError; its command line shows a UsageError as one sentence."""

    def __str__(self) -> str:
        """The sentence itself: KeyError would show its repr."""
        return str(self.args[0])


def platforms(modules: Iterable[str] = MODULES) -> dict[str, type[PlatformSpider[Any]]]:
    """Every platform by name: in these packages, the PlatformSpider subclasses that set `platform`."""
    found: dict[str, type[PlatformSpider[Any]]] = {}
    for package in modules:
        for module in walk_modules_iter(package):
            for spider in vars(module).values():
                if not (inspect.isclass(spider) and issubclass(spider, PlatformSpider)):
                    continue
                if spider.platform and spider.__module__ == module.__name__:
                    found[spider.platform] = spider
    return found


def row_models(modules: Iterable[str] = MODULES) -> Mapping[str, type[Source]]:
    """The row type of every platform, as `Catalog.load` takes it."""
    return {name: spider.source_model for name, spider in platforms(modules).items()}


def load_catalog(config: Config | None = None) -> Catalog:
    """Every source, each row checked against its platform's type."""
    return Catalog.load(config or Config.load(), row_models())


class SourceSpiderLoader:
    """The SPIDER_LOADER_CLASS of this project: one spider per source row.

    A row with a mistake is no spider and does not stop the others.
    """

    def __init__(self, settings: BaseSettings) -> None:
        self._platforms = platforms(settings.getlist("SPIDER_MODULES") or MODULES)
        models = {name: spider.source_model for name, spider in self._platforms.items()}
        try:
            self.catalog = Catalog.load(Config.load(), models)
        except UsageProblem as problem:
            raise UnknownSource(str(problem)) from None
        left_out = sorted({mistake.slug or mistake.file.name for mistake in self.catalog.mistakes})
        if left_out:
            logger.warning(
                "rows with mistakes are left out: %s; `pricecrawl sources check` shows them",
                ", ".join(left_out),
            )

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        """Scrapy's constructor of a spider loader."""
        return cls(settings)

    def load(self, spider_name: str) -> type[Spider]:
        """The spider of a source; UnknownSource says which sources there are."""
        try:
            entry = self.catalog.get(spider_name)
        except UsageProblem as problem:
            raise UnknownSource(str(problem)) from None
        return self._platforms[entry.platform].bound(entry.source)

    def list(self) -> list[str]:
        """Slugs of all good rows."""
        return list(self.catalog.entries)

    def find_by_request(self, request: Request) -> Iterable[str]:
        """Slugs of the sources whose shop this request would go to."""
        return [
            entry.source.slug
            for entry in self.catalog
            if self.load(entry.source.slug).handles_request(request)
        ]
