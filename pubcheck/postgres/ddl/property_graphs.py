"""CREATE PROPERTY GRAPH (commands/propgraphcmds.c): a relation that publications and REPLICA IDENTITY refuse, and that
keeps its tables from being dropped without CASCADE.
"""

from __future__ import annotations

from pubcheck.postgres.catalog import INTERNAL, NORMAL, OTHER, RELATION
from pubcheck.postgres.catalog.rows import OtherObject, Relation
from pubcheck.postgres.ddl.types import free_row_type_name
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session


def create_graph(session: Session, node: Node) -> None:
    """CreatePropGraph. Raises ServerError."""
    catalog, rv = session.catalog, node["pgname"]
    namespace, persistence = session.creation_target(rv, optional=False)
    former = session.relation_in(namespace, rv["relname"])
    if former is not None:
        if former.seen:
            raise ServerError("42P07", 'relation "{name}" already exists', name=rv["relname"])
        session.note_unknown_effect(session.text.decode(errors="replace"))
        return
    free_row_type_name(session, namespace, rv["relname"])
    tables = [session.relation(element["table"]) for element in node["elements"]]
    owner = session.setting("role")
    graph = Relation(
        catalog.new_oid(),
        rv["relname"],
        namespace,
        "g",
        owner,
        persistence=persistence,
        identity="n",
        seen=session.basis.certain,
        place=session.place(rv.get("location", 0)),
    )
    catalog.add_relation(graph)
    for element, table in zip(node["elements"], tables, strict=True):
        name = f"{element['name']} of property graph {graph.name}"
        row = OtherObject(catalog.new_oid(), element["kind"], name, 0, owner)
        catalog.add_other(row)
        catalog.depend((OTHER, row.oid, 0), (RELATION, graph.oid, 0), INTERNAL)
        catalog.depend((OTHER, row.oid, 0), (RELATION, table.oid, 0), NORMAL)
