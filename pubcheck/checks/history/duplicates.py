"""The earlier definition of what a statement creates or adds again (PUB105, PUB130)."""

from __future__ import annotations

from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Place
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.session import Session


def earlier_definition(session: Session, error: ServerError) -> tuple[Place, str] | None:
    """Return the place of the existing object that a statement creates again, and the label of that place."""
    catalog = session.catalog
    publication = catalog.publication_names.get(error.publication or "")
    if publication is None:
        return None
    if error.key == "publication-exists":
        place = catalog.publications[publication].place
        return (place, "is created here") if place is not None else None
    if error.key not in ("table-already-member", "schema-already-member"):
        return None
    if error.relation is not None:
        member = catalog.members.get((publication, _relation(catalog, error.relation)))
        place = catalog.publication_rels[member].place if member is not None else None
    else:
        schema = catalog.namespace_names.get(error.arguments["schema"], 0)
        member = catalog.schema_members.get((publication, schema))
        place = catalog.publication_namespaces[member].place if member is not None else None
    return (place, "became a member here") if place is not None else None


def _relation(catalog: Catalog, name: str) -> int:
    """The oid of ``schema.table``, either of which may hold dots; 0 where there is none."""
    for dot, character in enumerate(name):
        schema = catalog.namespace_names.get(name[:dot]) if character == "." else None
        if schema is not None and (schema, name[dot + 1 :]) in catalog.relation_names:
            return catalog.relation_names[schema, name[dot + 1 :]]
    return 0
