"""The schema in which CREATE puts an object other than a relation, and its dependency on that schema
(catalog/namespace.c: QualifiedNameGetCreationNamespace).
"""

from __future__ import annotations

from pubcheck.postgres.catalog import NAMESPACE, NORMAL, OTHER, TEMPORARY, Object
from pubcheck.postgres.catalog.rows import OtherObject
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.session import Session


def creation_name(session: Session, parts: list[str]) -> tuple[int, str]:
    """Return (namespace, name) for a CREATE of an object other than a relation (QualifiedNameGetCreationNamespace).

    Raises ServerError 3F000, 42501.
    """
    catalog = session.catalog
    if len(parts) < 2:
        namespace = catalog.namespaces[session.creation_namespace()]
    elif parts[-2] == "pg_temp":
        namespace = session.temporary()
    else:
        namespace = session.namespace(parts[-2])
    if not session.may_create_in(namespace):
        raise ServerError("42501", f"permission denied for schema {namespace.name}")
    return namespace.oid, parts[-1]


def create_other(session: Session, kind: str, name: str, namespace: int = 0) -> Object:
    """Create an object that only needs a name, owned by the current role. Raises ServerError 42710."""
    catalog = session.catalog
    if (kind, namespace, name) in catalog.other_names:
        raise ServerError("42710", '{kind} "{name}" already exists', kind=kind, name=name)
    row = OtherObject(catalog.new_oid(), kind, name, namespace, session.setting("role"))
    catalog.add(row)
    if namespace:
        depend_on_schema(session, (OTHER, row.oid, 0), namespace)
    return OTHER, row.oid, 0


def depend_on_schema(session: Session, target: Object, namespace: int) -> None:
    if namespace != TEMPORARY:
        session.catalog.depend(target, (NAMESPACE, namespace, 0), NORMAL)
