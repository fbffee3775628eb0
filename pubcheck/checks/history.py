"""Since which statement of a unit's history the UPDATE or DELETE of each table has been refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from pubcheck.checks.write import WRITES, Refusal, Write, refusals, refused_by
from pubcheck.faults import Faults
from pubcheck.postgres.catalog.rows import (
    Index,
    Other,
    Place,
    Publication,
    PublicationNamespace,
    PublicationRel,
    Relation,
)
from pubcheck.postgres.session import Session

Change = tuple[dict[Any, Any], Any, Any]
"""An entry of the journal: (dictionary, key, former value)."""

_FOLLOWED = (Relation, Index, Other, Publication, PublicationRel, PublicationNamespace)


class RefusedWrites:
    """Keeps step with a session's catalog, statement by statement.

    Each publication is judged alone, so one that joins a table's others can only add a refusal and one that leaves them
    can only take one away: then most tables need not be judged against all of theirs again.
    """

    def __init__(self, session: Session, faults: Faults) -> None:
        self._session, self._faults = session, faults
        self._catalog = session.catalog
        self._since: dict[tuple[int, Write], _Since] = {}
        self._ended: dict[tuple[int, Write, Place], tuple[int, int]] = {}

    def __bool__(self) -> bool:
        """Whether any write is refused as things stand."""
        return bool(self._since)

    def follow(self, source: int, statement: int, changes: Iterable[Change]) -> None:
        """Take in what a statement changed; ``source`` and ``statement`` are its numbers, as in a Place."""
        if not self._catalog.publications and not self._since:
            return
        here, place = (source, statement), Place(source, statement, 0, 0)
        touched = self._faults.value(place, _Touched(), self._touched, changes)
        for oid in touched.again:
            with self._faults.guard(place):
                self._judge(oid, here)
        for publication, oids in touched.joined:
            for oid in oids:
                with self._faults.guard(place):
                    self._join(publication, oid, here)
        for publication_oid, oids in touched.left:
            for oid in oids:
                with self._faults.guard(place):
                    if any(self._rests_on(publication_oid, oid, write) for write in WRITES):
                        self._judge(oid, here)

    def refused(self) -> Iterator[tuple[Refusal, Place]]:
        """Each write that is refused as things stand, with the culprit in the statement since which it has been."""
        for oid in sorted({oid for oid, _ in self._since}):
            relation = self._catalog.relations[oid]
            found = self._faults.value(relation.place, {}, refusals, self._catalog, relation)
            for write, refusal in sorted(found.items()):
                yield refusal, self._since[oid, write].place

    def is_refused(self, oid: int, write: Write) -> bool:
        """Whether a write of a table is refused as things stand."""
        return (oid, write) in self._since

    def reaches(self, oid: int) -> bool:
        """Whether any write is refused of a table or of one that inherits from it."""
        below = self._catalog.descendants(oid) if self._catalog.children.has(oid) else (oid,)
        return any((one, write) in self._since for one in below for write in WRITES)

    def since(self, oid: int, write: Write) -> Place:
        """The culprit in the statement since which a write has been refused. KeyError where it is not."""
        return self._since[oid, write].place

    def until(self, oid: int, write: Write, since: Place) -> tuple[int, int] | None:
        """The statement, by source and number, with which a refusal ended; None where it has not."""
        return self._ended.get((oid, write, since))

    def _rests_on(self, publication: int, oid: int, write: Write) -> bool:
        since = self._since.get((oid, write))
        return since is not None and since.publication == publication

    def _judge(self, oid: int, here: tuple[int, int]) -> None:
        relation = self._catalog.relations.get(oid)
        refused = refusals(self._catalog, relation) if relation is not None else {}
        for write in WRITES:
            found = refused.get(write)
            if found is None:
                ended = self._since.pop((oid, write), None)
                if ended is not None:
                    self._ended[oid, write, ended.place] = here
            else:
                before = self._since.get((oid, write))
                place = before.place if before is not None else self._culprit(here, found)
                # The last one: those made first are mostly dropped first.
                self._since[oid, write] = _Since(place, found.publications[-1])

    def _join(self, publication: Publication, oid: int, here: tuple[int, int]) -> None:
        """A publication publishes one more table; nothing else has changed for that table."""
        for write in refused_by(self._catalog, self._catalog.relations[oid], publication):
            if (oid, write) not in self._since:
                self._judge(oid, here)

    def _touched(self, changes: Iterable[Change]) -> _Touched:
        catalog = self._catalog
        rows: list[tuple[Any, Any]] = []
        for heap, key, former in changes:
            row = heap.get(key)
            if isinstance(row, _FOLLOWED):
                rows.append((former if type(former) is type(row) else None, row))
            elif isinstance(former, _FOLLOWED):
                rows.append((former, None))
        new = {row.oid for former, row in rows if former is None and isinstance(row, Publication)}
        touched = _Touched()
        families: set[int] = set()
        for former, row in rows:
            known = row or former
            if isinstance(known, Relation):
                families.add(known.oid)
            elif isinstance(known, Index):
                touched.again.add(known.table)
            elif isinstance(known, Other):
                if any(one is not None and one.instead for one in (former, row)):
                    touched.again.add(known.namespace)
            elif isinstance(known, Publication):
                if former is None or row is None or _judged(former) != _judged(row):
                    self._publication(touched, families, former, row)
            else:
                oids = (
                    (known.relation,)
                    if isinstance(known, PublicationRel)
                    else catalog.relations_in.groups.get(known.namespace, ())
                )
                publication = catalog.publications.get(known.publication)
                # An ancestor that is published via root takes the place of what was judged for its partitions.
                alone = publication is None or not publication.via_root or publication.oid in new
                if (former is not None and row is not None) or not alone:
                    families.update(oids)
                elif row is None or publication is None:
                    touched.left.append((known.publication, self._family(oids)))
                else:
                    touched.joined.append((publication, self._family(oids)))
        touched.again.update(self._family(families))
        return touched

    def _publication(
        self, touched: _Touched, families: set[int], former: Publication | None, row: Publication | None
    ) -> None:
        """One that came, went or was altered. The members of one that came or went speak for themselves."""
        known = row or former
        if known is not None and known.all_tables:
            tables = [oid for oid, relation in self._catalog.relations.items() if relation.kind == "r"]
            if former is None and row is not None:
                touched.joined.append((row, tables))
            elif row is None:
                touched.left.append((known.oid, tables))
            else:
                touched.again.update(tables)
        if former is not None and row is not None:
            catalog = self._catalog
            for member in catalog.members_of.get(row.oid):
                families.add(catalog.publication_rels[member].relation)
            for member in catalog.schemas_of.get(row.oid):
                families.update(catalog.relations_in.get(catalog.publication_namespaces[member].namespace))

    def _family(self, oids: Iterable[int]) -> list[int]:
        """Tables with those whose verdict may rest on theirs: partitions, and partitions of these."""
        catalog = self._catalog
        found: dict[int, None] = {}
        for oid in oids:
            found[oid] = None
            if catalog.children.has(oid):
                found.update(dict.fromkeys(catalog.descendants(oid)))
        return list(found)

    def _culprit(self, here: tuple[int, int], found: Refusal) -> Place:
        """Where in the statement at hand the reason stands: filter column, column list, table, schema, publication."""
        catalog = self._catalog
        candidates = [found.place]
        if found.entry is not None:
            candidates.append(found.entry.place)
        family = (found.relation, *catalog.ancestors(found.relation))
        for publication in found.publications:
            for oid in family:
                member = catalog.members.get((publication, oid))
                if member is not None:
                    candidates.append(catalog.publication_rels[member].place)
        mentions = self._session.mentions
        candidates += [Place(*here, mentions[oid], 0) for oid in family if oid in mentions]
        for publication in found.publications:
            for oid in family:
                schema = catalog.schema_members.get((publication, catalog.relations[oid].namespace))
                if schema is not None:
                    candidates.append(catalog.publication_namespaces[schema].place)
            candidates.append(catalog.publications[publication].place)
        for place in candidates:
            if place is not None and (place.source, place.statement) == here:
                return place
        return Place(*here, 0, 0)


class _Since(Struct, frozen=True):
    """The culprit in the statement since which a write has been refused, and a publication that is enough for it."""

    place: Place
    publication: int


class _Touched(Struct):
    """The tables whose verdict a statement can have changed.

    ``again``: in any way; ``joined``: only by what this publication says of them; ``left``: only for the better, by
    what the publication of this oid said of them.
    """

    again: set[int] = set()
    joined: list[tuple[Publication, list[int]]] = []
    left: list[tuple[int, list[int]]] = []


def _judged(publication: Publication) -> tuple[object, ...]:
    """What of a publication counts here: not its name and owner."""
    actions = (publication.insert, publication.update, publication.delete, publication.truncate)
    return (*actions, publication.all_tables, publication.via_root, publication.generated, publication.seen)
