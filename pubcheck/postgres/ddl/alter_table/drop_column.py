"""DROP COLUMN, here and in all children (commands/tablecmds.c: ATExecDropColumn)."""

from __future__ import annotations

from pubcheck.postgres.catalog import RELATION, Object
from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.ddl.deletion import perform_deletion
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.columns import SYSTEM_COLUMNS, change_columns, require_column


def drop_column(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecDropColumn: children lose the column too unless they have it from elsewhere."""
    catalog = session.catalog
    row = catalog.relations[relation]
    name = command["name"]
    if name in SYSTEM_COLUMNS:
        raise ServerError("0A000", f'cannot drop system column "{name}"')
    column = row.column(name)
    if column is None:
        if command.get("missing_ok"):
            session.notices.append(f'column "{name}" of relation "{row.name}" does not exist, skipping')
            return
        column = require_column(session, relation, name)
    if row.of_type and "through_type" not in command:
        raise ServerError("42809", "cannot drop column from typed table")
    objects: list[Object] = []
    _collect_column(session, relation, column, recurse, False, objects)
    perform_deletion(session, objects, command.get("behavior") == "DROP_CASCADE")


def _collect_column(
    session: Session, relation: int, column: Column, recurse: bool, recursing: bool, objects: list[Object]
) -> None:
    catalog = session.catalog
    row = catalog.relations[relation]
    name = column.name
    if column.inherited and not recursing:
        raise ServerError("42P16", f'cannot drop inherited column "{name}"')
    if column.number in row.partition_key or column.number in row.partition_reads:
        raise ServerError(
            "42P16", f'cannot drop column "{name}" because it is part of the partition key of relation "{row.name}"'
        )
    children = sorted(catalog.children.get(relation))
    if children and row.kind == "p" and not recurse:
        raise ServerError(
            "42P16",
            "cannot drop column from only the partitioned table when partitions exist",
            hint="Do not specify the ONLY keyword.",
        )
    for child in children:
        inherited = catalog.relations[child].column(name)
        if inherited is None:
            continue
        if recurse and inherited.inherited == 1 and not inherited.local:
            _collect_column(session, child, inherited, recurse, True, objects)
        else:
            change_columns(
                session,
                child,
                [inherited.number],
                inherited=max(0, inherited.inherited - 1),
                local=inherited.local or not recurse,
            )
    objects.append((RELATION, relation, column.number))
