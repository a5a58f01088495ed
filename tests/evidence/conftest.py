"""Evidence stores that tests write to: a folder, and a real S3 server."""

from __future__ import annotations

import socket
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from pricecrawl.evidence.store import EvidenceStore


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """Address of an S3 server on loopback."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from moto.server import ThreadedMotoServer

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = ThreadedMotoServer("127.0.0.1", port, verbose=False)
        server.start()
    yield f"http://127.0.0.1:{port}"
    server.stop()


@pytest.fixture
def s3_store(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[EvidenceStore]:
    """A store in a bucket of its own."""
    import fsspec
    import s3fs

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary-secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    options = {"endpoint_url": s3_endpoint, "skip_instance_cache": True}
    bucket = f"evidence-{uuid4().hex[:12]}"
    fsspec.filesystem("s3", **options).mkdir(bucket)
    yield EvidenceStore(f"s3://{bucket}/pricecrawl", options=options)
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.fixture(params=["folder", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> EvidenceStore:
    """An empty store, once in a folder and once in S3."""
    if request.param == "folder":
        return EvidenceStore(str(tmp_path / "evidence"))
    found: EvidenceStore = request.getfixturevalue("s3_store")
    return found


def running_threads() -> set[str]:
    """Names of live threads, to see that a server has stopped."""
    return {thread.name for thread in threading.enumerate()}
