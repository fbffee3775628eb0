"""CREATE DATABASE and its owner.

The contents of a database are a catalog of its own, created when psql connects to it.
"""

from __future__ import annotations

from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session


def create_database(session: Session, node: Node) -> None:
    """createdb (dbcommands.c): the owner is the current role unless another is named."""
    owner = session.role.oid
    for item in node.get("options", ()):
        option = item["DefElem"]
        if option["defname"] == "owner" and "String" in option.get("arg", {}):
            owner = session.role_named(option["arg"]["String"]["sval"]).oid
    session.catalog.databases.put(node["dbname"], owner)
