"""Who runs the command: what stands in events and approvals."""

from __future__ import annotations

import getpass
import os


def current_user(given: str | None = None) -> str:
    """`given`, or the name of the account that runs this process."""
    if given:
        return given
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return f"uid-{os.getuid()}"
