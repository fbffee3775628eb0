"""Table constraints: keys, foreign keys, CHECK, NOT NULL (commands/tablecmds.c: ATExecAddConstraint and its kin)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.catalog import AUTO, CONSTRAINT, FIRST_UNPINNED, INTERNAL, NORMAL, PARTITION, PROC, RELATION
from pubcheck.postgres.catalog.rows import Column, Constraint, NotNull, Relation
from pubcheck.postgres.ddl.check_expressions import refuse_check
from pubcheck.postgres.ddl.generated_names import NAME_BYTES, choose_constraint_name
from pubcheck.postgres.ddl.index_spec import IndexSpec
from pubcheck.postgres.ddl.indexes import define_index
from pubcheck.postgres.ddl.not_null import add_not_null, column_of_constraint, require_not_null
from pubcheck.postgres.ddl.object_address import functions_called
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import INT2, INT4, INT8, TEXT, VARCHAR
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import column_names, conjuncts
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.columns import refuse_unknown_columns, require_column

_KEY_KINDS = {"CONSTR_PRIMARY": "p", "CONSTR_UNIQUE": "u", "CONSTR_EXCLUSION": "x"}


def add_constraint(session: Session, relation: int, node: Node, recurse: bool = True) -> None:
    """Add one table constraint from its Constraint node; ``recurse``: without ONLY."""
    kind = node["contype"]
    name = node.get("conname", "")
    if kind == "CONSTR_NOTNULL":
        _add_not_null(session, relation, node, recurse)
        return
    catalog = session.catalog
    if kind in ("CONSTR_CHECK", "CONSTR_FOREIGN") and not (node.get("is_enforced") or catalog.major.enforcement):
        raise ServerError("42601", 'syntax error at or near "ENFORCED"')
    row = catalog.relations[relation]
    if (
        name
        and (row.namespace, name) in catalog.constraint_names.groups
        and (catalog.constraint(relation, name) is not None or column_of_constraint(row, name))
    ):
        raise ServerError(
            "42710", 'constraint "{name}" for relation "{owner}" already exists', name=name, owner=row.name
        )
    if kind in _KEY_KINDS:
        if "indexname" in node:
            _use_index(session, relation, node, _KEY_KINDS[kind], recurse)
        else:
            _add_key(session, relation, node, _KEY_KINDS[kind], recurse)
    elif kind == "CONSTR_FOREIGN":
        _add_foreign_key(session, relation, node, recurse)
    elif kind == "CONSTR_CHECK":
        _add_check(session, relation, node, recurse)


def _add_key(session: Session, relation: int, node: Node, kind: str, recurse: bool) -> None:
    catalog = session.catalog
    row = catalog.relations[relation]
    if kind == "p":
        _refuse_second_primary_key(session, row)
    if row.kind == "f":
        raise ServerError("42809", "primary key or unique constraints are not supported on foreign tables")
    if kind == "x":
        elements = tuple(pair["List"]["items"][0]["IndexElem"] for pair in node.get("exclusions", ()))
    else:
        names = [key["String"]["sval"] for key in node.get("keys", ())]
        if len(names) > len(set(names)):
            repeated = next(name for position, name in enumerate(names) if name in names[:position])
            kind_of_key = "primary key" if kind == "p" else "unique"
            message = f'column "{repeated}" appears twice in {kind_of_key} constraint'
            raise ServerError("42701", message, location=node.get("location"))
        elements = tuple({"name": name} for name in names)
        for name in names:
            require_key_column(session, relation, name)
            if kind == "p" and not recurse:
                _refuse_nullable_in_children(session, row, name)
    over = node.get("without_overlaps", False)
    if over and not catalog.major.named_not_null:
        raise ServerError("42601", 'syntax error at or near "WITHOUT"')
    if over and len(node["keys"]) < 2:
        raise ServerError("42601", "constraint using WITHOUT OVERLAPS needs at least two columns")
    method = "gist" if over else node.get("access_method", "btree")
    if "options" in node or "indexspace" in node:
        # Loaded only for keys that say how they are stored.
        from pubcheck.postgres.ddl.access_methods import refuse_index_storage

        refuse_index_storage(session, node, method)
    define_index(
        session,
        catalog.relations[relation],
        IndexSpec(
            elements,
            tuple({"name": key["String"]["sval"]} for key in node.get("including", ())),
            node.get("conname", ""),
            unique=kind != "x" and not over,
            primary=kind == "p",
            exclusion=kind == "x" or over,
            without_overlaps=over,
            deferrable=node.get("deferrable", False),
            nulls_not_distinct=node.get("nulls_not_distinct", False),
            where=node.get("where_clause"),
            method=method,
            kind=kind,
            only=not recurse,
        ),
    )


def _refuse_nullable_in_children(session: Session, row: Relation, name: str) -> None:
    """ADD PRIMARY KEY with ONLY: the children must have the key's columns NOT NULL; before 18 partitions only."""
    catalog = session.catalog
    if row.kind != "p" and not catalog.major.named_not_null:
        return
    for child in catalog.children.get(row.oid):
        part = catalog.relations[child]
        column = part.column(name)
        if column is not None and not column.not_null and part.seen:
            if catalog.major.named_not_null:
                raise ServerError("XX000", f'column "{name}" of table "{part.name}" is not marked NOT NULL')
            raise ServerError("42P16", "constraint must be added to child tables too")


def require_key_column(session: Session, relation: int, name: str) -> Column:
    """Return a column that a key names.

    Raises ServerError 42703 with transformIndexConstraint's message, without a place: the server gives none in ALTER
    TABLE.
    """
    row = session.catalog.relations[relation]
    column = row.column(name)
    if column is None and row.seen:
        raise ServerError("42703", f'column "{name}" named in key does not exist')
    return column or require_column(session, relation, name)


def _refuse_second_primary_key(session: Session, row: Relation) -> None:
    catalog = session.catalog
    if any(catalog.indexes[oid].primary for oid in catalog.key_indexes_of.get(row.oid)):
        raise ServerError("42P16", f'multiple primary keys for table "{row.name}" are not allowed')


def _use_index(session: Session, relation: int, node: Node, kind: str, recurse: bool) -> None:
    """ADD CONSTRAINT ... USING INDEX: the index becomes the constraint's and takes its name."""
    catalog = session.catalog
    row = catalog.relations[relation]
    name = node["indexname"]
    index_relation = session.relation_in(row.namespace, name)
    index = catalog.indexes.get(index_relation.oid) if index_relation is not None else None
    if index is None and not row.seen:
        return  # an index of a table that is not visible
    if index_relation is None or index is None or index.table != relation:
        raise ServerError("42704", f'index "{name}" does not exist', location=node.get("location"))
    if catalog.owner_of_index(index.oid) is not None:
        message = f'index "{name}" is already associated with a constraint'
        raise ServerError("55000", message, location=node.get("location"))
    filters = index.partial and index.always is False
    if not index.valid or not index.unique or index.expressions or filters or row.kind == "p":
        message = f'index "{name}" cannot be used for this constraint'
        raise ServerError("42809", message, location=node.get("location"))
    if kind == "p":
        if index.nulls_not_distinct and catalog.major.distinct_primary_keys:
            raise ServerError("42P16", "primary keys cannot use NULLS NOT DISTINCT indexes")
        _refuse_second_primary_key(session, row)
    constraint_name = node.get("conname") or name
    if constraint_name != name:
        session.free_name(row.namespace, constraint_name)
        catalog.rename_relation(index_relation, constraint_name, row.namespace)
    deferrable = node.get("deferrable", False)
    catalog.put_index(replace(index, primary=kind == "p", immediate=not deferrable))
    constraint = Constraint(
        catalog.new_oid(), constraint_name, relation, kind, index.keys, index.oid, deferrable=deferrable
    )
    catalog.add_constraint(constraint)
    catalog.forget_dependencies((RELATION, index.oid))
    catalog.depend((RELATION, index.oid, 0), (CONSTRAINT, constraint.oid, 0), INTERNAL)
    for key in (*index.keys, *index.included):
        catalog.depend((CONSTRAINT, constraint.oid, 0), (RELATION, relation, key), AUTO)
    if kind == "p":
        _refuse_only(session, row, index.keys, recurse)
        require_not_null(session, relation, index.keys)


def _refuse_only(session: Session, row: Relation, keys: tuple[int, ...], recurse: bool) -> None:
    """Refuse ONLY if a nullable column of the key would become NOT NULL here and not in the children (18)."""
    if recurse or not session.catalog.major.named_not_null or not session.catalog.children.has(row.oid):
        return
    if any(key and not row.columns[key - 1].not_null for key in keys):
        raise ServerError("42P16", "constraint must be added to child tables too")


def _add_foreign_key(session: Session, relation: int, node: Node, recurse: bool) -> None:
    catalog = session.catalog
    row = catalog.relations[relation]
    target = session.relation(node["pktable"])
    if row.kind == "p" and not recurse:
        raise ServerError(
            "42809",
            f'cannot use ONLY for foreign key on partitioned table "{row.name}" referencing relation "{target.name}"',
        )
    if target.kind not in "rp":
        raise ServerError("42809", f'referenced relation "{target.name}" is not a table')
    if target.oid < FIRST_UNPINNED:
        raise ServerError("42501", f'permission denied: "{target.name}" is a system catalog')
    names = [attribute["String"]["sval"] for attribute in node.get("fk_attrs", ())]
    columns = [_foreign_key_column(session, relation, name) for name in names]
    keys = tuple(column.number for column in columns)
    for attribute in node.get("fk_del_set_cols", ()):
        if _foreign_key_column(session, relation, attribute["String"]["sval"]).number not in keys:
            raise ServerError("42P10", "a column in ON DELETE SET must be part of the foreign key")
    if any(column.generated for column in columns) and (
        node.get("fk_del_action", "a") in "nd" or node.get("fk_upd_action", "a") in "cnd"
    ):
        raise ServerError("42601", "invalid action for foreign key constraint containing generated column")
    _refuse_persistence(row, target)
    index, referenced = _referenced_key(session, target, node)
    if target.seen and len(referenced) != len(keys):
        raise ServerError("42830", "number of referencing and referenced columns for foreign key disagree")
    name = node.get("conname") or choose_constraint_name(catalog, row.namespace, row.name, addition_of(names), "fkey")
    _refuse_types(session, relation, keys, target.oid, referenced, name)
    constraint = Constraint(
        catalog.new_oid(),
        name,
        relation,
        "f",
        keys,
        references=target.oid,
        on_delete=node.get("fk_del_action", "a"),
        on_update=node.get("fk_upd_action", "a"),
        enforced=node.get("is_enforced", False),
        deferrable=node.get("deferrable", False),
        validated=not node.get("skip_validation", False),
    )
    catalog.add_constraint(constraint)
    catalog.define("foreign key", constraint.oid, (referenced, node))
    depender = (CONSTRAINT, constraint.oid, 0)
    for key in keys:
        catalog.depend(depender, (RELATION, relation, key), AUTO)
    for key in referenced or (0,):
        catalog.depend(depender, (RELATION, target.oid, key), NORMAL)
    if index:
        catalog.depend(depender, (RELATION, index, 0), NORMAL)
    if row.kind == "p":
        for child in catalog.descendants(relation)[1:]:
            _clone_to_partition(session, constraint, names, child)


def _refuse_persistence(row: Relation, target: Relation) -> None:
    """ATAddForeignKeyConstraint: what a table refers to must last as long as it does. Raises ServerError 42P16."""
    if row.persistence == target.persistence or not (row.seen and target.seen):
        return
    if row.persistence == "p":
        raise ServerError("42P16", "constraints on permanent tables may reference only permanent tables")
    if row.persistence == "t" or target.persistence == "t":
        persistence = "temporary" if row.persistence == "t" else "unlogged"
        also = "temporary" if row.persistence == "t" else "permanent or unlogged"
        raise ServerError("42P16", f"constraints on {persistence} tables may reference only {also} tables")


def _clone_to_partition(session: Session, constraint: Constraint, names: Sequence[str], child: int) -> None:
    """A new foreign key of a partitioned table in a partition that is there already; ``names`` are its columns."""
    catalog = session.catalog
    columns = (catalog.relations[child].column(name) for name in names)
    clone = replace(
        constraint,
        oid=catalog.new_oid(),
        relation=child,
        keys=tuple(column.number for column in columns if column),
        parent=constraint.oid,
        inherited=1,
        local=False,
    )
    catalog.add_constraint(clone)
    catalog.depend((CONSTRAINT, clone.oid, 0), (CONSTRAINT, constraint.oid, 0), PARTITION)
    catalog.depend((CONSTRAINT, clone.oid, 0), (RELATION, child, 0), AUTO)


_ALIKE = (frozenset((INT2, INT4, INT8)), frozenset((TEXT, VARCHAR)))
"""Types that show at a glance to be comparable with each other."""


def _refuse_types(
    session: Session, relation: int, keys: tuple[int, ...], target: int, referenced: tuple[int, ...], name: str
) -> None:
    """Raises ServerError 42804 where a column certainly cannot be compared with the one that it refers to."""
    columns, referenced_columns = session.catalog.relations[relation].columns, session.catalog.relations[target].columns
    for key, referenced_key in zip(keys, referenced, strict=False):
        types = columns[key - 1].type, referenced_columns[referenced_key - 1].type
        if types[0] != types[1] and all(types) and not any(alike.issuperset(types) for alike in _ALIKE):
            # Loaded only for foreign keys: it needs the casts of the server.
            from pubcheck.postgres.ddl.foreign_keys import refuse_pair

            refuse_pair(session, *types, name)


def addition_of(names: list[str]) -> str:
    """ChooseForeignKeyConstraintNameAddition."""
    text = ""
    for name in names:
        text = f"{text}_{name}" if text else name
        if len(text.encode()) > NAME_BYTES:
            break
    return text


def _foreign_key_column(session: Session, relation: int, name: str) -> Column:
    row = session.catalog.relations[relation]
    column = row.column(name)
    if column is None and row.seen:
        raise ServerError("42703", f'column "{name}" referenced in foreign key constraint does not exist')
    return column or require_column(session, relation, name)


def _referenced_key(session: Session, target: Relation, node: Node) -> tuple[int, tuple[int, ...]]:
    """(index, columns) of the key pointed to (transformFkeyGetPrimaryKey, transformFkeyCheckAttrs)."""
    catalog = session.catalog
    rows = [catalog.indexes[oid] for oid in catalog.indexes_of.get(target.oid)]
    if "pk_attrs" not in node:
        primary = next((row for row in rows if row.primary and row.valid), None)
        if primary is None:
            if target.seen:
                raise ServerError("42704", f'there is no primary key for referenced table "{target.name}"')
            return 0, ()
        if not primary.immediate:
            raise ServerError("55000", f'cannot use a deferrable primary key for referenced table "{target.name}"')
        return primary.oid, primary.keys
    names = [attribute["String"]["sval"] for attribute in node["pk_attrs"]]
    keys = tuple(_foreign_key_column(session, target.oid, name).number for name in names)
    deferrable = False
    for row in rows:
        plain = row.unique and row.valid and not row.partial and not row.expressions
        if plain and sorted(row.keys) == sorted(keys):
            if row.immediate:
                return row.oid, keys
            deferrable = True
    if deferrable:
        raise ServerError("55000", f'cannot use a deferrable unique constraint for referenced table "{target.name}"')
    if target.seen:
        raise ServerError(
            "42830", f'there is no unique constraint matching given keys for referenced table "{target.name}"'
        )
    return 0, keys


def _add_check(session: Session, relation: int, node: Node, recurse: bool) -> None:
    """AddRelationNewConstraints: a CHECK holds here and in every child, merged where it already exists."""
    catalog = session.catalog
    row = catalog.relations[relation]
    mentioned = column_names(node.get("raw_expr"))
    if row.seen:
        checked_columns = [row.column(name) for name in mentioned]
    else:
        checked_columns = [require_column(session, relation, name) for name in mentioned]
    refuse_unknown_columns(session, catalog.relations[relation], mentioned)
    columns = [column for column in checked_columns if column is not None]
    refuse_check(session, row, node["raw_expr"])
    of_column: Any = node.get("of_column") or (columns[0].name if len(columns) == 1 else None)
    name = node.get("conname") or choose_constraint_name(catalog, row.namespace, row.name, of_column, "check")
    if not node.get("is_no_inherit") and not recurse and catalog.children.has(relation):
        raise ServerError("42P16", "constraint must be added to child tables too")
    if node.get("is_no_inherit") and row.kind == "p":
        raise ServerError("42P16", f'cannot add NO INHERIT constraint to partitioned table "{row.name}"')
    local = [relation] if node.get("is_no_inherit") else catalog.descendants(relation)
    not_null = _not_null_by(node.get("raw_expr"))
    functions = functions_called(session, node.get("raw_expr"))
    for oid in local:
        part = catalog.relations[oid]
        keys = tuple(own.number for column in columns if (own := part.column(column.name)) is not None)
        standing = catalog.constraint(oid, name)
        if standing is not None:
            if part.seen and (standing.kind != "c" or standing.keys != keys):
                # It merges with an equal condition only (heap.c: MergeWithExistingConstraint).
                raise ServerError(
                    "42710",
                    'constraint "{name}" for relation "{owner}" already exists',
                    name=name,
                    owner=part.name,
                )
            catalog.constraints.put(standing.oid, replace(standing, inherited=standing.inherited + 1))
            continue
        constraint = Constraint(
            catalog.new_oid(),
            name,
            oid,
            "c",
            keys,
            inherited=0 if oid == relation else 1,
            local=oid == relation,
            no_inherit=node.get("is_no_inherit", False),
            validated=not node.get("skip_validation", False),
            not_null=tuple(column.number for name in not_null if (column := part.column(name)) is not None),
            tree=node.get("raw_expr"),
        )
        catalog.add_constraint(constraint)
        for key in constraint.keys or (0,):
            catalog.depend((CONSTRAINT, constraint.oid, 0), (RELATION, oid, key), AUTO)
        for function in functions:
            catalog.depend((CONSTRAINT, constraint.oid, 0), (PROC, function, 0), NORMAL)


def _not_null_by(tree: Node | None) -> list[str]:
    """The columns that a condition says are NOT NULL, by itself or with AND."""
    tests = (condition.get("NullTest", {}) for condition in conjuncts(tree))
    tested = [test["arg"] for test in tests if test.get("nulltesttype") == "IS_NOT_NULL"]
    return column_names([arg for arg in tested if "ColumnRef" in arg])


def _add_not_null(session: Session, relation: int, node: Node, recurse: bool) -> None:
    """A NOT NULL table constraint; before 18 the grammar has it for columns only."""
    name = node["keys"][0]["String"]["sval"]
    if not session.catalog.major.named_not_null:
        raise ServerError("42601", 'syntax error at or near "NOT"')
    constraint_name = node.get("conname", "")
    if constraint_name:
        row = session.catalog.relations[relation]
        constrained = column_of_constraint(row, constraint_name)
        if session.catalog.constraint(relation, constraint_name) is not None or (
            constrained is not None and constrained.name != name
        ):
            raise ServerError(
                "42710",
                'constraint "{name}" for relation "{owner}" already exists',
                name=constraint_name,
                owner=row.name,
            )
    held = NotNull(
        constraint_name,
        no_inherit=node.get("is_no_inherit", False),
        validated=not node.get("skip_validation", False),
    )
    add_not_null(session, relation, name, held, recurse)
