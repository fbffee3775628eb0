"""the same table again"""

from alembic import op

revision = "0a11"
down_revision = "1f0c"


def upgrade():
    op.execute("ALTER PUBLICATION eu ADD TABLE orders")


def downgrade():
    op.execute("ALTER PUBLICATION eu DROP TABLE orders")
