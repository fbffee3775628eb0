"""Type names in expressions (parser/parse_type.c)."""

from __future__ import annotations

from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.errors import NO_SCHEMA, ServerError, Unknowable
from pubcheck.postgres.parse import Node


def type_and_typmod(p: ParseState, type_name: Node) -> tuple[int, int]:
    """The type's oid and its modifier, -1 for none (typenameTypeIdAndMod).

    Raises ServerError 42704, 3F000, and those of the modifiers' input functions.
    """
    location: int = type_name.get("location", -1)
    names = [part["String"]["sval"] for part in type_name["names"]]
    try:
        oid = p.session.type_oid(type_name)
    except ServerError as error:
        if error.sqlstate not in ("42704", "3F000"):
            raise
        raise _missing(p, names, type_name, location) from None
    if not oid:
        if not p.cache.complete_names:
            raise Unknowable(f'type "{".".join(names)}"', location)
        raise _missing(p, names, type_name, location)
    p.cache.type(oid)
    if "typmods" not in type_name:
        return oid, type_name.get("typemod", 0)
    from pubcheck.postgres.input.typmods import typmod_of

    return oid, typmod_of(p.cache, oid, type_name["typmods"], location, _written(names, type_name))


def _written(names: list[str], type_name: Node) -> str:
    """TypeNameToString."""
    return ".".join(names) + ("[]" if "arrayBounds" in type_name else "")


def _missing(p: ParseState, names: list[str], type_name: Node, location: int) -> ServerError:
    """The refusal of a name that no type has."""
    if len(names) > 1 and names[-2] not in p.session.catalog.namespace_names:
        return p.error("3F000", NO_SCHEMA, location, "no-schema-of-expression", schema=names[-2])
    message = 'type "{name}" does not exist'
    return p.error("42704", message, location, "no-type", name=_written(names, type_name))
