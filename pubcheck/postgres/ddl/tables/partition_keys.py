"""PARTITION BY (parser/parse_utilcmd.c; commands/tablecmds.c: transformPartitionSpec, ComputePartitionAttrs)."""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog import INTERNAL, RELATION, Catalog
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.ddl.index_keys import ORDERED
from pubcheck.postgres.ddl.partition_bounds import STRATEGIES
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import column_names, names
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.columns import SYSTEM_COLUMNS


def with_partition_key(session: Session, row: Relation, spec: Node) -> Relation:
    """Return the table with its partition key; it also depends on the columns inside expressions of the key."""
    if spec["strategy"] == "PARTITION_STRATEGY_LIST" and len(spec.get("partParams", ())) > 1:
        raise ServerError("42P17", 'cannot use "list" partition strategy with more than one column')
    keys = partition_key(row, spec)
    _refuse_keys(session, row, spec, keys)
    expressions = [item["PartitionElem"].get("expr") for item in spec["partParams"]]
    named = (row.column(name) for name in column_names(expressions))
    return replace(
        row,
        partition_key=keys,
        partition_reads=tuple(column.number for column in named if column is not None),
        strategy=STRATEGIES[spec["strategy"]],
        usual_order=has_usual_order(session.catalog, row, spec),
    )


def depend_on_key(catalog: Catalog, row: Relation) -> None:
    """The columns of a partition key go only with the whole table, which goes with their types (StorePartitionKey)."""
    for number in sorted({*row.partition_key, *row.partition_reads} - {0}):
        catalog.depend((RELATION, row.oid, number), (RELATION, row.oid, 0), INTERNAL)


def has_usual_order(catalog: Catalog, row: Relation, spec: Node) -> bool:
    """Return whether values of a partition key are compared as values of its columns are elsewhere."""
    return all(_is_usual(catalog, row, item["PartitionElem"], spec["strategy"]) for item in spec["partParams"])


def _is_usual(catalog: Catalog, row: Relation, element: Node, strategy: str) -> bool:
    if "opclass" in element:
        # Loaded only where it does not show at a glance.
        from pubcheck.postgres.ddl.index_elements import BTREE

        *schema, name = names(element["opclass"])
        if schema not in ([], ["pg_catalog"]) or name not in BTREE:
            return False
    if "collation" in element:
        # Texts that are equal under one of these are equal under any deterministic collation.
        by_bytes = names(element["collation"])[-1] in ("C", "POSIX", "ucs_basic")
        return by_bytes and strategy == "PARTITION_STRATEGY_LIST"
    column = row.column(element.get("name", ""))
    collation = catalog.collations.get(column.collation) if column is not None else None
    return collation is None or collation.deterministic


def partition_key(row: Relation, spec: Node) -> tuple[int, ...]:
    """Return the numbers of a partition key's columns, 0 for an expression (transformPartitionSpec)."""
    keys = []
    for item in spec.get("partParams", ()):
        name = item["PartitionElem"].get("name")
        column = row.column(name) if name else None
        if name in SYSTEM_COLUMNS:
            raise ServerError("42P17", f'cannot use system column "{name}" in partition key')
        if name and column is None and row.seen:
            raise ServerError("42703", f'column "{name}" named in partition key does not exist')
        if column is not None and column.generated:
            raise ServerError("42P17", "cannot use generated column in partition key")
        keys.append(column.number if column else 0)
    return tuple(keys)


def _refuse_keys(session: Session, row: Relation, spec: Node, keys: tuple[int, ...]) -> None:
    """Raises ServerError for what certainly is not a partition key of any table: what a closer look finds, where one is
    needed."""
    for item, number in zip(spec["partParams"], keys, strict=True):
        element = item["PartitionElem"]
        if "expr" in element or "opclass" in element or "collation" in element:
            pass
        elif not number or row.columns[number - 1].type in ORDERED:
            continue
        # Loaded only where it does not show at a glance.
        from pubcheck.postgres.ddl.stored_expressions import refuse_key

        refuse_key(session, row, element, number, "h" if spec["strategy"] == "PARTITION_STRATEGY_HASH" else "b")
