"""Rails' commands make the tables that Rails makes of them; what cannot be read leaves nothing certain."""

from __future__ import annotations

from pathlib import Path

import pytest

from pubcheck import extract
from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.source import Source
from tests.frameworks.catalogs import answered, facts, followed, sources, statements
from tests.support.servers import Servers

HERE = Path(__file__).parents[2] / "corpus" / "frameworks" / "rails"
FILES = ("migrate/20240101000000_create_users.rb", "migrate/20240102000000_change_users.rb")
RECORDED = Source("recorded.sql", (HERE / "recorded.sql").read_text())


def test_commands_make_the_catalog_that_the_sql_of_rails_makes() -> None:
    unit = sources(HERE, FILES, "ruby")
    # Foreign keys that only say `true` are left out: Rails finds the table by English grammar.
    assert facts(followed(unit)) == facts(followed((RECORDED,)))
    assert [source.view.named for source in unit if source.view is not None] == [(), ()]


@pytest.mark.server
def test_a_server_makes_the_same_of_them(servers: Servers) -> None:
    unit = sources(HERE, FILES, "ruby")
    recorded = answered(servers[18], statements((RECORDED,)))
    assert answered(servers[18], statements(unit)) == recorded
    assert facts(followed(unit)) == recorded


MIGRATION = "class M < ActiveRecord::Migration[7.1]\n  def change\n    {}\n  end\nend\n"
TABLE = "create_table :t, id: false do |t|\n      t.bigint :a, null: false\n    end"
PUBLISH = 'execute "CREATE PUBLICATION p FOR TABLE t"'
UNIQUE = 'execute "ALTER TABLE t REPLICA IDENTITY USING INDEX index_t_on_a"'


def lint(*steps: str, complete: bool = False) -> list[Diagnostic]:
    text = MIGRATION.format("\n    ".join(steps))
    unit = Unit((extract.source("1_m.rb", text, "ruby"),))
    return list(Linter(Config(postgres=(18,), complete=complete)).lint(unit).diagnostics)


def keyless(findings: list[Diagnostic]) -> set[str]:
    """How certain it is that a table has no replica identity."""
    return {finding.certainty for finding in findings if finding.rule == "PUB302"}


def test_a_table_without_a_key_cannot_be_updated_and_one_has_a_key_unless_it_says_otherwise() -> None:
    findings = lint(TABLE, PUBLISH)
    assert keyless(findings) == {"certain"}
    assert {span.source.shown[span.start : span.end] for finding in findings for span in finding.related} == {":t"}
    assert lint(TABLE.replace(", id: false", ""), PUBLISH, complete=True) == []


@pytest.mark.parametrize(
    "steps",
    [
        ["add_column :t, :b, :primary_key"],
        ["add_index :t, :a, unique: true", UNIQUE],
        ["add_index(:t, [:a],\n      unique: true)", UNIQUE],
        ["change_table :t do |t|\n      t.index :a, unique: true\n    end", UNIQUE],
        ["safety_assured do\n      add_index 't', 'a', unique: true\n    end", UNIQUE],
        [
            "reversible do |way|\n      way.up { add_index :t, :a, unique: true }\n      way.down do\n        x\n"
            "      end\n    end",
            UNIQUE,
        ],
        ["drop_table :t", "create_table :t do |t|\n      t.text :b\n    end"],
    ],
)
def test_a_key_that_a_command_makes_is_one(steps: list[str]) -> None:
    assert keyless(lint(TABLE, *steps, PUBLISH)) == set() or steps == ["add_column :t, :b, :primary_key"]
    assert [
        finding for finding in lint(TABLE, *steps, PUBLISH, complete=True) if finding.server and finding.phase == "ddl"
    ] == []


@pytest.mark.parametrize(
    "step",
    [
        "add_index :t, columns, unique: true",
        "add_column table, :b, :bigint",
        "add_column :t, :b, :secret",
        "add_key :t, :a",
        "add_keys",
        "[:t].each do |name|\n      add_index name, :a, unique: true\n    end",
        "[:t].each { |name| add_index name, :a }",
        "ActiveRecord::Base.connection.add_index(:t, :a)",
        "x = add_index(:t, :a, unique: true)",
        "remove_index :t, name: 'who_knows'",
        't = "#{x}"\n    rename_column t, :a, :b',
        "change_table :t do |t|\n      t.secret :x\n    end",
        "change_table :t do |t|\n      t.index :a if x\n    end",
    ],
)
def test_what_a_command_does_that_cannot_be_read_leaves_nothing_certain(step: str) -> None:
    assert keyless(lint(TABLE, step, PUBLISH)) <= {"assumed"}
    assert {finding.certainty for finding in lint(TABLE, step, PUBLISH, complete=True) if finding.phase == "write"} <= {
        "assumed"
    }


@pytest.mark.parametrize(
    "step",
    [
        "add_index :t, :a, unique: true if x",
        "add_index :t, :a, unique: true unless index_exists?(:t, :a)",
        "if x\n      add_index :t, :a, unique: true\n    else\n      puts 'x'\n    end",
        "return if x\n    add_index :t, :a, unique: true",
    ],
)
def test_what_stands_under_a_condition_runs_perhaps(step: str) -> None:
    findings = lint(TABLE, step, 'execute "ALTER TABLE t REPLICA IDENTITY USING INDEX index_t_on_a"', PUBLISH)
    assert {finding.certainty for finding in findings} <= {"assumed"}


@pytest.mark.parametrize(
    "step",
    [
        "Order.where(x: 1).find_each { |o| o.update!(y: 2) }",
        "Order.reset_column_information",
        "create_join_table :a, :b",
        "say 'hello'",
        "add_foreign_key :t, :users",
        "create_table :u do |t|\n      t.secret :x\n    end",
        "change_column_default :u, :a, 1",
        "create_table(:u, options: OPTIONS) { |t| t.text :x }",
    ],
)
def test_what_is_done_to_another_table_leaves_this_one_certain(step: str) -> None:
    assert keyless(lint(TABLE, PUBLISH, step)) == {"certain"}


def test_a_schema_in_ruby_is_one() -> None:
    schema = (
        "# This file is auto-generated.\n\nActiveRecord::Schema[7.1].define(version: 2024_01_02_000000) do\n"
        '  enable_extension "plpgsql"\n\n  create_table "t", id: false, force: :cascade do |t|\n'
        '    t.bigint "a", null: false\n  end\n\n  add_foreign_key "t", "users"\nend\n'
    )
    publish = MIGRATION.format(PUBLISH)
    unit = Unit((extract.source("schema.rb", schema, "ruby"), extract.source("1_m.rb", publish, "ruby")))
    assert keyless(list(Linter(Config(postgres=(18,))).lint(unit).diagnostics)) == {"certain"}


@pytest.mark.parametrize(
    "text",
    [
        "class M < ActiveRecord::Migration[7.1]\n  def change\n    create_table",
        "class M < ActiveRecord::Migration[7.1]\n  def change\n    create_table do |t|\n t.string\n end end end end",
        "class M < ActiveRecord::Migration[7.1]\n  def change\n    add_index :t, []\n    add_column\n  end\nend",
        "class M < ActiveRecord::Migration[7.1]\n  def change\n" + "if x\n" * 3000,
        "class M < ActiveRecord::Migration[7.1]\n  def change\n add_index " + "[" * 3000 + "\nend\nend",
        "class M < ActiveRecord::Migration[7.1]\n  def change = add_column(:t, :a, :text)\nend\n| } ) ]",
    ],
)
def test_what_is_no_proper_migration_is_no_internal_error(text: str) -> None:
    unit = Unit((extract.source("m.rb", text + "\n    " + PUBLISH, "ruby"),))
    Linter(Config(postgres=(18,))).lint(unit)
