"""A publisher in a process of its own that is killed where a plan says, and started again until it ends.

    python -m tests.jobs.publisher_process job.json

One process imports everything and then forks a publisher; when that is killed it forks the next, as a
supervisor would, without paying for the imports each time. The plan is (publication, boundary) pairs,
each of which kills twice.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

from pricecrawl.commerce.oscar import OscarTarget
from pricecrawl.commerce.vendure import VendureTarget
from pricecrawl.db.engine import open_engine
from pricecrawl.db.publications import PublicationStore
from pricecrawl.domain.roles import Principal, Role
from pricecrawl.jobs import engine as jobs
from pricecrawl.jobs import publication
from pricecrawl.pricing.ports import Placement
from pricecrawl.workflows.publisher import Boundary, Publisher, Timings

TIMINGS = Timings(
    lease=timedelta(seconds=120),
    write_timeout=10.0,
    backoff=(timedelta(milliseconds=300), timedelta(seconds=2)),
    settle=timedelta(seconds=1),
)


def target_of(job: dict[str, Any]) -> Any:
    settings = job["target"]
    if settings["kind"] == "vendure":
        return VendureTarget(
            f"{settings['url']}/admin-api", settings["key"], shop_url=f"{settings['url']}/shop-api"
        )
    return OscarTarget(settings["url"], settings["user"], settings["password"])


def kill_here(job: dict[str, Any]) -> Any:
    """Kill this process at its boundaries, each twice, and write down that it was so."""
    log = Path(job["deaths"])

    def on(boundary: Boundary, of: str) -> None:
        if job["plan"].get(of) != boundary.value:
            return
        mark = f"{of} {boundary.value}\n"
        deaths = log.read_text() if log.exists() else ""
        if deaths.count(mark) < 2:
            with log.open("a") as file:
                file.write(mark)
                file.flush()
                os.fsync(file.fileno())
            os.kill(os.getpid(), signal.SIGKILL)

    return on


def work(job: dict[str, Any]) -> None:
    """One life of the publisher."""
    database = open_engine(job["database"])
    target = target_of(job)
    publisher = Publisher(
        store=PublicationStore(database),
        placements={target.name: Placement(target)},
        by=Principal("publisher-1", Role.PUBLISHER),
        owner=job["executor"],
        timings=TIMINGS,
        on=kill_here(job),
    )
    # One at a time, so that each death is the one that the plan says and cuts off nothing else.
    settings = jobs.EngineSettings(job["database"], job["executor"], writers=1, polling=0.05)
    with publication.serving(publisher), jobs.running(settings):
        handles = {of: publication.start(of) for of in job["publications"]}
        for handle in handles.values():
            handle.get_result(polling_interval_sec=0.05)
    database.dispose()


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    lives = 0
    while True:
        lives += 1
        child = os.fork()
        if child == 0:
            try:
                work(job)
            except BaseException:
                import traceback

                traceback.print_exc()
                os._exit(3)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
            time.sleep(0.05)
            continue
        print(json.dumps({"lives": lives, "status": status}))
        sys.exit(0 if status == 0 else 1)


if __name__ == "__main__":
    main()
