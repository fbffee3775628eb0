"""Common parts of input functions: limits of times, and errors."""

from __future__ import annotations

from pubcheck.postgres.errors import ServerError

FIRST_DAY, END_DAY = -2451545, 2147483494 - 2451545
"""The first day that a date can hold, and the first one that it cannot, in days since 2000 (IS_VALID_DATE)."""
FIRST_TIMESTAMP, END_TIMESTAMP = -211813488000000000, 9223371331200000000
"""The same of a timestamp, in microseconds since 2000 (IS_VALID_TIMESTAMP)."""
SPACE = " \t\n\v\f\r"
"""The spaces of isspace() in the C locale; input functions read bytes, so that other spaces do not count."""


def after_blanks(text: str, pos: int) -> int:
    """Return the first position from ``pos`` on that is not a space."""
    while pos < len(text) and text[pos] in SPACE:
        pos += 1
    return pos


def input_error(
    sqlstate: str,
    message: str,
    detail: str | None = None,
    hint: str | None = None,
    *,
    key: str = "literal",
    **arguments: str,
) -> ServerError:
    """Return the error of an input function; the caller that knows the literal's place adds it."""
    return ServerError(sqlstate, message, key=key, detail=detail, hint=hint, location=None, culprit=None, **arguments)


INVALID_SYNTAX = 'invalid input syntax for type {type}: "{text}"'


def invalid(type_name: str, text: str) -> ServerError:
    """22P02, the error of most input functions."""
    return input_error("22P02", INVALID_SYNTAX, key="literal-syntax", type=type_name, text=text)


def out_of_range(type_name: str, text: str) -> ServerError:
    return input_error("22003", f'value "{text}" is out of range for type {type_name}')
