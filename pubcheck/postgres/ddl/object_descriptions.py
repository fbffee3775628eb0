"""The server's words for objects in its messages: kinds of relations (catalog/objectaddress.c, utils/error:
errdetail_relkind_not_supported), and descriptions (getObjectDescription).
"""

from __future__ import annotations

from pubcheck.postgres.builtins import builtins
from pubcheck.postgres.catalog import (
    CAST,
    COLLATION,
    CONSTRAINT,
    DEFAULT,
    FIRST_NORMAL_OID,
    NAMESPACE,
    OPERATOR,
    OTHER,
    PG_CATALOG,
    PROC,
    PUBLICATION,
    PUBLICATION_EXCLUSION,
    PUBLICATION_NAMESPACE,
    PUBLICATION_REL,
    RELATION,
    ROLE,
    TYPE,
    Object,
)
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import CHAR, SQL_NAMES
from pubcheck.postgres.session import Session
from pubcheck.postgres.tokens import quote_identifier

RELKIND_PLURAL = {
    "r": "tables",
    "p": "partitioned tables",
    "v": "views",
    "m": "materialized views",
    "i": "indexes",
    "I": "partitioned indexes",
    "S": "sequences",
    "t": "TOAST tables",
    "c": "composite types",
    "f": "foreign tables",
    "g": "property graphs",
}

RELKIND_NOUN = {
    "r": "table",
    "p": "table",
    "t": "table",
    "v": "view",
    "m": "materialized view",
    "i": "index",
    "I": "index",
    "S": "sequence",
    "c": "type",
    "f": "foreign table",
    "g": "property graph",
}
"""The object type by which aclcheck_error names a relation (get_relkind_objtype)."""


RELKIND_SINGULAR = {
    "r": "a table",
    "p": "a partitioned table",
    "v": "a view",
    "m": "a materialized view",
    "i": "an index",
    "I": "a partitioned index",
    "S": "a sequence",
    "t": "a TOAST table",
    "c": "a composite type",
    "f": "a foreign table",
    "g": "a property graph",
}


def not_supported_for(kind: str) -> str:
    """The DETAIL of an operation that a kind of relation does not take."""
    return f"This operation is not supported for {RELKIND_PLURAL[kind]}."


RELATION_KINDS = {
    "OBJECT_TABLE": "rp",
    "OBJECT_VIEW": "v",
    "OBJECT_MATVIEW": "m",
    "OBJECT_INDEX": "iI",
    "OBJECT_SEQUENCE": "S",
    "OBJECT_FOREIGN_TABLE": "f",
    "OBJECT_PROPGRAPH": "g",
}
"""The kind of object that a statement names -> the relkinds it means."""


def object_noun(kind: str) -> str:
    """Return the noun, with its article, for the relations that a kind of object means."""
    return RELKIND_SINGULAR[RELATION_KINDS[kind][0]]


KINDS = {
    "r": "table",
    "p": "table",
    "i": "index",
    "I": "index",
    "S": "sequence",
    "t": "toast table",
    "v": "view",
    "m": "materialized view",
    "c": "composite type",
    "f": "foreign table",
    "g": "property graph",
}
"""relkind -> the word of getRelationDescription."""

ON_TABLE = ("trigger", "rule", "policy")
"""Kinds of Other whose ``namespace`` is the oid of the relation they belong to."""


def quote(session: Session, name: str) -> str:
    """quote_identifier of the session's server."""
    return quote_identifier(name, session.catalog.major.number)


def relation_name(session: Session, row: Relation) -> str:
    """Return the relation's name, with its schema unless the search path leads to it (RelationIsVisible)."""
    visible = session.find_unqualified(row.name)
    if visible is not None and visible.oid == row.oid:
        return quote(session, row.name)
    return f"{_schema(session, row.namespace)}.{quote(session, row.name)}"


def describe_relation(session: Session, oid: int) -> str:
    row = session.catalog.relations.get(oid)
    if row is None:
        return "relation"
    return f"{KINDS.get(row.kind, 'relation')} {relation_name(session, row)}"


def describe(session: Session, target: Object) -> str:
    """The server's words for an object: 'column a of table t', 'publication of table t in publication p'..."""
    kind, oid, number = target
    catalog = session.catalog
    if kind == RELATION:
        relation = describe_relation(session, oid)
        return f"column {_column(session, oid, number)} of {relation}" if number else relation
    if kind == CONSTRAINT:
        constraint = catalog.constraints[oid]
        if constraint.relation in catalog.relations:
            return f"constraint {constraint.name} on {describe_relation(session, constraint.relation)}"
        return f"constraint {constraint.name}"
    if kind == DEFAULT:
        column = column_of_default(session, oid)
        return f"default value for {describe(session, column)}" if column else "default value"
    if kind == TYPE:
        return f"type {format_type(session, oid)}"
    if kind == PROC:
        return f"function {format_procedure(session, oid)}"
    if kind == OPERATOR:
        return f"operator {format_operator(session, oid)}"
    if kind == CAST:
        cast = catalog.casts[oid]
        return f"cast from {format_type(session, cast.source)} to {format_type(session, cast.target)}"
    if kind == COLLATION:
        collation = catalog.collations[oid]
        return f"collation {_qualified(session, collation.namespace, collation.name, catalog.collation_names)}"
    if kind == NAMESPACE:
        return f"schema {catalog.namespaces[oid].name}"
    if kind == PUBLICATION:
        return f"publication {catalog.publications[oid].name}"
    if kind == PUBLICATION_REL:
        member = catalog.publication_rels[oid]
        publication = catalog.publications[member.publication].name
        return f"publication of {describe_relation(session, member.relation)} in publication {publication}"
    if kind == PUBLICATION_EXCLUSION:
        exclusion = catalog.publication_exclusions[oid]
        publication = catalog.publications[exclusion.publication].name
        return f"publication of {describe_relation(session, exclusion.relation)} in publication {publication}"
    if kind == PUBLICATION_NAMESPACE:
        schema = catalog.publication_namespaces[oid]
        publication = catalog.publications[schema.publication].name
        return f"publication of schema {catalog.namespaces[schema.namespace].name} in publication {publication}"
    if kind == ROLE:
        return f"role {catalog.roles[oid].name}"
    if kind == OTHER:
        return _describe_other(session, oid)
    return "object"


def _describe_other(session: Session, oid: int) -> str:
    catalog = session.catalog
    row = catalog.others[oid]
    if row.kind in ON_TABLE:
        return f"{row.kind} {row.name} on {describe_relation(session, row.namespace)}"
    if row.namespace in catalog.namespaces:
        for namespace in session.path:
            visible = catalog.other_names.get((row.kind, namespace, row.name))
            if visible is not None:
                if visible == oid:
                    return f"{row.kind} {quote(session, row.name)}"
                break
        return f"{row.kind} {_schema(session, row.namespace)}.{quote(session, row.name)}"
    return f"{row.kind} {row.name}"


def column_of_default(session: Session, oid: int) -> Object | None:
    """The column that a default belongs to."""
    for key, (_, number, _) in session.catalog.dependencies.get((DEFAULT, oid)):
        if key[0] == RELATION and number:
            return RELATION, key[1], number
    return None


def _column(session: Session, relation: int, number: int) -> str:
    row = session.catalog.relations.get(relation)
    if row is not None and 0 < number <= len(row.columns):
        return row.columns[number - 1].name
    return str(number)


def _schema(session: Session, namespace: int) -> str:
    row = session.catalog.namespaces.get(namespace)
    return quote(session, row.name) if row is not None else ""


def _qualified(session: Session, namespace: int, name: str, names_in_use: dict[tuple[int, str], int]) -> str:
    """A name, with its schema unless it is the first of that name on the search path."""
    for candidate in session.path:
        if (candidate, name) in names_in_use:
            if candidate == namespace:
                return quote(session, name)
            break
    return f"{_schema(session, namespace)}.{quote(session, name)}"


def format_type(session: Session, oid: int) -> str:
    """format_type_be: 'integer', 's.mood', 'text[]'; '???' for a type that is not visible."""
    catalog = session.catalog
    if oid >= FIRST_NORMAL_OID:
        row = catalog.types.get(oid)
        if row is None:
            return "???"
        if row.subscript == "a" and row.name.startswith("_"):
            return f"{format_type(session, row.element)}[]"
        return _qualified(session, row.namespace, row.name, catalog.type_names)
    type_name = builtins(catalog.major.number).type_named(oid)
    if type_name is None:
        return "???"
    schema, name = type_name
    if schema != "pg_catalog":
        return f"{schema}.{name}"
    brackets = "[]" if name.startswith("_") and name != "_" else ""
    if brackets:
        name = name[1:]
        oid = builtins(catalog.major.number).type("pg_catalog", name)
    return ('"char"' if oid == CHAR else SQL_NAMES.get(oid, name)) + brackets


def format_procedure(session: Session, oid: int) -> str:
    """regprocedureout: 'f(integer,text)'."""
    catalog = session.catalog
    row = catalog.procs.get(oid) or session.syscache.proc(oid)
    arguments = ",".join(format_type(session, argument) for argument in row.arguments)
    visible = False
    for namespace in session.path:
        namesakes = (catalog.procs[proc] for proc in catalog.proc_names.get((namespace, row.name)))
        if namespace == row.namespace or any(proc.arguments == row.arguments for proc in namesakes):
            visible = namespace == row.namespace
            break
    name = quote(session, row.name) if visible else f"{_schema(session, row.namespace)}.{quote(session, row.name)}"
    return f"{name}({arguments})"


def format_operator(session: Session, oid: int) -> str:
    """regoperatorout: '=(integer,text)', 'NONE' for the missing operand of a prefix operator."""
    catalog = session.catalog
    row = catalog.operators[oid]
    left = format_type(session, row.left) if row.left else "NONE"
    visible = row.namespace in session.path or row.namespace == PG_CATALOG
    name = row.name if visible else f"{_schema(session, row.namespace)}.{row.name}"
    return f"{name}({left},{format_type(session, row.right)})"


def not_alterable(action: str, relation: Relation, key: str | None = None) -> ServerError:
    """Return the error, with a key if it is reported."""
    return ServerError(
        "42809",
        'ALTER action {action} cannot be performed on relation "{relation}"',
        key=key,
        detail=not_supported_for(relation.kind),
        action=action,
        relation=relation.name,
        kind=RELKIND_SINGULAR[relation.kind],
    )
