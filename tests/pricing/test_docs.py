"""The page on prices names what the code has, all of it and nothing else."""

from __future__ import annotations

import re
import tomllib
from decimal import Decimal
from pathlib import Path

from pricecrawl.domain.reasons import ExclusionReason, FindingCode
from pricecrawl.pricing.policy import read_policy

PAGE = Path(__file__).parents[2] / "docs" / "pricing.md"


def test_every_reason_and_finding_is_on_the_page() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    named = set(re.findall(r"`([a-z_]+)`", "\n".join(rows)))
    assert named == {code.value for code in (*ExclusionReason, *FindingCode)}


def test_the_policy_on_the_page_is_one() -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    policy = read_policy(tomllib.loads(text, parse_float=Decimal))
    assert policy.resolve("W-17", "Fragrance").protected
