"""Analyse the queries and expressions of a block as the server does, and report which ones certainly fail or may fail.

The server analyses a query when it first runs it (parse analysis), folds its constants in the planner, and evaluates
the rest for each row. An error of the first two steps is certain, and so is an error with known values. Other parts
succeed only if they are known to return a value for every argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from msgspec import Struct

from pubcheck.postgres import input
from pubcheck.postgres.analysis.namespace_items import Nested
from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.analysis.row_filter import DETAILS as FILTER_ERRORS
from pubcheck.postgres.analysis.row_filter import parse_state
from pubcheck.postgres.analysis.select import analyze_query
from pubcheck.postgres.budget import Budget
from pubcheck.postgres.ddl.types import typmod_of
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor import Context
from pubcheck.postgres.executor.functions import Constant, Step
from pubcheck.postgres.oids import BOOL, INT2, INT4, INT8, NUMERIC, TEXT
from pubcheck.postgres.parse import Node, SyntaxRefused, TooDeep, parse
from pubcheck.postgres.parse_tree import names, walk
from pubcheck.postgres.plpgsql.values import Failed
from pubcheck.postgres.plpgsql.variable_binding import (
    FieldUnknown,
    Folder,
    Type,
    Variables,
    shape_of,
    values_of,
    variable_columns,
    variables_relation,
    with_columns,
    words_may_fail,
)
from pubcheck.postgres.session import Session

_MOST = 3_000
"""Queries that are analysed in one block; of later ones only the words are looked at."""


class QueryChecker:
    """Checks the queries and expressions that a session evaluates."""

    def __init__(self, session: Session, budget: Budget) -> None:
        self.session, self._budget = session, budget
        self.followed: frozenset[int] = frozenset()
        """Functions of the current query whose bodies are run separately: whether they fail is not checked here."""
        self._left = _MOST
        self._types: dict[str, Type] = {}
        self._known: dict[tuple[int, int, tuple[Type | None, ...], frozenset[int]], _Analysed] = {}

    @contextmanager
    def follow_functions(self, functions: Iterable[int]) -> Iterator[None]:
        """Treat these functions as run separately."""
        before, self.followed = self.followed, frozenset(functions)
        try:
            yield
        finally:
            self.followed = before

    def function_of(self, call: Node, variables: Variables) -> int | None:
        """Return the function that a call in an expression means, of several of its name; None if that is not known."""
        query: Node = {"targetList": [{"ResTarget": {"val": {"FuncCall": call}}}]}
        with self.session.apart():
            try:
                expr = self._nested(query, variables, {})[0].analysed[0]
            except (ServerError, Unknowable, RecursionError, IndexError):
                return None
        return expr.functions[0] if expr.node == "FuncExpr" else None

    def type_named(self, written: str) -> Type:
        """Return the type that a declaration names; (0, -1) if it is not known."""
        type_and_typmod = self._types.get(written)
        if type_and_typmod is None:
            type_and_typmod = self._types[written] = self._type(written)
        return type_and_typmod

    def _type(self, written: str) -> Type:
        try:
            parsed = parse(f"SELECT NULL::{written}")
        except (SyntaxRefused, TooDeep):
            return 0, -1
        if parsed is None or parsed[0] != "SelectStmt":
            return 0, -1
        value = parsed[1]["targetList"][0]["ResTarget"].get("val", {})
        if "TypeCast" not in value:
            return 0, -1
        node = value["TypeCast"]["typeName"]
        with self.session.apart(), suppress(ServerError, Unknowable):
            oid = self.session.type_oid(node)
            return oid, typmod_of(self.session, node, oid) if oid and "typmods" in node else -1
        return 0, -1

    def check_input(self, value: str, written: str) -> None:
        """Raise Failed if a text certainly cannot be assigned to a variable declared so."""
        oid, typmod = self.type_named(written)
        if self.is_checkable((oid, typmod)):
            try:
                input.read(parse_state(self.session, variables_relation(())).inputs, oid, value, typmod)
            except Unknowable:
                return
            except ServerError as error:
                raise Failed(error.sqlstate, error.message, detail=error.detail, hint=error.hint) from None

    @staticmethod
    def is_checkable(kind: Type) -> bool:
        """Return whether ``check_input`` knows for every text whether a variable of that type accepts it."""
        return kind[0] in (BOOL, INT2, INT4, INT8, NUMERIC, TEXT) and kind[1] < 0

    def element(self, array: Type) -> Type | None:
        """Return the type of an array's elements; None if it is not known."""
        try:
            oid = self.session.syscache.element_type(array[0]) if array[0] else 0
        except Unknowable:
            return None
        return (oid, array[1]) if oid else None

    def may_fail(self, query: Node, variables: Variables, targets: Sequence[Type | None] = ()) -> bool:
        """Return whether evaluating a SelectStmt may fail. ``targets`` are the types of the variables that its values
        are for.

        Raises Failed where it certainly fails; its location is a byte offset in the text of the query.
        """
        session, journal = self.session, self.session.catalog.journal
        key = (id(query), variables.place, tuple(targets), self.followed)
        stamp = (journal.mark(), journal.undos, session.blind)
        analysed = self._known.get(key)
        fresh = analysed is None or analysed.query is not query or analysed.stamp != stamp
        if fresh and self._left <= 0:
            return words_may_fail(query)
        with session.apart() as basis:
            try:
                if analysed is None or fresh:
                    self._left -= 1
                    analysed = self._known[key] = self._analysed(query, variables, targets, stamp)
                return analysed.verdict if analysed.verdict is not None else self._evaluated(analysed, variables)
            except ServerError as error:
                if not basis.certain or session.blind or error.key in FILTER_ERRORS:
                    return True
                raise Failed(
                    error.sqlstate, error.message, detail=error.detail, hint=error.hint, location=error.location
                ) from None

    def _analysed(self, query: Node, variables: Variables, targets: Sequence[Type | None], stamp: _Stamp) -> _Analysed:
        try:
            return self._analyse(query, variables, targets, stamp)
        except FieldUnknown as field:
            return _Analysed(query, _NEVER, field.missing or words_may_fail(query))
        except (Unknowable, RecursionError):
            verdict = self._rests_on_unseen(query) or words_may_fail(query)
        return _Analysed(query, stamp, verdict)

    def _rests_on_unseen(self, query: Node) -> bool:
        """Return whether a query names a table or function that is not visible."""
        try:
            return self._names_unseen(query)
        except (ServerError, Unknowable):
            return True

    def _names_unseen(self, query: Node) -> bool:
        session = self.session
        named = {body["ctename"] for kind, body in walk(query) if kind == "CommonTableExpr"}
        for kind, body in walk(query):
            if kind == "RangeVar" and not ("schemaname" not in body and body["relname"] in named):
                row = session.find_relation(body)
                if row is None or not row.seen:
                    return True
            elif kind == "FuncCall" and not any(True for _ in session.syscache.procs(names(body["funcname"]))):
                return True
        return False

    def _analyse(self, query: Node, variables: Variables, targets: Sequence[Type | None], stamp: _Stamp) -> _Analysed:
        used: dict[str, int] = {}
        nested, outputs = self._nested(query, variables, used)
        folder = Folder(Context(nested.inputs, budget=self._budget), self.followed)
        steps = [folder.build(part) for part in nested.analysed]
        straight = query.keys() <= _STRAIGHT
        certain = straight and "whereClause" not in query
        if outputs is not None:
            for target, part in zip(targets, nested.analysed[: len(outputs)], strict=False):
                if target is not None and target[0]:
                    steps.append(folder.assign(nested, part, target, certain=certain))
        risky = folder.risky or shape_of(query).several
        waiting = [step for step in steps if not isinstance(step, Constant)] if straight else []
        if straight and not waiting:
            return _Analysed(query, stamp, False)
        return _Analysed(query, stamp, None if straight else risky, risky, certain, waiting, used, nested)

    def _nested(
        self, query: Node, variables: Variables, used: dict[str, int]
    ) -> tuple[Nested, Sequence[object] | None]:
        """A query as the parser analyses it, and its columns; ``used``: of the variables in it, their numbers."""
        statement = with_columns(self.session, query, variables, used)
        nested = Nested(parse_state(self.session, variables_relation(variable_columns(used, variables))))
        return nested, analyze_query(nested, {"SelectStmt": statement})

    def _evaluated(self, analysed: _Analysed, variables: Variables) -> bool:
        """Return whether an expression over the current values may fail. Raises ServerError if it certainly does."""
        values = values_of(analysed.state, analysed.used, variables) if analysed.state is not None else None
        # Each of them, as the server does: a later one may fail.
        results = [Folder.gives_value(step, values, certain=analysed.certain) for step in analysed.steps]
        return analysed.risky and not all(results)


_Stamp = tuple[int, int, bool]
_NEVER = -1, -1, False


class _Analysed(Struct):
    """The result of analysing a query: a ``verdict``, or the steps that depend on the values of variables."""

    query: Node
    stamp: _Stamp
    """The state of the catalog that the result depends on."""
    verdict: bool | None
    risky: bool = False
    certain: bool = False
    steps: list[Step] = []
    used: dict[str, int] = {}
    state: ParseState | None = None


_STRAIGHT = frozenset(("targetList", "whereClause", "limitOption", "op"))
"""The clauses of a query with one row."""
