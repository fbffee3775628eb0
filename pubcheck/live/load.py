"""Load a snapshot into the catalog of a session: the state that the statements that built the database leave."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from pubcheck.live import document as doc
from pubcheck.live.expressions import Expressions
from pubcheck.live.references import References
from pubcheck.postgres.catalog import (
    AUTO,
    COLLATION,
    CONSTRAINT,
    FIRST_NORMAL_OID,
    INTERNAL,
    NAMESPACE,
    NORMAL,
    OTHER,
    PARTITION,
    PROC,
    PUBLIC,
    RELATION,
    SUPERUSER,
    TYPE,
)
from pubcheck.postgres.catalog.enum_labels import EnumLabels
from pubcheck.postgres.catalog.operator_classes import OPERATOR_CLASSES, OperatorClass
from pubcheck.postgres.catalog.rows import (
    Cast,
    Collation,
    Column,
    Constraint,
    Filter,
    Index,
    Namespace,
    NotNull,
    Operator,
    OtherObject,
    Place,
    Proc,
    Publication,
    PublicationNamespace,
    PublicationRel,
    Relation,
    Role,
    Subscription,
    Type,
)
from pubcheck.postgres.ddl.partition_bounds import read_bound
from pubcheck.postgres.parse_tree import column_names, conjuncts
from pubcheck.postgres.session import Session

_RELKINDS = {
    doc.Table: "r",
    doc.ForeignTable: "f",
    doc.View: "v",
    doc.MaterializedView: "m",
    doc.Sequence: "S",
    doc.CompositeType: "c",
}


def load(session: Session, snapshot: doc.Snapshot, source: int) -> None:
    """Load a snapshot into an empty catalog. ``source`` is its number among the unit's sources; the object on each line
    is the statement of that number."""
    _Loader(session, snapshot, source).load()


class _Loader:
    def __init__(self, session: Session, snapshot: doc.Snapshot, source: int) -> None:
        self.session, self.catalog = session, session.catalog
        self.snapshot, self.source = snapshot, source
        self.refs = References(session, snapshot.objects)
        self.expressions = Expressions()
        self.checks: list[tuple[doc.Type, int]] = []

    def load(self) -> None:
        """Load all objects, kind by kind in the order of the document."""
        server, catalog = self.snapshot.server, self.catalog
        catalog.database, catalog.database_known = server.database, True
        self._forget_initial()
        groups: list[list[tuple[int, doc.AnyObject]]] = [[] for _ in _GROUPS]
        group_of = {kind: groups[place] for place, kinds in enumerate(_GROUPS) for kind in kinds}
        for number, row in enumerate(self.snapshot.objects):
            if type(row) in group_of:  # all but those of a running server
                group_of[type(row)].append((number, row))
        for group in groups:
            # The server goes through a catalog by oid, which is the order of creation.
            for number, row in sorted(group, key=lambda numbered: numbered[1].oid):
                _LOADERS[type(row)](self, row, number)
        catalog.databases[server.database] = self.refs.role(server.database_owner)
        self.read_bounds()
        self._depend_on_owners()
        self.session.complete = True
        self.session.forget_path()
        catalog.journal.entries.clear()

    def _forget_initial(self) -> None:
        """Remove the schema public if the database has none."""
        if not any(isinstance(row, doc.Schema) and row.name == "public" for row in self.snapshot.objects):
            self.catalog.remove(NAMESPACE, PUBLIC)
            self.catalog.gone.clear()

    def _place(self, number: int) -> Place:
        return Place(self.source, number, 0, 0)

    # Schemas and roles.

    def schema(self, row: doc.Schema, number: int) -> None:
        known = self.catalog.namespace_names.get(row.name)
        oid = row.oid if known is None else known
        acl = tuple((self.refs.role(role) if role else 0, right) for role, right in row.grants)
        self.catalog.add_namespace(Namespace(oid, row.name, self.refs.role(row.owner), seen=True, acl=acl))
        self.refs.schemas[row.name] = oid

    def role(self, row: doc.Role, number: int) -> None:
        memberships = [(self.refs.role(one.role), one) for one in row.member_of]
        if row.oid == SUPERUSER:
            self.catalog.role_names.remove(self.catalog.roles[SUPERUSER].name)
        self.catalog.add_role(
            Role(
                row.oid,
                row.name,
                seen=True,
                superuser=row.superuser,
                inherit=row.inherit,
                create_role=row.create_role,
                create_db=row.create_db,
                member_of=tuple(oid for oid, _ in memberships),
                without_inherit=tuple(oid for oid, one in memberships if not one.inherit),
                without_set=tuple(oid for oid, one in memberships if not one.set),
                admin_of=tuple(oid for oid, one in memberships if one.admin),
                has_members=row.name in self.refs.roles_with_members,
            )
        )

    # Types.

    def type(self, row: doc.Type, number: int) -> None:
        catalog, refs = self.catalog, self.refs
        namespace, owner = refs.schemas[row.schema], refs.role(row.owner)
        base, collation = refs.type(row.base), refs.collation(row.collation)
        catalog.add_type(
            Type(
                row.oid,
                row.name,
                namespace,
                owner,
                row.type,
                seen=True,
                relation=refs.relations.get(doc.reference(row.schema, row.name), 0) if row.type == "c" else 0,
                array=row.array_oid,
                element=refs.type(row.element),
                base=base,
                not_null=row.not_null,
                labels=EnumLabels(row.labels),
                category=row.category,
                preferred=row.preferred,
                collation=collation,
                typmod=row.typmod,
                subscript=row.subscript,
                multirange=refs.type(row.multirange),
                bounds=refs.collation(row.range_collation),
            )
        )
        self._in_schema(TYPE, row.oid, namespace)
        if row.array_oid:
            catalog.add_type(
                Type(
                    row.array_oid,
                    row.array,
                    namespace,
                    owner,
                    "b",
                    element=row.oid,
                    seen=True,
                    category="A",
                    collation=collation,
                    subscript="a",
                )
            )
            catalog.depend((TYPE, row.array_oid, 0), (TYPE, row.oid, 0), INTERNAL)
        if base:
            inner = row.type == "m"
            catalog.depend((TYPE, row.oid, 0), (TYPE, base, 0), INTERNAL if inner else NORMAL)
        for check in row.checks:
            catalog.add_other(OtherObject(check.oid, "constraint", check.name, row.oid, owner))
            catalog.depend((OTHER, check.oid, 0), (TYPE, row.oid, 0), AUTO)
        if row.type == "d":
            catalog.check_domain(row.oid)

    def function(self, row: doc.Function, number: int) -> None:
        refs = self.refs
        namespace = refs.schemas[row.schema]
        arguments = tuple(map(refs.type, row.arguments))
        self.catalog.add_proc(
            Proc(
                row.oid,
                row.name,
                namespace,
                refs.role(row.owner),
                row.type,
                arguments,
                refs.type(row.returns),
                volatility=row.volatility,
                variadic=refs.type(row.variadic),
                defaults=row.defaults,
                returns_set=row.returns_set,
                strict=row.strict,
                modes=row.modes or ("i",) * len(arguments) * bool(row.argument_names),
                argument_names=row.argument_names,
                parameters=tuple(map(refs.type, row.parameters)),
                definer=row.definer,
                inlined=row.language == "sql",
            )
        )
        self._in_schema(PROC, row.oid, namespace)
        for oid in {*arguments, refs.type(row.returns)}:
            self.catalog.depend((PROC, row.oid, 0), (TYPE, oid, 0), NORMAL)

    def operator(self, row: doc.Operator, number: int) -> None:
        refs = self.refs
        self.catalog.add_operator(
            Operator(
                row.oid,
                row.name,
                refs.schemas[row.schema],
                refs.role(row.owner),
                refs.type(row.left),
                refs.type(row.right),
                function=refs.function(row.function),
                returns=refs.type(row.returns),
                negator=refs.operator(row.negator),
            )
        )
        self._in_schema("o", row.oid, refs.schemas[row.schema])

    def cast(self, row: doc.Cast, number: int) -> None:
        refs = self.refs
        function = refs.function(row.function)
        self.catalog.casts.put(
            row.oid, Cast(row.oid, refs.type(row.source), refs.type(row.target), function, row.context, row.method)
        )
        for oid in (refs.type(row.source), refs.type(row.target)):
            self.catalog.depend(("k", row.oid, 0), (TYPE, oid, 0), NORMAL)
        if function:
            self.catalog.depend(("k", row.oid, 0), (PROC, function, 0), NORMAL)

    def collation(self, row: doc.Collation, number: int) -> None:
        namespace = self.refs.schemas[row.schema]
        self.catalog.add_collation(
            Collation(row.oid, row.name, namespace, self.refs.role(row.owner), row.deterministic)
        )
        self._in_schema(COLLATION, row.oid, namespace)

    def operator_class(self, row: doc.OperatorClass, number: int) -> None:
        refs, settings = self.refs, self.catalog.settings
        self._other(row, "operator class", refs.schemas[row.schema])
        members = OperatorClass(
            refs.family(row.family),
            row.method,
            refs.type(row.type),
            tuple((refs.type(a), refs.type(b), number, refs.operator(name)) for a, b, number, name in row.operators),
            tuple((refs.type(a), refs.type(b), refs.function(name)) for a, b, name in row.functions),
        )
        settings.put(OPERATOR_CLASSES, (*settings.get(OPERATOR_CLASSES, ()), members))

    # Relations.

    def relation(self, row: doc.Relation, number: int) -> None:
        refs, catalog = self.refs, self.catalog
        namespace = refs.schemas[row.schema]
        kind = "p" if row.partition_key else _RELKINDS[type(row)]
        parents = tuple(refs.relations[parent] for parent in row.parents)
        relation = Relation(
            row.oid,
            row.name,
            namespace,
            kind,
            refs.role(row.owner),
            seen=True,
            columns=self._columns(row),
            persistence=row.persistence,
            identity=row.identity if kind in "rpm" else "n",
            partition=row.partition,
            parents=parents,
            of_type=refs.type(row.of_type),
            place=self._place(number),
        )
        if row.partition_key:
            relation = self.expressions.with_partition_key(relation, row.partition_key)
        catalog.add_relation(relation)
        self._in_schema(RELATION, row.oid, namespace)
        for parent in parents:
            catalog.depend((RELATION, row.oid, 0), (RELATION, parent, 0), AUTO if row.partition else NORMAL)
        for column in relation.columns:
            if column.type >= FIRST_NORMAL_OID:
                catalog.depend((RELATION, row.oid, column.number), (TYPE, column.type, 0), NORMAL)
            if column.collation >= FIRST_NORMAL_OID:
                catalog.depend((RELATION, row.oid, column.number), (COLLATION, column.collation, 0), NORMAL)
        if relation.of_type:
            catalog.depend((RELATION, row.oid, 0), (TYPE, relation.of_type, 0), NORMAL)
        if kind == "c":
            catalog.depend((RELATION, row.oid, 0), (TYPE, refs.type(doc.reference(row.schema, row.name)), 0), INTERNAL)

    def _columns(self, row: doc.Relation) -> tuple[Column, ...]:
        type_of, collation_of = self.refs.type_with_collation, self.refs.collation
        named = self.catalog.major.named_not_null
        columns = []
        for number, column in enumerate(row.columns, 1):
            oid, collation = type_of(column.type)
            plain = Column(
                number,
                column.name,
                oid,
                column.not_null,
                column.identity,
                column.generated,
                bool(column.default and not column.generated),
                column.inherited,
                column.local,
                column.dropped,
                collation_of(column.collation) if column.collation else collation,
                typmod=column.typmod,
            )
            if column.not_null and named:
                plain = replace(plain, constraint=_not_null(row, column))
            if column.generated:
                tree = self.expressions.tree(column.default)
                plain = replace(
                    plain,
                    expression=tuple(column_names(tree)),
                    tree=tree if column.generated == "v" or self.catalog.keeps_definitions else None,
                )
            if column.storage:
                plain = replace(plain, storage=_STORAGE[column.storage])
            columns.append(plain)
        return tuple(columns)

    def _depend_on_owners(self) -> None:
        """Let sequences depend on the columns that own them."""
        for row in self.snapshot.objects:
            if isinstance(row, doc.Sequence) and row.owned_by is not None:
                table, name = row.owned_by
                relation = self.catalog.relations[self.refs.relations[table]]
                how = INTERNAL if row.identity_of else AUTO
                column = self.refs.numbers(relation)[name]
                self.catalog.depend((RELATION, row.oid, 0), (RELATION, relation.oid, column), how)

    def index(self, row: doc.Index, number: int) -> None:
        refs, catalog = self.refs, self.catalog
        table = catalog.relations[refs.relations[row.table]]
        kind = "I" if table.kind == "p" else "i"
        namespace = refs.schemas[row.schema]
        catalog.add_relation(
            Relation(
                row.oid,
                row.name,
                namespace,
                kind,
                refs.role(row.owner),
                seen=True,
                identity="n",
                partition=bool(row.parent),
            )
        )
        numbers = refs.numbers(table)
        keys = tuple(numbers[name] if name is not None else 0 for name in row.keys)
        included = tuple(numbers[name] for name in row.included)
        expressions = self.expressions.trees(row.expressions)
        predicate = self.expressions.tree(row.predicate) if row.predicate else None
        parent = refs.relations.get(row.parent, 0)
        catalog.add_index(
            Index(
                row.oid,
                table.oid,
                keys,
                included,
                row.unique,
                row.primary,
                row.exclusion,
                row.immediate,
                row.valid,
                row.identity,
                row.nulls_not_distinct,
                row.method,
                parent,
                False,
                expressions,
                predicate,
            )
        )
        held = row.constraint
        holder = (RELATION, row.oid, 0)
        if held is not None:
            above = refs.constraint_of_index.get(row.parent, 0)
            refs.constraint_of_index[doc.reference(row.schema, row.name)] = held.oid
            catalog.add_constraint(
                Constraint(
                    held.oid,
                    row.name,
                    table.oid,
                    held.type,
                    keys,
                    row.oid,
                    deferrable=held.deferrable,
                    inherited=held.inherited,
                    local=held.local,
                    parent=above,
                )
            )
            holder = (CONSTRAINT, held.oid, 0)
            catalog.depend((RELATION, row.oid, 0), holder, INTERNAL)
            if above:
                catalog.depend(holder, (CONSTRAINT, above, 0), PARTITION)
        mentioned = column_names([*expressions, predicate]) if expressions or predicate else ()
        depended = {*keys, *included, *(numbers[name] for name in mentioned if name in numbers)} - {0}
        for key in depended or (0,):
            catalog.depend(holder, (RELATION, table.oid, key), AUTO)
        if parent:
            catalog.depend((RELATION, row.oid, 0), (RELATION, parent, 0), PARTITION)

    def constraint(self, row: doc.Constraint, number: int) -> None:
        refs, catalog = self.refs, self.catalog
        table = catalog.relations[refs.relations[row.table]]
        numbers = refs.numbers(table)
        keys = tuple(numbers[name] for name in row.keys)
        tree = self.expressions.tree(row.expression) if row.expression else None
        target = refs.relations.get(row.references, 0)
        parent = refs.constraints.get(row.parent, 0) if row.parent is not None else 0
        catalog.add_constraint(
            Constraint(
                row.oid,
                row.name,
                table.oid,
                row.type,
                keys,
                references=target,
                on_delete=row.on_delete,
                on_update=row.on_update,
                deferrable=row.deferrable,
                inherited=row.inherited,
                local=row.local,
                no_inherit=row.no_inherit,
                validated=row.validated,
                parent=parent,
                not_null=tuple(numbers[name] for name in _not_null_by(tree)) if tree is not None else (),
                tree=tree,
                enforced=row.enforced,
            )
        )
        depender = (CONSTRAINT, row.oid, 0)
        for key in keys or (0,):
            catalog.depend(depender, (RELATION, table.oid, key), AUTO)
        if target:
            referenced = refs.numbers(catalog.relations[target])
            for name in row.referenced:
                catalog.depend(depender, (RELATION, target, referenced[name]), NORMAL)
            if row.index:
                catalog.depend(depender, (RELATION, refs.relations[row.index], 0), NORMAL)
        if parent:
            catalog.depend(depender, (CONSTRAINT, parent, 0), PARTITION)

    def read_bounds(self) -> None:
        """Read the bounds of partitions, once all tables are known."""
        relations = self.catalog.relations
        for row in self.snapshot.objects:
            if isinstance(row, doc.Relation) and row.bound:
                relation = relations[row.oid]
                spec = self.expressions.bound(row.bound)
                bound = read_bound(self.session, relations[relation.parents[0]], spec)
                relations.put(row.oid, replace(relation, bound=bound))

    # Objects of relations, and those that need only a name.

    def _other(self, row: Any, kind: str, namespace: int, **fields: Any) -> None:
        owner = self.refs.role(row.owner) if hasattr(row, "owner") else SUPERUSER
        self.catalog.add_other(OtherObject(row.oid, kind, row.name, namespace, owner, **fields))

    def trigger(self, row: doc.Trigger, number: int) -> None:
        table = self.refs.relations[row.table]
        self._other(row, "trigger", table, enabled=row.enabled not in "DR")
        self.catalog.depend((OTHER, row.oid, 0), (RELATION, table, 0), AUTO)
        self.catalog.depend((OTHER, row.oid, 0), (PROC, self.refs.function(row.function), 0), NORMAL)

    def rule(self, row: doc.Rule, number: int) -> None:
        table = self.refs.relations[row.table]
        self._other(row, "rule", table, instead=row.instead, enabled=row.enabled not in "DR")
        self.catalog.depend((OTHER, row.oid, 0), (RELATION, table, 0), AUTO)

    def policy(self, row: doc.Policy, number: int) -> None:
        table = self.refs.relations[row.table]
        self._other(row, "policy", table)
        self.catalog.depend((OTHER, row.oid, 0), (RELATION, table, 0), AUTO)

    def extension(self, row: doc.Extension, number: int) -> None:
        self._other(row, "extension", 0)
        self._in_schema(OTHER, row.oid, self.refs.schemas[row.schema])

    def event_trigger(self, row: doc.EventTrigger, number: int) -> None:
        from pubcheck.postgres.ddl.event_triggers import KIND, EventTrigger
        from pubcheck.postgres.session.connection import EVENT_TRIGGERS

        function, settings = self.refs.function(row.function), self.catalog.settings
        self._other(row, KIND, 0, enabled=row.enabled not in "DR")
        self.catalog.depend((OTHER, row.oid, 0), (PROC, function, 0), NORMAL)
        trigger = EventTrigger(row.oid, row.event, row.tags, function, row.enabled not in "DR")
        settings.put(EVENT_TRIGGERS, (*settings.get(EVENT_TRIGGERS, ()), trigger))

    # Publications and subscriptions.

    def publication(self, row: doc.Publication, number: int) -> None:
        self.catalog.add_publication(
            Publication(
                row.oid,
                row.name,
                self.refs.role(row.owner),
                True,
                row.all_tables,
                row.insert,
                row.update,
                row.delete,
                row.truncate,
                row.via_root,
                row.generated,
                self._place(number),
            )
        )

    def publication_table(self, row: doc.PublicationTable, number: int) -> None:
        catalog = self.catalog
        table = catalog.relations[self.refs.relations[row.table]]
        place = self._place(number)
        columns = None
        if row.columns is not None:
            numbers = self.refs.numbers(table)
            columns = tuple(sorted(numbers[name] for name in row.columns))
        catalog.add_publication_rel(
            PublicationRel(
                row.oid,
                catalog.publication_names[row.name],
                table.oid,
                self._filter(row, table, number) if row.filter else None,
                columns,
                place,
                tuple((column, place) for column in columns or ()),
            )
        )

    def _filter(self, row: doc.PublicationTable, table: Relation, number: int) -> Filter:
        from pubcheck.postgres.analysis.row_filter import read_filter

        tree = self.expressions.fresh_tree(row.filter)
        self.session.begin_statement(self.source, number)
        return _without_offsets(read_filter(self.session, table, tree), self._place(number))

    def publication_schema(self, row: doc.PublicationSchema, number: int) -> None:
        catalog = self.catalog
        catalog.add_publication_namespace(
            PublicationNamespace(
                row.oid, catalog.publication_names[row.name], self.refs.schemas[row.schema], self._place(number)
            )
        )

    def subscription(self, row: doc.Subscription, number: int) -> None:
        place = self._place(number)
        self.catalog.put_subscription(
            Subscription(
                row.name,
                tuple((name, place) for name in row.publications),
                place,
                seen=True,
                enabled=row.enabled,
                slot=bool(row.slot),
                owner=self.refs.role(row.owner),
                password_required=row.password_required,
                binary=row.binary,
            )
        )

    def _in_schema(self, kind: str, oid: int, namespace: int) -> None:
        self.catalog.depend((kind, oid, 0), (NAMESPACE, namespace, 0), NORMAL)


_LOADERS: dict[type, Callable[[_Loader, Any, int], None]] = {
    doc.Schema: _Loader.schema,
    doc.Role: _Loader.role,
    doc.Type: _Loader.type,
    doc.Function: _Loader.function,
    doc.Operator: _Loader.operator,
    doc.Cast: _Loader.cast,
    doc.Collation: _Loader.collation,
    doc.OperatorClass: _Loader.operator_class,
    doc.Extension: _Loader.extension,
    doc.EventTrigger: _Loader.event_trigger,
    doc.CompositeType: _Loader.relation,
    doc.Table: _Loader.relation,
    doc.ForeignTable: _Loader.relation,
    doc.View: _Loader.relation,
    doc.MaterializedView: _Loader.relation,
    doc.Sequence: _Loader.relation,
    doc.Index: _Loader.index,
    doc.Constraint: _Loader.constraint,
    doc.Trigger: _Loader.trigger,
    doc.Rule: _Loader.rule,
    doc.Policy: _Loader.policy,
    doc.Publication: _Loader.publication,
    doc.PublicationTable: _Loader.publication_table,
    doc.PublicationSchema: _Loader.publication_schema,
    doc.Subscription: _Loader.subscription,
}
_GROUPS: tuple[tuple[type, ...], ...] = (
    (doc.Schema, doc.Role),
    (doc.Type,),
    (doc.Function,),
    (doc.Operator, doc.Cast, doc.Collation, doc.OperatorClass, doc.Extension, doc.EventTrigger),
    tuple(_RELKINDS),
    (doc.Index,),
    (doc.Constraint,),
    (doc.Trigger, doc.Rule, doc.Policy),
    (doc.Publication,),
    (doc.PublicationTable, doc.PublicationSchema),
    (doc.Subscription,),
)
"""Kinds of objects, each group after those that its objects need."""
_STORAGE = {"p": "plain", "e": "external", "x": "extended", "m": "main"}


def _not_null(row: doc.Relation, column: doc.Column) -> NotNull:
    held = column.constraint or doc.NotNull()
    name = held.name or f"{row.name}_{column.name}_not_null"
    return NotNull(name, held.inherited, held.local, held.no_inherit, held.validated)


def _not_null_by(tree: Any) -> Iterable[str]:
    """Return the columns that a condition says are NOT NULL, by itself or with AND."""
    tests = (condition.get("NullTest", {}) for condition in conjuncts(tree))
    tested = [test["arg"] for test in tests if test.get("nulltesttype") == "IS_NOT_NULL"]
    return column_names([arg for arg in tested if "ColumnRef" in arg])


def _without_offsets(row: Filter, place: Place) -> Filter:
    """Return a filter all of whose places are those of its object; literals were fixed long ago."""
    return replace(row, places=tuple((column, place) for column, _ in row.places), frozen=())
