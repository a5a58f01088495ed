"""Evidence: written once, read back by reference, verified, never more lost than the last record."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import fastwarc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from pricecrawl.domain.errors import StorageProblem, UsageProblem
from pricecrawl.domain.observation import EvidenceRef
from pricecrawl.evidence import store as store_module
from pricecrawl.evidence.files import ObjectFiles
from pricecrawl.evidence.index import Damage, IndexEntry, entries, members, scan
from pricecrawl.evidence.redact import safe_headers, safe_url
from pricecrawl.evidence.store import EvidenceStore, Fetched
from tests.factories import NOON
from tests.shared import examples


def a_page(number: int = 0, **changes: Any) -> Fetched:
    made = Fetched(
        url=f"https://kettles.example/p/{number}?size=2",
        status=200,
        headers={"Content-Type": "text/html; charset=utf-8", "Server": "nginx"},
        body=f"<html><p class=price>{number}.99 €</p></html>".encode(),
        request_headers={"User-Agent": "PricecrawlBot/1 (+https://us.example)", "Accept": "*/*"},
        fetched_at=NOON + timedelta(microseconds=number),
    )
    return replace(made, **changes)


def local(tmp_path: Path) -> EvidenceStore:
    return EvidenceStore(str(tmp_path / "evidence"))


def path_of(store: EvidenceStore, ref: EvidenceRef) -> Path:
    root: Path = store.files.root  # type: ignore[attr-defined]
    return root / ref.warc


# --- there and back ----------------------------------------------------------------------------


def test_a_page_comes_back_by_its_reference(store: EvidenceStore) -> None:
    pages = [a_page(n) for n in range(5)]
    with store.writer("kettles", 7) as writer:
        refs = [writer.write(page) for page in pages]
    for page, ref in zip(pages, refs, strict=True):
        stored = store.read(ref)
        assert (stored.url, stored.status, stored.body) == (page.url, 200, page.body)
        assert stored.headers["content-type"] == "text/html; charset=utf-8"
        assert (stored.fetched_at, stored.kind) == (page.fetched_at, "page")
        assert (stored.source, stored.run_id) == ("kettles", 7)
        assert ref.digest == stored.digest
        assert ref.digest.startswith("sha256:")
        assert store.verify(ref)
    assert len({ref.warc for ref in refs}) == 1
    assert refs[0].warc.startswith("kettles/2026-03/000007-20260314T120000-")


bodies = st.binary(max_size=3000) | st.just(b"") | st.just(b"\r\n\r\nWARC/1.1\r\n")
header_text = st.text(st.characters(codec="latin-1", exclude_categories=["Cc"]), max_size=40)


@settings(max_examples=examples(100, 3000), deadline=None)
@given(
    body=bodies,
    status=st.integers(100, 599),
    path=st.text(max_size=40),
    headers=st.dictionaries(
        st.from_regex(r"X-[A-Za-z]{1,8}", fullmatch=True), st.text(max_size=40), max_size=4
    ),
    kind=st.sampled_from(["page", "feed", "robots", "rendered"]),
)
def test_any_answer_of_a_shop_can_be_kept(
    tmp_path_factory: pytest.TempPathFactory,
    body: bytes,
    status: int,
    path: str,
    headers: dict[str, str],
    kind: str,
) -> None:
    store = EvidenceStore(str(tmp_path_factory.getbasetemp() / "any"))
    page = a_page(url=f"https://kettles.example/{path}", status=status, body=body, headers=headers, kind=kind)
    with store.writer("kettles", 1) as writer:
        ref = writer.write(page)
        after = writer.write(a_page(1))
    stored = store.read(ref)
    assert (stored.body, stored.status, stored.kind) == (body, status, kind)
    assert store.verify(ref)
    assert store.verify(after)
    found = [entry for entry in entries(store, ref.warc) if isinstance(entry, IndexEntry)]
    assert [entry.ref for entry in found] == [ref, after]


def test_what_the_network_did_to_the_body_is_told(tmp_path: Path) -> None:
    store = local(tmp_path)
    sent = {"content-encoding": "br", "transfer-encoding": "chunked", "content-length": "12"}
    with store.writer("kettles", 1) as writer:
        ref = writer.write(a_page(headers=sent, body=b"x" * 5000))
    assert store.read(ref).headers == {
        "x-archive-orig-content-encoding": "br",
        "x-archive-orig-transfer-encoding": "chunked",
        "content-length": "5000",
    }


def test_a_header_cannot_forge_another(tmp_path: Path) -> None:
    store = local(tmp_path)
    evil = {"X-A": "1\r\nX-Forged: yes\r\n\r\n<html>", "X-B\r\nX-Forged": "2", "X-C": "\x00\x85\u2028"}
    with store.writer("kettles", 1) as writer:
        ref = writer.write(a_page(headers=evil, url="https://kettles.example/a b\r\nWARC-Type: warcinfo"))
    stored = store.read(ref)
    assert "x-forged" not in stored.headers
    assert stored.body == a_page().body
    for record in fastwarc.ArchiveIterator(path_of(store, ref).open("rb")):
        assert "x-forged" not in {name.lower() for name, _ in record.headers.items()}


# --- secrets -----------------------------------------------------------------------------------


def test_secrets_never_reach_a_file(store: EvidenceStore) -> None:
    secrets = {
        "Authorization": "Bearer canary",
        "Proxy-Authorization": "Basic canary",
        "Cookie": "session=canary",
        "X-Api-Key": "canary",
        "X-Auth-Token": "canary",
        "Zyte-Client-Secret": "canary",
    }
    url = "https://user:canary@kettles.example/p?api_key=canary&access_token=canary&page=2"
    with store.writer("kettles", 1) as writer:
        ref = writer.write(
            a_page(url=url, request_headers=secrets | {"Accept": "a"}, headers={"Set-Cookie": "canary"})
        )
    plain = b"".join(content for name in store.names() for _, _, content in members(store.files, name))
    assert b"canary" not in plain
    assert b"Accept: a" in plain
    assert ref.url == "https://kettles.example/p?api_key=REDACTED&access_token=REDACTED&page=2"
    assert store.read(ref).url == ref.url


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("https://x.example/a?b=1#c", "https://x.example/a?b=1#c"),
        ("https://x.example/a?key=red&code=A1&session=2", "https://x.example/a?key=red&code=A1&session=2"),
        ("https://x.example/?token=" + "a1B2" * 8, "https://x.example/?token=REDACTED"),
        ("https://x.example/?X-Amz-Signature=ab&x=", "https://x.example/?X-Amz-Signature=REDACTED&x="),
        ("https://u:p@x.example:8443/", "https://x.example:8443/"),
        ("https://x.example/ä b\n?c=ü", "https://x.example/%C3%A4%20b%0A?c=%C3%BC"),
        ("https://x.example/?a=%20&a=2&b", "https://x.example/?a=%20&a=2&b"),
    ],
)
def test_urls_keep_everything_else(url: str, safe: str) -> None:
    assert safe_url(url) == safe


def test_headers_keep_everything_else() -> None:
    plain = {"Accept-Language": "de", "ETag": "x", "X-Tokenizer": "y", "Authorized-By": "z"}
    assert safe_headers(plain | {"AUTHORIZATION": "a", "x-goog-auth-token": "b"}) == plain


# --- robots ------------------------------------------------------------------------------------


def test_each_page_names_the_robots_file_that_allowed_it(tmp_path: Path) -> None:
    store = local(tmp_path)
    with store.writer("kettles", 1) as writer:
        robots = writer.write(
            a_page(url="https://kettles.example/robots.txt", body=b"User-agent: *\n", kind="robots")
        )
        page = writer.write(a_page(1))
        elsewhere = writer.write(a_page(url="https://cdn.example/x"))
    assert store.read(page).robots_digest == robots.digest
    assert store.read(elsewhere).robots_digest is None
    assert store.read(robots).kind == "robots"


# --- write once --------------------------------------------------------------------------------


def test_no_writer_touches_another_ones_file(store: EvidenceStore) -> None:
    names = set()
    for _ in range(3):
        with store.writer("kettles", 7) as writer:
            names.add(writer.write(a_page()).warc)
    assert len(names) == 3
    assert set(store.names()) == names


def test_a_file_that_is_there_is_never_opened_again(store: EvidenceStore) -> None:
    with store.writer("kettles", 7) as writer:
        name = writer.write(a_page()).warc
    before = store.files.read(name)

    def write_again() -> None:
        file = store.files.create(name)
        file.append(b"x")
        file.sync()

    with pytest.raises(StorageProblem) as error:
        write_again()
    assert "\n" not in str(error.value)
    assert store.files.read(name) == before


def test_a_writer_that_wrote_nothing_leaves_nothing(store: EvidenceStore) -> None:
    with store.writer("kettles", 7) as writer:
        writer.sync()
    assert list(store.names()) == []


def test_a_large_file_is_followed_by_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "FILE_BYTES", 20_000)
    store = local(tmp_path)
    noise = random.Random(1)
    with store.writer("kettles", 7) as writer:
        refs = [writer.write(a_page(n, body=noise.randbytes(3000))) for n in range(30)]
    assert len({ref.warc for ref in refs}) == len(list(store.names())) > 3
    assert all(path_of(store, ref).stat().st_size < 26_000 for ref in refs)
    assert all(store.verify(ref) for ref in refs)


def test_parts_of_an_object_store(s3_store: EvidenceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "PART_RECORDS", 10)
    writer = s3_store.writer("kettles", 7)
    refs = [writer.write(a_page(n)) for n in range(25)]
    assert [s3_store.verify(ref) for ref in refs] == [True] * 20 + [False] * 5
    writer.sync()
    assert all(s3_store.verify(ref) for ref in refs)
    refs.append(writer.write(a_page(26)))
    writer.close()
    assert all(s3_store.verify(ref) for ref in refs)
    assert len(list(s3_store.names())) == 4


def test_threads_may_share_a_writer(tmp_path: Path) -> None:
    store = local(tmp_path)
    refs: list[EvidenceRef] = []
    with store.writer("kettles", 7) as writer:

        def write(first: int) -> None:
            refs.extend(writer.write(a_page(first + n)) for n in range(50))

        threads = [threading.Thread(target=write, args=(100 * n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len({ref.offset for ref in refs}) == 200
    assert all(store.verify(ref) for ref in refs)


# --- independent readers -----------------------------------------------------------------------


def test_other_libraries_read_it(tmp_path: Path) -> None:
    store = local(tmp_path)
    with store.writer("kettles", 7) as writer:
        refs = [writer.write(a_page(n)) for n in range(20)]
    path = path_of(store, refs[0])
    with path.open("rb") as file:
        kinds, checked = [], 0
        for record in fastwarc.ArchiveIterator(file, parse_http=True):
            kinds.append(record.record_type)
            if record.record_type is fastwarc.WarcRecordType.response:
                assert record.headers["WARC-Payload-Digest"] == refs[checked].digest
                assert record.headers["WARC-Target-URI"] == refs[checked].url
                assert record.http_headers.status_code == 200
                assert record.reader.read() == a_page(checked).body
                checked += 1
    assert checked == 20
    pair = [fastwarc.WarcRecordType.response, fastwarc.WarcRecordType.request]
    assert kinds == [fastwarc.WarcRecordType.warcinfo, *pair * 20]
    # Plain gzip tools see one text; warcio's own checker finds every digest right.
    assert gzip.decompress(path.read_bytes()).count(b"WARC/1.1\r\n") == 41
    check = subprocess.run(
        [sys.executable, "-m", "warcio.cli", "check", "-v", str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert check.stdout.count("digest pass") == 41


def test_the_request_names_its_response(tmp_path: Path) -> None:
    store = local(tmp_path)
    with store.writer("kettles", 7) as writer:
        ref = writer.write(a_page(1, method="GET"))
    info, response, request = (
        record.rec_headers for record in ArchiveIterator(io.BytesIO(path_of(store, ref).read_bytes()))
    )
    assert request.get_header("WARC-Concurrent-To") == response.get_header("WARC-Record-ID")
    assert response.get_header("WARC-Warcinfo-ID") == info.get_header("WARC-Record-ID")
    assert response.get_header("WARC-Date") == "2026-03-14T12:00:00.000001Z"
    plain = gzip.decompress(path_of(store, ref).read_bytes())
    assert b"GET /p/1?size=2 HTTP/1.1\r\nHost: kettles.example\r\nUser-Agent: PricecrawlBot/1" in plain


def test_ten_thousand_records_verify_in_seconds(tmp_path: Path) -> None:
    store = local(tmp_path)
    with store.writer("kettles", 7) as writer:
        refs = [writer.write(a_page(n)) for n in range(10_000)]
    began = time.process_time()
    assert all(store.verify(ref) for ref in refs)
    assert time.process_time() - began < 15
    began = time.process_time()
    assert [entry.ref for entry in scan(store) if isinstance(entry, IndexEntry)] == refs
    assert time.process_time() - began < 20


# --- damage ------------------------------------------------------------------------------------


def test_truncation_at_any_byte_costs_only_the_last_record(tmp_path: Path) -> None:
    store = local(tmp_path)
    with store.writer("kettles", 7) as writer:
        refs = [writer.write(a_page(n)) for n in range(4)]
    path = path_of(store, refs[0])
    whole = path.read_bytes()
    *others, last = refs
    for size in range(last.offset, len(whole)):
        path.write_bytes(whole[:size])
        assert all(store.verify(ref) for ref in others)
        complete = size >= last.offset + last.length
        assert store.verify(last) is complete
        found = list(entries(store, last.warc))
        readable = [entry.ref for entry in found if isinstance(entry, IndexEntry)]
        assert readable == (refs if complete else others)
        damage = [entry for entry in found if isinstance(entry, Damage)]
        clean = size in {last.offset, last.offset + last.length}
        assert [entry.last for entry in damage] == ([] if clean else [True])
        if size % 7 == 0:
            # Another reader may complain when it comes to the broken end, but not before.
            bodies = []
            with contextlib.suppress(OSError):
                other = fastwarc.ArchiveIterator(
                    io.BytesIO(whole[:size]), record_types=fastwarc.WarcRecordType.response
                )
                bodies.extend(record.reader.read() for record in other)
            assert bodies[:3] == [a_page(n).body for n in range(3)]


def test_one_changed_bit_anywhere_is_found(tmp_path: Path) -> None:
    store = local(tmp_path)
    with store.writer("kettles", 7) as writer:
        ref = writer.write(a_page(1))
    path = path_of(store, ref)
    whole = path.read_bytes()
    expected = store.read(ref)
    for at in range(ref.offset, ref.offset + ref.length):
        spoiled = bytearray(whole)
        spoiled[at] ^= 0x10
        path.write_bytes(spoiled)
        # Gzip has a few bits that mean nothing: time and system in its header, padding at its end.
        if store.verify(ref):
            assert at - ref.offset in {*range(4, 10), ref.length - 9}
            assert store.read(ref) == expected


def test_a_record_that_was_replaced_is_found(tmp_path: Path) -> None:
    store = local(tmp_path)
    with store.writer("kettles", 7) as writer:
        first, second = writer.write(a_page(1)), writer.write(a_page(2))
    swapped = replace(first, offset=second.offset, length=second.length)
    assert not store.verify(swapped)
    with pytest.raises(StorageProblem, match="changed after it was written"):
        store.read(swapped)
    request = replace(
        first, offset=first.offset + first.length, length=second.offset - first.offset - first.length
    )
    assert not store.verify(request)
    with pytest.raises(StorageProblem, match="damaged"):
        store.read(request)


def test_a_missing_file_is_said(store: EvidenceStore) -> None:
    with store.writer("kettles", 7) as writer:
        ref = writer.write(a_page(1))
    store.delete(ref.warc)
    store.delete(ref.warc)
    assert not store.verify(ref)
    with pytest.raises(StorageProblem, match="is missing from the evidence") as error:
        store.read(ref)
    assert "canary" not in str(error.value)


def test_a_damaged_record_in_the_middle_does_not_hide_the_rest(tmp_path: Path) -> None:
    """A record whose body does not fit its digest is named, and the scan goes on."""
    store = local(tmp_path)
    with store.writer("kettles", 7) as writer:
        refs = [writer.write(a_page(n)) for n in range(3)]
    path = path_of(store, refs[0])
    whole = path.read_bytes()
    middle = gzip.decompress(whole[refs[1].offset : refs[1].offset + refs[1].length])
    forged = gzip.compress(middle.replace(b"1.99", b"0.99"))
    path.write_bytes(whole[: refs[1].offset] + forged + whole[refs[1].offset + refs[1].length :])
    found = list(entries(store, refs[0].warc))
    assert [type(entry) for entry in found] == [IndexEntry, Damage, IndexEntry]
    assert isinstance(found[1], Damage)
    assert (found[1].offset, found[1].last) == (refs[1].offset, False)


_WRITE_FOREVER = """
import sys
from pricecrawl.evidence.store import EvidenceStore
from tests.evidence.test_store import a_page
with EvidenceStore(sys.argv[1]).writer("kettles", 7) as writer:
    number = 0
    while True:
        ref = writer.write(a_page(number, body=bytes(str(number), "ascii") * 5000))
        print(ref.warc, ref.offset, ref.length, ref.digest, flush=True)
        number += 1
"""


def test_kill_9_loses_nothing_that_was_written(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _WRITE_FOREVER, str(tmp_path / "evidence")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(50)]
    os.kill(process.pid, signal.SIGKILL)
    lines += process.stdout.read().splitlines(keepends=True)
    process.wait()
    process.stdout.close()
    store = local(tmp_path)
    told = [line.split() for line in lines if line.endswith("\n")]
    for warc, offset, length, digest in told:
        assert store.verify(EvidenceRef(digest, warc, int(offset), int(length), "", NOON))
    found = [entry for entry in scan(store) if isinstance(entry, IndexEntry)]
    assert len(told) <= len(found) <= len(told) + 1


_FILL = """
import resource, sys
from pricecrawl.domain.errors import StorageProblem
from pricecrawl.evidence.store import EvidenceStore
from tests.evidence.test_store import a_page
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
import random
noise, written = random.Random(1), 0
writer = EvidenceStore(sys.argv[1]).writer("kettles", 7)
try:
    while True:
        writer.write(a_page(written, body=noise.randbytes(1000)))
        written += 1
except StorageProblem as problem:
    print(written)
    print(problem)
try:
    writer.write(a_page(1, body=b"small"))
    print("small fits")
except StorageProblem:
    print("small does not fit")
writer.close()
"""


@pytest.mark.parametrize("limit", [20_000, 20_500, 21_111])
def test_a_file_that_may_not_grow_ends_with_a_whole_record(tmp_path: Path, limit: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FILL, str(tmp_path / "evidence"), str(limit)],
        capture_output=True,
        text=True,
        check=True,
    )
    written, said, small = done.stdout.splitlines()
    assert "cannot" in said
    assert said.endswith(".")
    store = local(tmp_path)
    found = list(scan(store))
    assert all(isinstance(entry, IndexEntry) for entry in found)
    assert len(found) == int(written) + (small == "small fits")


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="only root on Linux may mount a small file system"
)
def test_a_full_disk(tmp_path: Path) -> None:
    folder = tmp_path / "evidence"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "none", str(folder)], check=True)
    try:
        done = subprocess.run(
            [sys.executable, "-c", _FILL, str(folder), "100000000"],
            capture_output=True,
            text=True,
            check=True,
        )
        written, said, small = done.stdout.splitlines()
        assert "the disk is full" in said
        found = list(scan(local(tmp_path)))
        assert all(isinstance(entry, IndexEntry) for entry in found)
        assert len(found) == int(written) + (small == "small fits")
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


# --- addresses ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda path: EvidenceStore(str(path)),
        lambda path: EvidenceStore(f"file://{path}"),
    ],
)
def test_a_folder_by_path_or_url(tmp_path: Path, call: Callable[[Path], EvidenceStore]) -> None:
    store = call(tmp_path / "e")
    with store.writer("kettles", 1) as writer:
        ref = writer.write(a_page())
    assert (tmp_path / "e" / ref.warc).is_file()


def test_any_file_system_of_fsspec() -> None:
    store = EvidenceStore("memory://evidence-of-a-test")
    with store.writer("kettles", 1) as writer:
        ref = writer.write(a_page())
    assert store.read(ref).body == a_page().body
    assert list(store.names()) == [ref.warc]


def test_an_unknown_kind_of_store() -> None:
    with pytest.raises(UsageProblem, match="no file system of that kind") as error:
        EvidenceStore("nonsense://me:canary@x/y")
    assert "canary" not in str(error.value)


def test_a_store_that_does_not_answer(s3_store: EvidenceStore) -> None:
    assert isinstance(s3_store.files, ObjectFiles)
    gone = EvidenceStore("s3://no-such-bucket-here/x", options=dict(s3_store.files._fs.storage_options))
    writer = gone.writer("kettles", 1)
    writer.write(a_page())
    with pytest.raises(StorageProblem, match="the evidence store s3://no-such-bucket-here/x") as error:
        writer.sync()
    assert "canary" not in str(error.value)
    assert "\n" not in str(error.value)


def test_a_source_name_is_no_path(tmp_path: Path) -> None:
    store = local(tmp_path)
    with store.writer("../../etc/x y", 1) as writer:
        ref = writer.write(a_page())
    assert (tmp_path / "evidence" / ref.warc).resolve().is_relative_to(tmp_path / "evidence")


# --- packed beforehand -------------------------------------------------------------------------


def test_a_page_packed_beforehand_is_the_page(tmp_path: Path) -> None:
    store = local(tmp_path)
    with store.writer("kettles", 7) as writer:
        parcel = writer.pack(a_page(1))
        first = writer.write(a_page(2))
        second = writer.write(a_page(1), parcel)
    assert first.warc == second.warc
    assert (store.read(second).url, store.read(second).body) == (a_page(1).url, a_page(1).body)
    stored = [record for record in records_in(store, first.warc) if record.rec_type == "response"]
    assert len(stored) == 2, "what is packed is not yet written"


def test_a_parcel_for_another_file_or_older_robots_is_packed_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = local(tmp_path)
    with store.writer("kettles", 7) as writer:
        before_robots = writer.pack(a_page(1))
        robots = writer.write(a_page(0, url="https://kettles.example/robots.txt", kind="robots"))
        ref = writer.write(a_page(1), before_robots)
        assert store.read(ref).robots_digest == robots.digest
        for_this_file = writer.pack(a_page(2))
        monkeypatch.setattr(store_module, "FILE_BYTES", 1)
        last = writer.write(a_page(3))
        moved = writer.write(a_page(2), for_this_file)
    assert last.warc != moved.warc
    infos = [record.rec_headers.get_header("WARC-Record-ID") for record in records_in(store, moved.warc)]
    named = [record.rec_headers.get_header("WARC-Warcinfo-ID") for record in records_in(store, moved.warc)]
    assert named[1] == infos[0]
    assert store.verify(moved)


def records_in(store: EvidenceStore, name: str) -> list[Any]:
    """Every record of one file, headers only."""
    return list(ArchiveIterator(io.BytesIO(store.files.read(name))))
