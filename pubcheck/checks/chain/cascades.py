"""Foreign keys whose actions reach a table that cannot be written: then the table they refer to cannot be either."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.checks.findings import Finding, Ground, listed, order, others
from pubcheck.checks.write import Write
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Constraint, Place, Relation

_ACTIONS = {"c": "CASCADE", "n": "SET NULL", "d": "SET DEFAULT"}
"""pg_constraint.confdeltype and confupdtype that write the referencing table (ri_triggers.c)."""


class _Reach(Struct, frozen=True):
    """One way in which a statement on a referenced table fails: through which foreign key, at which table, since when.

    ``by`` is the statement, "delete" or "update"; ``far``: only for rows that the tables between have rows for.
    """

    by: Write
    key: Constraint
    stops: int
    operation: Write
    place: Place
    certain: bool
    publications: tuple[int, ...]
    far: bool = False


def cascades(ground: Ground) -> Iterator[Finding]:
    """DELETE and UPDATE of tables that foreign keys refer to, whose actions end at a table that refuses them."""
    if not ground.refused:
        return
    catalog = ground.catalog
    keys = [
        row
        for row in catalog.constraints.values()
        if row.kind == "f" and row.enforced and not row.parent and _acts(row)
    ]
    if not keys:
        return
    reached: dict[int, list[_Reach]] = {}
    for key in keys:
        for reach in _direct(ground, key):
            reached.setdefault(key.references, []).append(reach)
    _spread(catalog, keys, reached)
    for oid, ways in reached.items():
        relation = catalog.relations.get(oid)
        if relation is not None:
            told = [way for way in ways if (oid, way.by) not in ground.refused]
            if told:
                yield _finding(ground, relation, told)


def _direct(ground: Ground, key: Constraint) -> Iterator[_Reach]:
    """What the actions of one foreign key run into at the table that has it, or at its partitions."""
    catalog = ground.catalog
    child = catalog.relations[key.relation]
    actions: tuple[tuple[Write, str], ...] = (("delete", key.on_delete), ("update", key.on_update))
    for by, action in actions:
        if action not in _ACTIONS:
            continue
        operation: Write = "delete" if (by, action) == ("delete", "c") else "update"
        for leaf in ground.leaves(child):
            found = ground.refused.get((leaf.oid, operation))
            if found is None:
                continue
            refusal, since = found
            place = max(since, ground.history.events.references.get(key.oid, since), key=order)
            certain = refusal.certain and child.seen and not _may_be_pruned(catalog, leaf, key)
            yield _Reach(by, key, leaf.oid, operation, place, certain, refusal.publications)
            break


def _may_be_pruned(catalog: Catalog, leaf: Relation, key: Constraint) -> bool:
    """Whether the key's columns choose the partitions: then the statement fails only for the rows of some of them."""
    names = {catalog.relations[key.relation].columns[number - 1].name for number in key.keys}
    for oid in catalog.ancestors(leaf.oid) if leaf.partition else ():
        row = catalog.relations[oid]
        if any(not number or row.columns[number - 1].name in names for number in row.partition_key):
            return True
        if oid == key.relation:
            break
    return False


def _spread(catalog: Catalog, keys: list[Constraint], reached: dict[int, list[_Reach]]) -> None:
    """DELETEs that fail fail on through ON DELETE CASCADE, as far as rows refer to rows."""
    by_child: dict[int, list[Constraint]] = {}
    for key in keys:
        if key.on_delete == "c" and key.references != key.relation:
            by_child.setdefault(key.relation, []).append(key)
    waiting = [oid for oid, ways in reached.items() if any(way.by == "delete" for way in ways)]
    while waiting:
        oid = waiting.pop()
        first = next(way for way in reached[oid] if way.by == "delete")
        for key in by_child.get(oid, ()):
            known = reached.setdefault(key.references, [])
            if not any(way.by == "delete" for way in known):
                known.append(replace(first, key=key, far=True))
                waiting.append(key.references)


def _finding(ground: Ground, relation: Relation, ways: list[_Reach]) -> Finding:
    catalog = ground.catalog
    near = [way for way in ways if not way.far]
    place = min((way.place for way in ways), key=order)
    stops = list({way.stops: catalog.relations[way.stops] for way in near + ways}.values())
    named = listed(ground.name(row) for row in stops)
    fails = dict.fromkeys("DELETE from" if way.by == "delete" else "UPDATE of the key of" for way in ways)
    actions = dict.fromkeys(f"ON {way.by.upper()} {_ACTIONS[_action(way)]}" for way in ways)
    refuses = dict.fromkeys(way.operation.upper() for way in ways)
    related = [(row.place, "refuses what the foreign key does to it") for row in stops if row.place is not None]
    if relation.place is not None:
        related.append((relation.place, "the table that is referred to"))
    return Finding(
        rule="cascade-into-refused-table",
        message=f"{' and '.join(fails)} {ground.name(relation)} will fail"
        f"{'' if near else ' where other rows refer to the row'}: {' and '.join(actions)} leads to {named}, which "
        f"{'refuses' if len(stops) == 1 else 'refuse'} {' and '.join(refuses)}",
        help=f"give {named} a replica identity that suits the publication, as the findings there say; or let the "
        "foreign key do nothing (NO ACTION), and take away the rows that refer to it another way",
        place=place,
        certain=relation.seen and any(way.certain for way in near or ways),
        related=others([one for one in related if order(one[0]) != order(place)]),
        object=ground.session.qualified(relation),
        publications=tuple(dict.fromkeys(catalog.publications[oid].name for way in ways for oid in way.publications)),
        severity=None if near else "warning",
    )


def _acts(key: Constraint) -> bool:
    return key.on_delete in _ACTIONS or key.on_update in _ACTIONS


def _action(way: _Reach) -> str:
    return way.key.on_delete if way.by == "delete" else way.key.on_update
