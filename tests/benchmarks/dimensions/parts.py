"""What the dimensions are put together from."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

Make = Callable[[int], str | dict[str, str]]
"""The text of a file of that size, or the texts of many files by their paths."""


class Dimension(Struct, frozen=True):
    """``file`` is the name of the file; ``most`` the largest size that makes sense, where there is one."""

    name: str
    make: Make
    command: tuple[str, ...] = ("lint",)
    file: str = "schema.sql"
    most: int = 0


def each(line: str, *, before: str = "", after: str = "", joint: str = "\n") -> Callable[[int], str]:
    """A text that repeats a line, with its number for each `@`, the one before for `@-` and the size for `@@`."""

    def make(size: int) -> str:
        sized = line.replace("@@", str(size))
        lines = (sized.replace("@-", str(n - 1)).replace("@", str(n)) for n in range(1, size + 1))
        return f"{before}{joint.join(lines)}{after}\n"

    return make


def nested(opening: str, closing: str, *, before: str = "", inside: str = "", after: str = "") -> Callable[[int], str]:
    """A text with one thing in the other."""
    return lambda size: f"{before}{opening * size}{inside}{closing * size}{after}\n"


def with_tables(line: str, *, before: str = "", after: str = "") -> Callable[[int], str]:
    """As many tables as lines that follow them."""
    tables, lines = each("CREATE TABLE t@ (id int PRIMARY KEY, v text);"), each(line)
    return lambda size: f"{tables(size)}{before}{lines(size)}{after}\n"


TABLE = "CREATE TABLE t (id int PRIMARY KEY, v text NOT NULL, a int, b int);\n"
EMPTY = f"{TABLE}CREATE PUBLICATION p;\n"

RANGE = "CREATE TABLE root (id int, v text) PARTITION BY "
