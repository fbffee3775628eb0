"""Faults to plant: statements with what pubcheck must say of them. That a server answers so is tested with servers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct


class Expected(Struct, frozen=True):
    """A finding: on which statement of the fault, counted from 0, and what the server says, now or of a later write."""

    statement: int
    rule: str
    sqlstate: str | None = None
    operation: str | None = None


class Fault(Struct, frozen=True):
    """Statements, a line each, and the findings of them, each certain and at least a warning."""

    statements: tuple[str, ...]
    expected: tuple[Expected, ...]


def _refused(rule: str, sqlstate: str, *statements: str) -> Fault:
    """The last statement is refused."""
    return Fault(statements, (Expected(len(statements) - 1, rule, sqlstate),))


def _writes(rule: str, *statements: str, at: int | None = None) -> Fault:
    """All are accepted; after the last one, or that numbered ``at``, UPDATE and DELETE are refused."""
    place = len(statements) - 1 if at is None else at
    return Fault(
        statements,
        tuple(Expected(place, rule, "42P10" if rule != "PUB302" else "55000", each) for each in ("update", "delete")),
    )


def _silent(rule: str, *statements: str) -> Fault:
    return Fault(statements, (Expected(len(statements) - 1, rule, None),))


def _table(name: str, columns: str = "id int PRIMARY KEY, region varchar(8) NOT NULL, kind smallint NOT NULL") -> str:
    return f"CREATE TABLE {name} ({columns});"


FAULTS: Mapping[str, Callable[[str, str], Fault]] = {
    "filter outside of the identity": lambda t, p: _writes(
        "PUB301", _table(t), f"CREATE PUBLICATION {p} FOR TABLE {t} WHERE (region = 'eu');"
    ),
    "no identity": lambda t, p: _writes(
        "PUB302", _table(t, "id int, region varchar(8) NOT NULL"), f"CREATE PUBLICATION {p} FOR TABLE {t};"
    ),
    "key dropped later": lambda t, p: _writes(
        "PUB302",
        _table(t),
        f"CREATE PUBLICATION {p} FOR TABLE {t} WITH (publish = 'insert, update, delete');",
        f"ALTER TABLE {t} DROP CONSTRAINT {t}_pkey;",
    ),
    "list without the key": lambda t, p: _writes(
        "PUB406", _table(t), f"CREATE PUBLICATION {p} FOR TABLE {t} (region, kind);"
    ),
    "unknown column in a list": lambda t, p: _refused(
        "PUB401", "42703", _table(t), f"CREATE PUBLICATION {p} FOR TABLE {t} (id, regoin);"
    ),
    "column twice in a list": lambda t, p: _refused(
        "PUB403", "42710", _table(t), f"CREATE PUBLICATION {p} FOR TABLE {t} (id, region, id);"
    ),
    "unknown column in a filter": lambda t, p: _refused(
        "PUB201", "42703", _table(t), f"CREATE PUBLICATION {p} FOR TABLE {t} WHERE (regoin = 'eu');"
    ),
    "types that do not fit": lambda t, p: _refused(
        "PUB203", "42883", _table(t), f"CREATE PUBLICATION {p} FOR TABLE {t} WHERE (region > 5);"
    ),
    "filter that is no condition": lambda t, p: _refused(
        "PUB204", "42804", _table(t), f"CREATE PUBLICATION {p} FOR TABLE {t} WHERE (id);"
    ),
    "literal that is no number": lambda t, p: _refused(
        "PUB205", "22P02", _table(t), f"CREATE PUBLICATION {p} FOR TABLE {t} WHERE (id > 'ten');"
    ),
    "volatile function": lambda t, p: _refused(
        "PUB209", "0A000", _table(t), f"CREATE PUBLICATION {p} FOR TABLE {t} WHERE (id > random());"
    ),
    "function of a user": lambda t, p: _refused(
        "PUB210",
        "0A000",
        _table(t),
        f"CREATE FUNCTION {t}_wanted(int) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT $1 > 5';",
        f"CREATE PUBLICATION {p} FOR TABLE {t} WHERE ({t}_wanted(id));",
    ),
    "subquery in a filter": lambda t, p: _refused(
        "PUB207", "0A000", _table(t), f"CREATE PUBLICATION {p} FOR TABLE {t} WHERE (id IN (SELECT 1));"
    ),
    "a syntax there is not": lambda t, p: _refused(
        "PUB101", "42601", _table(t), f"CREATE PUBLICATION IF NOT EXISTS {p} FOR TABLE {t};"
    ),
    "unknown option": lambda t, p: _refused(
        "PUB120", "42601", _table(t), f"CREATE PUBLICATION {p} FOR TABLE {t} WITH (published = 'insert');"
    ),
    "unknown operation": lambda t, p: _refused(
        "PUB123", "42601", _table(t), f"CREATE PUBLICATION {p} FOR TABLE {t} WITH (publish = 'insert, upsert');"
    ),
    "publication made twice": lambda t, p: _refused(
        "PUB105", "42710", _table(t), f"CREATE PUBLICATION {p} FOR TABLE {t};", f"CREATE PUBLICATION {p};"
    ),
    "member added twice": lambda t, p: _refused(
        "PUB130", "42710", _table(t), f"CREATE PUBLICATION {p} FOR TABLE {t};", f"ALTER PUBLICATION {p} ADD TABLE {t};"
    ),
    "no member dropped": lambda t, p: _refused(
        "PUB131", "42704", _table(t), f"CREATE PUBLICATION {p};", f"ALTER PUBLICATION {p} DROP TABLE {t};"
    ),
    "table dropped before": lambda t, p: _refused(
        "PUB107", "42P01", _table(t), f"DROP TABLE {t};", f"CREATE PUBLICATION {p} FOR TABLE {t};"
    ),
    "view": lambda t, p: _refused(
        "PUB108",
        "22023",
        _table(t),
        f"CREATE VIEW {t}_v AS SELECT id FROM {t};",
        f"CREATE PUBLICATION {p} FOR TABLE {t}_v;",
    ),
    "unlogged table": lambda t, p: _refused(
        "PUB110", "22023", _table(t).replace("TABLE", "UNLOGGED TABLE"), f"CREATE PUBLICATION {p} FOR TABLE {t};"
    ),
    "member set unlogged": lambda t, p: _refused(
        "PUB703", "55000", _table(t), f"CREATE PUBLICATION {p} FOR TABLE {t};", f"ALTER TABLE {t} SET UNLOGGED;"
    ),
    "column of a filter dropped": lambda t, p: _refused(
        "PUB701",
        "2BP01",
        _table(t),
        f"CREATE PUBLICATION {p} FOR TABLE {t} WHERE (region = 'eu') WITH (publish = 'insert');",
        f"ALTER TABLE {t} DROP COLUMN region;",
    ),
    "filter on a root": lambda t, p: _refused(
        "PUB501",
        "22023",
        _table(t, "id int PRIMARY KEY").replace(");", ") PARTITION BY RANGE (id);"),
        f"CREATE PUBLICATION {p} FOR TABLE {t} WHERE (id > 5);",
    ),
    "filter column that may be null": lambda t, p: _silent(
        "PUB603",
        _table(t, "id int PRIMARY KEY, score int"),
        f"ALTER TABLE {t} REPLICA IDENTITY FULL;",
        f"CREATE PUBLICATION {p} FOR TABLE {t} WHERE (score > 5);",
    ),
    "members lost by SET TABLE": lambda t, p: _silent(
        "PUB709",
        _table(t),
        _table(f"{t}_b"),
        f"CREATE PUBLICATION {p} FOR TABLE {t};",
        f"ALTER PUBLICATION {p} SET TABLE {t}_b;",
    ),
}
"""What is wrong -> the fault, given names for a table (other names begin with it) and for a publication."""
