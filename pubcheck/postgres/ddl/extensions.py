"""Extensions (commands/extension.c).

The objects of the extensions that come with the server are known; other extensions may create any missing name.
"""

from __future__ import annotations

from pubcheck.postgres.builtins.extensions import Contents, Reference, contents
from pubcheck.postgres.catalog import (
    CAST,
    EXTENSION,
    INTERNAL,
    NAMESPACE,
    NORMAL,
    OPERATOR,
    OTHER,
    PG_CATALOG,
    PROC,
    RELATION,
    TYPE,
    Catalog,
    Object,
)
from pubcheck.postgres.catalog.rows import (
    OPERATOR_CLASSES,
    Cast,
    Column,
    Operator,
    OperatorClass,
    OtherObject,
    Proc,
    Relation,
    Type,
)
from pubcheck.postgres.ddl.object_address import find_object
from pubcheck.postgres.ddl.object_descriptions import RELATION_KINDS
from pubcheck.postgres.ddl.types import free_type_name
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import list_items, range_var, strings
from pubcheck.postgres.session import Session
from pubcheck.words import word_set

_LANGUAGES = word_set(
    "bool_plperl bool_plperlu hstore_plperl hstore_plperlu hstore_plpython3u jsonb_plperl jsonb_plperlu "
    "jsonb_plpython3u ltree_plpython3u plperl plperlu plpython3u"
)
"""Languages and transforms for them, whose libraries the snapshot's servers could not load: they make functions that
only the server can call.
"""


def create_extension(session: Session, node: Node) -> None:
    """CREATE EXTENSION (CreateExtension)."""
    name = node["extname"]
    if ("extension", 0, name) in session.catalog.other_names:
        if node.get("if_not_exists"):
            session.notices.append(f'extension "{name}" already exists, skipping')
            return
        raise ServerError("42710", 'extension "{name}" already exists', name=name)
    options = {item["DefElem"]["defname"]: item["DefElem"].get("arg", {}) for item in node.get("options", ())}
    schema = options.get("schema", {}).get("String", {}).get("sval")
    version = options.get("new_version", {}).get("String", {}).get("sval")
    _install(session, name, schema, version, cascade="cascade" in options)


def _install(session: Session, name: str, schema: str | None, version: str | None, *, cascade: bool) -> None:
    """CreateExtensionInternal. Raises ServerError 3F000, 0A000, 42704 and those of the objects it makes."""
    catalog = session.catalog
    extension_contents = contents(catalog.major.number, name)
    if extension_contents is not None and extension_contents.schema:
        if schema is not None and schema != extension_contents.schema and not cascade:
            raise ServerError("0A000", f'extension "{name}" must be installed in schema "{extension_contents.schema}"')
        schema = extension_contents.schema
    if schema:
        namespace = session.namespace(schema).oid
    else:
        namespace = session.visible_namespace()
        if not namespace:
            raise ServerError("3F000", "no schema has been selected to create in")
    if extension_contents is not None:
        for required in extension_contents.requires:
            _require(session, name, required, None if extension_contents.schema else schema, cascade=cascade)
    row = OtherObject(catalog.new_oid(), "extension", name, 0, session.setting("role"))
    catalog.add(row)
    if namespace != PG_CATALOG:
        catalog.depend((OTHER, row.oid, 0), (NAMESPACE, namespace, 0), NORMAL)
    if extension_contents is not None and version in (None, extension_contents.version):
        _Script(session, row, namespace, extension_contents).run()
    elif name not in _LANGUAGES:
        session.set("extensions", True)
        if extension_contents is None or extension_contents.relations:
            session.set("extension relations", True)


def _require(session: Session, name: str, required: str, schema: str | None, *, cascade: bool) -> None:
    """get_required_extension."""
    if ("extension", 0, required) in session.catalog.other_names:
        return
    if cascade:
        session.notices.append(f'installing required extension "{required}"')
        _install(session, required, schema, None, cascade=True)
    elif session.complete and not session.blind:
        raise ServerError(
            "42704",
            f'required extension "{required}" is not installed',
            hint="Use CREATE EXTENSION ... CASCADE to install required extensions too.",
        )


class _Script:
    """Creates the objects of one extension in its schema, as the extension's script does."""

    def __init__(self, session: Session, extension: OtherObject, namespace: int, extension_contents: Contents) -> None:
        self.session, self.catalog = session, session.catalog
        self.extension, self.namespace, self.known = extension, namespace, extension_contents
        self.types: dict[Reference, int] = _types_of(self.catalog, extension_contents.requires)
        self.procs = [self.catalog.new_oid() for _ in extension_contents.procs]
        self.operators = [self.catalog.new_oid() for _ in extension_contents.operators]

    def run(self) -> None:
        for place in range(len(self.known.types)):
            self._make_type(place)
        self._make_procs()
        self._make_operators()
        self._make_casts()
        self._make_classes()
        self._make_views()
        self._make_others()

    def type(self, reference: Reference) -> int:
        """Return the oid of a reference; 0 if a required extension is unknown."""
        if isinstance(reference, int) and reference >= 0:
            return reference
        return self.types.get(reference, 0)

    def proc(self, reference: int) -> int:
        return reference if reference >= 0 else self.procs[-1 - reference]

    def operator(self, reference: int) -> int:
        return reference if reference >= 0 else self.operators[-1 - reference]

    def _belongs(self, member: Object) -> None:
        self.catalog.depend(member, (OTHER, self.extension.oid, 0), EXTENSION)

    def _make_type(self, place: int) -> None:
        catalog, spec = self.catalog, self.known.types[place]
        free_type_name(self.session, self.namespace, spec.name)
        relation = self._make_relation(spec.name, "c") if spec.kind == "c" else None
        row = Type(
            catalog.new_oid(),
            spec.name,
            self.namespace,
            self.extension.owner,
            spec.kind,
            relation=relation.oid if relation is not None else 0,
            element=self.type(spec.element),
            base=self.type(spec.base),
            not_null=bool(spec.not_null),
            category=spec.category,
            preferred=bool(spec.preferred),
            collation=spec.collation,
            typmod=spec.typmod,
            subscript=spec.subscript,
            checked=bool(spec.checked),
            seen=True,
        )
        if spec.array:
            row = catalog.add_type_with_array(row)
        else:
            catalog.add(row)
        if relation is not None:
            catalog.depend((RELATION, relation.oid, 0), (TYPE, row.oid, 0), INTERNAL)
        self.types[-1 - 2 * place], self.types[-2 - 2 * place] = row.oid, row.array
        self._belongs((TYPE, row.oid, 0))

    def _make_relation(self, name: str, kind: str) -> Relation:
        spec = next(candidate for candidate in self.known.relations if (candidate.name, candidate.kind) == (name, kind))
        self.session.free_name(self.namespace, name)
        columns = tuple(
            Column(number, column, self.type(reference), typmod=typmod, collation=collation)
            for number, (column, (reference, typmod, collation)) in enumerate(
                zip(spec.columns, spec.types, strict=True), 1
            )
        )
        row = Relation(
            self.catalog.new_oid(),
            name,
            self.namespace,
            kind,
            self.extension.owner,
            columns=columns,
            identity="n",
            seen=True,
        )
        self.catalog.add_relation(row)
        return row

    def _make_procs(self) -> None:
        catalog = self.catalog
        for oid, spec in zip(self.procs, self.known.procs, strict=True):
            row = Proc(
                oid,
                spec.name,
                PG_CATALOG if spec.in_pg_catalog else self.namespace,
                self.extension.owner,
                spec.kind,
                tuple(self.type(reference) for reference in spec.arguments),
                self.type(spec.returns),
                spec.volatility,
                self.type(spec.variadic),
                spec.defaults,
                bool(spec.returns_set),
                bool(spec.strict),
                tuple(spec.modes),
                spec.names,
                tuple(self.type(reference) for reference in spec.parameters),
            )
            for existing in catalog.proc_names.get((row.namespace, row.name)):
                if catalog.procs[existing].arguments == row.arguments and 0 not in row.arguments:
                    raise ServerError(
                        "42723", 'function "{name}" already exists with same argument types', name=row.name
                    )
            catalog.add(row)
            self._belongs((PROC, oid, 0))

    def _make_operators(self) -> None:
        catalog = self.catalog
        for oid, spec in zip(self.operators, self.known.operators, strict=True):
            row = Operator(
                oid,
                spec.name,
                self.namespace,
                self.extension.owner,
                self.type(spec.left),
                self.type(spec.right),
                self.proc(spec.function),
                returns=self.type(spec.returns),
                negator=self.operator(spec.negator),
            )
            for existing in catalog.operator_names.get((row.namespace, row.name)):
                existing_operator = catalog.operators[existing]
                if (existing_operator.left, existing_operator.right) == (row.left, row.right) and row.right:
                    raise ServerError("42723", f"operator {row.name} already exists")
            catalog.add(row)
            self._belongs((OPERATOR, oid, 0))

    def _make_casts(self) -> None:
        catalog = self.catalog
        for spec in self.known.casts:
            source, target = self.type(spec.source), self.type(spec.target)
            if source and target:
                oid = catalog.new_oid()
                catalog.casts.put(oid, Cast(oid, source, target, self.proc(spec.function), spec.context, spec.method))
                self._belongs((CAST, oid, 0))

    def _make_classes(self) -> None:
        families: dict[int, int] = {}
        classes = tuple(
            OperatorClass(
                families.setdefault(spec.family, self.catalog.new_oid()),
                spec.method,
                self.type(spec.type),
                tuple((self.type(a), self.type(b), n, self.operator(member)) for a, b, n, member in spec.operators),
                tuple((self.type(a), self.type(b), self.proc(member)) for a, b, member in spec.functions),
            )
            for spec in self.known.classes
        )
        if classes:
            settings = self.catalog.settings
            settings.put(OPERATOR_CLASSES, (*settings.get(OPERATOR_CLASSES, ()), *classes))

    def _make_views(self) -> None:
        for spec in self.known.relations:
            if spec.kind != "c":
                self._belongs((RELATION, self._make_relation(spec.name, spec.kind).oid, 0))

    def _make_others(self) -> None:
        catalog = self.catalog
        for kind, name, in_schema in self.known.others:
            row = OtherObject(catalog.new_oid(), kind, name, self.namespace if in_schema else 0, self.extension.owner)
            # Several access methods may have operator classes of the same name; one of them is enough.
            if (kind, row.namespace, name) not in catalog.other_names:
                catalog.add(row)
                self._belongs((OTHER, row.oid, 0))


def _types_of(catalog: Catalog, extensions: tuple[str, ...]) -> dict[Reference, int]:
    """The types of extensions, by name."""
    types: dict[Reference, int] = {}
    for name in extensions:
        extension = catalog.other_names.get(("extension", 0, name))
        for (kind, oid, _), _, how in catalog.dependents.get((OTHER, extension or 0)):
            if kind == TYPE and how == EXTENSION:
                types[catalog.types[oid].name] = oid
    return types


def set_schema(session: Session, name: str, schema: str) -> None:
    """ALTER EXTENSION ... SET SCHEMA (AlterExtensionNamespace): its members move with it.

    Raises ServerError 42704 if it certainly does not exist, 3F000, 42501, and 0A000 if it cannot be moved.
    """
    catalog = session.catalog
    oid = catalog.other_names.get(("extension", 0, name))
    if oid is None:
        if session.complete and not session.blind:
            raise ServerError("42704", f'extension "{name}" does not exist')
        return
    if not session.owns(catalog.others[oid].owner):
        raise ServerError("42501", f"must be owner of extension {name}")
    namespace = session.namespace(schema).oid
    if any(on == (NAMESPACE, namespace) for on, _ in catalog.dependencies.get((OTHER, oid))):
        return  # it is there already
    extension_contents = contents(catalog.major.number, name)
    if extension_contents is not None and not extension_contents.relocatable:
        raise ServerError("0A000", f'extension "{name}" does not support SET SCHEMA')
    for on, _ in catalog.dependencies.get((OTHER, oid)):
        if on[0] == NAMESPACE and on[1] != namespace:
            catalog.forget_dependencies((OTHER, oid), on=on)
            catalog.depend((OTHER, oid, 0), (NAMESPACE, namespace, 0), NORMAL)
    for (kind, member, _), _, how in catalog.dependents.get((OTHER, oid)):
        if how == EXTENSION:
            _move(session, kind, member, namespace)


def _move(session: Session, kind: str, oid: int, namespace: int) -> None:
    """A member of an extension to the extension's new schema."""
    catalog = session.catalog
    if kind == RELATION:
        relation = catalog.relations[oid]
        session.free_name(namespace, relation.name)
        catalog.rename_relation(relation, relation.name, namespace)
        return
    row = catalog.rows_of(kind)[oid]
    if kind == TYPE:
        free_type_name(session, namespace, row.name)
        if row.relation:
            catalog.rename_relation(catalog.relations[row.relation], row.name, namespace)
        if row.array in catalog.types:
            catalog.rename(catalog.types[row.array], namespace=namespace)
    if kind in (PROC, OPERATOR, TYPE) or (kind == OTHER and row.namespace):
        catalog.rename(row, namespace=namespace)


def alter_contents(session: Session, node: Node) -> None:
    """ALTER EXTENSION ... ADD and DROP of a member (ExecAlterExtensionContentsStmt)."""
    catalog = session.catalog
    extension = catalog.other_names.get(("extension", 0, node["extname"]))
    if extension is None:
        return
    kind, name_node = node.get("objtype", ""), node.get("object", {})
    if kind in RELATION_KINDS:
        row = session.find_relation(range_var(strings(list_items(name_node)) or [""]))
        address = (RELATION, row.oid, 0) if row is not None else None
    else:
        address = find_object(session, kind, name_node, missing_ok=True)
    if address is None:
        return
    key = (OTHER, extension)
    if node.get("action", 1) > 0:
        if any(on == key and entry[2] == EXTENSION for on, entry in catalog.dependencies.get(address[:2])):
            raise ServerError("55000", f'object is already a member of extension "{node["extname"]}"')
        catalog.depend(address, (*key, 0), EXTENSION)
    else:
        catalog.forget_dependencies(address[:2], on=key, how=EXTENSION)
