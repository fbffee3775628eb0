"""The generated index of the consumers, and the schema of their files: ``python -m tools.consumers.compile``."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from pubcheck.consumers import FOLDER
from pubcheck.consumers.profiles import Consumer, read, schema_text


def read_all(folder: str = FOLDER) -> dict[str, Consumer]:
    """Return every consumer of a folder by its id. Raises ProfileError."""
    files = sorted(name for name in os.listdir(folder) if name.endswith(".toml") and not name.startswith("_"))
    consumers: dict[str, Consumer] = {}
    for name in files:
        consumers[name.removesuffix(".toml")] = read(os.path.join(folder, name))
    return consumers


def index_source(consumers: Mapping[str, Consumer]) -> str:
    """Return the Python source of `_index.py` for these consumers. Raises ValueError if two share a name."""
    fixed: dict[str, str] = {}
    prefixes: dict[str, str] = {}
    for key, consumer in consumers.items():
        for name in consumer.publication_names:
            table = prefixes if name.endswith("*") else fixed
            plain = name.removesuffix("*")
            if plain in table:
                raise ValueError(f"{key}.toml: publication name {name} is already that of {table[plain]}.toml")
            table[plain] = key
    return (
        '"""Generated from *.toml by `python -m tools.consumers.compile`; edit the files."""\n\n'
        f"NAMES: dict[str, str] = {_literal({key: consumer.name for key, consumer in consumers.items()})}\n"
        f"FIXED: dict[str, str] = {_literal(fixed)}\n"
        f"PREFIXES: tuple[tuple[str, str], ...] = {_literal(tuple(prefixes.items()))}\n"
    )


def _literal(value: dict[str, str] | tuple[tuple[str, str], ...]) -> str:
    if isinstance(value, dict):
        return "{\n" + "".join(f"    {key!r}: {item!r},\n" for key, item in value.items()) + "}"
    return "(\n" + "".join(f"    {item!r},\n" for item in value) + ")"


def main() -> int:
    """Write the index and the schema; 2 for a file that is not valid."""
    try:
        consumers = read_all()
        index = index_source(consumers)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    for name, text in (("_index.py", index), ("schema.json", schema_text())):
        with open(os.path.join(FOLDER, name), "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    print(f"{len(consumers)} consumers")
    return 0


if __name__ == "__main__":
    sys.exit(main())
