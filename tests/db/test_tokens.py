"""Tokens and idempotency keys on both databases."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from sqlalchemy import Engine, select

from pricecrawl.db.idempotency import ABANDONED, Claim, IdempotencyStore
from pricecrawl.db.tables import api_token, audit_event
from pricecrawl.db.tokens import TokenStore
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.domain.roles import Role
from pricecrawl.workflows import tokens
from tests.factories import NOON


def test_a_token_is_found_by_its_secret_and_stored_without_it(engine: Engine) -> None:
    store = TokenStore(engine)
    token = tokens.issue(store, "ann", Role.REVIEWER, by="root", now=NOON)
    found = store.by_secret(token)
    assert found is not None
    assert (found.name, found.role, found.revoked_at) == ("ann", "reviewer", None)
    assert store.by_secret(token[:-1]) is None
    with engine.connect() as conn:
        rows = [str(tuple(row)) for table in (api_token, audit_event) for row in conn.execute(select(table))]
    assert len(rows) == 2
    assert not any(token in row for row in rows)


def test_a_revoked_token_keeps_its_name(engine: Engine) -> None:
    store = TokenStore(engine)
    token = tokens.issue(store, "ann", Role.REVIEWER, by="root", now=NOON)
    tokens.revoke(store, "ann", by="root", now=NOON)
    found = store.by_secret(token)
    assert found is not None
    assert found.revoked_at == NOON
    with pytest.raises(UsageProblem, match="existed"):
        tokens.issue(store, "ann", Role.OWNER, by="root", now=NOON)
    with pytest.raises(UsageProblem, match="already"):
        tokens.revoke(store, "ann", by="root", now=NOON)
    with pytest.raises(UsageProblem, match="no token"):
        tokens.revoke(store, "bob", by="root", now=NOON)


@pytest.mark.parametrize("name", ["", "-x", "a b", "a" * 101, "a\n"])
def test_a_name_is_one_word(engine: Engine, name: str) -> None:
    with pytest.raises(UsageProblem, match="cannot name"):
        tokens.issue(TokenStore(engine), name, Role.OWNER, by="root", now=NOON)


def test_a_key_is_bound_to_its_first_request(engine: Engine) -> None:
    store = IdempotencyStore(engine)
    assert store.claim("k", "ann", "one", now=NOON).claim is Claim.OURS
    assert store.claim("k", "ann", "one", now=NOON).claim is Claim.BUSY
    assert store.claim("k", "ann", "two", now=NOON).claim is Claim.OTHER_REQUEST
    assert store.claim("k", "bob", "two", now=NOON).claim is Claim.OURS
    store.answer("k", "ann", 201, '{"b":1,"a":2}')
    kept = store.claim("k", "ann", "one", now=NOON)
    assert (kept.claim, kept.status, kept.body) == (Claim.ANSWERED, 201, '{"b":1,"a":2}')
    assert store.claim("k", "ann", "two", now=NOON).claim is Claim.OTHER_REQUEST


def test_what_came_to_nothing_may_be_tried_again(engine: Engine) -> None:
    store = IdempotencyStore(engine)
    store.claim("k", "ann", "one", now=NOON)
    store.reopen("k", "ann")
    assert store.claim("k", "ann", "two", now=NOON).claim is Claim.OTHER_REQUEST
    assert store.claim("k", "ann", "one", now=NOON).claim is Claim.OURS
    assert store.claim("k", "ann", "one", now=NOON).claim is Claim.BUSY


def test_a_dead_process_does_not_keep_a_key(engine: Engine) -> None:
    store = IdempotencyStore(engine)
    store.claim("k", "ann", "one", now=NOON)
    later = NOON + ABANDONED
    assert store.claim("k", "ann", "one", now=later - timedelta(seconds=1)).claim is Claim.BUSY
    assert store.claim("k", "ann", "one", now=later).claim is Claim.OURS
    assert store.claim("k", "ann", "one", now=later).claim is Claim.BUSY


def test_of_many_at_the_same_time_one_gets_the_key(engine: Engine) -> None:
    store = IdempotencyStore(engine)
    found: list[Claim] = []
    gate = threading.Barrier(6)

    def ask() -> None:
        gate.wait()
        found.append(store.claim("k", "ann", "one", now=NOON).claim)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [Claim.BUSY] * 5 + [Claim.OURS]
