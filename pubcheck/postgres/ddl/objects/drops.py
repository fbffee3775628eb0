"""DROP of any kind of object (commands/dropcmds.c; commands/tablecmds.c: RemoveRelations). Publications are checked."""

from __future__ import annotations

from pubcheck.postgres.catalog import FIRST_UNPINNED, NAMESPACE, PUBLICATION, RELATION, TYPE, Object
from pubcheck.postgres.ddl.deletion import perform_deletion
from pubcheck.postgres.ddl.event_triggers import require_event_trigger
from pubcheck.postgres.ddl.object_address import OTHER_KINDS, find_object
from pubcheck.postgres.ddl.object_descriptions import KINDS
from pubcheck.postgres.ddl.objects import object_row, require_publication_owner, word_of
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import list_items, range_var, strings
from pubcheck.postgres.relkind import RELATION_KINDS, object_noun
from pubcheck.postgres.session import Session


def drop(session: Session, node: Node) -> None:
    """DROP of any kind of object (RemoveRelations, RemoveObjects)."""
    kind, missing_ok = node["removeType"], node.get("missing_ok", False)
    cascade = node.get("behavior") == "DROP_CASCADE"
    if node.get("concurrent"):
        if len(node["objects"]) > 1:
            raise ServerError("0A000", "DROP INDEX CONCURRENTLY does not support dropping multiple objects")
        if cascade:
            raise ServerError("0A000", "DROP INDEX CONCURRENTLY does not support CASCADE")
        session.refuse_in_transaction("DROP INDEX CONCURRENTLY")
    if kind == "OBJECT_EVENT_TRIGGER" and not missing_ok:
        for item in node["objects"]:
            require_event_trigger(session, item["String"]["sval"])
    objects: dict[Object, None] = {}
    for item in node["objects"]:
        if kind in RELATION_KINDS:
            address = _relation_to_drop(session, kind, item, missing_ok)
        else:
            address = _object_to_drop(session, kind, item, missing_ok)
        if address is None and not missing_ok:
            session.assume("the objects that the statement names and these files do not create")
        if address is not None:
            objects[address] = None
    if objects:
        perform_deletion(session, list(objects), cascade)


def _relation_to_drop(session: Session, kind: str, item: Node, missing_ok: bool) -> Object | None:
    catalog = session.catalog
    parts = strings(list_items(item))
    rv = range_var(parts)
    word = object_noun(kind).split(" ", 1)[1]
    try:
        row = session.find_relation(rv) if missing_ok else session.relation(rv)
    except ServerError as error:
        if error.sqlstate != "42P01":
            raise
        raise ServerError("42704" if word == "index" else "42P01", f'{word} "{parts[-1]}" does not exist') from None
    if row is None:
        session.notices.append(f'{word} "{parts[-1]}" does not exist, skipping')
        _note_dropped(session, RELATION, parts)
        return None
    if row.seen and row.kind not in RELATION_KINDS[kind]:
        raise ServerError("42809", f'"{row.name}" is not {object_noun(kind)}')
    if not session.owns(row.owner) and not session.owns(catalog.namespaces[row.namespace].owner):
        raise ServerError("42501", f"must be owner of {KINDS.get(row.kind, 'relation')} {row.name}")
    if row.oid < FIRST_UNPINNED:
        raise ServerError("42501", f'permission denied: "{row.name}" is a system catalog')
    return RELATION, row.oid, 0


def _object_to_drop(session: Session, kind: str, item: Node, missing_ok: bool) -> Object | None:
    catalog = session.catalog
    address = find_object(session, kind, item, missing_ok=missing_ok)
    if address is None:
        if missing_ok and "String" in item:
            name, word = item["String"]["sval"], OTHER_KINDS.get(kind, kind.removeprefix("OBJECT_").lower())
            session.notices.append(f'{word} "{name}" does not exist, skipping')
            if kind == "OBJECT_PUBLICATION":
                catalog.gone.put((PUBLICATION, 0, name), True)
            elif kind == "OBJECT_SCHEMA":
                catalog.gone.put((NAMESPACE, 0, name), True)
        elif kind in ("OBJECT_TYPE", "OBJECT_DOMAIN"):
            type_name = item.get("TypeName", {})
            _note_dropped(session, TYPE, strings(type_name.get("names", list_items(item))))
        return None
    if address[0] == PUBLICATION:
        publication = catalog.publications[address[1]]
        require_publication_owner(session, publication)
        if session.unseen_role() not in (0, publication.owner):
            session.perhaps_there.add((PUBLICATION, 0, publication.name))
    elif address[0] == NAMESPACE:
        if not session.owns(catalog.namespaces[address[1]].owner):
            raise ServerError("42501", f"must be owner of schema {catalog.namespaces[address[1]].name}")
    else:
        row = object_row(session, address)
        if row is not None and not session.owns(row.owner):
            schema = catalog.namespaces.get(row.namespace)
            if schema is None or not session.owns(schema.owner):
                raise ServerError("42501", f"must be owner of {word_of(address)} {row.name}")
    return address


def _note_dropped(session: Session, kind: str, parts: list[str]) -> None:
    """After DROP ... IF EXISTS a name that was not visible is certainly free."""
    if len(parts) > 1:
        namespace = session.catalog.namespace_names.get(parts[-2], 0)
    else:
        namespace = session.visible_namespace()
    if namespace and parts:
        session.catalog.gone.put((kind, namespace, parts[-1]), True)
