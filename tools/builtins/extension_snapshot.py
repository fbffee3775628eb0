"""What extensions' scripts make, read back from a server: the part of ``snapshot`` about extensions.

Types, functions and operators are written as references: an oid of initdb's; for the extension's own, counted from 0
in the order they are listed, ``-1 - n`` for function or operator n, ``-1 - 2n`` for type n and ``-2 - 2n`` for the
array type over it; the name, for a type of an extension that it requires.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.builtins.merging import Merged, trimmed

# Of plpgsql, which initdb installs, nothing: what it made is initdb's.
_MEMBERS = """
    SELECT classid, objid FROM pg_depend WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass
    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = %(name)s) AND objid >= 16384
"""
_ABOUT = """
    SELECT e.extversion, coalesce(v.requires::text[], '{}'), coalesce(v.schema::text, ''), v.relocatable
    FROM pg_extension e JOIN pg_available_extension_versions v ON v.name = e.extname AND v.version = e.extversion
    WHERE e.extname = %(name)s
"""

# A query's columns: t type, T types, f function, o operator, O members of a family (two types, strategy, operator), F
# its functions (two types, function), C columns (type, typmod, collation), "." a plain value, "-" an oid to forget.
_TABLES: dict[str, tuple[str, tuple[Any, ...], str]] = {
    "types": (
        "....t...t...",
        (None, None, None, 0, 0, "", 0, False, 0, -1, False, False),
        """
        SELECT t.typname, t.typtype::text, t.typcategory::text, (t.typarray <> 0)::int, t.typelem::int,
               CASE t.typsubscript::text WHEN '-' THEN '' WHEN 'array_subscript_handler' THEN 'a'
                    WHEN 'raw_array_subscript_handler' THEN 'f' WHEN 'jsonb_subscript_handler' THEN 'j' ELSE 'u' END,
               t.typcollation::int, t.typispreferred, t.typbasetype::int, t.typtypmod, t.typnotnull,
               EXISTS (SELECT FROM pg_constraint c WHERE c.contypid = t.oid AND c.contype = 'c')
        FROM pg_type t WHERE t.oid = ANY (%(types)s) ORDER BY t.oid
        """,
    ),
    "procs": (
        ".Tt....t...T.",
        (None, None, None, "i", True, "f", False, 0, 0, "", [], [], False),
        """
        SELECT p.proname, p.proargtypes::int[], p.prorettype::int, p.provolatile::text, p.proisstrict, p.prokind::text,
               p.proretset, p.provariadic::int, p.pronargdefaults::int,
               coalesce(array_to_string(p.proargmodes, ''), ''), coalesce(p.proargnames, '{}'),
               CASE WHEN p.proallargtypes IS NULL THEN '{}'
                    ELSE array(SELECT a::int FROM unnest(p.proallargtypes) a) END,
               p.pronamespace::int = 11
        FROM pg_proc p WHERE p.oid = ANY (%(procs)s) ORDER BY p.oid
        """,
    ),
    "operators": (
        ".tttfo",
        (None, None, None, 16, None, 0),
        """
        SELECT o.oprname, o.oprleft::int, o.oprright::int, o.oprresult::int, o.oprcode::oid::int, o.oprnegate::int
        FROM pg_operator o WHERE o.oid = ANY (%(operators)s) ORDER BY o.oid
        """,
    ),
    "casts": (
        "ttf..",
        (None, None, None, None, "f"),
        """
        SELECT c.castsource::int, c.casttarget::int, c.castfunc::int, c.castcontext::text, c.castmethod::text
        FROM pg_cast c WHERE c.oid = ANY (%(casts)s) ORDER BY c.oid
        """,
    ),
    "classes": (
        "..tOF",
        (None, None, None, None, None),
        """
        SELECT dense_rank() OVER (ORDER BY c.opcfamily), left(a.amname, 1), c.opcintype::int,
               array(SELECT array[o.amoplefttype::int, o.amoprighttype::int, o.amopstrategy::int, o.amopopr::int]
                     FROM pg_amop o WHERE o.amopfamily = c.opcfamily ORDER BY 1),
               array(SELECT array[p.amproclefttype::int, p.amprocrighttype::int, p.amproc::oid::int]
                     FROM pg_amproc p WHERE p.amprocfamily = c.opcfamily AND p.amprocnum = 1 ORDER BY 1)
        FROM pg_opclass c JOIN pg_am a ON a.oid = c.opcmethod
        WHERE c.opcdefault AND a.amname IN ('btree', 'hash') AND c.oid = ANY (%(classes)s) ORDER BY c.oid
        """,
    ),
    "relations": (
        "...C",
        (None, None, None, None),
        """
        SELECT c.relname, c.relkind::text, array(SELECT a.attname::text FROM pg_attribute a
                                                 WHERE a.attrelid = c.oid AND a.attnum > 0 ORDER BY a.attnum),
               array(SELECT array[a.atttypid::int, a.atttypmod, a.attcollation::int] FROM pg_attribute a
                     WHERE a.attrelid = c.oid AND a.attnum > 0 ORDER BY a.attnum)
        FROM pg_class c WHERE c.oid = ANY (%(relations)s) ORDER BY c.oid
        """,
    ),
}
_OTHERS = f"""
    SELECT o.type, (parse_ident(coalesce(o.name, split_part(o.identity, ' USING ', 1))))[1:],
           o.schema IS NOT NULL
    FROM ({_MEMBERS}) m, pg_identify_object(m.classid, m.objid, 0) o
    WHERE o.type IN ('operator class', 'operator family', 'language', 'foreign-data wrapper', 'access method',
                     'text search dictionary', 'text search template', 'text search parser',
                     'text search configuration', 'event trigger')
    ORDER BY 1, 2
"""
_TYPES_PROPER = """
    SELECT t.oid::int, t.typarray::int FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
    WHERE t.oid = ANY (%s) AND coalesce(c.relkind, 'c') = 'c'
      AND NOT EXISTS (SELECT FROM pg_type e WHERE e.typarray = t.oid)
"""


class _References:
    """Turns oids of this server into references that hold on every one."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._own: dict[tuple[str, int], int] = {}

    def own(self, kind: str, oid: int, reference: int) -> None:
        self._own[kind, oid] = reference

    def of(self, kind: str, oid: int) -> int | str:
        if oid < 16384:
            return oid
        if (kind, oid) in self._own:
            return self._own[kind, oid]
        if kind != "t":
            raise LookupError(f"{oid} belongs to another extension")
        (name,) = self._connection.execute("SELECT typname FROM pg_type WHERE oid = %s", [oid]).fetchone()
        return str(name)

    def rewritten(self, column: str, value: Any) -> Any:
        if column in "tfo":
            return self.of(column, value)
        if column == "T":
            return [self.of("t", oid) for oid in value]
        if column == "O":
            return [[*(self.of("t", oid) for oid in row[:2]), row[2], self.of("o", row[3])] for row in value]
        if column == "F":
            return [[*(self.of("t", oid) for oid in row[:2]), self.of("f", row[2])] for row in value]
        if column == "C":
            return [[self.of("t", row[0]), *row[1:]] for row in value]
        return value


def _contents(connection: Any, name: str) -> list[Any]:
    """An extension that is installed, laid out as ``builtins.extensions.Contents``."""

    def oids(query: str) -> list[int]:
        return [oid for (oid,) in connection.execute(query, {"name": name})]

    def members(catalog: str) -> list[int]:
        return oids(f"SELECT objid::int FROM ({_MEMBERS}) m WHERE classid = '{catalog}'::regclass ORDER BY 1")

    refer = _References(connection)
    relations = members("pg_class")
    composites = "SELECT reltype::int FROM pg_class WHERE relkind = 'c' AND oid = ANY (%s)"
    proper = {*members("pg_type"), *(oid for (oid,) in connection.execute(composites, [relations]))}
    # From 17 on the row types of views are members too; like arrays they come with what they belong to.
    arrays = dict(connection.execute(_TYPES_PROPER, [sorted(proper)]))
    types = sorted(arrays)
    for place, oid in enumerate(types):
        refer.own("t", oid, -1 - 2 * place)
        refer.own("t", arrays[oid], -2 - 2 * place)
    listed = {"types": types, "procs": members("pg_proc"), "operators": members("pg_operator")}
    for table, kind in (("procs", "f"), ("operators", "o")):
        for place, oid in enumerate(listed[table]):
            refer.own(kind, oid, -1 - place)
    composed = "SELECT typrelid::int FROM pg_type WHERE typrelid <> 0 AND oid = ANY (%s)"
    relations = sorted({*relations, *(oid for (oid,) in connection.execute(composed, [types]))})
    listed |= {"casts": members("pg_cast"), "classes": members("pg_opclass"), "relations": relations}
    made = [
        [
            trimmed([refer.rewritten(column, value) for column, value in zip(columns, row, strict=True)], defaults)
            for row in connection.execute(query, listed)
        ]
        for columns, defaults, query in _TABLES.values()
    ]
    others = [[kind, name_[-1], int(placed)] for kind, name_, placed in connection.execute(_OTHERS, {"name": name})]
    about = connection.execute(_ABOUT, {"name": name}).fetchone()
    return [*about, *made, others]


def enter_extensions(merged: Merged, connection: Any) -> Iterator[tuple[str, str]]:
    """Enter all extensions that the server has; yields (name, reason) of those it cannot make."""
    import psycopg

    names = [name for (name,) in connection.execute("SELECT name FROM pg_available_extensions ORDER BY 1")]
    present = {name for (name,) in connection.execute("SELECT extname FROM pg_extension")}
    for name in names:
        try:
            with connection.transaction(force_rollback=True):
                if name not in present:
                    connection.execute(f'CREATE EXTENSION "{name}" CASCADE')
                merged.enter("extensions", name, [_contents(connection, name)])
        except psycopg.Error as refusal:
            yield name, str(refusal).splitlines()[0]
