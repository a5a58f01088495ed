"""The only reader of the environment.

`Config.load()` is called once by each entry point and the frozen result is passed on. Every value
has a default that works on one machine, except the contact, without which no shop but our own
loopback may be crawled.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from pricecrawl.domain.errors import UsageProblem

PREFIX = "PRICECRAWL_"
_TARGET = re.compile(rf"{PREFIX}TARGET_([A-Z0-9]+)_([A-Z0-9_]+)")
_BOT_NAME = re.compile(r"[A-Za-z][A-Za-z_-]*")
_CONTACT = re.compile(r"(?:https?://\S+|[^\s@<>()]+@[^\s@<>()]+)")


class Config(BaseSettings):
    """Every setting of the environment, checked and frozen.

    Anything that may hold a password (database and notification URLs too) is a SecretStr, so that
    a `repr`, a log line or an error text of this object shows none of it.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, frozen=True, extra="ignore", hide_input_in_errors=True
    )

    home: Path = Path("var")
    database_secret: SecretStr = Field(
        default=SecretStr(""), validation_alias=f"{PREFIX}DATABASE_URL", repr=False
    )
    evidence_secret: SecretStr = Field(
        default=SecretStr(""), validation_alias=f"{PREFIX}EVIDENCE_URL", repr=False
    )
    sources: Path | None = None
    contact: str | None = None
    bot_name: str = "PricecrawlBot"
    secret_key: SecretStr | None = None
    oidc_issuer: str = ""
    oidc_client_id: str = ""
    oidc_client_secret: SecretStr | None = None
    notify: Annotated[tuple[SecretStr, ...], NoDecode] = ()
    chromium: Path | None = None
    # Playwright's own variable for where it puts its browsers.
    browsers: Path | None = Field(default=None, validation_alias="PLAYWRIGHT_BROWSERS_PATH")
    # A render server of its own process; without one the crawl starts a browser itself.
    render_url: str = ""
    render_token: SecretStr | None = None
    # The paid egress; its key never reaches Scrapy, a log or an error.
    zyte_key: SecretStr | None = None
    zyte_url: str = "http://proxy.zyte.com:8011"
    # The gateway to a model: nothing is asked unless an address, a model and one of the switches are set.
    ai_url: str = ""
    ai_model: str = ""
    ai_key: SecretStr | None = None
    ai_auto_mapping: bool = False
    ai_verification: bool = False
    ai_input_price: Decimal | None = Field(default=None, ge=0)
    ai_output_price: Decimal | None = Field(default=None, ge=0)
    targets: Annotated[Mapping[str, Mapping[str, SecretStr]], NoDecode] = Field(
        default={}, validation_alias="_targets"
    )

    @classmethod
    def load(cls) -> Self:
        """Read the process environment; an empty variable counts as unset.

        Raises UsageProblem with one sentence naming each variable at fault. Variables of the
        prefix that no setting reads are left alone: tests and deployments have their own.
        """
        targets: dict[str, dict[str, str]] = {}
        for key, value in os.environ.items():
            if value and (match := _TARGET.fullmatch(key)):
                targets.setdefault(match[1].lower(), {})[match[2].lower()] = value
        try:
            return cls.model_validate({"_targets": targets})
        except ValidationError as problem:
            raise UsageProblem(_sentence(problem)) from None

    @field_validator("notify", mode="before")
    @classmethod
    def _notify(cls, value: Any) -> Any:
        return tuple(value.split()) if isinstance(value, str) else value

    @field_validator("bot_name")
    @classmethod
    def _bot_name(cls, value: str) -> str:
        # RFC 9309 2.2.1: a product token has letters, "_" and "-" only; robots files match on it.
        if not _BOT_NAME.fullmatch(value):
            raise ValueError(
                "a robots product token of letters, '-' and '_' is needed, such as PricecrawlBot"
            )
        return value

    @field_validator("contact")
    @classmethod
    def _contact(cls, value: str | None) -> str | None:
        if value is not None and not _CONTACT.fullmatch(value):
            raise ValueError("an e-mail address or an http(s) URL is needed, so that a shop can reach you")
        return value

    @field_validator("ai_url")
    @classmethod
    def _ai_url(cls, value: str) -> str:
        if value and not re.fullmatch(r"https?://[^\s/@]+(?:/\S*)?", value):
            raise ValueError("the address of a chat-completions server is needed, such as https://host/v1")
        return value

    @field_validator("sources")
    @classmethod
    def _sources(cls, value: Path | None) -> Path | None:
        if value is not None and not value.is_dir():
            raise ValueError("this folder of source rows does not exist")
        return value

    @field_validator("home")
    @classmethod
    def _home(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @property
    def database_url(self) -> str:
        """SQLAlchemy URL; a SQLite file under `home` unless the environment names another."""
        return self.database_secret.get_secret_value() or f"sqlite:///{self.home / 'pricecrawl.db'}"

    @property
    def evidence_url(self) -> str:
        """Folder or fsspec URL of the evidence store; a folder under `home` by default."""
        return self.evidence_secret.get_secret_value() or str(self.home / "evidence")

    def target(self, name: str) -> Mapping[str, SecretStr]:
        """Credentials of a commerce target, from `PRICECRAWL_TARGET_<NAME>_<KEY>`; empty if none."""
        return self.targets.get(name.lower(), {})


def _sentence(problem: ValidationError) -> str:
    """One sentence per variable at fault; never the value, which may be a secret."""
    parts = []
    for error in problem.errors(include_url=False, include_context=False, include_input=False):
        name = str(error["loc"][0]).removeprefix(PREFIX)
        parts.append(f"{PREFIX}{name.upper()}: {error['msg'].removeprefix('Value error, ')}")
    return "; ".join(parts) + "."
