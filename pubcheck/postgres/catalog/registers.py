"""Where the catalog enters objects: their tables, names and groups, and the objects that they belong to."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple

from pubcheck.postgres.catalog import constants as of
from pubcheck.postgres.catalog import rows

_InSchema = rows.Collation | rows.Operator | rows.OtherObject | rows.Proc | rows.Type
_OfPublication = rows.PublicationExclusion | rows.PublicationNamespace | rows.PublicationRel
Registered = _InSchema | _OfPublication | rows.Cast | rows.Namespace | rows.Publication | rows.Role
Key = Callable[[Any], Any]


class Register(NamedTuple):
    """Where the objects of a class are entered.

    ``rows`` and ``names`` are tables of the catalog, ``key`` gives an object's key in the latter. ``groups`` are tables
    of several objects by a key, ``parts`` the objects that it belongs to, by their class and its field. ``noted``: the
    keys that the unit itself took away are kept.
    """

    kind: str
    rows: str
    names: str = ""
    key: Key = attrgetter("name")
    groups: tuple[tuple[str, Key], ...] = ()
    parts: tuple[tuple[str, str], ...] = ()
    noted: bool = False

    def gone(self, row: Registered) -> tuple[Any, ...]:
        """Return the object's key in ``Catalog.gone``."""
        key = self.key(row)
        return (self.kind, *key) if isinstance(key, tuple) else (self.kind, 0, key)


_QUALIFIED = attrgetter("namespace", "name")


def _of_publication(kind: str, rows: str, names: str, member: tuple[str, str], groups: tuple[str, str]) -> Register:
    """Return the register of what belongs to a publication and to something else, a (class, field)."""
    fields = ("publication", member[1])
    keys = tuple((group, attrgetter(field)) for group, field in zip(groups, fields, strict=True))
    parts = ((of.PUBLICATION, "publication"), member)
    return Register(kind, rows, names, attrgetter(*fields), keys, parts, noted=kind != of.PUBLICATION_EXCLUSION)


_TABLE, _SCHEMA = (of.RELATION, "relation"), (of.NAMESPACE, "namespace")
_EXCLUSION, _MEMBER, _MEMBER_SCHEMA = of.PUBLICATION_EXCLUSION, of.PUBLICATION_REL, of.PUBLICATION_NAMESPACE
REGISTERS: dict[type, Register] = {
    rows.Cast: Register(of.CAST, "casts"),
    rows.Collation: Register(of.COLLATION, "collations", "collation_names", _QUALIFIED),
    rows.Namespace: Register(of.NAMESPACE, "namespaces", "namespace_names", noted=True),
    rows.Operator: Register(of.OPERATOR, "operators", groups=(("operator_names", _QUALIFIED),)),
    rows.OtherObject: Register(of.OTHER, "others", "other_names", attrgetter("kind", "namespace", "name")),
    rows.Proc: Register(of.PROC, "procs", groups=(("proc_names", _QUALIFIED),)),
    rows.Publication: Register(of.PUBLICATION, "publications", "publication_names", noted=True),
    rows.PublicationExclusion: _of_publication(
        _EXCLUSION, "publication_exclusions", "exclusions", _TABLE, ("exclusions_of", "excluded_from")
    ),
    rows.PublicationNamespace: _of_publication(
        _MEMBER_SCHEMA, "publication_namespaces", "schema_members", _SCHEMA, ("schemas_of", "schema_publications")
    ),
    rows.PublicationRel: _of_publication(_MEMBER, "publication_rels", "members", _TABLE, ("members_of", "memberships")),
    rows.Role: Register(of.ROLE, "roles", "role_names", noted=True),
    rows.Type: Register(of.TYPE, "types", "type_names", _QUALIFIED, noted=True),
}
ROWS = {of.RELATION: "relations", of.CONSTRAINT: "constraints"}
ROWS |= {register.kind: register.rows for register in REGISTERS.values()}
"""The tables by the class of their objects. A default has no row of its own."""
