"""Who runs the command: what stands in events and approvals."""

from __future__ import annotations

import getpass
import os

LONGEST = 200
"""Characters of a name in events and approvals."""


def current_user(given: str | None = None) -> str:
    """`given`, or the name of the account that runs this process.

    Raises:
        UsageProblem: what was given names nobody.
    """
    from pricecrawl.domain.errors import UsageProblem
    from pricecrawl.domain.said import says_something

    if given:
        name = given.strip()
        if not says_something(name) or not name.isprintable() or len(name) > LONGEST:
            raise UsageProblem(f"--by {given!r} names nobody: give a name of up to {LONGEST} characters.")
        return name
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return f"uid-{os.getuid()}"
