"""DROP, and ALTER ... RENAME, SET SCHEMA, OWNER TO of every kind of object.

Follows commands/dropcmds.c, commands/alter.c, commands/tablecmds.c (RemoveRelations, renameatt, RenameRelation,
AlterTableNamespace) and commands/publicationcmds.c (AlterPublicationOwner_internal). Publications are judged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.catalog import (
    AUTO,
    COLLATION,
    INTERNAL,
    NAMESPACE,
    OPERATOR,
    OTHER,
    PROC,
    PUBLICATION,
    PUBLICATION_REL,
    RELATION,
    TYPE,
    Object,
)
from pubcheck.postgres.catalog.rows import Constraint, Namespace, Publication, Relation, Role, Type
from pubcheck.postgres.ddl.columns import SYSTEM_COLUMNS, put_columns, renamed, require_column
from pubcheck.postgres.ddl.deletion import FIRST_UNPINNED, perform_deletion
from pubcheck.postgres.ddl.descriptions import KINDS
from pubcheck.postgres.ddl.lookup import (
    OTHER_KINDS,
    PROC_KINDS,
    RELATION_KINDS,
    RELATION_WORDS,
    TABLE_OBJECTS,
    find_object,
    find_on_table,
    find_relation,
    list_items,
    range_var,
    strings,
)
from pubcheck.postgres.ddl.subscriptions import rename_subscription
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session

_OWNED = {NAMESPACE: "schema", TYPE: "type", PROC: "function", OPERATOR: "operator", COLLATION: "collation"}


# DROP.


def drop(session: Session, node: Node) -> None:
    """DROP of any kind of object (RemoveRelations, RemoveObjects)."""
    kind, missing_ok = node["removeType"], node.get("missing_ok", False)
    cascade = node.get("behavior") == "DROP_CASCADE"
    if node.get("concurrent"):
        if len(node["objects"]) > 1:
            raise ServerError("0A000", "DROP INDEX CONCURRENTLY does not support dropping multiple objects")
        if cascade:
            raise ServerError("0A000", "DROP INDEX CONCURRENTLY does not support CASCADE")
    objects: list[Object] = []
    for item in node["objects"]:
        if kind in RELATION_KINDS:
            found = _relation_to_drop(session, kind, item, missing_ok)
        else:
            found = _object_to_drop(session, kind, item, missing_ok)
        if found is not None and found not in objects:
            objects.append(found)
    if objects:
        perform_deletion(session, objects, cascade)


def _relation_to_drop(session: Session, kind: str, item: Node, missing_ok: bool) -> Object | None:
    catalog = session.catalog
    parts = strings(list_items(item))
    rv = range_var(parts)
    word = RELATION_WORDS[kind].split(" ", 1)[1]
    try:
        row = session.find_relation(rv) if missing_ok else session.relation(rv)
    except ServerError as error:
        if error.sqlstate != "42P01":
            raise
        raise ServerError("42704" if word == "index" else "42P01", f'{word} "{parts[-1]}" does not exist') from None
    if row is None:
        session.notices.append(f'{word} "{parts[-1]}" does not exist, skipping')
        _note_gone(session, RELATION, parts)
        return None
    if row.seen and row.kind not in RELATION_KINDS[kind]:
        raise ServerError("42809", f'"{row.name}" is not {RELATION_WORDS[kind]}')
    if not session.owns(row.owner) and not session.owns(catalog.namespaces[row.namespace].owner):
        raise ServerError("42501", f"must be owner of {KINDS.get(row.kind, 'relation')} {row.name}")
    if row.oid < FIRST_UNPINNED:
        raise ServerError("42501", f'permission denied: "{row.name}" is a system catalog')
    return RELATION, row.oid, 0


def _object_to_drop(session: Session, kind: str, item: Node, missing_ok: bool) -> Object | None:
    catalog = session.catalog
    found = find_object(session, kind, item, missing_ok=missing_ok)
    if found is None:
        if missing_ok and "String" in item:
            name, word = item["String"]["sval"], OTHER_KINDS.get(kind, kind.removeprefix("OBJECT_").lower())
            session.notices.append(f'{word} "{name}" does not exist, skipping')
            if kind == "OBJECT_PUBLICATION":
                catalog.gone.put((PUBLICATION, 0, name), True)
            elif kind == "OBJECT_SCHEMA":
                catalog.gone.put((NAMESPACE, 0, name), True)
        elif kind in ("OBJECT_TYPE", "OBJECT_DOMAIN"):
            given = item.get("TypeName", {})
            _note_gone(session, TYPE, strings(given.get("names", list_items(item))))
        return None
    if found[0] == PUBLICATION:
        _require_publication_owner(session, catalog.publications[found[1]])
    elif found[0] == NAMESPACE:
        if not session.owns(catalog.namespaces[found[1]].owner):
            raise ServerError("42501", f"must be owner of schema {catalog.namespaces[found[1]].name}")
    else:
        row = _row(session, found)
        if row is not None and not session.owns(row.owner):
            schema = catalog.namespaces.get(row.namespace)
            if schema is None or not session.owns(schema.owner):
                raise ServerError("42501", f"must be owner of {_OWNED.get(found[0], 'object')} {row.name}")
    return found


def _note_gone(session: Session, kind: str, parts: list[str]) -> None:
    """After DROP ... IF EXISTS a name that was not visible is certainly free."""
    if len(parts) > 1:
        namespace = session.catalog.namespace_names.get(parts[-2], 0)
    else:
        namespace = session.visible_namespace()
    if namespace and parts:
        session.catalog.gone.put((kind, namespace, parts[-1]), True)


def _row(session: Session, target: Object) -> Any:
    """The row of an object that has an owner and a schema, or None."""
    catalog = session.catalog
    if target[0] == PROC and target[1] not in catalog.procs:
        return session.syscache.proc(target[1])
    heaps: dict[str, dict[int, Any]] = {
        TYPE: catalog.types,
        PROC: catalog.procs,
        OPERATOR: catalog.operators,
        COLLATION: catalog.collations,
        OTHER: catalog.others,
    }
    return heaps.get(target[0], {}).get(target[1])


def _require_publication_owner(session: Session, row: Publication) -> None:
    if not session.owns(row.owner):
        raise _refused(row, f"must be owner of publication {row.name}")


def _refused(row: Publication, message: str, hint: str | None = None) -> ServerError:
    error = ServerError("42501", message, rule="permission", hint=hint)
    error.publication = row.name
    return error


# RENAME.


def rename(session: Session, node: Node) -> None:
    """ALTER ... RENAME of any kind of object (ExecRenameStmt)."""
    kind = node["renameType"]
    if kind in RELATION_KINDS:
        _rename_relation(session, node, kind)
    elif kind in ("OBJECT_COLUMN", "OBJECT_ATTRIBUTE"):
        _rename_column(session, node)
    elif kind == "OBJECT_TABCONSTRAINT":
        _rename_constraint(session, node)
    elif kind == "OBJECT_PUBLICATION":
        _rename_publication(session, node)
    elif kind == "OBJECT_SUBSCRIPTION":
        rename_subscription(session, node)
    elif kind == "OBJECT_SCHEMA":
        _rename_schema(session, node["subname"], node["newname"])
    elif kind == "OBJECT_ROLE":
        _rename_role(session, node["subname"], node["newname"])
    elif kind in ("OBJECT_TYPE", "OBJECT_DOMAIN"):
        found = find_object(session, kind, node.get("object", {}))
        if found is not None:
            _rename_type(session, found[1], node["newname"])
    elif kind in TABLE_OBJECTS:
        relation = find_relation(session, "", node["relation"], missing_ok=node.get("missing_ok", False))
        if relation is not None:
            _require_owner(session, relation)
            found = find_on_table(session, kind, relation, node["subname"])
            if found is not None:
                _move(session, found, relation.oid, node["newname"])
    elif kind in PROC_KINDS or kind == "OBJECT_COLLATION" or kind in OTHER_KINDS:
        found = find_object(session, kind, node.get("object", {}), missing_ok=node.get("missing_ok", False))
        row = _row(session, found) if found else None
        if found is not None and row is not None:
            _require_object_owner(session, found, row)
            _move(session, found, row.namespace, node["newname"])


def _require_owner(session: Session, row: Relation) -> None:
    if not session.owns(row.owner):
        raise ServerError("42501", f"must be owner of {KINDS.get(row.kind, 'relation')} {row.name}")
    if row.oid < FIRST_UNPINNED:
        raise ServerError("42501", f'permission denied: "{row.name}" is a system catalog')


def _require_object_owner(session: Session, target: Object, row: Any) -> None:
    if not session.owns(row.owner):
        raise ServerError("42501", f"must be owner of {_OWNED.get(target[0], 'object')} {row.name}")


def _rename_relation(session: Session, node: Node, kind: str) -> None:
    row = _relation_to_alter(session, kind, node)
    if row is None:
        return
    if not session.may_create_in(session.catalog.namespaces[row.namespace]):
        raise ServerError("42501", f"permission denied for schema {session.catalog.namespaces[row.namespace].name}")
    rename_relation(session, row, node["newname"])


def _relation_to_alter(session: Session, kind: str, node: Node) -> Relation | None:
    """The relation of RENAME or SET SCHEMA, whose owner one must be; None where IF EXISTS finds none."""
    missing_ok = node.get("missing_ok", False)
    if kind == "OBJECT_INDEX" and "renameType" in node:
        kind = ""  # ALTER INDEX renames whatever it finds
    row = find_relation(session, kind, node["relation"], missing_ok=missing_ok)
    if row is None:
        session.notices.append(f'relation "{node["relation"]["relname"]}" does not exist, skipping')
        return None
    _require_owner(session, row)
    return row


def rename_relation(session: Session, row: Relation, name: str) -> None:
    """RenameRelationInternal: its row type, and the constraint of an index, are renamed with it.

    Raises ServerError 42P07.
    """
    catalog = session.catalog
    if name == row.name:
        raise ServerError("42P07", f'relation "{name}" already exists')
    _take_name(session, row.namespace, name)
    _move_row_type(session, row, row.namespace, name)
    catalog.rename_relation(catalog.relations[row.oid], name, row.namespace)
    constraint = catalog.owner_of_index(row.oid)
    if constraint is not None:
        _put_constraint(session, constraint, name)


def _put_constraint(session: Session, row: Constraint, name: str) -> None:
    catalog = session.catalog
    relation = catalog.relations.get(row.relation)
    if relation is not None:
        catalog.constraint_names.remove((relation.namespace, row.name), row.oid)
        catalog.constraint_names.add((relation.namespace, name), row.oid)
    catalog.constraints.put(row.oid, replace(row, name=name))


def _rename_column(session: Session, node: Node) -> None:
    """renameatt: through all that inherits the column; in what is made of a composite type with CASCADE."""
    catalog = session.catalog
    missing_ok = node.get("missing_ok", False)
    attribute = node["renameType"] == "OBJECT_ATTRIBUTE"
    rv, old, new = node["relation"], node["subname"], node["newname"]
    row = find_relation(session, "" if attribute else "OBJECT_TABLE", rv, missing_ok=missing_ok)
    if row is None:
        session.notices.append(f'relation "{rv["relname"]}" does not exist, skipping')
        return
    if row.seen and row.kind not in "rvmciIfp":
        raise ServerError("42809", f'cannot rename columns of relation "{row.name}"')
    _require_owner(session, row)
    if row.of_type:
        raise ServerError("42809", "cannot rename column of typed table")
    if row.kind in "iI":
        return
    if not attribute and not rv.get("inh") and catalog.children.has(row.oid):
        raise ServerError("42P16", f'inherited column "{old}" must be renamed in child tables too')
    family = catalog.descendants(row.oid)
    if row.kind == "c":
        from pubcheck.postgres.ddl.types.composites import typed_tables

        typed = typed_tables(session, row, cascade=node.get("behavior") == "DROP_CASCADE")
        family = [row.oid, *(oid for table in typed for oid in catalog.descendants(table))]
    for oid in family:
        parents = sum(parent in family for parent in catalog.relations[oid].parents)
        _rename_column_of(session, oid, old, new, parents)


def _rename_column_of(session: Session, relation: int, old: str, new: str, parents: int) -> None:
    if old in SYSTEM_COLUMNS:
        raise ServerError("0A000", f'cannot rename system column "{old}"')
    column = require_column(session, relation, old)
    row = session.catalog.relations[relation]
    if column.inherited > parents:
        raise ServerError("42P16", f'cannot rename inherited column "{old}"')
    if new in SYSTEM_COLUMNS:
        raise ServerError("42701", f'column name "{new}" conflicts with a system column name')
    if row.column(new) is not None:
        raise ServerError("42701", f'column "{new}" of relation "{row.name}" already exists')
    columns = []
    for known in row.columns:
        if known.number == column.number:
            known = replace(known, name=new)
        if old in known.expression:
            read = tuple(new if name == old else name for name in known.expression)
            known = replace(known, expression=read, tree=renamed(known.tree, old, new))
        columns.append(known)
    put_columns(session, row, tuple(columns))
    _rename_in_trees(session, relation, column.number, old, new)


def _rename_in_trees(session: Session, relation: int, number: int, old: str, new: str) -> None:
    """CHECK constraints and indexes go on to mean the column."""
    catalog = session.catalog
    for oid in catalog.constraints_of.get(relation):
        constraint = catalog.constraints[oid]
        if constraint.tree is not None and number in constraint.keys:
            catalog.constraints.put(oid, replace(constraint, tree=renamed(constraint.tree, old, new)))
    for oid in catalog.indexes_of.get(relation):
        index = catalog.indexes[oid]
        if index.trees:
            catalog.indexes.put(oid, replace(index, trees=tuple(renamed(tree, old, new) for tree in index.trees)))


def _rename_constraint(session: Session, node: Node) -> None:
    """rename_constraint_internal: an inheritable CHECK or NOT NULL in the children too; a key with its index."""
    catalog = session.catalog
    rv, old, new = node["relation"], node["subname"], node["newname"]
    row = find_relation(session, "OBJECT_TABLE", rv, missing_ok=node.get("missing_ok", False))
    if row is None:
        session.notices.append(f'relation "{rv["relname"]}" does not exist, skipping')
        return
    _require_owner(session, row)
    constraint = catalog.constraint(row.oid, old)
    if constraint is None:
        if row.seen and not (old.endswith("not_null") or session.blind):
            raise ServerError("42704", f'constraint "{old}" for table "{row.name}" does not exist')
        return
    family = [row.oid]
    if constraint.kind in "cn" and not constraint.no_inherit:
        if constraint.inherited:
            raise ServerError("42P16", f'cannot rename inherited constraint "{old}"')
        if not rv.get("inh") and catalog.children.has(row.oid):
            raise ServerError("42P16", f'inherited constraint "{old}" must be renamed in child tables too')
        family = catalog.descendants(row.oid)
    for oid in family:
        part = catalog.constraint(oid, old)
        if part is None:
            continue
        if part.index:
            index = catalog.relations.get(part.index)
            if index is not None:
                rename_relation(session, index, new)
                continue
        if catalog.constraint(oid, new) is not None:
            name = catalog.relations[oid].name
            raise ServerError("42710", f'constraint "{new}" for relation "{name}" already exists')
        _put_constraint(session, part, new)


def _rename_publication(session: Session, node: Node) -> None:
    """AlterObjectRename_internal: the object, its owner, then the new name, even if it is the old one."""
    catalog = session.catalog
    name = node["newname"]
    row = session.publication(node["object"]["String"]["sval"])
    _require_publication_owner(session, row)
    other = catalog.publication_names.get(name)
    if other is not None:
        if not catalog.publications[other].seen:
            session.assumed = True
        error = ServerError("42710", f'publication "{name}" already exists', rule="publication-exists")
        error.publication = name
        raise error
    catalog.publication_names.remove(row.name)
    catalog.gone.put((PUBLICATION, 0, row.name), True)
    catalog.add_publication(replace(row, name=name))


def _rename_schema(session: Session, old: str, new: str) -> None:
    """RenameSchema."""
    catalog = session.catalog
    row = session.namespace(old)
    if new in catalog.namespace_names:
        raise ServerError("42P06", f'schema "{new}" already exists')
    if not session.owns(row.owner):
        raise ServerError("42501", f"must be owner of schema {old}")
    if not session.may_create_in_database():
        raise ServerError("42501", f"permission denied for database {catalog.database}")
    if new.startswith("pg_"):
        raise ServerError("42939", f'unacceptable schema name "{new}"')
    catalog.namespace_names.remove(old)
    catalog.gone.put((NAMESPACE, 0, old), True)
    catalog.add_namespace(replace(row, name=new))
    session.forget_path()


def _rename_role(session: Session, old: str, new: str) -> None:
    """RenameRole."""
    catalog = session.catalog
    row = session.role_named(old)
    if row.oid == session.setting("session_authorization"):
        raise ServerError("0A000", "session user cannot be renamed")
    if row.oid == session.setting("role"):
        raise ServerError("0A000", "current user cannot be renamed")
    if new in catalog.role_names:
        raise ServerError("42710", f'role "{new}" already exists')
    if not session.superuser() and (row.superuser or not session.role.create_role):
        raise ServerError("42501", "permission denied to rename role")
    catalog.role_names.remove(old)
    catalog.add_role(replace(row, name=new))
    session.forget_path()


def _rename_type(session: Session, oid: int, name: str) -> None:
    """RenameType."""
    catalog = session.catalog
    row = catalog.types.get(oid)
    if row is None:
        raise ServerError("42501", "must be owner of type")
    if not session.owns(row.owner):
        raise ServerError("42501", f"must be owner of type {row.name}")
    if row.relation:
        relation = catalog.relations[row.relation]
        if relation.kind != "c":
            raise ServerError("42809", f"{row.name} is a table's row type", hint="Use ALTER TABLE instead.")
        rename_relation(session, relation, name)
        return
    if row.subscript == "a" and row.name.startswith("_"):
        raise ServerError("42809", f"cannot alter array type {row.name}")
    move_type(session, row, row.namespace, name)


def move_type(session: Session, row: Type, namespace: int, name: str) -> None:
    """Another name or schema for a type and the array type over it (RenameTypeInternal, AlterTypeNamespaceInternal).

    Raises ServerError 42710.
    """
    catalog = session.catalog
    if (namespace, name) in catalog.type_names:
        raise ServerError("42710", f'type "{name}" already exists')
    array = catalog.types.get(row.array)
    for known in (row, array):
        if known is not None:
            catalog.type_names.remove((known.namespace, known.name))
            catalog.gone.put((TYPE, known.namespace, known.name), True)
    catalog.add_type(replace(row, namespace=namespace, name=name))
    if array is not None:
        catalog.add_type(replace(array, namespace=namespace, name=catalog.array_type_name(namespace, name)))


def _move_row_type(session: Session, row: Relation, namespace: int, name: str) -> None:
    catalog = session.catalog
    oid = catalog.type_names.get((row.namespace, row.name))
    if oid is not None and catalog.types[oid].relation == row.oid:
        move_type(session, catalog.types[oid], namespace, name)
    elif (namespace, name) in catalog.type_names and row.kind in "rpvmf":
        raise ServerError("42710", f'type "{name}" already exists')


def _move(session: Session, target: Object, namespace: int, name: str) -> None:
    """Another name or schema for an object that is not a relation. Raises ServerError 42710, 42723."""
    catalog = session.catalog
    kind, oid, _ = target
    if kind == TYPE:
        move_type(session, catalog.types[oid], namespace, name)
    elif kind == PROC:
        proc = catalog.procs[oid]
        for other in catalog.proc_names.get((namespace, name)):
            if catalog.procs[other].arguments == proc.arguments and 0 not in proc.arguments:
                raise ServerError("42723", f"function {name} already exists in schema")
        catalog.proc_names.remove((proc.namespace, proc.name), oid)
        catalog.add_proc(replace(proc, namespace=namespace, name=name))
    elif kind == OPERATOR:
        operator = catalog.operators[oid]
        catalog.operator_names.remove((operator.namespace, operator.name), oid)
        catalog.add_operator(replace(operator, namespace=namespace, name=name))
    elif kind == COLLATION:
        collation = catalog.collations[oid]
        if (namespace, name) in catalog.collation_names:
            raise ServerError("42710", f'collation "{name}" already exists')
        catalog.collation_names.remove((collation.namespace, collation.name))
        catalog.add_collation(replace(collation, namespace=namespace, name=name))
    elif kind == OTHER:
        other_row = catalog.others[oid]
        if (other_row.kind, namespace, name) in catalog.other_names:
            raise ServerError("42710", f'{other_row.kind} "{name}" already exists')
        catalog.other_names.remove((other_row.kind, other_row.namespace, other_row.name))
        catalog.add_other(replace(other_row, namespace=namespace, name=name))


# SET SCHEMA.


def set_schema(session: Session, node: Node) -> None:
    """ALTER ... SET SCHEMA of any kind of object (ExecAlterObjectSchemaStmt)."""
    kind = node["objectType"]
    if kind in RELATION_KINDS:
        _set_schema_of_relation(session, node, kind)
        return
    if kind == "OBJECT_EXTENSION":
        from pubcheck.postgres.ddl.extensions import set_schema as move_extension

        move_extension(session, node["object"]["String"]["sval"], node["newschema"])
        return
    found = find_object(session, kind, node.get("object", {}), missing_ok=node.get("missing_ok", False))
    row = _row(session, found) if found else None
    namespace = session.namespace(node["newschema"])
    if found is None or row is None:
        return
    _require_object_owner(session, found, row)
    _may_create_in(session, namespace)
    if row.namespace == namespace.oid:
        return
    if found[0] == TYPE and row.relation:
        relation = session.catalog.relations[row.relation]
        if relation.kind != "c":
            raise ServerError("42809", f"{row.name} is a table's row type", hint="Use ALTER TABLE instead.")
        move_relation(session, relation, namespace)
    elif found[0] == TYPE and row.subscript == "a" and row.name.startswith("_"):
        raise ServerError("42809", f"cannot alter array type {row.name}")
    else:
        _move(session, found, namespace.oid, row.name)
        _depend_on_namespace(session, found, row.namespace, namespace.oid)


def _depend_on_namespace(session: Session, target: Object, old: int, new: int) -> None:
    """changeDependencyFor."""
    catalog = session.catalog
    for key, entry in catalog.dependencies.get(target[:2]):
        if key == (NAMESPACE, old):
            catalog.dependencies.remove(target[:2], (key, entry))
            catalog.dependents.remove(key, entry)
            catalog.depend(target, (NAMESPACE, new, 0), entry[2])


def _may_create_in(session: Session, namespace: Namespace) -> None:
    if not session.may_create_in(namespace):
        raise ServerError("42501", f"permission denied for schema {namespace.name}")


def _set_schema_of_relation(session: Session, node: Node, kind: str) -> None:
    """AlterTableNamespace."""
    catalog = session.catalog
    row = _relation_to_alter(session, kind, node)
    if row is None:
        return
    if row.kind in "iI":
        raise ServerError("42809", f'cannot change schema of index "{row.name}"')
    if row.kind == "S" and any(
        how in (AUTO, INTERNAL) and key[0] == RELATION and number
        for key, (_, number, how) in catalog.dependencies.get((RELATION, row.oid))
    ):
        raise ServerError("0A000", "cannot move an owned sequence into another schema")
    namespace = session.namespace(node["newschema"])
    _may_create_in(session, namespace)
    move_relation(session, row, namespace)


def move_relation(session: Session, row: Relation, namespace: Namespace) -> None:
    """AlterTableNamespaceInternal: row type, indexes, constraints and owned sequences go with the relation.

    Raises ServerError 42P07.
    """
    catalog = session.catalog
    if row.namespace == namespace.oid:
        return
    for one in (row.namespace, namespace.oid):
        if catalog.namespaces[one].name.startswith("pg_temp"):
            raise ServerError("0A000", "cannot move objects into or out of temporary schemas")
    _refuse_taken(session, row, namespace)
    former = row.namespace
    _move_row_type(session, row, namespace.oid, row.name)
    for oid in catalog.constraints_of.get(row.oid):
        constraint = catalog.constraints[oid]
        catalog.constraint_names.remove((former, constraint.name), oid)
        catalog.constraint_names.add((namespace.oid, constraint.name), oid)
    catalog.rename_relation(catalog.relations[row.oid], row.name, namespace.oid)
    _depend_on_namespace(session, (RELATION, row.oid, 0), former, namespace.oid)
    for oid in catalog.indexes_of.get(row.oid):
        index = catalog.relations[oid]
        _refuse_taken(session, index, namespace)
        catalog.rename_relation(index, index.name, namespace.oid)
    for dependent, number, how in catalog.dependents.get((RELATION, row.oid)):
        sequence = catalog.relations.get(dependent[1]) if dependent[0] == RELATION else None
        if number and how in (AUTO, INTERNAL) and sequence is not None and sequence.kind == "S":
            _refuse_taken(session, sequence, namespace)
            catalog.rename_relation(sequence, sequence.name, namespace.oid)


def _refuse_taken(session: Session, row: Relation, namespace: Namespace) -> None:
    known = session.relation_in(namespace.oid, row.name)
    if known is not None and known.seen and known.oid != row.oid:
        raise ServerError("42P07", f'relation "{row.name}" already exists in schema "{namespace.name}"')
    if known is not None and not known.seen:
        _take_name(session, namespace.oid, row.name)


def _take_name(session: Session, namespace: int, name: str) -> None:
    """Make a name free for a relation that exists already; what was assumed under it goes with its memberships."""
    assumed = session.relation_in(namespace, name)
    session.free_name(namespace, name)
    for member in session.catalog.memberships.get(assumed.oid) if assumed is not None else ():
        session.catalog.remove(PUBLICATION_REL, member)


# OWNER TO.


def change_owner(session: Session, node: Node) -> None:
    """ALTER ... OWNER TO of any kind of object but relations (ExecAlterOwnerStmt)."""
    kind, judged = node["objectType"], node["objectType"] == "OBJECT_PUBLICATION"
    rule = "permission" if judged else None
    spec = node["newowner"]
    if spec.get("roletype") == "ROLESPEC_PUBLIC":
        raise ServerError("42704", 'role "public" does not exist', rule=rule)
    owner = session.role_spec(spec, rule=rule)
    if judged:
        _change_publication_owner(session, session.publication(node["object"]["String"]["sval"]), owner)
        return
    catalog = session.catalog
    if kind == "OBJECT_SCHEMA":
        namespace = session.namespace(node["object"]["String"]["sval"])
        _followed_owner(session, namespace.owner, owner, f"schema {namespace.name}")
        catalog.namespaces.put(namespace.oid, replace(namespace, owner=owner.oid))
        return
    if kind == "OBJECT_DATABASE":
        catalog.databases.put(node["object"]["String"]["sval"], owner.oid)
        return
    found = find_object(session, kind, node.get("object", {}))
    row = _row(session, found) if found else None
    if found is None or row is None:
        return
    _followed_owner(session, row.owner, owner, f"{_OWNED.get(found[0], 'object')} {row.name}")
    put: Callable[[Any], None] = {
        TYPE: lambda new: catalog.types.put(new.oid, new),
        PROC: lambda new: catalog.procs.put(new.oid, new),
        OPERATOR: lambda new: catalog.operators.put(new.oid, new),
        COLLATION: lambda new: catalog.collations.put(new.oid, new),
        OTHER: lambda new: catalog.others.put(new.oid, new),
    }[found[0]]
    put(replace(row, owner=owner.oid))
    if found[0] == TYPE and row.relation:
        relation = catalog.relations[row.relation]
        catalog.relations.put(relation.oid, replace(relation, owner=owner.oid))


def _followed_owner(session: Session, old: int, new: Role, what: str) -> None:
    if old == new.oid or session.superuser():
        return
    if not session.owns(old):
        raise ServerError("42501", f"must be owner of {what}")
    if new.seen and not session.member_of(new.oid):
        raise ServerError("42501", f'must be able to SET ROLE "{new.name}"')


def _change_publication_owner(session: Session, row: Publication, owner: Role) -> None:
    """AlterPublicationOwner_internal. Of a new owner that the unit did not make nothing is known or refused."""
    catalog = session.catalog
    if row.owner == owner.oid:
        return
    if not session.superuser():
        _require_publication_owner(session, row)
        if owner.seen and not session.member_of(owner.oid):
            if catalog.major.set_role_option:
                raise _refused(row, f'must be able to SET ROLE "{owner.name}"')
            raise _refused(row, f'must be member of role "{owner.name}"')
        if not session.may_create_in_database(owner):
            session.assumed = session.assumed or not catalog.database_known
            raise _refused(row, f"permission denied for database {catalog.database}")
        scope = "ALL TABLES" if row.all_tables else "TABLES IN SCHEMA" if catalog.schemas_of.has(row.oid) else ""
        if scope and owner.seen and not owner.superuser:
            raise _refused(
                row,
                f'permission denied to change owner of publication "{row.name}"',
                f"The owner of a FOR {scope} publication must be a superuser.",
            )
    catalog.publications.put(row.oid, replace(row, owner=owner.oid))
