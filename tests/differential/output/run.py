"""Random literals of every type under random settings: the text and the bytes of pubcheck and of the server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import psycopg
from msgspec import Struct

from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.input import InputContext, read
from pubcheck.postgres.output import OutputContext, binary_send, has_send, text_output
from tests.differential.evaluation.run import opened
from tests.differential.filters.catalog import harvest
from tests.differential.output.literals import literal

SCHEMA = """
CREATE EXTENSION hstore;
CREATE EXTENSION citext;
CREATE EXTENSION ltree;
CREATE SCHEMA app;
CREATE TYPE mood AS ENUM ('sad', 'o''k', 'very happy', '');
CREATE DOMAIN short AS varchar(30);
CREATE DOMAIN price AS numeric(12, 2);
CREATE DOMAIN code AS char(7);
CREATE TYPE app."Pair" AS (a int, "B" text);
CREATE TYPE spot AS (x float8, c char(4), tags text[], p app."Pair", m mood);
CREATE TYPE floatrange AS RANGE (subtype = float8);
CREATE TYPE textrange AS RANGE (subtype = text, collation = "C");
CREATE TYPE momentrange AS RANGE (subtype = timetz, multirange_type_name = momentranges);
CREATE TABLE app."Big Table" (id int);
CREATE TABLE shop (id int);
CREATE FUNCTION app.f(int, text) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE ROLE "Odd role";
"""
_ATTEMPT = """
CREATE FUNCTION attempt(written text, sent text, literal text, OUT shown text, OUT bytes text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT format(''%%s'', v), ' || sent || ' FROM (SELECT ' || written || ' AS v) s', literal)
    INTO shown, bytes;
EXCEPTION WHEN OTHERS THEN
    shown := NULL;
END $$
"""
_SETTINGS: dict[str, tuple[str, ...]] = {
    "datestyle": (
        "ISO, MDY", "ISO, DMY", "SQL, MDY", "SQL, DMY", "German, DMY", "Postgres, MDY", "Postgres, DMY", "SQL, YMD",
    ),
    "intervalstyle": ("postgres", "postgres_verbose", "sql_standard", "iso_8601"),
    "extra_float_digits": ("-15", "-5", "0", "1", "3"),
    "bytea_output": ("hex", "escape"),
    "quote_all_identifiers": ("off", "on"),
    "search_path": ("public", "", "app, public", "pg_catalog, app"),
    "timezone": (
        "UTC", "America/New_York", "Asia/Kolkata", "Europe/Berlin", "Australia/Lord_Howe", "America/Sao_Paulo", "-3.5",
        "5", "<+03>-3", "Africa/Monrovia", "Etc/GMT+7",
    ),
}  # fmt: skip
_TYPMODS: dict[str, tuple[str, ...]] = {
    "bpchar": ("1", "5", "30"),
    "character varying": ("40",),
    "numeric": ("10,2", "30,10", "5,-2"),
    "bit": ("4", "5"),
    "bit varying": ("20",),
    "time without time zone": ("0", "3"),
    "timestamp without time zone": ("0", "2"),
    "timestamp with time zone": ("1", "6"),
}
_ROLE = "SELECT 1 FROM pg_roles WHERE rolname = 'Odd role'"
"""Roles are the server's, and stay."""
_LEFT_OUT = frozenset(
    ("gtsvector", "pg_node_tree", "pg_ndistinct", "pg_dependencies", "pg_mcv_list", "pg_brin_bloom_summary",
     "pg_brin_minmax_multi_summary", "unknown", "cstring", "refcursor", "attempt")
)  # fmt: skip


REGTYPE = 2206


_WITHOUT_LENGTH = {"bit": '"bit"', "bit[]": '"bit"[]', "character[]": "bpchar[]", "public.code": "public.code"}
"""bit and character alone have the length 1."""


class Difference(Struct, frozen=True):
    major: int
    type: str
    literal: str
    settings: dict[str, str]
    server: tuple[str | None, str | None]
    ours: tuple[str | None, str | None]


class Figures(Struct):
    """Counts of values, by type."""

    same: Counter[str]
    refused: Counter[str]
    unknown: Counter[str]
    differences: list[Difference]


class Entry(Struct, frozen=True):
    """A type as the server is asked for its values, and as pubcheck knows it."""

    name: str
    oid: int
    typmod: int
    written: str
    sent: str


def _packed(oid: int) -> bytes:
    return oid.to_bytes(4, "big")


Answer = tuple[str | None, str | None]
"""Text, and bytes in hexadecimal digits; None where the server refuses the literal, or has no send function."""


class Run:
    """One server and one session of pubcheck's with the same schema."""

    def __init__(self, conn: psycopg.Connection[Any], seed: int, only: str = "") -> None:
        self.conn = conn
        self.major = conn.info.server_version // 10000
        self.random = Random(f"{seed} {self.major}")
        self.figures = Figures(Counter(), Counter(), Counter(), [])
        for statement in SCHEMA.strip().split(";\n"):
            if not statement.startswith("CREATE ROLE") or not conn.execute(_ROLE).fetchone():
                conn.execute(statement)
        conn.execute(_ATTEMPT)
        self.session = opened(self.major, SCHEMA)
        conn.execute("SET search_path = pg_catalog")
        self.types = harvest(conn, made=False).types | harvest(conn, made=True).types
        self.oids: set[tuple[bytes, bytes]] = set()
        """The oids of the schema's objects: the server's, and pubcheck's."""
        self.oids |= {(_packed(theirs), _packed(mine)) for theirs, mine in self._objects()}
        self.entries = [entry for entry in self._entries() if only in entry.name]

    def _entries(self) -> Iterator[Entry]:
        query = """SELECT oid::int, typsend::regproc::text, typinput::regproc::text, typmodin::regproc::text
                   FROM pg_type WHERE oid = %s::regtype"""
        context = InputContext(self.major, self.session.syscache)
        for name, kind in self.types.items():
            if _LEFT_OUT & {name, kind.element} or kind.kind == "p":
                continue
            row = self.conn.execute(query, [name]).fetchone()
            assert row is not None
            theirs, send, reader, typmodin = row
            oid = read(context, REGTYPE, name)
            if theirs >= FIRST_NORMAL_OID:
                self.oids.add((_packed(theirs), _packed(oid)))
            sent = "NULL::text" if send == "-" else f"encode({send}(v), 'hex')"
            yield Entry(name, oid, -1, f"%L::{_WITHOUT_LENGTH.get(name, name)}", sent)
            for modifiers in _TYPMODS.get(name, ()):
                typmod = self._value(f"SELECT {typmodin}('{{{modifiers}}}'::cstring[])")
                yield Entry(name, oid, int(typmod), f"{reader}(%L, 0, {typmod})", sent)

    def _objects(self) -> Iterator[tuple[int, int]]:
        """The oids of the schema's other objects: the server's, and pubcheck's."""
        catalog = self.session.catalog
        yield int(self._value("SELECT 'app'::regnamespace::oid")), catalog.namespace_names["app"]
        yield int(self._value("SELECT oid FROM pg_roles WHERE rolname = 'Odd role'")), catalog.role_names["Odd role"]
        context = InputContext(self.major, self.session.syscache)
        for oid, names in ((2205, ("public.shop", 'app."Big Table"')), (24, ("app.f",))):
            for name in names:
                yield (
                    int(self._value(f"SELECT '{name}'::{'regclass' if oid == 2205 else 'regproc'}::oid")),
                    read(context, oid, name),
                )

    def _value(self, query: str) -> str:
        row = self.conn.execute(query).fetchone()
        assert row is not None
        return str(row[0])

    def batch(self, count: int) -> None:
        """So many random values under one choice of settings."""
        settings = {name: self.random.choice(values) for name, values in _SETTINGS.items()}
        for name, value in settings.items():
            self.conn.execute("SELECT set_config(%s, %s, false)", [name, value])
        path = tuple(part.strip() for part in settings["search_path"].split(",") if part.strip())
        self.session.set("search_path", path)
        entries = self.random.choices(self.entries, k=count)
        literals = [(entry, literal(self.random, self.types, entry.name)) for entry in entries]
        # The rules of this zone differ between releases of the time zone data.
        values = [(entry, text) for entry, text in literals if "est5edt" not in text.lower()]
        for (entry, text), answer in zip(values, self._asked(values), strict=True):
            self._compare(entry, text, settings, answer)

    def _asked(self, values: list[tuple[Entry, str]]) -> list[Answer]:
        rows = self.conn.execute(
            """SELECT a.shown, a.bytes FROM unnest(%s::text[], %s::text[], %s::text[]) WITH ORDINALITY u (w, s, l, n),
               public.attempt(w, s, l) a ORDER BY n""",
            [[entry.written for entry, _ in values], [entry.sent for entry, _ in values], [text for _, text in values]],
        )
        return [(row[0], row[1]) for row in rows.fetchall()]

    def _compare(self, entry: Entry, text: str, settings: dict[str, str], server: Answer) -> None:
        figures = self.figures
        inputs = InputContext(self.major, self.session.syscache, settings.get)
        try:
            value = read(inputs, entry.oid, text, entry.typmod)
            ours = self._written(entry, value, settings)
        except ServerError:
            ours = None, None
        except Unknowable as unknown:
            figures.unknown[f"{entry.name}: {unknown.reason}"] += 1
            return
        if inputs.frozen & {"now"}:
            return
        if not self._same(server, ours):
            figures.differences.append(Difference(self.major, entry.name, text, settings, server, ours))
        elif ours[0] is None:
            figures.refused[entry.name] += 1
        else:
            figures.same[entry.name] += 1

    def _same(self, server: Answer, ours: Answer) -> bool:
        if server[0] != ours[0] or server[1] is None or ours[1] is None:
            return server == ours
        theirs, mine, place = bytes.fromhex(server[1]), bytes.fromhex(ours[1]), 0
        if len(theirs) != len(mine):
            return False
        while place < len(mine):
            if theirs[place] == mine[place]:
                place += 1
                continue
            starts = range(max(place - 3, 0), place + 1)
            oid = next(
                (start for start in starts if (theirs[start : start + 4], mine[start : start + 4]) in self.oids), None
            )
            if oid is None:
                return False
            place = oid + 4
        return True

    def _written(self, entry: Entry, value: Any, settings: dict[str, str]) -> Answer:
        context = OutputContext(self.major, self.session.syscache, settings.get)
        text = text_output(context, entry.oid, value)
        if not has_send(context, entry.oid):
            return text, None
        try:
            return text, binary_send(context, entry.oid, value).hex()
        except ServerError:  # the server's attempt fails as a whole
            return None, None
