"""Answers about units, from a process of its own that keeps the state before the file that is being edited.

Each answer is found by a copy of that process (``os.fork``), which replays the rest of the unit and ends. Windows
has no fork; there the process lints the whole unit itself.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Literal

from msgspec import Struct

from pubcheck.checks import registry
from pubcheck.config import Config
from pubcheck.discovery.file_types import DiscoveredUnit, File
from pubcheck.engine.connections import may_include
from pubcheck.engine.linter import Followed, Linter, followed_to_the_end
from pubcheck.engine.unit import Unit, major_of_dump
from pubcheck.engine.unit_run import Run
from pubcheck.faults import failure_text, fault_of
from pubcheck.findings import EditEntry, Entry, Finding
from pubcheck.lint_files import read_files
from pubcheck.server.analysis import Analysis, HoverText, Located
from pubcheck.server.words import Completion
from pubcheck.source import Source


class WarmLinter(Linter):
    """``prepare`` replays a unit up to the source that is edited, ``follow`` goes on from there if it still can.

    A state is not undone, so ``follow`` uses it up: it is meant for a copy of the process.
    """

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self._run: Run | None = None
        self._replayed = 0
        """The number of sources that are replayed."""

    def prepare(self, unit: Unit, opened: int) -> None:
        """Replay the sources before the first one that differs from the last time; at first, before ``opened``."""
        if not _can_be_continued(unit):
            self._run = None
            return
        run = self._run
        if run is None or not _alike(run.unit, unit):
            run, self._replayed, edited = Run(self.config, unit), 0, opened
        else:
            edited = _equal(run.unit.sources, unit.sources)
            if edited >= max(len(unit.sources), len(run.unit.sources)):
                return  # nothing changed
            if edited < self._replayed:
                run, self._replayed = Run(self.config, unit), 0
            else:
                run.continue_with(unit, self._replayed)
        run.replay(self._replayed, edited)
        self._run, self._replayed = run, edited

    def follow(self, unit: Unit) -> Followed:
        run, self._run = self._run, None
        if run is None or not _can_be_continued(unit) or not _alike(run.unit, unit):
            return super().follow(unit)
        if _equal(run.unit.sources, unit.sources) < self._replayed:
            return super().follow(unit)
        run.continue_with(unit, self._replayed)
        run.replay(self._replayed)
        return followed_to_the_end(run)


def _can_be_continued(unit: Unit) -> bool:
    """Return whether the sources of a unit run one after the other and nothing about it is found in all together."""
    plain = all(source.view is None and source.listing is None and not may_include(source) for source in unit.sources)
    return plain and not unit.reading_notes and not major_of_dump(unit.sources)[0]


def _alike(before: Unit, after: Unit) -> bool:
    """Return whether two units are linted alike except for their sources."""
    return (
        (before.postgres, before.convention, before.loose, before.context)
        == (after.postgres, after.convention, after.loose, after.context)
        and before.speaks_of_replication() == after.speaks_of_replication()
        and [source.label for source in before.sources] == [source.label for source in after.sources]
    )


def _equal(before: tuple[Source, ...], after: tuple[Source, ...]) -> int:
    """Return how many sources at the beginning have the same texts."""
    for number, (source, other) in enumerate(zip(before, after, strict=False)):
        if source.text != other.text:
            return number
    return min(len(before), len(after))


_CAN_FORK = hasattr(os, "fork")


Method = Literal["findings", "hover", "definition", "references", "complete", "ignoring"]
"""A method of ``Analysis`` that answers a question."""


class Question(Struct, frozen=True):
    """A unit, and the function that answers when it is called with it, a linter and ``arguments``."""

    number: int
    unit: DiscoveredUnit
    config: Config
    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()


_DEATH = "the process that lints died, perhaps for lack of memory"


class Failed(Exception):
    """pubcheck failed to answer; the message says why."""


class Cancellation(Struct, frozen=True):
    """The number of a question to which nobody needs the answer any more."""

    number: int


class Cancelled(Exception):
    """A question was cancelled."""


class Analyst:
    """Lints units and answers questions about them, one after the other. Its process is started with the first
    question, and again if it dies."""

    def __init__(self, patience: float | None = None) -> None:
        """``patience``: seconds after which an answer is given up, None for never."""
        self._patience = patience
        self._connection: Connection | None = None
        self._process: BaseProcess | None = None
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._questions = 0
        self._pending: Question | None = None
        """The question that is being answered, unless it was cancelled."""
        self._is_sent = False

    def findings(self, unit: DiscoveredUnit, config: Config) -> list[Finding]:
        """Return the findings about the files of a unit, except its context. Raises Failed, as all methods do, and
        Cancelled."""
        return self._ask(unit, config, "findings")  # type: ignore[no-any-return]

    def hover(self, unit: DiscoveredUnit, config: Config, path: str, offset: int) -> HoverText | None:
        return self._ask(unit, config, "hover", path, offset)  # type: ignore[no-any-return]

    def definition(self, unit: DiscoveredUnit, config: Config, path: str, offset: int) -> list[Located]:
        return self._ask(unit, config, "definition", path, offset)  # type: ignore[no-any-return]

    def references(self, unit: DiscoveredUnit, config: Config, path: str, offset: int) -> list[Located]:
        return self._ask(unit, config, "references", path, offset)  # type: ignore[no-any-return]

    def complete(self, unit: DiscoveredUnit, config: Config, path: str, offset: int) -> list[Completion]:
        return self._ask(unit, config, "complete", path, offset)  # type: ignore[no-any-return]

    def ignoring(self, unit: DiscoveredUnit, config: Config, entries: list[Entry]) -> list[list[EditEntry]]:
        return self._ask(unit, config, "ignoring", entries)  # type: ignore[no-any-return]

    def cancel_findings(self) -> None:
        """Stop the search for findings that is under way, if any, from any thread. Without fork it goes on."""
        with self._sending:
            question = self._pending
            if question is None or question.arguments[:1] != ("findings",):
                return
            self._pending = None
            if self._is_sent and self._connection is not None and _CAN_FORK:
                with suppress(OSError):
                    self._connection.send(Cancellation(question.number))

    def close(self) -> None:
        """End the process."""
        self.kill()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def kill(self) -> None:
        """End the process and its copies, from any thread: a question that is being answered fails."""
        process = self._process
        if process is None or process.pid is None:
            return
        with suppress(OSError):
            if _CAN_FORK:
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()  # it may not have a group yet

    def _ask(self, unit: DiscoveredUnit, config: Config, method: Method, *arguments: Any) -> Any:
        return self.call(unit, config, _ask, method, *arguments)

    def call(self, unit: DiscoveredUnit, config: Config, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of a module-level function of a unit, a linter and ``arguments``."""
        with self._lock:
            self._questions += 1
            question = Question(self._questions, unit, config, function, arguments)
            self._pending, self._is_sent = question, False
            try:
                connection = self._connected()
                with self._sending:
                    if self._pending is None:
                        raise Cancelled
                    connection.send(question)
                    self._is_sent = True
                if not connection.poll(self._patience):
                    self.close()
                    raise Failed(f"linting takes more than {self._patience:.0f} seconds and was stopped")
                answer = connection.recv()
            except (EOFError, OSError):
                self.close()
                raise Failed(_DEATH) from None
            finally:
                self._pending = None
        if isinstance(answer, (Failed, Cancelled)):
            raise answer
        return answer

    def _connected(self) -> Connection:
        if self._connection is None:
            context = multiprocessing.get_context("spawn")
            self._connection, child = context.Pipe()
            self._process = context.Process(target=_serve, args=(child,), daemon=True)
            self._process.start()
            child.close()
        return self._connection


def _ask(unit: DiscoveredUnit, linter: Linter, method: Method, *arguments: Any) -> Any:
    return getattr(Analysis(unit, linter), method)(*arguments)


def _serve(connection: Connection) -> None:
    """Answer questions until the other end closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends Ctrl-C to every process: the other end decides
    if _CAN_FORK:
        os.setpgid(0, 0)  # so that the copies can be ended with this process
    _load_modules()
    linter: WarmLinter | None = None
    with suppress(EOFError, OSError):
        while True:
            question: Question | Cancellation = connection.recv()
            if isinstance(question, Cancellation):
                continue  # its question is answered
            if linter is None or linter.config != question.config:
                linter = WarmLinter(question.config)
            if not _CAN_FORK:
                connection.send(_answer(question, Linter(question.config)))
                continue
            try:
                _prepare(linter, question.unit)
            except Exception:
                linter = WarmLinter(question.config)  # whoever answers meets the error again, and reports it
            _send_answer_of_copy(connection, question, linter)


def _send_answer_of_copy(connection: Connection, question: Question, linter: Linter) -> None:
    """Let a copy of this process answer a question; stop it if the question is cancelled. Raises EOFError or OSError if
    the other end closes."""
    reader, writer = multiprocessing.Pipe(duplex=False)
    process = os.fork()
    if not process:
        _answer_and_end(writer, question, linter)
    writer.close()
    try:
        while reader not in wait([reader, connection]):
            if connection.recv() == Cancellation(question.number):
                connection.send(Cancelled())
                return
        try:
            answer = reader.recv_bytes()
        except (EOFError, OSError):
            connection.send(Failed(_DEATH))
        else:
            connection.send_bytes(answer)  # as it was pickled
    finally:
        os.kill(process, signal.SIGKILL)  # if it has not ended
        os.waitpid(process, 0)
        reader.close()


def _load_modules() -> None:
    """Load what most answers need: else every copy of the process would load it again."""
    sql = (
        b"CREATE TABLE t (id int PRIMARY KEY, a int); CREATE PUBLICATION p FOR TABLE t WHERE (a > 0);"
        b"CREATE PUBLICATION q FOR ALL TABLES; CREATE SUBSCRIPTION s CONNECTION '' PUBLICATION p, q;"
    )
    registry.load_all()
    file = File("", "", cached_content=sql)
    Analysis(DiscoveredUnit("", (file,), "file", ""), Linter()).hover("", len("CREATE TABLE t"))


def _prepare(linter: WarmLinter, unit: DiscoveredUnit) -> None:
    _, sources = read_files(unit, linter.config)
    context = unit.context
    opened = (number for number, source in enumerate(sources.sources) if source.label not in context)
    linter.prepare(sources, next(opened, 0))


def _answer_and_end(connection: Connection, question: Question, linter: Linter) -> None:
    status = 1
    try:
        connection.send(_answer(question, linter))
        status = 0
    finally:
        os._exit(status)


def _answer(question: Question, linter: Linter) -> Any:
    try:
        return question.function(question.unit, linter, *question.arguments)
    except Exception as error:
        return Failed(failure_text((fault_of(error, question.unit.title),)))
