"""New objects: the schema in which CREATE puts one other than a relation, its dependency on that schema
(catalog/namespace.c: QualifiedNameGetCreationNamespace), and the names that PostgreSQL makes up (commands/indexcmds.c:
makeObjectName, ChooseRelationName, ChooseIndexColumnNames; catalog/pg_constraint.c: ChooseConstraintName).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import count

from pubcheck.postgres.catalog import NAMESPACE, NORMAL, OTHER, TEMPORARY, Catalog, Object
from pubcheck.postgres.catalog.rows import OtherObject
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
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


NAME_BYTES = 63
"""NAMEDATALEN - 1: the longest identifier, in bytes."""


def truncate(name: str) -> str:
    """Return an identifier cut to NAMEDATALEN - 1 bytes, never inside a character (truncate_identifier)."""
    if len(name) * 4 <= NAME_BYTES or len(name.encode()) <= NAME_BYTES:
        return name
    return name.encode()[:NAME_BYTES].decode(errors="ignore")


def make_object_name(first: str, second: str | None, label: str | None) -> str:
    """Return ``first_second_label``; if that is too long, the longer of the first two parts is cut (makeObjectName)."""
    name = first if second is None else f"{first}_{second}"
    if label:
        name = f"{name}_{label}"
    if len(name) <= NAME_BYTES and name.isascii():
        return name
    overhead = (1 if second is not None else 0) + (len(label) + 1 if label else 0)
    available = NAME_BYTES - overhead
    first_bytes, second_bytes = first.encode(), (second or "").encode()
    length_one, length_two = len(first_bytes), len(second_bytes)
    while length_one + length_two > available:
        if length_one > length_two:
            length_one -= 1
        else:
            length_two -= 1
    parts = [first_bytes[:length_one].decode(errors="ignore")]
    if second is not None:
        parts.append(second_bytes[:length_two].decode(errors="ignore"))
    if label:
        parts.append(label)
    return "_".join(parts)


def choose_relation_name(
    catalog: Catalog, namespace: int, first: str, second: str | None, label: str, *, constraint: bool
) -> str:
    """A relation name that is free in a schema, and free as a constraint's name too where it is to be one."""
    names, is_constraint_name = catalog.relation_names, catalog.constraint_taken
    key = (namespace, first, second, label)
    for attempt in count(catalog.first_attempt(key)):
        name = make_object_name(first, second, f"{label}{attempt or ''}")
        if (namespace, name) in names:
            catalog.failed_attempt(key, attempt)
        elif not (constraint and is_constraint_name(namespace, name)):
            return name
    raise AssertionError  # count() does not end


def choose_constraint_name(
    catalog: Catalog, namespace: int, first: str, second: str | None, label: str, reserved: Collection[str] = ()
) -> str:
    """Return a name that no constraint of the schema has, and that is not in ``reserved``."""
    key = (namespace, first, second, label)
    for attempt in count(catalog.first_attempt(key)):
        name = make_object_name(first, second, f"{label}{attempt or ''}")
        if any(oid in catalog.constraints for oid in catalog.constraint_names.groups.get((namespace, name), ())):
            catalog.failed_attempt(key, attempt)
        elif name not in reserved and not catalog.constraint_taken(namespace, name):
            return name
    raise AssertionError  # count() does not end


def addition(columns: Iterable[str]) -> str:
    """Return the middle part of a name (ChooseIndexNameAddition, ChooseForeignKeyConstraintNameAddition)."""
    text = ""
    for column in columns:
        text = f"{text}_{column}" if text else column
        if len(text.encode()) > NAME_BYTES:
            break
    return text


def index_column_names(elements: Iterable[Node]) -> list[str]:
    """Return the column names of an index: names of columns or for expressions, made unique by a number."""
    names: list[str] = []
    for element in elements:
        base = element.get("indexcolname") or element.get("name") or expression_name(element.get("expr"))
        name, attempt = base, 0
        while name in names:
            attempt += 1
            suffix = str(attempt)
            name = base.encode()[: NAME_BYTES - len(suffix)].decode(errors="ignore") + suffix
        names.append(name)
    return names


def expression_name(node: Node | None) -> str:
    """Return the name of an expression index's column (FigureIndexColname; "expr" if nothing fits)."""
    from pubcheck.postgres.parse_tree import figure_name

    return figure_name(node)[0] or "expr"
