"""The tables that an UPDATE or DELETE of a table reaches, in the order in which the server opens and checks them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Relation


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
    for child in sorted((catalog.relations[oid] for oid in catalog.children.get(relation.oid)), key=_in_order):
        yield from _leaves(catalog, child)


def _family(catalog: Catalog, relation: Relation) -> Iterator[Relation]:
    """find_all_inheritors: generation by generation, the children of each table in the order of their oids."""
    return (catalog.relations[oid] for oid in catalog.descendants(relation.oid))


def _in_order(partition: Relation) -> tuple[Any, ...]:
    """partbounds.c: ranges by their lower ends, hashes by modulus, lists by their lowest value; NULL, then DEFAULT."""
    bound = partition.bound
    if bound is None:
        raise ValueError(f"the bound of {partition.name} is not known")
    if bound[0] == "d":
        return (2,)
    if bound[0] == "l":
        values = [value for value in bound[1] if value is not None]  # type: ignore[attr-defined]
        return (0, min(values)) if values else (1,)
    return (0, *bound[1:])
