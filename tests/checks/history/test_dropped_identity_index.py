"""Replica identities whose index is dropped."""

from __future__ import annotations

import pytest

from tests.checks.history.finding import of, only
from tests.support.linting import covered, lint

RULE = "PUB711"
OTHER = "CREATE TABLE o (id int PRIMARY KEY); CREATE PUBLICATION p FOR TABLE o;\n"
T = "CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL); CREATE UNIQUE INDEX t_n ON t (n);\n"
CHOSEN = T + "ALTER TABLE t REPLICA IDENTITY USING INDEX t_n;\n"


def test_the_statement_that_drops_the_index_is_told() -> None:
    finding = only(RULE, OTHER + CHOSEN, "DROP INDEX t_n;")
    assert (finding.severity, finding.certainty, finding.object, covered(finding.span)) == (
        "note",
        "certain",
        "public.t",
        "t_n",
    )


@pytest.mark.parametrize(
    "drop",
    [
        "DROP INDEX t_n; CREATE UNIQUE INDEX t_n ON t (n);",
        "CREATE UNIQUE INDEX t_new ON t (n); DROP INDEX t_n; ALTER INDEX t_new RENAME TO t_n;",
        "ALTER TABLE t REPLICA IDENTITY USING INDEX t_pkey; ALTER TABLE t DROP CONSTRAINT t_pkey, ADD PRIMARY KEY (n);",
        "ALTER TABLE t DROP COLUMN n;",
    ],
)
def test_an_index_that_takes_its_name_or_its_columns_does_not_take_its_place(drop: str) -> None:
    assert len(of(RULE, OTHER + CHOSEN + drop)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "ALTER TABLE t REPLICA IDENTITY USING INDEX t_pkey; DROP INDEX t_n;",
        "ALTER TABLE t REPLICA IDENTITY FULL; DROP INDEX t_n;",
        "DROP INDEX t_n; ALTER TABLE t REPLICA IDENTITY DEFAULT;",
        "DROP INDEX t_n; CREATE UNIQUE INDEX t_n ON t (n); ALTER TABLE t REPLICA IDENTITY USING INDEX t_n;",
        "ALTER INDEX t_n RENAME TO t_number;",
        "DROP TABLE t;",
        "DROP INDEX t_n; DROP TABLE t;",
        "BEGIN; DROP INDEX t_n; ROLLBACK;",
        "ALTER TABLE t ALTER n TYPE bigint;",
        "REINDEX INDEX t_n;",
    ],
)
def test_histories_that_keep_an_identity_are_silent(text: str) -> None:
    assert of(RULE, OTHER + CHOSEN + text) == []


def test_an_index_that_no_identity_names_may_go() -> None:
    assert of(RULE, OTHER + T + "DROP INDEX t_n; ALTER TABLE t DROP CONSTRAINT t_pkey;") == []


def test_published_tables_are_told_by_what_is_refused() -> None:
    findings = lint(CHOSEN, "CREATE PUBLICATION p FOR TABLE t;", "DROP INDEX t_n;")
    assert [finding.rule for finding in findings] == ["PUB302"] * 2
    assert lint(CHOSEN, "CREATE PUBLICATION p FOR TABLE t WITH (publish = 'insert');", "DROP INDEX t_n;") == []
