"""Every source is a spider name; what is no source says so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.exceptions import UsageError
from scrapy.settings import Settings
from scrapy.spiderloader import get_spider_loader

from pricecrawl.spiders.base import PlatformSpider
from pricecrawl.spiders.loader import SourceSpiderLoader, platforms, row_models
from tests.spiders.harness import read_case

ROWS = """\
[[source]]
slug = "tern"
platform = "shopify"
retailer = "Tern"
base_url = "https://www.tern.example/"
country = "IE"
delay_seconds = 5.0

[[source]]
slug = "moth"
platform = "oscar"
retailer = "Moth"
base_url = "https://moth.example/"
country = "GB"

[[source]]
slug = "moths"
platform = "oscar"
retailer = "Moth"
base_url = "https://moth.example/"
country = "GB"
cuntry = "GB"
"""
SETTINGS = {
    "SPIDER_LOADER_CLASS": "pricecrawl.spiders.loader.SourceSpiderLoader",
    "SPIDER_MODULES": ["pricecrawl.spiders"],
}


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine.toml").write_text(ROWS)
    monkeypatch.setenv("PRICECRAWL_SOURCES", str(tmp_path))
    return tmp_path


@pytest.fixture
def loader(rows: Path) -> SourceSpiderLoader:
    loader = get_spider_loader(Settings(SETTINGS))
    assert isinstance(loader, SourceSpiderLoader)
    return loader


def test_sources_are_spiders(loader: SourceSpiderLoader) -> None:
    assert {"tern", "moth"} <= set(loader.list())
    assert "moths" not in loader.list()
    spider_type = loader.load("tern")
    assert spider_type.name == "tern"
    assert issubclass(spider_type, PlatformSpider)
    assert spider_type.source.delay_seconds == 5
    assert loader.find_by_request(Request("https://tern.example/products/x")) == ["tern"]


def test_what_is_no_source_is_told_with_the_ones_there_are(loader: SourceSpiderLoader) -> None:
    for name, words in (
        ("terns", "Did you mean 'tern'"),
        ("moths", r"mine\.toml:22: cuntry"),
        ("shopify", "Known"),
    ):
        with pytest.raises(UsageError, match=words):
            loader.load(name)
        with pytest.raises(KeyError):
            loader.load(name)


def test_a_row_asks_for_a_slower_pace_never_a_faster(loader: SourceSpiderLoader) -> None:
    for floor, expected in ((1.0, 5.0), (30.0, 30.0)):
        settings = Settings({"DOWNLOAD_DELAY": floor})
        loader.load("tern").update_settings(settings)
        assert settings.getfloat("DOWNLOAD_DELAY") == expected


@pytest.mark.parametrize("platform", sorted(platforms()))
def test_every_platform_builds_and_begins(platform: str) -> None:
    # The row of the platform's own golden case, whose shop is at http://shop.test/.
    case = next(Path(__file__).parent.glob(f"{platform}/*/case.toml")).parent
    row = {**read_case(case)[0], "base_url": "http://www.shop.test/de/"}
    spider_type = platforms()[platform].bound(row_models()[platform].model_validate(row))
    spider = spider_type(_job="6487ec79947edab326d6db28a2d86511e8247444")
    first = list(spider.first_requests())
    assert first
    assert all(request.url.startswith("http://www.shop.test/de/") for request in first)
    assert all(request.callback and request.errback for request in first)
    assert all(spider_type.handles_request(request) for request in first)
    assert spider.job == "6487ec79947edab326d6db28a2d86511e8247444"
    assert "start_requests" not in vars(type(spider))


def test_a_spider_without_its_row_or_with_a_strange_argument_is_a_usage_mistake() -> None:
    spider_type = platforms()["shopify"]
    with pytest.raises(UsageError, match="scrapy list"):
        spider_type()
    row = {"slug": "x", "retailer": "X", "base_url": "https://x.example/", "country": "DE"}
    with pytest.raises(UsageError, match="no argument market"):
        spider_type.bound(spider_type.source_model.model_validate(row))(market="US")


def test_the_command_line(rows: Path, tmp_path: Path) -> None:
    def scrapy(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "scrapy", *arguments],
            cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=60, check=False,
            env={"PRICECRAWL_SOURCES": str(rows), "PRICECRAWL_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        )  # fmt: skip

    listed = scrapy("list")
    assert listed.returncode == 0, listed.stderr
    assert {"tern", "moth"} <= set(listed.stdout.split())
    assert "moths" in listed.stderr
    wrong = scrapy("crawl", "terns")
    assert wrong.returncode == 2
    assert "Did you mean 'tern'?" in wrong.stderr
    assert "Traceback" not in wrong.stderr
    argument = scrapy("crawl", "tern", "-a", "market=US")
    assert argument.returncode == 2
    assert "no argument market" in argument.stderr
