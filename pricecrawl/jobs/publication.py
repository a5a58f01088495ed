"""Publications as workflows: each step is one call of `workflows.publish.step`, each wait is durable.

The rows decide what a step does, so a step that runs twice after a crash does what is due then. The
name of a workflow is that of its publication: started twice, it is one.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from dbos import DBOS, SetWorkflowID, WorkflowHandle

from pricecrawl.domain.errors import PricecrawlError, Refused
from pricecrawl.jobs.engine import PUBLISH_QUEUE
from pricecrawl.workflows import batch, publish, verify
from pricecrawl.workflows.publisher import Publisher

_log = logging.getLogger(__name__)

_LAST_LOOK = 60.0
"""Seconds that an ending worker lets a look at one price take."""

_serving: list[Publisher] = []

Result = dict[str, Any]
"""`status`, `done`, `why` of a publication, JSON-ready."""


@contextmanager
def serving(publisher: Publisher) -> Iterator[None]:
    """The publisher that the workflows of this process write with."""
    _serving.append(publisher)
    try:
        yield
    finally:
        _serving.remove(publisher)


def _publisher() -> Publisher:
    if not _serving:
        raise PricecrawlError("this worker has no target to write to: set PRICECRAWL_TARGET_<NAME>_KIND.")
    return _serving[-1]


@DBOS.step(name="publication.step", retries_allowed=True, max_attempts=8, interval_seconds=0.5)
def _step(publication: str) -> Result:
    now = datetime.now(UTC)
    after = publish.step(_publisher(), publication, now=now)
    wait = 0.0 if after.at is None else max(0.0, (after.at - now).total_seconds())
    return {"status": after.status.value, "done": after.done, "wait": wait, "why": after.why}


@DBOS.step(name="publication.request", retries_allowed=True, max_attempts=8, interval_seconds=0.5)
def _request(decision: str, target: str) -> Result:
    try:
        of = publish.request(_publisher(), decision, target, now=datetime.now(UTC), counted=True)
    except Refused as problem:
        return {"refused": str(problem)}
    return {"publication": of}


@DBOS.workflow(name="publication", max_recovery_attempts=1000)
def _publication(publication: str) -> Result:
    while True:
        after: Result = _step(publication)
        if after["done"]:
            return after
        if after["wait"] > 0:
            DBOS.sleep(after["wait"])


@DBOS.step(name="batch.plan")
def _plan(decisions: Sequence[str], target: str) -> Result:
    made = batch.plan(_publisher(), decisions, target, now=datetime.now(UTC))
    return {
        "first": list(made.first),
        "rest": list(made.rest),
        "refused": dict(made.refused),
        "recalled": dict(made.recalled),
    }


@DBOS.step(name="batch.after_canaries")
def _after_canaries(plan: Mapping[str, Any], target: str) -> Result:
    made = batch.Plan(tuple(plan["first"]), tuple(plan["rest"]), plan["refused"], plan["recalled"])
    after = batch.after_canaries(_publisher(), made, target, now=datetime.now(UTC))
    return {"rest": list(after.rest), "recalled": dict(after.recalled), "refused": dict(after.refused)}


@DBOS.workflow(name="batch", max_recovery_attempts=1000)
def _batch(decisions: Sequence[str], target: str) -> Result:
    plan: Result = _plan(decisions, target)
    results = _all(plan["first"], target, plan["refused"])
    after: Result = _after_canaries(plan, target)
    plan["refused"] |= after["refused"]
    results |= _all(after["rest"], target, plan["refused"])
    return {
        "canaries": plan["first"] if plan["rest"] else [],
        "results": results,
        "refused": plan["refused"],
        "recalled": {**plan["recalled"], **after["recalled"]},
    }


def _all(decisions: Sequence[str], target: str, refused: dict[str, str]) -> dict[str, Result]:
    """Publish these side by side, as many as the queue lets, and wait for all."""
    handles = {}
    for decision in decisions:
        asked: Result = _request(decision, target)
        if "refused" in asked:
            refused[decision] = asked["refused"]
        else:
            handles[asked["publication"]] = _enqueue(asked["publication"])
    return {of: handle.get_result() for of, handle in handles.items()}


def _enqueue(publication: str, attempt: str = "") -> WorkflowHandle[Result]:
    with SetWorkflowID(f"publication:{publication}{attempt}"):
        return DBOS.enqueue_workflow(PUBLISH_QUEUE, _publication, publication)


def start(publication: str) -> WorkflowHandle[Result]:
    """Bring a publication that was asked for to its end; started twice, it is one workflow."""
    return _enqueue(publication)


def start_batch(decisions: Sequence[str], target: str, *, name: str) -> WorkflowHandle[Result]:
    """Publish decisions, canaries first; `name` is the batch's own, and started twice it is one."""
    with SetWorkflowID(f"batch:{target}:{name}"):
        return DBOS.start_workflow(_batch, list(decisions), target)


def resume(publisher: Publisher, *, now: datetime) -> list[str]:
    """Take up publications that nobody works on: asked for and not begun, or left by a dead worker.

    Returns their ids. A publication whose lease somebody holds is left to them until it runs out.
    """
    taken = []
    with publisher.store.engine.connect() as conn:
        rows = publisher.store.open(conn)
        leases = {row["publication_id"]: publisher.store.lease(conn, row) for row in rows}
        rounds = publisher.store.rounds(conn, [row["publication_id"] for row in rows])
    for row in rows:
        of, lease = row["publication_id"], leases[row["publication_id"]]
        busy = lease is not None and lease["until"] > now and lease["publication_id"] == of
        if busy or row["target"] not in publisher.placements:
            continue
        # An ended workflow keeps its name: each time that a publication starts over it is another one,
        # and one that broke is not tried again more than once an hour.
        for suffix in ("", f":{rounds.get(of, 1)}", f":{rounds.get(of, 1)}:{now:%Y%m%d%H}"):
            known = DBOS.get_workflow_status(f"publication:{of}{suffix}")
            if known is None or known.status in {"PENDING", "ENQUEUED", "DELAYED"}:
                _enqueue(of, suffix)
                taken.append(of)
                break
    return taken


def work(publisher: Publisher, *, every: float, once: bool = False, patrol: timedelta | None = None) -> None:
    """Take up what waits, every so many seconds, until a signal; with `once`, until nothing is open.

    Every `patrol` each price that we left in a shop is looked at, and one that somebody else changed
    is an incident; meanwhile, for that may take long, what is asked for is taken up.
    """
    stop = threading.Event()
    if patrol is not None and once:
        _patrol(publisher, stop)
    with _until_signal(stop), _patrolling(publisher, None if once else patrol, stop):
        while not stop.is_set():
            try:
                resume(publisher, now=datetime.now(UTC))
            except Exception:
                # A database that is away for a moment must not leave the prices unwritten.
                if once:
                    raise
                _log.exception("this look for work failed; the next is in %s seconds", every)
            if once:
                with publisher.store.engine.connect() as conn:
                    rows = publisher.store.open(conn)
                if not any(row["target"] in publisher.placements for row in rows):
                    return
            stop.wait(min(every, 1.0) if once else every)


def _patrol(publisher: Publisher, stop: threading.Event) -> None:
    for target in publisher.placements:
        verify.patrol(publisher, target, now=datetime.now(UTC), stop=stop.is_set)


@contextmanager
def _patrolling(publisher: Publisher, every: timedelta | None, stop: threading.Event) -> Iterator[None]:
    """Look at what is in the shops again and again, in a thread of its own, until `stop`."""

    def watch(pause: float) -> None:
        while not stop.is_set():
            try:
                _patrol(publisher, stop)
            except Exception:
                # A shop or a database that is away for a moment must not leave the prices unwatched.
                _log.exception("this look at the shops failed; the next is in %s seconds", pause)
            stop.wait(pause)

    if every is None:
        yield
        return
    thread = threading.Thread(target=watch, args=(every.total_seconds(),), name="patrol", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(_LAST_LOOK)


@contextmanager
def _until_signal(stop: threading.Event) -> Iterator[None]:
    """SIGTERM and Ctrl-C set the event instead of ending the process in the middle of something."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        stop.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
