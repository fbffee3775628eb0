"""Names in programs that are unknown: variables, placeholders, and tables that calls of a framework create."""

from __future__ import annotations

import pytest

from pubcheck import extract
from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from tests.programs.support import certainties, lint


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("python", 'run(f"ALTER PUBLICATION p ADD TABLE {t}")'),
        ("go", 'fmt.Sprintf("CREATE PUBLICATION %s FOR TABLE %s", p, t)'),
        ("go", 'fmt.Sprintf("CREATE PUBLICATION p FOR ALL TABLES%s", options)'),
        ("rust", 'format!("CREATE PUBLICATION {} FOR TABLE {} WITH (publish_via_partition_root = {})", a, b, c)'),
        ("ruby", "\"CREATE PUBLICATION p FOR TABLE t WITH (publish = '#{operations}')\""),
        ("javascript", '`ALTER TABLE "${t}" REPLICA IDENTITY USING INDEX "${i}"`; `DROP PUBLICATION ${p}`'),
        ("sql", "CREATE PUBLICATION {{ p }} FOR TABLE {{ t }} WITH (publish = '{{ operations }}');"),
        ("sql", "DROP PUBLICATION %s;\nALTER PUBLICATION p ADD TABLE %I.%I;"),
    ],
)
def test_nothing_is_refused_for_a_name_that_is_not_known(kind: str, text: str) -> None:
    assert [finding for finding in lint(text, kind) if finding.severity != "note"] == []


def test_of_a_name_that_stands_for_another_nothing_is_said() -> None:
    assert lint('run(f"CREATE TABLE {t} (id int)"); run(f"CREATE PUBLICATION p FOR TABLE {t}")', "python") == []


def test_of_what_stands_in_the_quotes_of_a_name_nothing_is_said() -> None:
    text = 'run(`ALTER PUBLICATION "%s" RENAME TO "%s"`); run(`DROP PUBLICATION "%s"`)'
    assert lint(text, "go") == []


ALEMBIC = "from alembic import op\n\n\ndef upgrade():\n    {}\n\n\ndef downgrade():\n    op.drop_table('t')\n"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (
            "ruby",
            "class A < ActiveRecord::Migration[7.1]\n  def up\n    create_table :orders\n    execute '{}'\n  end\n"
            "end\n",
        ),
        ("python", 'import alembic\ndef upgrade():\n    op.create_table("orders")\n    op.execute("{}")\n'),
        (
            "python",
            "from django.db import migrations\nclass Migration(migrations.Migration):\n    operations = [\n"
            '        migrations.CreateModel(name="Orders"),\n        migrations.RunSQL("{}"),\n    ]\n',
        ),
        ("rust", 'm.create_table(Table::create().table(Orders::Table)); run("{}")'),
        ("javascript", 'knex.schema.createTable("orders"); run("{}")'),
    ],
)
@pytest.mark.parametrize("complete", [False, True])
def test_a_table_that_a_call_of_a_program_makes_is_not_missing(kind: str, text: str, complete: bool) -> None:
    name = "shop_orders" if "django" in text else "orders"
    source = extract.source("program", text.replace("{}", f"CREATE PUBLICATION p FOR TABLE {name}"), kind)
    findings = Linter(Config(postgres=(18,), complete=complete)).lint(Unit((source,))).diagnostics
    assert [finding for finding in findings if finding.rule == "PUB107"] == []


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 'b' AS v \\gset\nCREATE PUBLICATION p FOR TABLE :v;\n",
        "\\set b `echo t`\nCREATE PUBLICATION p FOR TABLE :b;\n",
        'CREATE PUBLICATION p FOR TABLE :"unset", part_:unset;\n',
        "CREATE PUBLICATION p FOR TABLE :schema.t;\nALTER PUBLICATION :user DROP TABLE u;\n",
    ],
)
@pytest.mark.parametrize("complete", [False, True])
def test_a_variable_without_a_value_is_no_name(text: str, complete: bool) -> None:
    unit = Unit((extract.source("x.sql", text),))
    findings = Linter(Config(postgres=(18,), complete=complete)).lint(unit).diagnostics
    assert [finding.rule for finding in findings] == ["PUB009"]


def test_the_name_of_a_variable_hides_nothing_that_is_known() -> None:
    text = (
        'CREATE TABLE t (id int);\nCREATE PUBLICATION p FOR TABLE t, :"table", :t;\nCREATE PUBLICATION q FOR TABLE u;\n'
    )
    unit = Unit((extract.source("x.sql", text),))
    findings = Linter(Config(postgres=(18,))).lint(unit).diagnostics
    assert "PUB302" in {finding.rule for finding in findings}
    assert ['table "u"' in finding.message for finding in findings if finding.rule == "PUB107"] == [True]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (
            "javascript",
            "exports.up = (k) => k.raw('ALTER PUBLICATION p ADD TABLE ??', ['u']).raw('DROP PUBLICATION ??');\n"
            "exports.down = () => null;\n",
        ),
        ("python", ALEMBIC.format('op.execute(f"ALTER PUBLICATION p ADD TABLE {x}, {y}")')),
        ("sql", "\\i x.inc\n\\ir y.inc\nALTER PUBLICATION p ADD TABLE t;\n"),
    ],
)
def test_what_a_statement_names_at_run_time_and_files_that_are_not_there_are_said_once_a_file(
    kind: str, text: str
) -> None:
    table = "CREATE TABLE t (id int PRIMARY KEY);\nCREATE PUBLICATION p;\n"
    assert certainties(lint(text, kind, table)) == [("PUB009", "assumed")]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("javascript", f'q(`CREATE PUBLICATION "${{this.options.{"name" * 20}}}"`)'),
        ("javascript", f'q("DROP PUBLICATION prefix_" + options.{"name" * 20})'),
        ("sql", f'CREATE PUBLICATION p FOR TABLE :"{"name" * 20}";\n'),
    ],
)
def test_what_stands_for_a_name_is_not_too_long(kind: str, text: str) -> None:
    assert {finding.rule for finding in lint(text, kind)} <= {"PUB009"}


def test_a_variable_of_psql_may_hold_a_literal() -> None:
    text = (
        "\\set connection '\\'host=a port=' :port '\\''\n"
        "CREATE SUBSCRIPTION s_:oid CONNECTION :connection PUBLICATION p WITH (slot_name=slot_:oid);\n"
    )
    assert lint(text, "sql") == []
