"""the region is part of the key"""

from alembic import op

revision = "7d20"
down_revision = "0c44"


def upgrade():
    op.drop_constraint("orders_pk", "orders", type_="primary")
    op.create_primary_key("orders_pk", "orders", ["id", "region"])


def downgrade():
    pass
