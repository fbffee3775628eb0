"""CREATE CAST (functioncmds.c: CreateCast)."""

from __future__ import annotations

from pubcheck.postgres.catalog import CAST, FIRST_NORMAL_OID, NORMAL, PROC, TYPE
from pubcheck.postgres.catalog.rows import Cast, Proc, Type
from pubcheck.postgres.ddl.object_address import find_proc
from pubcheck.postgres.ddl.object_descriptions import format_type
from pubcheck.postgres.ddl.type_modifiers import known_type
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.oids import BOOL, INT4
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session


def create_cast(session: Session, node: Node) -> None:
    """CREATE CAST (CreateCast). A cast of unknown types is unknown itself.

    Raises ServerError 42809, 42501, 42P17, 42883, 42710.
    """
    catalog = session.catalog
    source, target = session.type_oid(node["sourcetype"]), session.type_oid(node["targettype"])
    function = find_proc(session, "OBJECT_FUNCTION", node["func"]) if "func" in node else None
    source_type, target_type = known_type(session, source), known_type(session, target)
    if source_type is None or target_type is None:
        return
    for row, which in ((source_type, "source"), (target_type, "target")):
        if row.kind == "p":
            raise ServerError("42809", f"{which} data type {format_type(session, row.oid)} is a pseudo-type")
    if not session.owns(source_type.owner) and not session.owns(target_type.owner):
        message = f"must be owner of type {format_type(session, source)} or type {format_type(session, target)}"
        raise ServerError("42501", message)
    if function is not None:
        _check_cast_function(session, function, source, target)
    elif "func" not in node and not node.get("inout"):
        _check_binary_cast(session, source_type, target_type)
    if source == target and (function is None or len(function.arguments) < 2):
        raise ServerError("42P17", "source data type and target data type are the same")
    if session.syscache.cast(source, target) is not None:
        message = f"cast from type {format_type(session, source)} to type {format_type(session, target)} already exists"
        raise ServerError("42710", message)
    context = {"COERCION_IMPLICIT": "i", "COERCION_ASSIGNMENT": "a"}.get(node.get("context", ""), "e")
    cast = Cast(
        catalog.new_oid(),
        source,
        target,
        function.oid if function else 0,
        context,
        "f" if "func" in node else "i" if node.get("inout") else "b",
    )
    catalog.casts.put(cast.oid, cast)
    depender = (CAST, cast.oid, 0)
    for oid in (source, target):
        catalog.depend(depender, (TYPE, oid, 0), NORMAL)
    if function is not None:
        catalog.depend(depender, (PROC, function.oid, 0), NORMAL)


def _check_cast_function(session: Session, function: Proc, source: int, target: int) -> None:
    """Check a cast's function. Raises ServerError 42P17."""
    arguments = function.arguments
    try:
        if not 1 <= len(arguments) <= 3:
            raise ServerError("42P17", "cast function must take one to three arguments")
        if arguments[0] and not session.syscache.binary_coercible(source, arguments[0]):
            message = "argument of cast function must match or be binary-coercible from source data type"
            raise ServerError("42P17", message)
        for position, (expected, name) in enumerate(((INT4, "integer"), (BOOL, "boolean")), 1):
            if len(arguments) > position and arguments[position] not in (0, expected):
                which = ("second", "third")[position - 1]
                raise ServerError("42P17", f"{which} argument of cast function must be type {name}")
        if function.returns and not session.syscache.binary_coercible(function.returns, target):
            message = "return data type of cast function must match or be binary-coercible to target data type"
            raise ServerError("42P17", message)
    except Unknowable:
        return
    if function.kind != "f":
        raise ServerError("42P17", "cast function must be a normal function")
    if function.returns_set:
        raise ServerError("42P17", "cast function must not return a set")


_LENGTHS = {
    **dict.fromkeys((16, 18), 1),
    21: 2,
    **dict.fromkeys((23, 24, 26, 28, 29, 700, 1082, 2202, 2203, 2204, 2205, 2206, 3734, 3769, 4089, 4096, 4191), 4),
    **dict.fromkeys((20, 701, 790, 1083, 1114, 1184, 3220, 5069), 8),
    **dict.fromkeys((19, 27, 600, 601, 603, 628, 718, 774, 829, 1186, 1266, 2950), -1),
}
"""typlen of the built-in types that are passed by value; -1 of others that are not a varlena."""


def _check_binary_cast(session: Session, source: Type, target: Type) -> None:
    """Check a cast WITHOUT FUNCTION. The length of the values of most types is unknown here. Raises ServerError
    42501, 42P17."""
    if not session.superuser():
        raise ServerError("42501", "must be superuser to create a cast WITHOUT FUNCTION")
    for row in (source, target):
        word = {"c": "composite", "r": "range", "m": "range", "e": "enum"}.get(row.kind, "")
        word = "array" if row.subscript == "a" else word
        if word in ("composite", "array", "enum") or (
            word == "range" and session.catalog.major.ranges_not_binary_compatible
        ):
            raise ServerError("42P17", f"{word} data types are not binary-compatible")
    if source.oid < FIRST_NORMAL_OID > target.oid and _LENGTHS.get(source.oid) != _LENGTHS.get(target.oid):
        raise ServerError("42P17", "source and target data types are not physically compatible")
    if "d" in (source.kind, target.kind):
        raise ServerError("42P17", "domain data types must not be marked binary-compatible")
