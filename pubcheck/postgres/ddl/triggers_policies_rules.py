"""Triggers, policies, rules, extended statistics: objects of a table that can prevent a DROP.

Follows commands/trigger.c (CreateTriggerFiringOn), commands/policy.c, commands/statscmds.c, and for rules
parser/parse_utilcmd.c (transformRuleStmt) and rewrite/rewriteDefine.c (DefineQueryRewrite). What CREATE RULE refuses is
not reported; the rule is then not created. The types of what its actions compute are not checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.catalog import AUTO, NORMAL, OTHER, PROC, RELATION
from pubcheck.postgres.catalog.rows import OtherObject, Relation
from pubcheck.postgres.ddl.certain_refusals import only_certain
from pubcheck.postgres.ddl.functions import relations_named, unfollowed_call
from pubcheck.postgres.ddl.new_objects import addition, creation_name, depend_on_schema, make_object_name
from pubcheck.postgres.ddl.object_address import all_objects_known, functions_called, functions_named
from pubcheck.postgres.ddl.other_statements import missing_target
from pubcheck.postgres.ddl.query_dependencies import (
    CHANGING,
    columns_of_change,
    query_of_change,
    read_query,
    width_of_query,
)
from pubcheck.postgres.ddl.row_constraints import shows_boolean
from pubcheck.postgres.errors import NO_COLUMN, NOT_PUBLICATION_OWNER, ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import column_names, find, names
from pubcheck.postgres.session import SYSTEM_COLUMNS, Session, require_column


def _enter(
    session: Session, kind: str, name: str, relation: Relation, *, replace_existing: bool = False
) -> OtherObject:
    """Add what belongs to a relation and goes with it. Raises ServerError 42501, 42710."""
    catalog = session.catalog
    if not session.owns(relation.owner):
        raise ServerError("42501", f"must be owner of relation {relation.name}")
    existing = catalog.other_names.get((kind, relation.oid, name))
    if existing is not None:
        if not replace_existing:
            raise ServerError(
                "42710",
                '{kind} "{name}" for relation "{owner}" already exists',
                kind=kind,
                name=name,
                owner=relation.name,
            )
        row = catalog.others[existing]
        catalog.forget_dependencies((OTHER, existing))
    else:
        row = OtherObject(catalog.new_oid(), kind, name, relation.oid, relation.owner)
        catalog.add(row)
    catalog.depend((OTHER, row.oid, 0), (RELATION, relation.oid, 0), AUTO)
    return row


def _depend_on_columns(
    session: Session, row: OtherObject, relation: Relation, mentioned: Iterable[str], how: str
) -> None:
    for name in mentioned:
        column = relation.column(name)
        if column is not None:
            session.catalog.depend((OTHER, row.oid, 0), (RELATION, relation.oid, column.number), how)


def _depend_on_functions(session: Session, row: OtherObject, tree: Any) -> None:
    for function in functions_called(session, tree):
        session.catalog.depend((OTHER, row.oid, 0), (PROC, function, 0), NORMAL)


_BEFORE, _INSERT, _DELETE, _TRUNCATE, _INSTEAD = 1 << 1, 1 << 2, 1 << 3, 1 << 5, 1 << 6
"""TRIGGER_TYPE_TRUNCATE, TRIGGER_TYPE_INSTEAD (catalog/pg_trigger.h)."""


def create_trigger(session: Session, node: Node) -> None:
    """CREATE TRIGGER."""
    catalog = session.catalog
    relation = session.relation(node["relation"])
    if relation.seen and relation.kind not in "rpvf":
        raise ServerError("42809", f'relation "{relation.name}" cannot have triggers')
    if "transitionRels" in node and ("columns" in node or node.get("timing")):
        raise ServerError("0A000", "transition tables cannot be specified for triggers with column lists")
    for name in names(node.get("columns", ())):
        require_column(session, relation.oid, name)
    relation = catalog.relations[relation.oid]
    if relation.seen and relation.kind in "rp" and node.get("timing", 0) & _INSTEAD:
        raise ServerError("42809", f'"{relation.name}" is a table', detail="Tables cannot have INSTEAD OF triggers.")
    if node.get("row") and node.get("events", 0) & _TRUNCATE:
        raise ServerError("0A000", "TRUNCATE FOR EACH ROW triggers are not supported")
    if "whenClause" in node and relation.seen and not session.blind:
        _refuse_when(relation, node)
    parts = names(node["funcname"])
    functions = functions_named(session, parts)
    if (
        not functions
        and all_objects_known(session)
        and not any(True for _ in session.syscache.builtin.procs(parts[-1]))
    ):
        raise ServerError("42883", f"function {'.'.join(parts)}() does not exist")
    row = _enter(session, "trigger", node["trigname"], relation, replace_existing=node.get("replace", False))
    catalog.define("trigger", row.oid, node)
    for oid in functions:
        if not catalog.procs[oid].arguments:
            catalog.depend((OTHER, row.oid, 0), (PROC, oid, 0), NORMAL)
            effect, routine = catalog.procs[oid].effect, catalog.routines.get(oid)
            if effect in ("i", "t") or (routine is not None and routine.about):
                # It runs when rows are changed, which is not followed.
                unfollowed_call(session, catalog.procs[oid])
                session.restless = session.restless or effect == "t"
    _depend_on_columns(session, row, relation, names(node.get("columns", ())), NORMAL)
    if "whenClause" in node:
        _depend_on_columns(session, row, relation, column_names(node["whenClause"]), NORMAL)
        _depend_on_functions(session, row, node["whenClause"])
    if "constrrel" in node:
        referenced = session.relation(node["constrrel"])
        catalog.depend((OTHER, row.oid, 0), (RELATION, referenced.oid, 0), AUTO)


def _refuse_when(relation: Relation, node: Node) -> None:
    """Check what the WHEN condition of a trigger names. Raises ServerError 0A000, 42703 and 42P17."""
    clause, events, before = node["whenClause"], node.get("events", 0), node.get("timing", 0) & _BEFORE
    if any(True for _ in find(clause, "SubLink")):
        raise ServerError("0A000", "cannot use subquery in trigger WHEN condition")
    named: list[tuple[str, str]] = []
    for _, reference in find(clause, "ColumnRef"):
        fields = [field["String"]["sval"] for field in reference["fields"] if "String" in field]
        if not fields or fields[0] not in ("old", "new") or len(fields) > 2:
            continue
        name = fields[1] if len(fields) > 1 else ""
        if name and name not in SYSTEM_COLUMNS and relation.column(name) is None:
            raise ServerError("42703", NO_COLUMN, location=reference.get("location"), column=".".join(fields))
        named.append((fields[0], name))
    for row, name in named:
        if not node.get("row"):
            raise ServerError("42P17", "statement trigger's WHEN condition cannot reference column values")
        if row == "old" and events & _INSERT:
            raise ServerError("42P17", "INSERT trigger's WHEN condition cannot reference OLD values")
        if row == "new" and events & _DELETE:
            raise ServerError("42P17", "DELETE trigger's WHEN condition cannot reference NEW values")
        if row == "new" and before and name in SYSTEM_COLUMNS:
            raise ServerError("0A000", "BEFORE trigger's WHEN condition cannot reference NEW system columns")
        if (
            row == "new"
            and before
            and any(column.generated and name in ("", column.name) for column in relation.live())
        ):
            raise ServerError("42P17", "BEFORE trigger's WHEN condition cannot reference NEW generated columns")


def comment(session: Session, node: Node) -> None:
    """COMMENT ON PUBLICATION (CommentObject); on anything else it changes nothing that is kept."""
    if node["objtype"] != "OBJECT_PUBLICATION":
        return
    name = node["object"]["String"]["sval"]
    location = session.find_name(name)
    if not session.owns(session.publication(name, location=location).owner):
        key = "publication-owner"
        raise ServerError("42501", NOT_PUBLICATION_OWNER, key=key, culprit=location, publication=name).about(name)


def create_policy(session: Session, node: Node) -> None:
    """CREATE POLICY."""
    relation = session.relation(node["table"])
    if relation.seen and relation.kind not in "rp":
        raise ServerError("42809", f'"{relation.name}" is not a table')
    row = _enter(session, "policy", node["policy_name"], relation)
    expressions = [node.get("qual"), node.get("with_check")]
    for condition in expressions:
        if condition is not None and relation.seen:
            _refuse_condition(session, relation, condition)
    _depend_on_columns(session, row, relation, column_names(expressions), NORMAL)
    _depend_on_functions(session, row, expressions)
    for oid in relations_named(session, expressions):
        if oid != relation.oid:
            session.catalog.depend((OTHER, row.oid, 0), (RELATION, oid, 0), NORMAL)


def _refuse_condition(session: Session, relation: Relation, condition: Node) -> None:
    """Raises ServerError where what a policy asks of a row is certainly no condition over it."""
    if shows_boolean(relation, condition):
        return
    # Loaded only where that does not show at a glance.
    from pubcheck.postgres.analysis.coerce import coerce_to_boolean
    from pubcheck.postgres.analysis.collate import assign_collations
    from pubcheck.postgres.ddl.stored_expressions import analyze_stored

    if any(True for _ in find(condition, "SubLink")):
        return
    with only_certain(session):
        p, expr = analyze_stored(session, relation, condition, "policy expressions")
        assign_collations(p, coerce_to_boolean(p, expr, "POLICY"))


def create_rule(session: Session, node: Node) -> None:
    """CREATE RULE; it depends on what its actions read and write."""
    catalog = session.catalog
    relation = session.relation(node["relation"])
    if relation.seen and relation.kind == "m":
        raise ServerError("0A000", "rules on materialized views are not supported")
    refuse_rule(session, relation, node)
    if relation.seen and relation.kind not in "rpv":
        raise ServerError("42809", f'relation "{relation.name}" cannot have rules')
    _refuse_actions(session, node.get("actions", ()))
    row = _enter(session, "rule", node["rulename"], relation, replace_existing=node.get("replace", False))
    catalog.define("rule", row.oid, node)
    if node["event"] == "CMD_SELECT" and relation.seen and relation.kind != "v":
        # Now it is a view (15), if it has neither rows nor anything else that a view cannot have.
        catalog.relations.put(relation.oid, replace(relation, seen=False))
    always = node.get("instead") and "whereClause" not in node
    instead = _REPLACED.get(node["event"], "") if always else ""
    if row.instead != instead:
        row = replace(row, instead=instead)
        catalog.others.put(row.oid, row)
    parts: list[Any] = [node.get("whereClause"), node.get("actions", [])]
    _depend_on_columns(session, row, relation, _columns_of_old_and_new(parts), NORMAL)
    for oid in relations_named(session, parts):
        if oid != relation.oid:
            catalog.depend((OTHER, row.oid, 0), (RELATION, oid, 0), NORMAL)
    for action in node.get("actions", ()):
        for kind, body in action.items():
            target = session.find_relation(body["relation"]) if kind in CHANGING else None
            if target is not None:
                _depend_on_columns(session, row, target, columns_of_change(kind, body, target), NORMAL)


def _refuse_actions(session: Session, actions: Sequence[Node]) -> None:
    """Raises ServerError where a command of a rule changes a relation, or columns, that certainly do not exist."""
    for action in actions:
        for name, body in action.items():
            error = missing_target(session, name, body) if "relation" in body else None
            if error is not None:
                raise error


_REPLACED = {"CMD_UPDATE": "update", "CMD_DELETE": "delete"}


def _columns_of_old_and_new(tree: Any) -> list[str]:
    columns: dict[str, None] = {}
    for _, body in find(tree, "ColumnRef"):
        fields = [field["String"]["sval"] for field in body["fields"] if "String" in field]
        if len(fields) == 2 and fields[0] in ("old", "new"):
            columns[fields[1]] = None
    return list(columns)


_STATISTICS = frozenset(("ndistinct", "dependencies", "mcv"))


def _refuse_elements(session: Session, relation: Relation, node: Node, elements: Sequence[Node]) -> None:
    """Check the columns and expressions of statistics (CreateStatistics). Raises ServerError 42601, 42701 and 42P17."""
    for kind in names(node.get("stat_types", ())):
        if kind not in _STATISTICS:
            raise ServerError("42601", f'unrecognized statistics kind "{kind}"')
    if len(elements) < 2 and not any("expr" in element for element in elements):
        raise ServerError("42P17", "extended statistics require at least 2 columns")
    columns = [element["name"] for element in elements if "name" in element]
    if len(set(columns)) < len(columns):
        raise ServerError("42701", "duplicate column name in statistics definition")
    if relation.seen and any("expr" in element for element in elements):
        # Loaded only where statistics are about expressions.
        from pubcheck.postgres.ddl.stored_expressions import analyze_stored

        with only_certain(session):
            for element in elements:
                if "expr" in element:
                    analyze_stored(session, relation, element["expr"], "statistics expressions")


def _refuse_unsupported_columns(session: Session, relation: int, element: Node) -> None:
    """Raises ServerError 0A000 if statistics are about a virtual column, or about a system column in an expression."""
    row = session.catalog.relations[relation]
    mentioned = [element["name"]] if "name" in element else column_names([element["expr"]])
    whole_row = "expr" in element and any(True for _ in find(element["expr"], "A_Star"))
    if whole_row or any(name in SYSTEM_COLUMNS for name in mentioned):
        raise ServerError("0A000", "statistics creation on system columns is not supported")
    if any((column := row.column(name)) is not None and column.generated == "v" for name in mentioned):
        raise ServerError("0A000", "statistics creation on virtual generated columns is not supported")


def create_statistics(session: Session, node: Node) -> None:
    """CREATE STATISTICS."""
    catalog = session.catalog
    relations = node.get("relations", ())
    if len(relations) != 1 or "RangeVar" not in relations[0]:
        raise ServerError("42601", "only a single relation is allowed in CREATE STATISTICS")
    relation = session.relation(relations[0]["RangeVar"])
    if relation.seen and relation.kind not in "rpmf":
        raise ServerError("42809", f'cannot define statistics for relation "{relation.name}"')
    if not session.owns(relation.owner):
        raise ServerError("42501", f"must be owner of table {relation.name}")
    elements = [item["StatsElem"] for item in node.get("exprs", ())]
    for element in elements:
        if "name" in element:
            if element["name"] in SYSTEM_COLUMNS:
                raise ServerError("0A000", "statistics creation on system columns is not supported")
            require_column(session, relation.oid, element["name"])
        _refuse_unsupported_columns(session, relation.oid, element)
    relation = catalog.relations[relation.oid]
    if "defnames" in node:
        namespace, name = creation_name(session, names(node["defnames"]))
        if ("statistics object", namespace, name) in catalog.other_names:
            if node.get("if_not_exists"):
                session.notices.append(f'statistics object "{name}" already exists, skipping')
                return
            raise ServerError("42710", 'statistics object "{name}" already exists', name=name)
    else:
        namespace = relation.namespace
        name = _statistics_name(session, relation, elements)
    _refuse_elements(session, relation, node, elements)
    row = OtherObject(catalog.new_oid(), "statistics object", name, namespace, session.setting("role"))
    catalog.add(row)
    depender = (OTHER, row.oid, 0)
    depend_on_schema(session, depender, namespace)
    mentioned = [element["name"] for element in elements if "name" in element]
    mentioned += column_names([element["expr"] for element in elements if "expr" in element])
    _depend_on_columns(session, row, relation, mentioned, AUTO)
    if not mentioned:
        catalog.depend(depender, (RELATION, relation.oid, 0), AUTO)


def _statistics_name(session: Session, relation: Relation, elements: list[Node]) -> str:
    """ChooseExtendedStatisticName."""
    middle = addition(element.get("name", "expr") for element in elements)
    attempt = 0
    while True:
        name = make_object_name(relation.name, middle, f"stat{attempt or ''}")
        if ("statistics object", relation.namespace, name) not in session.catalog.other_names:
            return name
        attempt += 1


_EVENTS = {"CMD_SELECT": "SELECT", "CMD_INSERT": "INSERT", "CMD_UPDATE": "UPDATE", "CMD_DELETE": "DELETE"}
_WITHOUT = {"CMD_SELECT": ("old", "new"), "CMD_INSERT": ("old",), "CMD_DELETE": ("new",)}
"""The rows that a rule for an event does not have."""


def refuse_rule(session: Session, relation: Relation, node: Node) -> None:
    """Raise ServerError if the server certainly refuses the condition or an action of a rule."""
    condition, event = node.get("whereClause"), node["event"]
    if condition is not None:
        _refuse_rule_condition(session, relation, condition, event)
    for action in node.get("actions", ()):
        ((kind, body),) = action.items()
        if kind == "NotifyStmt":
            if condition is not None:
                message = "rules with WHERE conditions can only have SELECT, INSERT, UPDATE, or DELETE actions"
                raise ServerError("42P17", message)
            continue
        _refuse_rows(body, event)
        _refuse_names(session, relation, kind, body)
    if event == "CMD_SELECT":
        _refuse_select(session, relation, node)
    else:
        _refuse_returning(relation, node)


def _rows_named(tree: Any) -> Iterator[str]:
    """Yield OLD and NEW as often as something refers to them."""
    for _, reference in find(tree, "ColumnRef"):
        first = reference["fields"][0].get("String", {}).get("sval")
        if first in ("old", "new"):
            yield first


def _refuse_rule_condition(session: Session, relation: Relation, condition: Node, event: str) -> None:
    """The condition is one over OLD and NEW, whose columns may be named without them."""
    there = [row for row in ("old", "new") if row not in _WITHOUT.get(event, ())]
    entry = {
        "schemaname": session.catalog.namespaces[relation.namespace].name,
        "relname": relation.name,
        "inh": True,
        "relpersistence": "p",
    }
    query = {
        "SelectStmt": {
            "targetList": [],
            "fromClause": [{"RangeVar": {**entry, "alias": {"aliasname": row}}} for row in there],
            "whereClause": condition,
        }
    }
    reading = read_query(session, query)
    if len(there) > 1 and not any(True for _ in find(condition, "SubLink")):
        for _, reference in find(condition, "ColumnRef"):
            fields = reference["fields"]
            name = fields[0].get("String", {}).get("sval", "")
            if len(fields) == 1 and relation.column(name) is not None:
                message = 'column reference "{column}" is ambiguous'
                raise ServerError("42702", message, location=reference.get("location"), column=name)
    if session.complete:
        # Loaded only for rules with conditions.
        from pubcheck.postgres.ddl.views import with_types

        with_types(session, query, reading.columns)


def _refuse_rows(action: Node, event: str) -> None:
    """Raise ServerError 42P17, 0A000 or 42P10 where an action refers to a row that is not there or not in reach."""
    named = set(_rows_named(action))
    for row in _WITHOUT.get(event, ()):
        if row in named:
            raise ServerError("42P17", f"ON {_EVENTS[event]} rule cannot use {row.upper()}")
    for row in ("old", "new"):
        if row in set(_rows_named(action.get("withClause"))):
            raise ServerError("0A000", f"cannot refer to {row.upper()} within WITH query")
    query = action.get("selectStmt", {}).get("SelectStmt", action)
    if query.get("op", "SETOP_NONE") != "SETOP_NONE" and any(_rows_named([query["larg"], query["rarg"]])):
        message = "UNION/INTERSECT/EXCEPT member statement cannot refer to other relations of same query level"
        raise ServerError("42P10", message)


def _refuse_names(session: Session, relation: Relation, kind: str, action: Node) -> None:
    """Raise ServerError where an action names a relation or a column that certainly does not exist."""
    query = query_of_change(kind, action)
    if query is not None:
        read_query(session, query, rule_of=relation)
    target = session.find_relation(action["relation"]) if kind in CHANGING else None
    if kind == "InsertStmt" and target is not None and target.seen and target.columns and not session.blind:
        width, room = width_of_query(action.get("selectStmt")), len(action.get("cols") or target.live())
        if width > room:
            raise ServerError("42601", "INSERT has more expressions than target columns")


def _refuse_select(session: Session, relation: Relation, node: Node) -> None:
    """ON SELECT is for views. 15 makes a view of a table whose columns are those of the query."""
    if not relation.seen:
        return
    if relation.kind != "v" and session.catalog.major.select_rules_of_views_only:
        raise ServerError("42809", f'relation "{relation.name}" cannot have ON SELECT rules')
    if relation.kind == "v" and not node.get("replace"):
        raise ServerError("55000", f'"{relation.name}" is already a view')
    columns = relation.live()
    for action in node.get("actions", ())[:1] if columns else ():
        outputs = read_query(session, action).columns if "SelectStmt" in action else None
        for number, (column, output) in enumerate(zip(columns, outputs or (), strict=False), 1):
            if column.name != output.name:
                message = f'SELECT rule\'s target entry {number} has different column name from column "{column.name}"'
                raise ServerError("42P17", message)
    if node["rulename"] != "_RETURN":
        raise ServerError("42P17", f'view rule for "{relation.name}" must be named "_RETURN"')


def _refuse_returning(relation: Relation, node: Node) -> None:
    """RETURNING is for one action of a rule that is INSTEAD and without a condition (checkRuleResultList)."""
    bodies = [body for action in node.get("actions", ()) for body in action.values()]
    lists = [body["returningClause"] for body in bodies if "returningClause" in body]
    if len(lists) > 1:
        raise ServerError("0A000", "cannot have multiple RETURNING lists in a rule")
    if not lists:
        return
    if "whereClause" in node:
        raise ServerError("0A000", "RETURNING lists are not supported in conditional rules")
    if not node.get("instead"):
        raise ServerError("0A000", "RETURNING lists are not supported in non-INSTEAD rules")
    exprs = lists[0]["exprs"]
    if relation.seen and relation.columns and not any(True for _ in find(exprs, "A_Star")):
        room = len(relation.live())
        if len(exprs) != room:
            raise ServerError("42P17", f"RETURNING list has too {'few' if len(exprs) < room else 'many'} entries")
