"""orders, without a key at first"""

import sqlalchemy as sa
from alembic import op

revision = "3b1e"
down_revision = None


def upgrade():
    op.create_table(
        "orders",
        sa.Column("id", sa.BigInteger(), nullable=False),
        sa.Column("region", sa.String(20), nullable=False),
    )
    op.create_table(
        "visits",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("page", sa.Text(), nullable=False),
    )
    op.execute("CREATE PUBLICATION shop FOR TABLE orders WHERE (region = 'eu'), visits")


def downgrade():
    op.drop_table("orders")
