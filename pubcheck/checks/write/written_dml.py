"""Statements in the files that write a table, and whether the server refuses them at that point.

When a statement starts, CheckValidResultRel (execMain.c) calls CheckCmdReplicaIdentity for every table that it may
change, whether a row matches or not. So EXPLAIN and EXECUTE are refused, and PREPARE is not.

The planner chooses which children of a partitioned table or an inheritance parent a statement with a condition reaches.
Unless the choice is clear, only a refusal that holds for all children is reported, as assumed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from pubcheck.checks.write.replica_identity import WRITING, Refusal, Write, is_replaced, others_on, refusals
from pubcheck.checks.write.updatable_views import shown_table, written
from pubcheck.checks.write.write_refusal_history import RefusedWrites
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.ddl.query_dependencies import read_query
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import column_names
from pubcheck.postgres.replication.result_relations import members
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.connection import READ_ONLY
from pubcheck.postgres.versions import Major

NAME = r'(?:"(?:[^"]++|"")++"|[^\W\d][\w$]*)'
_HEAD = re.compile(
    rf"(?:update|delete\s+from|merge\s+into|insert\s+into)\s+(?:only\s+)?(?P<name>{NAME}(?:\.{NAME})*)(?=[\s(]|\Z)",
    re.IGNORECASE,
)
_INSERTS = re.compile(r"insert\b", re.IGNORECASE)
_CONFLICT = re.compile(r"\bon\s+conflict\b", re.IGNORECASE)
_COPY_OF_TABLE = re.compile(r"copy\b\s*[^\s(]", re.IGNORECASE)
_INSIDE = re.compile(r"\b(?:update|delete|merge|conflict|execute)\b", re.IGNORECASE)


class DmlRefusal(Struct, frozen=True):
    """A statement that is refused: ``verb`` is what it does to the table that the server names, ``start`` the byte
    offset in the statement of the table that it names itself."""

    refusal: Refusal
    verb: str
    start: int
    certain: bool


class _WriteTarget(Struct, frozen=True):
    """One table that a statement writes.

    ``operations`` are in the order in which they are checked; ``around`` is the WITH clause of the whole statement.
    """

    kind: str
    body: Node
    operations: tuple[Write, ...]
    around: Node | None = None

    @property
    def target(self) -> Node:
        relation: Node = self.body["relation"]
        return relation


class _Answer(Struct, frozen=True):
    """The refusal for a table and those below it, and whether it is certain; None if one may be reported."""

    refusal: Refusal | None = None
    certain: bool = False


_VERBS = {
    "UpdateStmt": "UPDATE of",
    "DeleteStmt": "DELETE from",
    "MergeStmt": "MERGE into",
    "InsertStmt": "ON CONFLICT DO UPDATE of",
}


def may_be_refused(session: Session, refused: RefusedWrites, text: str) -> bool:
    """Return whether a statement's text may be that of a write that is refused: what others cost is this."""
    head = _HEAD.match(text)
    if head is None:
        return _COPY_OF_TABLE.match(text) is None and _INSIDE.search(text) is not None
    try:
        row = session.regclass(head["name"])
    except ServerError:
        return False
    if row is not None and row.kind == "v":
        row = shown_table(session.catalog, row)
    if row is None or not refused.reaches(row.oid):
        return False
    return _INSERTS.match(text) is None or _CONFLICT.search(text) is not None


def stopped(
    session: Session, refused: RefusedWrites, name: str, node: Node, enclosing_block: str = ""
) -> DmlRefusal | None:
    """Return why the server refuses a statement in the current state, or None if it does not or that is unknown.

    ``enclosing_block`` is the rest of the block of a statement: a name that is not a column may be a variable there.
    The call changes the session's notes on the statement and may change the catalog; the caller undoes that.
    """
    catalog = session.catalog
    if session.setting(READ_ONLY):
        return None  # refused for that
    writes = list(_write_targets(name, node, catalog.major))
    answers = [_first(session, refused, refusing_write) for refusing_write in writes]
    first = next((number for number, answer in enumerate(answers) if answer is not None and answer.refusal), None)
    if first is None:
        return None
    refusing_answer, refusing_write = answers[first], writes[first]
    if refusing_answer is None or refusing_answer.refusal is None:
        return None
    seen = _reads(session, name, node, writes, enclosing_block)
    if seen is None:
        return None
    if refusing_write.around is not None and any(_of_rules(session, write) for write in writes):
        return None  # refused for that, or never run
    if any(_ill_typed(session, write, enclosing_block) for write in writes):
        return None
    sure = all(answer is None for answer in answers[:first]) and refusing_answer.certain
    certain = sure and seen and refusing_answer.refusal.certain and not session.healed
    return DmlRefusal(
        refusing_answer.refusal, _VERBS[refusing_write.kind], refusing_write.target.get("location", 0), certain
    )


# What a statement writes.


def _write_targets(name: str, node: Node, major: Major) -> Iterator[_WriteTarget]:
    """Return the tables that a statement writes, in the executor's order (InitPlan): those of WITH first."""
    name, node = _query(name, node, major)
    around = node.get("withClause")
    for item in around["ctes"] if around is not None else ():
        ((kind, body),) = item["CommonTableExpr"]["ctequery"].items()
        if kind == "MergeStmt" and not major.merge_returning:
            return
        yield from _write_target(kind, body, around, major)
    yield from _write_target(name, node, around, major)


def _query(name: str, node: Node, major: Major) -> tuple[str, Node]:
    """Return the statement inside EXPLAIN, COPY or PREPARE."""
    if name in ("ExplainStmt", "CopyStmt", "PrepareStmt"):
        options = [item["DefElem"]["defname"] for item in node.get("options", ())]
        if "query" not in node or ("generic_plan" in options and not major.generic_plan):
            return "", {}
        ((name, node),) = node["query"].items()
    return name, node


def _write_target(kind: str, body: Node, enclosing_block: Node | None, major: Major) -> Iterator[_WriteTarget]:
    if kind in WRITING and _is_understood(kind, body, major):
        yield _WriteTarget(kind, body, _operations(kind, body), enclosing_block)


def _operations(kind: str, body: Node) -> tuple[Write, ...]:
    if kind == "UpdateStmt":
        return ("update",)
    if kind == "DeleteStmt":
        return ("delete",)
    if kind == "InsertStmt":
        return ("update",) if body.get("onConflictClause", {}).get("action") == "ONCONFLICT_UPDATE" else ()
    actions = (item["MergeWhenClause"]["commandType"] for item in body["mergeWhenClauses"])
    return tuple(dict.fromkeys(_OF_COMMAND[action] for action in actions if action in _OF_COMMAND))


_OF_COMMAND: dict[str, Write] = {"CMD_UPDATE": "update", "CMD_DELETE": "delete"}


def _settled(clauses: list[Node]) -> set[str]:
    """The kinds of rows for which some WHEN clause of MERGE has no condition, so that no further one is reached."""
    return {clause["matchKind"] for clause in clauses if "condition" not in clause}


_BY_SOURCE = "MERGE_WHEN_NOT_MATCHED_BY_SOURCE"


def _is_understood(kind: str, body: Node, major: Major) -> bool:
    """Return whether the major has the syntax; the grammar that reads the files is 18's."""
    returning = body.get("returningClause")
    if kind == "MergeStmt":
        clauses = [item["MergeWhenClause"] for item in body["mergeWhenClauses"]]
        if any(clause["matchKind"] in _settled(clauses[:index]) for index, clause in enumerate(clauses)):
            return False  # unreachable, and so refused
        if not major.merge_returning:
            return returning is None and all(clause["matchKind"] != _BY_SOURCE for clause in clauses)
    return returning is None or "options" not in returning or major.returning_old_new


# Which of the tables below is refused.


def _first(session: Session, refused: RefusedWrites, target: _WriteTarget) -> _Answer | None:
    """Return the answer for a table and its children; None if they certainly accept the write."""
    catalog = session.catalog
    try:
        row = session.find_relation(target.target)
    except ServerError:
        return _Answer()
    if row is not None and row.kind == "v" and _takes_views(target, catalog.major):
        return _through_view(session, refused, row, target)
    if row is None or row.kind not in "rp" or not target.operations:
        return None if not target.operations else _Answer()
    if all(is_replaced(catalog, row, operation) for operation in target.operations):
        return None
    ruled = bool(others_on(catalog, row, "rule"))
    if ruled and target.kind not in ("UpdateStmt", "DeleteStmt"):
        return _Answer()  # many of these are refused because of the rules
    sure = not ruled and row.seen and (session.superuser() or session.owns(row.owner))
    alone = target.kind == "InsertStmt" or not target.target.get("inh")
    if alone or not catalog.children.has(row.oid):
        refusal = _refusal(catalog, refused, row, target)
        if refusal is None and row.kind == "p" and target.kind == "InsertStmt":
            return _of_all(catalog, refused, row, target)
        return _Answer(refusal, sure) if refusal is not None else None
    if not _reaches_all(catalog, row, target):
        return _of_all(catalog, refused, row, target)
    try:
        reached, in_order = list(members(catalog, row)), True
    except ValueError:
        reached, in_order = _below(catalog, row), False
    found_below = (
        member_refusal
        for member in reached
        if (member_refusal := _refusal(catalog, refused, member, target)) is not None
    )
    first = next(found_below, None)
    if first is None:
        return None
    # Rules of the tables below do nothing here.
    sure = sure and not any(others_on(catalog, member, "rule") for member in reached)
    return _Answer(first, sure and (in_order or next(found_below, None) is None))


def _through_view(session: Session, refused: RefusedWrites, view: Relation, target: _WriteTarget) -> _Answer | None:
    """The refusal of the table that a view is over."""
    catalog = session.catalog
    names = [item.get("name", "") for item in _targets(target)]
    set_to = {item.get("name", ""): "SetToDefault" in item.get("val", {}) for item in _targets(target)}
    if target.kind == "MergeStmt":
        # Each action sets columns of its own, and INSERT all of the view's unless it names some.
        set_to = dict.fromkeys((*names, *_inserted(view, target)), False)
        names = list(set_to)
    view_write = written(session, view, names)
    if view_write is None or others_on(catalog, view_write.table, "rule"):
        return _Answer()
    row = view_write.table
    for name, default in zip(view_write.columns, set_to.values(), strict=True):
        column = row.column(name)
        if column is None or ((column.generated or column.identity == "a") and not default):
            return _Answer()
    if catalog.children.has(row.oid) and not view_write.only:
        if view_write.conditions or any(clause in target.body for clause in ("whereClause", *_JOINED)):
            return _of_all(catalog, refused, row, target)
        schema = catalog.namespaces[row.namespace].name
        body = {**target.body, "relation": {"relname": row.name, "schemaname": schema, "inh": True}}
        answer = _first(session, refused, _WriteTarget(target.kind, body, target.operations, target.around))
        return answer and _Answer(answer.refusal, answer.certain and view_write.allowed)
    refusal = _refusal(catalog, refused, row, target)
    return _Answer(refusal, view_write.allowed and row.seen) if refusal is not None else None


def _takes_views(target: _WriteTarget, major: Major) -> bool:
    """Return whether a statement may write what a view shows."""
    return target.kind in ("UpdateStmt", "DeleteStmt") or (target.kind == "MergeStmt" and major.merge_into_views)


_JOINED = ("fromClause", "usingClause", "joinCondition")


def _inserted(view: Relation, write: _WriteTarget) -> Iterator[str]:
    """The columns of a view that the INSERTs of a MERGE set."""
    for item in write.body["mergeWhenClauses"]:
        action = item["MergeWhenClause"]
        if action["commandType"] == "CMD_INSERT":
            named = [target["ResTarget"]["name"] for target in action.get("targetList", ())]
            yield from named or [column.name for column in view.live()]


def _refusal(catalog: Catalog, refused: RefusedWrites, row: Relation, target: _WriteTarget) -> Refusal | None:
    operations = [operation for operation in target.operations if refused.is_refused(row.oid, operation)]
    return refusals(catalog, row)[operations[0]][0] if operations else None


def _of_all(catalog: Catalog, refused: RefusedWrites, row: Relation, target: _WriteTarget) -> _Answer | None:
    """Return a refusal if each table below refuses, for a statement that may write any of them."""
    refusals = [_refusal(catalog, refused, member, target) for member in _below(catalog, row)]
    if not any(refusals):
        return None
    return _Answer(refusals[0] if all(refusals) else None)


def _below(catalog: Catalog, row: Relation) -> list[Relation]:
    """The ordinary tables whose rows a table shows."""
    return [relation for oid in catalog.descendants(row.oid) if (relation := catalog.relations[oid]).kind == "r"]


def _of_rules(session: Session, target: _WriteTarget) -> bool:
    row = session.find_relation(target.target)
    return row is not None and bool(others_on(session.catalog, row, "rule"))


# Conditions by which the planner may leave tables out (relation_excluded_by_constraints, partprune.c).


def _reaches_all(catalog: Catalog, row: Relation, target: _WriteTarget) -> bool:
    """Return whether no table is left out: no condition, or one column that chooses none is compared with constants."""
    if any(clause in target.body for clause in _JOINED):
        return False
    where = target.body.get("whereClause")
    if where is None:
        return True
    ((kind, body),) = where.items()
    if kind == "A_Const":
        return bool(body.get("boolval", {}).get("boolval"))
    if kind == "NullTest":
        column = body["arg"]
    elif kind == "A_Expr" and body["kind"] in ("AEXPR_OP", "AEXPR_LIKE", "AEXPR_ILIKE", "AEXPR_IN"):
        column, value = body.get("lexpr", {}), body["rexpr"]
        values = value["List"]["items"] if "List" in value else [value]
        if not all("A_Const" in item and not item["A_Const"].get("isnull") for item in values):
            return False
    else:
        return False
    names = column_names(column) if "ColumnRef" in column else []
    family = (*catalog.ancestors(row.oid), *catalog.descendants(row.oid))
    return len(names) == 1 and all(_does_nothing(catalog, catalog.relations[oid], names[0], kind) for oid in family)


def _does_nothing(catalog: Catalog, row: Relation, name: str, kind: str) -> bool:
    """Return whether nothing about a table is known of a column by which the table could be left out."""
    column = row.column(name)
    if column is None or (kind == "NullTest" and column.not_null):
        return False
    keys = row.partition_key
    if column.number in keys or column.number in row.partition_reads or (0 in keys and not row.partition_reads):
        return False
    held = (catalog.constraints[oid] for oid in catalog.constraints_of.get(row.oid))
    return not any(row.kind == "c" and (row.tree is None or name in column_names(row.tree)) for row in held)


# Whether the statement is right in all else: what is wrong with it is reported before it starts.


def _reads(session: Session, name: str, node: Node, targets: list[_WriteTarget], enclosing_block: str) -> bool | None:
    """Return whether all that a statement names is there and seen; None if another error may come first."""
    name, node = _query(name, node, session.catalog.major)
    with session.apart() as basis:
        try:
            if name == "SelectStmt":
                read_query(session, {name: node})
            for target in targets:
                row = session.find_relation(target.target)
                if row is None or not _assignable(row, target):
                    return None
                if "onConflictClause" in target.body and not _infers(session.catalog, row, target):
                    return None
                read_query(session, _as_query(target))
        except ServerError as error:
            # A name that is unknown to the query may be a variable of the block.
            unknown = error.arguments.get("column") or error.arguments.get("name") or ""
            name = re.escape(unknown.partition(".")[0])
            if not unknown or not re.search(rf"(?<![\w$.]){name}(?![\w$])", enclosing_block, re.IGNORECASE):
                return None
        except RecursionError:
            return None
        return basis.certain


def _ill_typed(session: Session, target: _WriteTarget, enclosing_block: str) -> bool:
    """Return whether the server certainly refuses a statement for its types or values."""
    from pubcheck.postgres.executor.dml import analyze_write

    row = session.find_relation(target.target)
    if row is None or not row.seen:
        return False
    with session.apart() as basis:
        try:
            analyze_write(session, row, target.kind, target.body, target.around)
        except ServerError as error:
            # Names that are not columns may be variables or parameters.
            return basis.certain and not (error.sqlstate in _OF_NAMES and enclosing_block) and error.sqlstate != "42P02"
        except (Unknowable, RecursionError):
            return False
    return False


_OF_NAMES = ("42703", "42P01")


def _assignable(row: Relation, target: _WriteTarget) -> bool:
    """Return whether the columns that are set are there and may be set (transformUpdateTargetList)."""
    if not row.seen:
        return True
    for item in _targets(target):
        column = row.column(item.get("name", ""))
        if column is None:
            return False
        if (column.generated or column.identity == "a") and "SetToDefault" not in item.get("val", {}):
            return False
    inserted = (column["ResTarget"].get("name", "") for column in target.body.get("cols", ()))
    return all(row.column(name) is not None for name in inserted)


def _targets(target: _WriteTarget) -> list[Node]:
    """The assignments of SET."""
    clauses = [target.body if target.kind == "UpdateStmt" else target.body.get("onConflictClause", {})]
    actions = (item["MergeWhenClause"] for item in target.body.get("mergeWhenClauses", ()))
    clauses += [action for action in actions if action["commandType"] == "CMD_UPDATE"]
    return [item["ResTarget"] for clause in clauses for item in clause.get("targetList", ())]


def _infers(catalog: Catalog, row: Relation, target: _WriteTarget) -> bool:
    """Return whether ON CONFLICT finds a unique index (infer_arbiter_indexes)."""
    inference = target.body["onConflictClause"].get("infer")
    if inference is None:
        return True  # DO NOTHING
    if "conname" in inference:
        constraint = catalog.constraint(row.oid, inference["conname"])
        return constraint is not None and constraint.kind in "pu" and not constraint.deferrable
    names = [item["IndexElem"].get("name") for item in inference.get("indexElems", ())]
    columns = [row.column(name) for name in names if name is not None]
    keys = {column.number for column in columns if column is not None}
    if len(columns) < len(names) or None in columns:
        return False
    rows = [catalog.indexes[oid] for oid in catalog.indexes_of.get(row.oid)]
    # A predicate that always holds is none to the planner.
    whole = [index for index in rows if index.always or not index.partial]
    return any(index.unique and index.immediate and index.valid and set(index.keys) == keys for index in whole)


def _as_query(write: _WriteTarget) -> Node:
    """A SELECT that reads what the statement does."""
    body, target = write.body, {"RangeVar": write.target}
    sources = [*body.get("fromClause", ()), *body.get("usingClause", ())]
    conditions: list[Any] = [body.get("whereClause"), body.get("joinCondition")]
    if "sourceRelation" in body:
        sources.append(body["sourceRelation"])
        conditions += [item["MergeWhenClause"].get("condition") for item in body["mergeWhenClauses"]]
    conflict = body.get("onConflictClause")
    if conflict is not None:
        sources.append({"RangeVar": {**write.target, "alias": {"aliasname": "excluded"}}})
        conditions.append(conflict.get("whereClause"))
    conditions += [item.get("val") for item in _targets(write)]
    if "selectStmt" in body:
        conditions.append({"SubLink": {"subselect": body["selectStmt"]}})
    query: Node = {
        "targetList": [],
        "fromClause": [target, *sources],
        "whereClause": {"BoolExpr": {"args": [condition for condition in conditions if condition]}},
    }
    if write.around is not None:
        query["withClause"] = write.around
    return {"SelectStmt": query}
