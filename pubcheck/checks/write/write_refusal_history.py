"""The statement of a unit's history since which UPDATE or DELETE of each table has been refused."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from pubcheck.checks.write.replica_identity import CHECKS, WRITES, Cause, Refusal, Write, causes_of, refusals
from pubcheck.faults import Faults
from pubcheck.postgres.catalog.rows import (
    Index,
    OtherObject,
    Place,
    Publication,
    PublicationExclusion,
    PublicationNamespace,
    PublicationRel,
    Relation,
)
from pubcheck.postgres.replication.publication_lookup import publications_of, publishes
from pubcheck.postgres.session import Session

Change = tuple[dict[Any, Any], Any, Any]
"""An entry of the journal: (dictionary, key, former value)."""

_FOLLOWED = (Relation, Index, OtherObject, Publication, PublicationRel, PublicationExclusion, PublicationNamespace)


class RefusedWrites:
    """Keeps step with a session's catalog, statement by statement.

    Each cause is that of a single publication, so one that joins a table's others, or leaves them, changes nothing for
    those: most tables need not be checked against all of theirs again.
    """

    def __init__(self, session: Session, faults: Faults) -> None:
        self._session, self._faults = session, faults
        self._catalog = session.catalog
        self._causes: dict[tuple[int, Write], dict[tuple[int, int], _Since]] = {}
        """The causes for which a write is refused, by table and write, then by publication and check."""
        self._since: dict[tuple[int, Write], Place] = {}
        """The first cause since which a write has been refused without interruption, by table and write."""
        self._ended: dict[tuple[int, Write, Place], tuple[int, int]] = {}
        self.clock = 0
        """The number of statements so far."""

    def __bool__(self) -> bool:
        """Return whether any write is refused as things stand."""
        return bool(self._since)

    def follow(self, source: int, statement: int, changes: Iterable[Change]) -> None:
        """Take in what a statement changed; ``source`` and ``statement`` are its numbers, as in a Place."""
        self.clock += 1
        catalog = self._catalog
        if not catalog.publications and not self._since:
            return
        statement_key, place = (source, statement), Place(source, statement, 0, 0)
        touched = self._faults.value(place, _Touched(), self._touched, changes)
        for oid in touched.changed:
            relation = catalog.relations.get(oid)
            with self._faults.guard(place):
                self._check(oid, None if relation is None else publications_of(catalog, relation), statement_key)
        left = ((publication, filter(self._has_causes, oids)) for publication, oids in touched.left)
        for publication, oids in itertools.chain(touched.joined, left):
            for oid in oids:
                try:
                    self._check_one(oid, publication, statement_key)
                except Exception as error:
                    self._faults.report(error, place)

    def start(self) -> None:
        """Take in the catalog as it is. Each cause is placed where its publication is."""
        catalog = self._catalog
        for relation in [*catalog.relations.values()]:
            if relation.kind == "r":
                with self._faults.guard(relation.place):
                    self._check(relation.oid, publications_of(catalog, relation), None)

    def refused(self) -> Iterator[tuple[Refusal, Place]]:
        """Each cause for which a write is refused now, and where it is in the statement that brought it."""
        for oid in sorted({oid for oid, _ in self._causes}):
            relation = self._catalog.relations[oid]
            refused = self._faults.value(relation.place, {}, refusals, self._catalog, relation)
            for write, causes in sorted(refused.items()):
                since = self._causes.get((oid, write), {})
                for refusal in causes:
                    # After an internal error there may be no place.
                    if (known := since.get((refusal.publication, refusal.cause.check))) is not None:
                        yield refusal, known.place

    def is_refused(self, oid: int, write: Write) -> bool:
        """Return whether a write of a table is refused as things stand."""
        return (oid, write) in self._since

    def reaches(self, oid: int) -> bool:
        """Return whether any write is refused of a table or of one that inherits from it."""
        below = self._catalog.descendants(oid) if self._catalog.children.has(oid) else (oid,)
        return any((member, write) in self._since for member in below for write in WRITES)

    def since(self, oid: int, write: Write) -> Place:
        """The first cause in the statement since which a write has been refused. KeyError where it is not."""
        return self._since[oid, write]

    def came(self, refusal: Refusal) -> int:
        """The ``clock`` of the statement that brought a cause. KeyError where it is gone."""
        causes = self._causes[refusal.relation, refusal.operation]
        return causes[refusal.publication, refusal.cause.check].clock

    def until(self, oid: int, write: Write, since: Place) -> tuple[int, int] | None:
        """The statement, by source and number, with which a refusal ended; None where it has not."""
        return self._ended.get((oid, write, since))

    def _has_causes(self, oid: int) -> bool:
        return bool(self._causes) and any((oid, write) in self._causes for write in WRITES)

    def _check(
        self, oid: int, publications: Sequence[Publication] | None, statement_key: tuple[int, int] | None
    ) -> None:
        """A table whose refused writes may change by its ``publications``, None if the table is gone."""
        causes = causes_of(self._catalog, self._catalog.relations[oid], publications) if publications else {}
        if not causes and not self._has_causes(oid):
            return
        for write in WRITES:
            known = self._causes.get((oid, write), {})
            self._store(oid, write, self._placed(oid, causes.get(write, ()), known, statement_key), statement_key)

    def _check_one(self, oid: int, publication: int, statement_key: tuple[int, int]) -> None:
        """Check a table again after a change of one of its publications."""
        catalog = self._catalog
        relation, row = catalog.relations.get(oid), catalog.publications.get(publication)
        published = relation is not None and row is not None and publishes(catalog, row, relation)
        causes_by_write = (
            causes_of(catalog, relation, (row,)) if published and relation is not None and row is not None else {}
        )
        if not causes_by_write and not self._has_causes(oid):
            return
        for write in WRITES:
            causes = self._causes.get((oid, write), {})
            keys = [(publication, check) for check in CHECKS]
            known = {key: causes.pop(key) for key in keys if key in causes}
            causes.update(self._placed(oid, causes_by_write.get(write, ()), known, statement_key))
            self._store(oid, write, causes, statement_key)

    def _placed(
        self,
        oid: int,
        causes: Iterable[Cause],
        known: Mapping[tuple[int, int], _Since],
        statement_key: tuple[int, int] | None,
    ) -> dict[tuple[int, int], _Since]:
        """Causes with their places; those that are known keep theirs."""
        placed = {}
        for cause in causes:
            key = cause.publication.oid, cause.check
            placed[key] = known.get(key) or _Since(self._culprit(statement_key, oid, cause), self.clock)
        return placed

    def _store(
        self, oid: int, write: Write, causes: dict[tuple[int, int], _Since], statement_key: tuple[int, int] | None
    ) -> None:
        """Store the causes for which a write is refused now."""
        if causes:
            self._causes[oid, write] = causes
            self._since.setdefault((oid, write), next(iter(causes.values())).place)
            return
        self._causes.pop((oid, write), None)
        since = self._since.pop((oid, write), None)
        if since is not None and statement_key is not None:
            self._ended[oid, write, since] = statement_key

    def _touched(self, changes: Iterable[Change]) -> _Touched:
        catalog = self._catalog
        rows: list[tuple[Any, Any]] = []
        for heap, key, former in changes:
            row = heap.get(key)
            if isinstance(row, _FOLLOWED):
                rows.append((former if type(former) is type(row) else None, row))
            elif isinstance(former, _FOLLOWED):
                rows.append((former, None))
        touched = _Touched()
        families: set[int] = set()
        for former, row in rows:
            known = row or former
            if isinstance(known, Relation):
                families.add(known.oid)
            elif isinstance(known, Index):
                touched.changed.add(known.table)
            elif isinstance(known, OtherObject):
                if any(relation is not None and relation.instead for relation in (former, row)):
                    families.add(known.namespace)
            elif isinstance(known, Publication):
                if former is None or row is None or _compared(former) != _compared(row):
                    self._publication(touched, former, row)
            else:
                oids = (
                    (known.relation,)
                    if isinstance(known, PublicationRel | PublicationExclusion)
                    else self._tables_in(known.namespace)
                )
                publication = catalog.publications.get(known.publication)
                # Via root the text about a partition counts where nothing is reported of its ancestors any more.
                gone = row is None and (publication is None or not publication.via_root)
                gone = gone and not isinstance(known, PublicationExclusion)
                (touched.left if gone else touched.joined).append((known.publication, self._family(oids)))
        touched.changed.update(self._family(families))
        return touched

    def _publication(self, touched: _Touched, former: Publication | None, row: Publication | None) -> None:
        """Note a publication that was created, dropped or altered; members of the first two change too."""
        known = row or former
        if known is not None and any(state is not None and state.all_tables for state in (former, row)):
            tables = [oid for oid, relation in self._catalog.relations.items() if relation.kind == "r"]
            (touched.left if row is None else touched.joined).append((known.oid, tables))
        if former is not None and row is not None:
            catalog = self._catalog
            oids = [catalog.publication_rels[member].relation for member in catalog.members_of.get(row.oid)]
            for member in catalog.schemas_of.get(row.oid):
                oids += self._tables_in(catalog.publication_namespaces[member].namespace)
            touched.joined.append((row.oid, self._family(oids)))

    def _tables_in(self, namespace: int) -> list[int]:
        """Return the tables of a schema. Most of its relations are indexes and sequences."""
        relations = self._catalog.relations
        return [oid for oid in self._catalog.relations_in.groups.get(namespace, ()) if relations[oid].kind in "rp"]

    def _family(self, oids: Iterable[int]) -> list[int]:
        """Tables with those whose verdict may rest on theirs: partitions, and partitions of these."""
        catalog = self._catalog
        family: dict[int, None] = {}
        for oid in oids:
            family[oid] = None
            if catalog.children.has(oid):
                family.update(dict.fromkeys(catalog.descendants(oid)))
        return list(family)

    def _culprit(self, statement_key: tuple[int, int] | None, oid: int, cause: Cause) -> Place:
        """Return the place of a cause, in the current statement or in any."""
        catalog, publication = self._catalog, cause.publication
        candidates = [cause.place]
        if cause.entry is not None:
            candidates.append(cause.entry.place)
        family = (oid, *catalog.ancestors(oid))
        for member in family:
            entry = catalog.members.get((publication.oid, member))
            if entry is not None:
                candidates.append(catalog.publication_rels[entry].place)
        if statement_key is not None:
            mentions = self._session.mentions
            candidates += [Place(*statement_key, mentions[member], 0) for member in family if member in mentions]
        for member in family:
            schema = catalog.schema_members.get((publication.oid, catalog.relations[member].namespace))
            if schema is not None:
                candidates.append(catalog.publication_namespaces[schema].place)
        candidates.append(publication.place)
        for place in candidates:
            if place is not None and statement_key in (None, (place.source, place.statement)):
                return place
        return Place(*(statement_key or (0, 0)), 0, 0)


class _Since(Struct, frozen=True):
    """The place of a cause in the statement that introduced it, and the ``clock`` of that statement."""

    place: Place
    clock: int


class _Touched(Struct):
    """The tables whose answers a statement can have changed.

    ``again``: for any reason. ``joined`` and ``left``: only because of the publication with this OID.
    """

    changed: set[int] = set()
    joined: list[tuple[int, list[int]]] = []
    left: list[tuple[int, list[int]]] = []


def _compared(publication: Publication) -> tuple[object, ...]:
    """Return the attributes of a publication that affect writes: all but its name and owner."""
    actions = (publication.insert, publication.update, publication.delete, publication.truncate)
    return (*actions, publication.all_tables, publication.via_root, publication.generated, publication.seen)
