"""When triggers fire: ENABLE, DISABLE, ENABLE REPLICA and ENABLE ALWAYS (commands/trigger.c: EnableDisableTrigger)."""

from __future__ import annotations

from pubcheck.postgres.catalog.rows import OtherObject, Relation
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.settings import is_replica
from pubcheck.simulate.not_followed import NotFollowed

_STATES = {"AT_Disable": "D", "AT_EnableAlways": "A", "AT_EnableReplica": "R", "AT_Enable": "O"}
_KEY = "trigger states"
"""The definition of a relation with the states of its triggers (tgenabled) by their oids, except for O."""


def triggers_on(session: Backend, relation: int) -> list[OtherObject]:
    """The triggers of a table, and those of the partitioned tables above it, which its partitions have too."""
    catalog = session.database.catalog
    tables = [relation, *catalog.ancestors(relation)]
    return [row for row in catalog.others.values() if row.kind == "trigger" and row.namespace in tables]


def fires(session: Backend, trigger: OtherObject, relation: int) -> bool:
    """Whether a trigger of a table fires in the session as it is."""
    catalog = session.database.catalog
    state = "O"
    for oid in (relation, *catalog.ancestors(relation)):
        states = catalog.definitions.get((_KEY, oid), {})
        if trigger.oid in states:
            state = states[trigger.oid]
            break
    return state in ("RA" if is_replica(session) else "OA")


def change_firing(session: Backend, relation: Relation, command: Node, *, only: bool) -> None:
    """A command of ALTER TABLE; any but those of triggers changes nothing here. Raises NotFollowed for those of
    rules."""
    if command["subtype"].endswith("Rule"):
        raise NotFollowed("a change of when a rule runs")
    verb, is_trigger, which = command["subtype"].partition("Trig")
    if not is_trigger or verb not in _STATES:
        return
    catalog = session.database.catalog
    tables = [oid for oid in catalog.descendants(relation.oid) if relation.kind == "p" or oid == relation.oid]
    if only and len(tables) > 1:
        raise NotFollowed("a change of the triggers of ONLY a partitioned table")
    triggers = triggers_on(session, relation.oid)
    if which == "All":
        keys = [row for row in catalog.constraints.values() if row.kind == "f"]
        around = {*tables, *catalog.ancestors(relation.oid)}
        if any(row.relation in around or row.references in around for row in keys):
            raise NotFollowed("a change of the triggers of foreign keys")
    elif not which:
        if command["name"].startswith("RI_ConstraintTrigger"):
            raise NotFollowed("a change of the triggers of foreign keys")
        triggers = [row for row in triggers if row.name == command["name"]]
    changes = {row.oid: _STATES[verb] for row in triggers}
    for oid in tables:
        catalog.define(_KEY, oid, {**catalog.definitions.get((_KEY, oid), {}), **changes})
