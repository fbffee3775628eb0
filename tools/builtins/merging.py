"""Files that all majors share, as ``snapshot`` writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec.json import decode, encode


def trimmed(row: Sequence[Any], defaults: Sequence[Any]) -> list[Any]:
    """A row without the defaults at its end; true and false as 1 and 0."""
    values = list(row)
    while values and values[-1] == defaults[len(values) - 1] and defaults[len(values) - 1] is not None:
        values.pop()
    return [int(value) if isinstance(value, bool) else value for value in values]


class Merged:
    """A file that the majors share: table -> key -> rows that begin with the majors (bits) they hold in.

    The bit of a major is its place in ``servers``, which says what server each was taken from. A table whose keys are
    oids is an array in the file: an oid comes before its rows only if it does not follow the one before by 1.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        content: dict[str, Any] = decode(path.read_bytes()) if path.exists() else {"servers": {}}
        self.content: dict[str, dict[str, Any]] = {
            table: dict(_with_keys(rows)) if isinstance(rows, list) else rows for table, rows in content.items()
        }

    def begin(self, major: int, server: str) -> None:
        """Forget what was known of a major."""
        servers = self.content["servers"]
        servers[str(major)] = server
        self.bit = 1 << list(servers).index(str(major))
        for table in self.content.values():
            if table is not servers:
                for key, rows in list(table.items()):
                    table[key] = kept = [[row[0] & ~self.bit, *row[1:]] for row in rows if row[0] & ~self.bit]
                    if not kept:
                        del table[key]

    def enter(self, table: str, key: object, row: list[Any]) -> None:
        rows = self.content.setdefault(table, {}).setdefault(str(key), [])
        for known in rows:
            if known[1:] == row:
                known[0] |= self.bit
                return
        rows.append([self.bit, *row])

    def write(self) -> None:
        """A line a key, so that what a new server changes can be read in a diff."""
        parts: list[tuple[str, str, Iterable[str], str]] = []
        for table, rows in self.content.items():
            for held in rows.values():
                if table != "servers":
                    held.sort(key=lambda row: row[0] & -row[0])  # by the first major
            if table != "servers" and all(map(str.isdecimal, rows)):
                parts.append((table, "[", _without_keys(rows), "]"))
                continue
            ordered = rows.items() if table == "servers" else sorted(rows.items())
            lines = (f"{encode(key).decode()}:{encode(row).decode()}" for key, row in ordered)
            parts.append((table, "{", lines, "}"))
        texts = (f'"{table}":{opening}\n' + ",\n".join(lines) + f"\n{end}" for table, opening, lines, end in parts)
        self.path.write_text("{" + ",\n".join(texts) + "}\n")
        print(f"{self.path.name}: {self.path.stat().st_size} bytes")


def _with_keys(items: Iterable[int | list[Any]]) -> Iterator[tuple[str, list[Any]]]:
    oid = 0
    for item in items:
        if isinstance(item, int):
            oid = item
        else:
            yield str(oid), item
            oid += 1


def _without_keys(table: dict[str, list[Any]]) -> Iterator[str]:
    next_oid = None
    for oid in sorted(map(int, table)):
        rows = encode(table[str(oid)]).decode()
        yield rows if oid == next_oid else f"{oid},{rows}"
        next_oid = oid + 1
