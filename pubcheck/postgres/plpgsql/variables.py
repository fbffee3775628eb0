"""Variables: their declared types, which the server looks up when it compiles a body (pl_gram.y: read_datatype;
pl_comp.c: plpgsql_parse_wordtype and its kin), and their values, which are kept by name and evaluated as far as they
are known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from pubcheck.postgres.budget import STEP, Budget
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.parse import Node
from pubcheck.postgres.plpgsql import catalogs, queries
from pubcheck.postgres.plpgsql.compile_errors import NotParsed, is_template
from pubcheck.postgres.plpgsql.control_flow import GUARDED, BlockUncertainty, Completion, Signal
from pubcheck.postgres.plpgsql.evaluate import Evaluator, expression, query
from pubcheck.postgres.plpgsql.frames import Exhausted, Frame, FrameVariables, Host, Inner, Raised, unassigned
from pubcheck.postgres.plpgsql.parse import Program, typname
from pubcheck.postgres.plpgsql.query_check import QueryChecker
from pubcheck.postgres.plpgsql.values import MISSING, UNKNOWN, Failed, Rows, Value, coerce
from pubcheck.postgres.plpgsql.variable_binding import BOOLEAN, Type
from pubcheck.postgres.session import Session
from pubcheck.postgres.source_text import Text
from pubcheck.postgres.tokens import folded, in_bytes, in_characters, tokens

_NAME = r'(?:"[^"]+"|[^\W\d][\w$]*)'
_TWO_WORDS = r"double\s+precision\b|national\s+char(?:acter)?\b"
_REFERENCE = ("type", "rowtype")


class Declaration(Struct, frozen=True):
    """The type in a declaration: its text, its place in the body, and its ``reference``: "type" or "rowtype" after a %,
    "[]" for an array, or "".
    """

    text: str
    start: int
    end: int
    reference: str

    @property
    def parts(self) -> list[str]:
        parts = re.findall(_NAME, self.text)
        return [part.strip('"') if part[0] == '"' else part.lower() for part in parts]


def declaration_of(body: str, node: Node) -> Declaration | None:
    """Return the declaration of a variable (PLpgSQL_var, PLpgSQL_rec); None if it has none with a type."""
    offset = _declarations(body).get((node["refname"], node.get("lineno", 1)))
    match = _TYPE.match(body, offset) if offset is not None else None
    if match is None or match[1].lower() in _NO_TYPES:
        return None
    return Declaration(match[1], match.start(1), match.end(1), "[]" if match[3] else (match[2] or "").lower())


_TYPE = re.compile(
    rf"\s+(?:constant\s+)?({_TWO_WORDS}|{_NAME}(?:\s*\.\s*{_NAME})*)\s*(?:%\s*(type|rowtype)\b|(\[|array\b))?",
    re.IGNORECASE,
)
_NO_TYPES = ("in", "alias", "cursor", "no", "scroll", "record", "slice")


@lru_cache(maxsize=16)
def _declarations(body: str) -> dict[tuple[str, int], int]:
    """Yield the end of each declared name of a body, by name and line, in the order of the text."""
    data = body.encode(errors="surrogatepass")
    places: dict[tuple[str, int], int] = {}
    before, declares = b";", False
    counted, line, characters = 0, 1, 0
    for kind, token, start in tokens(data):
        word = token.lower()
        if word in (b"declare", b"begin"):
            declares = word == b"declare"
        elif declares and before in (b"declare", b";") and kind == "name":
            line += data.count(b"\n", counted, start)
            characters += in_characters(data[counted:start])
            counted = start
            places.setdefault((folded(token), line), characters + in_characters(token))
        before = word
    return places


def all_types_exist(trial: QueryChecker, body: str, parsed: Program) -> bool:
    """Return whether the types of all variables of a body are known to exist. Raises NotParsed if one certainly does
    not."""
    nodes = (node for kind, node in parsed.variables if kind in _WITH_TYPES and "lineno" in node)
    # All of them: a missing one may follow one that is unknown.
    return False not in {_is_declarable(trial, body, node) for node in nodes}


_WITH_TYPES = ("PLpgSQL_var", "PLpgSQL_rec")


def _is_declarable(trial: QueryChecker, body: str, node: Node) -> bool:
    written = typname(node)
    declaration = declaration_of(body, node)
    if declaration is None:
        return not written or bool(trial.type_named(written)[0])
    if declaration.reference in _REFERENCE:
        return _refers(trial, body, declaration)
    if trial.type_named(declaration.text)[0]:
        return True
    try:
        trial.session.named_type(declaration.parts, declaration.reference)
    except ServerError as error:
        raise NotParsed(error.message, error.sqlstate, declaration.start) from None
    return False


def _refers(trial: QueryChecker, body: str, declaration: Declaration) -> bool:
    """%TYPE of a column or variable, and %ROWTYPE."""
    session, parts = trial.session, declaration.parts
    early = not session.catalog.major.type_references_parsed and declaration.reference == "type"
    missing: NotParsed | None = None
    if early:
        missing = NotParsed('syntax error at or near "%"', "42601", body.index("%", declaration.end))
    if declaration.reference == "type" and len(parts) == 1:
        # Of another variable.
        return re.search(rf'(?i)(?<![\w$.])"?{re.escape(parts[0])}"?\s', body[: declaration.start]) is not None
    column = parts.pop() if declaration.reference == "type" else ""
    written = ".".join(f'"{part}"' for part in parts)
    row = session.regclass(written)
    if row is None and column and len(parts) == 1 and _is_label(session, body, parts[0]):
        return False
    if row is None and session.certainly_none(written):
        if len(parts) > 1 and parts[-2] not in session.catalog.namespace_names:
            raise missing or NotParsed(f'schema "{parts[-2]}" does not exist', "3F000")
        raise missing or NotParsed(f'relation "{".".join(parts)}" does not exist', "42P01")
    if row is None or not row.seen:
        return False
    if not column or row.column(column) is not None:
        return True
    if row.columns and not session.blind and row.kind in "rp":
        raise missing or NotParsed(f'column "{column}" of relation "{row.name}" does not exist', "42703")
    return False


def _is_label(session: Session, body: str, name: str) -> bool:
    """Return whether a name may be a block's or function's label that qualifies its variables."""
    of_function = any(name == proc_name for _, proc_name in session.catalog.proc_names.groups)
    return of_function or re.search(rf"<<\s*\"?{re.escape(name)}\"?\s*>>", body, re.IGNORECASE) is not None


def first_refusal(trial: QueryChecker, body: str, failure: NotParsed) -> NotParsed | None:
    """Return the error that the server certainly raises first for a body that the parser refuses.

    A missing type in an earlier declaration comes before the parser's error. None if the error is not known, or if a
    body with placeholders is run as another text.
    """
    first = _missing_type(trial, body, failure) or failure
    return first if first.sqlstate is not None and (first.statement or not is_template(body)) else None


def _missing_type(trial: QueryChecker, body: str, failure: NotParsed) -> NotParsed | None:
    """A type of a declaration before a place, which is not there; one without a SQLSTATE perhaps is."""
    end = len(body) if failure.location is None else failure.location
    for (name, line), offset in _declarations(body).items():
        if offset > end:
            break
        node: Node = {"refname": name, "lineno": line}
        try:
            if _ends_by(body, node, body.find(";", offset, end)) and not _is_declarable(trial, body, node):
                return NotParsed(failure.message)
        except NotParsed as missing:
            return missing
    return None


def _ends_by(body: str, node: Node, semicolon: int) -> bool:
    """Return whether a declaration names a type before the semicolon (-1 for none)."""
    declaration = declaration_of(body, node)
    return declaration is not None and declaration.text.lower() != "begin" and declaration.end <= semicolon


class Memory:
    """The frames of the running bodies, and the values of expressions in the innermost one."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.session = host.session
        self.frames: list[Frame] = []
        self.uncertainty = BlockUncertainty()
        self.invoked = 0
        """The number of functions that expressions have called."""
        self.budget = Budget()
        """The budget of everything that runs together."""
        self.trial = QueryChecker(self.session, self.budget)
        self.evaluator = Evaluator(self.session, self.variable, self.budget, queries.run)

    def fail(self, error: ServerError, inner: Inner | None = None) -> Completion:
        """Raise an error of the body itself: a certain one, or one that may end the rest as well."""
        if not self.uncertainty.is_uncertain:
            raise Raised(error, inner)
        self.uncertainty.assume_failure(error)
        return Completion(None, [Signal("raised" if self.uncertainty.is_caught(error) else "return")])

    def spend(self, amount: int = STEP) -> None:
        """Use up part of the budget. Raises Exhausted when nothing is left."""
        try:
            self.budget.spend(amount)
        except Unknowable:
            raise Exhausted from None

    def is_excused(self, error: ServerError, unseen: bool) -> bool:
        """Return whether an assumed refusal is what a guard or a handler is there for."""
        return self.uncertainty.is_caught(error) or (
            self.uncertainty.is_uncertain and not unseen and error.sqlstate in GUARDED
        )

    def followed_functions(self, statement: Node) -> list[int]:
        """Return the functions that an expression calls and that are run, one for each call."""
        raise NotImplementedError

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def variable(self, parts: tuple[str, ...]) -> Value:
        return self.frames[-1].look_up(parts) if self.frames else MISSING

    def declare(self, frame: Frame, scope: dict[str, Value], kind: str, node: Node, otherwise: Value) -> None:
        name = node["refname"]
        if kind == "PLpgSQL_var":
            written = typname(node)
            frame.declared += frame.types.get(name) != written
            frame.types[name] = written
        value: Value = otherwise
        if "default_val" in node:
            value = self.value(node["default_val"], self.trial.type_named(frame.types[name]))
            self.admit(node, value)
        scope[name] = self.as_type(value, frame.types[name]) if name in frame.types else value

    def find_types(self, frame: Frame) -> None:
        """Look up the types of all variables of a body, as the server does before it runs any of it.

        Raises NotParsed if one does not exist.
        """
        if not all_types_exist(self.trial, frame.body.text, frame.program):
            self.uncertainty.assume_risk()

    def as_type(self, value: Value, type_name: str) -> Value:
        """Return the value as one of a type."""
        if type_name == "regclass" and isinstance(value, str):
            return self.evaluator.regclass(value)
        typed = coerce(value, type_name)
        if typed is UNKNOWN and value is not UNKNOWN and type_name not in _UNFOLLOWED:
            self.uncertainty.assume_risk()
        return typed

    def value(self, node: Node, target: Type | None = None) -> Value:
        """Return the value of a PLpgSQL_expr, which is for a variable of the ``target`` type. Raises Raised."""
        return self.evaluate(node["PLpgSQL_expr"]["query"], target)

    def evaluate(self, expression_text: str, target: Type | None = None, before: str = "") -> Value:
        """Return the value of an expression; ``before`` is the part of the query before it. Raises Raised."""
        statement = query(_SELECT + expression_text)
        try:
            called = self.followed_functions(statement) if statement is not None else []
            with self.trial.follow_functions(called):
                fails = statement is None or self.trial.may_fail(statement, self.variables(), (target,))
            invoked = self.invoked
            value = self.evaluator.of_text(expression_text)
            if value is UNKNOWN and (fails or self.invoked - invoked < len(called)):
                self.uncertainty.assume_risk()
            return value
        except Failed as error:
            literal = expression(expression_text) if before else None
            if error.location is None and literal is not None and "sval" in literal.get("A_Const", ()):
                # A literal that is assigned is read when the assignment is analysed.
                error.location = literal["A_Const"].get("location", len(_SELECT))
            if error.location is not None:
                error.location += in_bytes(before) - len(_SELECT)
                error.culprit = error.location
            self.fail(error, self._written(before + expression_text))
            return UNKNOWN

    def _written(self, expression_text: str) -> Inner:
        """Return an expression's place; for one that is written several times, the whole body's."""
        frame = self.frame
        if frame.at is not None:
            return Inner(Text(expression_text, (), frame.at.text.start, frame.at.text.end), frame.at.number)
        body = frame.body
        offset = body.text.find(expression_text)
        if offset >= 0 and body.text.find(expression_text, offset + 1) < 0:
            return Inner(body.part(offset, offset + len(expression_text)), ())
        return Inner(Text(expression_text, (), body.start, body.end), ())

    def attempt(self, statement: Node, inner: Inner | None = None, into: Node | None = None) -> None:
        """Return whether a query may fail, whose first row is put ``into`` variables. Raises Raised if it certainly
        fails."""
        try:
            if self.trial.may_fail(statement, self.variables(), self.target_types(into)):
                self.uncertainty.assume_risk()
        except Failed as error:
            self.fail(error, inner)

    def target_types(self, into: Node | None) -> list[Type | None]:
        """Return the types of the variables that a row is put into."""
        for kind, node in (into or {}).items():
            if kind == "PLpgSQL_row":
                return [self.type_of(field.get("varno", 0)) for field in node.get("fields", ())]
            if kind == "PLpgSQL_var":
                return [self.trial.type_named(typname(node))]
        return []

    def accept_any_value(self, into: Node | None) -> bool:
        """Return whether it is known of every value whether the variables accept it."""
        return all(
            target_type is not None and self.trial.is_checkable(target_type) for target_type in self.target_types(into)
        )

    def variables(self) -> FrameVariables:
        return FrameVariables(self.frame, self.trial) if self.frames else FrameVariables(None, self.trial)

    def truth(self, node: Node) -> Value:
        return coerce(self.value(node, BOOLEAN), "boolean")

    def assign_to(self, target: Node | None, values: Sequence[Value], columns: Sequence[str] = ()) -> None:
        """Assign a row to a record or to scalar variables; UNKNOWN for those without a value."""
        for kind, node in (target or {}).items():
            if kind == "PLpgSQL_row" and self._is_whole_row(node, columns):
                self.put(node["fields"][0].get("varno", 0), dict(zip(columns, values, strict=False)))
            elif kind == "PLpgSQL_row":
                for position, field in enumerate(node.get("fields", ())):
                    value = values[position] if position < len(values) else UNKNOWN
                    self.receive(field.get("varno", 0), value)
            elif kind == "PLpgSQL_rec":
                is_complete = len(columns) == len(values) and len(values) > 0
                row: Value = dict(zip(columns, values, strict=False)) if is_complete else UNKNOWN
                if not self._put_hidden(node.get("dno", 0), node, row):
                    self.bind(node["refname"], row)
            elif kind == "PLpgSQL_var":
                self.bind(node["refname"], values[0] if values else UNKNOWN)

    def _is_whole_row(self, node: Node, columns: Sequence[str]) -> bool:
        """Return whether a row is one variable of the type of a catalog's rows, and the columns are the catalog's."""
        if len(node.get("fields", ())) != 1:
            return False
        written = typname(self.datum(node["fields"][0].get("varno", 0))[1])
        name = written.removesuffix("%rowtype")
        return name != written and catalogs.columns(self.session, "pg_catalog", name) == columns

    def bind(self, name: str, value: Value) -> None:
        """Set a variable, possibly one that a loop declares."""
        frame = self.frame
        if any(name in scope for scope in frame.scopes):
            frame.put(name, self.as_type(value, frame.types[name]) if name in frame.types else value)
        else:
            frame.scopes[-1][name] = value

    def datum(self, number: int) -> tuple[str, Node]:
        """Return the kind and the node of a variable by its number; empty ones if it does not exist."""
        variables = self.frame.program.variables
        return variables[number] if 0 <= number < len(variables) else ("", {})

    def put(self, number: int, value: Value) -> None:
        """Assign a value to a variable by its number."""
        kind, node = self.datum(number)
        if kind == "PLpgSQL_recfield":
            parent = self.datum(node.get("recparentno", 0))[1].get("refname", "")
            record = self.frame.look_up((parent,))
            self.bind(parent, {**record, node["fieldname"]: value} if isinstance(record, dict) else UNKNOWN)
        elif "refname" in node and kind != "PLpgSQL_row":
            if not self._put_hidden(number, node, value):
                self.bind(node["refname"], value)
        elif kind == "PLpgSQL_row":
            for field in node.get("fields", ()):
                self.put(field.get("varno", 0), UNKNOWN)

    def _put_hidden(self, number: int, node: Node, value: Value) -> bool:
        """Assign to a variable that one of an inner block hides. Return False if it is not hidden."""
        home, name = self.frame.homes.get(number), node["refname"]
        visible = next((scope for scope in reversed(self.frame.scopes) if name in scope), None)
        if home is None or visible is None or name not in home or visible is home:
            return False
        home[name] = self.as_type(value, typname(node)) if "datatype" in node else value
        return True

    def restore(self, snapshot: list[dict[str, Value]]) -> None:
        for scope, former in zip(self.frame.scopes, snapshot, strict=True):
            scope.clear()
            scope.update(former)

    def rows(self, statement: Node) -> Rows:
        return queries.run(self.evaluator, statement)

    def type_of(self, number: int) -> Type | None:
        """Return the type of a variable by its number; None if it is not known."""
        kind, node = self.datum(number)
        return self.trial.type_named(typname(node)) if kind == "PLpgSQL_var" else None

    def receive(self, number: int, value: Value) -> None:
        """Assign a value to a variable, which may refuse it."""
        kind, node = self.datum(number)
        if kind == "PLpgSQL_recfield":
            parent = self.datum(node.get("recparentno", 0))[1].get("refname", "")
            if parent in self.frame.records and self.frame.look_up((parent,)) is None:
                self.fail(unassigned(parent))
        self.admit(node, value)
        if kind == "PLpgSQL_var" and isinstance(value, str):
            try:
                self.trial.check_input(value, typname(node))
            except Failed as error:
                self.fail(error)
        self.put(number, value)

    def admit(self, node: Node, value: Value) -> None:
        """Return whether a variable accepts a value (exec_assign_value)."""
        if node.get("notnull"):
            if value is None:
                words = f'null value cannot be assigned to variable "{node["refname"]}" declared NOT NULL'
                self.fail(ServerError("22004", words))
            elif value is UNKNOWN:
                self.uncertainty.assume_risk()
        if value is not None and node.get("refname") in self.frame.limited:
            self.uncertainty.assume_risk()


_SELECT = "SELECT "
_UNFOLLOWED = frozenset(("refcursor", "timestamptz", "timestamp", "numeric", "float8", "jsonb", "json", "uuid", "date"))
"""Types whose values are not kept. A trial assignment shows whether they accept a value."""
