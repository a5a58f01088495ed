"""`pricecrawl evidence`: check what is stored, and rebuild its index from the files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from pricecrawl.cli.options import AsJson

if TYPE_CHECKING:
    from pricecrawl.evidence.index import IndexEntry


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(no_args_is_help=True, help="Stored pages: verify them, rebuild their index.")
    group.command("verify")(verify)
    group.command("reindex")(reindex)
    app.add_typer(group, name="evidence")


def verify(
    source: Annotated[str | None, typer.Option("--source", help="Only this source's.")] = None,
    as_json: AsJson = False,
) -> None:
    """Read every indexed record back and compare it with its digest; no shop is asked.

    Exit code 4 if any is missing or damaged.
    """
    from pricecrawl.cli.output import err, out, print_json
    from pricecrawl.cli.session import database
    from pricecrawl.config import Config
    from pricecrawl.db.evidence_index import EvidenceIndex
    from pricecrawl.domain.errors import ProblemsFound
    from pricecrawl.evidence.store import EvidenceStore

    config = Config.load()
    store = EvidenceStore(config.evidence_url)
    checked, bad = 0, []
    with database(config) as engine, err.status("verifying evidence") as status:
        for page in EvidenceIndex(engine).pages(source=source):
            checked += 1
            if not store.verify(page.ref):
                bad.append(page)
            if checked % 500 == 0:
                status.update(f"verifying evidence: {checked:,} records, {len(bad)} bad")
    if as_json:
        print_json({"checked": checked, "bad": bad})
    else:
        for page in bad:
            out.print(
                f"missing or damaged: {page.ref.warc} at byte {page.ref.offset} ({page.ref.url})",
                style="red",
                markup=False,
                soft_wrap=True,
            )
        out.print(f"{checked:,} records checked, {len(bad)} missing or damaged")
    if bad:
        raise ProblemsFound(f"{len(bad)} of {checked} evidence records are missing or damaged")


def reindex(
    dry_run: Annotated[bool, typer.Option("--check", help="Only say what is missing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Read all evidence files and index the records that the database does not know.

    Exit code 4 if a file has damaged places; a file cut off at its end by a crash is only mentioned.
    """
    from pricecrawl.cli.output import err, out, print_json
    from pricecrawl.cli.session import database
    from pricecrawl.config import Config
    from pricecrawl.db.evidence_index import EvidenceIndex
    from pricecrawl.domain.errors import ProblemsFound
    from pricecrawl.evidence.index import Damage, scan
    from pricecrawl.evidence.store import EvidenceStore

    config = Config.load()
    damage: list[Damage] = []
    found = 0

    def whole() -> Iterator[IndexEntry]:
        nonlocal found
        for entry in scan(EvidenceStore(config.evidence_url)):
            if isinstance(entry, Damage):
                damage.append(entry)
            else:
                found += 1
                yield entry

    with database(config) as engine, err.status("reading evidence files"):
        added = EvidenceIndex(engine).add_missing(whole(), write=not dry_run)
    if as_json:
        print_json({"found": found, "added": added, "damage": damage})
    else:
        for place in damage:
            out.print(
                f"{place.warc} at byte {place.offset}: {place.problem}",
                style="yellow" if place.last else "red",
                markup=False,
                soft_wrap=True,
            )
        verb = "are not indexed" if dry_run else "were added to the index"
        out.print(f"{found:,} records in the files, {added:,} of them {verb}")
    inside = [place for place in damage if not place.last]
    if inside:
        raise ProblemsFound(f"{len(inside)} places in the evidence files are damaged")
