"""Alembic's operations make the tables that Alembic makes of them; what cannot be read leaves nothing certain."""

from __future__ import annotations

from pathlib import Path

import pytest

from pubcheck import extract
from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic, Span
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.source import Source
from tests.frameworks.catalogs import answered, facts, followed, sources, statements
from tests.support.servers import Servers

HERE = Path(__file__).parents[2] / "corpus" / "frameworks" / "alembic"
FILES = ("0a_first.py", "0b_second.py")
RECORDED = Source("recorded.sql", (HERE / "recorded.sql").read_text())


def test_operations_make_the_catalog_that_the_sql_of_alembic_makes() -> None:
    unit = sources(HERE / "versions", FILES, "python")
    assert facts(followed(unit)) == facts(followed((RECORDED,)))


@pytest.mark.server
def test_a_server_makes_the_same_of_them(servers: Servers) -> None:
    unit = sources(HERE / "versions", FILES, "python")
    recorded = answered(servers[18], statements((RECORDED,)))
    assert answered(servers[18], statements(unit)) == recorded
    assert facts(followed(unit)) == recorded


MIGRATION = """\
from alembic import op
import sqlalchemy as sa

def upgrade():
    {}
"""
PUBLISH = 'op.execute("CREATE PUBLICATION p FOR TABLE t")'
TABLE = 'op.create_table("t", sa.Column("id", sa.Integer(), nullable=False))'


def lint(*steps: str, complete: bool = False) -> list[Diagnostic]:
    text = MIGRATION.format("\n    ".join(steps))
    unit = Unit((extract.source("migration.py", text, "python"),))
    return list(Linter(Config(postgres=(18,), complete=complete)).lint(unit).diagnostics)


def shown(span: Span) -> str:
    return span.source.shown[span.start : span.end]


def keyless(findings: list[Diagnostic]) -> set[str]:
    """How certain it is that a table has no replica identity."""
    return {finding.certainty for finding in findings if finding.rule == "PUB302"}


def test_a_table_that_an_operation_makes_without_a_key_cannot_be_updated() -> None:
    findings = lint(TABLE, PUBLISH)
    assert keyless(findings) == {"certain"}
    assert {shown(span) for finding in findings for span in finding.related} == {'"t"'}


@pytest.mark.parametrize(
    "step",
    [
        'op.create_primary_key("k", "t", ["id"])',
        'op.create_primary_key(None, table_name="t", columns=["id"])',
        'with op.batch_alter_table("t") as batch:\n        batch.create_primary_key("k", ["id"])',
        'op.drop_table("t")\n    op.create_table("t", sa.Column("id", sa.Integer(), primary_key=True))',
    ],
)
def test_a_key_that_an_operation_makes_is_one(step: str) -> None:
    assert lint(TABLE, step, PUBLISH) == []


@pytest.mark.parametrize(
    "step",
    [
        "op.create_primary_key(NAME, TABLE, COLUMNS)",
        'for table in tables:\n        op.create_primary_key("k", table, ["id"])',
        'if context.x:\n        op.create_primary_key("k", "t", ["id"])',
        'op.create_primary_key("k", "t", columns)',
        'op.create_primary_key("k", "t", ["i" + "d"])',
        'op.create_primary_key(*("k", "t", ["id"]))',
        "add_keys(op)",
        'helpers.add_key("t")',
        'op.add_key("t")',
        "op.invoke(key)",
        "Base.metadata.create_all(op.get_bind())",
    ],
)
def test_what_an_operation_does_that_cannot_be_read_leaves_nothing_certain(step: str) -> None:
    assert keyless(lint(TABLE, step, PUBLISH)) <= {"assumed"}
    assert keyless(lint(TABLE, PUBLISH, step)) <= {"assumed"}
    assert {finding.certainty for finding in lint(TABLE, step, PUBLISH, complete=True)} <= {"assumed"}


@pytest.mark.parametrize(
    "step",
    [
        'op.create_table("u", sa.Column("id", sa.Integer(), primary_key=True), *more)',
        'op.create_table("u", *columns())',
        'op.add_column("u", column)',
        "bind = op.get_bind()",
        'op.bulk_insert(sa.table("u"), [{"a": 1}])',
        'sa.Enum("a", name="e").create(op.get_bind())',
        "from app import x",
    ],
)
def test_what_is_done_to_another_table_leaves_this_one_certain(step: str) -> None:
    assert keyless(lint(TABLE, PUBLISH, step)) == {"certain"}


def test_a_table_of_which_a_part_is_computed_is_not_known() -> None:
    findings = lint('op.create_table("t", sa.Column("id", sa.Integer()), *more)', PUBLISH, complete=True)
    assert {finding.certainty for finding in findings} <= {"assumed"}
    assert {finding.rule for finding in findings}.isdisjoint({"PUB107", "PUB302"})


@pytest.mark.parametrize("complete", [False, True])
def test_a_type_that_is_not_known_leaves_the_table_known(complete: bool) -> None:
    table = 'op.create_table("t", sa.Column("id", sqlalchemy_utils.UUIDType(binary=False), nullable=False))'
    findings = lint(table, PUBLISH, complete=complete)
    assert {finding.rule for finding in findings} == {"PUB302"}


def test_what_stands_behind_a_return_on_condition_runs_perhaps() -> None:
    findings = lint(TABLE, "if x:\n        return", 'op.create_primary_key("k", "t", ["id"])', PUBLISH)
    assert {finding.certainty for finding in findings} <= {"assumed"}


@pytest.mark.parametrize(
    "drop",
    ['op.drop_constraint("key_of_t", "t", type_="primary")', 'op.drop_index("i", table_name="t")'],
)
def test_what_is_dropped_under_a_name_that_no_operation_gave_is_no_error(drop: str) -> None:
    findings = lint(TABLE.replace("nullable=False", "primary_key=True"), drop, PUBLISH)
    assert {finding.certainty for finding in findings} <= {"assumed"}


def test_a_constraint_without_a_name_has_that_which_postgresql_gives_it() -> None:
    table = (
        'op.create_table("t", sa.Column("id", sa.Integer(), primary_key=True), sa.Column("a", sa.Text(), unique=True),'
        ' sa.UniqueConstraint("id", "a"))'
    )
    drops = [f'op.drop_constraint("{name}", "t")' for name in ("t_a_key", "t_id_a_key", "t_pkey")]
    assert keyless(lint(table, *drops, PUBLISH, complete=True)) == {"certain"}


def test_a_function_of_the_file_is_read_where_it_is_called() -> None:
    text = MIGRATION.format(f"{TABLE}\n    {PUBLISH}\n    key()").replace(
        "def upgrade", 'def key():\n    op.create_primary_key("k", "t", ["id"])\n\n\ndef upgrade'
    )
    unit = Unit((extract.source("migration.py", text, "python"),))
    assert keyless(list(Linter(Config(postgres=(18,))).lint(unit).diagnostics)) <= {"assumed"}


@pytest.mark.parametrize(
    "text",
    [
        "def upgrade(:\n    op.create_table('t')",
        "A = [A]\ndef upgrade():\n    op.create_table(A, A)",
        "def upgrade():\n    " + "(" * 300 + ")" * 300,
        "def upgrade():\n    x = " + "-" * 5000 + "1",
        "def upgrade():\n    op.create_table()\n    op.add_column('a')\n    op.create_index('i', 't', [])",
        "def upgrade():\n    upgrade()\n    op.create_table('ä', sa.Column('ö', sa.Text))",
    ],
)
def test_what_is_no_proper_migration_is_no_internal_error(text: str) -> None:
    unit = Unit((extract.source("m.py", "from alembic import op\n" + text + "\n    " + PUBLISH, "python"),))
    Linter(Config(postgres=(18,))).lint(unit)


def test_places_count_characters() -> None:
    text = MIGRATION.format('op.create_table("größe", sa.Column("maß", sa.Integer()), comment="ä")\n    ' + PUBLISH)
    (source,) = (extract.source("m.py", text.replace("TABLE t", 'TABLE \\"größe\\"'), "python"),)
    findings = Linter(Config(postgres=(18,))).lint(Unit((source,))).diagnostics
    assert {shown(span) for finding in findings for span in finding.related} == {'"größe"'}
