"""CREATE TYPE x (...) and the shell that comes before it (commands/typecmds.c: DefineType)."""

from __future__ import annotations

from pubcheck.postgres.catalog import NORMAL, PROC, TYPE
from pubcheck.postgres.catalog.rows import Type
from pubcheck.postgres.ddl.creation_namespace import creation_name
from pubcheck.postgres.ddl.object_address import functions_named
from pubcheck.postgres.ddl.type_modifiers import DEFAULT_COLLATION
from pubcheck.postgres.ddl.types import free_type_name, make_shell, new_type, shell_named
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import is_true, names, value_text
from pubcheck.postgres.session import Session


def create_base(session: Session, node: Node) -> None:
    """CREATE TYPE x, a shell, and CREATE TYPE x (...), which fills one in (DefineType)."""
    catalog = session.catalog
    namespace, name = creation_name(session, names(node["defnames"]))
    shell = shell_named(session, namespace, name)
    if shell is None:
        free_type_name(session, namespace, name)
    owner = session.setting("role")
    if "definition" not in node:
        if shell is not None:
            raise ServerError("42710", 'type "{name}" already exists', name=name)
        make_shell(session, namespace, name)
        return
    options = {item["DefElem"]["defname"]: item["DefElem"].get("arg", {}) for item in node["definition"]}
    for needed in ("input", "output"):
        if needed not in options:
            raise ServerError("42P17", f"type {needed} function must be specified")
    if shell is None and session.complete and not session.blind:
        raise ServerError("42710", f'type "{name}" does not exist')
    element = session.type_oid(options["element"]["TypeName"]) if "TypeName" in options.get("element", {}) else 0
    category = value_text(options.get("category"))[:1] or "U"
    if not " " <= category <= "~":
        raise ServerError("22023", f'invalid type category "{value_text(options["category"])}": must be simple ASCII')
    row = Type(
        shell.oid if shell is not None else catalog.new_oid(),
        name,
        namespace,
        owner,
        "b",
        element=element,
        category=category,
        preferred=is_true(options, "preferred"),
        collation=DEFAULT_COLLATION if is_true(options, "collatable") else 0,
        subscript=_subscripts(options, element),
        seen=True,
    )
    row = new_type(session, row)
    for which in ("input", "output", "receive", "send", "typmod_in", "typmod_out", "analyze", "subscript"):
        function_name = options.get(which, {}).get("TypeName")
        if function_name is not None:
            for function in functions_named(session, names(function_name["names"])):
                catalog.depend((TYPE, row.oid, 0), (PROC, function, 0), NORMAL)


def _subscripts(options: dict[str, Node], element: int) -> str:
    """Return the element type of a base type's subscripts: by its handler, else as for a fixed-length array."""
    handler = value_text(options.get("subscript")).rpartition(".")[2]
    if not handler:
        return "f" if element else ""
    return {"array_subscript_handler": "a", "raw_array_subscript_handler": "f", "jsonb_subscript_handler": "j"}.get(
        handler, "u"
    )
