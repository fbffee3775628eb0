"""Runs statements in order; a table has the function for each kind of statement."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pubcheck.postgres.catalog.routines import Routine
from pubcheck.postgres.catalog.rows import Proc
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.plpgsql.control_flow import ON, Completion, Signal
from pubcheck.postgres.plpgsql.frames import Frame
from pubcheck.postgres.plpgsql.host import Exhausted, Host, Inner, Raised
from pubcheck.postgres.plpgsql.parse import program
from pubcheck.postgres.plpgsql.values import UNKNOWN, Value
from pubcheck.postgres.plpgsql.variables import Memory
from pubcheck.postgres.source_text import Text

MAX_DEPTH = 16
"""Calls within calls that are followed."""
MAX_STATEMENTS = 50_000
"""Statements of one body that are followed, each round of a loop counted."""

Work = Callable[["Machine", Node], Completion]
"""The function that runs a kind of statement."""


class Machine(Memory):
    """Runs the statements of a body; the functions of the other modules get it as an argument."""

    works: Mapping[str, Work]
    """The function that runs a kind of statement, by kind."""

    def __init__(self, host: Host, routine_of: Callable[[Proc], Routine | None]) -> None:
        super().__init__(host)
        self.routine_of = routine_of
        self.errors: list[Raised] = []
        """The errors that the enclosing handlers are handling."""
        self.handling = 0
        """The number of enclosing handlers."""
        self.begun: Any = None
        """The host's mark of where the current transaction began."""
        self.calling: Inner | None = None
        """The statement whose functions are called."""
        self.emitted: list[tuple[Value, ...]] | None = None
        """The rows of the function that was called last, where it gives a set; None where they are not known."""
        self.atomic = self.in_transaction = False
        """Whether no transaction can be ended; whether BEGIN began the current one."""
        self.left = MAX_STATEMENTS

    def apply(self, inner: Inner, name: str, node: Node) -> None:
        """Apply one parsed statement, and run the functions that it calls."""
        raise NotImplementedError

    def run_block(self, node: Node, outermost: bool = False) -> Completion:
        """Run a block with its variables and handlers."""
        raise NotImplementedError

    def block(self, body: Text, caller: Inner | None = None) -> None:
        """Run the body of DO. Raises Raised, NotParsed, TooDeep."""
        self.begun = self.host.mark() if self.begun is None else self.begun
        self.run(Frame(program("DO", body.text, newer=self.session.catalog.major.newer_grammar), body, caller), {})

    def settle(self) -> None:
        """Mark all changes so far as assumed if something may have failed: then they may have been undone."""
        if self.uncertainty.maybe_undone:
            self.host.assume_since(self.begun)

    def run(self, frame: Frame, arguments: dict[str, Value]) -> Value:
        """Run a frame's program with these arguments, and return its value."""
        if len(self.frames) >= MAX_DEPTH:
            raise Exhausted
        parsed = frame.program
        self.find_types(frame)
        for kind, node in parsed.variables:
            if "lineno" not in node and kind in ("PLpgSQL_var", "PLpgSQL_rec"):
                self.declare(frame, frame.scopes[0], kind, node, UNKNOWN)
        frame.scopes[0].update(arguments)
        if "found" in frame.scopes[0]:
            frame.scopes[0]["found"] = False
        self.frames.append(frame)
        branches = self.uncertainty.branches
        if any(name.lower() not in _COLLATIONS for name in _COLLATED.findall(frame.body.text)):
            self.uncertainty.assume_risk()
        try:
            completion = self.run_block(
                {
                    "lineno": parsed.lineno,
                    "body": parsed.body,
                    "label": parsed.label,
                    "exceptions": parsed.exceptions,
                },
                outermost=True,
            )
            if frame.returns and completion.certain is None:
                self._ends_without_return(completion)
        finally:
            self.frames.pop()
            self.uncertainty.branches = branches
        return frame.result

    def _ends_without_return(self, completion: Completion) -> None:
        if any(signal.kind == "return" for signal in completion.perhaps):
            self.uncertainty.assume_risk()
        else:
            self.fail(ServerError("2F005", "control reached end of function without RETURN"))

    @contextmanager
    def branch(self) -> Iterator[None]:
        """Run statements that may all be skipped."""
        uncertainty, host = self.uncertainty, self.host
        branches, compared, mark = uncertainty.branches, uncertainty.compared, host.mark()
        uncertainty.branches = uncertainty.compared = branches + 1
        try:
            yield
            host.skip(mark)
        finally:
            uncertainty.branches, uncertainty.compared = branches, compared

    def statements(self, nodes: Sequence[Node]) -> Completion:
        """Run statements one after the other; after one that may lead elsewhere, the rest is uncertain."""
        perhaps: list[Signal] = []
        branches, compared = self.uncertainty.branches, self.uncertainty.compared
        try:
            for node in nodes:
                risks = self.uncertainty.risks
                for kind, body in node.items():
                    self.left -= 1
                    if self.left < 0:
                        raise Exhausted
                    work = self.works.get(kind)
                    completion = work(self, body) if work is not None else ON
                    if completion.perhaps:
                        perhaps += completion.perhaps
                        self.uncertainty.branches += 1
                    if completion.certain is not None:
                        if self.uncertainty.branches > branches:
                            return Completion(None, [*perhaps, completion.certain])
                        return Completion(completion.certain, perhaps)
                if self.uncertainty.risks > risks:
                    self.uncertainty.after_risk()
            return Completion(None, perhaps) if perhaps else ON
        finally:
            self.uncertainty.branches, self.uncertainty.compared = branches, compared

    def inner(self, node: Node, field: str) -> Inner:
        """Return a statement's SQL at its place in the file."""
        frame = self.frame
        site = frame.program.sites.get(id(node))
        sql = node[field]["PLpgSQL_expr"]["query"]
        if site is None or frame.at is not None:
            number = (site.number,) if site is not None else ()
            caller = frame.at
            if caller is None:
                return Inner(Text(sql, (), frame.body.start, frame.body.end), number)
            return Inner(Text(sql, (), caller.text.start, caller.text.end), (*caller.number, *number))
        if site.end == site.start:
            return Inner(Text(sql, (), frame.body.start, frame.body.end), (site.number,))
        if frame.body.sites and site.end - site.start == len(sql) + 1 and sql.startswith("SELECT"):
            # PERFORM is written SELECT, which is a letter shorter.
            word, body_part = len("SELECT"), frame.body.part(site.start + len("PERFORM"), site.end)
            # The letter more is left out after the first one, so that both words end at the same place.
            first = ((0, frame.body.outside(site.start)), (1, frame.body.outside(site.start + 2)))
            sites = (*first, *((inside + word, outside) for inside, outside in body_part.sites))
            return Inner(Text(sql, sites, frame.body.outside(site.start), body_part.end), (site.number,))
        return Inner(frame.body.part(site.start, site.end, sql), (site.number,))

    def refuse(self, error: ServerError, inner: Inner) -> None:
        """Raise an error that the catalog does not raise itself."""
        if not self.uncertainty.is_uncertain and not self.uncertainty.unknown_dependencies:
            raise Raised(error, inner)
        self.uncertainty.assume_failure(error)
        if not self.is_excused(error, False):
            self.host.unfollowed(inner, inner.text.text)


_COLLATED = re.compile(r'\bcollate\s+"?([\w-]+)', re.IGNORECASE)
_COLLATIONS = frozenset(("c", "posix", "default", "ucs_basic", "pg_catalog"))
