"""Table constraints: keys, foreign keys, CHECK, NOT NULL (commands/tablecmds.c: ATExecAddConstraint and its kin);
those of a new table, their order, duplicates, and NOT NULL as constraints with names (18) (parser/parse_utilcmd.c:
transformIndexConstraints; commands/tablecmds.c: AddRelationNotNullConstraints).
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from pubcheck.postgres.catalog import AUTO, CONSTRAINT, INTERNAL, RELATION
from pubcheck.postgres.catalog.rows import Column, Constraint, Index, NotNull, Relation
from pubcheck.postgres.ddl.index_keys import IndexSpec
from pubcheck.postgres.ddl.indexes import define_index
from pubcheck.postgres.ddl.not_null import (
    add_not_null,
    column_of_constraint,
    name_constraints,
    refuse_system_column,
    refuse_taken_name,
    require_not_null,
)
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.lazy_dispatch import Deferred
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import strings, without_locations
from pubcheck.postgres.session import SYSTEM_COLUMNS, Session, require_column

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
    if name and "indexname" not in node:
        refuse_taken_name(session, row, name)
    if kind in _KEY_KINDS:
        if "indexname" in node:
            _use_index(session, relation, node, _KEY_KINDS[kind], recurse)
        else:
            _add_key(session, relation, node, _KEY_KINDS[kind], recurse)
    elif kind in ("CONSTR_CHECK", "CONSTR_FOREIGN"):
        _ADDERS[kind](session, relation, node, recurse)


_ADDERS: Deferred[str, Callable[[Session, int, Node, bool], None]] = Deferred(
    "pubcheck.postgres.ddl",
    {"CONSTR_CHECK": "row_constraints:add_check", "CONSTR_FOREIGN": "row_constraints:add_foreign_key"},
)
"""What adds constraints that are not keys of the table itself."""


def _add_key(session: Session, relation: int, node: Node, kind: str, recurse: bool) -> None:
    catalog = session.catalog
    row = catalog.relations[relation]
    if kind == "p":
        _refuse_second_primary_key(session, row)
    if row.kind == "f":
        raise ServerError("42809", "primary key or unique constraints are not supported on foreign tables")
    operators: tuple[tuple[str, ...], ...] = ()
    if kind == "x":
        pairs = [pair["List"]["items"] for pair in node.get("exclusions", ())]
        elements = tuple(element["IndexElem"] for element, _ in pairs)
        operators = tuple(tuple(strings(names["List"]["items"])) for _, names in pairs)
    else:
        names = [key["String"]["sval"] for key in node.get("keys", ())]
        if len(names) > 1 and len(names) > len(set(names)):
            repeated = next(name for position, name in enumerate(names) if name in names[:position])
            kind_of_key = "primary key" if kind == "p" else "unique"
            message = f'column "{repeated}" appears twice in {kind_of_key} constraint'
            raise ServerError("42701", message, location=node.get("location"))
        elements = tuple([{"name": name} for name in names])
        for name in names:
            if name in SYSTEM_COLUMNS:
                continue  # which no index may have
            require_key_column(session, relation, name)
            if kind == "p" and not recurse:
                _refuse_nullable_in_children(session, row, name)
    over = node.get("without_overlaps", False)
    if over and not catalog.major.named_not_null:
        raise ServerError("42601", 'syntax error at or near "WITHOUT"')
    if over and len(node["keys"]) < 2:
        raise ServerError("42601", "constraint using WITHOUT OVERLAPS needs at least two columns")
    if over:
        operators = (*[("=",)] * (len(elements) - 1), ("&&",))
    method = "gist" if over else node.get("access_method", "btree")
    if "options" in node or "indexspace" in node:
        # Loaded only for keys that say how they are stored.
        from pubcheck.postgres.ddl.storage import refuse_index_storage

        refuse_index_storage(session, node, method)
    define_index(
        session,
        catalog.relations[relation],
        IndexSpec(
            elements,
            tuple([{"name": key["String"]["sval"]} for key in node["including"]]) if "including" in node else (),
            node.get("conname", ""),
            unique=kind != "x" and not over,
            primary=kind == "p",
            exclusion=kind == "x" or over,
            without_overlaps=over,
            deferrable=node.get("deferrable", False),
            deferred=node.get("initdeferred", False),
            nulls_not_distinct=node.get("nulls_not_distinct", False),
            where=node.get("where_clause"),
            method=method,
            kind=kind,
            only=not recurse,
            operators=operators,
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
    if index_relation is not None and index is None and index_relation.seen:
        raise ServerError("42809", f'"{name}" is not an index')
    if index_relation is None or index is None:
        raise ServerError("42704", f'index "{name}" does not exist', location=node.get("location"))
    _refuse_unusable(session, row, node, name, index)
    if row.kind == "p":
        raise ServerError("0A000", "ALTER TABLE / ADD CONSTRAINT USING INDEX is not supported on partitioned tables")
    if kind == "p":
        if index.nulls_not_distinct and catalog.major.distinct_primary_keys:
            raise ServerError("42P16", "primary keys cannot use NULLS NOT DISTINCT indexes")
        _refuse_second_primary_key(session, row)
    constraint_name = node.get("conname") or name
    if constraint_name != name:
        session.free_name(row.namespace, constraint_name)
        refuse_taken_name(session, row, constraint_name)
        catalog.rename_relation(index_relation, constraint_name, row.namespace)
    deferrable = node.get("deferrable", False)
    catalog.put_index(replace(index, primary=kind == "p", immediate=not deferrable))
    constraint = Constraint(
        catalog.new_oid(),
        constraint_name,
        relation,
        kind,
        index.keys,
        index.oid,
        deferrable=deferrable,
        deferred=node.get("initdeferred", False),
    )
    catalog.add_constraint(constraint)
    catalog.forget_dependencies((RELATION, index.oid))
    catalog.depend((RELATION, index.oid, 0), (CONSTRAINT, constraint.oid, 0), INTERNAL)
    for key in (*index.keys, *index.included):
        catalog.depend((CONSTRAINT, constraint.oid, 0), (RELATION, relation, key), AUTO)
    if kind == "p":
        _refuse_only(session, row, index.keys, recurse)
        require_not_null(session, relation, index.keys)


_UNUSABLE = "Cannot create a primary key or unique constraint using such an index."


def _refuse_unusable(session: Session, row: Relation, node: Node, name: str, index: Index) -> None:
    """Refuse an index that cannot be a key's (transformIndexConstraint). Raises ServerError 55000, 42809."""
    sqlstate, detail = "42809", _UNUSABLE
    if session.catalog.owner_of_index(index.oid) is not None:
        sqlstate, message, detail = "55000", f'index "{name}" is already associated with a constraint', ""
    elif index.table != row.oid:
        sqlstate, message, detail = "55000", f'index "{name}" does not belong to table "{row.name}"', ""
    elif not index.valid:
        sqlstate, message, detail = "55000", f'index "{name}" is not valid', ""
    elif not index.unique:
        message = f'"{name}" is not a unique index'
    elif index.expressions:
        message = f'index "{name}" contains expressions'
    elif index.partial and index.always is False:
        message = f'"{name}" is a partial index'
    elif index.unsorted:
        message = f'index "{name}" column number {index.unsorted} does not have default sorting behavior'
    else:
        return
    raise ServerError(sqlstate, message, detail=detail or None, location=node.get("location"))


def _refuse_only(session: Session, row: Relation, keys: tuple[int, ...], recurse: bool) -> None:
    """Refuse ONLY if a nullable column of the key would become NOT NULL here and not in the children (18)."""
    if recurse or not session.catalog.major.named_not_null or not session.catalog.children.has(row.oid):
        return
    if any(key and not row.columns[key - 1].not_null for key in keys):
        raise ServerError("42P16", "constraint must be added to child tables too")


def _add_not_null(session: Session, relation: int, node: Node, recurse: bool) -> None:
    """A NOT NULL table constraint; before 18 the grammar has it for columns only."""
    name = node["keys"][0]["String"]["sval"]
    if not session.catalog.major.named_not_null:
        raise ServerError("42601", 'syntax error at or near "NOT"')
    constraint_name = node.get("conname", "")
    if constraint_name:
        row = session.catalog.relations[relation]
        constrained = column_of_constraint(row, constraint_name)
        if constrained is None or constrained.name != name:
            refuse_taken_name(session, row, constraint_name)
    held = NotNull(
        constraint_name, no_inherit=node.get("is_no_inherit", False), validated=not node.get("skip_validation", False)
    )
    add_not_null(session, relation, name, held, recurse)


def with_not_nulls(session: Session, row: Relation, constraints: list[Node]) -> Relation:
    """Return the table with its NOT NULL and PRIMARY KEY as named constraints (18)."""
    if constraints:
        row = _with_stated(row, constraints)
    named = name_constraints(session, row)
    return row if named is row.columns else replace(row, columns=named)


def _with_stated(row: Relation, constraints: list[Node]) -> Relation:
    """Return the table with the NOT NULL constraints that its ``constraints`` state; they are removed from the list."""
    not_nulls: list[tuple[str, NotNull]] = []
    for node in constraints:
        if node["contype"] == "CONSTR_NOTNULL":
            held = NotNull(node.get("conname", ""), no_inherit=node.get("is_no_inherit", False))
            name = node["keys"][0]["String"]["sval"]
            refuse_system_column(name)
            not_nulls.append((name, held))
        elif node["contype"] == "CONSTR_PRIMARY" and "indexname" not in node:
            not_nulls += ((key["String"]["sval"], NotNull()) for key in node.get("keys", ()))
    columns = list(row.columns)
    for name, held in not_nulls:
        column = row.column(name)
        if column is None:
            if row.seen:
                raise ServerError("42703", f'column "{name}" of relation "{row.name}" does not exist')
            continue
        position = column.number - 1
        columns[position] = replace(
            columns[position], not_null=True, constraint=merge_not_null(columns[position], held)
        )
    constraints[:] = [node for node in constraints if node["contype"] != "CONSTR_NOTNULL"]
    return replace(row, columns=tuple(columns)) if not_nulls else row


def merge_not_null(column: Column, new: NotNull) -> NotNull:
    """Return a table's own NOT NULL constraint merged with the existing one of its column, its own or inherited.

    Raises ServerError 42601 if its own ones differ, 42804 for one with NO INHERIT that is inherited too.
    """
    if not column.not_null:
        return new
    existing = column.constraint or NotNull()
    if existing.local and existing.no_inherit != new.no_inherit:
        message = f'conflicting NO INHERIT declaration for not-null constraint on column "{column.name}"'
        raise ServerError("42601", message)
    if existing.local and existing.name and new.name and existing.name != new.name:
        raise ServerError("42601", f'conflicting not-null constraint names "{existing.name}" and "{new.name}"')
    if existing.inherited and new.no_inherit:
        raise ServerError(
            "42804",
            f'cannot define not-null constraint with NO INHERIT on column "{column.name}"',
            detail="The column has an inherited not-null constraint.",
        )
    name = new.name or (existing.name if existing.local else "")
    return NotNull(name, inherited=existing.inherited, no_inherit=new.no_inherit)


def order_constraints(constraints: list[Node]) -> list[Node]:
    """Return the constraints in the server's order: the primary key first, then keys, foreign keys last
    (transformIndexConstraints).
    """
    if len(constraints) > 1:
        constraints = _without_repeated_keys(constraints)
    if len(constraints) < 2:
        return constraints
    rank = {"CONSTR_PRIMARY": 0, "CONSTR_UNIQUE": 1, "CONSTR_EXCLUSION": 1, "CONSTR_CHECK": 2, "CONSTR_NOTNULL": 2}
    return sorted(constraints, key=lambda constraint: rank.get(constraint["contype"], 3))


_KEY_FIELDS = ("keys", "including", "exclusions", "where_clause", "nulls_not_distinct", "deferrable", "initdeferred")


def _without_repeated_keys(constraints: list[Node]) -> list[Node]:
    """A key that is given twice is one, the primary key rather than the other, with the name that either has."""
    first: dict[str, Node] = {}
    remaining: list[Node] = []
    for constraint in sorted(constraints, key=lambda item: item["contype"] != "CONSTR_PRIMARY"):
        if constraint["contype"] in ("CONSTR_PRIMARY", "CONSTR_UNIQUE") and "indexname" not in constraint:
            definition = repr([without_locations(constraint.get(field)) for field in _KEY_FIELDS])
            existing = first.get(definition)
            if existing is not None and constraint["contype"] == "CONSTR_UNIQUE":
                if "conname" in constraint:
                    existing.setdefault("conname", constraint["conname"])
                continue
            constraint = first[definition] = {**constraint}
        remaining.append(constraint)
    return remaining
