"""The price reader on the corpora: how many texts of each it must get right."""

from __future__ import annotations

import pytest

from tests.score import score
from tests.shared import needs_shared, shared

pytestmark = needs_shared


@pytest.mark.parametrize(
    ("file", "area", "wrong", "xfail"),
    [
        ("corpora/price_strings_priceparser.jsonl", None, 0, 120),
        ("corpora/price_strings_cldr.jsonl", None, 0, 0),
        # Two rows want `6.53 EUR` to be 653, against the same file's `9.99 EUR`: they belong to a setting.
        ("corpora/price_strings_monetize.jsonl", None, 2, 0),
        ("cases/cases.jsonl", "price_string", 0, 0),
    ],
)
def test_price_corpora(file: str, area: str | None, wrong: int, xfail: int) -> None:
    verdicts = score(shared(file), area)
    assert verdicts
    failed = [v for v in verdicts if not v.xfail and not v.right]
    assert len(failed) <= wrong, [(v.identity, v.wrong, v.error) for v in failed]
    assert sum(v.xfail and v.right for v in verdicts) >= xfail
