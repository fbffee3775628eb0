"""Functions that the unit creates: bodies of triggers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pubcheck.postgres.catalog.rows import Proc
from pubcheck.postgres.datum import Array
from pubcheck.postgres.oids import INT4, NAME, OID, TEXT, TEXT_ARRAY
from pubcheck.postgres.parse import Node, parse
from pubcheck.postgres.parse_tree import names
from pubcheck.postgres.primnodes import Expr
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import Step
from pubcheck.simulate.executor.procedural import Block, body_of
from pubcheck.simulate.executor.tables import Table
from pubcheck.simulate.not_followed import NotFollowed

_TYPES = {
    "tg_name": NAME,
    "tg_relname": NAME,
    "tg_table_name": NAME,
    "tg_table_schema": NAME,
    "tg_relid": OID,
    "tg_nargs": INT4,
    "tg_argv": TEXT_ARRAY,
}


def routine_step(builder: Any, expr: Expr, proc: Proc) -> Step | None:
    raise NotFollowed(f"what the function {proc.name} gives")


def trigger_routine(session: Backend, table: Table, node: Node) -> Callable[..., Any]:
    """The function of a trigger, to be called with the operation, the old row, the new row and the trigger."""
    parts = names(node["funcname"])
    catalog = session.database.catalog
    procs = [row for _, row in session.catalog_session.syscache.procs(parts) if not row.arguments]
    definition = catalog.definitions.get(("function", procs[0].oid)) if procs else None
    if definition is None:
        raise NotFollowed(f'the trigger "{node["trigname"]}"')
    options = {item["DefElem"]["defname"]: item["DefElem"].get("arg") for item in definition["options"]}
    language = options["language"]["String"]["sval"].lower()
    if language != "plpgsql":
        raise NotFollowed(f"a trigger function in {language}")
    text = options["as"]["List"]["items"][0]["String"]["sval"]
    header = "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS"
    body = body_of(header, text, newer=catalog.major.newer_grammar)

    arguments = [item["String"].get("sval", "") for item in node.get("args", ())]

    def call(operation: str, old: Any, new: Any, trigger: Node) -> Any:
        block = Block(session, body, atomic=True)
        new = None if new is None else dict(new)
        if new is not None:
            block.add_record("new", table.relation, new)
        if old is not None:
            block.add_record("old", table.relation, dict(old))
        namespace = catalog.namespaces[table.relation.namespace].name
        timing = "BEFORE" if trigger.get("timing", 0) & 2 else "AFTER"
        level = "ROW" if trigger.get("row") else "STATEMENT"
        for name, value in (
            ("tg_name", trigger["trigname"]),
            ("tg_when", timing),
            ("tg_level", level),
            ("tg_op", operation.upper()),
            ("tg_relid", table.oid),
            ("tg_relname", table.relation.name),
            ("tg_table_name", table.relation.name),
            ("tg_table_schema", namespace),
            ("tg_nargs", len(arguments)),
            ("tg_argv", Array(arguments, (len(arguments),), (0,)) if arguments else None),
        ):
            block.add_variable(name, _TYPES.get(name, TEXT), value)
        expression = block.run()
        return None if timing == "AFTER" or level == "STATEMENT" else _returned(expression, block.records)

    return call


def _returned(expression: str, records: dict[str, Any]) -> Any:
    """The row that a trigger returns: NEW, OLD, NULL, or the first that there is of COALESCE(NEW, OLD)."""
    parsed = parse(f"SELECT {expression}")
    targets: list[Node] = list(parsed[1].get("targetList", ())) if parsed is not None else []
    value: Node = targets[0]["ResTarget"]["val"] if len(targets) == 1 else {}
    for choice in value.get("CoalesceExpr", {}).get("args", [value]):
        fields = list(choice.get("ColumnRef", {}).get("fields", ()))
        name = fields[0].get("String", {}).get("sval") if len(fields) == 1 else None
        if name not in ("new", "old") and not choice.get("A_Const", {}).get("isnull"):
            raise NotFollowed("what a trigger returns")
        if name in records:
            return records[name]
    return None
