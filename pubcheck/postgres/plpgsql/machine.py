"""Runs statements in order; a table has the function for each kind of statement. Which of them always fail in a
function, or may fail because of something outside the catalog."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pubcheck.lexing.items import PsqlCommand
from pubcheck.lexing.splitter import Splitter
from pubcheck.postgres.catalog import PUBLICATION
from pubcheck.postgres.catalog.rows import Proc
from pubcheck.postgres.catalog.tables import Routine
from pubcheck.postgres.ddl.other_statements import missing_target
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.newer_grammar import parse_with
from pubcheck.postgres.parse import Node, SyntaxRefused
from pubcheck.postgres.parse_tree import names
from pubcheck.postgres.plpgsql.control_flow import ON, Completion, Signal, catches
from pubcheck.postgres.plpgsql.frames import ExecutionContext, Exhausted, Frame, Host, Inner, Raised
from pubcheck.postgres.plpgsql.parse import program
from pubcheck.postgres.plpgsql.values import UNKNOWN, Value
from pubcheck.postgres.plpgsql.variable_binding import words_may_fail
from pubcheck.postgres.plpgsql.variables import Memory
from pubcheck.postgres.session import Session
from pubcheck.postgres.source_text import Text, language_of
from pubcheck.postgres.tokens import in_bytes
from pubcheck.source import Source

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


# Statements that the catalog follows, so that what they need is known, and those that need nothing.
_FOLLOWED = frozenset(
    (
        "AlterPublicationStmt", "CompositeTypeStmt", "CreateEnumStmt", "CreatePublicationStmt", "CreateSchemaStmt",
        "CreateStmt", "IndexStmt", "CreateRoleStmt", "DoStmt", "ListenStmt", "NotifyStmt", "UnlistenStmt", "SelectStmt",
    )
)  # fmt: skip
_OF_DATABASES = {
    "CreatedbStmt": "CREATE DATABASE",
    "DropdbStmt": "DROP DATABASE",
    "CreateTableSpaceStmt": "CREATE TABLESPACE",
    "DropTableSpaceStmt": "DROP TABLESPACE",
    "AlterSystemStmt": "ALTER SYSTEM",
}


def refused_in_function(name: str, node: Node, *, in_block: bool) -> ServerError | None:
    """Return the error of PreventInTransactionBlock, or of PL/pgSQL's executor, for a command in a function.

    ``in_block``: the command runs in a transaction block, or in a block with handlers.
    """
    if name == "CopyStmt" and "filename" not in node:
        return ServerError("0A000", "cannot COPY to/from client in PL/pgSQL")
    command = _OF_DATABASES.get(name)
    if name == "VacuumStmt" and node.get("is_vacuumcmd"):
        command = "VACUUM"
    elif name == "IndexStmt" and node.get("concurrent"):
        command = "CREATE INDEX CONCURRENTLY"
    elif name == "DropStmt" and node.get("concurrent"):
        command = "DROP INDEX CONCURRENTLY"
    elif name == "DiscardStmt" and node.get("target") == "DISCARD_ALL":
        command = "DISCARD ALL"
    elif name == "ReindexStmt" and any(
        item.get("DefElem", {}).get("defname") == "concurrently" for item in node.get("params", ())
    ):
        command = "REINDEX CONCURRENTLY"
    if command is None:
        return None
    words = "cannot run inside a transaction block" if in_block else "cannot be executed from a function"
    return ServerError("25001", f"{command} {words}")


def may_fail(session: Session, name: str, node: Node) -> bool:
    """Return whether a command that was followed, or skipped, may have failed on the server.

    Raises ServerError where a relation that it names certainly does not exist.
    """
    if name in _FOLLOWED:
        return False
    if name in ("TruncateStmt", "LockStmt"):
        return not _all_known(session, [item["RangeVar"] for item in node.get("relations", ())])
    if name == "CommentStmt":
        return not _commented(session, node)
    if name == "GrantStmt":
        return not _granted(session, node)
    if name == "VariableSetStmt":
        return not _settable(node)
    if name in ("ViewStmt", "CreateTableAsStmt"):
        return words_may_fail(node["query"])
    if name == "AlterTableStmt":
        return any(_alteration_may_fail(item["AlterTableCmd"]) for item in node.get("cmds", ()))
    if name == "DropStmt":
        return not node.get("missing_ok") and node["removeType"] not in _RELATIONS
    if name in ("AlterOwnerStmt", "AlterObjectSchemaStmt", "RenameStmt"):
        return node.get("objectType", node.get("renameType")) not in _RELATIONS
    if name in ("CreateSeqStmt", "AlterSeqStmt"):
        return "options" in node
    if name == "CreatePolicyStmt":
        return "qual" in node or "with_check" in node
    if name == "CreateFunctionStmt":
        return language_of(node, "options") != "plpgsql"
    if name == "AlterEnumStmt":
        return not session.complete
    return True


def _alteration_may_fail(command: Node) -> bool:
    subtype, name = command["subtype"], command.get("name")
    if subtype == "AT_SetTableSpace":
        return bool(name != "pg_default")
    if subtype == "AT_SetAccessMethod":
        return name not in (None, "heap")
    if subtype == "AT_SetCompression":
        return command["def"]["String"]["sval"] not in ("default", "pglz")
    return bool(subtype == "AT_GenericOptions")


_RELATIONS = frozenset(
    f"OBJECT_{word}"
    for word in ("TABLE", "VIEW", "MATVIEW", "INDEX", "SEQUENCE", "PUBLICATION", "SCHEMA", "COLUMN", "TABCONSTRAINT")
)


def _all_known(session: Session, tables: Iterable[Node]) -> bool:
    rows = [session.find_relation(table) for table in tables]
    return all(row is not None and row.seen for row in rows)


def _commented(session: Session, node: Node) -> bool:
    kind, object_node = node["objtype"], node["object"]
    if kind == "OBJECT_PUBLICATION":
        return True
    path = (
        names(object_node["List"]["items"])
        if "List" in object_node and kind in ("OBJECT_TABLE", "OBJECT_COLUMN")
        else []
    )
    if not path:
        return False
    column = path.pop() if kind == "OBJECT_COLUMN" else None
    row = session.find_relation(_range(path)) if path else None
    return row is not None and row.seen and (column is None or row.column(column) is not None)


def _range(path: list[str]) -> Node:
    return {"relname": path[-1], **({"schemaname": path[-2]} if len(path) > 1 else {})}


def _granted(session: Session, node: Node) -> bool:
    if node.get("targtype") not in (None, "ACL_TARGET_OBJECT") or node.get("objtype") != "OBJECT_TABLE":
        return False
    if not _all_known(session, [item["RangeVar"] for item in node.get("objects", ()) if "RangeVar" in item]):
        return False
    roles = [item["RoleSpec"] for item in node.get("grantees", ())]
    catalog = session.catalog
    for role in roles:
        if role["roletype"] == "ROLESPEC_CSTRING":
            oid = catalog.role_names.get(role["rolename"])
            if oid is None or not catalog.roles[oid].seen:
                return False
    return True


_SETTABLE = frozenset(
    (
        "check_function_bodies", "client_min_messages", "default_tablespace", "default_table_access_method",
        "idle_in_transaction_session_timeout", "lock_timeout", "maintenance_work_mem", "row_security", "search_path",
        "session_replication_role", "standard_conforming_strings", "statement_timeout", "synchronous_commit",
        "timezone", "transaction_timeout", "work_mem", "xmloption",
    )
)  # fmt: skip


def _settable(node: Node) -> bool:
    """Return whether a setting that everybody may set gets a value that it surely accepts: a number, a word for a
    number, or names."""
    name = node.get("name", "").lower()
    if node["kind"] in ("VAR_SET_DEFAULT", "VAR_RESET"):
        return name in _SETTABLE or "." in name
    if node["kind"] != "VAR_SET_VALUE":
        return False
    if "." in name or name == "search_path":
        return True
    return name in _SETTABLE and all(map(_is_amount, node.get("args", ())))


def _is_amount(node: Node) -> bool:
    constant = node.get("A_Const", {})
    string = constant.get("sval", {}).get("sval", "")
    return "ival" in constant or _AMOUNT.fullmatch(string) is not None


_AMOUNT = re.compile(r"\d+\s?(?:kB|MB|GB|ms|s|min|h)?|on|off|true|false|UTC|warning|error|notice|replica|origin|local")


@contextmanager
def execute_parameters(machine: Machine, node: Node) -> Iterator[None]:
    """Make the values of USING visible as $1, $2 and so on, and hide the variables, as EXECUTE does."""
    frame = machine.frame
    before = frame.parameters
    values: dict[str, Value] = {
        f"${number}": machine.value(param) for number, param in enumerate(node.get("params", ()), 1)
    }
    frame.parameters = values
    try:
        yield
    finally:
        frame.parameters = before


@contextmanager
def frame_variables(machine: Machine) -> Iterator[None]:
    """Make the frame's variables visible again."""
    frame = machine.frame
    before, frame.parameters = frame.parameters, None
    try:
        yield
    finally:
        frame.parameters = before


READ = 8
"""The cost of reading a character of the SQL that is executed."""


def script(machine: Machine, inner: Inner) -> None:
    """Apply every statement of a text. All of it is parsed first, and places are counted from its beginning."""
    text = inner.text.text
    statements = [item for item in Splitter(Source("", text)) if not isinstance(item, PsqlCommand)]
    parsed: list[tuple[Inner, tuple[str, Node]]] = []
    for position, item in enumerate(statements):
        # What precedes it is blanked, so that every offset is that in the whole text.
        machine.spend(READ * item.end)
        alone = " " * item.start + item.text if item.start else item.text
        number = inner.number if len(statements) == 1 else (*inner.number, position)
        part = Inner(inner.text.part(0, len(alone), alone), number)
        try:
            statement = parse_with(machine.session.catalog.major.newer_grammar, alone)
        except SyntaxRefused as refusal:
            whole = len(text) if position == len(statements) - 1 else item.end
            syntax_error(machine, part, refusal, whole)
            return
        if statement is not None:
            parsed.append((part, statement))
    for part, (name, body) in parsed:
        machine.left -= 1
        if machine.left < 0:
            raise Exhausted
        if name == "TransactionStmt":
            raise Raised(ServerError("0A000", "EXECUTE of transaction commands is not implemented"), part)
        machine.apply(part, name, body)


def syntax_error(machine: Machine, part: Inner, refusal: SyntaxRefused, end: int) -> None:
    """Return the grammar's error for a text that EXECUTE runs; ``end`` is where the text ends."""
    sql = part.text.text
    about = re.match(r"\s*(create|alter|drop)\s+(or\s+replace\s+)?publication\b", sql, re.IGNORECASE)
    error = ServerError(
        refusal.sqlstate,
        refusal.message,
        key="syntax-error" if about else None,
        detail=refusal.detail,
        hint=refusal.hint,
        location=None if refusal.location is None else in_bytes(sql, refusal.location),
    )
    if error.location is None:
        error.location = in_bytes(sql) + end - len(sql)
        error.culprit = max(0, in_bytes(sql) - 1)
    machine.refuse(error, part)


def do(machine: Machine, inner: Inner, name: str, node: Node) -> None:
    in_block = machine.in_transaction or any(machine.uncertainty.handlers)
    refused = refused_in_function(name, node, in_block=in_block)
    if refused is None and name in _CHANGES_ROWS:
        refused = missing_target(machine.session, name, node)
    if refused is not None:
        machine.fail(refused, inner)
        return
    uncertainty = machine.uncertainty
    context = ExecutionContext(
        uncertainty.is_uncertain,
        uncertainty.unknown_dependencies > 0,
        any(uncertainty.handlers),
        machine.is_excused,
        uncertainty.in_branch,
    )
    may_exist = name == "CreatePublicationStmt" and _may_exist_already(machine, node["pubname"])
    outcome = machine.host.do(inner, name, node, context)
    if isinstance(outcome, ServerError):
        machine.uncertainty.assume_failure(outcome)
    elif may_exist or not outcome:
        machine.uncertainty.depend_on_unknown()
    if name == "SelectStmt":
        machine.attempt(node, inner)
    elif name in _CHANGES_ROWS or may_fail(machine.session, name, node):
        machine.uncertainty.assume_risk()


def _may_exist_already(machine: Machine, publication: str) -> bool:
    """Whether a handler expects that a publication, which these files do not create earlier, exists already."""
    session = machine.session
    known = publication in session.catalog.publication_names or session.is_closed(PUBLICATION, 0, publication)
    return not known and any(catches(conditions, "42710") for conditions in machine.uncertainty.handlers)


_CHANGES_ROWS = frozenset(("InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt", "CallStmt"))
