"""PostgreSQL's system catalogs in memory: rows by oid, names, dependencies. Knows no statements, applies no rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec.structs import replace

from pubcheck.postgres.catalog.journaled_dict import Heap
from pubcheck.postgres.catalog.rows import (
    OPERATOR_CLASSES,
    Constraint,
    Index,
    Namespace,
    Operator,
    OtherObject,
    Publication,
    PublicationRel,
    Relation,
    Role,
    Subscription,
    Type,
)
from pubcheck.postgres.catalog.tables import (
    AUTO,
    CAST,
    COLLATION,
    CONSTRAINT,
    DATABASE_OWNER,
    DEFAULT,
    EXTENSION,
    FIRST_GENERATED,
    FIRST_NORMAL_OID,
    FIRST_UNPINNED,
    INFORMATION_SCHEMA,
    INTERNAL,
    NAMESPACE,
    NORMAL,
    OPERATOR,
    OTHER,
    PARTITION,
    PG_CATALOG,
    PG_TOAST,
    PROC,
    PUBLIC,
    PUBLICATION,
    PUBLICATION_EXCLUSION,
    PUBLICATION_NAMESPACE,
    PUBLICATION_REL,
    REGISTERS,
    RELATION,
    ROLE,
    ROWS,
    SUPERUSER,
    TEMPORARY,
    TYPE,
    CatalogTables,
    Object,
    Registered,
)

__all__ = [
    "AUTO",
    "CAST",
    "COLLATION",
    "CONSTRAINT",
    "DATABASE_OWNER",
    "DEFAULT",
    "EXTENSION",
    "FIRST_GENERATED",
    "FIRST_NORMAL_OID",
    "FIRST_UNPINNED",
    "INFORMATION_SCHEMA",
    "INTERNAL",
    "NAMESPACE",
    "NORMAL",
    "OPERATOR",
    "OTHER",
    "PARTITION",
    "PG_CATALOG",
    "PG_TOAST",
    "PROC",
    "PUBLIC",
    "PUBLICATION",
    "PUBLICATION_EXCLUSION",
    "PUBLICATION_NAMESPACE",
    "PUBLICATION_REL",
    "RELATION",
    "ROLE",
    "SUPERUSER",
    "TEMPORARY",
    "TYPE",
    "Catalog",
    "Object",
]


R = TypeVar("R", bound=Registered)


class Catalog(CatalogTables):
    """All catalogs of one database of one major, with the methods that add and remove objects.

    Rows are immutable and replaced through ``put``; the journal undoes the changes of a refused statement or a rolled
    back transaction.
    """

    def __init__(self, major: int, database: str = "postgres", *, database_known: bool = True) -> None:
        super().__init__(major, database, database_known=database_known)
        for oid, name, owner in (
            (PG_CATALOG, "pg_catalog", SUPERUSER),
            (PG_TOAST, "pg_toast", SUPERUSER),
            (PUBLIC, "public", DATABASE_OWNER),
            (INFORMATION_SCHEMA, "information_schema", SUPERUSER),
        ):
            self.add(Namespace(oid, name, owner, acl=((0, "U"),), seen=True))
        self.add(Role(SUPERUSER, "postgres", superuser=True, seen=True))
        self.add(Role(DATABASE_OWNER, "pg_database_owner", seen=True))
        self.journal.clear()

    # Rows with their names and secondary indexes. Each pair adds and removes everything that belongs to the row.

    def holds_something(self) -> bool:
        """Return whether anything except roles was created."""
        return bool(self.relation_names or self.publications or self.types or self.procs)

    def share_roles(self, neighbour: Catalog) -> None:
        """Take over the roles and the names of databases from another database of the same server."""
        shared = ("roles", "role_names", "databases")
        for mine, theirs in ((getattr(self, name), getattr(neighbour, name)) for name in shared):
            mine.clear()
            mine.update(theirs)
        self._next_oid = max(self._next_oid, neighbour._next_oid)

    def add_relation(self, row: Relation) -> None:
        key = (row.namespace, row.name)
        self.relations.put(row.oid, row)
        self.relation_names.put(key, row.oid)
        self.relations_in.add(row.namespace, row.oid)
        for parent in row.parents:
            self.children.add(parent, row.oid)
        if self.gone:
            self.gone.remove((RELATION, *key))

    def remove_relation(self, row: Relation) -> None:
        key = (row.namespace, row.name)
        self.relations.remove(row.oid)
        self.relation_names.remove(key)
        self.relations_in.remove(row.namespace, row.oid)
        for parent in row.parents:
            self.children.remove(parent, row.oid)
        self.gone.put((RELATION, *key), True)

    def rename_relation(self, row: Relation, name: str, namespace: int) -> Relation:
        """The relation under another name or in another schema; its former name is then known to be gone."""
        former = (row.namespace, row.name)
        self.relation_names.remove(former)
        self.gone.put((RELATION, *former), True)
        new = replace(row, name=name, namespace=namespace)
        self.relations.put(row.oid, new)
        self.relation_names.put((namespace, name), row.oid)
        self.gone.remove((RELATION, namespace, name))
        if namespace != row.namespace:
            self.relations_in.remove(row.namespace, row.oid)
            self.relations_in.add(namespace, row.oid)
            for column in row.columns:
                if column.constraint is not None and column.not_null:
                    self.constraint_names.add((namespace, column.constraint.name), row.oid)
        return new

    def set_parents(self, row: Relation, parents: tuple[int, ...], **changes: Any) -> Relation:
        for parent in row.parents:
            if parent not in parents:
                self.children.remove(parent, row.oid)
        for parent in parents:
            self.children.add(parent, row.oid)
        new = replace(row, parents=parents, **changes)
        self.relations.put(row.oid, new)
        return new

    def add_index(self, row: Index) -> None:
        self.put_index(row)
        self.indexes_of.add(row.table, row.oid)

    def put_index(self, row: Index) -> None:
        self.indexes.put(row.oid, row)
        if row.primary or row.identity:
            self.key_indexes_of.add(row.table, row.oid)
        else:
            self.key_indexes_of.remove(row.table, row.oid)

    def _remove_relation_and_index(self, oid: int) -> None:
        self.remove_relation(self.relations[oid])
        index = self.indexes.get(oid)
        if index is not None:
            self.indexes.remove(oid)
            self.indexes_of.remove(index.table, oid)
            self.key_indexes_of.remove(index.table, oid)

    def add_constraint(self, row: Constraint) -> None:
        self.constraints.put(row.oid, row)
        self.constraints_of.add(row.relation, row.oid)
        self.constraint_names.add((self.relations[row.relation].namespace, row.name), row.oid)

    def _remove_constraint(self, oid: int) -> None:
        row = self.constraints[oid]
        self.constraints.remove(oid)
        self.constraints_of.remove(row.relation, oid)
        relation = self.relations.get(row.relation)
        if relation is not None:
            self.constraint_names.remove((relation.namespace, row.name), oid)

    def add_type_with_array(self, row: Type) -> Type:
        """Add a type and the array type over it."""
        array = self.array_type_name(row.namespace, row.name)
        row = replace(row, array=self.new_oid())
        self.add(row)
        self.add(
            Type(
                row.array,
                array,
                row.namespace,
                row.owner,
                "b",
                element=row.oid,
                seen=row.seen,
                category="A",
                collation=row.collation,
                subscript="a",
            )
        )
        self.depend((TYPE, row.array, 0), (TYPE, row.oid, 0), INTERNAL)
        return row

    def array_type_name(self, namespace: int, name: str) -> str:
        """makeArrayTypeName: '_x'; where that is taken '_x_1', '_x_2'..., before 16 '__x'...; cut to 63 bytes."""
        before, after, attempt = b"_", b"", 0
        while True:
            array = (before + name.encode())[: 63 - len(after)].decode(errors="ignore") + after.decode()
            if (namespace, array) not in self.type_names:
                return array
            attempt += 1
            if self.major.numbered_array_names:
                after = f"_{attempt}".encode()
            else:
                before += b"_"

    def row_type(self, relation: Relation) -> Type:
        """Return the composite type of a relation's rows; it is created on first use."""
        oid = self.type_names.get((relation.namespace, relation.name))
        if oid is not None and self.types[oid].relation == relation.oid:
            return self.types[oid]
        row = Type(
            self.new_oid(),
            relation.name,
            relation.namespace,
            relation.owner,
            "c",
            relation=relation.oid,
            category="C",
            seen=True,
        )
        row = self.add_type_with_array(row)
        self.depend((TYPE, row.oid, 0), (RELATION, relation.oid, 0), INTERNAL)
        return row

    def add_publication(self, row: Publication) -> None:
        self.add(row)
        self._note_all_tables(row)

    def put_publication(self, row: Publication) -> None:
        """Store a publication that may now be for all tables, or no longer."""
        self.publications.put(row.oid, row)
        self._note_all_tables(row)

    def _note_all_tables(self, row: Publication) -> None:
        if row.all_tables:
            self.publications_for_all.put(row.oid, None)
        else:
            self.publications_for_all.remove(row.oid)

    def add_publication_rel(self, row: PublicationRel) -> None:
        self.add(row)
        # publication_add_relation: dependencies on the columns of the filter and of the list are NORMAL ones.
        for number in (*(row.filter.columns if row.filter is not None else ()), *(row.columns or ())):
            self.depend((PUBLICATION_REL, row.oid, 0), (RELATION, row.relation, number), NORMAL)

    def put_subscription(self, row: Subscription) -> None:
        former = self.subscriptions.get(row.name)
        for publication, _ in () if former is None else former.publications:
            self.subscriptions_to.remove(publication, row.name)
        self.subscriptions.put(row.name, row)
        for publication, _ in row.publications:
            self.subscriptions_to.add(publication, row.name)

    def remove_subscription(self, name: str) -> None:
        for publication, _ in self.subscriptions[name].publications:
            self.subscriptions_to.remove(publication, name)
        self.subscriptions.remove(name)

    def rows_of(self, kind: str) -> Heap[int, Any]:
        """Return the rows of the objects of a class, by oid."""
        rows: Heap[int, Any] = getattr(self, ROWS[kind])
        return rows

    def add(self, row: Registered) -> None:
        """Enter an object other than a relation with its name, and in the groups that it belongs to."""
        register = REGISTERS[type(row)]
        self.rows_of(register.kind).put(row.oid, row)
        if register.names:
            getattr(self, register.names).put(register.key(row), row.oid)
        for groups, key in register.groups:
            getattr(self, groups).add(key(row), row.oid)
        if register.noted:
            self.gone.remove(register.gone(row))
        for kind, field in register.parts:
            self.depend((register.kind, row.oid, 0), (kind, getattr(row, field), 0), AUTO)

    def _leave(self, row: Registered) -> None:
        """Take an object out of the names and groups that ``add`` entered it in."""
        register = REGISTERS[type(row)]
        if register.names:
            names, name = getattr(self, register.names), register.key(row)
            if names.get(name) == row.oid:
                names.remove(name)
        for groups, key in register.groups:
            getattr(self, groups).remove(key(row), row.oid)
        if register.noted:
            self.gone.put(register.gone(row), True)

    def rename(self, row: R, **changes: Any) -> R:
        """Give an object other than a relation another name or schema, and return its new row."""
        self._leave(row)
        new = replace(row, **changes)
        self.add(new)
        return new

    def remove(self, kind: str, oid: int) -> None:
        """Delete one object with its name, its index entries and its own dependencies, but not its dependents."""
        if kind == RELATION:
            self._remove_relation_and_index(oid)
        elif kind == CONSTRAINT:
            self._remove_constraint(oid)
        elif kind in ROWS:
            row = self.rows_of(kind)[oid]
            self.rows_of(kind).remove(oid)
            self._leave(row)
            if kind in _AFTER_REMOVAL:
                _AFTER_REMOVAL[kind](self, row)
        self.forget_dependencies((kind, oid))

    def _forget_negator(self, row: Operator) -> None:
        negator = self.operators.get(row.negator)
        if negator is not None and negator.negator == row.oid:
            self.operators.put(negator.oid, replace(negator, negator=0))

    def _forget_classes(self, row: OtherObject) -> None:
        """Forget what a domain's constraint or an operator class had an effect on."""
        if row.kind == "constraint":
            self.check_domain(row.namespace)
        elif row.kind == "operator class":
            classes = self.settings.get(OPERATOR_CLASSES, ())
            if any(opclass.family == row.oid for opclass in classes):
                self.settings.put(OPERATOR_CLASSES, tuple(opclass for opclass in classes if opclass.family != row.oid))

    def check_domain(self, oid: int) -> None:
        """Update ``checked`` of a domain, and of the domains over it, after its own constraints changed."""
        row = self.types.get(oid)
        if row is None or row.kind != "d":
            return
        base = self.types.get(row.base)
        dependents = self.dependents.get((TYPE, oid))
        checked = self.has_check(oid)
        # The domains of information_schema have one, or are over a base type that has none.
        checked = checked or (base.checked if base is not None else FIRST_GENERATED <= row.base < FIRST_NORMAL_OID)
        if checked != row.checked:
            self.types.put(oid, replace(row, checked=checked))
            for key, _, _ in dependents:
                if key[0] == TYPE:
                    self.check_domain(key[1])


_AFTER_REMOVAL: dict[str, Callable[[Catalog, Any], None]] = {
    OPERATOR: Catalog._forget_negator,
    OTHER: Catalog._forget_classes,
    PUBLICATION: lambda catalog, row: catalog.publications_for_all.remove(row.oid),
}
