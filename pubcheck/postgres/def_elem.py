"""Values in lists of definitions, ``name = value``, as options and attributes are written (commands/define.c)."""

from __future__ import annotations

from collections.abc import Mapping

from pubcheck.postgres.identifiers import ascii_lower
from pubcheck.postgres.parse import Node


def value_text(arg: Node | None) -> str:
    """A definition's value as text (defGetString); "" of one without."""
    if not arg:
        return ""
    ((kind, body),) = arg.items()
    if kind == "String":
        return str(body.get("sval", ""))
    if kind == "Integer":
        return str(body.get("ival", 0))
    if kind == "Float":
        return str(body["fval"])
    if kind == "Boolean":
        return "true" if body.get("boolval") else "false"
    if kind == "TypeName":
        return _type_name(body)
    if kind == "List":
        return ".".join(item.get("String", {}).get("sval", "*") for item in body.get("items", ()))
    return "*"


def _type_name(body: Node) -> str:
    """TypeNameToString."""
    text = ".".join(part["String"]["sval"] for part in body["names"])
    if body.get("pct_type"):
        text += "%TYPE"
    if "arrayBounds" in body:
        text += "[]"
    return text


def truth(arg: Node | None) -> bool | None:
    """A definition's value as a Boolean: nothing, 0 or 1, or one of four words; None of any other (defGetBoolean)."""
    if not arg:
        return True
    if "Integer" in arg:
        return {0: False, 1: True}.get(arg["Integer"].get("ival", 0))
    return {"true": True, "on": True, "false": False, "off": False}.get(ascii_lower(value_text(arg)))


def is_true(definitions: Mapping[str, Node], name: str) -> bool:
    """Return whether a definition is there and true (defGetBoolean); one without a value is."""
    return name in definitions and truth(definitions[name]) is True
