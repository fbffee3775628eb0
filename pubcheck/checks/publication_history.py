"""Effects of later statements on publications, noted statement by statement.

The rules about history decide over the final state which of these effects are losses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct

from pubcheck.checks.event_log import AllTablesLog, Events
from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.catalog import PUBLIC, Catalog
from pubcheck.postgres.catalog.rows import (
    Column,
    Namespace,
    Place,
    Publication,
    PublicationExclusion,
    PublicationNamespace,
    PublicationRel,
    Relation,
    Type,
)
from pubcheck.postgres.parse import Node
from pubcheck.postgres.replication.publication_lookup import is_publishable, publications_of, route
from pubcheck.postgres.session import Session

Changes = Iterable[tuple[dict[Any, Any], Any, Any]]


class PublicationEvent(Struct, frozen=True):
    """A publication's name that ceased to be, or came to be after a subscription took it."""

    name: str
    oid: int
    kind: Literal["dropped", "renamed", "created"]
    place: Place


class EndedMembership(Struct, frozen=True):
    """A membership that a statement ended, by SET or by the CASCADE of something else."""

    entry: PublicationRel
    place: Place
    by: Literal["set", "cascade"]


class FormerName(Struct, frozen=True):
    """A published table that was dropped, or is called otherwise now."""

    oid: int
    publications: tuple[int, ...]
    place: Place
    fate: Literal["dropped", "renamed"]


class Added(Struct, frozen=True):
    relation: int
    column: int
    place: Place


class Renamed(Struct, frozen=True):
    """The former name of a published table, or of its column of a number, without the schema public."""

    relation: int
    name: str
    place: Place
    column: int = 0


class ChangedType(Struct, frozen=True):
    """A type that was renamed or, if ``labels``, an enum that was given other labels. ``name`` is its former one."""

    type: int
    name: str
    place: Place
    labels: bool


class Moved(Struct, frozen=True):
    """A table that a statement took out of publications, or brought into them; ``by`` says how."""

    relation: int
    publications: tuple[int, ...]
    place: Place
    by: Literal["schema", "unlogged", "attached", "detached"]
    parent: int = 0


class History:
    """The effects of a unit's statements on publications, in one major."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.only: set[int] = set()
        """Memberships named with ONLY."""
        self.columns_then: dict[int, tuple[Column, ...]] = {}
        """The columns of a table when it was published with a column list, by membership."""
        self.detached: dict[int, int] = {}
        """The parent of which a member that was a partition was detached last."""
        self.inherited: dict[int, Place] = {}
        """The places where ALTER TABLE made a table a child of another one."""
        self.ended_memberships: list[EndedMembership] = []
        self.blind_sets: dict[int, tuple[Place, bool]] = {}
        """The last SET of each publication that the unit does not create, and whether it is SET ALL TABLES."""
        self.bared: list[tuple[PublicationRel, Place, Literal["set", "added"]]] = []
        """Memberships as they were before a statement named their table without filter, or without column list."""
        self._dropped: dict[tuple[int, int], PublicationRel] = {}
        """Memberships that DROP TABLE ended, by publication and relation."""
        self.added_again: dict[int, dict[int, Place]] = {}
        """The places where members that were dropped were added again, by publication and relation."""
        self.schemas_taken: list[tuple[PublicationNamespace, Place]] = []
        self.former_names: dict[tuple[str, str], FormerName] = {}
        """The former names of tables, by schema and name. A schema may be dropped and recreated as well."""
        self.added: list[Added] = []
        self.moved: list[Moved] = []
        self.renamed: dict[tuple[int, int], Renamed] = {}
        """The names that tables named in publications, and their columns, had first; 0 for the table itself."""
        self.changed_types: dict[int, ChangedType] = {}
        self.all_tables = AllTablesLog(session)
        self.events = Events(session)
        self.publication_events: list[PublicationEvent] = []
        self.gone_publications: dict[str, Place] = {}
        self._dropped_in: dict[str, object] = {}
        """The transaction in which a publication lost its name. If the same transaction recreates it, no other
        session misses it."""

    @property
    def anything_unpublished(self) -> bool:
        """Whether a statement took something out of a publication, or something new may be missing in one."""
        notes = (
            self.ended_memberships,
            self.blind_sets,
            self.bared,
            self.schemas_taken,
            self.former_names,
            self.added,
            self.moved,
        )
        return any(notes) or bool(self.events.schemas)

    def follow(self, name: str, node: Node, changes: Changes) -> None:
        """Note what the session's statement changed: (catalog, key, former row) in the order of the changes."""
        catalog, events = self.session.catalog, self.events
        relations: dict[int, Any] = {}
        former_publication: Any = None
        ended: list[PublicationRel] = []
        ended_exclusions: list[PublicationExclusion] = []
        for heap, key, former in changes:
            if heap is catalog.relations:
                relations.setdefault(key, former)
            elif heap is catalog.publication_rels:
                if isinstance(former, PublicationRel) and key not in catalog.publication_rels:
                    ended.append(former)
                elif key in catalog.publication_rels:
                    self._joined(catalog.publication_rels[key])
                events.change(heap, key, former)
            elif heap is catalog.publication_exclusions:
                if key in heap:
                    self.all_tables.exclusion(heap[key])
                elif isinstance(former, PublicationExclusion):
                    ended_exclusions.append(former)
            elif heap is catalog.publication_namespaces:
                if isinstance(former, PublicationNamespace) and key not in heap and name == "AlterPublicationStmt":
                    self._schema_taken(former, node)
                events.change(heap, key, former)
            elif heap is catalog.publications:
                self._publication(former, catalog.publications.get(key))
                former_publication = former
                events.change(heap, key, former)
            elif heap is catalog.types:
                self._type(key, former, catalog.types.get(key))
            elif heap is catalog.constraints or heap is catalog.indexes:
                events.change(heap, key, former)
            elif heap is catalog.namespaces:
                self._schema(former, heap.get(key))
                events.change(heap, key, former)
        if name == "AlterPublicationStmt" and isinstance(former_publication, Publication):
            self.all_tables.set_all(
                former_publication, ended_exclusions, self._publication_place(former_publication.oid)
            )
        if name == "AlterTableStmt":
            self.all_tables.replace_partitions(node, ended, relations, self._place())
        if ended:
            self._ended(name, node, ended)
        if relations:
            self._relations(name, node, relations, ended)
        if name == "AlterPublicationStmt" and node.get("action") == "AP_SetObjects":
            self._blind_set(node)
        events.finish(name, node, relations)

    def _place(self, oid: int = 0) -> Place:
        """Return where the current statement names a relation, or its beginning."""
        return self.session.place(self.session.mentions.get(oid, 0))

    # Publications and members.

    def _publication(self, former: Any, row: Publication | None) -> None:
        if isinstance(former, Publication) and former.seen:
            start = self.session.find_name(former.name) or 0
            place = self.session.place(start, len(former.name.encode()))
            if row is None:
                self._dropped_in[former.name] = self.session.transaction
                self.publication_events.append(PublicationEvent(former.name, former.oid, "dropped", place))
                self.gone_publications[former.name] = place
            elif row.name != former.name:
                self._dropped_in[former.name] = self.session.transaction
                # One that takes another one's place was made for that, under a name that nobody reads.
                if row.name not in self.gone_publications or self.session.catalog.subscriptions_to.has(former.name):
                    self.publication_events.append(PublicationEvent(former.name, former.oid, "renamed", place))
                    self.gone_publications[former.name] = place
                self._is_recreated(row)
            return
        if row is None or isinstance(former, Publication) or self._is_recreated(row):
            return
        if self.session.catalog.subscriptions_to.has(row.name) and row.place is not None and row.seen:
            self.publication_events.append(PublicationEvent(row.name, row.oid, "created", row.place))

    def _is_recreated(self, row: Publication) -> bool:
        """Return whether the transaction that dropped a publication makes it again; then nothing has happened."""
        transaction = self._dropped_in.pop(row.name, None)
        if transaction is None or transaction is not self.session.transaction:
            return False
        self.gone_publications.pop(row.name, None)
        self.publication_events = [event for event in self.publication_events if event.name != row.name]
        return True

    def _joined(self, row: PublicationRel) -> None:
        if _ONLY.search(self.session.text, max(0, row.place.start - _LOOK_BACK), row.place.start) is not None:
            self.only.add(row.oid)
        if row.columns is not None:
            self.columns_then.setdefault(row.oid, self.session.catalog.relations[row.relation].columns)
        dropped = self._dropped.pop((row.publication, row.relation), None)
        if dropped is not None:
            self.added_again.setdefault(row.publication, {})[row.relation] = row.place
        if dropped is not None and _bares(dropped, row):
            self.bared.append((dropped, row.place, "added"))

    def _schema_taken(self, former: PublicationNamespace, node: Node) -> None:
        if node.get("action") == "AP_SetObjects" and former.publication in self.session.catalog.publications:
            self.schemas_taken.append((former, self._publication_place(former.publication)))

    def _blind_set(self, node: Node) -> None:
        catalog, all_tables = self.session.catalog, node.get("for_all_tables", False)
        publication = catalog.publications.get(catalog.publication_names.get(node["pubname"], 0))
        if publication is not None and not publication.seen and (all_tables or "pubobjects" in node):
            self.blind_sets[publication.oid] = self._publication_place(publication.oid), all_tables

    def _publication_place(self, publication: int) -> Place:
        return self.events.named(self.session.catalog.publications[publication].name)

    def _ended(self, name: str, node: Node, ended: list[PublicationRel]) -> None:
        catalog = self.session.catalog
        if name == "AlterPublicationStmt":
            if node.get("action") != "AP_SetObjects":
                self._dropped.update(((entry.publication, entry.relation), entry) for entry in ended)
                return
            for entry in ended:
                place = self._publication_place(entry.publication)
                member = catalog.members.get((entry.publication, entry.relation))
                if member is None:
                    self.ended_memberships.append(EndedMembership(entry, place, "set"))
                    continue
                row = catalog.publication_rels[member]
                if _bares(entry, row):
                    self.bared.append((entry, row.place, "set"))
            return
        if name == "CreatePublicationStmt":
            # One that was there by assumption gives way to this one.
            return
        for entry in ended:
            # Of dropped tables and dropped publications there is nothing left to publish.
            if entry.relation in catalog.relations and entry.publication in catalog.publications:
                self.ended_memberships.append(EndedMembership(entry, self._place(entry.relation), "cascade"))

    # Tables.

    def _relations(self, name: str, node: Node, relations: dict[int, Any], ended: list[PublicationRel]) -> None:
        catalog = self.session.catalog
        columns = _added_columns(node) if name == "AlterTableStmt" else {}
        for oid, former in relations.items():
            if not isinstance(former, Relation) or former.kind not in "rp":
                continue
            row = catalog.relations.get(oid)
            if row is None:
                gone = tuple(entry.publication for entry in ended if entry.relation == oid)
                self._no_longer_called(former, gone, "dropped")
                continue
            if row.namespace != former.namespace or row.name != former.name:
                held = catalog.memberships.get(oid)
                members = tuple(catalog.publication_rels[member].publication for member in held)
                self._no_longer_called(former, members, "renamed")
                if members:
                    self._called_otherwise(former)
            if row.namespace != former.namespace:
                self._note_unpublished(former, row, "schema")
            if name == "RenameStmt" and row.columns != former.columns and catalog.memberships.has(oid):
                self._columns_renamed(former, row)
            if former.persistence == "p" and row.persistence == "u":
                self._note_unpublished(former, row, "unlogged")
            if columns and catalog.memberships.has(oid):
                self._columns_added(former, row, columns)
            if former.parents != row.parents:
                self._parents(former, row)

    def _no_longer_called(self, former: Relation, publications: tuple[int, ...], fate: Any) -> None:
        catalog = self.session.catalog
        publications = tuple(oid for oid in publications if oid in catalog.publications)
        namespace = catalog.namespaces.get(former.namespace) or self.events.namespaces.get(former.namespace)
        if publications and former.seen and namespace is not None:
            place = self._place(former.oid)
            self.former_names[namespace.name, former.name] = FormerName(former.oid, publications, place, fate)

    def _called_otherwise(self, former: Relation) -> None:
        namespace = self.session.catalog.namespaces.get(former.namespace)
        if namespace is not None and former.seen:
            name = former.name if former.namespace == PUBLIC else f"{namespace.name}.{former.name}"
            place = self._place(former.oid)
            known = self.renamed.get((former.oid, 0))
            self.renamed[former.oid, 0] = Renamed(former.oid, known.name if known is not None else name, place)

    def _columns_renamed(self, former: Relation, row: Relation) -> None:
        for before, renamed in zip(former.columns, row.columns, strict=False):
            if before.name != renamed.name and not renamed.dropped:
                known = self.renamed.get((row.oid, renamed.number))
                name = known.name if known is not None else before.name
                self.renamed[row.oid, renamed.number] = Renamed(row.oid, name, self._place(row.oid), renamed.number)

    def _schema(self, former: Any, row: Namespace | None) -> None:
        """A schema that is called otherwise: so are the tables in it."""
        if not isinstance(former, Namespace) or row is None or row.name == former.name:
            return
        catalog = self.session.catalog
        place = self.events.named(former.name)
        for oid in catalog.relations_in.get(former.oid):
            table = catalog.relations[oid]
            members = tuple(catalog.publication_rels[member].publication for member in catalog.memberships.get(oid))
            if members and table.seen and table.kind in "rp":
                self.former_names[former.name, table.name] = FormerName(oid, members, place, "renamed")
                self.renamed.setdefault((oid, 0), Renamed(oid, f"{former.name}.{table.name}", place))

    def _type(self, oid: int, former: Any, row: Type | None) -> None:
        if not isinstance(former, Type) or row is None or not former.seen or former.shell:
            return
        labels = former.labels != row.labels
        if labels or (former.name, former.namespace) != (row.name, row.namespace):
            place = self.events.named(former.name)
            self.changed_types[oid] = ChangedType(oid, former.name, place, labels)

    def _note_unpublished(self, former: Relation, row: Relation, by: Any) -> None:
        """A table that publications by schema, or FOR ALL TABLES, no longer have."""
        catalog = self.session.catalog
        before = sorted(self._before(former))
        lost = [oid for oid in before if not is_publishable(row) or out(catalog, oid, row)]
        if lost:
            self.moved.append(Moved(row.oid, tuple(lost), self._place(row.oid), by))

    def _before(self, former: Relation) -> set[int]:
        """The publications that a table had before the statement changed its schema or its parents."""
        catalog = self.session.catalog
        publications = {publication.oid for publication in publications_of(catalog, former)}
        publications.update(
            catalog.publication_namespaces[entry].publication
            for entry in catalog.schema_publications.get(former.namespace)
        )
        if former.partition:
            above = catalog.relations.get(former.parents[0])
            if above is not None:
                publications.update(
                    row.oid for row in publications_of(catalog, above) if not out(catalog, row.oid, above)
                )
        else:
            publications -= {oid for oid in publications if out(catalog, oid, former)}
        return publications

    def _columns_added(self, former: Relation, row: Relation, columns: dict[str, int]) -> None:
        for column in row.columns[len(former.columns) :]:  # attribute numbers are never used again
            if column.name in columns:
                place = self.session.place(columns[column.name])
                self.added.append(Added(row.oid, column.number, place))

    def _parents(self, former: Relation, row: Relation) -> None:
        catalog = self.session.catalog
        parent = next(iter(row.parents or former.parents), 0)
        if former.partition:
            self.all_tables.detach(former, row, self._place(row.oid))
        if not former.partition and not row.partition:
            if set(row.parents) - set(former.parents):
                self.inherited[row.oid] = self._place(row.oid)
            return
        if former.partition and catalog.memberships.has(row.oid):
            self.detached[row.oid] = former.parents[0]
        before = self._before(former)
        after = {
            publication.oid for publication in publications_of(catalog, row) if not out(catalog, publication.oid, row)
        }
        place = self._place(row.oid)
        if row.partition and after - before:
            self.moved.append(Moved(row.oid, tuple(sorted(after - before)), place, "attached", parent))
        elif not row.partition and before - after:
            self.moved.append(Moved(row.oid, tuple(sorted(before - after)), place, "detached", parent))


def _bares(entry: PublicationRel, row: PublicationRel) -> bool:
    """Return whether a membership lacks the filter or the list of the one before it."""
    return (entry.filter is not None and row.filter is None) or (entry.columns is not None and row.columns is None)


_ONLY = lazy_compile(rb"\bONLY\s*\(?\s*\Z", re.IGNORECASE)
_LOOK_BACK = 100
"""Bytes before a table's name in which ONLY is looked for: a statement can name thousands of tables."""


def _added_columns(node: Node) -> dict[str, int]:
    """The columns that an ALTER TABLE adds, and where they are named."""
    locations: dict[str, int] = {}
    for item in node.get("cmds", ()):
        command = item["AlterTableCmd"]
        if command["subtype"] == "AT_AddColumn":
            definition = command["def"]["ColumnDef"]
            locations[definition["colname"]] = definition.get("location", 0)
    return locations


def still_out(catalog: Catalog, publication: int, relation: int) -> bool:
    """Return whether a publication and a table are both there, and the one does not send the other."""
    if publication not in catalog.publications or relation not in catalog.relations:
        return False
    row = catalog.relations[relation]
    return not is_publishable(row) or out(catalog, publication, row)


def out(catalog: Catalog, publication: int, row: Relation) -> bool:
    return route(catalog, catalog.publications[publication], row) is None
