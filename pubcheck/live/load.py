"""Load a snapshot into the catalog of a session: the state that the statements that built the database leave."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pubcheck.live import document as doc
from pubcheck.live import records
from pubcheck.live.loading import Loading, publications, relations, schemas
from pubcheck.postgres.session import Session


def load(session: Session, snapshot: doc.Snapshot, source: int) -> None:
    """Load a snapshot into an empty catalog. ``source`` is its number among the unit's sources; the object on each line
    is the statement of that number."""
    # What is not in the catalogs of the server does not exist.
    session.complete = True
    load_all(Loading(session, snapshot, source))
    session.forget_path()
    session.catalog.journal.clear()
    session.begin_statement(source, 0)


def load_all(loading: Loading) -> None:
    """Load all objects and the settings of the connection."""
    with _without_collections():
        _load(loading)


def _load(loading: Loading) -> None:
    """Load all objects, group by group, and in each by oid: so a server goes through its catalogs."""
    catalog, server = loading.catalog, loading.snapshot.server
    catalog.database, catalog.database_known = server.database, True
    schemas.forget_public(loading)
    schemas.collations_of_machine(loading)
    groups: list[list[tuple[int, records.AnyObject]]] = [[] for _ in _GROUPS]
    group_of = {kind: groups[place] for place, loaders in enumerate(_GROUPS) for kind in loaders}
    for number, row in enumerate(loading.snapshot.objects):
        if type(row) in group_of:  # all but those of a running server
            group_of[type(row)].append((number, row))
    for group, loaders in zip(groups, _GROUPS, strict=True):
        for number, row in sorted(group, key=lambda numbered: numbered[1].oid):
            loading.number = number
            loaders[type(row)](loading, row)
    catalog.databases[server.database] = loading.refs.role(server.database_owner)
    for role in server.creators:
        catalog.database_acl.put((loading.refs.role(role) if role else 0, "C"), True)
    relations.read_bounds(loading)
    relations.depend_on_owners(loading)
    relations.show_views(loading)
    # Expressions are written for fixed settings, and bodies for those of the connection.
    schemas.start_connection(loading)
    schemas.read_definitions(loading)
    publications.follow_triggers(loading)


_Loader = Callable[[Loading, Any], None]
_GROUPS: tuple[dict[type, _Loader], ...] = (
    {records.Schema: schemas.schema, records.Role: schemas.role, records.DefaultSetting: schemas.default_setting},
    {records.Extension: publications.extension},
    {records.Type: schemas.type},
    {records.Function: schemas.function},
    {
        records.Operator: schemas.operator,
        records.Cast: schemas.cast,
        records.Collation: schemas.collation,
        records.OperatorClass: schemas.operator_class,
    },
    dict.fromkeys(relations.RELKINDS, relations.relation),
    {records.Index: relations.index},
    {records.Constraint: relations.constraint},
    {records.Trigger: publications.trigger, records.Rule: publications.rule, records.Policy: publications.policy},
    {records.Publication: publications.publication},
    {
        records.PublicationTable: publications.publication_table,
        records.PublicationExclusion: publications.publication_exclusion,
        records.PublicationSchema: publications.publication_schema,
    },
    {records.Subscription: publications.subscription, records.EventTrigger: publications.event_trigger},
)
"""The kinds of objects with their loaders, each group after those that its objects need."""


@contextmanager
def _without_collections() -> Iterator[None]:
    """Create a hundred thousand rows without looking for garbage among them after each few hundred."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
