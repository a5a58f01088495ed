from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.commerce import benches
from tests.commerce.benches import Bench

REAL = {"vendure", "oscar"}
SIMULATED = {
    "commercetools": benches.commercetools_bench,
    "shopify": benches.shopify_bench,
    "woocommerce": benches.woocommerce_bench,
    "medusa": benches.medusa_bench,
    "bigcommerce": benches.bigcommerce_bench,
    "adobe": benches.adobe_bench,
    "adobe-bulk": lambda: benches.adobe_bench(bulk=True),
}
FILES = {"file": benches.file_bench, "file-sftp": benches.sftp_bench}


def _marked(name: str) -> object:
    if name in REAL:
        return pytest.param(name, marks=[pytest.mark.shop, pytest.mark.xdist_group(name)])
    return pytest.param(name, marks=pytest.mark.xdist_group(f"commerce-{name}"))


@pytest.fixture(scope="session", params=[_marked(name) for name in (*SIMULATED, *FILES, *sorted(REAL))])
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """The bench of each platform in turn, kept for the session."""
    name: str = request.param
    if name in FILES:
        making = FILES[name](tmp_path_factory.mktemp("importer"))
    elif name in REAL:
        making = getattr(benches, f"{name}_bench")(request.getfixturevalue(name))
    else:
        making = SIMULATED[name]()
    with making as bench:
        yield bench


@pytest.fixture
def bench(opened: Bench) -> Bench:
    """The bench without the faults of the test before."""
    if opened.proxy is not None:
        opened.proxy.faults.clear()
        opened.proxy.seen.clear()
    opened.target.exchanges()
    return opened


# Which platforms have what; a test that needs it is not made for the others.
HAVE = {
    "proxy": {*SIMULATED, *REAL},
    "storefront": {"vendure", "oscar", "commercetools", "woocommerce", "medusa", "bigcommerce"},
    "no_dates": {*SIMULATED, *REAL},
    "twin": {"vendure", "oscar", "shopify", "woocommerce", "medusa", "bigcommerce", *FILES},
    "cas": {"commercetools"},
    "shapes": {*SIMULATED},
    "other_scope": {"commercetools", "shopify", "medusa", "bigcommerce", "adobe", "adobe-bulk"},
}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(what): only for benches that have it")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    def fits(item: pytest.Item) -> bool:
        mark = item.get_closest_marker("needs")
        callspec = getattr(item, "callspec", None)
        return mark is None or callspec is None or callspec.params.get("opened") in HAVE[mark.args[0]]

    away = [item for item in items if not fits(item)]
    if away:
        config.hook.pytest_deselected(items=away)
        items[:] = [item for item in items if fits(item)]
