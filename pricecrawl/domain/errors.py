"""Errors that a person sees: one sentence that names the place and the way out, and an exit code."""

from __future__ import annotations

import errno

from pricecrawl.domain.run import EXIT_FAILED, EXIT_PROBLEMS, EXIT_REFUSED, EXIT_USAGE


class PricecrawlError(Exception):
    """Base of every error meant for a person; its text is shown as it is, without a traceback."""

    exit_code = EXIT_FAILED


class UsageProblem(PricecrawlError):
    """The caller named something that does not exist or gave an impossible argument."""

    exit_code = EXIT_USAGE


class Settled(UsageProblem):
    """What the caller wants to decide was decided already."""


class Refused(PricecrawlError):
    """A shop refused us, or our own policy forbids the request."""

    exit_code = EXIT_REFUSED


class ProblemsFound(PricecrawlError):
    """A check ran to its end and found problems, which have already been printed."""

    exit_code = EXIT_PROBLEMS


class StorageProblem(PricecrawlError):
    """The database or the evidence store cannot be used: full, damaged, unreachable, too new."""


class StorageBusy(StorageProblem):
    """Another program holds the database longer than we wait; the same call may work later."""


class SourceBusy(PricecrawlError):
    """A run of this source, or of another source on the same host, is still going on."""


def disk_problem(error: OSError, place: str) -> StorageProblem | None:
    """The sentence for a disk that takes no more or does not let us; None for anything else."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return StorageProblem(
            f"{place} cannot grow: the disk is full. Free some space and run the command again; "
            "what was written before is safe."
        )
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return StorageProblem(f"{place} cannot be written by this user. Correct its permissions.")
    return None
