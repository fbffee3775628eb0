"""SET STORAGE, SET COMPRESSION and SET STATISTICS (commands/tablecmds.c: ATExecSetStorage and its kin)."""

from __future__ import annotations

from pubcheck.postgres.ddl.column_storage import refuse_compression, storage_of
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.columns import alterable_column, change_columns, having_column, require_column


def set_storage(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecSetStorage, which goes down to children (ATSimpleRecursion); DEFAULT came with 16."""
    written = command["def"]["String"]["sval"]
    if written.lower() == "default" and not session.catalog.major.column_storage:
        raise ServerError("42601", f'syntax error at or near "{written}"')
    word = storage_of(session, written, alterable_column(session, relation, command["name"]).type)
    for member in having_column(session, relation, command["name"], recurse):
        column = require_column(session, member, command["name"])
        change_columns(session, member, [column.number], storage=word)


def set_compression(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecSetCompression, which changes nothing that is kept."""
    column = alterable_column(session, relation, command["name"])
    refuse_compression(session, command["def"]["String"]["sval"], column.type)


def set_statistics(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecSetStatistics, which changes nothing that is kept; an index's column is named by its number."""
    if session.catalog.relations[relation].kind in "rpmf":
        if "name" not in command:
            raise ServerError("0A000", "cannot refer to non-index column by number")
        alterable_column(session, relation, command["name"])
