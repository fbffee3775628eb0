"""CREATE TYPE ... AS ENUM, and ALTER TYPE of its values (commands/typecmds.c: DefineEnum; catalog/pg_enum.c)."""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog.rows import Type
from pubcheck.postgres.catalog.value_order import EnumLabels
from pubcheck.postgres.ddl.creation_namespace import creation_name
from pubcheck.postgres.ddl.generated_names import NAME_BYTES
from pubcheck.postgres.ddl.partition_bounds import relabel
from pubcheck.postgres.ddl.types import new_type, new_type_oid
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names
from pubcheck.postgres.session import Session


def create_enum(session: Session, node: Node) -> None:
    """CREATE TYPE ... AS ENUM (DefineEnum)."""
    namespace, name = creation_name(session, names(node["typeName"]))
    oid = new_type_oid(session, namespace, name)
    labels = names(node.get("vals", ()))
    for label in labels:
        _check_label(label)
    if len(set(labels)) < len(labels):
        raise ServerError("23505", 'duplicate key value violates unique constraint "pg_enum_typid_label_index"')
    row = Type(oid, name, namespace, session.setting("role"), "e", labels=EnumLabels(labels), category="E", seen=True)
    new_type(session, row)
    if session.transaction is not None:
        session.enums.add(row.oid)


def _check_label(label: str) -> None:
    if len(label.encode()) > NAME_BYTES:
        raise ServerError("42602", f'invalid enum label "{label}"')


def alter_enum(session: Session, node: Node) -> None:
    """ALTER TYPE ... ADD VALUE and RENAME VALUE (AddEnumLabel, RenameEnumLabel)."""
    catalog = session.catalog
    parts = names(node["typeName"])
    row = catalog.types.get(session.named_type(parts))
    if row is None:
        return
    if row.kind != "e":
        raise ServerError("42809", f"{'.'.join(parts)} is not an enum")
    if not session.owns(row.owner):
        raise ServerError("42501", f"must be owner of type {row.name}")
    labels, label = row.labels, node["newVal"]
    _check_label(label)
    old = node.get("oldVal")
    if old is not None:
        if old not in labels:
            raise ServerError("22023", f'"{old}" is not an existing enum label')
        if label in labels:
            raise ServerError("42710", 'enum label "{name}" already exists', name=label)
        labels = EnumLabels(label if current_label == old else current_label for current_label in labels)
        relabel(session, row.oid, old, label)
    elif label in labels:
        if not node.get("skipIfNewValExists"):
            raise ServerError("42710", 'enum label "{name}" already exists', name=label)
        session.notices.append(f'enum label "{label}" already exists, skipping')
        return
    else:
        neighbor = node.get("newValNeighbor")
        if neighbor is None:
            labels = labels.appended(label)
        elif neighbor not in labels:
            raise ServerError("22023", f'"{neighbor}" is not an existing enum label')
        else:
            position = labels.index(neighbor) + (1 if node.get("newValIsAfter") else 0)
            before = list(labels)
            labels = EnumLabels((*before[:position], label, *before[position:]))
        # EnumTypeUncommitted.
        if session.transaction is not None and not (row.oid in session.enums and catalog.major.new_enum_values_usable):
            session.labels.add((row.oid, label))
    catalog.types.put(row.oid, replace(row, labels=labels))
