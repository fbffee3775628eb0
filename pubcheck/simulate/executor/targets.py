"""The relation that INSERT, UPDATE or DELETE names, and the tables whose rows it changes; whether a trigger of these
fires, and the transition tables that it sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from typing import Any

from msgspec import Struct, field

from pubcheck.checks.write.replica_identity import refusals
from pubcheck.postgres.analysis.coerce import coerce_to_boolean
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.namespace_items import Output
from pubcheck.postgres.catalog.rows import OtherObject, Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.block_variables import Variables
from pubcheck.simulate.executor.expressions import Scope, compile_expression, frame_of
from pubcheck.simulate.executor.partitions import partitions
from pubcheck.simulate.executor.pruning import Pruning
from pubcheck.simulate.executor.settings import is_replica
from pubcheck.simulate.executor.tables import Table, table_of
from pubcheck.simulate.not_followed import NotFollowed

_STATES = {"AT_Disable": "D", "AT_EnableAlways": "A", "AT_EnableReplica": "R", "AT_Enable": "O"}
_KEY = "trigger states"
"""The definition of a relation with the states of its triggers (tgenabled) by their oids, except for O."""


def triggers_on(session: Backend, relation: int) -> list[OtherObject]:
    """The triggers of a table, and those of the partitioned tables above it, which its partitions have too."""
    catalog = session.database.catalog
    tables = [relation, *catalog.ancestors(relation)]
    return [row for row in catalog.others.values() if row.kind == "trigger" and row.namespace in tables]


def fires(session: Backend, trigger: OtherObject, relation: int) -> bool:
    """Whether a trigger of a table fires in the session as it is."""
    catalog = session.database.catalog
    state = "O"
    for oid in (relation, *catalog.ancestors(relation)):
        states = catalog.definitions.get((_KEY, oid), {})
        if trigger.oid in states:
            state = states[trigger.oid]
            break
    return state in ("RA" if is_replica(session) else "OA")


def change_firing(session: Backend, relation: Relation, command: Node, *, only: bool) -> None:
    """A command of ALTER TABLE; any but those of triggers changes nothing here. Raises NotFollowed for those of
    rules."""
    if command["subtype"].endswith("Rule"):
        raise NotFollowed("a change of when a rule runs")
    verb, is_trigger, which = command["subtype"].partition("Trig")
    if not is_trigger or verb not in _STATES:
        return
    catalog = session.database.catalog
    tables = [oid for oid in catalog.descendants(relation.oid) if relation.kind == "p" or oid == relation.oid]
    if only and len(tables) > 1:
        raise NotFollowed("a change of the triggers of ONLY a partitioned table")
    triggers = triggers_on(session, relation.oid)
    if which == "All":
        keys = [row for row in catalog.constraints.values() if row.kind == "f"]
        around = {*tables, *catalog.ancestors(relation.oid)}
        if any(row.relation in around or row.references in around for row in keys):
            raise NotFollowed("a change of the triggers of foreign keys")
    elif not which:
        if command["name"].startswith("RI_ConstraintTrigger"):
            raise NotFollowed("a change of the triggers of foreign keys")
        triggers = [row for row in triggers if row.name == command["name"]]
    changes = {row.oid: _STATES[verb] for row in triggers}
    for oid in tables:
        catalog.define(_KEY, oid, {**catalog.definitions.get((_KEY, oid), {}), **changes})


Row = dict[int, Any] | None
Condition = Callable[[Row, Row], bool]


class Firing:
    """The conditions of one trigger."""

    def __init__(self, session: Backend, table: Table, node: Node) -> None:
        self._columns = frozenset(item["String"]["sval"] for item in node.get("columns", ()))
        generated = {column.name for column in table.relation.live() if column.generated}
        if self._columns & generated:
            raise NotFollowed(f'the trigger "{node["trigname"]}" of a generated column')
        self._when = _condition(session, table, node["whenClause"]) if "whenClause" in node else None

    def holds(self, operation: str, assigned: Set[str] | None, old: Row, new: Row) -> bool:
        """Whether the trigger fires; ``assigned`` are the columns that an UPDATE assigns, None if they are unknown."""
        if operation == "update" and self._columns:
            if assigned is None:
                raise NotFollowed("a trigger of UPDATE OF columns")
            if not self._columns & assigned:
                return False
        return self._when is None or self._when(old, new)


def _by_columns(node: Any, names: list[str]) -> Any:
    """Replace OLD.* IS [NOT] DISTINCT FROM NEW.* by comparisons of the columns, which is how records are compared."""
    if isinstance(node, list | tuple):
        return [_by_columns(item, names) for item in node]
    if not isinstance(node, dict):
        return node
    comparison = node.get("A_Expr", {})
    if comparison.get("kind") in ("AEXPR_DISTINCT", "AEXPR_NOT_DISTINCT"):
        sides = [_record(comparison[side]) for side in ("lexpr", "rexpr")]
        if all(sides):
            tests = [{"A_Expr": {**comparison, **_sides(sides, name)}} for name in names]
            kind = "OR_EXPR" if comparison["kind"] == "AEXPR_DISTINCT" else "AND_EXPR"
            return {"BoolExpr": {"boolop": kind, "args": tests}} if len(tests) > 1 else tests[0]
    return {key: _by_columns(value, names) for key, value in node.items()}


def _sides(records: list[str], column: str) -> Node:
    sides = zip(("lexpr", "rexpr"), records, strict=True)
    parts = {side: [{"String": {"sval": text}} for text in (record, column)] for side, record in sides}
    return {side: {"ColumnRef": {"fields": fields, "location": -1}} for side, fields in parts.items()}


def _record(node: Node) -> str:
    """The name of OLD or NEW, or of OLD.* or NEW.*, else ""."""
    fields = node.get("ColumnRef", {}).get("fields", ())
    name = fields[0].get("String", {}).get("sval", "") if fields else ""
    is_row = len(fields) == 1 or (len(fields) == 2 and "A_Star" in fields[1])
    return name if is_row and name in ("old", "new") else ""


def _condition(session: Backend, table: Table, when: Node) -> Condition:
    """WHEN: an expression over OLD and NEW."""
    scope = Scope(session)
    for name in ("old", "new"):
        scope.add_relation(session, table.relation, name)
    names = [column.name for column in table.relation.live()]
    expr = coerce_to_boolean(scope, scope.transform(_by_columns(when, names)), "WHEN")
    assign_collations(scope, expr)
    step = compile_expression(session, scope, expr)
    frame = frame_of(scope)

    def holds(old: Row, new: Row) -> bool:
        row = [old, new]
        frame.row = row
        return step(row) is True

    return holds


# Transition tables: the rows that a statement changes, for its triggers (MakeTransitionCaptureState).


class Transition(Struct):
    """The rows that one operation of a statement changed, by the names of their columns."""

    relation: Relation
    old: list[dict[str, Any]] = field(default_factory=list)
    new: list[dict[str, Any]] = field(default_factory=list)


class TransitionTable:
    """One side of a transition as a source of rows."""

    def __init__(self, relation: Relation, rows: list[dict[str, Any]]) -> None:
        self._names = [column.name for column in relation.live()]
        self._rows = rows

    def rows(self) -> Iterator[tuple[Any, ...]]:
        for row in self._rows:
            yield tuple(row[name] for name in self._names)


def has_transition_tables(node: Node) -> bool:
    return "transitionRels" in node


def note_change(session: Backend, relation: Relation, operation: str, old: Any, new: Any) -> None:
    """Note a row that was changed, for the statement on its table or on a table above it."""
    if not session.transitions:
        return
    catalog = session.database.catalog
    for oid in (relation.oid, *catalog.ancestors(relation.oid)):
        transition = session.transitions.get((oid, operation))
        if transition is not None:
            for row, rows in ((old, transition.old), (new, transition.new)):
                if row is not None:
                    rows.append({column.name: row[column.number] for column in relation.live()})


def refuse_move(session: Backend) -> None:
    """A row that moves to another partition is an update for transition tables. Raises NotFollowed."""
    if any(operation == "update" for _, operation in session.transitions):
        raise NotFollowed("the transition tables of a row that moves to another partition")


def provide(session: Backend, variables: Variables, node: Node, transition: Transition | None) -> None:
    """Give the queries of a trigger's function its transition tables."""
    for item in node.get("transitionRels", ()):
        table = item["TriggerTransition"]
        if transition is None:
            raise NotFollowed(f'the trigger "{node["trigname"]}", with transition tables')
        rows = transition.new if table.get("isNew") else transition.old
        relation, cache = transition.relation, session.catalog_session.syscache
        level = variables.level
        level.queries[table["name"]] = [
            Output(c.name, c.type, c.typmod, c.collation or cache.type(c.type).collation) for c in relation.live()
        ]
        level.query_sources[table["name"]] = TransitionTable(relation, rows)


# The events of triggers (catalog/pg_trigger.h).
INSERT, DELETE, UPDATE, TRUNCATE = 4, 8, 16, 32
EVENTS = {"insert": INSERT, "update": UPDATE, "delete": DELETE, "truncate": TRUNCATE}


def named_relation(session: Backend, rv: Node) -> Relation:
    """The named relation. Raises ServerError 42P01."""
    row: Relation | None = session.catalog_session.find_relation(rv)
    if row is None:
        name = ".".join(rv[part] for part in ("schemaname", "relname") if part in rv)
        raise ServerError("42P01", f'relation "{name}" does not exist', location=rv.get("location"))
    return row


def target_relation(session: Backend, rv: Node) -> Relation:
    """The named relation. Raises ServerError 42P01, 42809 and the like."""
    row = named_relation(session, rv)
    if row.kind in "Smi":
        kinds = {"S": "sequence", "m": "materialized view", "i": "index"}
        if row.kind == "i":
            raise ServerError("42809", f'cannot open relation "{row.name}"')
        raise ServerError("42809", f'cannot change {kinds[row.kind]} "{row.name}"')
    if row.kind not in "rpv":
        raise NotFollowed(f'changes of "{row.name}", which is not a table')
    refuse_row_security(session, row)
    return row


def refuse_row_security(session: Backend, relation: Relation) -> None:
    """Raise NotFollowed if policies decide which rows the role sees and may write (check_enable_rls). Whether the role
    has BYPASSRLS is not known."""
    role = session.catalog_session
    if not relation.row_security or role.superuser():
        return
    if relation.force_row_security or not role.has_privileges_of(relation.owner):
        raise NotFollowed(f'the row-level security policies of "{relation.name}"')


def refuse_statement_triggers(session: Backend, relation: Relation, events: int) -> None:
    """Triggers of statements run also where no row changes. Raises NotFollowed."""
    catalog = session.database.catalog
    for row in catalog.others.values():
        if row.kind == "trigger" and row.namespace == relation.oid and fires(session, row, relation.oid):
            node = catalog.definitions[("trigger", row.oid)]
            if not node.get("row") and node["events"] & events:
                raise NotFollowed(f'the trigger "{row.name}" of a statement')


def refuse_write(session: Backend, table: Table, operation: Any, *, certain: bool) -> None:
    """Raise the error of an UPDATE or DELETE that the replica identity does not allow (CheckCmdReplicaIdentity), or
    NotFollowed if it is not ``certain`` that the server plans for the table."""
    causes = refusals(session.database.catalog, table.relation).get(operation)
    if causes and not certain and table.relation.partition:
        raise NotFollowed(f'whether the condition leaves out the partition "{table.relation.name}"')
    if causes:
        server = causes[0].server
        raise ServerError(server.sqlstate, server.message, detail=server.detail, hint=server.hint)


def members(
    session: Backend, relation: Relation, *, inherited: bool = True, pruning: Pruning | None = None
) -> Iterator[Table]:
    """The tables with the rows of a relation, in the order of the planner's expansion (expand_inherited_rtentry):
    partitions by their bounds, other children by their oids.

    ``pruning`` leaves out the partitions that cannot have rows that the statement's condition selects.
    """
    catalog = session.database.catalog
    if relation.kind == "p" and not inherited:
        return
    if relation.kind == "p":
        children = partitions(session, relation) if pruning is None else pruning.children(relation)
        for partition in children:
            yield from members(session, partition, pruning=pruning)
        return
    for oid in catalog.descendants(relation.oid) if inherited else [relation.oid]:
        row = catalog.relations[oid]
        if row.kind == "r":
            yield table_of(session, row)
