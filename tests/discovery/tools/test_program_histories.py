"""Histories of programs are read whole where one of their files is about replication."""

from __future__ import annotations

import pytest

from pubcheck.config import Config
from pubcheck.discovery.units import find_units
from pubcheck.engine.linter import Linter
from pubcheck.lint_files import lint_files
from tests.discovery.tools.trees import Grow, plant, units

PYTHON = "revision = '{number}'\ndown_revision = {before}\nfrom alembic import op\n\n\ndef upgrade():\n    {steps}\n"
RUBY = "class M{number} < ActiveRecord::Migration[7.1]\n  def up\n    {steps}\n  end\nend\n"
JAVASCRIPT = "exports.up = async (knex) => {{\n  {steps}\n}};\n\nexports.down = async (knex) => {{ }};\n"
GO = (
    "package migrations\n\nfunc init() {{\n\tgoose.AddMigrationContext(up{number}, nil)\n}}\n\n"
    "func up{number}(ctx context.Context, tx *sql.Tx) error {{\n\t{steps}\n\treturn nil\n}}\n"
)
ELIXIR = "defmodule M{number} do\n  use Ecto.Migration\n\n  def up do\n    {steps}\n  end\nend\n"
PHP = "<?php\nclass M{number} extends Migration\n{{\n    public function up()\n    {{\n        {steps}\n    }}\n}}\n"
CSHARP = (
    "public partial class M{number} : Migration\n{{\n    protected override void Up(MigrationBuilder b)\n    {{\n"
    "        {steps}\n    }}\n}}\n"
)
JAVA = (
    "public class V{number}__m extends BaseJavaMigration {{\n    public void migrate(Context context) {{\n"
    "        {steps}\n    }}\n}}\n"
)
RUST = (
    "impl MigrationTrait for Migration {{\n    async fn up(&self, m: &SchemaManager) -> Result<(), DbErr> {{\n"
    "        {steps}\n    }}\n}}\n"
)

HISTORIES = {
    "alembic": ("alembic/versions/{number}_m.py", PYTHON, "op.execute({})"),
    "alembic-by-hash": ("alembic/versions/b{number}a_m.py", PYTHON, "op.execute({})"),
    "rails": ("db/migrate/2024010{number}000000_m.rb", RUBY, "execute {}"),
    "knex": ("migrations/2024010{number}000000_m.js", JAVASCRIPT, "await knex.raw({});"),
    "knex-in-a-folder-of-another-name": ("db/changes/2024010{number}000000_m.js", JAVASCRIPT, "await knex.raw({});"),
    "goose": ("migrations/0000{number}_m.go", GO, "tx.ExecContext(ctx, {})"),
    "ecto": ("priv/repo/migrations/2024010{number}000000_m.exs", ELIXIR, "execute {}"),
    "laravel": ("database/migrations/2024_01_0{number}_000000_m.php", PHP, "DB::statement({});"),
    "doctrine": ("migrations/Version2024010{number}000000.php", PHP, "DB::statement({});"),
    "ef": ("Migrations/2024010{number}000000_M.cs", CSHARP, "b.Sql({});"),
    "flyway": ("db/migration/V{number}__m.java", JAVA, "execute({});"),
    "sea-orm": ("migration/src/m2024010{number}_000000_m.rs", RUST, "db.execute_unprepared({}).await?;"),
}


def lint(*paths: str) -> list[tuple[str, str]]:
    """What is found of at least a warning's weight, without what is found again for another operation."""
    linter = Linter(Config(postgres=(18,)))
    judged = [lint_files(plan, linter, excerpts=False) for plan in find_units(paths or ("repo",))]
    findings = [finding.entry for outcome in judged for finding in outcome.findings]
    return list(dict.fromkeys((finding.rule, finding.certainty) for finding in findings if finding.severity != "note"))


def planted(convention: str, *steps: str) -> list[str]:
    path, program, call = HISTORIES[convention]
    paths = [f"repo/{path.format(number=number)}" for number in range(1, len(steps) + 1)]
    plant(
        {
            file: program.format(
                number=number, before=repr(str(number - 1)) if number > 1 else None, steps=call.format(f'"{step}"')
            )
            for number, (file, step) in enumerate(zip(paths, steps, strict=True), 1)
        }
    )
    return paths


@pytest.mark.parametrize("convention", HISTORIES)
def test_a_key_that_a_file_without_publications_adds_is_seen(grow: Grow, convention: str) -> None:
    grow()
    steps = ("CREATE TABLE t (id int)", "CREATE PUBLICATION p FOR TABLE t", "ALTER TABLE t ADD PRIMARY KEY (id)")
    paths = planted(convention, *steps[:2])
    assert lint() == [("PUB302", "certain")]
    paths = planted(convention, *steps)
    assert lint() == []
    assert lint(paths[1]) == []
    assert len(units()) == 1


@pytest.mark.parametrize("convention", HISTORIES)
def test_an_identity_that_a_file_without_publications_sets_is_seen(grow: Grow, convention: str) -> None:
    grow()
    paths = planted(
        convention,
        "CREATE TABLE t (id int PRIMARY KEY, a int)",
        "ALTER TABLE t REPLICA IDENTITY FULL",
        "CREATE PUBLICATION p FOR TABLE t (id)",
    )
    assert lint() == [("PUB406", "certain")]
    assert lint(paths[2]) == [("PUB406", "certain")]


@pytest.mark.parametrize("convention", HISTORIES)
def test_a_history_that_is_about_no_replication_is_not_read(grow: Grow, convention: str) -> None:
    grow()
    planted(convention, "CREATE TABLE t (id int)", "ALTER TABLE t ADD PRIMARY KEY (id)")
    assert units() == {}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("k8s/job.yaml", "sql: |\n  CREATE SUBSCRIPTION s CONNECTION 'dbname=a' PUBLICATION p, p;\n"),
        ("setup.sh", "psql -c \"CREATE SUBSCRIPTION s CONNECTION 'dbname=a' PUBLICATION p, p\"\n"),
        ("setup.py", "cur.execute(\"CREATE SUBSCRIPTION s CONNECTION 'dbname=a' PUBLICATION p, p\")\n"),
        ("setup.go", "db.Exec(`CREATE SUBSCRIPTION s CONNECTION 'dbname=a' PUBLICATION p, p`)\n"),
        ("change.xml", "<sql>CREATE SUBSCRIPTION s CONNECTION 'dbname=a' PUBLICATION p, p</sql>\n"),
    ],
)
def test_a_file_with_a_subscription_only_is_read(grow: Grow, path: str, text: str) -> None:
    grow()
    plant({f"repo/{path}": text})
    assert [rule for rule, _ in lint()] == ["PUB810"]


def test_what_says_subscription_of_something_else_is_not(grow: Grow) -> None:
    grow()
    plant({"repo/billing.py": '"""Create subscription."""\nstripe.create("create subscription s")\n'})
    assert units() == {}
