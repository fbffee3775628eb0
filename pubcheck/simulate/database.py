"""A PostgreSQL server in memory: one database of one major, its sessions, and the log that decoding reads."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct, field

from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.ddl.settings import VALUES
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.input.datetime_fields import Fault
from pubcheck.postgres.input.zones import named
from pubcheck.postgres.newer_grammar import parse_with
from pubcheck.postgres.parse import Node, SyntaxRefused
from pubcheck.postgres.tokens import quote_identifier
from pubcheck.postgres.versions import Major
from pubcheck.simulate import transaction_blocks
from pubcheck.simulate.backend import NOTHING, Backend, Result
from pubcheck.simulate.decoding.pgoutput_options import asks_for_two_phase, newest_version
from pubcheck.simulate.decoding.slot import PluginFactory, Reader, Row, Slot, work_mem
from pubcheck.simulate.executor import run_statement
from pubcheck.simulate.executor.foreign_keys import Action
from pubcheck.simulate.executor.row_operations import act
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.simulate.script import Step, statements
from pubcheck.simulate.server_state import SECOND, ServerState


def refuse_newer_merge(major: Major, name: str, node: Node) -> None:
    """Raise ServerError 42601 for what MERGE has since 17, in a statement or in its WITH queries."""
    if major.merge_returning:
        return
    for merge in _merges(name, node):
        kinds = {clause["MergeWhenClause"].get("matchKind", "") for clause in merge["mergeWhenClauses"]}
        if "MERGE_WHEN_NOT_MATCHED_BY_SOURCE" in kinds:
            raise ServerError("42601", 'syntax error at or near "BY"')
        if "returningClause" in merge:
            raise ServerError("42601", 'syntax error at or near "RETURNING"')


def _merges(name: str, node: Node) -> Iterator[Node]:
    if name == "MergeStmt":
        yield node
    for item in node.get("withClause", {}).get("ctes", ()):
        for kind, body in item["CommonTableExpr"]["ctequery"].items():
            yield from _merges(kind, body)


__all__ = ["NOTHING", "Result", "ServerSession"]


class ServerSession(Backend):
    """A connection. Made by ``Database.session``."""

    def run(self, sql: str) -> Result:
        """Run one statement. Raises ServerError where the server refuses it, NotFollowed where that is not known."""
        return self._run(sql, None)

    def copy(self, sql: str, data: str) -> Result:
        """COPY ... FROM STDIN with its data."""
        return self._run(sql, data)

    def _run(self, sql: str, data: str | None) -> Result:
        self.database.activate(self)
        self.text, self.steps = sql, 0
        try:
            return self._execute(sql, data)
        except SyntaxRefused as refused:
            failure: Exception = ServerError(refused.sqlstate, refused.message, location=refused.location)
        except RecursionError:
            failure = NotFollowed("triggers, functions or expressions that are nested too deeply")
        except Unknowable as unknown:
            failure = NotFollowed(unknown.reason, unknown.location)
        except (ServerError, NotFollowed) as error:
            failure = error
        if isinstance(failure, NotFollowed):
            failure.statement = failure.statement or sql
        self.end_failed()
        raise failure from None

    def _execute(self, sql: str, data: str | None) -> Result:
        parsed = parse_with(self.database.catalog.major.newer_grammar, sql)
        if parsed is None:
            return NOTHING
        name, node = parsed
        refuse_newer_merge(self.database.catalog.major, name, node)
        if name == "TransactionStmt":
            return transaction_blocks.run(self, node)
        self.refuse_failed()
        implicit = self.transaction is None
        if implicit:
            self.begin(implicit=True)
        result = self.run_parsed(name, node, sql, data)
        if implicit and self.transaction is not None and self.transaction.implicit:
            self.commit()
        return result

    def run_parsed(self, name: str, node: Node, sql: str, data: str | None = None) -> Result:
        """Run a statement in the current transaction, with the triggers that it queues."""
        self.catalog_session.begin_statement(0, 0, sql)
        outer, self.running = self.running, self.snapshot()
        try:
            result = run_statement(self, name, node, data)
        finally:
            self.running = outer
        self.increment_command()
        return result

    def run_event(self, event: Any) -> None:
        """Run a queued trigger, or a check or an action of a foreign key."""
        if isinstance(event, Action):
            act(self, event)
        else:
            event()


class Database(ServerState):
    """A database of one major. ``setup`` is run first, in session "a"; a refused statement raises ServerError.

    ``log`` has the records in their order, ``listeners`` are called with each as it is appended. ``clock`` gives the
    time in microseconds since 2000-01-01; without one, commits have made-up times, and statements that ask for the
    time cannot be followed. ``seed`` makes up the values of random() and gen_random_uuid(); without one, statements
    that ask for them cannot be followed.
    """

    def __init__(
        self,
        major: int,
        setup: str | Sequence[str] = "",
        *,
        clock: Callable[[], int] | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(major, clock, seed)
        for text in statements(setup):
            self.session("a").run(text)

    def session(self, name: str = "a") -> ServerSession:
        """The session of that name, which is connected when it is first asked for."""
        if name not in self.sessions:
            self.sessions[name] = ServerSession(self, name)
        session: ServerSession = self.sessions[name]
        return session

    def disconnect(self) -> None:
        """End all sessions, rolling back their open transactions: further statements come from new ones."""
        for session in list(self.sessions.values()):
            if session.transaction is not None:
                session.run("ROLLBACK")
            self.close(session)

    def run(self, step: Step) -> None:
        """Run a statement of a script in its session. Raises ServerError and NotFollowed."""
        session = self.session(step.session)
        if step.data is None:
            session.run(step.sql)
        else:
            session.copy(step.sql, step.data)

    def slot(self, plugin: str | PluginFactory, *, two_phase: bool = False) -> Slot:
        """Create a replication slot at the current end of the log, for pgoutput, test_decoding or a plugin's class."""
        return Slot(self, plugin, two_phase=two_phase)


_LONG_LOG = 10_000
"""Records after which the log is read and dropped."""


class Rows(Protocol):
    """What takes the rows of a slot."""

    def extend(self, rows: Iterable[Row], /) -> None: ...

    def __iter__(self) -> Iterator[Row]: ...


class Request(Struct, frozen=True):
    """What to run and how to read it.

    ``publications`` are names; without any, all that the schema creates. ``options`` are the plugin's, ``settings``
    those of the session that reads. ``live``: a walsender reads while the script runs. ``in_parts``: the slot is also
    read whenever the log is long, and the log is dropped, so that memory does not grow with the script. ``clock`` is
    the time at which the script begins, in microseconds since 2000; without it times are made up, and statements that
    ask for it are not followed. ``seed`` makes up the values of random() and gen_random_uuid(), which are not followed
    without it.
    """

    schema: Sequence[Step]
    script: Iterable[Step]
    publications: tuple[str, ...]
    plugin: str = "pgoutput"
    options: Mapping[str, str] = {}
    settings: Mapping[str, str] = {}
    live: bool = False
    in_parts: bool = False
    clock: int | None = None
    seed: int | None = None


class Run(Struct):
    """A request that was run. ``rows`` are those that the slot gave.

    ``notices`` are what psql would show: errors of statements, and of decoding. ``refusals`` are the statements of the
    script that were refused, ``error`` the error at which decoding stopped. ``stopped``: a script ended at an error
    (ON_ERROR_STOP). ``ends`` has the end of the log after each statement of the script, ``lines`` the
    lines of the statements, ``versions`` the catalogs before it and after each of its definitions. ``streaming`` is
    pgoutput's option.
    """

    major: int
    plugin: str
    streaming: Literal["off", "on", "parallel"]
    rows: Rows = field(default_factory=list[Row])
    notices: list[str] = field(default_factory=list)
    refusals: list[tuple[Step, ServerError]] = field(default_factory=list)
    error: ServerError | None = None
    stopped: bool = False
    ends: array[int] = field(default_factory=lambda: array("Q"))
    lines: array[int] = field(default_factory=lambda: array("Q"))
    versions: dict[int, Catalog] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        return self.stopped or self.error is not None


def run(request: Request, major: int, rows: Rows | None = None) -> Run:
    """Run a request on one major. ``rows`` takes the rows of the slot, instead of a list. Raises NotFollowed."""
    clock = None if request.clock is None else _Clock(request.clock)
    database = Database(major, clock=clock, seed=request.seed)
    options = dict(request.options)
    result = Run(major, request.plugin, _streaming(options), [] if rows is None else rows)
    for step in request.schema:
        _run_step(database, step, result)
        if result.stopped:
            break
    database.disconnect()
    _note_version(database, result)
    if result.stopped:
        return result
    if request.plugin == "pgoutput":
        options.setdefault("proto_version", str(newest_version(database.catalog.major)))
        names = request.publications or [row.name for row in database.catalog.publications.values()]
        if not names and "publication_names" not in options:
            result.notices.append("WARNING: the schema creates no publication")
        options.setdefault("publication_names", ",".join(quote_identifier(name, major) for name in names))
    if clock is not None:
        clock.start()
    _decoded(database, request, options, result)
    return result


class _Clock:
    """A clock that moves on by a second each time it is read."""

    def __init__(self, first: int) -> None:
        self._first = first
        self.start()

    def start(self) -> None:
        self._next = self._first

    def __call__(self) -> int:
        time, self._next = self._next, self._next + SECOND
        return time


def _decoded(database: Database, request: Request, options: Mapping[str, str], result: Run) -> None:
    """Run the script, and read the slot meanwhile or afterwards."""
    reading: _Reading | None = None
    try:
        slot = database.slot(request.plugin, two_phase=asks_for_two_phase(options))
        reading = _Reading(slot, request, options, result)
        if request.live:
            reading.start()
        _run_script(database, request.script, result, reading)
        if not request.live:
            reading.read()
            reading.end()
    except ServerError as error:
        result.error = error
    if reading is not None:
        reading.finish()
    if result.error is not None:
        result.notices += _lines(result.error)


class _Reading:
    """What reads a slot while a script runs, or afterwards."""

    def __init__(self, slot: Slot, request: Request, options: Mapping[str, str], result: Run) -> None:
        self._slot, self._request, self._options, self._result = slot, request, options, result
        self._reader: Reader | None = None

    def start(self) -> Reader:
        if self._reader is None:
            self._reader = self._slot.start(self._request.settings, **self._options)
        return self._reader

    def after_statement(self) -> None:
        if self._request.live:
            self.read()
        elif self._request.in_parts and len(self._slot.server.log.records) > _LONG_LOG:
            self.read()
            self.start().forget_log()

    def read(self) -> None:
        self._result.rows.extend(row[:3] for row in self.start().receive())

    def end(self) -> None:
        self.start().end()

    def finish(self) -> None:
        """Take what was written before an error, and the notices."""
        if self._reader is not None:
            if self._request.live:
                self._result.rows.extend(row[:3] for row in self._reader.sent())
            self._result.notices += self._reader.notices


def _streaming(options: Mapping[str, str]) -> Literal["off", "on", "parallel"]:
    value = options.get("streaming", "off").lower()
    if value == "parallel":
        return "parallel"
    return "on" if value in ("on", "true") else "off"


def _run_script(database: Database, script: Iterable[Step], result: Run, reading: _Reading) -> None:
    """Run the script up to its end, or to the error that stops it."""
    for step in script:
        error = _run_step(database, step, result)
        if error is not None:
            result.refusals.append((step, error))
        result.ends.append(database.position)
        result.lines.append(step.line)
        _note_version(database, result)
        reading.after_statement()
        if result.stopped:
            return


def _run_step(database: Database, step: Step, result: Run) -> ServerError | None:
    """Run a statement, and return its error. psql disconnects at one that stops a script, which ends transactions."""
    place = f"{step.label}:{step.line}"
    try:
        database.run(step)
    except ServerError as error:
        result.notices += _lines(error, f"{place}: ")
        if step.stops:
            result.stopped = True
            database.disconnect()
        return error
    except NotFollowed as reason:
        reason.place = place
        raise
    return None


def _note_version(database: Database, result: Run) -> None:
    version = database.version()
    result.versions.setdefault(version.number, version.catalog)


def _lines(error: ServerError, place: str = "") -> list[str]:
    lines = [f"{place}ERROR:  {error.message}"]
    lines += [f"DETAIL:  {error.detail}"] if error.detail else []
    return lines + ([f"HINT:  {error.hint}"] if error.hint else [])


_OTHERS = ("client_encoding", "search_path")


def refuse_settings(settings: Mapping[str, str], major: int) -> None:
    """Raise ServerError for a value that a server refuses, and NotFollowed for a setting that changes no stream."""
    for name, value in settings.items():
        _refuse(name.lower(), value, major)


def _refuse(name: str, value: str, major: int) -> None:
    if name == "logical_decoding_work_mem":
        work_mem(value)
    elif name == "debug_logical_replication_streaming":
        if value.lower() not in ("buffered", "immediate"):
            raise _invalid(name, value)
    elif name == "timezone":
        if not value[:1].isalpha():
            return  # a number of hours, or a rule of POSIX
        try:
            named(Database(major).session().inputs, value.lower())
        except Fault:
            raise _invalid("TimeZone", value) from None
    elif name in VALUES:
        quoted = value.replace("'", "''")
        Database(major).session().run(f"SET {name} = '{quoted}'")
    elif name not in _OTHERS:
        raise NotFollowed(f"the setting {name} changes nothing in a stream")


def _invalid(name: str, value: str) -> ServerError:
    return ServerError("22023", f'invalid value for parameter "{name}": "{value}"')
