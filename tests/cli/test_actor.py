"""Who a command acts for."""

from __future__ import annotations

import getpass

import pytest

from pricecrawl.cli.actor import LONGEST, current_user
from pricecrawl.domain.errors import UsageProblem


@pytest.mark.parametrize("name", [" ", "\t", "\u200b", "a\x1b[31mb", "a\nb", "x" * (LONGEST + 1)])
def test_a_name_that_names_nobody_is_refused(name: str) -> None:
    with pytest.raises(UsageProblem, match="names nobody"):
        current_user(name)


def test_spaces_around_a_name_are_no_part_of_it() -> None:
    assert current_user(" ann b ") == "ann b"


def test_without_a_name_it_is_the_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(getpass, "getuser", lambda: "ada")
    assert current_user() == current_user("") == "ada"
