"""Objects as DROP, ALTER ... RENAME, SET SCHEMA and OWNER TO name them (objectaddress.c: get_object_address)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pubcheck.postgres.catalog import (
    CAST,
    COLLATION,
    INFORMATION_SCHEMA,
    NAMESPACE,
    OPERATOR,
    OTHER,
    PG_CATALOG,
    PROC,
    PUBLICATION,
    TEMPORARY,
    TYPE,
    Object,
)
from pubcheck.postgres.catalog.rows import Operator, Proc, Relation
from pubcheck.postgres.ddl.object_descriptions import RELATION_KINDS, format_type, object_noun
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import calls_in, list_items, names, range_var, strings
from pubcheck.postgres.session import Session

PROC_KINDS = {"OBJECT_FUNCTION": "fw", "OBJECT_PROCEDURE": "p", "OBJECT_AGGREGATE": "a", "OBJECT_ROUTINE": "fpaw"}

TABLE_OBJECTS = {"OBJECT_TRIGGER": "trigger", "OBJECT_RULE": "rule", "OBJECT_POLICY": "policy"}

OTHER_KINDS = {
    "OBJECT_ACCESS_METHOD": "access method",
    "OBJECT_CONVERSION": "conversion",
    "OBJECT_EVENT_TRIGGER": "event trigger",
    "OBJECT_EXTENSION": "extension",
    "OBJECT_FDW": "foreign-data wrapper",
    "OBJECT_FOREIGN_SERVER": "server",
    "OBJECT_LANGUAGE": "language",
    "OBJECT_OPCLASS": "operator class",
    "OBJECT_OPFAMILY": "operator family",
    "OBJECT_STATISTIC_EXT": "statistics object",
    "OBJECT_TSCONFIGURATION": "text search configuration",
    "OBJECT_TSDICTIONARY": "text search dictionary",
    "OBJECT_TSPARSER": "text search parser",
    "OBJECT_TSTEMPLATE": "text search template",
}
"""Object type -> the kind of its row in ``Catalog.others``, which is also the server's word for it."""


def find_object(session: Session, kind: str, node: Node, *, missing_ok: bool = False) -> Object | None:
    """Return the object that a parse tree of a DROP or ALTER names; None if it is unknown, or missing with IF EXISTS.

    Raises ServerError if it certainly does not exist, or is of another kind.
    """
    catalog = session.catalog
    if kind in ("OBJECT_TYPE", "OBJECT_DOMAIN"):
        return find_type(session, kind, node, missing_ok=missing_ok)
    if kind in PROC_KINDS:
        proc = find_proc(session, kind, node["ObjectWithArgs"], missing_ok=missing_ok)
        return (PROC, proc.oid, 0) if proc else None
    if kind == "OBJECT_OPERATOR":
        operator = find_operator(session, node["ObjectWithArgs"], missing_ok=missing_ok)
        return (OPERATOR, operator.oid, 0) if operator else None
    if kind == "OBJECT_CAST":
        return _find_cast(session, node, missing_ok)
    if kind == "OBJECT_SCHEMA":
        name = node["String"]["sval"]
        if missing_ok and name not in catalog.namespace_names:
            return None
        return NAMESPACE, session.namespace(name).oid, 0
    if kind == "OBJECT_PUBLICATION":
        name = node["String"]["sval"]
        if missing_ok and name not in catalog.publication_names:
            return None
        return PUBLICATION, session.publication(name).oid, 0
    if kind == "OBJECT_COLLATION":
        parts = strings(list_items(node))
        oid = find_named(session, parts, lambda namespace, name: catalog.collation_names.get((namespace, name)))
        return (COLLATION, oid, 0) if oid else None
    if kind in TABLE_OBJECTS:
        *table, name = strings(list_items(node))
        if not table:
            return None
        rv = range_var(table)
        relation = session.find_relation(rv) if missing_ok else session.relation(rv)
        if relation is None:
            return None
        return find_on_table(session, kind, relation, name, missing_ok=missing_ok)
    if kind in OTHER_KINDS:
        word = OTHER_KINDS[kind]
        if "String" in node:
            parts = [node["String"]["sval"]]
            oid = catalog.other_names.get((word, 0, parts[0]), 0)
        else:
            parts = strings(list_items(node))
            if kind in ("OBJECT_OPCLASS", "OBJECT_OPFAMILY"):
                parts = parts[1:]
            oid = find_named(session, parts, lambda schema, name: catalog.other_names.get((word, schema, name)))
        return (OTHER, oid, 0) if oid else None
    return None


def find_named(session: Session, parts: list[str], look_up: Any) -> int:
    """Return the object of a qualified name, or the first of an unqualified one on the search path; 0 without one."""
    if not parts:
        return 0
    for namespace in namespaces(session, parts):
        oid: int | None = look_up(namespace, parts[-1])
        if oid is not None:
            return oid
    return 0


def namespaces(session: Session, parts: list[str]) -> tuple[int, ...]:
    """Return the schemas in which a (qualified) name is looked up."""
    if len(parts) < 2:
        return session.path
    if parts[-2] == "pg_temp":
        return (TEMPORARY,)
    namespace = session.catalog.namespace_names.get(parts[-2])
    return () if namespace is None else (namespace,)


def all_objects_known(session: Session) -> bool:
    """Return whether an object that is not in the catalog certainly does not exist."""
    return session.complete and not session.blind and not session.extensions


def find_relation(session: Session, kind: str, rv: Node, *, missing_ok: bool) -> Relation | None:
    """Return the relation of a statement about relations of one kind; None if it is missing with IF EXISTS.

    Raises ServerError 42P01, and 42809 for a relation of another kind. ALTER TABLE takes any kind but composite types
    (RangeVarCallbackForAlterRelation); an unknown relation may be of any kind.
    """
    row = session.find_relation(rv) if missing_ok else session.relation(rv)
    if row is None or not row.seen:
        return row
    if kind == "OBJECT_TABLE":
        if row.kind == "c":
            raise ServerError("42809", f'"{row.name}" is a composite type', hint="Use ALTER TYPE instead.")
    elif kind in RELATION_KINDS and row.kind not in RELATION_KINDS[kind]:
        raise ServerError("42809", f'"{row.name}" is not {object_noun(kind)}')
    return row


def find_type(session: Session, kind: str, node: Node, *, missing_ok: bool = False) -> Object | None:
    """Return a type or a domain from a TypeName or a list of strings."""
    try:
        if "TypeName" in node:
            oid = session.type_oid(node["TypeName"], shells=True)
        else:
            oid = session.named_type(strings(list_items(node)))
    except ServerError:
        if missing_ok:
            return None
        raise
    if not oid:
        return None
    row = session.catalog.types.get(oid)
    if kind == "OBJECT_DOMAIN" and row is not None and row.kind != "d":
        raise ServerError("42809", f'"{row.name}" is not a domain')
    return TYPE, oid, 0


def argument_types(session: Session, nodes: Iterable[Node]) -> tuple[int, ...]:
    """Return the types of an argument list; 0 for an unknown one, and for NONE."""
    return tuple(session.type_oid(node["TypeName"], shells=True) if "TypeName" in node else 0 for node in nodes)


def find_proc(session: Session, kind: str, node: Node, *, missing_ok: bool = False) -> Proc | None:
    """Return the routine of an ObjectWithArgs (LookupFuncWithArgs); None if it is unknown.

    Raises ServerError 42883, 42725 (several of that name), 42809 (of another kind).
    """
    catalog = session.catalog
    parts = names(node["objname"])
    expected = PROC_KINDS.get(kind, "fpaw")
    path = namespaces(session, parts)
    if PG_CATALOG in path:
        rows = procs_named(session, parts)
    else:
        rows = [catalog.procs[oid] for namespace in path for oid in catalog.proc_names.get((namespace, parts[-1]))]
    if node.get("args_unspecified"):
        rows = [row for row in rows if row.kind in expected]
        if len(rows) > 1:
            raise ServerError("42725", f'function name "{parts[-1]}" is not unique')
    else:
        try:
            arguments = argument_types(session, node.get("objargs", ()))
        except ServerError:
            if missing_ok:
                return None
            raise
        everything = arguments
        if kind in ("OBJECT_PROCEDURE", "OBJECT_ROUTINE") and "objfuncargs" in node:
            # Of a procedure the arguments may be given with or without the OUT ones.
            parameters = [item["FunctionParameter"] for item in node["objfuncargs"]]
            given_in = [item for item in parameters if item.get("mode") not in ("FUNC_PARAM_OUT", "FUNC_PARAM_TABLE")]
            everything = tuple(session.type_oid(item["argType"], shells=True) for item in given_in)
        rows = [row for row in rows if row.arguments in (arguments, everything)]
    if not rows:
        if all_objects_known(session) and not missing_ok:
            word = (
                "aggregate" if kind == "OBJECT_AGGREGATE" else "procedure" if kind == "OBJECT_PROCEDURE" else "function"
            )
            if node.get("args_unspecified"):
                raise ServerError("42883", f'could not find a {word} named "{".".join(parts)}"')
            listed = ", ".join(format_type(session, oid) if oid else "-" for oid in arguments)
            listed = "*" if not arguments and word == "aggregate" else listed
            raise ServerError("42883", f"{word} {'.'.join(parts)}({listed}) does not exist")
        return None
    if rows[0].kind not in expected:
        descriptions = {"f": "a function", "w": "a function", "p": "a procedure", "a": "an aggregate function"}
        kinds = {"OBJECT_FUNCTION": "a function", "OBJECT_PROCEDURE": "a procedure", "OBJECT_AGGREGATE": "an aggregate"}
        if kind == "OBJECT_FUNCTION" and rows[0].kind == "a":
            raise ServerError("42809", f'"{parts[-1]}" is {descriptions["a"]}')
        raise ServerError("42809", f"{parts[-1]} is not {kinds.get(kind, 'a function')}")
    return rows[0]


def procs_named(session: Session, parts: list[str]) -> list[Proc]:
    """Return the functions of a name, the server's and the unit's, in the order of the search path."""
    catalog, name = session.catalog, parts[-1]
    procs: dict[int, Proc] = {}
    for namespace in namespaces(session, parts):
        if namespace == TEMPORARY and len(parts) == 1:
            continue  # never searched for functions
        procs.update((oid, catalog.procs[oid]) for oid in catalog.proc_names.get((namespace, name)))
        if namespace in (PG_CATALOG, INFORMATION_SCHEMA):
            for row in session.syscache.builtin.procs(name):
                held = catalog.procs.get(row.oid, row)
                if (held.namespace, held.name) == (namespace, name):
                    procs[row.oid] = held
    return list(procs.values())


def functions_named(session: Session, parts: list[str]) -> list[int]:
    """Return the unit's functions of a name, in the first schema of the search path that has any."""
    for namespace in namespaces(session, parts):
        oids = session.catalog.proc_names.get((namespace, parts[-1]))
        if oids:
            return oids
    return []


def accepts(row: Proc, count: int, *, several: bool) -> bool:
    """Return whether a function, or a procedure with its OUT arguments, accepts that many arguments.

    ``several``: a VARIADIC parameter takes the remaining arguments, at least one.
    """
    most = len(row.arguments) + (row.modes.count("o") if row.kind == "p" else 0)
    return most - row.defaults <= count and (count <= most or (several and row.variadic != 0))


def functions_called(session: Session, tree: Any) -> list[int]:
    """Return the unit's functions that an expression calls, if name and number of arguments leave one candidate."""
    return functions_of(session, calls_in(tree)) if tree and session.catalog.procs else []


def functions_of(session: Session, calls: Iterable[Node]) -> list[int]:
    """Return the unit's functions that these calls call, if name and number of arguments leave one candidate."""
    catalog = session.catalog
    oids: dict[int, None] = {}
    for call in calls if catalog.procs else ():
        count = len(call.get("args", ()))
        several = not call.get("func_variadic")
        candidates = [
            oid
            for oid in functions_named(session, names(call["funcname"]))
            if accepts(catalog.procs[oid], count, several=several)
        ]
        if len(candidates) == 1:
            oids[candidates[0]] = None
    return list(oids)


def function_with(session: Session, parts: list[str], arguments: tuple[int, ...]) -> Proc | None:
    """Return the function of a name with exactly these arguments (LookupFuncName); None if it is unknown.

    If the type of an argument is unknown, it is the only function of that name with as many. Raises ServerError 42883.
    """
    rows = procs_named(session, parts)
    if 0 in arguments:
        rows = [row for row in rows if len(row.arguments) == len(arguments)]
        return rows[0] if len(rows) == 1 else None
    for row in rows:
        if row.arguments == arguments:
            return row
    if all_objects_known(session) and not any(0 in row.arguments for row in rows):
        signature = ", ".join(format_type(session, argument) for argument in arguments)
        raise ServerError("42883", f"function {'.'.join(parts)}({signature}) does not exist")
    return None


def operator_with(session: Session, parts: list[str], left: int, right: int) -> Operator | None:
    """Return the operator of a name with exactly these operands, or a shell (OperatorLookup); None without one."""
    if not right:
        return None
    catalog, name = session.catalog, parts[-1]
    for namespace in namespaces(session, parts):
        rows = [catalog.operators[oid] for oid in catalog.operator_names.get((namespace, name))]
        if namespace == PG_CATALOG:
            rows += session.syscache.builtin.operators(name, not left)
        for row in rows:
            if (row.left, row.right) == (left, right):
                return row
    return None


def find_operator(session: Session, node: Node, *, missing_ok: bool = False) -> Operator | None:
    """Return the operator of an ObjectWithArgs with exactly those operands; None if it is unknown.

    Raises ServerError 42883.
    """
    catalog = session.catalog
    parts = names(node["objname"])
    try:
        operands = argument_types(session, node.get("objargs", ()))
    except ServerError:
        if missing_ok:
            return None
        raise
    for namespace in namespaces(session, parts):
        for oid in catalog.operator_names.get((namespace, parts[-1])):
            row = catalog.operators[oid]
            if operands in ((row.left, row.right), (row.right,)):
                return row
    if all_objects_known(session) and not missing_ok:
        raise ServerError("42883", f"operator does not exist: {'.'.join(parts)}")
    return None


def _find_cast(session: Session, node: Node, missing_ok: bool) -> Object | None:
    types = argument_types(session, list_items(node))
    for row in session.catalog.casts.values():
        if (row.source, row.target) == types:
            return CAST, row.oid, 0
    if len(types) == 2 and 0 not in types and session.syscache.cast(*types) is not None:
        description = f"cast from {format_type(session, types[0])} to {format_type(session, types[1])}"
        raise ServerError("2BP01", f"cannot drop {description} because it is required by the database system")
    if not missing_ok and all_objects_known(session) and 0 not in types:
        raise ServerError("42704", "cast does not exist")
    return None


def find_on_table(
    session: Session, kind: str, relation: Relation, name: str, *, missing_ok: bool = False
) -> Object | None:
    """Return a trigger, rule or policy of a relation; None if it is unknown."""
    word = TABLE_OBJECTS[kind]
    oid = session.catalog.other_names.get((word, relation.oid, name))
    if oid is not None:
        return OTHER, oid, 0
    if not missing_ok and relation.seen and all_objects_known(session):
        raise ServerError("42704", f'{word} "{name}" for table "{relation.name}" does not exist')
    return None
