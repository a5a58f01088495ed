"""Who may be given which rights: the roles of people and services."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What a token may be for. `publisher` is the service that writes prices; nobody else does."""

    VIEWER = "viewer"
    AUDITOR = "auditor"
    REVIEWER = "reviewer"
    POLICY_AUTHOR = "policy_author"
    OPERATOR = "operator"
    PUBLISHER = "publisher"
    OWNER = "owner"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who acts: a person or a service, and in which role."""

    name: str
    role: Role
