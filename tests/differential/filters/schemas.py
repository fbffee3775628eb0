"""The ground that filters stand on: tables of many types, and what a script may add to confuse names with."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import psycopg
from msgspec import Struct

from tests.differential.filters.catalog import Catalog, Index, Proc, Type, harvest
from tests.support.generating import Choices
from tests.support.servers import execute

WIDE = (
    "id int PRIMARY KEY", "i2 smallint", "i4 int", "i8 bigint", "n numeric", "f4 real", "f8 float8", "t text",
        "t2 text",
    "vc varchar(20)", "c char(5)", "nm name", "b bool", "d date", "ts timestamp", "tz timestamptz", "tm time",
    "tmz timetz", "iv interval", "u uuid", "j json", "jb jsonb", "jp jsonpath", "ba bytea", "ia int[]", "ta text[]",
    "va varchar[]", "ip inet", "ci cidr", "mac macaddr", "r int4range", "mr int4multirange", "pt point", "bx box",
    "x xml", "tsv tsvector", "tsq tsquery", "bi bit(4)", "vb varbit", "m money", "o oid", "rc regclass", 'ch "char"',
    "pl pg_lsn",
)  # fmt: skip
"""The specification's wide table (appendix A)."""


class Column(Struct, frozen=True):
    """A column by its name as SQL writes it and the name of its type."""

    name: str
    type: str
    user_collation: bool = False
    generated: str = ""


class Table(Struct, frozen=True):
    """A table by its names as SQL writes them, and what it is called in a statement."""

    schema: str
    name: str
    columns: tuple[Column, ...]
    called: str

    def of_type(self, type_: str) -> list[Column]:
        return [column for column in self.columns if column.type == type_]


class Definition(Struct, frozen=True):
    """A statement of the setup; a CREATE TABLE has its columns apart, so that they can be left out one by one."""

    before: str
    items: tuple[str, ...] = ()
    after: str = ""

    @property
    def text(self) -> str:
        return self.before + ", ".join(self.items) + self.after


class World(Struct, frozen=True):
    """A database as a batch of filters meets it: the statements that make it, and what they made."""

    setup: tuple[Definition, ...]
    tables: tuple[Table, ...]
    types: dict[str, Type]
    made: Index
    functions: tuple[Proc, ...]
    """Functions, aggregates and procedures that the setup made."""
    features: tuple[str, ...]
    collations: tuple[str, ...]

    def kinds(self, *kinds: str) -> list[str]:
        """Names of the made types of some kinds (typtype), without the rows of the tables."""
        rows = {table.called for table in self.tables}
        return [name for name, type_ in self.types.items() if type_.kind in kinds and name not in rows and type_.array]


Feature = Callable[["Ground"], None]


class Ground(Choices):
    """Makes one world on a connection inside a transaction: a feature that the server refuses is left out."""

    def __init__(self, conn: psycopg.Connection[Any], catalog: Catalog, random: Random, database: str) -> None:
        super().__init__(random)
        self.conn, self.catalog, self.database = conn, catalog, database
        self.major = conn.info.server_version // 10000
        self.setup: list[Definition] = []
        self.features: list[str] = []
        self.types: list[str] = []
        """Types for columns of the random table that features made."""
        self.collations: list[str] = []

    def world(self) -> World:
        self.run(Definition("CREATE SCHEMA s"))
        self.run(Definition("CREATE TABLE w (", WIDE, ")"))
        if self.random.random() < 0.65:
            chosen = self.random.sample(sorted(FEATURES), self.random.choice((1, 1, 2, 3, 4)))
            # Extensions first: their scripts are not prepared for operators that come before the built-in ones.
            for name in sorted(chosen, key=lambda name: (name == "search path", name != "extension")):
                self.feature(name)
        places = self.random_tables()
        self.run(Definition("CREATE PUBLICATION q FOR TABLE public.w"))
        return self.seen(places)

    def run(self, definition: Definition) -> bool:
        self.conn.execute("SAVEPOINT feature")
        answer = execute(self.conn, definition.text)
        self.conn.execute("RELEASE feature" if answer.ok else "ROLLBACK TO feature")
        if answer.ok:
            self.setup.append(definition)
        return answer.ok

    def say(self, *statements: str) -> bool:
        done = [self.run(Definition(statement)) for statement in statements]
        return all(done)

    def feature(self, name: str) -> None:
        FEATURES[name](self)
        self.features.append(name)

    # Tables.

    def random_tables(self) -> list[tuple[str, str]]:
        random = self.random
        schema, name = random.choice((("public", "r"), ("public", "r"), ("public", '"Odd Tbl"'), ("s", "r"), ("s",
            "w")))  # fmt: skip
        items = ["id int", "k int", "s text"]
        names = [
            "a", "b", "c1", '"Quoted"', '"ünï"', '"user"', '"select"', "lower", "r", "date", "value", "oid", "e", "f",
                "g1",
            "h", "name", "xs", "type", "year",
        ]  # fmt: skip
        random.shuffle(names)
        count = random.randint(8, 16)
        made = self.types and [random.choice(self.types) for _ in range(min(count - 2, 2 * len(self.types)))]
        for type_ in [*made, *(self.column_type() for _ in range(count - len(made)))]:
            text = f"{names.pop()} {type_}"
            if self.collations and random.random() < 0.3 and type_ in ("text", "character varying"):
                text += f" COLLATE {random.choice(self.collations)}"
            items.append(text)
        items += [f"{names.pop()} {self.generated()}" for _ in range(random.choice((0, 0, 1, 2)))]
        kept = [item for item in items if self.can_be(item)]
        table = Definition(f"CREATE TABLE {schema}.{name} (", tuple(kept), ")")
        self.run(table)
        if random.random() < 0.15:
            self.say(f"ALTER TABLE {schema}.{name} DROP COLUMN IF EXISTS {random.choice(kept[3:]).split()[0]}")
        places = [("public", "w"), (schema, name)]
        how = random.random()
        if how < 0.08 and self.say(f"CREATE TABLE public.child (extra int) INHERITS ({schema}.{name})"):
            places.append(("public", "child"))
        elif how < 0.16 and self.say(
            "CREATE TABLE public.root (id int, t text, d date) PARTITION BY LIST (id)",
            "CREATE TABLE public.leaf PARTITION OF public.root FOR VALUES IN (1)",
        ):
            places.append(("public", "leaf"))
        return places

    def can_be(self, item: str) -> bool:
        self.conn.execute("SAVEPOINT feature")
        needed = "id int, k int, s text, " if "GENERATED" in item else ""
        answer = execute(self.conn, f"CREATE TABLE public.pubcheck_try ({needed}{item})")
        self.conn.execute("ROLLBACK TO feature")
        return answer.ok

    def column_type(self) -> str:
        random = self.random
        how = random.random()
        if how < 0.2:
            return self.pick(
                "varchar(5)", "char(3)", "numeric(6,2)", "timestamp(3)", "bit(3)", "varbit(8)", "interval(2)",
                "interval day to second", "time(0)", "varchar(10)[]", "numeric(4,1)[]",
                    "information_schema.cardinal_number",
                "information_schema.yes_or_no", "information_schema.sql_identifier", "pg_catalog.pg_am",
                    "timestamptz(0)",
                "char(3)[]",
            )  # fmt: skip
        names = [name for name, type_ in self.catalog.types.items() if type_.kind != "p"]
        name = random.choice(COMMON) if how < 0.5 else random.choice(names)
        return name if how < 0.8 or not self.catalog.types[name].array else self.catalog.types[name].array

    def generated(self) -> str:
        type_, expression = self.random.choice(
            (("int", "k * 2"), ("text", "upper(s)"), ("bigint", "k::bigint"), ("bool", "k > 1"), ("text",
                "s COLLATE \"C\""),
             ("text", "CASE WHEN k > 1 THEN s END"), ("int", "length(s)"), ("int", "(ARRAY[k])[1]"), ("text",
                 "k::text"),
             ("varchar(3)", "s"), ("int[]", "ARRAY[k]"), ("numeric(5,1)", "k"), ("bool", "s IN ('a', 'b')"),
             ("date", "'2024-01-01'::date + k"), ("int", "id"))
        )  # fmt: skip
        kind = self.pick("STORED", "VIRTUAL") if self.major >= 18 else "STORED"
        return f"{type_} GENERATED ALWAYS AS ({expression}) {kind}"

    # What there is in the end.

    def seen(self, places: list[tuple[str, str]]) -> World:
        catalog = harvest(self.conn, made=True)
        path = self.conn.execute("SELECT current_schemas(false)::text[]").fetchone()
        types = {**self.catalog.types, **catalog.types}
        makeable = self.catalog.makeable | set(catalog.types)
        procs = [p for p in catalog.procs if makeable.issuperset(p.arguments)]
        functions = [p for p in procs if p.kind == "f" and not p.returns_set]
        tables = []
        for schema, name in places:
            columns = self.conn.execute(
                "SELECT quote_ident(attname),"
                " CASE atttypid WHEN 1042 THEN 'bpchar' ELSE format_type(atttypid, NULL) END,"
                " attcollation >= 16384, attgenerated::text FROM pg_attribute"
                " WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
                [f"{schema}.{name}"],
            ).fetchall()
            visible = bool(path and schema in path[0])
            tables.append(
                Table(schema, name, tuple(Column(*row) for row in columns), name if visible else f"{schema}.{name}")
            )
        if [table.called for table in tables].count("w") > 1:
            tables = [
                Table(table.schema, table.name, table.columns, f"{table.schema}.{table.name}") for table in tables
            ]
        return World(
            tuple(self.setup), tuple(tables), types, Index(functions, catalog.operators, catalog.casts), tuple(procs),
            tuple(self.features), tuple(self.collations),
        )  # fmt: skip


COMMON = (
    "integer", "integer", "bigint", "text", "text", "character varying", "boolean", "date",
        "timestamp with time zone",
    "timestamp without time zone", "numeric", "jsonb", "uuid", "double precision", "smallint", "bpchar", "interval",
        "bytea",
    "inet", "int4range", "time without time zone", "integer[]", "text[]", "json", "name", "real", "oid",
)  # fmt: skip
"""Types that filters are made of, as often as they are."""

FEATURES: dict[str, Feature] = {}


def feature(name: str) -> Callable[[Feature], Feature]:
    def put(made: Feature) -> Feature:
        FEATURES[name] = made
        return made

    return put


@feature("enum")
def _enum(context: Ground) -> None:
    if context.say("CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy day')"):
        context.types += ["mood", "mood[]"]
    if context.random.random() < 0.4 and context.say("CREATE TYPE s.size AS ENUM ('S', 'M')"):
        context.types.append("s.size")


@feature("domain")
def _domain(context: Ground) -> None:
    bases = ("int", "text", "varchar(5)", "numeric(5,2)", "int[]", "date", "jsonb", "boolean", "timestamptz",
        "char(3)", "bigint")  # fmt: skip
    for number in range(context.random.choice((1, 2, 3))):
        rest = context.pick("", "", " NOT NULL", " CHECK (VALUE IS NOT NULL)", " DEFAULT NULL")
        if context.say(f"CREATE DOMAIN dom{number} AS {context.random.choice(bases)}{rest}"):
            context.types.append(f"dom{number}")
    if context.random.random() < 0.4 and context.say("CREATE DOMAIN dom9 AS dom0"):
        context.types += ["dom9", "dom9[]"]


@feature("composite")
def _composite(context: Ground) -> None:
    if context.say("CREATE TYPE pair AS (x int, y text)"):
        context.types += ["pair", "pair[]"]
        if context.random.random() < 0.5 and context.say('CREATE TYPE nested AS (p pair, "Q" date, r int4range)'):
            context.types.append("nested")
        if context.random.random() < 0.5:
            result = context.pick("integer", "text", "boolean")
            name = context.pick("z", "x", "fullname", "upper")
            context.say(
                f"CREATE FUNCTION {name}(pair) RETURNS {result} IMMUTABLE LANGUAGE sql AS 'SELECT NULL::{result}'"
            )


@feature("range")
def _range(context: Ground) -> None:
    subtype = context.pick("float8", "text", "time", "inet", "int")
    if context.say(f"CREATE TYPE span AS RANGE (subtype = {subtype})"):
        context.types += ["span", "span", "span[]", "span_multirange"]


@feature("user function")
def _function(context: Ground) -> None:
    for _ in range(context.random.choice((1, 2, 3))):
        schema = context.pick("", "", "s.", "public.")
        name = context.pick("f", "f", "g", "lower", "abs", "length", "now", "round", "\"Fn\"", "coalesce_", "mod",
            "date_trunc", "count")  # fmt: skip
        types = [context.pick(*COMMON, "numeric", "text", "anyelement", "anyarray", "record",
            '"char"') for _ in range(context.random.choice((0, 1, 1, 2, 2)))]  # fmt: skip
        named = context.random.random() < 0.5
        arguments = [f"a{i} {type_}" if named else type_ for i, type_ in enumerate(types)]
        how = context.random.random()
        if how < 0.25 and arguments and "any" not in types[-1] and types[-1] != "record":
            arguments[-1] += f" DEFAULT NULL::{types[-1]}"
        elif how < 0.4:
            element = context.pick("int", "text", "anyelement", "numeric")
            arguments.append(
                f"VARIADIC {'vs ' if named else ''}{'anyarray' if element == 'anyelement' else element + '[]'}"
            )
        result = context.pick("integer", "text", "boolean", "boolean", "date", "numeric",
            *(t for t in types if t[:3] != "any" and t != "record"))  # fmt: skip
        if any(type_.startswith("any") for type_ in types) and context.random.random() < 0.5:
            result = "anyelement"
        shape = context.random.random()
        returns = f"RETURNS {result}" if shape < 0.85 else f"RETURNS SETOF {result}"
        if shape > 0.95:
            returns, result = "RETURNS TABLE (p int, q text)", "x"
        body = "SELECT 1, 'a'::text" if result == "x" else f"SELECT NULL::{result}"
        if result == "anyelement":
            body = "SELECT $1" if types and types[0] == "anyelement" else "SELECT NULL"
        context.say(
            f"CREATE FUNCTION {schema}{name}({', '.join(arguments)}) {returns} "
            f"{context.pick('IMMUTABLE', 'IMMUTABLE', 'STABLE', 'VOLATILE')} LANGUAGE sql AS $${body}$$"
        )  # fmt: skip


@feature("overloads")
def _overloads(context: Ground) -> None:
    name = context.pick("ov", "ov", "upper", "sqrt", "substr")
    types = context.random.sample(
        ("integer", "bigint", "text", "numeric", "double precision", "date", "timestamp without time zone", "name",
            "anyelement",
         "smallint", "timestamp with time zone", "character varying", "boolean"), context.random.choice((2,
             3)))  # fmt: skip
    for type_ in types:
        second = context.pick("", "", ", integer", ", text")
        schema = context.pick("public.", "public.", "s.")
        context.say(
            f"CREATE FUNCTION {schema}{name}({type_}{second}) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT true'"
        )


@feature("overload family")
def _family(context: Ground) -> None:
    """Defaults, variadic and named arguments, and pairs that tie."""
    families = (
        ("fam(a int, b int DEFAULT 1, c text DEFAULT 'x')", "fam(a bigint, VARIADIC r int[])", "fam(a text)"),
        ("fam(a int, b numeric)", "fam(a numeric, b int)", "fam(a text, b text DEFAULT NULL)"),
        ("fam(VARIADIC r text[])", "fam(a text, VARIADIC r text[])", "fam(a anyelement)"),
        ("fam(a anyelement, b anyelement)", "fam(a anycompatible, b anycompatible)", "fam(a int, b bigint)"),
        ("fam(a date)", "fam(a timestamptz)", "fam(a text DEFAULT 'x')", "fam()"),
        ("fam(a varchar)", "fam(a text)", "fam(a name)", "fam(a jsonb, b text DEFAULT 'x')"),
    )
    for signature in context.random.choice(families):
        schema = context.pick("", "", "public.", "s.")
        context.say(f"CREATE FUNCTION {schema}{signature} RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT true'")


@feature("procedure")
def _procedure(context: Ground) -> None:
    context.say("CREATE PROCEDURE proc(a int) LANGUAGE sql AS 'SELECT 1'")
    context.say("CREATE AGGREGATE agg(int) (sfunc = int4pl, stype = int, initcond = '0')")
    context.say("CREATE FUNCTION two(a int, OUT p int, OUT q text) IMMUTABLE LANGUAGE sql AS 'SELECT 1, NULL::text'")


@feature("user operator")
def _operator(context: Ground) -> None:
    for _ in range(context.random.choice((1, 2, 3))):
        schema = context.pick("", "public.", "s.")
        function, left, right = context.random.choice(
            (("int4eq", "int", "int"), ("int4lt", "int", "int"), ("texteq", "text", "text"), ("int48eq", "int",
                "bigint"),
             ("date_eq", "date", "date"), ("numeric_eq", "numeric", "numeric"), ("starts_with", "text", "text"),
                 ("int4pl", "int", "int"),
             ("textregexeq", "text", "text"), ("array_eq", "anyarray", "anyarray"), ("int4um", "", "int"),
                 ("jsonb_exists", "jsonb", "text"),
             ("float8eq", "float8", "float8"))
        )  # fmt: skip
        name = context.pick("=#=", "===", "=", "<>", "~~~", "+", "@@", "<->", "!!", "||", "<")
        sides = f"LEFTARG = {left}, RIGHTARG = {right}" if left else f"RIGHTARG = {right}"
        context.say(f"CREATE OPERATOR {schema}{name} (FUNCTION = {function}, {sides})")


@feature("mixed operator")
def _mixed(context: Ground) -> None:
    left, right = context.random.choice((("int", "text"), ("text", "int"), ("date", "text"), ("boolean", "int"),
        ("uuid", "text"), ("json", "json"), ("varchar", "varchar"), ("int", "boolean")))  # fmt: skip
    context.say(
        f"CREATE FUNCTION same({left}, {right}) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT true'",
        f"CREATE OPERATOR {context.pick('', 'public.', 's.')}{context.pick('=', '=', '<', '||', '@>')} "
        f"(FUNCTION = same, LEFTARG = {left}, RIGHTARG = {right})",
    )


@feature("user cast")
def _cast(ground: Ground) -> None:
    context = ground.pick("", " AS ASSIGNMENT", " AS IMPLICIT", " AS IMPLICIT")
    how = ground.random.random()
    if how < 0.3:
        source, target = ground.random.choice((("int", "text"), ("text", "int"), ("date", "text"), ("numeric",
            "varchar"), ("uuid", "text"), ("jsonb", "text"), ("text", "boolean")))  # fmt: skip
        ground.say(f"CREATE CAST ({source} AS {target}) WITH INOUT{context}")
    elif how < 0.5:
        source, target = ground.random.choice((("date", "int"), ("int", "date"), ("bytea", "text"), ("varbit",
            "bytea"), ("tsvector", "text")))  # fmt: skip
        ground.say(f"CREATE CAST ({source} AS {target}) WITHOUT FUNCTION{context}")
    else:
        source, target = ground.random.choice((("text", "int"), ("int", "date"), ("boolean", "bigint"), ("inet",
            "int"), ("text", "date"), ("uuid", "bytea"), ("int", "text")))  # fmt: skip
        ground.say(
            f"CREATE FUNCTION convert_it({source}) RETURNS {target} IMMUTABLE LANGUAGE sql AS 'SELECT NULL::{target}'",
            f"CREATE CAST ({source} AS {target}) WITH FUNCTION convert_it({source}){context}",
        )


@feature("cast of a made type")
def _cast_of_made(ground: Ground) -> None:
    if ground.say("CREATE TYPE level AS ENUM ('low', 'high')", "CREATE TYPE money2 AS (amount numeric, unit text)"):
        ground.types += ["level", "money2"]
        context = ground.pick("", " AS ASSIGNMENT", " AS IMPLICIT")
        ground.say(
            f"CREATE CAST (level AS text) WITH INOUT{context}", f"CREATE CAST (text AS level) WITH INOUT{context}",
            "CREATE FUNCTION amount_of(money2) RETURNS numeric IMMUTABLE LANGUAGE sql AS 'SELECT $1.amount'",
            f"CREATE CAST (money2 AS numeric) WITH FUNCTION amount_of(money2){context}",
        )  # fmt: skip


@feature("user collation")
def _collation(context: Ground) -> None:
    if context.say('CREATE COLLATION mycoll FROM "C"'):
        context.collations.append("mycoll")
    if context.random.random() < 0.5 and context.say(
        "CREATE COLLATION s.nondet (provider = icu, locale = 'und', deterministic = false)"
    ):
        context.collations.append("s.nondet")
    context.collations.append('"C"')
    context.types += ["text", "character varying"]


@feature("search path")
def _path(context: Ground) -> None:
    paths = (
        "s, public", "s, pg_catalog, public", "public, pg_catalog", "pg_catalog", "public, s", "s", "nosuch, public",
        '"$user", public', "''",
    )  # fmt: skip
    context.say(f"SET search_path = {context.pick(*paths)}")


@feature("altered built-in")
def _altered(context: Ground) -> None:
    function = context.pick("lower(text)", "int4eq(int, int)", "length(text)", "abs(int)", "texteq(text, text)")
    context.say(f"ALTER FUNCTION {function} {context.pick('VOLATILE', 'STABLE')}")


@feature("settings")
def _settings(context: Ground) -> None:
    context.say(
        context.pick(
            "SET DateStyle = 'SQL, DMY'", "SET DateStyle = 'German'", "SET DateStyle = 'ISO, YMD'",
                "SET TimeZone = 'America/New_York'",
            "SET TimeZone = 'UTC'", "SET IntervalStyle = 'sql_standard'", "SET IntervalStyle = 'iso_8601'",
            "SET standard_conforming_strings = off", "SET xmloption = document", "SET bytea_output = 'escape'",
            "SET transform_null_equals = on", "SET default_text_search_config = 'english'", "SET array_nulls = off",
        )
    )  # fmt: skip


EXTENSIONS = {"citext": 4, "hstore": 4, "ltree": 3, '"uuid-ossp"': 2, "pgcrypto": 2, "pg_trgm": 2, "unaccent": 1,
    "fuzzystrmatch": 1, "intarray": 1, "cube": 1, "isn": 1, "seg": 1, "btree_gist": 1, "lo": 1}  # fmt: skip


@feature("extension")
def _extension(context: Ground) -> None:
    name = context.random.choices(list(EXTENSIONS), list(EXTENSIONS.values()))[0]
    schema = context.pick("", "", "", " SCHEMA s")
    if context.say(f"CREATE EXTENSION {name}{schema}"):
        context.features.append(f"extension {name}")
        types = {"citext": "citext", "hstore": "hstore", "ltree": "ltree", "cube": "cube", "isn": "isbn",
            "seg": "seg", "lo": "lo"}  # fmt: skip
        if name in types:
            context.types += [("s." if schema else "") + types[name]] * 2
