"""Foreign keys whose actions reach a table that cannot be written: then the table they refer to cannot be either."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from pubcheck.checks.context import RuleContext, RuleFinding, finds, first_places, listed, order
from pubcheck.checks.write.replica_identity import Write
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Constraint, Place, Relation

_ACTIONS = {"c": "CASCADE", "n": "SET NULL", "d": "SET DEFAULT"}
"""pg_constraint.confdeltype and confupdtype that write the referencing table (ri_triggers.c)."""


class _Reach(Struct, frozen=True):
    """One reason for which a statement on a referenced table fails: the foreign key, the table that refuses the
    write, and the place since which it does. ``by`` is the statement, "delete" or "update"."""

    by: Write
    key: Constraint
    stops: int
    operation: Write
    place: Place
    certain: bool
    publication: int


@finds("PUB306")
def cascades(context: RuleContext) -> Iterator[RuleFinding]:
    """DELETE and UPDATE of tables that foreign keys refer to, whose actions end at a table that refuses them."""
    if not context.refused:
        return
    catalog = context.catalog
    keys = [
        row
        for row in catalog.constraints.values()
        if row.kind == "f" and row.enforced and not row.parent and _ACTIONS.keys() & {row.on_delete, row.on_update}
    ]
    if not keys:
        return
    reached: dict[int, list[_Reach]] = {}
    above: dict[int, list[int]] = {}
    for key in keys:
        if key.on_delete == "c":
            above.setdefault(key.relation, []).append(key.references)
        for reach in _direct(context, key):
            reached.setdefault(key.references, []).append(reach)
    for oid, reaches in reached.items():
        relation = catalog.relations.get(oid)
        reported = [route for route in reaches if (oid, route.by) not in context.refused]
        if relation is not None and reported:
            further = _further(oid, above) if any(route.by == "delete" for route in reported) else []
            yield _finding(
                context, relation, reported, [row for below in further if (row := catalog.relations.get(below))]
            )


def _direct(context: RuleContext, key: Constraint) -> Iterator[_Reach]:
    """Yield the refusals that the actions of one foreign key meet in the referencing table or its partitions."""
    catalog = context.catalog
    child = catalog.relations[key.relation]
    actions: tuple[tuple[Write, str], ...] = (("delete", key.on_delete), ("update", key.on_update))
    for by, action in actions:
        if action not in _ACTIONS:
            continue
        operation: Write = "delete" if (by, action) == ("delete", "c") else "update"
        for leaf in context.leaves(child):
            refused_since = context.refused.get((leaf.oid, operation))
            if refused_since is None:
                continue
            refusal, since = refused_since
            place = max(since, context.history.events.references.get(key.oid, since), key=order)
            certain = refusal.certain and child.seen and not _may_be_pruned(catalog, leaf, key)
            yield _Reach(by, key, leaf.oid, operation, place, certain, refusal.publication)
            break


def _may_be_pruned(catalog: Catalog, leaf: Relation, key: Constraint) -> bool:
    """Return whether the key's columns choose the partitions: then the statement fails only for some rows."""
    names = {catalog.relations[key.relation].columns[number - 1].name for number in key.keys}
    for oid in catalog.ancestors(leaf.oid) if leaf.partition else ():
        row = catalog.relations[oid]
        if any(not number or row.columns[number - 1].name in names for number in row.partition_key):
            return True
        if oid == key.relation:
            break
    return False


def _further(table: int, above: dict[int, list[int]]) -> list[int]:
    """The tables further up: where rows refer to rows, their DELETEs fail with those of a table."""
    reached: dict[int, None] = {}
    waiting = [table]
    while waiting and len(reached) < _FURTHER:
        for oid in above.get(waiting.pop(), ()):
            if oid not in reached and oid != table:
                reached[oid] = None
                waiting.append(oid)
    return list(reached)


_FURTHER = 100
"""The number of referenced tables further up that are searched. Each table with a finding has its own."""


def _finding(context: RuleContext, relation: Relation, reaches: list[_Reach], further: list[Relation]) -> RuleFinding:
    catalog = context.catalog
    place = min((reach.place for reach in reaches), key=order)
    stops = list({reach.stops: catalog.relations[reach.stops] for reach in reaches}.values())
    named = listed(context.name(row) for row in stops)
    fails = dict.fromkeys("DELETE from" if reach.by == "delete" else "UPDATE of the key of" for reach in reaches)
    actions = dict.fromkeys(f"ON {reach.by.upper()} {_ACTIONS[_action(reach)]}" for reach in reaches)
    lead = "leads" if len(actions) == 1 else "lead"
    refuses = dict.fromkeys(reach.operation.upper() for reach in reaches)
    message = f"{' and '.join(fails)} {context.name(relation)} will fail: {' and '.join(actions)} {lead} to {named}, "
    message += f"which {'refuses' if len(stops) == 1 else 'refuse'} {' and '.join(refuses)}"
    if further:
        message += f"; so will DELETE from {listed(map(context.name, further))}, where rows refer to each other"
    related = [(row.place, "refuses the action of the foreign key") for row in stops if row.place is not None]
    related += [(row.place, "is referenced here") for row in (relation, *further) if row.place is not None]
    return RuleFinding(
        rule="PUB306",
        message=message,
        help=f"give {named} a replica identity that suits the publication, as the findings about it say; or use NO "
        "ACTION for the foreign key and delete the referencing rows another way",
        place=place,
        certain=relation.seen and any(reach.certain for reach in reaches),
        assumptions=("rows of these tables reference the deleted rows",) if all(row.seen for row in stops) else (),
        related=first_places([item for item in related if order(item[0]) != order(place)]),
        object=context.session.qualified(relation),
        publications=tuple(dict.fromkeys(catalog.publications[reach.publication].name for reach in reaches)),
    )


def _action(reach: _Reach) -> str:
    return reach.key.on_delete if reach.by == "delete" else reach.key.on_update
