"""Which browser, and how it is started."""

from __future__ import annotations

import logging
import os
import shutil
from pathlib import Path
from typing import Any

from pricecrawl.config import Config
from pricecrawl.domain.errors import PricecrawlError

logger = logging.getLogger("pricecrawl.render")

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

# Nothing of the browser's own goes out, and no UDP past the resolver rules.
_QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--no-first-run",
    "--no-pings",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)


class NoChromium(PricecrawlError):
    """There is no browser on this machine."""


def find_chromium(config: Config) -> Path:
    """The configured browser, else one on the PATH, else Playwright's own.

    Raises:
        NoChromium: with what to install.
    """
    if config.chromium is not None:
        if os.access(config.chromium, os.X_OK) and config.chromium.is_file():
            return config.chromium
        raise NoChromium(f"PRICECRAWL_CHROMIUM names {config.chromium}, which is no program.")
    for name in _NAMES:
        found = shutil.which(name)
        if found:
            return Path(found)
    own = _playwrights_own(config.browsers)
    if own is not None:
        return own
    raise NoChromium(
        "Rendering needs Chromium: install the package `chromium`, or run `playwright install chromium`, or "
        "name a browser in PRICECRAWL_CHROMIUM."
    )


def _playwrights_own(root: Path | None) -> Path | None:
    """Where `playwright install chromium` puts it on Linux and macOS; the newest of several."""
    folders = (
        [root]
        if root is not None
        else [Path.home() / ".cache/ms-playwright", Path.home() / "Library/Caches/ms-playwright"]
    )
    programs = ("chrome-linux*/chrome", "chrome-mac*/Chromium.app/Contents/MacOS/Chromium")
    found = [
        path
        for folder in folders
        for program in programs
        for path in folder.glob(f"chromium-*/{program}")
        if os.access(path, os.X_OK)
    ]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def launch_options(program: Path, rules: str) -> dict[str, Any]:
    """For Playwright's `launch`. The sandbox is on, except for root, for whom Chromium has none."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if root:
        logger.warning("Chromium runs without its sandbox, because it is started by root; use another user.")
    return {
        "executable_path": str(program),
        "headless": True,
        "chromium_sandbox": not root,
        "args": [*_QUIET, f"--host-resolver-rules={rules}"],
    }
