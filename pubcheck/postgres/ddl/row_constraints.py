"""CHECK and FOREIGN KEY constraints of a table, its children and partitions (commands/tablecmds.c:
ATAddCheckNNConstraint, ATAddForeignKeyConstraint), and CHECK constraints that the server refuses when they are written
(catalog/heap.c: cookConstraint).

A refusal is not reported; the table is then not created, or has no such constraint.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.catalog import AUTO, CONSTRAINT, FIRST_UNPINNED, NORMAL, PARTITION, PROC, RELATION
from pubcheck.postgres.catalog.rows import Column, Constraint, Relation
from pubcheck.postgres.ddl.certain_refusals import only_certain
from pubcheck.postgres.ddl.new_objects import addition, choose_constraint_name
from pubcheck.postgres.ddl.object_address import functions_called
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import BPCHAR, FLOAT4, FLOAT8, INT2, INT4, INT8, NUMERIC, TEXT, VARCHAR
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import column_names, conjuncts, names
from pubcheck.postgres.session import Session, refuse_unknown_columns, require_column

_COMPARING = frozenset(("=", "<>", "<", ">", "<=", ">="))
_MATCHING = frozenset(("~", "~*", "!~", "!~*", "~~", "!~~", "~~*", "!~~*"))
_WITH_LITERALS = {
    **dict.fromkeys((INT2, INT4, INT8, NUMERIC, FLOAT4, FLOAT8), ("ival", _COMPARING)),
    **dict.fromkeys((TEXT, VARCHAR, BPCHAR), ("sval", _COMPARING | _MATCHING)),
}
"""The literals and operators of comparisons that need no check, by the column's type."""
_COMPARISONS = frozenset(("AEXPR_OP", "AEXPR_OP_ANY", "AEXPR_IN", "AEXPR_LIKE", "AEXPR_ILIKE"))


def refuse_check(session: Session, relation: Relation, tree: Node) -> None:
    """Raise ServerError if the server certainly refuses an expression as a CHECK of a table."""
    if shows_boolean(relation, tree):
        return
    # Loaded only where it does not show at a glance.
    from pubcheck.postgres.analysis.coerce import coerce_to_boolean
    from pubcheck.postgres.analysis.collate import assign_collations
    from pubcheck.postgres.ddl.stored_expressions import analyze_stored, refuse_out_of_place, refuse_system_columns

    refuse_out_of_place(tree, "check constraint")
    with only_certain(session):
        p, condition = analyze_stored(session, relation, tree, "check constraints")
        expr = coerce_to_boolean(p, condition, "CHECK")
        assign_collations(p, expr)
        refuse_system_columns(expr, "check constraint")


def refuse_failing(session: Session, relation: Relation, tree: Node) -> None:
    """Raise ServerError if a new CHECK cannot be tested on any row because folding its constants fails."""
    if shows_boolean(relation, tree):
        return
    from pubcheck.postgres.analysis.coerce import coerce_to_boolean
    from pubcheck.postgres.ddl.stored_expressions import analyze_stored
    from pubcheck.postgres.executor.planner_folding import planned

    with only_certain(session):
        p, condition = analyze_stored(session, relation, tree, "check constraints")
        planned(p, coerce_to_boolean(p, condition, "CHECK"))


def shows_boolean(relation: Relation, tree: Node) -> bool:
    """Return whether an expression is clearly a condition.

    Most are, and a full analysis loads the whole expression analyser.
    """
    stack = [tree]
    while stack:
        ((kind, body),) = stack.pop().items()
        if kind == "BoolExpr":
            stack += body["args"]
        elif kind == "NullTest":
            if not _type_of_column(relation, body["arg"]):
                return False
        elif kind == "A_Expr" and body["kind"] in _COMPARISONS:
            literal, operators = _WITH_LITERALS.get(_type_of_column(relation, body.get("lexpr", {})), ("", ()))
            if body["name"][-1]["String"]["sval"] not in operators or len(body["name"]) > 1:
                return False
            if any(literal not in _literal(value) for value in _values(body)):
                return False
        else:
            return False
    return True


def _values(body: Node) -> list[Node]:
    """Return the values that a column is compared with: one, those of a list, or those of an array, as pg_dump
    writes lists."""
    right: Node = body["rexpr"]
    if body["kind"] == "AEXPR_OP_ANY":
        return list(_uncast(right).get("A_ArrayExpr", {}).get("elements", ({},)))
    return list(right["List"]["items"]) if "List" in right else [right]


def _uncast(tree: Node) -> Node:
    """An expression without casts to strings."""
    while "TypeCast" in tree and tree["TypeCast"]["typeName"]["names"][-1]["String"]["sval"] in _STRINGS:
        tree = tree["TypeCast"]["arg"]
    return tree


_STRINGS = ("text", "varchar", "bpchar")


def _literal(tree: Node) -> Node:
    """The literal that an expression is, with the casts that pg_dump writes; {} for anything else."""
    text = _uncast(tree)
    if text is not tree:
        return {"sval": {}} if "sval" in text.get("A_Const", ()) else {}
    cast = tree.get("TypeCast")
    if cast is not None and names(cast["typeName"]["names"]) == ["pg_catalog", "numeric"]:
        tree = cast["arg"] if "ival" in cast["arg"].get("A_Const", ()) else {}
    constant: Node = tree.get("A_Const", {})
    return constant


def _type_of_column(relation: Relation, tree: Node) -> int:
    """The type of the table's column that an expression is, 0 where it is none or that is not known; a string's may be
    cast to another string."""
    plain = _uncast(tree)
    fields = plain.get("ColumnRef", {}).get("fields", ())
    column = relation.column(fields[0].get("String", {}).get("sval", "")) if len(fields) == 1 else None
    if column is None or (plain is not tree and column.type not in (TEXT, VARCHAR, BPCHAR)):
        return 0
    return column.type


def add_check(session: Session, relation: int, node: Node, recurse: bool) -> None:
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
                    "42710", 'constraint "{name}" for relation "{owner}" already exists', name=name, owner=part.name
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


def add_foreign_key(session: Session, relation: int, node: Node, recurse: bool) -> None:
    """Add a foreign key; ``recurse``: without ONLY. Raises ServerError as ATAddForeignKeyConstraint does."""
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
    name = node.get("conname") or choose_constraint_name(catalog, row.namespace, row.name, addition(names), "fkey")
    _refuse_types(session, relation, keys, target.oid, referenced, name)
    constraint = Constraint(
        catalog.new_oid(),
        name,
        relation,
        "f",
        keys,
        references=target.oid,
        referenced_keys=referenced,
        on_delete=node.get("fk_del_action", "a"),
        on_update=node.get("fk_upd_action", "a"),
        enforced=node.get("is_enforced", False),
        deferrable=node.get("deferrable", False),
        deferred=node.get("initdeferred", False),
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
        column, to_column = columns[key - 1], referenced_columns[referenced_key - 1]
        types = column.type, to_column.type
        if types[0] != types[1] and all(types) and not any(alike.issuperset(types) for alike in _ALIKE):
            # Loaded only for foreign keys: it needs the casts of the server.
            from pubcheck.postgres.ddl.stored_expressions import refuse_pair

            refuse_pair(session, column, to_column, name)


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
