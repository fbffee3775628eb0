"""Types, and the operators, casts and collations for them."""

from __future__ import annotations

from pubcheck.live import records
from pubcheck.live.loading import Loading
from pubcheck.postgres.catalog import AUTO, CAST, COLLATION, INTERNAL, NORMAL, OPERATOR, OTHER, PROC, TYPE
from pubcheck.postgres.catalog.rows import Cast, Collation, Operator, OtherObject, Type
from pubcheck.postgres.catalog.value_order import OPERATOR_CLASSES, EnumLabels, OperatorClass
from pubcheck.postgres.session.syscache import depends_on_build


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
