from __future__ import annotations

import pytest

from pricecrawl.db.holds import HoldStore
from pricecrawl.domain.errors import UsageProblem
from pricecrawl.workflows import holds
from tests.workflows.street import NOW, Street


def test_a_hold_is_set_once_listed_and_cleared_with_events(street: Street) -> None:
    street.catalogue()
    store = HoldStore(street.engine)
    number = holds.place(store, "sku", "K-1", reason="recall", by="ann", now=NOW)
    assert holds.place(store, "sku", "K-1", reason="again", by="bob", now=NOW) == number
    (row,) = holds.active(store)
    assert (row.scope, row.value, row.reason, row.set_by) == ("sku", "K-1", "recall", "ann")
    assert holds.clear(store, "sku", "K-1", reason="over", by="bob", now=NOW) == 1
    assert holds.active(store) == []
    assert street.events(f"hold:{number}") == ["hold.changed", "hold.changed"]


@pytest.mark.parametrize(
    ("scope", "value", "reason", "message"),
    [
        ("shelf", "1", "x", "cannot be held"),
        ("everything", "x", "x", "takes no name"),
        ("sku", "", "x", "name the sku"),
        ("sku", "K-9", "x", "there is no sku 'K-9'"),
        ("source", "nobody", "x", "there is no source 'nobody'"),
        ("everything", "", " ", "needs a reason"),
    ],
)
def test_what_cannot_be_held_is_said(
    street: Street, scope: str, value: str, reason: str, message: str
) -> None:
    with pytest.raises(UsageProblem, match=message):
        holds.place(HoldStore(street.engine), scope, value, reason=reason, by="ann", now=NOW)


def test_a_target_that_nobody_knows_is_not_held(street: Street) -> None:
    """A switch under a misspelt name would stop nothing."""
    store = HoldStore(street.engine)
    with pytest.raises(UsageProblem, match=r"no target 'shpo' to hold.*known: shop"):
        holds.place(store, "target", "shpo", reason="x", by="ann", now=NOW, targets=("shop",))
    assert holds.active(store) == []
    assert holds.place(store, "target", "shop", reason="x", by="ann", now=NOW, targets=("shop",))


def test_what_is_not_held_cannot_be_cleared(street: Street) -> None:
    store = HoldStore(street.engine)
    with pytest.raises(UsageProblem, match="sku K-1 is not held"):
        holds.clear(store, "sku", "K-1", reason="x", by="ann", now=NOW)
    with pytest.raises(UsageProblem, match="cannot be held"):
        holds.clear(store, "shelf", "", reason="x", by="ann", now=NOW)
    with pytest.raises(UsageProblem, match="needs a reason"):
        holds.clear(store, "sku", "K-1", reason="", by="ann", now=NOW)
