"""Foreign tables with their wrappers and servers (commands/foreigncmds.c), and property graphs
(commands/propgraphcmds.c).

A property graph is a relation that publications and REPLICA IDENTITY refuse, and it keeps its tables from being
dropped without CASCADE.
"""

from __future__ import annotations

from pubcheck.postgres.catalog import INTERNAL, NORMAL, OTHER, RELATION
from pubcheck.postgres.catalog.rows import OtherObject, Relation
from pubcheck.postgres.ddl.new_objects import create_other
from pubcheck.postgres.ddl.object_address import all_objects_known
from pubcheck.postgres.ddl.tables import create_table
from pubcheck.postgres.ddl.types import free_row_type_name
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


_OF = " of property graph "
"""What is between the names of an element and of its graph."""


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
    _add_elements(session, graph, node["elements"], tables)


def alter_graph(session: Session, node: Node) -> None:
    """AlterPropGraph. Raises ServerError."""
    catalog, graph = session.catalog, session.relation(node["pgname"])
    if graph.kind != "g":
        if graph.seen:
            raise ServerError("42809", '"{name}" is not a property graph', name=graph.name)
        session.note_unknown_effect(session.text.decode(errors="replace"))
        return
    _add_elements(session, graph, node["elements"], [session.relation(item["table"]) for item in node["elements"]])
    for (kind, oid, _), _, _ in catalog.dependents.get((RELATION, graph.oid)):
        if kind == OTHER and catalog.others[oid].name.rpartition(_OF)[0] in node["dropped"]:
            catalog.remove(OTHER, oid)


def _add_elements(session: Session, graph: Relation, elements: list[Node], tables: list[Relation]) -> None:
    catalog = session.catalog
    for element, table in zip(elements, tables, strict=True):
        name = element["name"] + _OF + graph.name
        row = OtherObject(catalog.new_oid(), element["kind"], name, 0, graph.owner)
        catalog.add(row)
        catalog.depend((OTHER, row.oid, 0), (RELATION, graph.oid, 0), INTERNAL)
        catalog.depend((OTHER, row.oid, 0), (RELATION, table.oid, 0), NORMAL)
