"""Random tables for random filters: what every row of them meets is known from how they are written."""

from __future__ import annotations

import random
from typing import Literal, get_args

from msgspec import Struct

from tests.filter_logic.random_filters import CONSTANTS, TABLE, Filters

Kind = Literal["plain", "checked", "partition", "generated"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class Table(Struct, frozen=True):
    """A schema with one table ``t``: conditions that none of its rows makes false, and the expressions of its generated
    columns, by their names."""

    schema: str
    conditions: tuple[str, ...] = ()
    generated: tuple[tuple[str, str], ...] = ()


def table(kind: Kind, seed: int) -> Table:
    rng = random.Random(seed)
    if kind == "checked":
        return _checked(seed)
    if kind == "partition":
        return _partition(rng)
    if kind == "generated":
        return _with_generated(seed, rng)
    return Table(TABLE)


def _checked(seed: int) -> Table:
    conditions = Filters(seed, usual=True).pair()
    return Table(TABLE[:-1] + "".join(f", CHECK ({condition})" for condition in conditions) + ")", conditions)


_KEYS = ("a", "b", "small", "big", "name", "code", "s", "d", "u")


def _partition(rng: random.Random) -> Table:
    key = rng.choice(_KEYS)
    constants = list(dict.fromkeys(text for text in CONSTANTS[key] if text not in ("40000", "''")))
    columns = TABLE.replace("CREATE TABLE t", "CREATE TABLE root").replace("PRIMARY KEY", "NOT NULL")
    if rng.random() < 0.5 or key == "s":
        values = rng.sample(constants, rng.randint(1, min(3, len(constants) - 1)))
        with_null = rng.random() < 0.3 and key not in ("b", "name")
        written = ", ".join([*values, *(["NULL"] if with_null else [])])
        held = f"{key} IN ({', '.join(values)})"
        condition = f"({held}) OR {key} IS NULL" if with_null else f"({held}) IS TRUE"
        if rng.random() < 0.3:
            sibling = f"CREATE TABLE other PARTITION OF root FOR VALUES IN ({written});"
            schema = f"{columns} PARTITION BY LIST ({key}); {sibling} CREATE TABLE t PARTITION OF root DEFAULT"
            return Table(schema, (f"({condition}) IS NOT TRUE",))
        bound = f"FOR VALUES IN ({written})"
        return Table(f"{columns} PARTITION BY LIST ({key}); CREATE TABLE t PARTITION OF root {bound}", (condition,))
    low, high = sorted(rng.sample(constants, 2), key=lambda text: text if "'" in text else int(text))
    conditions = [f"({key} >= {low}) IS TRUE", f"({key} < {high}) IS TRUE"]
    if rng.random() < 0.3:
        low, conditions = "MINVALUE", conditions[1:]
    elif rng.random() < 0.3:
        high, conditions = "MAXVALUE", conditions[:1]
    bound = f"FOR VALUES FROM ({low}) TO ({high})"
    schema = f"{columns} PARTITION BY RANGE ({key}); CREATE TABLE t PARTITION OF root {bound}"
    return Table(schema, tuple(conditions))


_DOMAIN = "CREATE DOMAIN positive AS integer CHECK (VALUE > 0); CREATE TYPE status AS ENUM ('eu', 'us', 'a');"


def _with_generated(seed: int, rng: random.Random) -> Table:
    """Return a table with columns of a domain and an enum, which filters read by generated columns."""
    condition = Filters(seed, usual=True).filter()
    labels = " ".join(f"WHEN '{label}' THEN '{rng.choice(('eu', 'us', 'a'))}'" for label in ("eu", "us", "a"))
    generated = (
        ("gs", f"CASE WHEN {condition} THEN 'eu' ELSE 'us' END"),
        ("gb", rng.choice(("a", "a * 2", "a + b", "dom::integer"))),
        ("ge", f"CASE status {labels} END"),
        ("gf", Filters(seed + 1, usual=True).filter()),
    )
    types = {"gs": "text", "gb": "integer", "ge": "text", "gf": "boolean"}
    columns = [f"{name} {types[name]} GENERATED ALWAYS AS ({text}) STORED" for name, text in generated]
    schema = f"{_DOMAIN} {TABLE[:-1]}, dom positive, status status, {', '.join(columns)})"
    return Table(schema, ("dom::integer > 0",), generated)
