"""orders"""

from alembic import op

revision = "1f0c"
down_revision = None


def upgrade():
    op.execute("""
        CREATE TABLE orders (id bigint PRIMARY KEY, region text NOT NULL);
        CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'eu');
    """)


def downgrade():
    op.execute("DROP PUBLICATION eu")
    op.execute("DROP TABLE orders")
