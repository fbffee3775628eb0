"""second"""

import sqlalchemy as sa
from alembic import op

revision = "0b"
down_revision = "0a"


def _visits():
    op.add_column("visits", sa.Column("id", sa.Integer(), nullable=False))
    op.create_primary_key("visits_pk", "visits", ["id", "uid"])


def upgrade():
    _visits()
    op.add_column("users", sa.Column("code", sa.String(12), nullable=False, unique=True))
    op.add_column("users", sa.Column("parent_id", sa.Integer(), sa.ForeignKey("users.id"), nullable=True))
    op.alter_column("users", "age", existing_type=sa.SmallInteger(), type_=sa.BigInteger(), nullable=False)
    op.alter_column("users", "displayName", new_column_name="display_name")
    op.drop_constraint("uq_users_email", "users", type_="unique")
    op.create_unique_constraint("uq_users_code_email", "users", ["code", "email"])
    op.create_foreign_key("fk_lines_self", "lines", "lines", ["order_id", "number"], ["order_id", "number"])
    op.drop_constraint("fk_lines_order", "lines", type_="foreignkey")
    with op.batch_alter_table("orders", schema=None) as batch_op:
        batch_op.add_column(sa.Column("note", sa.Text(), nullable=True))
        batch_op.alter_column("region", existing_type=sa.String(), nullable=True)
        batch_op.drop_column("paid")
        batch_op.create_index(batch_op.f("ix_orders_region"), ["region", "id"], unique=True)
        batch_op.create_check_constraint("ck_total", "total > 0")
    op.drop_index("ix_visits_uid", table_name="visits")
    op.rename_table("visits", "calls")
    op.execute("CREATE PUBLICATION everything FOR TABLE users, orders, lines, calls")


def downgrade():
    pass
