"""What a unit's statements did to publications for all tables and their EXCEPT, and to members that MERGE PARTITIONS or
SPLIT PARTITION replaced (19).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from pubcheck.postgres.catalog.rows import Place, Publication, PublicationExclusion, PublicationRel, Relation
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session

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
