"""What later statements do to publications without being refused: the history of a unit, and what it comes to.

``History`` notes what each statement changed; what of it still holds in the unit's final state is reported. So what
is rolled back, or mended by a later statement, is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from msgspec import Struct

from pubcheck.checks.chain.events import Events
from pubcheck.checks.findings import Finding, Ground, listed, order, others, quoted
from pubcheck.checks.naming import identifier, qualified
from pubcheck.postgres.catalog import PUBLIC, Catalog
from pubcheck.postgres.catalog.rows import (
    Namespace,
    Place,
    Publication,
    PublicationNamespace,
    PublicationRel,
    Relation,
)
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session
from pubcheck.replication.published import arrival, is_publishable, publications_of

Changes = Iterable[tuple[dict[Any, Any], Any, Any]]


class PublicationEvent(Struct, frozen=True):
    """A publication's name that ceased to be, or came to be after a subscription took it."""

    name: str
    oid: int
    what: Literal["dropped", "renamed", "made"]
    place: Place


class Taken(Struct, frozen=True):
    """A membership that a statement ended, by SET or by the CASCADE of something else."""

    entry: PublicationRel
    place: Place
    by: Literal["set", "cascade"]


class FormerName(Struct, frozen=True):
    """A published table that was dropped, or is called otherwise now."""

    oid: int
    publications: tuple[int, ...]
    place: Place
    what: Literal["dropped", "renamed"]


class Added(Struct, frozen=True):
    relation: int
    column: int
    place: Place


class Renamed(Struct, frozen=True):
    """What a published table, or a column of it (by number), was called before; ``name`` is as people write it."""

    relation: int
    name: str
    place: Place
    column: int = 0


class Moved(Struct, frozen=True):
    """A table that a statement took out of publications, or brought into them; ``by`` says how."""

    relation: int
    publications: tuple[int, ...]
    place: Place
    by: Literal["schema", "unlogged", "attached", "detached"]
    parent: int = 0


class History:
    """What the statements of a unit did, in one major, as far as it concerns publications."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.only: set[int] = set()
        """Memberships named with ONLY."""
        self.detached: dict[int, int] = {}
        """The parent of which a member that was a partition was detached last."""
        self.inherited: dict[int, Place] = {}
        """Where a table became a child, for those that an ALTER made one."""
        self.taken: list[Taken] = []
        self.blind_sets: dict[int, Place] = {}
        """The last SET of each publication that the unit does not make."""
        self.bared: list[tuple[PublicationRel, Place, Literal["set", "added"]]] = []
        """Memberships as they were before a statement named their table without filter, or without column list."""
        self._dropped: dict[tuple[int, int], PublicationRel] = {}
        """Memberships that DROP TABLE ended, by publication and relation."""
        self.schemas_taken: list[tuple[PublicationNamespace, Place]] = []
        self.former_names: dict[tuple[str, str], FormerName] = {}
        """By schema and name: a schema too may be dropped and made anew."""
        self.added: list[Added] = []
        self.moved: list[Moved] = []
        self.renamed: dict[tuple[int, int], Renamed] = {}
        """The names that tables named in publications, and their columns, had first; 0 for the table itself."""
        self.events = Events(session)
        self.publication_events: list[PublicationEvent] = []
        self.gone_publications: dict[str, Place] = {}
        self._dropped_in: dict[str, object] = {}
        """The transaction in which a publication lost its name: nobody else ever misses what it makes anew."""

    @property
    def wanted(self) -> bool:
        """Whether statements may matter."""
        return bool(self.session.catalog.publications or self.session.catalog.subscriptions)

    def follow(self, name: str, node: Node, changes: Changes) -> None:
        """Note what the session's statement changed: (catalog, key, former row) in the order of the changes."""
        catalog, events = self.session.catalog, self.events
        relations: dict[int, Any] = {}
        ended: list[PublicationRel] = []
        for heap, key, former in changes:
            if heap is catalog.relations:
                relations.setdefault(key, former)
            elif heap is catalog.publication_rels:
                if isinstance(former, PublicationRel) and key not in catalog.publication_rels:
                    ended.append(former)
                elif key in catalog.publication_rels:
                    self._joined(catalog.publication_rels[key])
                events.change(heap, key, former)
            elif heap is catalog.publication_namespaces:
                if isinstance(former, PublicationNamespace) and key not in heap and name == "AlterPublicationStmt":
                    self._schema_taken(former, node)
                events.change(heap, key, former)
            elif heap is catalog.publications:
                self._publication(former, catalog.publications.get(key))
                events.change(heap, key, former)
            elif heap is catalog.constraints or heap is catalog.indexes:
                events.change(heap, key, former)
            elif heap is catalog.namespaces:
                self._schema(former, heap.get(key))
                events.change(heap, key, former)
        if ended:
            self._ended(name, node, ended)
        if relations:
            self._relations(name, node, relations, ended)
        if name == "AlterPublicationStmt" and node.get("action") == "AP_SetObjects" and "pubobjects" in node:
            self._blind_set(node["pubname"])
        events.finish(name, node, relations)

    def _place(self, oid: int = 0) -> Place:
        """Where the statement at hand names a relation; its beginning otherwise."""
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
                if row.name not in self.gone_publications or former.name in self._subscribed():
                    self.publication_events.append(PublicationEvent(former.name, former.oid, "renamed", place))
                    self.gone_publications[former.name] = place
                self._made_anew(row)
            return
        if row is None or isinstance(former, Publication) or self._made_anew(row):
            return
        if row.name in self._subscribed() and row.place is not None and row.seen:
            self.publication_events.append(PublicationEvent(row.name, row.oid, "made", row.place))

    def _subscribed(self) -> set[str]:
        subscriptions = self.session.catalog.subscriptions.values()
        return {name for one in subscriptions for name, _ in one.publications}

    def _made_anew(self, row: Publication) -> bool:
        """Whether the transaction that dropped a publication makes it again; then nothing has happened."""
        transaction = self._dropped_in.pop(row.name, None)
        if transaction is None or transaction is not self.session.transaction:
            return False
        self.gone_publications.pop(row.name, None)
        self.publication_events = [event for event in self.publication_events if event.name != row.name]
        return True

    def _named_only(self, place: Place) -> bool:
        return _ONLY.search(self.session.text, max(0, place.start - _LOOK_BACK), place.start) is not None

    def _joined(self, row: PublicationRel) -> None:
        if self._named_only(row.place):
            self.only.add(row.oid)
        dropped = self._dropped.pop((row.publication, row.relation), None)
        if dropped is not None and _bares(dropped, row):
            self.bared.append((dropped, row.place, "added"))

    def _schema_taken(self, former: PublicationNamespace, node: Node) -> None:
        if node.get("action") == "AP_SetObjects" and former.publication in self.session.catalog.publications:
            self.schemas_taken.append((former, self._publication_place(former.publication)))

    def _blind_set(self, name: str) -> None:
        publication = self.session.catalog.publications.get(self.session.catalog.publication_names.get(name, 0))
        if publication is not None and not publication.seen:
            self.blind_sets[publication.oid] = self._publication_place(publication.oid)

    def _publication_place(self, publication: int) -> Place:
        name = self.session.catalog.publications[publication].name
        start = self.session.find_name(name)
        return self.session.place(start or 0, len(name.encode()) if start is not None else 0)

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
                    self.taken.append(Taken(entry, place, "set"))
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
                self.taken.append(Taken(entry, self._place(entry.relation), "cascade"))

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
                self._left(former, row, "schema")
            if name == "RenameStmt" and row.columns != former.columns and catalog.memberships.has(oid):
                self._columns_renamed(former, row)
            if former.persistence == "p" and row.persistence == "u":
                self._left(former, row, "unlogged")
            if columns and catalog.memberships.has(oid):
                self._columns_added(former, row, columns)
            if former.parents != row.parents:
                self._parents(former, row)

    def _no_longer_called(self, former: Relation, publications: tuple[int, ...], what: Any) -> None:
        catalog = self.session.catalog
        publications = tuple(oid for oid in publications if oid in catalog.publications)
        namespace = catalog.namespaces.get(former.namespace) or self.events.namespaces.get(former.namespace)
        if publications and former.seen and namespace is not None:
            place = self._place(former.oid)
            self.former_names[namespace.name, former.name] = FormerName(former.oid, publications, place, what)

    def _called_otherwise(self, former: Relation) -> None:
        namespace = self.session.catalog.namespaces.get(former.namespace)
        if namespace is not None and former.seen:
            name = former.name if former.namespace == PUBLIC else f"{namespace.name}.{former.name}"
            place = self._place(former.oid)
            known = self.renamed.get((former.oid, 0))
            self.renamed[former.oid, 0] = Renamed(former.oid, known.name if known is not None else name, place)

    def _columns_renamed(self, former: Relation, row: Relation) -> None:
        for before, now in zip(former.columns, row.columns, strict=False):
            if before.name != now.name and not now.dropped:
                known = self.renamed.get((row.oid, now.number))
                name = known.name if known is not None else before.name
                self.renamed[row.oid, now.number] = Renamed(row.oid, name, self._place(row.oid), now.number)

    def _schema(self, former: Any, row: Namespace | None) -> None:
        """A schema that is called otherwise: so are the tables in it."""
        if not isinstance(former, Namespace) or row is None or row.name == former.name:
            return
        catalog = self.session.catalog
        start = self.session.find_name(former.name)
        place = self.session.place(start or 0, len(former.name.encode()) if start is not None else 0)
        for oid in catalog.relations_in.get(former.oid):
            table = catalog.relations[oid]
            members = tuple(catalog.publication_rels[member].publication for member in catalog.memberships.get(oid))
            if members and table.seen and table.kind in "rp":
                self.former_names[former.name, table.name] = FormerName(oid, members, place, "renamed")
                self.renamed.setdefault((oid, 0), Renamed(oid, f"{former.name}.{table.name}", place))

    def _left(self, former: Relation, row: Relation, by: Any) -> None:
        """A table that publications by schema, or FOR ALL TABLES, no longer have."""
        catalog = self.session.catalog
        before = sorted(self._before(former))
        lost = [oid for oid in before if not is_publishable(row) or _out(catalog, oid, row)]
        if lost:
            self.moved.append(Moved(row.oid, tuple(lost), self._place(row.oid), by))

    def _before(self, former: Relation) -> set[int]:
        """The publications that a table had before the statement changed its schema or its parents."""
        catalog = self.session.catalog
        found = {one.oid for one in publications_of(catalog, former)}
        found.update(
            catalog.publication_namespaces[entry].publication
            for entry in catalog.schema_publications.get(former.namespace)
        )
        if former.partition:
            above = catalog.relations.get(former.parents[0])
            if above is not None:
                found.update(one.oid for one in publications_of(catalog, above) if not _out(catalog, one.oid, above))
        else:
            found -= {oid for oid in found if _out(catalog, oid, former)}
        return found

    def _columns_added(self, former: Relation, row: Relation, columns: dict[str, int]) -> None:
        known = {column.number for column in former.live()}
        for column in row.live():
            if column.number not in known and column.name in columns:
                place = self.session.place(columns[column.name])
                self.added.append(Added(row.oid, column.number, place))

    def _parents(self, former: Relation, row: Relation) -> None:
        catalog = self.session.catalog
        parent = next(iter(row.parents or former.parents), 0)
        if not former.partition and not row.partition:
            if set(row.parents) - set(former.parents):
                self.inherited[row.oid] = self._place(row.oid)
            return
        if former.partition and catalog.memberships.has(row.oid):
            self.detached[row.oid] = former.parents[0]
        before = self._before(former)
        after = {one.oid for one in publications_of(catalog, row) if not _out(catalog, one.oid, row)}
        place = self._place(row.oid)
        if row.partition and after - before:
            self.moved.append(Moved(row.oid, tuple(sorted(after - before)), place, "attached", parent))
        elif not row.partition and before - after:
            self.moved.append(Moved(row.oid, tuple(sorted(before - after)), place, "detached", parent))


def _bares(entry: PublicationRel, row: PublicationRel) -> bool:
    """Whether a membership lacks the filter or the list of the one before it."""
    return (entry.filter is not None and row.filter is None) or (entry.columns is not None and row.columns is None)


_ONLY = re.compile(rb"\bONLY\s*\(?\s*\Z", re.IGNORECASE)
_LOOK_BACK = 100
"""Bytes before a table's name in which ONLY is looked for: a statement can name thousands of tables."""


def _added_columns(node: Node) -> dict[str, int]:
    """The columns that an ALTER TABLE adds, and where they are named."""
    found: dict[str, int] = {}
    for item in node.get("cmds", ()):
        command = item["AlterTableCmd"]
        if command["subtype"] == "AT_AddColumn":
            definition = command["def"]["ColumnDef"]
            found[definition["colname"]] = definition.get("location", 0)
    return found


# What it comes to.


def _still_out(catalog: Catalog, publication: int, relation: int) -> bool:
    """Whether a publication and a table are both there, and the one does not send the other."""
    if publication not in catalog.publications or relation not in catalog.relations:
        return False
    row = catalog.relations[relation]
    return not is_publishable(row) or _out(catalog, publication, row)


def _out(catalog: Catalog, publication: int, row: Relation) -> bool:
    return arrival(catalog, catalog.publications[publication], row) is None


def set_drops_members(ground: Ground) -> Iterator[Finding]:
    """ALTER PUBLICATION ... SET with less than there was: other members leave, filters and lists are taken off."""
    catalog, history = ground.catalog, ground.history
    groups: dict[tuple[int, Place], list[Taken]] = {}
    for taken in history.taken:
        if taken.by == "set" and _still_out(catalog, taken.entry.publication, taken.entry.relation):
            groups.setdefault((taken.entry.publication, taken.place), []).append(taken)
    for (oid, place), found in groups.items():
        publication = catalog.publications[oid]
        names = [ground.name(catalog.relations[one.entry.relation]) for one in found]
        way = f"name all members in SET; or ALTER PUBLICATION {identifier(publication.name)} ADD TABLE ..., which "
        way += "leaves the others alone; DROP TABLE ... says that they are meant to go"
        if _sets_one(catalog, oid, place):
            way += "; an ADD TABLE that may run again stands in a DO block with EXCEPTION WHEN duplicate_object"
        yield Finding(
            rule="set-drops-members",
            message=f'{listed(names, "table")} {_is(names)} no longer in publication "{publication.name}": SET '
            "replaces the whole list",
            help=way,
            place=place,
            certain=publication.seen,
            related=others([(one.entry.place, "was made a member here") for one in found]),
            object=ground.session.qualified(catalog.relations[found[0].entry.relation]),
            also=ground.qualified(catalog.relations[one.entry.relation] for one in found)[1:],
            publications=(publication.name,),
        )
    yield from _schemas_dropped(ground)
    yield from _bared(ground)
    told = {place for _, place in groups}
    for oid, place in history.blind_sets.items():
        if place not in told and oid in catalog.publications and not catalog.publications[oid].seen:
            yield _members_elsewhere(catalog.publications[oid], place)


def _sets_one(catalog: Catalog, publication: int, place: Place) -> bool:
    """Whether what SET names is one table: perhaps it is an ADD that was meant to run twice."""
    members = [catalog.publication_rels[member].place for member in catalog.members_of.get(publication)]
    here = [one for one in members if (one.source, one.statement) == (place.source, place.statement)]
    return len(here) == 1


def _members_elsewhere(publication: Publication, place: Place) -> Finding:
    return Finding(
        rule="set-drops-members",
        message=f'SET replaces the whole list of publication "{publication.name}", which these files do not make: '
        "members that it has from elsewhere leave it",
        help=f"ALTER PUBLICATION {identifier(publication.name)} ADD TABLE ..., unless SET names all members there are",
        place=place,
        certain=False,
        publications=(publication.name,),
        severity="note",
    )


def _schemas_dropped(ground: Ground) -> Iterator[Finding]:
    catalog = ground.catalog
    for former, place in ground.history.schemas_taken:
        if former.publication not in catalog.publications or former.namespace not in catalog.namespaces:
            continue
        if (former.publication, former.namespace) in catalog.schema_members:
            continue
        publication = catalog.publications[former.publication]
        name = catalog.namespaces[former.namespace].name
        yield Finding(
            rule="set-drops-members",
            message=f'schema {name} is no longer in publication "{publication.name}": SET replaces the whole list, '
            "schemas and tables alike",
            help=f"name all members in SET; or ALTER PUBLICATION {identifier(publication.name)} ADD ..., which leaves "
            "the others alone",
            place=place,
            certain=publication.seen,
            related=((former.place, "was made a member here"),),
            publications=(publication.name,),
        )


def _bared(ground: Ground) -> Iterator[Finding]:
    catalog = ground.catalog
    for entry, place, how in ground.history.bared:
        member = catalog.members.get((entry.publication, entry.relation))
        if member is None or entry.publication not in catalog.publications:
            continue
        row = catalog.publication_rels[member]
        lost = ["row filter"] if entry.filter is not None and row.filter is None else []
        lost += ["column list"] if entry.columns is not None and row.columns is None else []
        if not lost:
            continue
        publication, relation = catalog.publications[entry.publication], catalog.relations[entry.relation]
        what = "rows and columns" if len(lost) > 1 else "rows" if lost[0] == "row filter" else "columns"
        yield Finding(
            rule="set-drops-members",
            message=f'{ground.name(relation)} loses its {" and its ".join(lost)} in "{publication.name}": '
            f"{_BARES[how]} without, and all {what} are sent from here on",
            help=f"write the filter and the list again{', in SET, which replaces all of them' if how == 'set' else ''}",
            place=place,
            certain=publication.seen and relation.seen,
            related=((entry.place, f"had {'both' if len(lost) > 1 else 'it'} here"),),
            object=ground.session.qualified(relation),
            publications=(publication.name,),
            severity=None if how == "set" else "note",
        )


_BARES = {"set": "SET names it", "added": "it is dropped and added again"}


def cascade_unpublishes(ground: Ground) -> Iterator[Finding]:
    """CASCADE takes a table out of a publication whose filter or list uses what is dropped."""
    catalog = ground.catalog
    for taken in ground.history.taken:
        entry = taken.entry
        if taken.by != "cascade" or not _still_out(catalog, entry.publication, entry.relation):
            continue
        publication, relation = catalog.publications[entry.publication], catalog.relations[entry.relation]
        used = "row filter" if entry.columns is None else "column list" if entry.filter is None else "filter or list"
        yield Finding(
            rule="cascade-unpublishes",
            message=f'CASCADE takes {ground.name(relation)} out of publication "{publication.name}", whose {used} uses '
            "what is dropped: its changes are no longer sent",
            help=f"change the publication first: ALTER PUBLICATION {identifier(publication.name)} SET TABLE with the "
            "whole list, this table without the column; then drop it without CASCADE",
            place=taken.place,
            certain=publication.seen and relation.seen,
            related=((entry.place, "was published with it"),),
            object=ground.session.qualified(relation),
            publications=(publication.name,),
        )


def no_longer_published(ground: Ground) -> Iterator[Finding]:
    """A name that stands for another table now, and tables that left a published schema or became unlogged."""
    catalog = ground.catalog
    for (schema, name), former in ground.history.former_names.items():
        oid = catalog.relation_names.get((catalog.namespace_names.get(schema, 0), name))
        if oid is None or oid == former.oid or catalog.relations[oid].kind not in "rp":
            continue
        relation = catalog.relations[oid]
        lost = [catalog.publications[one].name for one in former.publications if _still_out(catalog, one, oid)]
        if not lost:
            continue
        word = "dropped and made anew" if former.what == "dropped" else "another table now: the former one was renamed"
        yield Finding(
            rule="no-longer-published",
            message=f"{ground.name(relation)} is {word}, and not in {listed(quoted(lost), 'publication')}: a "
            "publication knows its tables, not their names",
            help=f"ALTER PUBLICATION {identifier(lost[0])} ADD TABLE {qualified(ground.name(relation))}; "
            "subscribers then REFRESH PUBLICATION",
            place=relation.place or former.place,
            certain=relation.seen,
            related=((former.place, f"the published table was {former.what} here"),),
            object=ground.session.qualified(relation),
            publications=tuple(lost),
        )
    yield from _schemas_made_anew(ground)
    for moved in ground.history.moved:
        if moved.by not in ("schema", "unlogged") or moved.relation not in catalog.relations:
            continue
        relation = catalog.relations[moved.relation]
        lost = [catalog.publications[one].name for one in moved.publications if _still_out(catalog, one, relation.oid)]
        if not lost:
            continue
        add = f"ALTER PUBLICATION {identifier(lost[0])} ADD TABLE {qualified(ground.name(relation))}"
        if moved.by == "schema":
            message = f"{ground.name(relation)} leaves {listed(quoted(lost), 'publication')} with its schema: its "
            message += "changes are no longer sent"
            way = f"{add}, or its new schema"
        else:
            message = f"{ground.name(relation)} is unlogged now, and {listed(quoted(lost), 'publication')} no longer "
            message += f"send{'s' if len(lost) == 1 else ''} its changes; only a member named by itself is protected"
            way = "leave it logged, or do not count on the subscriber's copy"
        yield Finding(
            rule="no-longer-published",
            message=message,
            help=way,
            place=moved.place,
            certain=relation.seen and any(catalog.publications[catalog.publication_names[one]].seen for one in lost),
            object=ground.session.qualified(relation),
            publications=tuple(lost),
        )


def _schemas_made_anew(ground: Ground) -> Iterator[Finding]:
    """A schema that was published, dropped and made anew, with tables that the publications do not have."""
    catalog = ground.catalog
    for name, former in ground.history.events.schemas.items():
        schema = catalog.namespaces.get(catalog.namespace_names.get(name, 0))
        if schema is None or schema.oid == former.row.oid:
            continue
        tables = [catalog.relations[oid] for oid in catalog.relations_in.get(schema.oid)]
        tables = [row for row in tables if is_publishable(row)]
        rows = [catalog.publications[oid] for oid in former.publications if oid in catalog.publications]
        rows = [row for row in rows if any(_out(catalog, row.oid, table) for table in tables)]
        if not rows:
            continue
        lost = [row.name for row in rows]
        yield Finding(
            rule="no-longer-published",
            message=f"schema {name} is {_ANEW[former.what]}, and not in {listed(quoted(lost), 'publication')}: its "
            "tables are no longer sent",
            help=f"ALTER PUBLICATION {identifier(lost[0])} ADD TABLES IN SCHEMA {identifier(name)}; subscribers then "
            "REFRESH PUBLICATION",
            place=former.place,
            certain=schema.seen and any(row.seen for row in rows),
            publications=tuple(lost),
        )


_ANEW = {"dropped": "dropped and made anew", "renamed": "another one now: the former one was renamed"}


def columns_beside_lists(ground: Ground) -> Iterator[Finding]:
    """Columns added to a table that is published with a column list."""
    catalog = ground.catalog
    groups: dict[int, list[tuple[PublicationRel, Added, str]]] = {}
    for added in ground.history.added:
        relation = catalog.relations.get(added.relation)
        # It may be rolled back, or dropped again.
        if relation is None or len(relation.columns) < added.column or relation.columns[added.column - 1].dropped:
            continue
        column = relation.columns[added.column - 1]
        for member in catalog.memberships.get(relation.oid):
            entry = catalog.publication_rels[member]
            if entry.columns is None or added.column in entry.columns or order(entry.place) > order(added.place):
                continue
            groups.setdefault(entry.oid, []).append((entry, added, column.name))
    for found in groups.values():
        entry, first, _ = found[0]
        relation, publication = catalog.relations[entry.relation], catalog.publications[entry.publication]
        names = [name for _, _, name in found]
        new = {added.column for _, added, _ in found}
        whole = {column.number for column in relation.live()} - new <= set(entry.columns or ())
        list_place = entry.column_places[0][1] if entry.column_places else entry.place
        yield Finding(
            rule="added-column-not-published",
            message=f"{listed(quoted(names), 'column')} of {ground.name(relation)} {_is(names)} not sent: the column "
            f'list of publication "{publication.name}" {"named all columns until then" if whole else "lacks it"}',
            help=f"ALTER PUBLICATION {identifier(publication.name)} SET TABLE with the whole list of members, this "
            "table's columns with the new one; add it on the subscriber first",
            place=first.place,
            certain=publication.seen and relation.seen,
            related=((list_place, "the column list"),),
            object=ground.session.qualified(relation),
            publications=(publication.name,),
            severity=None if whole else "note",
        )


def partitions_moved(ground: Ground) -> Iterator[Finding]:
    """ATTACH brings rows that were never sent, DETACH ends publication."""
    catalog = ground.catalog
    for moved in ground.history.moved:
        relation = catalog.relations.get(moved.relation)
        if relation is None or moved.by not in ("attached", "detached") or not is_publishable(relation):
            continue
        rows = [catalog.publications[oid] for oid in moved.publications if oid in catalog.publications]
        parent = catalog.relations.get(moved.parent)
        above = ground.name(parent) if parent is not None else "its root"
        if moved.by == "detached":
            rows = [row for row in rows if _still_out(catalog, row.oid, relation.oid)]
            message = "{table} is no longer published by {publications}: it was so as a partition of {above} only"
            way = "ALTER PUBLICATION ... ADD TABLE, if its changes are still to be sent"
            severity: Any = "note"
        else:
            rows = [row for row in rows if relation.partition and arrival(catalog, row, relation) is not None]
            # A table made since is taken to be empty.
            rows = [row for row in rows if _older(ground, relation, row)]
            by_root = [row for row in rows if row.via_root]
            rows, severity = (by_root, None) if by_root else (rows, "note")
            message = "rows that {table} holds when it is attached to {above} are not sent by {publications}"
            if by_root:
                message += ", nor copied later: for a subscriber, {above} is copied already"
                way = "copy them to the subscriber by hand, or attach an empty table and INSERT them"
            else:
                message += ", until subscribers REFRESH PUBLICATION, which copies them"
                way = "make the partition on the subscriber, then ALTER SUBSCRIPTION ... REFRESH PUBLICATION"
        if not rows:
            continue
        names = [row.name for row in rows]
        fields = {
            "table": ground.name(relation),
            "above": above,
            "publications": listed(quoted(names), "publication"),
        }
        yield Finding(
            rule="partition-attached-or-detached",
            message=message.format_map(fields),
            help=way,
            place=moved.place,
            certain=relation.seen and any(row.seen for row in rows),
            related=others([(place, f'publication "{row.name}"') for row in rows if (place := ground.place_of(row))]),
            object=ground.session.qualified(relation),
            publications=tuple(names),
            severity=severity,
        )


def _older(ground: Ground, relation: Relation, publication: Publication) -> bool:
    """Whether a table was there before a publication."""
    made = ground.place_of(publication)
    return relation.place is None or not relation.seen or made is None or order(relation.place) < order(made)


def _is(names: list[str]) -> str:
    return "is" if len(set(names)) == 1 else "are"
