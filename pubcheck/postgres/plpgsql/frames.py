"""The variables of the function or block that is running, and the host that applies its statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Protocol

from msgspec import Struct

from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.plpgsql.parse import Program
from pubcheck.postgres.plpgsql.query_check import QueryChecker
from pubcheck.postgres.plpgsql.values import MISSING, UNKNOWN, Failed, Value, coerce, has_unknown
from pubcheck.postgres.plpgsql.variable_binding import Type
from pubcheck.postgres.session import Session
from pubcheck.postgres.source_text import Text


class Inner(Struct, frozen=True):
    """A statement inside another one: its text at its place, and its number there (``embedded``)."""

    text: Text
    number: tuple[int, ...]


Excuse = Callable[[ServerError, bool], bool]
"""Whether an assumed refusal is suppressed; the flag says that a name is merely unknown."""


class ExecutionContext(Struct, frozen=True):
    """The circumstances in which a statement is applied.

    ``doubtful``: it may not run. ``unsure``: a statement before it may have failed. ``handled``: a handler around it
    would hide its failure. ``in_branch``: it runs if the branch around it does; the interpreter compares the effects of
    the branch as a whole.
    """

    doubtful: bool
    unsure: bool
    handled: bool
    excuse: Excuse
    in_branch: bool = False


class Raised(Exception):
    """An ERROR that leaves the block. ``inner`` is the statement that raised it, None for the block's own.

    ``compiled``: the body was refused before anything ran.
    """

    def __init__(self, error: ServerError, inner: Inner | None, *, compiled: bool = False) -> None:
        super().__init__(error.message)
        self.error = error
        self.inner = inner
        self.compiled = compiled


class Exhausted(Exception):
    """The limit of statements that are followed is reached."""


class Host(Protocol):
    """The host of an interpreter: it applies statements and keeps findings."""

    session: Session

    def do(self, inner: Inner, name: str, node: Node, context: ExecutionContext) -> bool | ServerError:
        """Apply one statement. Return whether it depends on nothing unknown, or the assumed refusal.

        Raises Raised if it is certainly refused.
        """
        ...

    def unfollowed(self, inner: Inner | None, known: str | None) -> None:
        """Note that something runs that is not followed; ``known`` is the known part of its text."""
        ...

    def mark(self) -> Any:
        """Return a point that ``undo`` can go back to."""
        ...

    def undo(self, mark: Any) -> None:
        """Undo all changes and drop all findings since ``mark``."""
        ...

    def assume_since(self, mark: Any) -> None:
        """Mark the changes since ``mark`` as assumed: they may have been undone."""
        ...

    def skip(self, mark: Any) -> None:
        """Mark the changes of the branch that began at ``mark`` as assumed: it may have been skipped."""
        ...

    def start_alternative(self, mark: Any) -> Any:
        """End a branch that began at ``mark``, and start the one that runs instead of it.

        Return the replica identities that it set; they are as before the branch again.
        """
        ...

    def join(self, alternatives: Sequence[Any], *, complete: bool) -> None:
        """Join alternative branches, each as ``start_alternative`` returned it; ``complete``: one of them certainly
        ran.
        """
        ...

    def finish(self, *, commit: bool) -> bool:
        """Run COMMIT or ROLLBACK within the block; False if the block is part of a transaction."""
        ...

    def swallowed(self, raised: Raised) -> None:
        """Note that a handler for everything caught a certain refusal and hides it."""
        ...


class Frame:
    """The variables of a function, by name, in the blocks that declare them; the innermost block is the last."""

    def __init__(self, program: Program, body: Text, inner: Inner | None) -> None:
        self.program = program
        self.body = body
        self.at = inner
        """The statement that called the function: the place of all of its statements. None for a body in the file
        itself.
        """
        self.scopes: list[dict[str, Value]] = [{}]
        self.types: dict[str, str] = {}
        self.declared = 0
        """The number of times that a name got another type."""
        self.arguments: dict[str, str] = {}
        """The types of arguments by name; a program's own types may differ from those."""
        self.labels: dict[str, dict[str, Value]] = {}
        self.homes: dict[int, dict[str, Value]] = {}
        """The scope that a block gave a variable, by its number."""
        self.results: tuple[str, ...] = ()
        """The parameters whose values it returns."""
        self.result: Value = None
        self.emitted: list[tuple[Value, ...]] | None = []
        """The rows that it has returned so far with RETURN NEXT and QUERY; None where they are not known."""
        self.returns = ""
        """The type of what it returns, "" for nothing."""
        self.known: str | None = body.text
        self.bound: set[int] = set()
        """The variables that the current blocks declare, by number."""
        self.cursors: dict[str, tuple[Sequence[str], Iterator[tuple[Value, ...]]]] = {}
        """The columns and the remaining rows of open cursors whose rows are known."""
        self.loops: set[str] = set()
        """Variables that loops brought along."""
        self.parameters: dict[str, Value] | None = None
        """While EXECUTE runs: the values of USING, and all that its text sees."""
        self.records, self.limited, self.aliases = _declared(body.text)
        """The names of records, those that perhaps are of a type with a length or precision, what aliases represent."""

    def look_up(self, parts: tuple[str, ...]) -> Value:
        """Return a variable's value, or MISSING. Raises Failed for a field that a record does not have."""
        if self.parameters is not None:
            return self.parameters.get(parts[0], MISSING)
        if parts[0] in self.aliases:
            parts = (self.aliases[parts[0]], *parts[1:])
        scopes: Iterable[dict[str, Value]] = reversed(self.scopes)
        if len(parts) > 1 and parts[0] in self.labels and not any(parts[0] in scope for scope in self.scopes):
            if parts[1] in self.labels[parts[0]]:
                scopes = (self.labels[parts[0]],)
            parts = parts[1:]
        for scope in scopes:
            if parts[0] in scope:
                value = scope[parts[0]]
                return value if len(parts) == 1 else self._field(parts[0], value, parts[1])
        return MISSING

    def _field(self, name: str, value: Value, field: str) -> Value:
        if field in _NO_FIELDS:
            return UNKNOWN
        if isinstance(value, dict):
            if field not in value and name in self.records:
                raise Failed("42703", f'record "{name}" has no field "{field}"')
            return value.get(field, UNKNOWN)
        if value is None and name in self.records:
            raise unassigned(name)
        return UNKNOWN if value is UNKNOWN or value is None else MISSING

    def put(self, name: str, value: Value) -> None:
        scope = next((scope for scope in reversed(self.scopes) if name in scope), self.scopes[0])
        scope[name] = coerce(value, self.types[name]) if name in self.types else value

    def snapshot(self) -> list[dict[str, Value]]:
        return [dict(scope) for scope in self.scopes]

    def blur(self, before: list[dict[str, Value]]) -> None:
        """Make variables unknown whose values differ from those before."""
        for scope, former in zip(self.scopes, before, strict=False):
            for name, value in scope.items():
                if name not in former or former[name] is not value:
                    old = former.get(name, UNKNOWN)
                    if has_unknown(old, value) or type(old) is not type(value) or old != value:
                        scope[name] = UNKNOWN


_NO_FIELDS = frozenset(
    (
        "all", "begin", "by", "case", "declare", "else", "end", "execute", "for", "foreach", "from", "if", "in", "into",
        "loop", "not", "null", "or", "strict", "then", "to", "using", "when", "while",
    )
)  # fmt: skip
"""Words that name a field of a record only where they are quoted, which does not show (pl_reserved_kwlist.h)."""


def unassigned(name: str) -> Failed:
    detail = "The tuple structure of a not-yet-assigned record is indeterminate."
    return Failed("55000", f'record "{name}" is not assigned yet', detail=detail)


@lru_cache(maxsize=64)
def _declared(body: str) -> tuple[frozenset[str], frozenset[str], dict[str, str]]:
    """The names of records, those that perhaps are of a type with a length or precision, and what aliases represent."""
    return (
        frozenset(name.lower() for name in _RECORDS.findall(body)),
        frozenset(name.lower() for name in _LIMITED.findall(body)),
        {name.lower(): variable.lower() for name, variable in _ALIASES.findall(body)},
    )


_ALIASES = re.compile(r"\b(\w+)\s+alias\s+for\s+([\w$]+)", re.IGNORECASE)
_RECORDS = re.compile(r"\b(\w+)\s+record\b", re.IGNORECASE)
_LIMITED = re.compile(
    r"\b(\w+)\s+(?:constant\s+)?(?:(?:national\s+)?char(?:acter)?(?:\s+varying)?|varchar|bpchar|numeric|decimal|dec|bit"
    r"(?:\s+varying)?|time\w*|interval)\s*\(",
    re.IGNORECASE,
)


class FrameVariables:
    """The variables of a frame, as a ``QueryChecker`` needs them: their types and values by name."""

    def __init__(self, frame: Frame | None, trial: QueryChecker) -> None:
        self.frame, self.trial = frame, trial

    @property
    def place(self) -> int:
        frame = self.frame
        if frame is None:
            return 0
        # A block within may declare a name again, and EXECUTE brings its own.
        return hash((id(frame.program), frame.declared, len(frame.scopes), frame.parameters is None))

    def __bool__(self) -> bool:
        return self.frame is not None

    def __contains__(self, name: str) -> bool:
        frame = self.frame
        if frame is None or (name in frame.labels and frame.parameters is None):
            return frame is not None
        return frame.look_up((name,)) is not MISSING

    def field(self, parts: tuple[str, ...]) -> Value:
        value = self.frame.look_up(parts) if self.frame is not None else UNKNOWN
        return UNKNOWN if value is MISSING else value

    def __getitem__(self, name: str) -> tuple[Type, Value]:
        frame = self.frame
        assert frame is not None
        variable = frame.aliases.get(name, name)
        written = frame.arguments.get(variable) or frame.types.get(variable)
        variable_type = self.trial.type_named(written) if written else (0, -1)
        if variable in frame.arguments and (variable_type[0] >= FIRST_NORMAL_OID or (written or "").startswith("any")):
            # Only the name of a type without its schema is known, so any other name may be meant.
            variable_type = 0, -1
        return variable_type, frame.look_up((name,))
