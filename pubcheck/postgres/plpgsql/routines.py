"""The routines that a statement calls."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pubcheck.postgres import parse_tree
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.routines import Routine
from pubcheck.postgres.ddl.object_address import functions_named
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names
from pubcheck.postgres.session import Session


def calls(session: Session, node: Node) -> bool:
    """Return whether a statement calls a function that may change something, directly or through other functions."""
    routines = session.catalog.routines
    for call in parse_tree.calls(node):
        path = names(call["funcname"])
        if path[0] != "pg_catalog":
            called_routines = [routines[oid] for oid in functions_named(session, path) if oid in routines]
            if any(_changes(session, routine, set()) for routine in called_routines):
                return True
    return False


def _changes(session: Session, routine: Routine, seen: set[str]) -> bool:
    if routine.changes or routine.about:
        return True
    inside = set(_CALLED.findall(routine.body.text.lower())) - seen
    seen |= inside
    routines = session.catalog.routines
    oids = {oid for name in inside for oid in functions_named(session, [name]) if oid in routines}
    return any(_changes(session, routines[oid], seen) for oid in oids)


_CALLED = re.compile(r'(\w+)"?\s*\(')


def called_in(catalog: Catalog, text: str) -> Iterator[Routine]:
    """Return the routines about publications that a text calls."""
    for routine in catalog.routines.values():
        if not routine.about:
            continue
        if re.search(rf'\b{re.escape(routine.name)}"?\s*\(', text, re.IGNORECASE):
            yield routine
