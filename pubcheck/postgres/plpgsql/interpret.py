"""Runs PL/pgSQL over the catalog, as far as everything it asks is known (src/pl/plpgsql/src/pl_exec.c).

What is certain is done as the server would. Where a condition is not known both ways are gone, *in doubt*: statements
are applied, and all that they lead to is assumed. What cannot be followed at all is said to the host.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from msgspec import Struct

from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.catalog.rows import Proc
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node, SyntaxRefused, TooDeep, parse
from pubcheck.postgres.plpgsql import commands, queries
from pubcheck.postgres.plpgsql.body import Text, literal_at
from pubcheck.postgres.plpgsql.conditions import CONDITIONS, EXISTENCE, GUARDED, catches
from pubcheck.postgres.plpgsql.evaluate import LIMIT, MISSING, Evaluator, Failed, Scope, expression, query, walk
from pubcheck.postgres.plpgsql.guards import assumptions
from pubcheck.postgres.plpgsql.program import NotParsed, Program, program
from pubcheck.postgres.plpgsql.routines import Routine
from pubcheck.postgres.plpgsql.trial import BOOLEAN, INTEGER, Trial, Type
from pubcheck.postgres.plpgsql.values import UNKNOWN, Value, array, coerced, text, unknown
from pubcheck.postgres.session import Session
from pubcheck.postgres.tree import names
from pubcheck.postgres.unfollowed import wording

MAX_DEPTH = 16
"""Calls within calls that are followed."""
MAX_STATEMENTS = 50_000
"""Statements of one body that are followed, each round of a loop counted."""


class Inner(Struct, frozen=True):
    """A statement inside another one: its text with where it stands, and its number there (``embedded``)."""

    text: Text
    number: tuple[int, ...]


Excuse = Callable[[ServerError, bool], bool]
"""Whether a refusal that is only assumed shall not be spoken of; the flag says that a name is merely not visible."""


class Standing(Struct, frozen=True):
    """What is known of a statement before it is done.

    ``doubtful``: whether it is run is not known; ``unsure``: one before it may have failed; ``handled``: there are
    handlers around it, so that nobody would hear of it if it failed.
    """

    doubtful: bool
    unsure: bool
    handled: bool
    excuse: Excuse


class Raised(Exception):
    """An ERROR on its way out of the block. ``inner`` is the statement that raised it, None for the block's own.

    ``compiled``: the body was refused before anything ran.
    """

    def __init__(self, error: ServerError, inner: Inner | None, *, compiled: bool = False) -> None:
        super().__init__(error.message)
        self.error = error
        self.inner = inner
        self.compiled = compiled


class Exhausted(Exception):
    """More statements than are followed."""


class Host(Protocol):
    """Who applies statements and keeps what is found; what an interpreter needs of the fold."""

    session: Session

    def do(self, inner: Inner, name: str, node: Node, standing: Standing) -> bool | ServerError:
        """Apply one statement: whether that rests on nothing unseen, or the refusal that is only assumed.

        Raises Raised where it is certainly refused.
        """
        ...

    def unfollowed(self, inner: Inner | None, known: str | None) -> None:
        """Something runs that is not followed; ``known`` is what is known of its text."""
        ...

    def mark(self) -> Any:
        """A point to go back to."""
        ...

    def undo(self, mark: Any) -> None:
        """Take back what was done and found since ``mark``."""
        ...

    def doubt(self, mark: Any) -> None:
        """What was done since ``mark`` has perhaps been taken back."""
        ...

    def finish(self, *, commit: bool) -> bool:
        """COMMIT or ROLLBACK within the block; False where the block is part of a transaction."""
        ...

    def swallowed(self, raised: Raised) -> None:
        """A certain refusal is caught by a handler for everything and not spoken of."""
        ...


class _Signal(Struct, frozen=True):
    """RETURN, EXIT, CONTINUE: where control goes instead of the next statement."""

    kind: str
    label: str = ""


class _Way(Struct):
    """How a list of statements ends: in a signal for certain, and in others perhaps."""

    certain: _Signal | None = None
    perhaps: list[_Signal] = []


_ON = _Way()


class Frame:
    """A function's variables, by name in the blocks that declare them, innermost last."""

    def __init__(self, given: Program, body: Text, at: Inner | None) -> None:
        self.program = given
        self.body = body
        self.at = at
        """The statement that called the function; all of its statements stand there. None for a body at its place."""
        self.scopes: list[dict[str, Value]] = [{}]
        self.types: dict[str, str] = {}
        self.arguments: dict[str, str] = {}
        """The types of arguments by name; those that the program has may stand for others."""
        self.labels: dict[str, dict[str, Value]] = {}
        self.result: Value = None
        self.known: str | None = body.text
        self.bound: set[int] = set()
        """The variables that the blocks at hand declare, by number."""
        self.loops: set[str] = set()
        """Variables that loops brought along."""
        self.parameters: dict[str, Value] | None = None
        """While EXECUTE runs: the values of USING, and all that its text sees."""
        self.records = frozenset(name.lower() for name in _RECORDS.findall(body.text))
        self.limited = frozenset(name.lower() for name in _LIMITED.findall(body.text))
        """Names that perhaps are those of variables whose type has a length or precision."""

    def look_up(self, parts: tuple[str, ...]) -> Value:
        """A variable's value, or MISSING. Raises Failed for a field of a record that has none."""
        if self.parameters is not None:
            return self.parameters.get(parts[0], MISSING)
        if len(parts) == 2 and parts[0] in self.labels:
            parts = parts[1:]
        for scope in reversed(self.scopes):
            if parts[0] in scope:
                value = scope[parts[0]]
                return value if len(parts) == 1 else self._field(parts[0], value, parts[1])
        return MISSING

    def _field(self, name: str, value: Value, field: str) -> Value:
        if isinstance(value, dict):
            if field not in value and name in self.records:
                raise Failed("42703", f'record "{name}" has no field "{field}"')
            return value.get(field, UNKNOWN)
        if value is None and name in self.records:
            raise unassigned(name)
        return UNKNOWN if value is UNKNOWN or value is None else MISSING

    def put(self, name: str, value: Value) -> None:
        scope = next((scope for scope in reversed(self.scopes) if name in scope), self.scopes[0])
        scope[name] = coerced(value, self.types[name]) if name in self.types else value

    def snapshot(self) -> list[dict[str, Value]]:
        return [dict(scope) for scope in self.scopes]

    def blur(self, before: list[dict[str, Value]]) -> None:
        """What has another value than before may have either."""
        for scope, former in zip(self.scopes, before, strict=False):
            for name, value in scope.items():
                if name not in former or former[name] is not value:
                    old = former.get(name, UNKNOWN)
                    if unknown(old, value) or type(old) is not type(value) or old != value:
                        scope[name] = UNKNOWN


def unassigned(name: str) -> Failed:
    detail = "The tuple structure of a not-yet-assigned record is indeterminate."
    return Failed("55000", f'record "{name}" is not assigned yet', detail=detail)


_RECORDS = re.compile(r"(\w+)\s+record\b", re.IGNORECASE)
_LIMITED = re.compile(
    r"(\w+)\s+(?:constant\s+)?(?:(?:national\s+)?char(?:acter)?(?:\s+varying)?|varchar|bpchar|numeric|decimal|dec|bit"
    r"(?:\s+varying)?|time\w*|interval)\s*\(",
    re.IGNORECASE,
)


class Variables:
    """A frame's variables as a ``Trial`` asks for them: their types and values by name."""

    def __init__(self, frame: Frame | None, trial: Trial) -> None:
        self.frame, self.trial = frame, trial

    def __bool__(self) -> bool:
        return self.frame is not None

    def __contains__(self, name: str) -> bool:
        frame = self.frame
        if frame is None or (name in frame.labels and frame.parameters is None):
            return frame is not None
        return frame.look_up((name,)) is not MISSING

    def field(self, parts: tuple[str, ...]) -> Value:
        found = self.frame.look_up(parts) if self.frame is not None else UNKNOWN
        return UNKNOWN if found is MISSING else found

    def __getitem__(self, name: str) -> tuple[Type, Value]:
        frame = self.frame
        assert frame is not None
        written = frame.arguments.get(name) or frame.types.get(name)
        found = self.trial.type_named(written) if written else (0, -1)
        if name in frame.arguments and found[0] >= FIRST_NORMAL_OID:
            found = 0, -1  # of a type the name without the schema is known
        return found, frame.look_up((name,))


class Interpreter:
    """Runs one top-level statement: a DO block, or a call of functions."""

    def __init__(self, host: Host, routine_of: Callable[[Proc], Routine | None]) -> None:
        self.host = host
        self.session = host.session
        self.routine_of = routine_of
        self.frames: list[Frame] = []
        self.doubts = 0
        """In how many ways it is not known whether the statement at hand is run."""
        self.fallen = False
        """Whether an error may have ended all before this."""
        self.handlers: list[list[str]] = []
        """The conditions that the handlers of the blocks around take."""
        self.shaky = 0
        """How many statements so far rest on something unseen, and so may have failed."""
        self.risks = 0
        """How many statements so far may have failed by the data at hand, which a handler around would take."""
        self.errors: list[Raised] = []
        """What the handlers around are handling."""
        self.handling = 0
        """In how many handlers we are."""
        self.unproven = False
        """Whether something so far may have failed that nobody took, and so all of it never happened."""
        self.begun: Any = None
        """The host's mark of where the transaction at hand began."""
        self.atomic = False
        self.left = MAX_STATEMENTS
        self.trial = Trial(self.session)
        self.evaluator = Evaluator(self.session, self._variable)
        self.evaluator.caller = self._called

    # Entries.

    def block(self, body: Text, at: Inner | None = None) -> None:
        """DO: runs the body. Raises Raised, NotParsed, TooDeep."""
        self.begun = self.host.mark() if self.begun is None else self.begun
        self._run(Frame(self._program("DO", body), body, at), {})

    def rehearse(self, routine: Routine) -> None:
        """Runs a function that nothing calls, in doubt and without arguments. Raises NotParsed, TooDeep."""
        self.doubts += 1
        self.begun = self.host.mark()
        self._body(routine, None, None)

    def statement(self, text: Text, name: str, node: Node, number: tuple[int, ...] = ()) -> None:
        """SELECT or CALL at the top level, which calls functions. Raises Raised."""
        self.begun = self.host.mark()
        self._apply(Inner(text, number), name, node)

    def settle(self) -> None:
        """What was done so far perhaps never happened, if something may have failed: then it is there by assumption."""
        if self.unproven:
            self.host.doubt(self.begun)

    def _program(self, header: str, body: Text) -> Program:
        return program(header, body.text)

    def _run(self, frame: Frame, arguments: dict[str, Value]) -> Value:
        """Runs a frame's program with these arguments; what it returns."""
        if len(self.frames) >= MAX_DEPTH:
            raise Exhausted
        given = frame.program
        for kind, node in given.variables:
            if "lineno" not in node and kind in ("PLpgSQL_var", "PLpgSQL_rec"):
                self._declare(frame, frame.scopes[0], kind, node, UNKNOWN)
        frame.scopes[0].update(arguments)
        if "found" in frame.scopes[0]:
            frame.scopes[0]["found"] = False
        self.frames.append(frame)
        doubts = self.doubts
        if any(name.lower() not in _COLLATIONS for name in _COLLATED.findall(frame.body.text)):
            self._risk()
        try:
            self._block(
                {
                    "lineno": given.lineno,
                    "body": given.body,
                    "label": given.label,
                    "exceptions": given.exceptions,
                },
                outermost=True,
            )
        finally:
            self.frames.pop()
            self.doubts = doubts
        return frame.result

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    # Variables and expressions.

    def _variable(self, parts: tuple[str, ...]) -> Value:
        return self.frames[-1].look_up(parts) if self.frames else MISSING

    def _declare(self, frame: Frame, scope: dict[str, Value], kind: str, node: Node, otherwise: Value) -> None:
        name = node["refname"]
        if kind == "PLpgSQL_var":
            written = frame.types[name] = node["datatype"]["PLpgSQL_type"]["typname"]
            if "lineno" in node:
                self._require_type(written)
        elif "lineno" in node and name not in frame.records:
            # Of a type that the parser does not know it tells no name.
            said = re.search(rf"\b{re.escape(name)}\s+(?:constant\s+)?([\w.]+)", frame.body.text, re.IGNORECASE)
            if said is not None:
                self._require_type(said[1].lower())
        value: Value = otherwise
        if "default_val" in node:
            value = self._value(node["default_val"], self.trial.type_named(frame.types[name]))
            self._admit(node, value)
        scope[name] = self._as(value, frame.types[name]) if name in frame.types else value

    def _require_type(self, written: str) -> None:
        try:
            if not self.trial.is_there(written):
                self._risk()
        except ServerError as error:
            if not self.in_doubt:
                raise Raised(error, None) from None
            self._risk()

    def _as(self, value: Value, type_name: str) -> Value:
        """The value as one of a type."""
        if type_name == "regclass" and isinstance(value, str):
            return self.evaluator.regclass(value)
        made = coerced(value, type_name)
        if made is UNKNOWN and value is not UNKNOWN and type_name not in _UNFOLLOWED:
            self._risk()
        return made

    @property
    def in_doubt(self) -> bool:
        """Whether it is not known that the statement at hand is run."""
        return self.doubts > 0 or self.fallen

    def _value(self, node: Node, target: Type | None = None) -> Value:
        """The value of a PLpgSQL_expr, which is for a variable of the ``target`` type. Raises Raised."""
        return self._evaluated(node["PLpgSQL_expr"]["query"], target)

    def _evaluated(self, expression_text: str, target: Type | None = None) -> Value:
        statement = query("SELECT " + expression_text)
        try:
            fails = statement is None or self.trial.may_fail(statement, self._variables(), (target,))
            value = self.evaluator.of_text(expression_text)
            if fails and value is UNKNOWN:
                self._risk()
            return value
        except Failed as error:
            self._raise_error(error)
            return UNKNOWN

    def _try(self, statement: Node, inner: Inner | None = None, into: Node | None = None) -> None:
        """Whether a query fails, whose first row is put ``into`` variables. Raises Raised if it certainly does."""
        try:
            if self.trial.may_fail(statement, self._variables(), self._targets(into)):
                self._risk()
        except Failed as error:
            self._raise_error(error, inner)

    def _targets(self, into: Node | None) -> list[Type | None]:
        """The types of the variables that a row is put into."""
        for kind, node in (into or {}).items():
            if kind == "PLpgSQL_row":
                return [self._type_of(field.get("varno", 0)) for field in node.get("fields", ())]
            if kind == "PLpgSQL_var":
                return [self.trial.type_named(node["datatype"]["PLpgSQL_type"]["typname"])]
        return []

    def _variables(self) -> Variables:
        return Variables(self.frame, self.trial) if self.frames else Variables(None, self.trial)

    def _truth(self, node: Node) -> Value:
        return coerced(self._value(node, BOOLEAN), "boolean")

    def _assign_to(self, target: Node | None, values: Sequence[Value], columns: Sequence[str] = ()) -> None:
        """Puts a row into a record or into scalar variables; UNKNOWN for what has no value."""
        for kind, node in (target or {}).items():
            if kind == "PLpgSQL_row":
                for at, field in enumerate(node.get("fields", ())):
                    value = values[at] if at < len(values) else UNKNOWN
                    self._receive(field.get("varno", 0), value)
            elif kind == "PLpgSQL_rec":
                known = len(columns) == len(values) and len(values) > 0
                row: Value = dict(zip(columns, values, strict=False)) if known else UNKNOWN
                self._bind(node["refname"], row)
            elif kind == "PLpgSQL_var":
                self._bind(node["refname"], values[0] if values else UNKNOWN)

    def _bind(self, name: str, value: Value) -> None:
        """A variable, which a loop may have brought along."""
        frame = self.frame
        if any(name in scope for scope in frame.scopes):
            frame.put(name, self._as(value, frame.types[name]) if name in frame.types else value)
        else:
            frame.scopes[-1][name] = value

    def _put(self, number: int, value: Value) -> None:
        """Assigns to a datum by its number."""
        variables = self.frame.program.variables
        if not 0 <= number < len(variables):
            return
        kind, node = variables[number]
        if kind == "PLpgSQL_recfield":
            parent = variables[node.get("recparentno", 0)][1].get("refname", "")
            record = self.frame.look_up((parent,))
            self._bind(parent, {**record, node["fieldname"]: value} if isinstance(record, dict) else UNKNOWN)
        elif "refname" in node and kind != "PLpgSQL_row":
            self._bind(node["refname"], value)
        elif kind == "PLpgSQL_row":
            for field in node.get("fields", ()):
                self._put(field.get("varno", 0), UNKNOWN)

    # Control.

    def _statements(self, nodes: Sequence[Node]) -> _Way:
        """Runs statements one after the other; after one that perhaps leads away the rest is in doubt."""
        perhaps: list[_Signal] = []
        doubts = self.doubts
        try:
            for node in nodes:
                risks = self.risks
                for kind, body in node.items():
                    self.left -= 1
                    if self.left < 0:
                        raise Exhausted
                    work = _STATEMENTS.get(kind)
                    way = work(self, body) if work is not None else _ON
                    if way.perhaps:
                        perhaps += way.perhaps
                        self.doubts += 1
                    if way.certain is not None:
                        if self.doubts > doubts:
                            return _Way(None, [*perhaps, way.certain])
                        return _Way(way.certain, perhaps)
                if self.risks > risks:
                    self.doubts += 1
            return _Way(None, perhaps) if perhaps else _ON
        finally:
            self.doubts = doubts

    def _block(self, node: Node, outermost: bool = False) -> _Way:
        frame = self.frame
        scope: dict[str, Value] = {}
        line = node.get("lineno", 1)
        floor = 0 if outermost else frame.program.floors.get(id(node), 0)
        bound: list[int] = []
        for number, (kind, variable) in enumerate(frame.program.variables):
            at, name = variable.get("lineno", 0), variable.get("refname", "")
            if kind not in ("PLpgSQL_var", "PLpgSQL_rec") or not at or not floor <= at <= line or name in _BY_HANDLERS:
                continue
            if number in frame.bound or name in frame.loops or name in scope:
                continue  # another block's, on the same line, or a loop's
            bound.append(number)
            frame.scopes.append(scope)
            self._declare(frame, scope, kind, variable, None)
            frame.scopes.pop()
        frame.bound.update(bound)
        frame.scopes.append(scope)
        if node.get("label"):
            frame.labels[node["label"]] = scope
        try:
            handlers = (node.get("exceptions") or {}).get("PLpgSQL_exception_block", {}).get("exc_list", ())
            way = self._guarded(node, handlers) if handlers else self._statements(node.get("body", ()))
        finally:
            frame.scopes.pop()
            frame.bound.difference_update(bound)
        label = node.get("label", "")
        if label:
            way = _Way(
                None if way.certain == _Signal("exit", label) else way.certain,
                [signal for signal in way.perhaps if signal != _Signal("exit", label)],
            )
        return way

    def _guarded(self, node: Node, handlers: Sequence[Node]) -> _Way:
        """A block with EXCEPTION is a subtransaction: what its handler takes never happened (exec_stmt_block)."""
        host = self.host
        conditions = [
            [one["PLpgSQL_condition"]["condname"] for one in handler["PLpgSQL_exception"]["conditions"]]
            for handler in handlers
        ]
        mark, shaky, doubts, risks = host.mark(), self.shaky, self.doubts, self.risks
        variables, unproven = self.frame.snapshot(), self.unproven
        depth = len(self.frames)
        self.handlers.append([name for each in conditions for name in each])
        try:
            way = self._protected(node.get("body", ()))
        except Raised as raised:
            taken = next((at for at, names_ in enumerate(conditions) if catches(names_, raised.error.sqlstate)), None)
            if taken is None or raised.compiled:
                raise
            del self.frames[depth:]
            host.undo(mark)
            self.doubts, self.unproven = doubts, unproven
            if any(name.lower() == "others" for name in conditions[taken]) and raised.error.sqlstate not in EXISTENCE:
                host.swallowed(raised)
            self.handlers.pop()
            self.handlers.append([])
            return self._handler(handlers[taken], raised)
        finally:
            self.handlers.pop()
        way = _Way(way.certain, [signal for signal in way.perhaps if signal.kind != "raised"])
        if any(_takes_all(each) for each in conditions):
            self.unproven = unproven
        risky = self.risks > risks
        if risky:
            host.doubt(mark)
            if any(_takes_all(each) for each in conditions) or not any(map(_takes_data, self.handlers)):
                self.risks = risks
        if self.shaky > shaky or risky:
            # Something may have failed after all: then what a handler does is done as well.
            before = self.frame.snapshot()
            self.doubts += 1
            try:
                for handler in handlers:
                    way = _Way(way.certain, [*way.perhaps, *_all(self._handler(handler, None))])
            finally:
                self.doubts -= 1
            self.frame.blur(before)
            self.frame.blur(variables)
        return way

    def _protected(self, nodes: Sequence[Node]) -> _Way:
        """As ``_statements``; after a statement that may have failed, and then been taken, the rest is in doubt."""
        doubts = self.doubts
        perhaps: list[_Signal] = []
        try:
            for node in nodes:
                shaky, risks = self.shaky, self.risks
                way = self._statements([node])
                perhaps += way.perhaps
                if way.certain is not None:
                    return _Way(None, [*perhaps, way.certain]) if self.doubts > doubts else _Way(way.certain, perhaps)
                if way.perhaps or self.shaky > shaky or self.risks > risks:
                    self.doubts += 1
            return _Way(None, perhaps)
        finally:
            self.doubts = doubts

    def _handler(self, handler: Node, raised: Raised | None) -> _Way:
        """What a handler does; None for an error that there perhaps is."""
        error = raised.error if raised is not None else None
        scope: dict[str, Value] = {
            "sqlstate": error.sqlstate if error is not None else UNKNOWN,
            "sqlerrm": error.message if error is not None else UNKNOWN,
        }
        self.frame.scopes.append(scope)
        if raised is not None:
            self.errors.append(raised)
        self.handling += 1
        try:
            return self._statements(handler["PLpgSQL_exception"].get("action", ()))
        finally:
            self.handling -= 1
            self.frame.scopes.pop()
            if raised is not None:
                self.errors.pop()

    def _if(self, node: Node) -> _Way:
        branches: list[tuple[Node | None, Sequence[Node]]] = [(node["cond"], node.get("then_body", ()))]
        for item in node.get("elsif_list", ()):
            branch = item["PLpgSQL_if_elsif"]
            branches.append((branch["cond"], branch.get("stmts", ())))
        branches.append((None, node.get("else_body", ())))
        return self._branches(branches, self._truth)

    def _case(self, node: Node) -> _Way:
        subject = f"__Case__Variable_{node.get('t_varno', 0)}__"
        if "t_expr" in node:
            value = self._value(node["t_expr"])
            self.frame.types.pop(subject, None)
            self._bind(subject, value)
            if type(value) in _TYPES_OF_VALUES:
                self.frame.types[subject] = _TYPES_OF_VALUES[type(value)]
        branches: list[tuple[Node | None, Sequence[Node]]] = []
        for item in node.get("case_when_list", ()):
            when = item["PLpgSQL_case_when"]
            branches.append((when["expr"], when.get("stmts", ())))
        if node.get("have_else"):
            branches.append((None, node.get("else_stmts", ())))
        else:
            branches.append((None, [{"case_not_found": {}}]))
        return self._branches(branches, self._truth)

    def _case_not_found(self, node: Node) -> _Way:
        return self._raise_error(ServerError("20000", "case not found", hint="CASE statement is missing ELSE part."))

    def _branches(self, branches: Sequence[tuple[Node | None, Sequence[Node]]], truth: Callable[[Node], Value]) -> _Way:
        """IF and CASE: the first branch whose condition holds; each of which it may."""
        doubts, perhaps = self.doubts, list[_Signal]()
        before: list[dict[str, Value]] | None = None
        after: list[list[dict[str, Value]]] = []
        open_ended = False
        try:
            for condition, body in branches:
                known = True if condition is None else truth(condition)
                if known is False or known is None:
                    continue
                if known is True and before is None:
                    return self._statements(body)
                if before is None:
                    before = self.frame.snapshot()
                    open_ended = True
                    self.doubts += 1
                assumed = self._suppose(condition, True) if known is UNKNOWN else []
                way = self._statements(body)
                self._unsuppose(assumed)
                perhaps += _all(way)
                after.append(self.frame.snapshot())
                self._restore(before)
                if known is True:
                    open_ended = False
                    break
        finally:
            self.doubts = doubts
        if before is not None:
            if open_ended:
                after.append(before)
            self._restore(after[0])
            for other in after[1:]:
                self.frame.blur(other)
        return _Way(None, perhaps) if perhaps else _ON

    def _restore(self, snapshot: list[dict[str, Value]]) -> None:
        for scope, former in zip(self.frame.scopes, snapshot, strict=True):
            scope.clear()
            scope.update(former)

    def _suppose(self, condition: Node | None, positive: bool) -> list[Any]:
        """What a condition that holds says to be there is there by assumption, without a word about it."""
        if condition is None:
            return []
        node = expression(condition["PLpgSQL_expr"]["query"])
        if node is None:
            return []
        return self.session.suppose(assumptions(self.evaluator, node, positive))

    def _unsuppose(self, supposed: list[Any]) -> None:
        if supposed:
            self.session.unsuppose(supposed)

    def _loop_body(self, node: Node, label: str) -> tuple[_Way, bool]:
        """One round: what it leads to beyond the loop, and whether the loop is over."""
        way = self._statements(node.get("body", ()))
        beyond: list[_Signal] = []
        for signal in way.perhaps:
            if signal.kind not in ("exit", "continue") or signal.label not in ("", label):
                beyond.append(signal)
            elif signal.kind == "exit" and _Signal("perhaps over") not in beyond:
                beyond.append(_Signal("perhaps over"))
        certain = way.certain
        if certain is None or (certain.kind == "continue" and certain.label in ("", label)):
            return _Way(None, beyond), False
        if certain.kind == "exit" and certain.label in ("", label):
            return _Way(None, beyond), True
        return _Way(certain, beyond), True

    def _rounds(self, node: Node, values: Sequence[Any] | None, bind: Callable[[Any], None]) -> _Way:
        """FOR: a round for each of the values, whatever is bound to each; None for values that are not known."""
        label = node.get("label", "")
        doubts = self.doubts
        perhaps: list[_Signal] = []
        self.frame.scopes.append({})
        try:
            if values is None:
                before = self.frame.snapshot()
                self.doubts += 1
                bind(None)
                way, _ = self._loop_body(node, label)
                self.frame.blur(before)
                self.frame.put("found", UNKNOWN)
                return _Way(None, [signal for signal in _all(way) if signal.kind != "perhaps over"])
            for value in values:
                bind(value)
                way, over = self._loop_body(node, label)
                perhaps += [signal for signal in way.perhaps if signal.kind != "perhaps over"]
                if way.perhaps:
                    self.doubts += 1
                if way.certain is not None:
                    if self.doubts > doubts:
                        return _Way(None, [*perhaps, way.certain])
                    return _Way(way.certain, perhaps)
                if over:
                    break
            self.frame.put("found", bool(values) if self.doubts == doubts else UNKNOWN)
            return _Way(None, perhaps)
        finally:
            self.frame.scopes.pop()
            self.doubts = doubts

    def _for_integers(self, node: Node) -> _Way:
        low, high, step = (self._bound(node, side) for side in ("lower", "upper", "step"))
        name = node["var"]["PLpgSQL_var"]["refname"]
        self.frame.types.setdefault(name, "int4")
        self.frame.loops.add(name)
        values: Sequence[Any] | None = None
        if all(isinstance(each, int) for each in (low, high, step)) and step > 0:
            values = range(low, high - 1, -step) if node.get("reverse") else range(low, high + 1, step)
            if len(values) > LIMIT:
                raise Exhausted

        def bind(value: Any) -> None:
            self.frame.scopes[-1][name] = UNKNOWN if values is None else value

        return self._rounds(node, values, bind)

    def _bound(self, node: Node, side: str) -> Value:
        """A bound of FOR, or its step (exec_stmt_fori)."""
        if side not in node:
            return 1
        value = coerced(self._value(node[side], INTEGER), "int4")
        words = "BY value" if side == "step" else f"{side} bound"
        if value is None:
            self._raise_error(ServerError("22004", f"{words} of FOR loop cannot be null"))
            return UNKNOWN
        if side == "step" and isinstance(value, int) and value <= 0:
            self._raise_error(ServerError("22023", "BY value of FOR loop must be greater than zero"))
        return value

    def _for_rows(self, node: Node) -> _Way:
        found = queries.UNKNOWN_ROWS
        statement = query(node["query"]["PLpgSQL_expr"]["query"])
        if statement is not None:
            self._try(statement, None, node["var"])
            found = self._rows(statement)
        return self._over(node, found)

    def _for_dynamic(self, node: Node) -> _Way:
        said = text(self._value(node["query"]))
        if said is None:
            return self._raise_error(ServerError("22004", "query string argument of EXECUTE is null"))
        statement = query(said) if isinstance(said, str) else None
        found = queries.UNKNOWN_ROWS
        if statement is not None:
            with self._parameters(node):
                self._try(statement)
                found = self._rows(statement)
        return self._over(node, found)

    def _for_cursor(self, node: Node) -> _Way:
        variables = self.frame.program.variables
        number = node.get("curvar", 0)
        cursor = variables[number][1] if number < len(variables) else {}
        said = cursor.get("cursor_explicit_expr", {}).get("PLpgSQL_expr", {}).get("query")
        statement = query(said) if said and "argquery" not in node else None
        return self._over(node, self._rows(statement) if statement is not None else queries.UNKNOWN_ROWS)

    def _rows(self, statement: Node) -> queries.Rows:
        return queries.run(self.evaluator, statement)

    def _over(self, node: Node, found: queries.Rows) -> _Way:
        """A loop over the rows of a query; the rows that may be there stand for those that are not known."""
        if found.known and len(found.rows) > LIMIT:
            raise Exhausted
        if found.known and not found.rows:
            self._assign_to(node["var"], (None,) * len(found.columns), found.columns)
        if found.known:
            return self._rounds(node, found.rows, lambda row: self._assign_to(node["var"], row[0], found.columns))
        perhaps: list[_Signal] = []
        before = self.frame.snapshot()
        self.shaky += 1
        sure = [values for values, surely in found.rows[:LIMIT] if surely]
        way = self._rounds(node, sure, lambda row: self._assign_to(node["var"], row, found.columns))
        perhaps += _all(way)
        self.doubts += 1
        try:
            for values in [values for values, surely in found.rows[:LIMIT] if not surely]:
                way = self._rounds(node, [values], lambda row: self._assign_to(node["var"], row, found.columns))
                perhaps += _all(way)
            if found.open:
                perhaps += _all(self._rounds(node, None, lambda _: self._assign_to(node["var"], (), ())))
        finally:
            self.doubts -= 1
        self.frame.blur(before)
        return _Way(None, perhaps)

    def _foreach(self, node: Node) -> _Way:
        items = array(self._value(node["expr"]))
        if node.get("slice"):
            items = UNKNOWN
        if items is UNKNOWN:
            self._risk()
        if items is None:
            return self._raise_error(ServerError("22004", "FOREACH expression must not be null"))
        values = items if isinstance(items, list) else None
        if values is not None and len(values) > LIMIT:
            raise Exhausted
        number = node.get("varno", 0)
        return self._rounds(node, values, lambda item: self._put(number, UNKNOWN if values is None else item))

    def _loop(self, node: Node) -> _Way:
        return self._repeat(node, lambda: True)

    def _while(self, node: Node) -> _Way:
        return self._repeat(node, lambda: self._truth(node["cond"]))

    def _repeat(self, node: Node, goes_on: Callable[[], Value]) -> _Way:
        label = node.get("label", "")
        doubts = self.doubts
        perhaps: list[_Signal] = []
        try:
            for _ in range(LIMIT):
                truth = goes_on()
                if truth is False or truth is None:
                    return _Way(None, perhaps)
                before = self.frame.snapshot()
                if truth is UNKNOWN:
                    self.doubts += 1
                way, over = self._loop_body(node, label)
                perhaps += [signal for signal in way.perhaps if signal.kind != "perhaps over"]
                if way.perhaps or truth is UNKNOWN:
                    # How many rounds there are is not known: one stands for all of them.
                    self.frame.blur(before)
                    return _Way(None, [*perhaps, *([way.certain] if way.certain else [])])
                if way.certain is not None or over:
                    return _Way(way.certain, perhaps)
            raise Exhausted
        finally:
            self.doubts = doubts

    def _exit(self, node: Node) -> _Way:
        signal = _Signal("exit" if node.get("is_exit") else "continue", node.get("label", ""))
        truth = self._truth(node["cond"]) if "cond" in node else True
        if truth is UNKNOWN:
            return _Way(None, [signal])
        return _Way(signal) if truth is True else _ON

    def _return(self, node: Node) -> _Way:
        if "expr" in node:
            value = self._value(node["expr"])
            self.frame.result = UNKNOWN if self.in_doubt else value
        return _Way(_Signal("return"))

    def _return_query(self, node: Node) -> _Way:
        self.frame.result = UNKNOWN
        if "query" in node:
            statement = query(node["query"]["PLpgSQL_expr"]["query"])
            if statement is not None:
                self._apply(self._inner(node, "query"), "SelectStmt", statement)
        return _ON

    def _return_next(self, node: Node) -> _Way:
        if "expr" in node:
            self._value(node["expr"])
        self.frame.result = UNKNOWN
        return _ON

    # Errors.

    def _raise(self, node: Node) -> _Way:
        """RAISE: anything below EXCEPTION only speaks (exec_stmt_raise)."""
        if node.get("elog_level", 21) < 21:
            for each in node.get("params", ()):
                self._value(each)
            return _ON
        sqlstate: Value = "P0001"
        message: Value = None
        if "condname" not in node and "message" not in node and not node.get("options"):
            if self.errors:
                return self._raise_error(self.errors[-1].error, self.errors[-1].inner)
            said = "RAISE without parameters cannot be used outside an exception handler"
            return self._raise_error(ServerError("0Z002", said))
        if "condname" in node:
            sqlstate = CONDITIONS.get(node["condname"], node["condname"])
            message = node["condname"]
        if "message" in node:
            message = self._message(node["message"], [self._value(each) for each in node.get("params", ())])
        for item in node.get("options", ()):
            option = item["PLpgSQL_raise_option"]
            value = text(self._value(option["expr"]))
            if value is None:
                return self._raise_error(ServerError("22004", "RAISE statement option cannot be null"))
            if option.get("opt_type", 0) == 0:
                sqlstate = CONDITIONS.get(value, value) if isinstance(value, str) else UNKNOWN
            elif option["opt_type"] == 1:
                message = value
        if not isinstance(sqlstate, str):
            sqlstate = "P0001"
        if not isinstance(message, str):
            message = sqlstate
        return self._raise_error(ServerError(sqlstate, message))

    @staticmethod
    def _message(template: str, values: list[Value]) -> Value:
        parts = template.replace("%%", "\0").split("%")
        if len(parts) - 1 != len(values):
            return template
        found = parts[0]
        for part, value in zip(parts[1:], values, strict=True):
            said = "<NULL>" if value is None else text(value)
            if not isinstance(said, str):
                return UNKNOWN
            found += said + part
        return found.replace("\0", "%")

    def _raise_error(self, error: ServerError, inner: Inner | None = None) -> _Way:
        """An error that the body raises itself: for certain, or else one that takes the rest with it perhaps."""
        if not self.in_doubt:
            raise Raised(error, inner)
        self._perhaps_failed(error)
        return _Way(None, [_Signal("raised" if self._taken(error) else "return")])

    def _taken(self, error: ServerError) -> bool:
        """Whether a handler around takes an error."""
        return any(catches(conditions, error.sqlstate) for conditions in self.handlers)

    def _perhaps_failed(self, error: ServerError) -> None:
        """An error that perhaps ended the block with the handler for it, or else everything."""
        self._shake()
        if not self._taken(error):
            self.fallen = True

    def _shake(self) -> None:
        """The statement at hand rests on something unseen."""
        self.shaky += 1
        self.unproven = True

    def _risk(self) -> None:
        """The statement at hand may fail; what runs after it is in doubt only where somebody would take the error."""
        self.unproven = True
        if any(map(_takes_data, self.handlers)):
            self.risks += 1

    def _assert(self, node: Node) -> _Way:
        truth = self._truth(node["cond"])
        if truth is UNKNOWN:
            self._risk()
            return _ON
        if truth is True:
            return _ON
        said = text(self._value(node["message"])) if "message" in node else None
        return self._raise_error(ServerError("P0004", said if isinstance(said, str) else "assertion failed"))

    def _excuse(self, error: ServerError, unseen: bool) -> bool:
        """Whether an assumed refusal is what a guard or a handler is there for."""
        return self._taken(error) or (self.in_doubt and not unseen and error.sqlstate in GUARDED)

    # Statements.

    def _inner(self, node: Node, field: str) -> Inner:
        """A statement's SQL with where it stands."""
        frame = self.frame
        site = frame.program.sites.get(id(node))
        said = node[field]["PLpgSQL_expr"]["query"]
        if site is None or frame.at is not None:
            number = (site.number,) if site is not None else ()
            at = frame.at
            if at is None:
                return Inner(Text(said, (), frame.body.start, frame.body.end), number)
            return Inner(Text(said, (), at.text.start, at.text.end), (*at.number, *number))
        if site.end == site.start:
            return Inner(Text(said, (), frame.body.start, frame.body.end), (site.number,))
        return Inner(frame.body.part(site.start, site.end, said), (site.number,))

    def _sql(self, node: Node) -> _Way:
        """A plain SQL statement (exec_stmt_execsql)."""
        inner = self._inner(node, "sqlstmt")
        try:
            parsed = parse(inner.text.text)
        except SyntaxRefused:
            # PL/pgSQL's parser let it pass: a statement that another major knows, or one with a trap of ours.
            self.host.unfollowed(inner, inner.text.text)
            return _ON
        if parsed is None:
            return _ON
        name, body = parsed
        if node.get("into"):
            self._into(node, name, body)
            if name == "SelectStmt":
                return _ON
        elif name in ("InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt"):
            self.frame.put("found", UNKNOWN)
        if name == "TransactionStmt":
            raise Raised(ServerError("0A000", "unsupported transaction command in PL/pgSQL"), inner)
        self._apply(inner, name, body)
        returns = name in _RETURNS or body.get("returningList") or body.get("returningClause")
        if not node.get("into") and returns:
            hint = (
                "If you want to discard the results of a SELECT, use PERFORM instead." if name == "SelectStmt" else None
            )
            return self._raise_error(ServerError("42601", "query has no destination for result data", hint=hint), inner)
        return _ON

    def _into(self, node: Node, name: str, body: Node) -> None:
        """SELECT ... INTO (exec_stmt_execsql): the first row, or NULLs."""
        if name == "SelectStmt":
            inner = self._inner(node, "sqlstmt")
            self._calls_only(inner, body)
            self._try(body, inner, node.get("target"))
            found = self._rows(body)
            if node.get("strict") and not found.known:
                self._risk()
        else:
            found = queries.UNKNOWN_ROWS
        target = node.get("target")
        if not found.known and not (found.rows and found.rows[0][1] and not found.open):
            self._assign_to(target, (), ())
            self.frame.put("found", found.exists())
            return
        if node.get("strict"):
            self._strictly(found)
        if found.rows:
            self._assign_to(target, found.rows[0][0], found.columns)
        else:
            self._assign_to(target, (None,) * max(1, len(found.columns)), found.columns)
        self.frame.put("found", bool(found.rows))

    def _perform(self, node: Node) -> _Way:
        inner = self._inner(node, "expr")
        statement = query(inner.text.text)
        if statement is None:
            self.host.unfollowed(inner, inner.text.text)
            return _ON
        self._apply(inner, "SelectStmt", statement)
        found = self._rows(statement).exists() if "fromClause" in statement else True
        self.frame.put("found", found)
        return _ON

    def _call(self, node: Node) -> _Way:
        inner = self._inner(node, "expr")
        try:
            parsed = parse(inner.text.text)
        except (SyntaxRefused, TooDeep):
            parsed = None
        if parsed is None:
            self.host.unfollowed(inner, inner.text.text)
        else:
            self._apply(inner, *parsed)
        return _ON

    def _execute(self, node: Node) -> _Way:
        """EXECUTE (exec_stmt_dynexecute)."""
        value = text(self._value(node["query"]))
        inner = self._inner(node, "query")
        if value is None:
            return self._raise_error(ServerError("22004", "query string argument of EXECUTE is null"))
        if not isinstance(value, str):
            self.host.unfollowed(inner, self.frame.known and wording(self.frame.known))
            self._assign_to(node.get("target"), (), ())
            self._shake()
            return _ON
        built = self._executed(inner, node, value)
        with self._parameters(node):
            if node.get("into"):
                self._execute_into(node, value)
            self._script(built)
        return _ON

    def _execute_into(self, node: Node, value: str) -> None:
        statement = query(value)
        found = self._rows(statement) if statement is not None else queries.UNKNOWN_ROWS
        values: Sequence[Value] = ()
        if statement is not None:
            self._try(statement, None, node.get("target"))
        elif not _RETURNING.match(value):
            self._raise_error(ServerError("42601", "INTO used with a command that cannot return data"))
        if node.get("strict"):
            self._strictly(found)
        if found.known:
            values = found.rows[0][0] if found.rows else (None,) * max(1, len(found.columns))
        with self._seen():
            self._assign_to(node.get("target"), values, found.columns)

    def _strictly(self, found: queries.Rows) -> None:
        """INTO STRICT: exactly one row."""
        if not found.known:
            self._risk()
        elif len(found.rows) != 1:
            several = ("P0003", "query returned more than one row")
            self._raise_error(ServerError(*(several if found.rows else ("P0002", "query returned no rows"))))

    @contextmanager
    def _parameters(self, node: Node) -> Iterator[None]:
        """What EXECUTE runs sees the values of USING as $1, $2, and so on, and no variable."""
        frame = self.frame
        before = frame.parameters
        given: dict[str, Value] = {f"${at}": self._value(each) for at, each in enumerate(node.get("params", ()), 1)}
        frame.parameters = given
        try:
            yield
        finally:
            frame.parameters = before

    @contextmanager
    def _seen(self) -> Iterator[None]:
        """The frame's variables are seen again."""
        frame = self.frame
        before, frame.parameters = frame.parameters, None
        try:
            yield
        finally:
            frame.parameters = before

    def _executed(self, inner: Inner, node: Node, value: str) -> Inner:
        """The text that EXECUTE runs; where it is a literal, with its exact place."""
        said = inner.text.text
        constant = expression(said)
        if constant is not None and "A_Const" in constant and inner.text.sites:
            written = literal_at(said, constant["A_Const"].get("location", 7) - 7, value)
            return Inner(inner.text.within(written), inner.number)
        return Inner(Text(value, (), inner.text.start, inner.text.end), inner.number)

    def _script(self, inner: Inner) -> None:
        """Every statement of a text. All of it is parsed first, and places are counted from its beginning."""
        from pubcheck.sources.statements import PsqlCommand, Splitter
        from pubcheck.sources.text import Source

        text = inner.text.text
        statements = [item for item in Splitter(Source("", text)) if not isinstance(item, PsqlCommand)]
        parsed: list[tuple[Inner, tuple[str, Node]]] = []
        for at, item in enumerate(statements):
            # What stands before it is blanked, so that every offset is that in the whole text.
            alone = " " * item.start + item.text if item.start else item.text
            number = inner.number if len(statements) == 1 else (*inner.number, at)
            part = Inner(inner.text.part(0, len(alone), alone), number)
            try:
                found = parse(alone)
            except SyntaxRefused as refusal:
                whole = len(text) if at == len(statements) - 1 else item.end
                self._syntax_error(part, refusal, whole)
                return
            if found is not None:
                parsed.append((part, found))
        for part, (name, body) in parsed:
            self.left -= 1
            if self.left < 0:
                raise Exhausted
            if name == "TransactionStmt":
                raise Raised(ServerError("0A000", "EXECUTE of transaction commands is not implemented"), part)
            self._apply(part, name, body)

    def _syntax_error(self, part: Inner, refusal: SyntaxRefused, end: int) -> None:
        """The grammar refuses a text that EXECUTE runs; ``end`` is where the text ends."""
        said = part.text.text
        about = re.match(r"\s*(create|alter|drop)\s+(or\s+replace\s+)?publication\b", said, re.IGNORECASE)
        error = ServerError(
            refusal.sqlstate,
            refusal.message,
            rule="syntax-error" if about else None,
            hint=refusal.hint,
            location=None if refusal.location is None else len(said[: refusal.location].encode(errors="surrogatepass")),
        )
        if error.location is None:
            error.location = len(said.encode(errors="surrogatepass")) + end - len(said)
            error.culprit = max(0, len(said.encode(errors="surrogatepass")) - 1)
        self._fail(error, part)

    def _fail(self, error: ServerError, inner: Inner) -> None:
        """A refusal outside of the catalog's own."""
        if not self.in_doubt and not self.shaky:
            raise Raised(error, inner)
        self._perhaps_failed(error)
        if not self._excuse(error, False):
            self.host.unfollowed(inner, inner.text.text)

    def _apply(self, inner: Inner, name: str, node: Node) -> None:
        """One parsed statement; what it calls is looked into."""
        if name == "DoStmt":
            self._nested(inner, node)
            return
        if name in ("SelectStmt", "CallStmt") and self._calls(inner, name, node):
            return
        self._do(inner, name, node)

    def _do(self, inner: Inner, name: str, node: Node) -> None:
        refused = commands.refused_in_function(name, node)
        if refused is None and name in _CHANGES_ROWS:
            refused = commands.missing(self.session, name, node)
        if refused is not None:
            self._raise_error(refused, inner)
            return
        standing = Standing(self.in_doubt, self.shaky > 0, any(self.handlers), self._excuse)
        outcome = self.host.do(inner, name, node, standing)
        if isinstance(outcome, ServerError):
            self._perhaps_failed(outcome)
        elif not outcome:
            self._shake()
        if name == "SelectStmt":
            self._try(node, inner)
        elif name in _CHANGES_ROWS or commands.may_fail(self.session, name, node):
            self._risk()

    def _nested(self, inner: Inner, node: Node) -> None:
        """EXECUTE of a DO."""
        body = do_body(inner.text, node)
        if body is None or len(self.frames) >= MAX_DEPTH:
            self.host.unfollowed(inner, inner.text.text)
            return
        try:
            self.block(body, None if body.sites else inner)
        except (NotParsed, TooDeep):
            self.host.unfollowed(inner, inner.text.text)

    # Functions.

    def _wrong_kind(self, row: Proc, call: Node, said: str, instead: str) -> ServerError:
        """A function is called as a procedure, or a procedure selected (ParseFuncOrColumn)."""
        from pubcheck.postgres.ddl.descriptions import format_type

        given = row.arguments[: len(call.get("args", ()))]
        signature = f"{'.'.join(names(call['funcname']))}({', '.join(format_type(self.session, oid) for oid in given)})"
        return ServerError("42809", f"{signature} {said}", hint=f"To call {instead}.", location=call.get("location"))

    def _calls(self, inner: Inner, name: str, node: Node) -> bool:
        """Runs the functions that a statement calls; False where it calls none whose body is known."""
        if name == "CallStmt":
            call = node["funccall"]
            found = self._candidate(call)
            if found is None:
                return False
            if found[0].kind != "p":
                self._fail(self._wrong_kind(found[0], call, "is not a procedure", "a function, use SELECT"), inner)
                return True
            self._invoke(found, call, None, inner)
            return True
        called = [call for kind, call in walk(node) if kind in ("FuncCall", "funccall")]
        candidates = [self._candidate(call) for call in called]
        if not any(candidates):
            self._not_followed(inner, called)
            return False
        for call, found in zip(called, candidates, strict=True):
            if found is not None and found[0].kind == "p":
                self._fail(self._wrong_kind(found[0], call, "is a procedure", "a procedure, use CALL"), inner)
                return True
        alone = _call_alone(node)
        if alone is not None and (found := self._candidate(alone)) is not None:
            self._invoke(found, alone, None, inner)
            return True
        below = [each for each in (node.get("fromClause"), _subqueries(node), node.get("withClause")) if each]
        within = any(self._candidate(call) for kind, call in walk(below) if kind == "FuncCall")
        rows = self._rows(node)
        if not rows.known or within or not _projects_all(node):
            self._not_followed(inner, called)
            return False
        if any(names(call["funcname"])[-1] == "set_config" for call in called):
            self._do(inner, name, node)
        at, self._at = self._at, inner
        self.evaluator.projecting = True
        try:
            self._rows(node)
        finally:
            self.evaluator.projecting = False
            self._at = at
        return True

    def _not_followed(self, inner: Inner, called: Sequence[Node]) -> None:
        """Functions that speak of publications are called, and it is not known which, how often, or with what."""
        from pubcheck.postgres.ddl.lookup import functions_named

        catalog = self.session.catalog
        for oid in {oid for call in called for oid in functions_named(self.session, names(call["funcname"]))}:
            routine = self.routine_of(catalog.procs[oid]) if oid in catalog.procs else None
            if routine is not None and routine.about:
                self.host.unfollowed(inner, routine.body.text)

    _at: Inner | None = None
    """The statement whose functions are called."""

    def _calls_only(self, inner: Inner, node: Node) -> None:
        """What a query does by the functions that it calls."""
        if any(self._candidate(call) for kind, call in walk(node) if kind == "FuncCall") and not self._calls(
            inner, "SelectStmt", node
        ):
            self._do(inner, "SelectStmt", node)

    def _candidate(self, call: Node) -> tuple[Proc, Routine] | None:
        """The one function with a known body that a call can mean."""
        from pubcheck.postgres.ddl.lookup import functions_named

        catalog = self.session.catalog
        found = [catalog.procs[oid] for oid in functions_named(self.session, names(call["funcname"]))]
        count = len(call.get("args", ()))
        fitting = [row for row in found if len(row.arguments) - row.defaults <= count <= len(row.arguments)]
        if len(fitting) != 1 or fitting[0].variadic:
            return None
        routine = self.routine_of(fitting[0])
        return (fitting[0], routine) if routine is not None else None

    def _called(self, call: Node, scope: Scope | None) -> Value:
        """A function call within an expression."""
        found = self._candidate(call)
        if found is None:
            return UNKNOWN
        at = self._at or (self.frame.at if self.frames else None)
        if at is None:
            frame = self.frame
            at = Inner(Text("", (), frame.body.start, frame.body.end), ())
        return self._invoke(found, call, scope, at)

    def _invoke(self, found: tuple[Proc, Routine], call: Node, scope: Scope | None, at: Inner) -> Value:
        row, routine = found
        arguments: list[Value] = [UNKNOWN] * len(row.arguments)
        inputs = [name for name, mode in zip(row.argument_names, row.modes, strict=True) if mode in "ibv"]
        given: set[int] = set()
        for number, item in enumerate(call.get("args", ())):
            named = item.get("NamedArgExpr")
            position = inputs.index(named["name"]) if named and named["name"] in inputs else number
            if position < len(arguments):
                value = self.evaluator.value(named["arg"] if named else item, scope)
                arguments[position] = value
                given.add(position)
        for position, default in routine.defaults:
            if position not in given:
                arguments[position] = self.evaluator.value(default)
        if row.strict and any(value is None for value in arguments):
            return None
        mark = self.host.mark()
        try:
            return self._body(routine, arguments, at, owner=row.owner if row.definer else 0)
        except (NotParsed, TooDeep):
            self.host.undo(mark)
            self.host.unfollowed(at, routine.body.text)
            return UNKNOWN

    def _body(self, routine: Routine, arguments: list[Value] | None, at: Inner | None, *, owner: int = 0) -> Value:
        """Runs a function's body with these arguments (None: not known), as ``owner`` unless that is 0."""
        if len(self.frames) >= MAX_DEPTH:
            raise Exhausted
        bound: dict[str, Value] = {}
        for position, (name, type_name) in enumerate(routine.inputs):
            value = UNKNOWN if arguments is None else arguments[position]
            value = self._as(value, type_name) if type_name else value
            bound[f"${position + 1}"] = value
            if name:
                bound[name] = value
        restore = routine.enter(self.session, owner)
        atomic, self.atomic = self.atomic, self.atomic or not routine.procedure
        handlers, projecting = self.handlers, self.evaluator.projecting
        self.evaluator.projecting = False
        try:
            if routine.language == "sql":
                return self._sql_body(routine, bound, at)
            frame = Frame(program(routine.header(), routine.body.text), routine.body, at)
            frame.arguments = {name: type_name for name, type_name in routine.inputs if name}
            return self._run(frame, bound)
        finally:
            self.handlers, self.evaluator.projecting = handlers, projecting
            self.atomic = atomic
            routine.leave(self.session, restore)

    def _sql_body(self, routine: Routine, bound: dict[str, Value], at: Inner | None) -> Value:
        """A function in SQL: statement after statement; the value of its last query."""
        frame = Frame(Program([], "", 1, None, [], {}, {}), routine.body, at)
        frame.scopes[0] = bound
        self.frames.append(frame)
        try:
            body = routine.body
            inner = Inner(body, ()) if at is None else Inner(Text(body.text, (), at.text.start, at.text.end), at.number)
            self._script(inner)
            last = query(routine.last_statement())
            return self._rows(last).scalar() if last is not None and not routine.returns_set else UNKNOWN
        finally:
            self.frames.pop()

    # Other statements.

    def _assign(self, node: Node) -> _Way:
        said = node["expr"]["PLpgSQL_expr"]["query"]
        match = _ASSIGNMENT.match(said)
        if match is None:
            self._put(node.get("varno", 0), UNKNOWN)
            return _ON
        number = node.get("varno", 0)
        target = self._type_of(number)
        if "[" in match[0]:
            for subscript in _SUBSCRIPT.findall(match[0]):
                self._evaluated(subscript, INTEGER)
            self._evaluated(said[match.end() :], self.trial.element(target) if target is not None else None)
            self._put(number, UNKNOWN)
            return _ON
        self._receive(number, self._evaluated(said[match.end() :], target))
        return _ON

    def _type_of(self, number: int) -> Type | None:
        """The type of a variable, by its number; None where it is not known."""
        variables = self.frame.program.variables
        kind, node = variables[number] if 0 <= number < len(variables) else ("", {})
        return self.trial.type_named(node["datatype"]["PLpgSQL_type"]["typname"]) if kind == "PLpgSQL_var" else None

    def _receive(self, number: int, value: Value) -> None:
        """Assigns a value to a variable, which may refuse it."""
        variables = self.frame.program.variables
        kind, node = variables[number] if 0 <= number < len(variables) else ("", {})
        if kind == "PLpgSQL_recfield":
            parent = variables[node.get("recparentno", 0)][1].get("refname", "")
            if parent in self.frame.records and self.frame.look_up((parent,)) is None:
                self._raise_error(unassigned(parent))
        self._admit(node, value)
        self._put(number, value)

    def _admit(self, node: Node, value: Value) -> None:
        """Whether a variable takes a value (exec_assign_value)."""
        if node.get("notnull"):
            if value is None:
                words = f'null value cannot be assigned to variable "{node["refname"]}" declared NOT NULL'
                self._raise_error(ServerError("22004", words))
            elif value is UNKNOWN:
                self._risk()
        if value is not None and node.get("refname") in self.frame.limited:
            self._risk()

    def _diagnostics(self, node: Node) -> _Way:
        if node.get("is_stacked") and not self.handling:
            words = "GET STACKED DIAGNOSTICS cannot be used outside an exception handler"
            return self._raise_error(ServerError("0Z002", words))
        for item in node.get("diag_items", ()):
            self._put(item["PLpgSQL_diag_item"].get("target", 0), UNKNOWN)
        return _ON

    def _cursor(self, node: Node) -> Node:
        """The variable of a cursor."""
        variables = self.frame.program.variables
        number = node.get("curvar", 0)
        return variables[number][1] if number < len(variables) else {}

    def _open(self, node: Node) -> _Way:
        cursor = self._cursor(node)
        name = cursor.get("refname", "")
        if self.frame.look_up((name,)) is not None:
            self._risk()  # it may be open
        if "dynquery" in node:
            said = text(self._value(node["dynquery"]))
        else:
            written: Node = node.get("query") or cursor.get("cursor_explicit_expr") or {}
            said = written.get("PLpgSQL_expr", {}).get("query")
        statement = query(said) if isinstance(said, str) and "argquery" not in node else None
        if statement is None:
            self._risk()
        elif "dynquery" in node:
            with self._parameters(node):
                self._try(statement)
        else:
            self._try(statement)
        self._bind(name, UNKNOWN)
        return _ON

    def _fetch(self, node: Node) -> _Way:
        self._at_cursor(node)
        self._assign_to(node.get("target"), (), ())
        self.frame.put("found", UNKNOWN)
        return _ON

    def _close(self, node: Node) -> _Way:
        self._at_cursor(node)
        return _ON

    def _at_cursor(self, node: Node) -> None:
        cursor = self._cursor(node)
        name = cursor.get("refname", "")
        if self.frame.look_up((name,)) is not None:
            return
        if "cursor_explicit_expr" in cursor and self.session.catalog.major.number < 16:
            # Before 16 the variable of a bound cursor begins with its own name.
            self._raise_error(ServerError("34000", f'cursor "{name}" does not exist'))
        self._raise_error(ServerError("22004", f'cursor variable "{name}" is null'))

    def _transaction(self, commit: bool) -> _Way:
        if not self.atomic and any(self.handlers):
            word = "commit" if commit else "roll back"
            return self._raise_error(ServerError("2D000", f"cannot {word} while a subtransaction is active"))
        if commit:
            self.settle()
        if self.atomic or not self.host.finish(commit=commit):
            return self._raise_error(ServerError("2D000", "invalid transaction termination"))
        self.begun = self.host.mark()
        return _ON

    def _commit(self, node: Node) -> _Way:
        return self._transaction(True)

    def _rollback(self, node: Node) -> _Way:
        return self._transaction(False)


_BY_HANDLERS = ("sqlstate", "sqlerrm")
_CHANGES_ROWS = frozenset(("InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt", "CallStmt"))
_ABOUT_DDL = frozenset(("42710", "42P07", "42701", "42P06", "42723", "42P04"))
"""What is there already: no query and no change of rows says that."""
_HARMLESS = frozenset(
    [
        "coalesce",
        "count",
        "current_database",
        "current_schema",
        "current_setting",
        "exists",
        "format",
        "now",
        "pg_sleep",
        "quote_ident",
        "version",
    ]
)


def _takes_all(conditions: Sequence[str]) -> bool:
    return any(name.lower() == "others" for name in conditions)


def _takes_data(conditions: Sequence[str]) -> bool:
    """Whether a handler takes any error that queries and changes of rows can end in."""
    return any(CONDITIONS.get(name.lower(), name) not in _ABOUT_DDL for name in conditions)


def may_fail(node: Node) -> bool:
    """Whether a query or an expression can end in an error: one that only reads and compares columns cannot."""
    for kind, body in walk(node):
        if kind == "A_Expr" and names(body["name"])[-1] in ("/", "%"):
            return True
        if kind == "FuncCall" and names(body["funcname"])[-1] not in _HARMLESS:
            return True
        if kind == "TypeCast" and "A_Const" not in body["arg"]:
            return True
    return False


_UNFOLLOWED = frozenset(("refcursor", "timestamptz", "timestamp", "numeric", "float8", "jsonb", "json", "uuid", "date"))
"""Types of which values are not kept; whether they take one the trial says."""
_RETURNS = frozenset(("SelectStmt", "ExplainStmt", "VariableShowStmt"))
_COLLATED = re.compile(r'\bcollate\s+"?([\w-]+)', re.IGNORECASE)
_COLLATIONS = frozenset(("c", "posix", "default", "ucs_basic", "pg_catalog"))
_TYPES_OF_VALUES = {bool: "boolean", int: "int4", str: "text"}
_RETURNING = re.compile(
    r"\s*(?:select|values|show|explain|fetch|execute|table|with)\b|.*\breturning\b", re.IGNORECASE | re.DOTALL
)
_SUBSCRIPT = re.compile(r"\[([^\[\]]*)\]")
_ASSIGNMENT = re.compile(r'\s*(?:[\w$."]|[^\x00-\x7f]|\[[^\]]*\])+\s*:?=')


def _call_alone(node: Node) -> Node | None:
    """The one function in FROM that a query runs, once and to its end, if that is all it does."""
    if set(node) - {"targetList", "fromClause", "limitOption", "op"} or len(node.get("fromClause", ())) != 1:
        return None
    item = node["fromClause"][0].get("RangeFunction", {})
    functions = item.get("functions", ())
    if len(functions) != 1 or any(kind == "FuncCall" for kind, _ in walk(node.get("targetList", ()))):
        return None
    call: Node | None = functions[0]["List"]["items"][0].get("FuncCall")
    arguments = call.get("args", ()) if call is not None else ()
    return None if any(kind in ("FuncCall", "SubLink") for kind, _ in walk(arguments)) else call


def _subqueries(node: Node) -> list[Node]:
    return [body for kind, body in walk(node) if kind == "SubLink"]


def _projects_all(node: Node) -> bool:
    """Whether a query puts together all the rows that it has: LIMIT and OFFSET leave some out."""
    limit = node.get("limitCount", {}).get("A_Const", {}).get("ival", {}).get("ival", 0)
    return "limitOffset" not in node and ("limitCount" not in node or (limit > 0 and "fromClause" not in node))


def _all(way: _Way) -> list[_Signal]:
    return [*way.perhaps, way.certain] if way.certain is not None else way.perhaps


_STATEMENTS: dict[str, Callable[[Interpreter, Node], _Way]] = {
    "PLpgSQL_stmt_assert": Interpreter._assert,
    "PLpgSQL_stmt_assign": Interpreter._assign,
    "PLpgSQL_stmt_block": Interpreter._block,
    "PLpgSQL_stmt_call": Interpreter._call,
    "PLpgSQL_stmt_case": Interpreter._case,
    "PLpgSQL_stmt_close": Interpreter._close,
    "PLpgSQL_stmt_commit": Interpreter._commit,
    "PLpgSQL_stmt_dynexecute": Interpreter._execute,
    "PLpgSQL_stmt_dynfors": Interpreter._for_dynamic,
    "PLpgSQL_stmt_execsql": Interpreter._sql,
    "PLpgSQL_stmt_exit": Interpreter._exit,
    "PLpgSQL_stmt_fetch": Interpreter._fetch,
    "PLpgSQL_stmt_forc": Interpreter._for_cursor,
    "PLpgSQL_stmt_foreach_a": Interpreter._foreach,
    "PLpgSQL_stmt_fori": Interpreter._for_integers,
    "PLpgSQL_stmt_fors": Interpreter._for_rows,
    "PLpgSQL_stmt_getdiag": Interpreter._diagnostics,
    "PLpgSQL_stmt_if": Interpreter._if,
    "PLpgSQL_stmt_loop": Interpreter._loop,
    "PLpgSQL_stmt_open": Interpreter._open,
    "PLpgSQL_stmt_perform": Interpreter._perform,
    "PLpgSQL_stmt_raise": Interpreter._raise,
    "PLpgSQL_stmt_return": Interpreter._return,
    "PLpgSQL_stmt_return_next": Interpreter._return_next,
    "PLpgSQL_stmt_return_query": Interpreter._return_query,
    "PLpgSQL_stmt_rollback": Interpreter._rollback,
    "PLpgSQL_stmt_while": Interpreter._while,
    "case_not_found": Interpreter._case_not_found,
}


def language_of(node: Node) -> str:
    """The language of a DO statement."""
    options = {item["DefElem"]["defname"]: item["DefElem"] for item in node.get("args", ())}
    said: str = options.get("language", {}).get("arg", {}).get("String", {}).get("sval", "plpgsql")
    return said.lower()


def do_body(outer: Text, node: Node) -> Text | None:
    """The body of a DO statement in PL/pgSQL with its place; None in another language."""
    options = {item["DefElem"]["defname"]: item["DefElem"] for item in node.get("args", ())}
    if language_of(node) != "plpgsql":
        return None
    given = options.get("as")
    if given is None:
        return None
    body = literal_at(outer.text, given.get("location", 0), given["arg"]["String"].get("sval", ""))
    return outer.within(body)
