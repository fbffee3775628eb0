"""Internal errors: each costs what it interrupted, becomes a finding (PUB000), and the run goes on.

What may fail without harm to the rest is done under a guard: one check of a statement, one rule of one publication,
the help of one finding. A guard catches whatever is raised, lack of memory and of stack included.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from msgspec import Struct

from pubcheck.diagnostics import Diagnostic, Span, StatementRef
from pubcheck.postgres.catalog.rows import Place
from pubcheck.rulebook import INTERNAL_ERROR, RULES, finder
from pubcheck.source import Source
from pubcheck.statement_index import StatementText

if TYPE_CHECKING:
    from pubcheck.statement_index import Statements

P = ParamSpec("P")
T = TypeVar("T")

Location = StatementText | Place | Span | None
"""The place at which the error occurred; None for the unit."""


class Fault(Struct, frozen=True):
    """An internal error: ``where`` as a user reads it (`schema.sql:3`), ``text`` (`KeyError: 26`), the traceback.

    ``memory``: it was lack of memory, so that another process may do better.
    """

    location: str
    text: str
    trace: str
    memory: bool = False


def fault_of(error: BaseException, where: str = "") -> Fault:
    """Return an error as a fault."""
    from traceback import format_exception

    first = str(error).splitlines()[0] if str(error) else "no message"
    trace = "".join(format_exception(error))
    return Fault(where, f"{type(error).__name__}: {first}", trace, isinstance(error, MemoryError))


@finder(INTERNAL_ERROR)
def internal_error(
    error: Exception, cost: str, span: Span, majors: tuple[int, ...], statement: StatementRef | None = None
) -> Diagnostic:
    """Return the finding about an internal error. ``cost``: what could not be done."""
    return RULES[INTERNAL_ERROR].diagnostic(
        "certain",
        majors,
        f"an internal error of pubcheck cost {cost}: {fault_of(error).text} ({_origin(error)})",
        span,
        help=f"report it with this {'file' if statement is None else 'statement'}; everything else was checked",
        statement=statement,
    )


def failure_text(faults: Iterable[Fault]) -> str | None:
    """Return the text about internal errors for a user: one line, and the tracebacks when PUBCHECK_TRACEBACK is set."""
    every = list({(fault.location, fault.text): fault for fault in faults}.values())
    if not every:
        return None
    first, more = every[0], f" (and {len(every) - 1} more)" if len(every) > 1 else ""
    text = f"internal error{first.location and ' in '}{first.location}: {first.text}{more}"
    text += "; this is a bug in pubcheck, please report it with the statement that causes it"
    if not os.environ.get("PUBCHECK_TRACEBACK"):
        return f"{text} (PUBCHECK_TRACEBACK=1 shows the traceback)"
    return "\n".join((text, *(fault.trace.rstrip() for fault in every)))


class Faults:
    """Collect the internal errors of one unit; ``majors`` are the majors that were being checked."""

    def __init__(self, majors: tuple[int, ...], statements: Statements) -> None:
        self._majors, self._statements = majors, statements
        self.diagnostics: list[Diagnostic] = []
        self.faults: list[Fault] = []
        self._known: set[tuple[object, ...]] = set()

    def guard(self, where: Location) -> Guard:
        """Turn exceptions of its `with` block into faults."""
        return Guard(self, where)

    def value(self, where: Location, default: T, work: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        """Return the result of ``work``, or ``default`` if it fails."""
        with self.guard(where):
            return work(*args, **named)
        return default

    def report(self, error: Exception, where: Location) -> None:
        """Take in an internal error. The same one at the same place is reported once."""
        span, statement = self._located(where)
        line = span.source.text.count("\n", 0, span.start) + 1
        fault = fault_of(error, f"{span.source.label}:{line}")
        key = (span.source.label, span.start, _origin(error), fault.text)
        if key in self._known:
            return
        self._known.add(key)
        self.faults.append(fault)
        self.diagnostics.append(internal_error(error, "a finding here", span, self._majors, statement))

    def _located(self, where: Location) -> tuple[Span, StatementRef | None]:
        if isinstance(where, Span):
            return where, None
        try:
            if isinstance(where, Place):
                return self._statements.span(where), self._statements.at(where).ref()
            if where is not None:
                return where.span(0), where.ref()
        except Exception:  # the failure may have left a place that does not exist
            where = None
        sources = self._statements.sources
        return Span(sources[0] if sources else Source("", ""), 0, 0), None


class Guard:
    """A `with` block in which an internal error costs only what is in it; ``failed`` says whether there was one."""

    __slots__ = ("_faults", "_where", "failed")

    def __init__(self, faults: Faults, where: Location) -> None:
        self._faults, self._where = faults, where
        self.failed = False

    def __enter__(self) -> Guard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        self.failed = True
        self._faults.report(error, self._where)
        return True


def _origin(error: Exception) -> str:
    """Return the line that raised it, with its module's path from the package's folder."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return ""
    path = traceback.tb_frame.f_code.co_filename.replace(os.sep, "/")
    return f"{path.rpartition('/pubcheck/')[2]}:{traceback.tb_lineno}"
