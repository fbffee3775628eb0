"""the key of orders"""

from alembic import op

revision = "0c44"
down_revision = "3b1e"


def upgrade():
    op.create_primary_key("orders_pk", "orders", ["id"])


def downgrade():
    op.drop_constraint("orders_pk", "orders", type_="primary")
