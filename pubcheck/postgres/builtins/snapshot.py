"""Takes the snapshots: ``python -m pubcheck.postgres.builtins.snapshot CONNECTION...``, one server of each major.

Needs psycopg (extra ``dev``). Reads template0-like databases: objects below FirstNormalObjectId only.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from msgspec.json import encode

_TYPES = """
    SELECT n.nspname, t.typname, t.oid::int, t.typtype::text, t.typarray::int
    FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
    WHERE t.oid < 16384 AND n.nspname IN ('pg_catalog', 'information_schema')
      AND NOT EXISTS (SELECT FROM pg_class c WHERE c.relkind IN ('r', 'v') AND (c.reltype = t.oid OR c.reltype = t.typelem))
    ORDER BY 1, 2
"""
_RELATIONS = """
    SELECT n.nspname, c.relname, c.oid::int, c.relkind::text,
           CASE WHEN c.relkind IN ('r', 'v') AND n.nspname = 'information_schema'
                THEN array(SELECT a.attname::text FROM pg_attribute a
                           WHERE a.attrelid = c.oid AND a.attnum > 0 ORDER BY a.attnum)
                ELSE '{}' END
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid < 16384 AND n.nspname IN ('pg_catalog', 'information_schema', 'pg_toast')
    ORDER BY 1, 2
"""


def take(connection: Any) -> tuple[int, dict[str, Any]]:
    """(major, snapshot) of the server behind a psycopg connection."""
    server: str = connection.execute("SHOW server_version").fetchone()[0]
    types: dict[str, Any] = {}
    for schema, name, *row in connection.execute(_TYPES):
        types.setdefault(schema, {})[name] = row
    relations: dict[str, Any] = {}
    for schema, name, *row in connection.execute(_RELATIONS):
        relations.setdefault(schema, {})[name] = row
    major = int(server.split(".")[0])
    return major, {"server": server, "types": types, "relations": relations}


def main(connections: list[str]) -> None:
    import psycopg

    for conninfo in connections:
        with psycopg.connect(conninfo) as connection:
            major, snapshot = take(connection)
        text = encode(snapshot)
        path = Path(__file__).with_name(f"pg{major}.json")
        path.write_bytes(text.replace(b"],\"", b"],\n\"") + b"\n")
        print(f"{path.name}: {snapshot['server']}, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
