"""Row files: what is wrong is told with file, line and key, all of it at once, and the rest works."""

from __future__ import annotations

from pathlib import Path

import pytest

from pricecrawl.config import Config
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.sources.catalog import BUNDLED, Catalog
from pricecrawl.spiders.loader import row_models

MODELS = row_models()
GOOD = """\
[[source]]
slug = "tern"
retailer = "Tern"
base_url = "https://tern.example/"
country = "IE"
"""


def read(tmp_path: Path, text: str | bytes, name: str = "shopify.toml") -> Catalog:
    file = tmp_path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Catalog.read([file], MODELS)


def told(catalog: Catalog) -> list[tuple[int, str]]:
    return [(mistake.line, mistake.key) for mistake in catalog.mistakes]


def test_every_mistake_of_every_row_at_its_line(tmp_path: Path) -> None:
    catalog = read(
        tmp_path,
        """\
# shops
[[source]]
slug = "Tern Mill"
retailer = ""
base_url = "tern.example"
country = "ie"
currency = "euro"
locale = "xx_YY"
tax_basis = "gross"
delay_seconds = "5"
tier = "D"
cadence = "soon"
robots = false
collections = [
  "pantry",
  7,
]

[source.expect]
min_listings = 5
max_listings = 4
most = 3

[source.rules]
price = [".price", "p["]

[[source]]
slug = "gull"
retailer = "Gull"
country = "IE"
""",
    )
    assert told(catalog) == [
        (3, "slug"), (4, "retailer"), (5, "base_url"), (6, "country"), (7, "currency"), (8, "locale"),
        (9, "tax_basis"), (10, "delay_seconds"), (11, "tier"), (12, "cadence"), (13, "robots"),
        (16, "collections.1"), (21, "expect.max_listings"), (22, "expect.most"), (25, "rules.price.1"),
        (27, "base_url"),
    ]  # fmt: skip
    assert not catalog.entries
    messages = {mistake.key: mistake.message for mistake in catalog.mistakes}
    assert "did you mean 'IE'" in messages["country"]
    assert "p[" in messages["rules.price.1"]
    assert all("\n" not in message and message for message in messages.values())
    assert str(catalog.mistakes[0]).startswith(f"{tmp_path}/shopify.toml:3: slug: ")


@pytest.mark.parametrize(
    ("text", "line", "key", "words"),
    [
        ("[[source]]\nslug = tern\n", 2, "slug", "not valid TOML"),
        ('[[source]]\nslug = "tern\n', 2, "slug", "not valid TOML"),
        ('[[source]]\nslug = "a"\nslug = "b"\n', 3, "slug", "not valid TOML"),
        ('[[source]]\nlist = ["a",\n', 2, "list", "not valid TOML"),
        ('[source]\nslug = "a"\n', 1, "source", "two brackets"),
        ('source = "a"\n', 1, "source", "two brackets"),
        ('source = ["a"]\n', 1, "source", "[[source]] table"),
        ('[[sources]]\nslug = "a"\n', 1, "sources", "[[source]] table"),
        ('slug = "a"\n', 1, "slug", "no such key"),
        ('[[source]]\nplatform = "shopfy"\n', 2, "platform", "did you mean"),
    ],
)  # fmt: skip
def test_files_that_are_not_as_they_should_be(
    tmp_path: Path, text: str, line: int, key: str, words: str
) -> None:
    catalog = read(tmp_path, text)
    assert told(catalog) == [(line, key)]
    assert words.lower() in catalog.mistakes[0].message.lower()


def test_a_broken_table_does_not_hide_its_neighbours(tmp_path: Path) -> None:
    catalog = read(
        tmp_path, GOOD + "\n[[source]]\nslug = gull\n\n" + GOOD.replace("tern", "skua") + "rank = 3\n"
    )
    assert list(catalog.entries) == ["tern"]
    assert told(catalog) == [(8, "slug"), (15, "rank")]


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    assert told(read(tmp_path, GOOD.encode() + b'city = "Z\xfcrich"\n')) == [(6, "")]
    assert list(read(tmp_path, b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode()).entries) == ["tern"]


def test_a_slug_is_taken_once_wherever_it_is(tmp_path: Path) -> None:
    (tmp_path / "oscar.toml").write_text(GOOD)
    (tmp_path / "shopify.toml").write_text(GOOD + "\n" + GOOD)
    catalog = Catalog.read(sorted(tmp_path.glob("*.toml")), MODELS)
    assert catalog.entries["tern"].platform == "oscar"
    assert [(m.file.name, m.line, m.key) for m in catalog.mistakes] == [
        ("shopify.toml", 2, "slug"),
        ("shopify.toml", 8, "slug"),
    ]
    assert f"{tmp_path}/oscar.toml:2" in catalog.mistakes[0].message


def test_the_platform_is_the_file_or_the_row(tmp_path: Path) -> None:
    assert read(tmp_path, GOOD, "oscar.toml").entries["tern"].platform == "oscar"
    assert read(tmp_path, GOOD + 'platform = "oscar"\n', "mine.toml").entries["tern"].platform == "oscar"
    (mistake,) = read(tmp_path, GOOD, "mine.toml").mistakes
    assert "There is no platform 'mine'" in mistake.message
    assert "shopify" in mistake.message


def test_asking_for_a_source(tmp_path: Path) -> None:
    catalog = read(tmp_path, GOOD + "\n" + GOOD.replace("tern", "gull") + "rank = 3\n")
    assert catalog.get("tern").line == 1
    with pytest.raises(UsageProblem, match="Did you mean 'tern'"):
        catalog.get("terns")
    with pytest.raises(UsageProblem, match=r"shopify\.toml:12: rank"):
        catalog.get("gull")


def test_a_folder_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shopify.toml").write_text(GOOD)
    monkeypatch.setenv("PRICECRAWL_SOURCES", str(tmp_path))
    assert "tern" in Catalog.load(Config.load(), MODELS).entries
    # without the platforms' models the keys that all share are enough
    assert Catalog.load(Config.load()).get("tern").source.country == "IE"


def test_the_bundled_rows_have_no_mistake_and_name_no_real_shop() -> None:
    catalog = Catalog.read(sorted(BUNDLED.glob("*.toml")), MODELS)
    assert catalog.mistakes == ()
    assert {file.stem for file in catalog.files} == set(MODELS)
    for entry in catalog:
        assert (
            entry.source.host.endswith((".example", ".test", ".invalid")) or entry.source.host == "127.0.0.1"
        )
