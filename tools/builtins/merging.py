"""Files that all majors share, as ``snapshot`` writes them."""

from __future__ import annotations

from collections.abc import Sequence
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

    The bit of a major is its place in ``servers``, which says what server each was taken from.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.content: dict[str, Any] = decode(path.read_bytes()) if path.exists() else {"servers": {}}

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
        parts = []
        for table, rows in self.content.items():
            for held in rows.values():
                if table != "servers":
                    held.sort(key=lambda row: row[0] & -row[0])  # by the first major
            ordered = rows.items() if table == "servers" else sorted(rows.items(), key=_key_order)
            lines = ",\n".join(f"{encode(key).decode()}:{encode(row).decode()}" for key, row in ordered)
            parts.append(f"{encode(table).decode()}:{{\n{lines}\n}}")
        self.path.write_text("{" + ",\n".join(parts) + "}\n")
        print(f"{self.path.name}: {self.path.stat().st_size} bytes")


def _key_order(item: tuple[str, Any]) -> tuple[int, str]:
    key = item[0]
    return (int(key), "") if key.isdecimal() else (-1, key)
