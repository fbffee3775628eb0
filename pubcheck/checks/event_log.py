"""Past changes that the final state does not show, for the rules about a unit's history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from pubcheck.postgres.catalog.rows import (
    Constraint,
    Index,
    Namespace,
    Place,
    Publication,
    PublicationExclusion,
    PublicationNamespace,
    PublicationRel,
    Relation,
)
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session


class Narrowed(Struct, frozen=True, gc=False):
    """Whether a membership had a row filter and a column list when it began."""

    filter: bool
    columns: bool


class FormerPublication(Struct, gc=False):
    """A publication that was dropped or renamed, with what it held then, and the one that took its name afterwards.

    ``since`` is where that one did.
    """

    row: Publication
    entries: Sequence[PublicationRel]
    schemas: Sequence[PublicationNamespace]
    place: Place
    fate: Literal["dropped", "renamed"] = "dropped"
    successor: Publication | None = None
    since: Place | None = None
    options: frozenset[str] = frozenset()
    """The options that the new publication's CREATE sets explicitly."""


class FormerSchema(Struct, frozen=True, gc=False):
    """A schema that was dropped or renamed, and the publications that had it."""

    row: Namespace
    publications: tuple[int, ...]
    place: Place
    fate: Literal["dropped", "renamed"] = "dropped"


class Events:
    """Notes of one major's history; ``change`` takes the entries of the journal, ``finish`` ends a statement."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.former: list[FormerPublication] = []
        self.began: dict[tuple[int, int], Narrowed] = {}
        """Every membership that a publication made again ever had, by publication and relation."""
        self.schemas: dict[str, FormerSchema] = {}
        self.references: dict[int, Place] = {}
        """The places where foreign keys were added after the first publication, by constraint."""
        self.unidentified: dict[int, Place] = {}
        """The places where the index of a replica identity was dropped, by relation."""
        self.namespaces: dict[int, Namespace] = {}
        """The schemas that the current statement dropped."""
        # Of the current statement: the publications it dropped, and the members that it ended, by publication.
        self._publications: list[Publication] = []
        self._renamed: list[tuple[Publication, Publication]] = []
        self._indexes: list[Index] = []
        self._entries: dict[int, list[PublicationRel]] = {}
        self._schemas: dict[int, list[PublicationNamespace]] = {}
        self._awaiting_successor: dict[str, FormerPublication] = {}
        self._successors: set[int] = set()
        self._options: dict[int, frozenset[str]] = {}
        """The options that the CREATE of each publication sets."""

    def change(self, heap: dict[Any, Any], key: Any, former: Any) -> None:
        """Any change of the journal; which of them matter is seen by their rows."""
        row = heap.get(key)
        if isinstance(former, Publication):
            if row is None:
                self._publications.append(former)
            elif row.name != former.name:
                self._renamed.append((former, row))
        elif isinstance(row, Publication):
            self._created(row)
        elif isinstance(row, PublicationRel):
            if row.publication in self._successors and not isinstance(former, PublicationRel):
                begins = Narrowed(row.filter is not None, row.columns is not None)
                self.began.setdefault((row.publication, row.relation), begins)
        elif isinstance(former, PublicationRel):
            self._entries.setdefault(former.publication, []).append(former)
        elif isinstance(former, PublicationNamespace):
            if row is None:
                self._schemas.setdefault(former.publication, []).append(former)
        elif isinstance(row, Constraint):
            if row.kind == "f" and not isinstance(former, Constraint):
                self.references[row.oid] = self.session.place(self.session.mentions.get(row.relation, 0))
        elif isinstance(former, Index):
            if row is None and former.identity:
                self._indexes.append(former)
        elif isinstance(former, Namespace):
            if row is None:
                self.namespaces[former.oid] = former
            elif row.name != former.name:
                self._schema_renamed(former)

    def finish(self, name: str, node: Node, relations: Mapping[int, Any]) -> None:
        """End a statement after all its changes.

        ``name`` and ``node`` are its parse tree, ``relations`` has the
        former rows of the relations that it changed.
        """
        for publication in self._publications:
            self._dropped(publication)
        for index in self._indexes:
            self.unidentified[index.table] = self._of_index(index, relations.get(index.oid))
        if self.namespaces:
            ended = [entry for entries in self._schemas.values() for entry in entries]
            for oid, namespace in self.namespaces.items():
                had = tuple(entry.publication for entry in ended if entry.namespace == oid)
                self.schemas[namespace.name] = FormerSchema(namespace, had, self.named(namespace.name))
        for former, row in self._renamed:
            self._called_otherwise(former, row)
        if name == "CreatePublicationStmt" and "options" in node:
            self._keep_options(node)
        self._publications.clear()
        self._renamed.clear()
        self._indexes.clear()
        self._entries.clear()
        self._schemas.clear()
        self.namespaces.clear()

    def _schema_renamed(self, former: Namespace) -> None:
        catalog = self.session.catalog
        entries = (catalog.publication_namespaces[oid] for oid in catalog.schema_publications.get(former.oid))
        had = tuple(entry.publication for entry in entries)
        self.schemas[former.name] = FormerSchema(former, had, self.named(former.name), "renamed")

    def _of_index(self, index: Index, former: Any) -> Place:
        """Return where a statement names an index that it drops, or else its table."""
        start = self.session.find_name(former.name) if isinstance(former, Relation) else None
        return self.session.place(self.session.mentions.get(index.table, 0) if start is None else start)

    def named(self, name: str) -> Place:
        """Return where the current statement names an object, or its beginning."""
        start = self.session.find_name(name)
        return self.session.place(start or 0, len(name.encode()) if start is not None else 0)

    def _dropped(self, row: Publication) -> None:
        entries, schemas = self._entries.pop(row.oid, ()), self._schemas.pop(row.oid, ())
        former = FormerPublication(row, entries, schemas, self.named(row.name))
        self.former.append(former)
        self._awaiting_successor[row.name] = former

    def _called_otherwise(self, former: Publication, row: Publication) -> None:
        """A publication that gives up a name, and perhaps takes that of another one."""
        catalog = self.session.catalog
        entries = [catalog.publication_rels[oid] for oid in catalog.members_of.get(row.oid)]
        schemas = [catalog.publication_namespaces[oid] for oid in catalog.schemas_of.get(row.oid)]
        predecessor = self._awaiting_successor.get(row.name)
        if predecessor is not None and predecessor.row.oid == row.oid:
            return  # it is called again as it was
        left = FormerPublication(former, entries, schemas, self.named(former.name), "renamed")
        self.former.append(left)
        self._awaiting_successor[former.name] = left
        if predecessor is not None:
            predecessor.successor, predecessor.since = row, self.named(row.name)
            predecessor.options = self._options.get(row.oid, frozenset())
            self._successors.add(row.oid)
            for entry in entries:
                begins = Narrowed(entry.filter is not None, entry.columns is not None)
                self.began.setdefault((row.oid, entry.relation), begins)

    def _created(self, row: Publication) -> None:
        former = self._awaiting_successor.get(row.name)
        if former is not None:
            former.successor, former.since = row, row.place
            self._successors.add(row.oid)

    def _keep_options(self, node: Node) -> None:
        oid = self.session.catalog.publication_names.get(node["pubname"])
        if oid is not None:
            options = frozenset(item["DefElem"]["defname"].lower() for item in node["options"])
            self._options[oid] = options
            if node["pubname"] in self._awaiting_successor:
                self._awaiting_successor[node["pubname"]].options = options


# What a unit's statements did to publications for all tables and their EXCEPT, and to members that MERGE PARTITIONS or
# SPLIT PARTITION replaced (19).

_REPLACING = ("AT_MergePartitions", "AT_SplitPartition")


class ExcludedName(Struct, frozen=True):
    """A name in EXCEPT: the table that had it then, and whether only that table was meant, not its children."""

    relation: int
    place: Place
    only: bool


class ReplacedKinds(Struct, frozen=True):
    """An ALTER PUBLICATION ... SET ALL: whether it ended ALL TABLES or ALL SEQUENCES, and ended exclusions."""

    publication: int
    tables: bool
    sequences: bool
    ended: tuple[PublicationExclusion, ...]
    place: Place


class ReplacedPartitions(Struct, frozen=True):
    """Memberships of partitions that a statement replaced by other tables, with the former names of the partitions."""

    members: tuple[tuple[PublicationRel, str], ...]
    new: tuple[int, ...]
    place: Place


class AllTablesLog:
    """The statements of one session, one after the other."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.names: dict[tuple[int, str, str], ExcludedName] = {}
        """By publication, schema and name."""
        self.detached: dict[int, tuple[int, Place]] = {}
        """The excluded partitioned table from which a table was detached last, and where."""
        self.replaced: list[ReplacedKinds] = []
        self.partitions: list[ReplacedPartitions] = []

    def __bool__(self) -> bool:
        return bool(self.names or self.replaced or self.partitions)

    def exclusion(self, row: PublicationExclusion) -> None:
        """Note a table that EXCEPT leaves out now."""
        catalog = self.session.catalog
        table = catalog.relations[row.relation]
        schema = catalog.namespaces[table.namespace].name
        children = [oid for oid in catalog.children.get(table.oid) if table.kind == "r"]
        only = any((row.publication, child) not in catalog.exclusions for child in children)
        self.names[row.publication, schema, table.name] = ExcludedName(table.oid, row.place, only)

    def detach(self, former: Relation, row: Relation, place: Place) -> None:
        """Note a table that is a partition of an excluded table no longer."""
        catalog, parent = self.session.catalog, former.parents[0]
        if not former.partition or row.partition or parent not in catalog.relations:
            return
        root = (parent, *catalog.ancestors(parent))[-1]
        if catalog.excluded_from.has(root):
            self.detached[row.oid] = root, place

    def set_all(self, former: Publication, ended: Sequence[PublicationExclusion], place: Place) -> None:
        """Note that SET ALL took a kind off a publication, or tables out of its EXCEPT."""
        row = self.session.catalog.publications.get(former.oid)
        if row is None:
            return
        for exclusion in ended:
            for key in [key for key, name in self.names.items() if name.relation == exclusion.relation]:
                if key[0] == exclusion.publication:
                    del self.names[key]
        tables = former.all_tables and not row.all_tables
        sequences = former.all_sequences and not row.all_sequences
        if tables or sequences or ended:
            self.replaced.append(ReplacedKinds(former.oid, tables, sequences, tuple(ended), place))

    def replace_partitions(
        self, node: Node, ended: Sequence[PublicationRel], relations: dict[int, Any], place: Place
    ) -> None:
        """Note the memberships that MERGE PARTITIONS or SPLIT PARTITION ended."""
        commands = [item["AlterTableCmd"]["subtype"] for item in node.get("cmds", ())]
        if not ended or not any(command in _REPLACING for command in commands):
            return
        names = {oid: former.name for oid, former in relations.items() if isinstance(former, Relation)}
        rows = self.session.catalog.relations
        new = [oid for oid, former in relations.items() if not isinstance(former, Relation) and oid in rows]
        members = [(entry, names[entry.relation]) for entry in ended if entry.relation in names]
        self.partitions.append(ReplacedPartitions(tuple(members), tuple(new), place))
