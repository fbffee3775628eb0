"""UPDATE of a system catalog by hand: followed where it makes an index (in)valid, otherwise not visible."""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session
from pubcheck.postgres.tree import find


def update(session: Session, node: Node) -> None:
    """UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'i'::regclass, as people mark a broken index."""
    if not node["relation"]["relname"].startswith("pg_"):
        return
    targets = [item["ResTarget"] for item in node.get("targetList", ())]
    constants = [
        body["sval"]["sval"] for _, body in find(node.get("whereClause"), "A_Const") if body.get("sval", {}).get("sval")
    ]
    if [target.get("name") for target in targets] == ["indisvalid"] and len(constants) == 1:
        value = targets[0].get("val", {}).get("A_Const", {}).get("boolval")
        relation = session.regclass(constants[0])
        index = session.catalog.indexes.get(relation.oid) if relation is not None else None
        if value is not None and index is not None:
            session.catalog.indexes.put(index.oid, replace(index, valid=value.get("boolval", False)))
            return
        if value is not None and session.complete:
            if relation is None:
                raise ServerError("42P01", f'relation "{constants[0]}" does not exist')
            return  # only an index has a row to change
    session.blind = True
