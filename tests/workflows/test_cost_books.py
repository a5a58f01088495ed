"""What every import tells of all costs: the sum of what is there, whoever brought which part of it."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path

from pricecrawl.db import cost_books
from pricecrawl.db.catalogue import CatalogueStore
from pricecrawl.workflows import catalogue
from tests.factories import NOON
from tests.workflows.street import GTIN, SKUS, Street


def test_each_import_vouches_for_all_costs_there_are(street: Street) -> None:
    """Files that add, replace and end costs: the sum that is told is the sum of what is there."""
    two = SKUS + SKUS.splitlines()[1].replace("K-1", "K-2").replace("BK-100", "BK-2").replace(GTIN, "") + "\n"
    street.catalogue(two, "")
    told = []
    for lines in (
        "K-1,10.00,2026-01-01\n",
        "K-2,11.00,2026-01-01\nK-1,10.50,2026-02-01\n",
        "K-1,10.40,2026-01-01\n",
        "K-2,11.00,2026-01-01\n",
    ):
        street.catalogue(two, f"sku,cogs,valid_from\n{lines}", now=NOON)
        with street.engine.connect() as conn:
            assert cost_books.last(conn) == f"{cost_books.total(conn):064x}"
            told.append(cost_books.last(conn))
    assert len(set(told[:3])) == 3
    excl = two.replace("incl", "excl")
    street.catalogue(excl, "", now=NOON + timedelta(hours=1))
    with street.engine.connect() as conn:
        assert cost_books.last(conn) == f"{cost_books.total(conn):064x}" != told[-1]


def test_two_imports_at_once_tell_of_what_both_brought(street: Street) -> None:
    names = [f"K-{number}" for number in range(1, 9)]
    line = SKUS.splitlines()[1]
    bare = line.replace(GTIN, "").replace("BK-100", "")
    street.catalogue(
        "\n".join([SKUS.splitlines()[0], *(bare.replace("K-1", name) for name in names), ""]), ""
    )
    files = [street.file(f"sku,cogs,valid_from\n{name},10.00,2026-01-01\n", f"{name}.csv") for name in names]
    gate = threading.Barrier(len(files))
    store = CatalogueStore(street.engine)

    def bring(path: Path) -> None:
        gate.wait()
        catalogue.import_costs(store, path, now=NOON, by="ann")

    threads = [threading.Thread(target=bring, args=(path,)) for path in files]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with street.engine.connect() as conn:
        assert cost_books.last(conn) == f"{cost_books.total(conn):064x}"
