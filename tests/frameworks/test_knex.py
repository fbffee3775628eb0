"""Knex's schema builder makes the tables that Knex makes of it; what cannot be read leaves nothing certain."""

from __future__ import annotations

from pathlib import Path

import pytest

from pubcheck import extract
from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.source import Source
from tests.frameworks.catalogs import answered, facts, followed, identifying, sources, statements
from tests.support.servers import Servers

HERE = Path(__file__).parents[2] / "corpus" / "frameworks" / "knex"
FILES = ("migrations/20240101000000_users.js", "migrations/20240102000000_changes.ts")
RECORDED = Source("recorded.sql", (HERE / "recorded.sql").read_text())


def test_calls_make_the_catalog_that_the_sql_of_knex_makes() -> None:
    unit = sources(HERE, FILES, "javascript")
    assert identifying(facts(followed(unit))) == identifying(facts(followed((RECORDED,))))
    assert [source.view.named for source in unit if source.view is not None] == [(), ()]


@pytest.mark.server
def test_a_server_makes_the_same_of_them(servers: Servers) -> None:
    unit = sources(HERE, FILES, "javascript")
    recorded = identifying(answered(servers[18], statements((RECORDED,))))
    assert identifying(answered(servers[18], statements(unit))) == recorded
    assert identifying(facts(followed(unit))) == recorded


MIGRATION = "exports.up = async (knex) => {{\n  {}\n}};\nexports.down = () => null;\n"
TABLE = "await knex.schema.createTable('t', (t) => { t.bigint('a').notNullable(); });"
PUBLISH = "await knex.raw('CREATE PUBLICATION p FOR TABLE t');"


def lint(*steps: str, complete: bool = False) -> list[Diagnostic]:
    unit = Unit((extract.source("m.js", MIGRATION.format("\n  ".join(steps)), "javascript"),))
    return list(Linter(Config(postgres=(18,), complete=complete)).lint(unit).diagnostics)


def keyless(findings: list[Diagnostic]) -> set[str]:
    """How certain it is that a table has no replica identity."""
    return {finding.certainty for finding in findings if finding.rule == "PUB302"}


def test_a_table_that_a_call_makes_without_a_key_cannot_be_updated() -> None:
    findings = lint(TABLE, PUBLISH)
    assert keyless(findings) == {"certain"}
    assert {span.source.shown[span.start : span.end] for finding in findings for span in finding.related} == {"'t'"}


@pytest.mark.parametrize(
    "step",
    [
        "await knex.schema.alterTable('t', (t) => { t.primary(['a']); });",
        "await knex.schema.table('t', function (t) { t.increments(); });",
        "await knex.schema.dropTable('t').createTable('t', t => t.uuid('a').primary());",
    ],
)
def test_a_key_that_a_call_makes_is_one(step: str) -> None:
    assert lint(TABLE, step, PUBLISH, complete=True) == []


@pytest.mark.parametrize(
    "step",
    [
        "await knex.schema.alterTable(name, (t) => { t.primary(['a']); });",
        "await knex.schema.alterTable('t', build);",
        "await knex.schema.alterTable('t', (t) => { t.primary(columns); });",
        "await knex.schema.alterTable('t', (t) => { if (x) t.primary(['a']); });",
        "await knex.schema.alterTable('t', (t) => { helper(t); });",
        "await knex.schema.alterTable('t', (t) => { t.secret('a'); });",
        "await knex.schema.alterTable('t', (t) => { t.dropUnique(['b']); });",
        "await knex.schema.secret('t');",
        "await addKeys(knex);",
        "if (x) {\n    await knex.schema.alterTable('t', (t) => { t.primary(['a']); });\n  }",
        "for (const n of ns) {\n    await knex.schema.alterTable(n, (t) => { t.primary(['a']); });\n  }",
    ],
)
def test_what_a_call_does_that_cannot_be_read_leaves_nothing_certain(step: str) -> None:
    assert keyless(lint(TABLE, step, PUBLISH)) <= {"assumed"}
    assert {finding.certainty for finding in lint(TABLE, step, PUBLISH, complete=True) if finding.phase == "write"} <= {
        "assumed"
    }


@pytest.mark.parametrize(
    "step",
    [
        "await knex('users').insert({ a: 1 });",
        "await knex.schema.createTable('u', build);",
        "await knex.schema.raw('SELECT 1');",
    ],
)
def test_what_is_done_to_another_table_leaves_this_one_certain(step: str) -> None:
    assert keyless(lint(TABLE, PUBLISH, step)) == {"certain"}


@pytest.mark.parametrize(
    "text",
    [
        "knex.schema.createTable(",
        "knex.schema.createTable()",
        "knex.schema.createTable('t', t => ",
        "knex.schema.createTable('t', (t) => { t.increments(",
        "knex.schema.alterTable('t', t => t.renameColumn('a'))",
        "knex.schema" + ".dropTable('t')" * 2000,
        "knex.schema.createTable('t', " + "[" * 5000,
    ],
)
def test_what_is_no_proper_migration_is_no_internal_error(text: str) -> None:
    lint(text, PUBLISH)


@pytest.mark.parametrize("text", ["f(knex, " * 20_000, "[" * 2000 + "]" * 2000])
def test_what_nests_deeply_takes_no_longer_than_its_length(text: str) -> None:
    lint("knex.schema.createTable('t', " + text + ")", PUBLISH)
