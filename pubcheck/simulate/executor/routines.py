"""Functions that the unit creates: bodies of triggers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pubcheck.postgres.catalog.rows import Proc
from pubcheck.postgres.oids import NAME, OID, TEXT
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names
from pubcheck.postgres.primnodes import Expr
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import Step
from pubcheck.simulate.executor.procedural import Block, body_of
from pubcheck.simulate.executor.tables import Table
from pubcheck.simulate.not_followed import NotFollowed

_NAME_TYPES = {"tg_name": NAME, "tg_relname": NAME, "tg_table_name": NAME, "tg_table_schema": NAME, "tg_relid": OID}


def routine_step(builder: Any, expr: Expr, proc: Proc) -> Step | None:
    raise NotFollowed(f"what the function {proc.name} gives")


def trigger_routine(session: Backend, table: Table, node: Node) -> Callable[..., Any]:
    """The function of a trigger, to be called with the operation, the old row, the new row and the trigger."""
    parts = names(node["funcname"])
    catalog = session.database.catalog
    procs = [row for _, row in session.catalog_session.syscache.procs(parts) if not row.arguments]
    definition = catalog.definitions.get(("function", procs[0].oid)) if procs else None
    if definition is None or "whenClause" in node or "columns" in node or node.get("args"):
        raise NotFollowed(f'the trigger "{node["trigname"]}"')
    options = {item["DefElem"]["defname"]: item["DefElem"].get("arg") for item in definition["options"]}
    language = options["language"]["String"]["sval"].lower()
    if language != "plpgsql":
        raise NotFollowed(f"a trigger function in {language}")
    text = options["as"]["List"]["items"][0]["String"]["sval"]
    header = "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS"
    body = body_of(header, text, newer=catalog.major.newer_grammar)

    def call(operation: str, old: Any, new: Any, trigger: Node) -> Any:
        block = Block(session, body, atomic=True)
        new = None if new is None else dict(new)
        if new is not None:
            block.add_record("new", table.relation, new)
        if old is not None:
            block.add_record("old", table.relation, dict(old))
        namespace = catalog.namespaces[table.relation.namespace].name
        timing = "BEFORE" if trigger.get("timing", 0) & 2 else "AFTER"
        for name, value in (
            ("tg_name", trigger["trigname"]),
            ("tg_when", timing),
            ("tg_level", "ROW"),
            ("tg_op", operation.upper()),
            ("tg_relid", table.oid),
            ("tg_relname", table.relation.name),
            ("tg_table_name", table.relation.name),
            ("tg_table_schema", namespace),
        ):
            block.add_variable(name, _NAME_TYPES.get(name, TEXT), value)
        returned = block.run().strip().lower()
        if returned in ("new", "old"):
            return block.records.get(returned)
        if returned == "null":
            return None
        if timing == "AFTER":
            return None
        raise NotFollowed("what a trigger returns")

    return call
