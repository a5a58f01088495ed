"""Generated requests, good and bad, as every role: no 5xx, and every answer as the description says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.parameters import ParameterLocation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from pricecrawl.db.engine import open_engine
from pricecrawl.db.events import verify_chain
from pricecrawl.db.tables import publication
from pricecrawl.domain.roles import Role
from tests.shared import examples
from tests.web.api import Api, open_api
from tests.workflows.street import NOW

PER_ROLE = examples(152, 5016)

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[Api]:
    """One application for the module: what earlier requests left behind is part of the trial."""
    folder = tmp_path_factory.mktemp("schema")
    url = f"sqlite:///{folder / 'pricecrawl.db'}"
    (folder / "pricecrawl.db").write_bytes(sqlite_template.read_bytes())
    engine = open_engine(url)
    with pytest.MonkeyPatch.context() as patch, open_api(engine, url, folder, patch) as made:
        made.priced("11.00")
        made.app.state.services = replace(made.app.state.services, clock=_Clock())
        yield made
    engine.dispose()


class _Clock:
    """A moment of its own for each request."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now


@pytest.mark.parametrize("role", Role)
def test_any_request_of_any_role_is_answered_as_described(api: Api, role: Role) -> None:
    schema = schemathesis.openapi.from_url(f"{api.client.base_url}/v1/openapi.json")
    operations = [result.ok() for result in schema.get_all_operations()]
    there = {"sku": "K-1", "slug": "mugs", "decision_id": api.street.decision().decision_id}
    there["review_id"] = f"price:{there['decision_id']}"
    each = -(-PER_ROLE // (2 * len(operations)))
    statuses: Counter[int] = Counter()
    for operation in operations:
        known = {name: there[name] for name in there if f"{{{name}}}" in operation.path}
        good = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
        if known:  # half of the good requests are about something that is there
            good |= operation.as_strategy(generation_mode=GenerationMode.POSITIVE, path_parameters=known)
        bad = operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)
        for cases in (good, bad):
            _ask(api, role, cases, each, statuses)
    assert sum(statuses.values()) >= PER_ROLE * 0.9
    assert not any(status >= 500 for status in statuses)
    with api.street.engine.connect() as conn:
        assert verify_chain(conn) == []
    assert api.street.rows(publication) == []
    print(role.value, dict(sorted(statuses.items())))


def _ask(api: Api, role: Role, cases: Any, count: int, statuses: Counter[int]) -> None:
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def ask(case: schemathesis.Case) -> None:
        for name in [name for name in case.headers if name.lower() == "authorization"]:
            del case.headers[name]
        answer = case.call(headers={"Authorization": f"Bearer {api.secrets[role]}"})
        statuses[answer.status_code] += 1
        case.validate_response(answer, checks=CHECKS)
        # The token is added to every request, whatever headers were made up.
        wrong = [where for where, part in case.meta.components.items() if part.mode.is_negative]
        # A list without items is a mistake that nobody sees: nothing of it is sent.
        unsent = any(value == [] for value in case.query.values())
        if set(wrong) - {ParameterLocation.HEADER, ParameterLocation.COOKIE} and not unsent:
            assert answer.status_code >= 400, case.as_curl_command()

    ask()
