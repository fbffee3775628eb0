"""Whether pubcheck predicts what the servers answered: one judgement for a case and a major.

A DDL case (the corpus' phases create, alter, parse, ddl) is agreed when the one certain refusal on the judged statement
has the recorded SQLSTATE, or when there is none and the server accepted. A dml case is agreed when the certain `write`
diagnostics say of the tables that the statement writes what the server said of the statement. Whatever else the phase:
a refusal of a statement that the server accepted is an invented error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct
from pglast.parser import ParseError, parse_sql_json

from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic, Operation, ServerAnswer
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.source import Source
from tests.support.cases import DDL_PHASES, Case, Recorded

DATABASE = "casedb"
"""Stands for @@DB@@ in a case's statements and for <db> in its answers."""

ROLES = ("CREATE ROLE spec_user", "CREATE ROLE spec_user2")

LATER: dict[str, str] = {}
"""Families and single cases whose verdicts are not required yet, with what they need. Invented errors are forbidden in
them too."""

UNMAPPED: dict[str, str] = {
    "ri-part-pruned-bad-leaf-update": "the WHERE prunes the bad leaf; pubcheck judges the table",
    "ri-part-pruned-bad-leaf-delete": "the WHERE prunes the bad leaf; pubcheck judges the table",
    "v19-except-toast-table": "a DO block that reads the name of a TOAST table from the catalog",
    "rf-collate-en-us": "which collations of the C library there are depends on the machine: the refusal is assumed",
}
"""Cases that what can be said without a server cannot equal, with the reason. Counted, not judged."""


FOLLOWED = frozenset(
    (
        "plpgsql-loop-foreach-null",
        "plpgsql-savepoint",
        "plpgsql-function-commit",
        "v19-alter-check-enforced",
        "v19-catalog-prexcept",
        "v19-catalog-puballsequences",
        "v19-catalog-sequences-view",
        "v19-create-schema-order",
        "v19-ddl-attach-excluded-missing-parent",
        "v19-ddl-attach-excluded-not-partitioned",
        "v19-ddl-attach-excluded-typed",
        "v19-create-schema-order-keys",
        "v19-graph-drop-table-used",
        "v19-repack-concurrently-in-transaction",
        "v19-ri-index-not-valid-primary-key",
        "v19-seq-function-missing",
        "v19-set-escape-string-warning",
        "v19-set-standard-conforming-off",
    )
)
"""Statements that are refused and are not about publications: followed, and not reported."""

OTHER_STATEMENTS = frozenset(
    (
        "for-portion-of",
        "merge-split",
        "on-conflict-select",
        "other-statement",
        "relation-kind",
        "repack",
        "v19-rf-graph-table",
    )
)
"""Families and cases about forms of 19 in other statements than those of publications: a major whose grammar does not
have them skips such a statement with a note."""


class Status(StrEnum):
    """How a case stands: `covered` must agree, `later` and `other` phases must not invent, `unmapped` is free."""

    COVERED = "covered"
    LATER = "later"
    UNMAPPED = "unmapped"
    OTHER = "other"


class Judgement(Struct, frozen=True):
    """What came of one case on one major. `differences` are the fields whose words differ though the verdict agrees."""

    case: Case
    major: int
    status: Status
    agreed: bool
    differences: tuple[str, ...] = ()
    invented: tuple[Diagnostic, ...] = ()
    got: tuple[Diagnostic, ...] = ()
    problem: str = ""

    @property
    def worded(self) -> bool:
        return self.agreed and not self.differences


def status(case: Case, major: int) -> Status:
    answer = case.answers[major]
    refused_early = answer.at == "setup" or (case.phase == "silent" and not answer.ok)
    if (case.phase not in DDL_PHASES and case.phase != "dml" and not refused_early) or case.id in FOLLOWED:
        return Status.OTHER
    if not OTHER_STATEMENTS.isdisjoint((case.rule, case.id)) and answer.sqlstate == "42601":
        return Status.OTHER
    if case.id in UNMAPPED:
        return Status.UNMAPPED
    return Status.LATER if case.rule in LATER or case.id in LATER else Status.COVERED


def judge(case: Case, major: int) -> Judgement:
    """Lints the case as a whole database and compares. An exception of the linter is a disagreement with its words."""
    text, start = text_of(case)
    try:
        unit = Unit(sources=(Source("case.sql", text),))
        findings = Linter(Config(postgres=(major,), complete=True, database=DATABASE)).lint(unit).diagnostics
    except Exception as error:  # the report shows every case, also while the linter is being written
        return Judgement(case, major, status(case, major), False, problem=f"{type(error).__name__}: {error}")
    findings = tuple(diagnostic for diagnostic in findings if major in diagnostic.postgres)
    refused = [diagnostic for diagnostic in findings if diagnostic.refused]
    of_setup = [diagnostic for diagnostic in refused if _start(diagnostic) < start]
    of_statement = [diagnostic for diagnostic in refused if _start(diagnostic) >= start]
    if case.answers[major].at == "setup":
        return _judge_setup(case, major, of_setup)
    if case.phase == "dml":
        return _judge_write(case, major, findings, of_setup, of_statement)
    if status(case, major) is Status.OTHER:
        # A subscription's statement runs elsewhere and its refusal is not of phase ddl; the others were accepted.
        invented = of_setup if case.phase == "subscribe" else refused
        return Judgement(case, major, Status.OTHER, not invented, invented=tuple(invented), got=tuple(invented))
    return _judge_ddl(case, major, of_setup, of_statement)


def _judge_setup(case: Case, major: int, of_setup: list[Diagnostic]) -> Judgement:
    """The major refuses a statement of the setup: the first refusal is judged, all else rests on that statement."""
    expected = case.answers[major]
    server = of_setup[0].server if of_setup else None
    agreed = server is not None and server.sqlstate == expected.sqlstate
    differences = differing(expected, server) if agreed and server else ()
    return Judgement(case, major, status(case, major), agreed, differences, got=tuple(of_setup))


def _judge_ddl(case: Case, major: int, of_setup: list[Diagnostic], of_statement: list[Diagnostic]) -> Judgement:
    expected = case.answers[major]
    got = tuple(of_setup + of_statement)
    if expected.ok:
        return Judgement(case, major, status(case, major), not got, invented=got, got=got)
    server = of_statement[0].server if len(of_statement) == 1 else None
    agreed = server is not None and server.sqlstate == expected.sqlstate and not of_setup
    differences = differing(expected, server) if agreed and server else ()
    return Judgement(case, major, status(case, major), agreed, differences, tuple(of_setup), got)


def _judge_write(
    case: Case,
    major: int,
    findings: Sequence[Diagnostic],
    of_setup: list[Diagnostic],
    of_statement: list[Diagnostic],
) -> Judgement:
    expected, refused = case.answers[major], of_setup + of_statement
    # The causes that the server meets first: the others have the answers that it gives once these are gone.
    met = (d for d in findings if d.phase == "write" and d.server is not None and not d.after_count)
    writes = tuple(d for d in met if d.certainty == "certain")
    if expected.ok:
        operations = operations_of(case.statement)
        tables = written_tables(case)
        wrong = tuple(d for d in writes if d.operation in operations and _table(d) in tables)
        return Judgement(
            case,
            major,
            status(case, major),
            not wrong and not refused,
            invented=(*refused, *wrong),
            got=(*refused, *writes),
        )
    # The server names the table and the operation that failed, which a trigger or a foreign key may have moved away
    # from the statement's own.
    named = re.fullmatch(r'cannot (update|delete from) table "(.+?)"( because .*)?', expected.message or "")
    if named is None:  # not for its publications
        return _judge_ddl(case, major, of_setup, of_statement)
    operation: Operation = "update" if named[1] == "update" else "delete"
    same = [d for d in writes if d.operation == operation and _table(d) == named[2]]
    server = same[0].server if len(same) == 1 else None
    agreed = server is not None and server.sqlstate == expected.sqlstate and not refused
    differences = differing(expected, server) if agreed and server else ()
    return Judgement(case, major, status(case, major), agreed, differences, tuple(refused), (*refused, *writes))


def differing(expected: Recorded, server: ServerAnswer) -> tuple[str, ...]:
    """The fields of an ERROR that differ, after what varies from run to run has its placeholder."""
    fields = ("message", "detail", "hint", *(["position"] if expected.placed else []))
    return tuple(name for name in fields if getattr(expected, name) != normalised(getattr(server, name)))


def normalised(value: Any) -> Any:
    """A server's text with the placeholders of the corpus; other values as they are."""
    if not isinstance(value, str):
        return value
    value = re.sub(r"\bpg_temp_\d+\b", "pg_temp_<n>", value)
    return re.sub(rf"\bdatabase {DATABASE}\b", "database <db>", value)


def text_of(case: Case) -> tuple[str, int]:
    """The case as one SQL text, and where the judged statement starts in it."""
    before = "".join(f"{statement};\n" for statement in (*ROLES, *case.setup))
    text = (before + case.statement).replace("@@PORT@@", "5432")
    before, text = before.replace("@@DB@@", DATABASE).replace("@@PORT@@", "5432"), text.replace("@@DB@@", DATABASE)
    return text, len(before)


def _start(diagnostic: Diagnostic) -> int:
    return diagnostic.statement.start if diagnostic.statement else diagnostic.span.start


def _table(diagnostic: Diagnostic) -> str:
    """The relation's own name, as the server's messages give it."""
    return (diagnostic.object or "").rpartition(".")[2].strip('"')


# --- What a statement writes, from its parse tree -----------------------------------------------------------------


def operations_of(statement: str) -> frozenset[Operation]:
    """The UPDATEs and DELETEs that executing the statement performs; PREPARE executes nothing."""
    kind, node = _parsed(statement)
    if kind == "UpdateStmt":
        return frozenset({"update"})
    if kind == "DeleteStmt":
        return frozenset({"delete"})
    if kind == "InsertStmt" and node.get("onConflictClause", {}).get("action") == "ONCONFLICT_UPDATE":
        return frozenset({"update"})
    if kind == "MergeStmt":
        commands = {clause["MergeWhenClause"]["commandType"] for clause in node["mergeWhenClauses"]}
        named: dict[str, Operation] = {"CMD_UPDATE": "update", "CMD_DELETE": "delete"}
        return frozenset(operation for command, operation in named.items() if command in commands)
    return frozenset()


def written_tables(case: Case) -> frozenset[str]:
    """The names of the relations that the statement may write: its target, what a view shows, and the members below."""
    below: dict[str, set[str]] = {}
    for statement in case.setup:
        for parent, child, there in _links(statement):
            members = below.setdefault(parent, set())
            (members.add if there else members.discard)(child)
    _, node = _parsed(case.statement)
    target = node.get("relation")
    if not target:
        return frozenset()
    tables: set[str] = set()
    waiting = [target["relname"]]
    while waiting:
        table = waiting.pop()
        if table not in tables:
            tables.add(table)
            waiting += below.get(table, ()) if target.get("inh") else ()
    return frozenset(tables)


def _links(statement: str) -> Iterator[tuple[str, str, bool]]:
    """(parent, child, whether it is one afterwards): what the statement says of partitions, inheritance and views."""
    if "@@" in statement:  # not SQL before it has its placeholder; no table is made that way
        return
    kind, node = _parsed(statement)
    if kind == "CreateStmt":
        for parent in node.get("inhRelations", ()):
            yield parent["RangeVar"]["relname"], node["relation"]["relname"], True
    elif kind == "ViewStmt":
        for item in node["query"].get("SelectStmt", {}).get("fromClause", ()):
            if "RangeVar" in item:
                yield node["view"]["relname"], item["RangeVar"]["relname"], True
    elif kind == "AlterTableStmt":
        for command in (item["AlterTableCmd"] for item in node["cmds"]):
            definition, subtype = command.get("def", {}), command["subtype"]
            if "PartitionCmd" in definition and "name" in definition["PartitionCmd"]:
                leaf = definition["PartitionCmd"]["name"]["relname"]
                yield node["relation"]["relname"], leaf, subtype == "AT_AttachPartition"
            elif "RangeVar" in definition:
                yield definition["RangeVar"]["relname"], node["relation"]["relname"], subtype == "AT_AddInherit"


def _parsed(statement: str) -> tuple[str, dict[str, Any]]:
    """The node's kind and fields; of EXPLAIN those of what it explains. Nothing of what only a later major reads."""
    try:
        statements = json.loads(parse_sql_json(statement)).get("stmts", ())
    except ParseError:
        return "", {}
    if not statements:
        return "", {}
    ((kind, node),) = statements[0]["stmt"].items()
    if kind == "ExplainStmt":
        ((kind, node),) = node["query"].items()
    return kind, node
