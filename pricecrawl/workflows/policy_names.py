"""What a policy names and nobody has: a mistyped SKU, category or source would do nothing, in silence."""

from __future__ import annotations

from collections.abc import Collection

from pricecrawl.db.catalogue import CatalogueStore
from pricecrawl.pricing.policy import Policy


def unheard_of(store: CatalogueStore, policy: Policy, sources: Collection[str]) -> list[str]:
    """A sentence for each SKU, category and competitor that the policy names and that is not there (yet)."""
    there = store.having(list(policy.skus), list(policy.categories))
    told = [
        f'[sku."{name}"] says nothing of any SKU: there is none of that name in the catalogue'
        for name in policy.skus
        if name not in there.skus
    ]
    told += [
        f'[category."{name}"] says nothing of any SKU: none is in that category'
        for name in policy.categories
        if name not in there.categories
    ]
    layers = (*policy.categories.values(), *policy.skus.values())
    named = [*policy.default.competitors, *(of for layer in layers for of in layer.get("competitors", ()))]
    told += [
        f"competitors: there is no source {name!r}" for name in dict.fromkeys(named) if name not in sources
    ]
    return told
