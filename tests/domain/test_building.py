"""What the quick way makes is what the slow way makes."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, fields, replace

import pytest

from pricecrawl.domain.building import builder_of
from pricecrawl.domain.candidate import Candidate, Method, PriceKind
from pricecrawl.domain.consensus import Consensus
from pricecrawl.domain.listing import Listing
from pricecrawl.domain.observation import Observation


@pytest.mark.parametrize("cls", [Candidate, Consensus, Listing, Observation])
def test_the_quick_way_gives_the_same_instance(cls: type) -> None:
    values = {field.name: field.name for field in fields(cls)}
    quick, slow = builder_of(cls)(**values), cls(**values)
    assert type(quick) is cls
    assert quick == slow
    assert hash(quick) == hash(slow)
    assert repr(quick) == repr(slow)
    assert pickle.loads(pickle.dumps(quick)) == copy.copy(quick) == replace(quick) == slow


def test_it_is_as_frozen_and_has_the_same_defaults() -> None:
    quick = builder_of(Candidate)(PriceKind.SALE, 1, "EUR", Method.API)
    assert quick == Candidate(PriceKind.SALE, 1, "EUR", Method.API)
    with pytest.raises(FrozenInstanceError):
        quick.amount = 2
    with pytest.raises(TypeError):
        builder_of(Candidate)(PriceKind.SALE)
