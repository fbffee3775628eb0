"""The names of types, for messages that hold only their OIDs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.session import Session


@cache
def type_namer(major: int) -> Callable[[int, int], str | None]:
    """Return a function from the OID and modifier of a built-in type to its name as format_type writes it, such as
    `character varying(5)`; None for any other type."""
    syscache = Session(Catalog(major), complete=True).syscache

    @cache
    def name(oid: int, modifier: int) -> str | None:
        try:
            return syscache.format_type(oid, modifier)
        except Unknowable:
            return None

    return name
