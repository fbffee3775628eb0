"""Programs and schemas of frameworks beside the files that publish their tables, and what Supabase is told of."""

from __future__ import annotations

import pytest

from pubcheck.discovery.units import find_units
from tests.discovery.tools.trees import Grow, plant, units

PROGRAM = 'db.exec("CREATE PUBLICATION p FOR TABLE orders")\n'


@pytest.mark.parametrize(
    ("migration", "text"),
    [
        ("db/migrate/20240101000000_a.rb", "class A < ActiveRecord::Migration[7.1]\n  create_table :orders\nend\n"),
        (
            "migrations/20240101000000_a.js",
            "exports.up = (k) => k.schema.createTable('orders', t => t.increments());\n",
        ),
        ("alembic/versions/1_a.py", 'revision = "1"\ndown_revision = None\nop.create_table(\n    "orders",\n)\n'),
        ("prisma/schema.prisma", 'datasource db {\n}\nmodel Order {\n  id Int\n  @@map("orders")\n}\n'),
        ("db/migrations/1_a.sql", "CREATE TABLE orders (id int);\n"),
    ],
)
@pytest.mark.parametrize("program", ["app/publish.py", "publish.sql", "scripts/cdc/publish.js"])
def test_a_program_follows_the_migrations_that_create_its_tables(
    grow: Grow, migration: str, text: str, program: str
) -> None:
    grow()
    plant({f"repo/{migration}": text, f"repo/{program}": PROGRAM if program[-3:] != "sql" else PROGRAM[9:-3] + ";"})
    (files,) = [files for _, files in units().values() if any("publish" in file for file in files)]
    assert files == [migration, program]


def test_migrations_are_left_out_where_nothing_lacks_their_tables(grow: Grow) -> None:
    grow()
    migration = "class A < ActiveRecord::Migration[7.1]\n  create_table :users\nend\n"
    plant({"repo/db/migrate/20240101000000_a.rb": migration, "repo/app/publish.py": PROGRAM})
    assert [files for _, files in units().values()] == [["app/publish.py"]]


def test_a_schema_of_rails_is_followed_rather_than_its_migrations(grow: Grow) -> None:
    grow()
    schema = 'ActiveRecord::Schema[7.1].define(version: 2024_01_01_000000) do\n  create_table "orders"\nend\n'
    migration = "class A < ActiveRecord::Migration[7.1]\n  create_table :orders\nend\n"
    plant({"repo/db/migrate/20240101000000_a.rb": migration, "repo/db/schema.rb": schema, "repo/lib/p.py": PROGRAM})
    assert [files for _, files in units().values()] == [["db/schema.rb", "lib/p.py"]]


@pytest.mark.parametrize(
    ("config", "majors"),
    [
        ("[db]\nport = 5432\nmajor_version = 15\n", (15,)),
        ("[db]\nmajor_version = 13\n", (15,)),
        ("[api]\nmajor_version = 16\n", (17,)),
        ("[db\n", (17,)),
    ],
)
def test_the_major_of_supabase_is_that_of_its_configuration(grow: Grow, config: str, majors: tuple[int, ...]) -> None:
    grow()
    plant({"repo/supabase/config.toml": config, "repo/supabase/migrations/20240101000000_a.sql": "SELECT 1;"})
    assert [plan.postgres for plan in find_units(["repo"])] == [majors]
    assert [plan.postgres for plan in find_units(["repo/supabase/migrations/20240101000000_a.sql"])] == [majors]
