"""The process in which units are linted: `python -m pubcheck.spark.lint_process IN OUT SECONDS BYTES`, with two file
descriptors for messages, and the limits of a unit.

The first message that it gets is the linter, pickled; it answers with an empty one. Each message after that is a
request, which it answers with an ``Answer``, until the other end is closed. Output that a linter prints goes to stderr.
The process limits its own memory, and its own time too, in case the process that waits for it is gone.

What `pubcheck explain` shows is answered as rows: one for each publication, table and operation. A publication that
publishes nothing also has one row, so that every publication is counted.
"""

from __future__ import annotations

import faulthandler
import gc
import os
import pickle
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Generic, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from pubcheck.diagnostics import SEVERITIES, Diagnostic
from pubcheck.discovery.file_types import DiscoveredUnit
from pubcheck.engine.linter import Followed, Linter
from pubcheck.explain.build import publications_of
from pubcheck.explain.document import Identity, Publication, Refused
from pubcheck.explain.filters_compared import Samples
from pubcheck.faults import Fault, fault_of
from pubcheck.fingerprints import fingerprints
from pubcheck.lint_files import LintedUnit, lint_files
from pubcheck.rulebook import RULES, selected
from pubcheck.spark.unit_discovery import Facts, FileInspection, Largest, RepositoryFiles, discover, inspect_files
from pubcheck.spark.unit_row import FindingRow, Quarantined, UnitRow, packed

WRITE_RULES = frozenset(code for code, rule in RULES.items() if rule.phase == "write" and rule.default)
"""The rules without which it is not known whether an operation is refused."""


class Published(Struct, frozen=True, array_like=True, kw_only=True):
    """A row of the table `publications`: its columns (`schema.PUBLISHED`), in their order."""

    publication: str
    table: str | None
    operation: str | None
    postgres: tuple[int, ...]
    verdict: str | None
    certainty: str
    how: str | None = None
    named: str | None = None
    arrives_as: str | None = None
    filter: str | None = None
    canonical_filter: str | None = None
    filter_columns: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None
    left_out: tuple[str, ...] = ()
    identity: str | None = None
    identity_columns: tuple[str, ...] = ()
    rule: str | None = None
    sqlstate: str | None = None
    message: str | None = None
    path: str | None = None
    line: int | None = None
    names: str
    publish: tuple[str, ...]
    via_root: bool
    generated_columns: str


def published(followed: Followed, *, refusals_known: bool) -> list[Published]:
    """Return the rows of a unit; those that are alike in several majors are one."""
    majors: dict[Published, tuple[int, ...]] = {}
    for major, replay in zip(followed.result.postgres, followed.replays, strict=True):
        diagnostics = [finding for finding in followed.findings if major in finding.postgres]
        publications, identities = publications_of(replay, followed.statements, diagnostics, lambda *_: Samples())
        rows: list[Published] = []
        for publication in publications:
            base = _base(publication, major)
            rows += list(_rows(publication, identities, base, refusals_known)) or [base]
        if len(followed.replays) == 1:
            return rows
        for row in rows:
            alike = replace(row, postgres=())
            majors[alike] = (*majors.get(alike, ()), major)
    return [replace(row, postgres=numbers) for row, numbers in majors.items()]


def _base(publication: Publication, major: int) -> Published:
    """Return the fields that all rows of a publication share; the only row of one that publishes nothing."""
    return Published(
        publication=publication.name,
        table=None,
        operation=None,
        postgres=(major,),
        verdict="empty",
        certainty=publication.certainty,
        names=publication.kind,
        publish=publication.operations,
        via_root=publication.via_root,
        generated_columns=publication.generated_columns,
        path=publication.path,
        line=publication.line,
    )


def _rows(
    publication: Publication, identities: Mapping[str, Identity], base: Published, refusals_known: bool
) -> Iterator[Published]:
    for answer in publication.answers:
        refused: dict[str, Refused] = {}
        for cause in sorted(answer.refused, key=lambda cause: publication.name not in cause.publications):
            refused.setdefault(cause.operation, cause)
        condition = answer.filter
        for operation in answer.operations:
            if operation == "truncate" and not answer.truncate:
                continue
            refusal = refused.get(operation)
            may_be_refused = operation in ("update", "delete")
            if refusal is not None:
                verdict = "refused"
            elif may_be_refused and not refusals_known:
                verdict = None
            else:
                verdict = "filtered" if condition is not None and operation != "truncate" else "sent"
            row = replace(
                base,
                operation=operation,
                verdict=verdict,
                certainty=refusal.certainty if refusal is not None else answer.certainty,
                how=answer.how,
                named=answer.named,
                arrives_as=answer.arrives_as,
                filter=condition.sql if condition is not None else None,
                canonical_filter=condition.canonical if condition is not None else None,
                filter_columns=condition.columns if condition is not None else (),
                columns=answer.columns,
                left_out=answer.left_out,
                identity=answer.identity.kind,
                rule=refusal.rule if refusal is not None else None,
                sqlstate=refusal.sqlstate if refusal is not None else None,
                message=refusal.message if refusal is not None else None,
            )
            for table in answer.tables:
                yield replace(row, table=table, identity_columns=identities[table].columns)
    for left in publication.not_sent:
        for table in left.tables:
            yield replace(base, table=table, verdict="not-sent", message=left.reason)


RowT = TypeVar("RowT")


class Examine(Struct, frozen=True, array_like=True, tag=True):
    """Find the units of repositories in folders or tables. ``lint``: the repositories are small, and their units are
    linted as well. ``rules`` is a fingerprint of everything except the files that findings depend on; ``top`` is the
    beginning of labels that fingerprints of findings leave out."""

    repositories: tuple[RepositoryFiles, ...]
    largest: Largest
    rules: str
    top: str
    lint: bool


class LintUnit(Struct, frozen=True, array_like=True, tag=True):
    """Lint a unit; ``contents`` are those of its members where they come from a table, empty for files in folders."""

    unit: UnitRow
    top: str
    contents: tuple[bytes | None, ...] = ()


Request = Examine | LintUnit | FileInspection


class Answer(Struct, Generic[RowT], frozen=True):
    """The units that were examined or linted, or the facts of files.

    With a ``failure`` the request itself failed. One for lack of memory may still have a row.
    """

    rows: tuple[RowT, ...] = ()
    facts: tuple[Facts, ...] = ()
    failure: Quarantined | None = None


class Limits(Struct, frozen=True):
    """The limits of a unit: seconds, and bytes of memory beyond those of a process at rest."""

    seconds: float
    memory: int

    def patience(self, request: Request) -> float:
        """Seconds for an answer. A repository may have far more files than any unit: its time grows with them.
        Repositories that are linted together are small; if they need longer, they are examined one by one."""
        if not isinstance(request, Examine):
            return self.seconds
        if request.lint:
            return min(self.seconds, _SHORT)
        files = sum(len(repository.files) for repository in request.repositories)
        return self.seconds * (1 + files // _SOON)


_SOON = 1000
"""Files of a repository that are looked at in the time of a unit."""
_SHORT = 15.0
"""Seconds for some small repositories: a hundred times what they need."""


OUT_OF_MEMORY = 71
"""Status of a process that has too little memory even to say so."""
_GRACE = 10.0
"""The number of seconds after the deadline at which a process ends itself if its parent has not ended it."""


def main() -> None:
    requests, replies = Connection(int(sys.argv[1])), Connection(int(sys.argv[2]))
    os.dup2(2, 1)
    faulthandler.enable()
    gc.set_threshold(500_000)  # as the command line does, and for its reason
    linter, limits = pickle.loads(requests.recv_bytes()), Limits(float(sys.argv[3]), int(sys.argv[4]))
    encode = msgspec.msgpack.Encoder().encode
    decoder: msgspec.msgpack.Decoder[Request] = msgspec.msgpack.Decoder(Request)
    _limit_memory(limits.memory)
    replies.send_bytes(b"")
    try:
        while True:
            try:
                message = requests.recv_bytes()
            except EOFError:
                return
            try:
                request = decoder.decode(message)
                with _alarm(limits.patience(request) + _GRACE):
                    answer = encode(_answer(request, linter))
            except Exception as error:  # outside of the linter: too little memory, a text that is not a Unicode
                answer = encode(Answer[UnitRow](failure=_failure([fault_of(error)])))
            replies.send_bytes(answer)
    except MemoryError:  # not even enough to receive the work, or to report
        os._exit(OUT_OF_MEMORY)


def _answer(request: Request, linter: Linter) -> Answer[UnitRow]:
    if isinstance(request, FileInspection):
        return Answer(facts=inspect_files(request))
    if isinstance(request, LintUnit):
        row = lint_unit(request.unit, request.contents, linter, request.top)
        lacking = row.failed == "memory"
        return Answer((row,), failure=row.quarantine[-1] if lacking else None)
    rows: list[UnitRow] = []
    for repository in request.repositories:
        units, contents = discover(repository, request.largest, request.rules)
        for row in units:
            if request.lint and row.step == "lint":
                known = [contents.get(member.location or b"") for member in row.members]
                row = lint_unit(row, known, linter, request.top)
                if row.failed == "memory":
                    raise MemoryError  # another process is to try
            rows.append(row)
    return Answer(tuple(rows))


def lint_unit(row: UnitRow, contents: Sequence[bytes | None], linter: Linter, top: str) -> UnitRow:
    """Return the row of a unit with the result of linting it."""
    begun = perf_counter()
    unit = row.discovered(contents or [None] * len(row.members))
    linted = lint_files(unit, linter, follow=True)
    faults, publications = list(linted.faults), []
    if linted.followed is not None:
        config = linter.config
        refusals_known = selected(config.select, config.ignore, config.extend_select) >= WRITE_RULES
        try:
            rows = published(linted.followed, refusals_known=refusals_known)
            publications = [row for row in rows if row.path not in unit.context]
        except Exception as error:
            faults.append(fault_of(error))
        faults += [fault for replay in linted.followed.replays for fault in replay.faults.faults]
    failure = _failure(faults) if faults else None
    if failure is not None and failure.reason == "memory":
        # The findings of a process with too little memory differ from run to run.
        return replace(row.quarantined(failure), postgres=linted.postgres, seconds=perf_counter() - begun)
    unread, refusal = _unread(linted, unit)
    failure = failure or refusal
    entries = [finding.entry for finding in linted.findings]
    names = fingerprints(entries, row.repository, top)
    owners = {member.path: member.owners for member in row.members if member.owners}
    findings = [
        FindingRow(**asdict(entry), fingerprint=name, owners=owners.get(entry.path, ()))
        for entry, name in zip(entries, names, strict=True)
    ]
    severities = [entry.severity for entry in entries]
    return replace(
        row if failure is not None else row.without_members(),
        step="linted",
        findings=packed(findings),
        **{f"{severity}s": severities.count(severity) for severity in SEVERITIES},
        published=packed(publications),
        quarantine=(*unread, failure) if failure is not None else unread,
        unread=len(unread),
        postgres=linted.postgres,
        statements=linted.statements,
        seconds=perf_counter() - begun,
        failed=failure.reason if failure is not None else None,
    )


_SET_ASIDE = {"PUB001": "unreadable", "PUB002": "not-text", "PUB008": "not-postgresql"}
"""Rules about a file that was left out, with the reason in the table `quarantine`."""


def _unread(linted: LintedUnit, unit: DiscoveredUnit) -> tuple[tuple[Quarantined, ...], Quarantined | None]:
    """Return the files of a unit, without its context, that were left out, and why the unit is quarantined because of
    the way it was read, if it is."""
    context = unit.context
    read = (*linted.diagnostics, *(linted.followed.reading_notes if linted.followed is not None else ()))
    of_reading = [diagnostic for diagnostic in read if diagnostic.span.source.label not in context]
    by_source = {
        id(diagnostic.span.source): Quarantined(
            _SET_ASIDE[diagnostic.rule], diagnostic.message, path=diagnostic.span.source.label
        )
        for diagnostic in (*linted.reading.diagnostics, *of_reading)
        if diagnostic.rule in _SET_ASIDE and diagnostic.span.source.label not in context
    }
    unread = tuple(by_source.values())
    if len(unread) == sum(not file.context for file in unit.files):
        first = unread[0]
        return unread, Quarantined(first.reason, f"none of its files could be linted; of the first: {first.detail}")
    return unread, _not_postgresql(of_reading, linted.statements)


def _not_postgresql(diagnostics: Iterable[Diagnostic], statements: int) -> Quarantined | None:
    """Return the reason to quarantine a unit if most of its statements cannot be read."""
    refused = {
        (diagnostic.span.source.label, diagnostic.statement.index)
        for diagnostic in diagnostics
        if diagnostic.statement is not None and diagnostic.name in ("statement-not-parsed", "text-skipped")
    }
    if 2 * len(refused) <= statements:
        return None
    return Quarantined("not-postgresql", f"{len(refused)} of {statements} statements are not PostgreSQL")


TOO_LITTLE_MEMORY = "the unit needs more memory than --unit-memory allows"


def _failure(faults: Sequence[Fault]) -> Quarantined:
    """Return the reason to quarantine a unit in which pubcheck itself failed; its other findings are kept."""
    if any(fault.memory for fault in faults):
        return Quarantined("memory", TOO_LITTLE_MEMORY)
    return Quarantined("internal-error", faults[0].text, faults[0].trace)


def _limit_memory(size: int) -> None:
    """Limit the address space, where the system can, to ``size`` bytes beyond what is taken now."""
    try:
        import resource

        with open("/proc/self/statm") as status:
            used = int(status.read().split()[0]) * resource.getpagesize()
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        limit = used + size
        resource.setrlimit(resource.RLIMIT_AS, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))
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
