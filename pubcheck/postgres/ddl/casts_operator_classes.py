"""CREATE CAST (functioncmds.c: CreateCast), and CREATE OPERATOR CLASS and FAMILY (commands/opclasscmds.c), as far as
they define comparisons.
"""

from __future__ import annotations

from pubcheck.postgres.catalog import AUTO, CAST, FIRST_NORMAL_OID, NORMAL, OPERATOR, OTHER, PROC, TYPE
from pubcheck.postgres.catalog.rows import OPERATOR_CLASSES, Cast, OperatorClass, OtherObject, Proc, Type
from pubcheck.postgres.ddl.new_objects import creation_name, depend_on_schema
from pubcheck.postgres.ddl.object_address import (
    all_objects_known,
    argument_types,
    find_named,
    find_proc,
    function_with,
    operator_with,
)
from pubcheck.postgres.ddl.object_descriptions import format_type
from pubcheck.postgres.ddl.types import known_type
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.oids import BOOL, INT4
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names
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


_METHODS = {"btree": "b", "hash": "h", "gin": "gin", "gist": "gist"}
_COMPARISON = 1
"""BTORDER_PROC and HASHSTANDARD_PROC: the support function that values are compared or hashed with."""


def create_family(session: Session, node: Node) -> None:
    """CREATE OPERATOR FAMILY (DefineOpFamily)."""
    namespace, name = creation_name(session, names(node["opfamilyname"]))
    _require_superuser(session, "family")
    _enter(session, "operator family", namespace, name)


def create_class(session: Session, node: Node) -> None:
    """CREATE OPERATOR CLASS (DefineOpClass). Only default classes of some access methods are kept as such."""
    catalog = session.catalog
    namespace, name = creation_name(session, names(node["opclassname"]))
    _require_superuser(session, "class")
    data_type = session.type_oid(node["datatype"])
    family = 0
    if "opfamilyname" in node:
        parts = names(node["opfamilyname"])
        family = find_named(
            session, parts, lambda schema, word: catalog.other_names.get(("operator family", schema, word))
        )
    operators: list[tuple[int, int, int, int]] = []
    functions: list[tuple[int, int, int]] = []
    used: list[tuple[str, int, int]] = [(TYPE, data_type, 0)]
    for item in node.get("items", ()):
        member = item["CreateOpClassItem"]
        number, name_node = member.get("number", 0), member.get("name", {})
        if member["itemtype"] == 1:
            left, right = (
                argument_types(session, name_node["objargs"]) if "objargs" in name_node else (data_type, data_type)
            )
            operator = operator_with(session, names(name_node["objname"]), left, right)
            if operator is not None:
                operators.append((left, right, number, operator.oid))
                used.append((OPERATOR, operator.oid, 0))
            elif all_objects_known(session) and left and right:
                operands = (
                    format_type(session, left),
                    ".".join(names(name_node["objname"])),
                    format_type(session, right),
                )
                raise ServerError("42883", f"operator does not exist: {' '.join(operands)}")
        elif member["itemtype"] == 2:
            proc = function_with(
                session, names(name_node["objname"]), argument_types(session, name_node.get("objargs", ()))
            )
            if proc is not None:
                used.append((PROC, proc.oid, 0))
                if number == _COMPARISON:
                    functions.append((*_compared(session, member, data_type), proc.oid))
    method = _METHODS.get(node["amname"], "")
    classes: tuple[OperatorClass, ...] = catalog.settings.get(OPERATOR_CLASSES, ())
    default = bool(node.get("isDefault") and method and data_type)
    if default and (
        (method, data_type) in session.syscache.builtin.default_classes
        or any((operator_class.method, operator_class.type) == (method, data_type) for operator_class in classes)
    ):
        shown = format_type(session, data_type)
        raise ServerError("42710", f'could not make operator class "{name}" be default for type {shown}')
    row = _enter(session, "operator class", namespace, name)
    depender = (OTHER, row.oid, 0)
    for target in dict.fromkeys(used):
        catalog.depend(depender, target, NORMAL)
    if family:
        catalog.depend(depender, (OTHER, family, 0), AUTO)
    if default:
        new_class = OperatorClass(row.oid, method, data_type, tuple(operators), tuple(functions))
        catalog.settings.put(OPERATOR_CLASSES, (*classes, new_class))


def _require_superuser(session: Session, kind: str) -> None:
    if not session.superuser():
        raise ServerError("42501", f"must be superuser to create an operator {kind}")


def _compared(session: Session, member: Node, data_type: int) -> tuple[int, int]:
    """The types that a support function is for: as said before its name, else the class's own."""
    if "class_args" not in member:
        return data_type, data_type
    types = argument_types(session, member["class_args"])
    return (types[0], types[-1]) if types else (data_type, data_type)


def _enter(session: Session, kind: str, namespace: int, name: str) -> OtherObject:
    """Add a class or family. Several access methods may have classes of the same name; one of them is enough."""
    catalog = session.catalog
    row = OtherObject(catalog.new_oid(), kind, name, namespace, session.setting("role"))
    if (kind, namespace, name) in catalog.other_names:
        catalog.others.put(row.oid, row)
    else:
        catalog.add(row)
    depend_on_schema(session, (OTHER, row.oid, 0), namespace)
    return row
