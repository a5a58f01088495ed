"""Column types that behave the same on SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect, Numeric, String, TypeDecorator
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeEngine


class Amount(TypeDecorator[Decimal]):
    """An exact decimal: NUMERIC on PostgreSQL, its own text on SQLite (which would store a float).

    Compare amounts in Python, not in SQL: SQLite would order the text.
    """

    impl = String(40)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """NUMERIC without a fixed scale on PostgreSQL, text elsewhere."""
        if dialect.name == "postgresql":
            return dialect.type_descriptor(Numeric(asdecimal=True))
        return dialect.type_descriptor(String(40))

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> Any:
        """Refuse floats and non-finite numbers: an amount is a Decimal or it is a bug."""
        text = self.sqlite_text(value)
        return value if dialect.name == "postgresql" else text

    @staticmethod
    def sqlite_text(value: Decimal | None) -> str | None:
        """The digits as they are, without an exponent."""
        if value is None:
            return None
        if not isinstance(value, Decimal) or not value.is_finite():
            raise TypeError(f"an amount must be a finite Decimal, got {value!r}")
        return format(value, "f")

    def process_result_value(self, value: Any, dialect: Dialect) -> Decimal | None:
        """A Decimal again, with the digits that were stored."""
        return None if value is None else Decimal(value)


class UtcDateTime(TypeDecorator[datetime]):
    """An aware UTC time: timestamptz on PostgreSQL, naive UTC text on SQLite."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse naive times: a time without a zone is a bug."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise TypeError("a stored time must carry its time zone")
        value = value.astimezone(UTC)
        return value if dialect.name == "postgresql" else value.replace(tzinfo=None)

    @classmethod
    def sqlite_text(cls, value: datetime | None) -> str | None:
        """What SQLAlchemy stores for a time on SQLite; equal texts sort as the times do."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise TypeError("a stored time must carry its time zone")
        return value.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Always aware, always UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


# None is SQL's NULL, not JSON's null.
Json = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
