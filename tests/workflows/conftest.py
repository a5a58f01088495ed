from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine

from tests.workflows.street import Street


@pytest.fixture
def street(engine: Engine, tmp_path: Path) -> Street:
    """A street on both databases."""
    return Street(engine, tmp_path)
