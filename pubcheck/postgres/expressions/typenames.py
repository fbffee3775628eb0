"""Type names in expressions (parser/parse_type.c)."""

from __future__ import annotations

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.expressions.state import ParseState
from pubcheck.postgres.parse import Node


def type_and_typmod(p: ParseState, type_name: Node) -> tuple[int, int]:
    """The type's oid and its modifier, -1 for none (typenameTypeIdAndMod).

    Raises ServerError 42704, 3F000, and those of the modifiers' input functions.
    """
    location: int = type_name.get("location", -1)
    try:
        oid = p.session.type_oid(type_name)
    except ServerError as error:
        if error.sqlstate != "42704":
            raise
        oid = 0
    if not oid:
        names = [part["String"]["sval"] for part in type_name["names"]]
        if len(names) > 1 and names[-2] not in p.session.catalog.namespace_names:
            raise p.missing("3F000", f'schema "{names[-2]}" does not exist', location)
        array = "[]" if "arrayBounds" in type_name else ""
        raise p.missing("42704", f'type "{".".join(names)}{array}" does not exist', location)
    p.cache.type(oid)
    if "typmods" not in type_name:
        return oid, type_name.get("typemod", 0)
    from pubcheck.postgres.literals.typmods import typmod_of

    return oid, typmod_of(p.cache, p.cache.element_type(oid) or oid, type_name["typmods"], location)
