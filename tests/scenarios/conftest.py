"""Fixtures of this folder."""

from tests.workflows.conftest import street

__all__ = ["street"]
