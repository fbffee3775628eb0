"""Which parts of a migration undo it, and which are run on condition."""

from __future__ import annotations

import pytest

from pubcheck import extract

MIGRATIONS = {
    'django2.py': ('python', 4, (), '''\
from django.db import migrations


class Migration(migrations.Migration):
    operations = [
        migrations.RunSQL(
            sql=[
                "CREATE PUBLICATION up1 FOR TABLE orders",
                ("CREATE PUBLICATION up2 FOR TABLE orders", None),
            ],
            reverse_sql=[
                "CREATE PUBLICATION down FOR TABLE orders",
                "CREATE PUBLICATION down FOR TABLE orders",
            ],
        ),
        migrations.RunSQL(
            ["CREATE PUBLICATION up3 FOR TABLE orders"],
            ["CREATE PUBLICATION down FOR TABLE orders"],
        ),
        migrations.RunSQL("CREATE PUBLICATION up4 FOR TABLE orders", migrations.RunSQL.noop),
    ]
'''),
    'if_migration.py': ('python', 3, ('up2',), '''\
from alembic import op
revision = "a1"
down_revision = None

def upgrade():
    op.execute("CREATE PUBLICATION up1 FOR TABLE orders")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("CREATE PUBLICATION up2 FOR TABLE orders")
    op.execute("CREATE PUBLICATION up3 FOR TABLE orders")

def downgrade():
    op.execute("CREATE PUBLICATION down FOR TABLE orders")
'''),
    'if_migration.js': ('javascript', 3, ('up2',), '''\
exports.up = async (knex) => {
  await knex.raw("CREATE PUBLICATION up1 FOR TABLE orders");
  if (process.env.CDC) {
    await knex.raw("CREATE PUBLICATION up2 FOR TABLE orders");
  }
  await knex.raw("CREATE PUBLICATION up3 FOR TABLE orders");
};
exports.down = async (knex) => {
  await knex.raw("CREATE PUBLICATION down FOR TABLE orders");
};
'''),
    'if_rails.rb': ('ruby', 3, ('up2', 'up3'), '''\
class A < ActiveRecord::Migration[7.0]
  def up
    execute "CREATE PUBLICATION up1 FOR TABLE orders"
    if Rails.env.production?
      execute "CREATE PUBLICATION up2 FOR TABLE orders"
    end
    execute("CREATE PUBLICATION up3 FOR TABLE orders") unless Rails.env.test?
  end
  def down
    execute "CREATE PUBLICATION down FOR TABLE orders"
  end
end
'''),
    "early.py": ("python", 2, ("up2",), '''\
from alembic import op
revision = "a1"
down_revision = None

def upgrade():
    op.execute("CREATE PUBLICATION up1 FOR TABLE orders")
    if op.get_bind().dialect.name != "postgresql":
        return
    op.execute("CREATE PUBLICATION up2 FOR TABLE orders")
'''),
    "all.py": ("python", 2, ("up1", "up2"), '''\
from alembic import op
revision = "a1"
down_revision = None

def upgrade():
    ready() and op.execute("CREATE PUBLICATION up1 FOR TABLE orders")
    x = [op.execute("CREATE PUBLICATION up2 FOR TABLE orders") for each in tables or ()]
    helper(lambda: x)
'''),
}  # fmt: skip


@pytest.mark.parametrize("name", MIGRATIONS)
def test_what_is_run_on_condition_is_assumed_and_what_undoes_is_left_out(name: str) -> None:
    language, count, on_condition, text = MIGRATIONS[name]
    source = extract.source(name, text, language)
    assert source.view is not None
    assert source.text.count("CREATE PUBLICATION up") == count
    assert "down" not in source.text
    parts = [text[start:end] for start, end in source.view.perhaps]
    assert tuple(f"up{n}" for n in range(1, 9) if any(f"up{n}" in part for part in parts)) == on_condition


def test_control_blocks_of_helm_put_nothing_into_statements() -> None:
    text = "data:\n  init.sql: |\n    {{- if .Values.cdc }}\n    CREATE PUBLICATION p;\n    {{- end }}\n"
    source = extract.source("x", text, "yaml")
    assert source.text.strip() == "CREATE PUBLICATION p;"
    assert source.view is not None
    assert source.view.perhaps
