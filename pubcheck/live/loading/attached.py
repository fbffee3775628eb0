"""Objects that belong to a relation, extensions and event triggers."""

from __future__ import annotations

from pubcheck.live import records
from pubcheck.live.loading import Loading
from pubcheck.postgres.catalog import AUTO, NAMESPACE, NORMAL, RELATION
from pubcheck.postgres.ddl.event_triggers import KIND, EventTrigger
from pubcheck.postgres.ddl.functions import unfollowed_call
from pubcheck.postgres.session.connection import EVENT_TRIGGERS

_DISABLED = "DR"
"""tgenabled and its kin: disabled, or enabled on a replica only."""


def trigger(loading: Loading, row: records.Trigger) -> None:
    table = loading.refs.relations[row.table]
    address = loading.add_other(row, "trigger", table, enabled=row.enabled not in _DISABLED)
    loading.catalog.depend(address, (RELATION, table, 0), AUTO)
    loading.calls(address, row.function)
    loading.depend_on(address, (name for name in row.uses if name != row.table))


def follow_triggers(loading: Loading) -> None:
    """Note the triggers that may change publications: they run when rows are changed, which is not followed."""
    session, catalog = loading.session, loading.catalog
    for row in loading.objects():
        if isinstance(row, records.Trigger) and row.enabled not in _DISABLED:
            function = catalog.procs.get(loading.refs.function(row.function))
            routine = catalog.routines.get(function.oid) if function is not None else None
            if function is not None and (function.effect in ("i", "t") or (routine is not None and routine.about)):
                unfollowed_call(session, function)
                session.restless = session.restless or function.effect == "t"


def rule(loading: Loading, row: records.Rule) -> None:
    table = loading.refs.relations[row.table]
    address = loading.add_other(row, "rule", table, instead=row.instead, enabled=row.enabled not in _DISABLED)
    loading.catalog.depend(address, (RELATION, table, 0), AUTO)
    loading.depend_on(address, (name for name in row.uses if name != row.table))


def policy(loading: Loading, row: records.Policy) -> None:
    table = loading.refs.relations[row.table]
    address = loading.add_other(row, "policy", table)
    loading.catalog.depend(address, (RELATION, table, 0), AUTO)
    loading.depend_on(address, (name for name in row.uses if name != row.table))


def extension(loading: Loading, row: records.Extension) -> None:
    address = loading.add_other(row, "extension", 0, row.owner)
    loading.catalog.depend(address, (NAMESPACE, loading.refs.schemas[row.schema], 0), NORMAL)


def event_trigger(loading: Loading, row: records.EventTrigger) -> None:
    settings = loading.catalog.settings
    address = loading.add_other(row, KIND, 0, row.owner, enabled=row.enabled not in _DISABLED)
    function = loading.calls(address, row.function)
    trigger = EventTrigger(row.oid, row.event, row.tags, function, row.enabled)
    settings.put(EVENT_TRIGGERS, (*settings.get(EVENT_TRIGGERS, ()), trigger))
