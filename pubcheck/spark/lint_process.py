"""The process in which units are linted: `python -m pubcheck.spark.lint_process IN OUT SECONDS BYTES`, with two file
descriptors to talk over, and what a unit may take.

The first message it gets is the linter, pickled; it answers with an empty one. Then come units to lint, each a
``Request`` that is answered with a ``Reply``, what is to be known of files before (`survey`), and small repositories
for which both is done, each answered with an ``Answer``. It ends when there is nobody left to talk to. What a linter
prints goes to stderr. It limits its own memory, and its own time too, in case the process that waits for it is gone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter

import msgspec
from msgspec import Struct

from pubcheck.diagnostics import Diagnostic
from pubcheck.discovery.file_types import File, Plan
from pubcheck.faults import Fault, fault_of
from pubcheck.findings import Entry
from pubcheck.lint_files import lint_files
from pubcheck.rulebook import selected
from pubcheck.spark.publication_rows import WRITE_RULES, Published, published
from pubcheck.spark.unit_discovery import (
    LINTED_ALL_THE_SAME,
    DiscoveredUnit,
    Facts,
    FileInspection,
    Survey,
    after_linting,
    looked,
    surveyed,
)


class RequestFile(Struct, frozen=True, array_like=True):
    """A file: its label, and its content, or where it is, or why it cannot be read."""

    label: str
    location: bytes | None
    content: bytes | None
    problem: str | None
    view: str = "sql"


class Request(Struct, frozen=True, array_like=True, tag=True):
    """A unit: its files in order, its name, the habit by which it was found, and the majors that its files name."""

    files: tuple[RequestFile, ...]
    name: str = ""
    habit: str = "folder"
    majors: tuple[int, ...] = ()


def request_of(unit: DiscoveredUnit, contents: Mapping[bytes, bytes] = {}) -> Request:
    """To lint a unit whose files lie in folders; of some it may be known what they hold."""
    return Request(
        tuple(
            RequestFile(
                member.path or "",
                member.location,
                contents.get(member.location or b""),
                member.problem,
                member.view or "sql",
            )
            for member in unit.members
            if member.fate in LINTED_ALL_THE_SAME
        ),
        unit.unit or "",
        unit.habit or "",
        unit.majors,
    )


class Unread(Struct, frozen=True):
    """A file that was left out: ``reason`` is unreadable, not-text or not-postgresql."""

    path: str
    reason: str
    detail: str


class Failure(Struct, frozen=True):
    """Why a unit could not be linted: a reason of the table `quarantine`, for people, and a traceback."""

    reason: str
    detail: str
    trace: str | None = None


class Reply(Struct, frozen=True):
    """What came of a unit; with a failure, because of which it is quarantined, what there is all the same."""

    findings: tuple[Entry, ...]
    published: tuple[Published, ...]
    unread: tuple[Unread, ...]
    postgres: tuple[int, ...]
    statements: int
    seconds: float
    failure: Failure | None = None


class Examine(Struct, frozen=True, array_like=True, tag=True):
    """Small repositories in folders, to find the units of and to lint them as well."""

    surveys: tuple[Survey, ...]


class Examined(Struct, frozen=True, array_like=True):
    """The units of a repository, and what came of those that were linted, in their order."""

    found: tuple[DiscoveredUnit, ...]
    replies: tuple[Reply, ...]


class Answer(Struct, frozen=True):
    """What came of a survey, of a look at files, or of each repository that was examined; with a failure, nothing."""

    found: tuple[DiscoveredUnit, ...] | tuple[Facts, ...] | tuple[Examined, ...]
    failure: Failure | None = None


Asked = Request | Survey | FileInspection | Examine


class Limits(Struct, frozen=True):
    """What a unit may take: seconds, and bytes of memory beyond those of a process at rest."""

    seconds: float
    memory: int

    def patience(self, asked: Asked) -> float:
        """Seconds for an answer. A repository may have far more files than any unit: its time grows with them. What is
        examined is small, and where one of it needs longer they are all asked for one by one."""
        if isinstance(asked, Examine):
            return min(self.seconds, _SHORT)
        return self.seconds * (1 + len(asked.files) // _SOON if isinstance(asked, Survey) else 1)


_SOON = 1000
"""Files of a repository that are looked at in the time of a unit."""
_SHORT = 15.0
"""Seconds for some small repositories: a hundred times what they need."""


OUT_OF_MEMORY = 71
"""Status of a process that has too little memory even to say so."""
_GRACE = 10.0
"""Seconds after the deadline at which a process ends itself, should nobody else have ended it."""


def main() -> None:
    import faulthandler
    import gc
    import pickle
    from multiprocessing.connection import Connection

    requests, replies = Connection(int(sys.argv[1])), Connection(int(sys.argv[2]))
    os.dup2(2, 1)
    faulthandler.enable()
    gc.set_threshold(500_000)  # as the command line does, and for its reason
    linter, limits = pickle.loads(requests.recv_bytes()), Limits(float(sys.argv[3]), int(sys.argv[4]))
    refusals_known = selected(linter.config.select, linter.config.ignore, linter.config.extend_select) >= WRITE_RULES
    encode = msgspec.msgpack.Encoder().encode
    decoder: msgspec.msgpack.Decoder[Asked] = msgspec.msgpack.Decoder(Asked)

    def answer(asked: Asked) -> Reply | Answer:
        if isinstance(asked, Request):
            return lint(asked)
        if isinstance(asked, FileInspection):
            return Answer(looked(asked))
        if isinstance(asked, Survey):
            return Answer(surveyed(asked)[0])
        return Answer(tuple(map(examine, asked.surveys)))

    def examine(wanted: Survey) -> Examined:
        found, contents = surveyed(wanted)
        units, replies = [], []
        for unit in found:
            if unit.step == "lint":
                reply = lint(request_of(unit, contents))
                if reply.failure is not None and reply.failure.reason == "memory":
                    raise MemoryError  # another process is to try
                replies.append(reply)
                unit = after_linting(unit, failed=reply.failure is not None)
            units.append(unit)
        return Examined(tuple(units), tuple(replies))

    def lint(unit: Request) -> Reply:
        begun = perf_counter()
        files = tuple(
            File(os.fsdecode(file.location or b""), file.label, file.problem, file.content, file.view)
            for file in unit.files
        )
        judged = lint_files(Plan(unit.name, files, unit.habit, "", postgres=unit.majors), linter, follow=True)
        faults = list(judged.faults)
        rows: tuple[Published, ...] = ()
        followed = judged.followed
        of_reading = (*judged.diagnostics, *(followed.of_reading if followed is not None else ()))
        aside = {
            id(each.span.source): Unread(each.span.source.label, _ASIDE[each.rule], each.message)
            for each in (*judged.reading.diagnostics, *of_reading)
            if each.rule in _ASIDE
        }
        if followed is not None:
            try:
                rows = tuple(published(followed, refusals_known=refusals_known))
            except Exception as error:
                faults.append(fault_of(error))
            faults += [fault for fold in followed.folds for fault in fold.faults.faults]
        failure = _failure(faults) if faults else None
        if failure is not None and failure.reason == "memory":
            # What is found with too little memory differs from run to run.
            return Reply((), (), (), judged.postgres, 0, perf_counter() - begun, failure)
        entries = tuple(finding.entry for finding in judged.findings)
        unread = tuple(aside.values())
        failure = failure or _unfit(of_reading, unread, judged.statements, len(files))
        seconds = perf_counter() - begun
        return Reply(entries, rows, unread, judged.postgres, judged.statements, seconds, failure)

    _limit_memory(limits.memory)
    replies.send_bytes(b"")
    try:
        while True:
            try:
                request = requests.recv_bytes()
            except EOFError:
                return
            try:
                asked = decoder.decode(request)
                with _alarm(limits.patience(asked) + _GRACE):
                    reply = encode(answer(asked))
            except Exception as error:  # beside the linter: too little memory, a text that is no Unicode
                reply = encode(Reply((), (), (), (), 0, 0.0, _failure([fault_of(error)])))
            replies.send_bytes(reply)
    except MemoryError:  # not even enough to be told what to do, or to tell
        os._exit(OUT_OF_MEMORY)


_ASIDE = {"PUB001": "unreadable", "PUB002": "not-text", "PUB008": "not-postgresql"}
"""Rules that tell of a file which was left out, with the reason in the table `quarantine`."""


def _unfit(found: Iterable[Diagnostic], unread: Sequence[Unread], statements: int, files: int) -> Failure | None:
    """Why a unit that was linted is quarantined all the same, if it is."""
    if len(unread) == files:
        return Failure(unread[0].reason, f"none of its files could be linted; of the first: {unread[0].detail}")
    refused = {
        (each.span.source.label, each.statement.index)
        for each in found
        if each.statement is not None and each.rule in ("PUB004", "PUB005")
    }
    if 2 * len(refused) > statements:
        return Failure("not-postgresql", f"{len(refused)} of {statements} statements are not PostgreSQL")
    return None


TOO_LITTLE_MEMORY = "the unit needs more memory than it may take (--unit-memory)"


def _failure(faults: Sequence[Fault]) -> Failure:
    """Why a unit is quarantined that pubcheck failed at; what else was found in it is kept."""
    if any(fault.memory for fault in faults):
        return Failure("memory", TOO_LITTLE_MEMORY)
    return Failure("internal-error", faults[0].text, faults[0].trace)


def _limit_memory(size: int) -> None:
    """Limits the address space, where the system can, to ``size`` bytes beyond what is taken now."""
    try:
        import resource

        with open("/proc/self/statm") as status:
            taken = int(status.read().split()[0]) * resource.getpagesize()
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        wanted = taken + size
        resource.setrlimit(resource.RLIMIT_AS, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most))
    except (ImportError, OSError):  # not Linux: the deadline remains
        pass


class _alarm:
    """Ends the process when what is inside takes too long, even where no Python code runs any more."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        import signal

        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def __exit__(self, *error: object) -> None:
        import signal

        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    main()
