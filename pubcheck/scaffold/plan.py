"""The statements of a scaffold: replica identities for the tables, and one publication."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pubcheck.checks.consumers.keys import identity_kind, is_suitable, key_kinds, primary_key
from pubcheck.checks.consumers.readers import matches
from pubcheck.checks.silent.toast import can_be_toasted
from pubcheck.consumers.demands import IdentityKind
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.identifiers import identifier
from pubcheck.postgres.replication.publication_lookup import is_publishable
from pubcheck.postgres.session import Session
from pubcheck.scaffold.wishes import OPERATIONS, Wishes

_EXISTING: frozenset[IdentityKind] = frozenset(("default", "index", "full"))

_KINDS = {
    "v": "a view",
    "m": "a materialized view",
    "S": "a sequence",
    "f": "a foreign table",
    "i": "an index",
    "I": "an index",
    "c": "a type",
}


class Plan:
    """A publication for the tables of a schema. ``name`` is that of the publication, the consumer's own if empty."""

    def __init__(self, session: Session, wishes: Wishes, name: str = "") -> None:
        self.session, self.catalog, self.wishes = session, session.catalog, wishes
        self.name = name or wishes.name

    def candidates(self, patterns: Sequence[str]) -> list[Relation]:
        """Return the tables that the patterns name, with partitions if these must be named themselves."""
        rows = [row for row in self.catalog.relations.values() if is_publishable(row) and row.seen]
        chosen = [row for row in rows if not patterns or matches(patterns, self.session.qualified(row))]
        if self.wishes.leaves_only:
            oids = {row.oid for row in chosen}
            leaves = [row for row in rows if row.kind == "r"]
            return [row for row in leaves if row.oid in oids or not oids.isdisjoint(self.catalog.ancestors(row.oid))]
        roots = {row.oid for row in chosen if row.kind == "p"}
        return [row for row in chosen if roots.isdisjoint(self.catalog.ancestors(row.oid))]

    def why_unmatched(self, pattern: str) -> str:
        """Return why a pattern names no table that can be published."""
        rows = [row for row in self.catalog.relations.values() if row.kind in _KINDS or not is_publishable(row)]
        row = next((row for row in rows if matches([pattern], self.session.qualified(row))), None)
        if row is None:
            return f"there is no table {pattern}"
        kind = _KINDS.get(row.kind) or {"u": "an unlogged table", "t": "a temporary table"}.get(row.persistence)
        return f"{self.session.qualified(row)} is {kind or 'a relation'}, which cannot be published"

    def statements(self, tables: Sequence[Relation]) -> list[str]:
        """Return the statements, in the order in which they are to run."""
        created, required = self._required()
        members = [self._written(row) for row in tables if row.kind != "p" or self._has_leaves(row)]
        members += [name for name in required if name not in members]
        identities = [text for row in tables for text in self._identities(row)]
        identities += [
            text
            for setup, name in zip(created, required, strict=False)
            if setup and any("full" in wish.allow and "default" not in wish.allow for wish in self.wishes.identities)
            for text in (f"ALTER TABLE {name} REPLICA IDENTITY FULL",)
        ]
        setup = [text for texts in created for text in texts]
        return [*setup, *identities, self._publication(tables, members)]

    def _has_leaves(self, root: Relation) -> bool:
        return any(True for _ in self.catalog.descendants(root.oid))

    def _required(self) -> tuple[list[tuple[str, ...]], list[str]]:
        """Return the statements that create the tables which the consumer needs, and the names of these tables."""
        created: list[tuple[str, ...]] = []
        names: list[str] = []
        for pattern, setup in self.wishes.required.items():
            rows = [row for row in self.catalog.relations.values() if is_publishable(row)]
            rows = [row for row in rows if matches([pattern], self.session.qualified(row))]
            created.append(() if rows else setup)
            names.append(self._written(rows[0]) if rows else pattern)
        return created, names

    def _written(self, relation: Relation) -> str:
        """Return the name of a table with its schema, as any session finds it."""
        schema = self.catalog.namespaces[relation.namespace].name
        return f"{identifier(schema)}.{identifier(relation.name)}"

    def _publication(self, tables: Sequence[Relation], members: Sequence[str]) -> str:
        text = f"CREATE PUBLICATION {identifier(self.name)}"
        if self.wishes.scope == "all tables":
            text += " FOR ALL TABLES"
        elif self.wishes.scope == "schemas":
            schemas = dict.fromkeys(self.catalog.namespaces[row.namespace].name for row in tables)
            text += f" FOR TABLES IN SCHEMA {', '.join(map(identifier, schemas))}"
        else:
            text += " FOR TABLE\n    " + ",\n    ".join(members)
        options = self._options(tables)
        return f"{text}\n    WITH ({', '.join(options)})" if options else text

    def _options(self, tables: Iterable[Relation]) -> list[str]:
        options = []
        if self.wishes.operations != OPERATIONS:
            options.append(f"publish = '{', '.join(self.wishes.operations)}'")
        if self.wishes.via_root and any(row.kind == "p" for row in tables):
            options.append("publish_via_partition_root = true")
        generated = any(column.generated == "s" for row in tables for column in row.live())
        if generated and self.wishes.publishes_generated and self.catalog.major.publish_generated_columns:
            options.append("publish_generated_columns = stored")
        return options

    # Replica identities.

    def _identities(self, table: Relation) -> list[str]:
        """Return the statements that give a table, or its partitions, an identity that the consumer takes."""
        rows = [table]
        if table.kind == "p":
            below = [self.catalog.relations[oid] for oid in self.catalog.descendants(table.oid)]
            rows = [*([table] if self._on_roots() else ()), *(row for row in below if row.kind == "r")]
        return [text for row in dict.fromkeys(rows) for text in self._identity(row)]

    def _on_roots(self) -> bool:
        """Return whether the partitioned table needs the identity too: it is read, or changes have its name."""
        return bool(self.wishes.via_root) or any("roots" in wish.on for wish in self.wishes.identities)

    def _identity(self, table: Relation) -> list[str]:
        present = identity_kind(self.catalog, table)
        allowed = set(_EXISTING)
        for wish in self.wishes.identities:
            if not wish.toastable or self._is_toastable(table):
                allowed &= wish.allow
        keys = self.wishes.keys
        if present in allowed and all(not key_kinds(self.catalog, table).isdisjoint(accept) for accept in keys):
            return []
        name = self._written(table)
        needs_key = any(key_kinds(self.catalog, table).isdisjoint(accept) for accept in keys)
        if "default" in allowed and primary_key(self.catalog, table) and not needs_key:
            return [f"ALTER TABLE {name} REPLICA IDENTITY DEFAULT"]
        index = self._suitable_index(table)
        if "index" in allowed and index and all("identity index" in accept for accept in keys if needs_key):
            return [f"ALTER TABLE {name} REPLICA IDENTITY USING INDEX {identifier(index)}"]
        if "full" in allowed:
            return [f"ALTER TABLE {name} REPLICA IDENTITY FULL"]
        return []

    def _suitable_index(self, table: Relation) -> str:
        """Return the name of an index that can be the replica identity, "" if there is none."""
        for oid in self.catalog.indexes_of.get(table.oid):
            if is_suitable(self.catalog.indexes[oid], table):
                return self.catalog.relations[oid].name
        return ""

    def _is_toastable(self, table: Relation) -> bool:
        try:
            return any(can_be_toasted(self.session.syscache, column) for column in table.live())
        except Unknowable:
            return True
