"""CREATE OPERATOR CLASS and FAMILY (commands/opclasscmds.c), as far as they define comparisons."""

from __future__ import annotations

from pubcheck.postgres.catalog import AUTO, NORMAL, OPERATOR, OTHER, PROC, TYPE
from pubcheck.postgres.catalog.rows import OtherObject
from pubcheck.postgres.catalog.value_order import OPERATOR_CLASSES, OperatorClass
from pubcheck.postgres.ddl.creation_namespace import creation_name, depend_on_schema
from pubcheck.postgres.ddl.object_address import (
    all_objects_known,
    argument_types,
    find_named,
    function_with,
    operator_with,
)
from pubcheck.postgres.ddl.object_descriptions import format_type
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names
from pubcheck.postgres.session import Session

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
