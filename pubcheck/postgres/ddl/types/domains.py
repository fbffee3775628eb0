"""CREATE DOMAIN and ALTER DOMAIN (commands/typecmds.c: DefineDomain, AlterDomain...)."""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog import AUTO, NORMAL, OTHER, PG_CATALOG, PROC, TYPE
from pubcheck.postgres.catalog.rows import Column, OtherObject, Relation, Type
from pubcheck.postgres.ddl.check_constraints import refuse_check
from pubcheck.postgres.ddl.deletion import perform_deletion
from pubcheck.postgres.ddl.new_objects import creation_name, make_object_name
from pubcheck.postgres.ddl.object_address import functions_called
from pubcheck.postgres.ddl.tables.default_types import is_simple
from pubcheck.postgres.ddl.tables.default_values import refuse_default
from pubcheck.postgres.ddl.type_modifiers import collation_of, known_type, typmod_of
from pubcheck.postgres.ddl.types import new_type, new_type_oid
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names
from pubcheck.postgres.session import Session


def create_domain(session: Session, node: Node) -> None:
    """CREATE DOMAIN (DefineDomain)."""
    catalog = session.catalog
    namespace, name = creation_name(session, names(node["domainname"]))
    oid = new_type_oid(session, namespace, name)
    type_name = node["typeName"]
    base = session.type_oid(type_name)
    typmod = typmod_of(session, type_name, base) if "typmods" in type_name else -1
    parent = known_type(session, base)
    if parent is not None and parent.kind == "p":
        raise ServerError("42804", f'"{parent.name}" is not a valid base type for a domain')
    collation = collation_of(session, node.get("collClause"), base)
    constraints = [item["Constraint"] for item in node.get("constraints", ())]
    kinds = {item["contype"] for item in constraints}
    if {"CONSTR_NOTNULL", "CONSTR_NULL"} <= kinds:
        raise ServerError("42601", "conflicting NULL/NOT NULL constraints")
    for kind in ("CONSTR_UNIQUE", "CONSTR_PRIMARY", "CONSTR_EXCLUSION", "CONSTR_FOREIGN"):
        if kind in kinds:
            raise ServerError("42601", "constraint not possible for domains")
    row = Type(
        oid,
        name,
        namespace,
        session.setting("role"),
        "d",
        base=base,
        not_null="CONSTR_NOTNULL" in kinds,
        category=parent.category if parent is not None else "U",
        collation=collation,
        typmod=typmod,
        checked=parent is not None and parent.checked,
        seen=True,
    )
    _refuse_expressions(session, Column(1, "value", base, collation=collation, typmod=typmod), constraints)
    row = new_type(session, row)
    catalog.depend((TYPE, row.oid, 0), (TYPE, base, 0), NORMAL)
    for item in constraints:
        if item["contype"] == "CONSTR_CHECK":
            _add_domain_check(session, row, item)
        elif item["contype"] == "CONSTR_DEFAULT":
            for function in functions_called(session, item.get("raw_expr")):
                catalog.depend((TYPE, row.oid, 0), (PROC, function, 0), NORMAL)


def _refuse_expressions(session: Session, value: Column, constraints: list[Node]) -> None:
    """Raise ServerError for conditions and defaults that are certainly invalid; ``value`` represents VALUE."""
    table = Relation(0, "", PG_CATALOG, "r", 0, columns=(value,), seen=True)
    defaults = [item["raw_expr"] for item in constraints if item["contype"] == "CONSTR_DEFAULT"]
    if len(defaults) > 1:
        raise ServerError("42601", "multiple default expressions")
    for expression in defaults:
        refuse_default(session, table, value, expression, value.type, simple=is_simple(expression))
    for item in constraints:
        if item["contype"] == "CONSTR_CHECK":
            refuse_check(session, table, item["raw_expr"])


def _add_domain_check(session: Session, row: Type, constraint: Node) -> None:
    catalog = session.catalog
    name: str | None = constraint.get("conname")
    if name is None:
        attempt = 0
        while name is None or ("constraint", row.oid, name) in catalog.other_names:
            name = make_object_name(row.name, None, f"check{attempt or ''}")
            attempt += 1
    elif ("constraint", row.oid, name) in catalog.other_names:
        raise ServerError("42710", 'constraint "{name}" for domain "{owner}" already exists', name=name, owner=row.name)
    oid = catalog.new_oid()
    catalog.add(OtherObject(oid, "constraint", name, row.oid, row.owner))
    catalog.definitions.put(("domain check", oid), constraint["raw_expr"])
    if constraint.get("skip_validation"):
        catalog.definitions.put(("domain check not valid", oid), True)
    catalog.depend((OTHER, oid, 0), (TYPE, row.oid, 0), AUTO)
    for function in functions_called(session, constraint.get("raw_expr")):
        catalog.depend((OTHER, oid, 0), (PROC, function, 0), NORMAL)
    catalog.check_domain(row.oid)


def alter_domain(session: Session, node: Node) -> None:
    """ALTER DOMAIN: NOT NULL and constraints (AlterDomainNotNull, AlterDomainAddConstraint, ...DropConstraint)."""
    catalog = session.catalog
    row = catalog.types.get(session.named_type(names(node["typeName"])))
    if row is None:
        return
    if row.kind != "d":
        raise ServerError("42809", f"{row.name} is not a domain")
    if not session.owns(row.owner):
        raise ServerError("42501", f"must be owner of domain {row.name}")
    subtype = node["subtype"]
    if subtype in ("O", "N"):
        catalog.types.put(row.oid, replace(row, not_null=subtype == "O"))
    elif subtype == "C":
        constraint = node["def"]["Constraint"]
        if constraint["contype"] == "CONSTR_NOTNULL":
            catalog.types.put(row.oid, replace(row, not_null=True))
        elif constraint["contype"] == "CONSTR_CHECK":
            _add_domain_check(session, row, constraint)
    elif subtype == "V":
        checked = catalog.other_names.get(("constraint", row.oid, node["name"]), 0)
        if ("domain check not valid", checked) in catalog.definitions:
            catalog.definitions.remove(("domain check not valid", checked))
    elif subtype == "X":
        name = node["name"]
        constraint_oid = catalog.other_names.get(("constraint", row.oid, name))
        if constraint_oid is not None:
            perform_deletion(session, [(OTHER, constraint_oid, 0)], node.get("behavior") == "DROP_CASCADE")
        elif name.endswith("not_null") and catalog.major.domain_not_null:
            catalog.types.put(row.oid, replace(row, not_null=False))
        elif not node.get("missing_ok"):
            raise ServerError("42704", f'constraint "{name}" of domain "{row.name}" does not exist')
