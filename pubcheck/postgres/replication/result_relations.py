"""The tables that an UPDATE or DELETE of a table reaches, in the order in which the server opens and checks them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.ddl.partition_bounds import TEXTS, is_ordered


def members(catalog: Catalog, relation: Relation) -> Iterator[Relation]:
    """The result relations of a statement without WHERE and without ONLY (optimizer/util/inherit.c).

    Raises ValueError where the order of partitions is not known.
    """
    return _leaves(catalog, relation) if relation.kind == "p" else _family(catalog, relation)


def _leaves(catalog: Catalog, relation: Relation) -> Iterator[Relation]:
    """expand_partitioned_rtentry: partitions by their bounds, each branch to its end before the next."""
    if relation.kind != "p":
        yield relation
        return
    children = [catalog.relations[oid] for oid in catalog.children.get(relation.oid)]
    rank = _ranks(catalog, relation, children) if relation.strategy == "l" and len(children) > 1 else None
    for child in sorted(children, key=lambda child: _in_order(child, rank)):
        yield from _leaves(catalog, child)


def _family(catalog: Catalog, relation: Relation) -> Iterator[Relation]:
    """find_all_inheritors: generation by generation, the children of each table in the order of their oids."""
    return (catalog.relations[oid] for oid in catalog.descendants(relation.oid))


def _ranks(catalog: Catalog, parent: Relation, children: list[Relation]) -> dict[Any, int] | None:
    """Return the place of each list value in the order of the key's type; None for types that Python compares as the
    server does.

    Raises ValueError for texts whose order depends on the collation.
    """
    number = parent.partition_key[0]
    column = parent.columns[number - 1] if number else None
    row = catalog.types.get(column.type) if column is not None else None
    if row is not None and row.kind == "e":
        return {label: rank for rank, label in enumerate(row.labels)}
    if column is not None and column.type in TEXTS and not is_ordered(column):
        values = [value for child in children if child.bound and child.bound[0] == "l" for value in _values(child)]
        if not any(all(map(alike.fullmatch, values)) for alike in _ALIKE):
            raise ValueError(f"the order of the partitions of {parent.name} is that of a collation")
    return None


_ALIKE = (re.compile("[a-z0-9]*"), re.compile("[A-Z0-9]*"))
"""Texts that have one order in all collations, or nearly all, if all of them are so."""


def _values(partition: Relation) -> list[Any]:
    assert partition.bound is not None
    return [value for value in partition.bound[1] if value is not None]  # type: ignore[attr-defined]


def _in_order(partition: Relation, rank: dict[Any, int] | None) -> tuple[Any, ...]:
    """partbounds.c: ranges by their lower ends, hashes by modulus, lists by their lowest value; NULL, then DEFAULT."""
    bound = partition.bound
    if bound is None:
        raise ValueError(f"the bound of {partition.name} is not known")
    if bound[0] == "d":
        return (2,)
    if bound[0] == "l":
        values = _values(partition) if rank is None else [rank[value] for value in _values(partition)]
        return (0, min(values)) if values else (1,)
    return (0, *bound[1:])
