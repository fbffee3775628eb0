"""CREATE FOREIGN DATA WRAPPER, CREATE SERVER (commands/foreigncmds.c) and CREATE FOREIGN TABLE."""

from __future__ import annotations

from pubcheck.postgres.catalog import NORMAL, OTHER
from pubcheck.postgres.ddl.creation_namespace import create_other
from pubcheck.postgres.ddl.object_address import all_objects_known
from pubcheck.postgres.ddl.tables import create_table
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session

WRAPPER, SERVER = "foreign-data wrapper", "server"
"""Other.kind; the words of getObjectDescription. Neither lives in a schema: namespace 0."""


def create_wrapper(session: Session, node: Node) -> None:
    """CREATE FOREIGN DATA WRAPPER. Raises ServerError 42501, 42710."""
    name = node["fdwname"]
    if not session.superuser():
        raise ServerError("42501", f'permission denied to create foreign-data wrapper "{name}"')
    create_other(session, WRAPPER, name)


def create_server(session: Session, node: Node) -> None:
    """CREATE SERVER; its wrapper may come from an extension, whose members are not kept.

    Raises ServerError 42710.
    """
    catalog, name = session.catalog, node["servername"]
    if node.get("if_not_exists") and (SERVER, 0, name) in catalog.other_names:
        session.notices.append(f'server "{name}" already exists, skipping')
        return
    server = create_other(session, SERVER, name)
    wrapper = catalog.other_names.get((WRAPPER, 0, node["fdwname"]))
    if wrapper is not None:
        catalog.depend(server, (OTHER, wrapper, 0), NORMAL)


def create_foreign_table(session: Session, node: Node) -> None:
    """CREATE FOREIGN TABLE, also as a partition."""
    if all_objects_known(session) and (SERVER, 0, node["servername"]) not in session.catalog.other_names:
        raise ServerError("42704", f'server "{node["servername"]}" does not exist')
    create_table(session, node["base"], kind="f")
