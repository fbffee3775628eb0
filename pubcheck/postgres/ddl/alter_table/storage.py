"""The storage of a relation: SET (...), SET TABLESPACE, SET ACCESS METHOD (commands/tablecmds.c).

None of it is kept; a refusal undoes the rest of the statement.
"""

from __future__ import annotations

from pubcheck.postgres.ddl.access_methods import refuse_table_method, refuse_tablespace
from pubcheck.postgres.ddl.storage import refuse_parameters
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.columns import alterable_column

_OF_KIND = {"r": "table", "m": "table", "p": "partitioned", "v": "view"}


def set_parameters(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecSetRelOptions."""
    catalog = session.catalog
    row = catalog.relations[relation]
    if row.seen:
        kind = catalog.indexes[relation].method if row.kind == "i" else _OF_KIND.get(row.kind, "")
        refuse_parameters(session, command["def"]["List"]["items"], kind, new=False)


def set_options(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecSetOptions, of a column."""
    if session.catalog.relations[relation].kind in "rpmf":
        alterable_column(session, relation, command["name"])
        refuse_parameters(session, command["def"]["List"]["items"], "attribute")


def reset_options(session: Session, relation: int, command: Node, recurse: bool) -> None:
    if session.catalog.relations[relation].kind in "rpmf":
        alterable_column(session, relation, command["name"])


def set_tablespace(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecSetTableSpace."""
    refuse_tablespace(command["name"])


def set_access_method(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATPrepSetAccessMethod; without a name it is the default one (17)."""
    major = session.catalog.major
    partitioned = session.catalog.relations[relation].kind == "p"
    if partitioned and not major.partitioned_access_methods:
        raise ServerError("42809", "cannot change access method of a partitioned table")
    if "name" in command:
        refuse_table_method(session, command["name"], partitioned=partitioned)
    elif not major.default_access_method:
        raise ServerError("42601", 'syntax error at or near "DEFAULT"')
