"""Input of types made of others: composite types (rowtypes.c), enums (enum.c) and domains (domains.c).

Arrays and ranges have modules of their own; the code that all of them share is here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pubcheck.postgres.catalog import FIRST_NORMAL_OID, INFORMATION_SCHEMA
from pubcheck.postgres.catalog.rows import Type
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.input.common import SPACE, input_error
from pubcheck.postgres.input.dispatch import InputContext


def malformed(kind: str, text: str, detail: str | None) -> ServerError:
    return input_error(
        "22P02", 'malformed {kind} literal: "{text}"', detail, key="literal-malformed", kind=kind, text=text
    )


def read_element(context: InputContext, type_oid: int, text: str | None, typmod: int) -> Any:
    """An element, bound or field; None is NULL, which only a domain may refuse."""
    if text is not None:
        return context.read(type_oid, text, typmod)
    row = context.cache.type(type_oid)
    if row.kind == "d":
        read_domain(context, row, None)
    return None


def bounded(kind: str, text: str, pos: int, ends: str) -> tuple[str | None, int]:
    """A bound or field up to an unquoted end; None where there is nothing (range_parse_bound, record_in)."""
    if text[pos : pos + 1] and text[pos] in ends:
        return None, pos
    characters: list[str] = []
    in_quotes = False
    while True:
        character = text[pos : pos + 1]
        if character and not in_quotes and character in ends:
            return "".join(characters), pos
        pos += 1
        if character == "\\":
            character = text[pos : pos + 1]
            pos += 1
            characters.append(character)
        elif character == '"':
            if in_quotes and text[pos : pos + 1] == '"':
                characters.append(character)
                pos += 1
            else:
                in_quotes = not in_quotes
        else:
            characters.append(character)
        if not character:
            raise malformed(kind, text, "Unexpected end of input.")


# Enums and domains.


def read_enum(context: InputContext, row: Type, text: str) -> str:
    """enum_in. A label cannot be as long as NAMEDATALEN bytes."""
    if text in row.labels:
        if (row.oid, text) in context.cache.session.labels:
            named = context.cache.format_type(row.oid)
            raise input_error(
                "55P04",
                f'unsafe use of new value "{text}" of enum type {named}',
                hint="New enum values must be committed before they can be used.",
            )
        return text
    raise input_error("22P02", f'invalid input value for enum {context.cache.format_type(row.oid)}: "{text}"')


def read_domain(context: InputContext, row: Type, text: str | None) -> Any:
    """domain_in: the base type's input with the domain's typmod, then its constraints, NOT NULL first."""
    base, typmod = context.cache.base_type(row.oid)
    value = None if text is None else context.read(base, text, typmod)
    if value is None and _not_null(context, row):
        raise input_error("23502", f"domain {context.cache.format_type(row.oid)} does not allow null values")
    if row.checked:
        _check(context, row, value)
    return value


_INITDB_CHECKS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "cardinal_number": ("cardinal_number_domain_check", lambda value: value >= 0),
    "yes_or_no": ("yes_or_no_check", lambda value: value in ("YES", "NO")),
}
"""CHECK constraints of information_schema's domains."""


def _check(context: InputContext, row: Type, value: Any) -> None:
    """CHECK constraints, those of the domains below first; the unit's own are not followed."""
    cache, domains = context.cache, [row]
    while domains[-1].kind == "d" and domains[-1].oid >= FIRST_NORMAL_OID:
        domains.append(cache.type(domains[-1].base))
    check = _INITDB_CHECKS.get(domains[-1].name) if domains[-1].namespace == INFORMATION_SCHEMA else None
    if check is not None and value is not None and not check[1](value):
        name = cache.format_type(row.oid)
        raise input_error("23514", f'value for domain {name} violates check constraint "{check[0]}"')
    if any(cache.catalog.has_check(domain.oid) for domain in domains[:-1]) or check is None:
        raise Unknowable(f"whether a value satisfies the CHECK constraints of domain {row.name}")


def _not_null(context: InputContext, row: Type) -> bool:
    while row.kind == "d":
        if row.not_null:
            return True
        row = context.cache.type(row.base)
    return False


# Composite types.


def read_composite(context: InputContext, row: Type, text: str) -> tuple[Any, ...]:
    """record_in."""
    pos = len(text) - len(text.lstrip(SPACE))
    if text[pos : pos + 1] != "(":
        raise malformed("record", text, "Missing left parenthesis.")
    pos += 1
    values: list[Any] = []
    columns = [column for column in context.cache.fields(row.oid) if not column.dropped]
    for number, column in enumerate(columns):
        if number:
            if text[pos : pos + 1] != ",":
                raise malformed("record", text, "Too few columns.")
            pos += 1
        value, pos = bounded("record", text, pos, ",)")
        values.append(read_element(context, column.type, value, column.typmod))
    if text[pos : pos + 1] != ")":
        raise malformed("record", text, "Too many columns.")
    if text[pos + 1 :].strip(SPACE):
        raise malformed("record", text, "Junk after right parenthesis.")
    return tuple(values)
