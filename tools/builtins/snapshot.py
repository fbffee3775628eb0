"""Takes the snapshots: ``python -m tools.builtins.snapshot CONNECTION...``, one server of each major.

Needs psycopg (extra ``dev``), a superuser, and databases like template0: objects below FirstNormalObjectId only. It
writes the names of the majors it is given into ``names.json``, which has the first major whole and the differences of
the others, and enters them into the files where a row says in which majors it holds. The next major is one run of this
command against its server. Extensions that the server has are made and rolled back; of one whose library does not load
the contents that other majors show are kept apart.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import convert, to_builtins
from msgspec.json import encode

from pubcheck.postgres.builtins import Snapshot, sections, snapshot
from tools.builtins.extension_snapshot import enter_extensions
from tools.builtins.merging import Merged, trimmed

HERE = Path(__file__).parents[2] / "pubcheck" / "postgres" / "builtins"

_TYPES = """
    SELECT n.nspname, t.typname, t.oid::int, t.typarray::int
    FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
    WHERE t.oid < 16384 AND n.nspname IN ('pg_catalog', 'information_schema')
      AND NOT EXISTS (SELECT FROM pg_class c
                      WHERE c.relkind IN ('r', 'v') AND (c.reltype = t.oid OR c.reltype = t.typelem))
      AND NOT EXISTS (SELECT FROM pg_type element WHERE element.typarray = t.oid)
    ORDER BY 1, 2
"""
_RELATIONS = """
    SELECT n.nspname, c.relname, c.oid::int, c.relkind::text,
           coalesce(t.oid::int - c.oid::int, 0), coalesce(nullif(t.typarray, 0)::int - c.oid::int, 0)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_type t ON t.oid = c.reltype
    WHERE c.oid < 16384 AND n.nspname IN ('pg_catalog', 'information_schema', 'pg_toast')
    ORDER BY 1, 2
"""
_COLUMNS = """
    SELECT c.relname, array(SELECT a.attname::text FROM pg_attribute a
                            WHERE a.attrelid = c.oid AND a.attnum > 0 ORDER BY a.attnum)
    FROM pg_class c
    WHERE c.oid < 16384 AND c.relkind IN ('r', 'v') AND c.relnamespace = 'information_schema'::regnamespace
    ORDER BY 1
"""

# What name and type resolution asks. Each query gives the key first, then the row in the order of ``objects``' structs;
# a value in _DEFAULTS' place that equals it is not written at the end of a row.
_MERGED: dict[str, tuple[str, tuple[Any, ...]]] = {
    "types": (
        """
        SELECT t.oid::int, t.typname, t.typtype::text, t.typcategory::text, t.typarray::int, t.typelem::int,
               CASE t.typsubscript::text WHEN '-' THEN '' WHEN 'array_subscript_handler' THEN 'a'
                    WHEN 'raw_array_subscript_handler' THEN 'f' WHEN 'jsonb_subscript_handler' THEN 'j' ELSE 'u' END,
               t.typinput::oid::int, t.typoutput::oid::int, t.typcollation::int, t.typispreferred,
               CASE t.typtype WHEN 'd' THEN t.typbasetype::int
                    WHEN 'r' THEN (SELECT rngsubtype::int FROM pg_range WHERE rngtypid = t.oid)
                    WHEN 'm' THEN (SELECT rngtypid::int FROM pg_range WHERE rngmultitypid = t.oid) ELSE 0 END,
               t.typtypmod,
               coalesce((SELECT rngmultitypid::int FROM pg_range WHERE rngtypid = t.oid), 0),
               t.typnotnull, EXISTS (SELECT FROM pg_constraint c WHERE c.contypid = t.oid AND c.contype = 'c'),
               t.typnamespace::int <> 11
        FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
        WHERE t.oid < 16384 AND n.nspname IN ('pg_catalog', 'information_schema')
          AND NOT EXISTS (SELECT FROM pg_class c WHERE c.relkind IN ('r', 'v')
                          AND (c.reltype = t.oid OR c.reltype = t.typelem))
        """,
        (None, None, None, 0, 0, "", 750, 751, 0, False, 0, -1, 0, False, False, False),
    ),
    "procs": (
        """
        SELECT p.oid::int, p.proname, p.proargtypes::int[], p.prorettype::int, p.provolatile::text, p.proisstrict,
               p.prokind::text, p.proretset, p.provariadic::int, p.pronargdefaults::int,
               coalesce(array_to_string(p.proargmodes, ''), ''), coalesce(p.proargnames, '{}'),
               CASE WHEN p.proallargtypes IS NULL THEN '{}'
                    ELSE array(SELECT a::int FROM unnest(p.proallargtypes) a) END,
               n.nspname <> 'pg_catalog'
        FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE p.oid < 16384 AND n.nspname IN ('pg_catalog', 'information_schema')
        """,
        (None, None, None, "i", True, "f", False, 0, 0, "", [], [], False),
    ),
    "operators": (
        """
        SELECT o.oid::int, o.oprname, o.oprleft::int, o.oprright::int, o.oprresult::int, o.oprcode::oid::int,
               o.oprnegate::int
        FROM pg_operator o WHERE o.oid < 16384
        """,
        (None, None, None, 16, None, 0),
    ),
    "casts": (
        """
        SELECT c.castsource::int || ' ' || c.casttarget::int, c.castfunc::int, c.castcontext::text,
               c.castmethod::text
        FROM pg_cast c WHERE c.oid < 16384
        """,
        (None, None, "f"),
    ),
    # Of the collations those that every build and machine has; initdb takes the others from the C library and ICU.
    "collations": (
        """
        SELECT c.collname, c.oid::int, c.collisdeterministic
        FROM pg_collation c WHERE c.oid < 12000 OR c.collname = 'ucs_basic'
        """,
        (None, True),
    ),
    "classes": (
        """
        SELECT left(a.amname, 1) || ' ' || c.opcintype::int, c.opcfamily::int
        FROM pg_opclass c JOIN pg_am a ON a.oid = c.opcmethod
        WHERE c.oid < 16384 AND c.opcdefault AND a.amname IN ('btree', 'hash')
        """,
        (None,),
    ),
    "families": (
        """
        SELECT f.oid::int, left(a.amname, 1),
               array(SELECT array[o.amoplefttype::int, o.amoprighttype::int, o.amopstrategy::int, o.amopopr::int]
                     FROM pg_amop o WHERE o.amopfamily = f.oid AND o.amopopr < 16384 ORDER BY 1),
               array(SELECT array[p.amproclefttype::int, p.amprocrighttype::int, p.amproc::oid::int]
                     FROM pg_amproc p WHERE p.amprocfamily = f.oid AND p.amprocnum = 1 AND p.amproc::oid < 16384
                     ORDER BY 1)
        FROM pg_opfamily f JOIN pg_am a ON a.oid = f.opfmethod
        WHERE f.oid < 16384 AND a.amname IN ('btree', 'hash')
        """,
        (None, None, None),
    ),
    "ranges": (
        """
        SELECT r.rngtypid::int, r.rngcollation::int,
               (SELECT p.amproc::oid::int FROM pg_opclass c JOIN pg_amproc p ON p.amprocfamily = c.opcfamily
                WHERE c.oid = r.rngsubopc AND p.amprocnum = 1
                  AND p.amproclefttype = c.opcintype AND p.amprocrighttype = c.opcintype)
        FROM pg_range r WHERE r.rngtypid < 16384
        """,
        (None, None),
    ),
    # Ordered-set and hypothetical-set aggregates; all others are normal.
    "aggregates": (
        """
        SELECT a.aggfnoid::oid::int, a.aggkind::text, a.aggnumdirectargs::int
        FROM pg_aggregate a WHERE a.aggfnoid::oid < 16384 AND a.aggkind <> 'n'
        """,
        (None, None),
    ),
    # The bootstrap superuser has the name that initdb was given.
    "roles": ("SELECT rolname, oid::int FROM pg_roles WHERE oid < 16384 AND oid <> 10", (None,)),
    "attributes": (
        """
        SELECT c.relname, array(SELECT a.attname::text FROM pg_attribute a
                                WHERE a.attrelid = c.oid AND a.attnum > 0 ORDER BY a.attnum),
               array(SELECT array[a.atttypid::int, a.atttypmod, a.attcollation::int, a.attnotnull::int]
                     FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 ORDER BY a.attnum),
               array(SELECT concat(CASE WHEN i.indisprimary THEN 'p' WHEN i.indisunique THEN 'u' ELSE 'n' END, ' ',
                                   i.indkey)
                     FROM pg_index i WHERE i.indrelid = c.oid ORDER BY i.indexrelid)
        FROM pg_class c WHERE c.oid < 16384 AND c.relkind IN ('r', 'v') AND c.relnamespace = 11
        """,
        (None, None, []),
    ),
}

_ZONES = "SELECT name FROM pg_timezone_names WHERE name NOT LIKE 'posix/%' AND name NOT LIKE 'right/%'"
_ABBREVIATIONS = "SELECT abbrev, extract(epoch FROM utc_offset)::int, is_dst FROM {}()"
_ABBREVIATION_FILE = """
    SELECT pg_read_file(setting || '/timezonesets/Default') FROM pg_config WHERE name = 'SHAREDIR'
"""


def take(connection: Any) -> tuple[int, Snapshot]:
    """(major, snapshot) of the server behind a psycopg connection: names of types and relations."""
    server: str = connection.execute("SHOW server_version").fetchone()[0]
    types: dict[str, Any] = {}
    for schema, name, *row in connection.execute(_TYPES):
        types.setdefault(schema, {})[name] = row
    relations: dict[str, Any] = {}
    for schema, name, *row in connection.execute(_RELATIONS):
        relations.setdefault(schema, {})[name] = row
    columns = dict(connection.execute(_COLUMNS).fetchall())
    # The text is that of a released server only with a dot: 19beta3.
    major = int(connection.execute("SHOW server_version_num").fetchone()[0]) // 10000
    content = {"server": server, "types": types, "relations": relations, "columns": columns}
    return major, convert(content, Snapshot)


def write_names(snapshots: dict[int, Snapshot]) -> None:
    """Write the first one whole, and how the others differ from it, each name on a line."""
    first, *others = (to_builtins(snapshot) for snapshot in snapshots.values())
    content = [first, *(_differences(first, other) for other in others)]
    text = encode(dict(zip(snapshots, content, strict=True))).replace(b",0,0]", b"]").replace(b'],"', b'],\n"')
    path = HERE / "names.json"
    path.write_bytes(text + b"\n")
    print(f"{path.name}: {len(text)} bytes")


def _differences(first: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The values of ``other`` that ``first`` has not, and None for what ``other`` has not; of its objects, as deep."""
    return {
        key: _differences(first[key], value) if isinstance(value, dict) and key in first else value
        for key, value in (dict.fromkeys(first) | other).items()
        if isinstance(value, dict) or value != first.get(key)
    }


def enter_objects(merged: Merged, connection: Any) -> None:
    for table, (query, defaults) in _MERGED.items():
        for key, *row in connection.execute(query):
            merged.enter(table, key, trimmed(row, defaults))


def enter_zones(merged: Merged, connection: Any, major: int) -> None:
    """Time zones and abbreviations; of an abbreviation that stands for a zone, whose offset changes, that zone."""
    connection.execute("SET TimeZone = 'UTC'")
    for (name,) in connection.execute(_ZONES):
        merged.enter("zones", name, [])
    (text,) = connection.execute(_ABBREVIATION_FILE).fetchone()
    dynamic = dict(_dynamic_abbreviations(text.splitlines()))
    source = "pg_timezone_abbrevs_abbrevs" if major >= 18 else "pg_timezone_abbrevs"
    for name, offset, summer in connection.execute(_ABBREVIATIONS.format(source)):
        row = [dynamic[name]] if name in dynamic else [offset, int(summer)]
        merged.enter("abbreviations", name, row)


def _dynamic_abbreviations(lines: Iterable[str]) -> Iterable[tuple[str, str]]:
    for line in lines:
        words = line.partition("#")[0].split()
        if len(words) == 2 and words[1][:1].isalpha():
            yield words[0], words[1]


def main(connections: list[str]) -> None:
    import psycopg

    objects, zones, extensions = (Merged(HERE / f"{name}.json") for name in ("objects", "zones", "extensions"))
    names = {major: snapshot(major) for major in sections()}
    for conninfo in connections:
        with psycopg.connect(conninfo) as connection:
            major, names[major] = take(connection)
            for merged in (objects, zones, extensions):
                merged.begin(major, names[major].server)
            enter_objects(objects, connection)
            enter_zones(zones, connection, major)
            for name, why in enter_extensions(extensions, connection):
                print(f"extension {name} is left out: {why}")
    write_names(names)
    for merged in (objects, zones, extensions):
        merged.write()


if __name__ == "__main__":
    main(sys.argv[1:])
