"""Schemas and roles, types with the operators, casts and collations for them, and functions."""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.live import records
from pubcheck.live.loading import Loading
from pubcheck.postgres.catalog import (
    AUTO,
    CAST,
    COLLATION,
    INTERNAL,
    NAMESPACE,
    NORMAL,
    OPERATOR,
    OTHER,
    PROC,
    PUBLIC,
    SUPERUSER,
    TYPE,
)
from pubcheck.postgres.catalog.rows import (
    OPERATOR_CLASSES,
    Cast,
    Collation,
    EnumLabels,
    Namespace,
    Operator,
    OperatorClass,
    OtherObject,
    Proc,
    Role,
    Type,
)
from pubcheck.postgres.ddl import settings
from pubcheck.postgres.ddl.functions import create_function
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import SyntaxRefused, TooDeep, parse
from pubcheck.postgres.session.syscache import depends_on_build


def forget_public(loading: Loading) -> None:
    """Remove the schema public, which a new catalog has, if the database has none."""
    if not any(isinstance(row, records.Schema) and row.name == "public" for row in loading.snapshot.objects):
        loading.catalog.remove(NAMESPACE, PUBLIC)
        loading.catalog.gone.clear()


def schema(loading: Loading, row: records.Schema) -> None:
    known = loading.catalog.namespace_names.get(row.name)
    oid = row.oid if known is None else known
    acl = tuple((loading.refs.role(role) if role else 0, right) for role, right in row.grants)
    loading.catalog.add(Namespace(oid, row.name, loading.refs.role(row.owner), seen=True, acl=acl))
    loading.refs.schemas[row.name] = oid


def default_setting(loading: Loading, row: records.DefaultSetting) -> None:
    database = loading.snapshot.server.database if row.database else ""
    loading.session.defaults.append((database, row.role, settings.set_statement(row.name, row.value)))


def start_connection(loading: Loading) -> None:
    """Begin the connection as one of the role that read the server does, and let those of other roles begin with their
    own settings: one of a role in this database counts most."""
    session, server = loading.session, loading.snapshot.server
    session.defaults.sort(key=lambda default: (bool(default[1]), bool(default[0])))
    session.user = server.user_schema
    settings.start_connection(session, {"search_path": server.search_path, **server.settings})


def role(loading: Loading, row: records.Role) -> None:
    memberships = [(loading.refs.role(membership.role), membership) for membership in row.member_of]
    if row.oid == SUPERUSER:
        loading.catalog.role_names.remove(loading.catalog.roles[SUPERUSER].name)
    loading.catalog.add(
        Role(
            row.oid,
            row.name,
            seen=True,
            superuser=row.superuser,
            inherit=row.inherit,
            create_role=row.create_role,
            create_db=row.create_db,
            member_of=tuple(oid for oid, _ in memberships),
            without_inherit=tuple(oid for oid, membership in memberships if not membership.inherit),
            without_set=tuple(oid for oid, membership in memberships if not membership.set),
            admin_of=tuple(oid for oid, membership in memberships if membership.admin),
            has_members=row.name in loading.refs.roles_with_members,
        )
    )


# Types, and the operators, casts and collations for them.


def type(loading: Loading, row: records.Type) -> None:
    catalog, refs = loading.catalog, loading.refs
    namespace, owner = loading.enter(TYPE, row), refs.role(row.owner)
    base, collation = refs.type(row.base), refs.collation(row.collation)
    catalog.add(
        Type(
            row.oid,
            row.name,
            namespace,
            owner,
            row.type,
            seen=True,
            relation=refs.relations.get(records.reference(row.schema, row.name), 0) if row.type == "c" else 0,
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
    if row.array_oid:
        catalog.add(
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
        catalog.add(OtherObject(check.oid, "constraint", check.name, row.oid, owner))
        catalog.depend((OTHER, check.oid, 0), (TYPE, row.oid, 0), AUTO)
    if row.type == "d":
        catalog.check_domain(row.oid)


def operator(loading: Loading, row: records.Operator) -> None:
    refs = loading.refs
    loading.catalog.add(
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
    loading.enter(OPERATOR, row)


def cast(loading: Loading, row: records.Cast) -> None:
    refs = loading.refs
    function = refs.function(row.function)
    loading.catalog.casts.put(
        row.oid, Cast(row.oid, refs.type(row.source), refs.type(row.target), function, row.context, row.method)
    )
    for oid in (refs.type(row.source), refs.type(row.target)):
        loading.catalog.depend((CAST, row.oid, 0), (TYPE, oid, 0), NORMAL)
    if function:
        loading.catalog.depend((CAST, row.oid, 0), (PROC, function, 0), NORMAL)


def collations_of_machine(loading: Loading) -> None:
    """Enter the collations of pg_catalog that not every server has."""
    catalog, cache = loading.catalog, loading.session.syscache
    for name in loading.snapshot.server.collations:
        if cache.builtin.collation_named(name) is None and depends_on_build(name):
            catalog.add(cache.collation_named(["pg_catalog", name], exists=True))


def collation(loading: Loading, row: records.Collation) -> None:
    namespace = loading.enter(COLLATION, row)
    loading.catalog.add(Collation(row.oid, row.name, namespace, loading.refs.role(row.owner), row.deterministic))


def operator_class(loading: Loading, row: records.OperatorClass) -> None:
    refs, settings = loading.refs, loading.catalog.settings
    loading.add_other(row, "operator class", loading.enter(OTHER, row), row.owner)
    members = OperatorClass(
        refs.family(row.family),
        row.method,
        refs.type(row.type),
        tuple((refs.type(a), refs.type(b), number, refs.operator(name)) for a, b, number, name in row.operators),
        tuple((refs.type(a), refs.type(b), refs.function(name)) for a, b, name in row.functions),
    )
    settings.put(OPERATOR_CLASSES, (*settings.get(OPERATOR_CLASSES, ()), members))


# Functions and procedures.


def function(loading: Loading, row: records.Function) -> None:
    refs = loading.refs
    namespace = loading.enter(PROC, row)
    arguments = tuple(map(refs.type, row.arguments))
    loading.catalog.add(
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
    for oid in {*arguments, refs.type(row.returns)}:
        loading.catalog.depend((PROC, row.oid, 0), (TYPE, oid, 0), NORMAL)
    loading.depend_on((PROC, row.oid, 0), row.uses)


def read_definitions(loading: Loading) -> None:
    """Read the bodies of the functions whose calls may change something.

    The effect of a body that calls another function is known once that one was read, so they are read again until
    nothing new is known.
    """
    procs, before = loading.catalog.procs, dict[int, str]()
    while True:
        effects = dict[int, str]()
        for row in loading.objects():
            if isinstance(row, records.Function) and row.definition:
                _read_definition(loading, row)
                effects[row.oid] = procs[row.oid].effect
        if effects == before:
            return
        before = effects


def _read_definition(loading: Loading, row: records.Function) -> None:
    """Read the body of a function whose calls may change something, as its CREATE OR REPLACE FUNCTION does."""
    session, catalog = loading.session, loading.catalog
    known = catalog.procs[row.oid]
    session.begin_statement(loading.source, loading.number, row.definition)
    mark = catalog.journal.mark()
    try:
        statement = parse(row.definition)
        if statement is not None:
            create_function(session, statement[1])
    except (ServerError, SyntaxRefused, TooDeep):
        # What it does is not known.
        catalog.journal.undo(mark)
        catalog.procs.put(row.oid, replace(known, effect="t"))
