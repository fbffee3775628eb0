"""Every built-in cast, function and operator in a row filter: no rule meets a type that it cannot take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.explain.build import Selection, build_unit
from pubcheck.explain.filters_compared import sampler
from pubcheck.postgres.builtins import builtins
from pubcheck.postgres.builtins.objects import Objects, _file
from pubcheck.postgres.tokens import identifier
from pubcheck.postgres.versions import MAJORS
from pubcheck.source import Source

pytestmark = pytest.mark.slow

MAJOR = MAJORS[-1]
TYPES = {
    oid: f'pg_catalog."{name}"'
    for schema, named in sorted(builtins(MAJOR).types.items())
    for name, oid in sorted(named.items())
    if schema == "pg_catalog" and not name.startswith("pg_")
}


def conditions() -> Iterator[tuple[str, tuple[int, ...]]]:
    """Expressions over columns c0, c1 ..., and the types of these."""
    plain = {oid: name for oid, name in TYPES.items() if '"_' not in name}
    yield from ((f"c0::{target}", (source,)) for source in plain for target in plain.values())
    objects = Objects(MAJOR)
    for proc in map(objects.proc, _file().procs):
        if proc is not None and proc.volatility == "i" and set(proc.arguments) <= TYPES.keys():
            columns = ", ".join(f"c{place}" for place in range(len(proc.arguments)))
            yield f"pg_catalog.{identifier(proc.name)}({columns})", tuple(proc.arguments)
    for oid in map(int, _file().operators):
        row = objects.operator(oid)
        if row is not None and {row.left or row.right, row.right} <= TYPES.keys():
            operands = (row.left, row.right) if row.left else (row.right,)
            written = f"OPERATOR(pg_catalog.{row.name}) c{len(operands) - 1}"
            yield (f"c0 {written}" if row.left else written), operands


def units(functions: Iterable[tuple[str, tuple[int, ...]]]) -> Iterator[str]:
    """A thousand filters each. Two over the same types share a table, for those of one table are compared."""
    tables: dict[tuple[int, ...], list[int]] = {}
    statements: list[str] = []
    for number, (condition, types) in enumerate(functions):
        numbers = tables.setdefault(types, [])
        if len(numbers) % 2 == 0:
            numbers.clear()
            columns = "".join(f", c{index} {TYPES[oid]}" for index, oid in enumerate(types))
            statements.append(f"CREATE TABLE t{number} (id int PRIMARY KEY{columns});")
        numbers.append(number)
        filtered = f"t{numbers[0]} WHERE ({condition} IS NOT NULL)"
        statements.append(f"CREATE PUBLICATION p{number} FOR TABLE {filtered} WITH (publish = 'insert');")
        if number % 1000 == 999:
            yield "\n".join(statements)
            tables, statements = {}, []
    yield "\n".join(statements)


@pytest.mark.parametrize("sql", [*units(conditions())], ids=lambda sql: f"{len(sql)}")
def test_no_rule_and_no_example_fails_at_a_builtin(sql: str) -> None:
    config = Config(postgres=(MAJOR,), complete=True, select=("PUB",))
    followed = Linter(config).follow(Unit((Source("every.sql", sql),)))
    fold = followed.replays[-1]
    build_unit(fold, followed.statements, followed.findings, ["every.sql"], Selection(), sampler(fold))
    assert [fault.trace for fault in (*followed.result.faults, *fold.faults.faults)] == []
