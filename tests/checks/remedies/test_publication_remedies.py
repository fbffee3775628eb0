"""Where a column list is widened by a fix, and what the help says of it: only where that ends its cause.

What is left was asked of servers 15 and 18.
"""

from __future__ import annotations

import pytest

from tests.support.linting import lint

PLAIN = "CREATE TABLE t (id int, a int, c text, PRIMARY KEY (id, a)); CREATE PUBLICATION p FOR TABLE t (c);"
TWO = (
    "CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL, c text NOT NULL, secret text);"
    " CREATE UNIQUE INDEX k ON t (a); ALTER TABLE t REPLICA IDENTITY USING INDEX k;"
    " CREATE PUBLICATION p FOR TABLE t (id, c); CREATE PUBLICATION p2 FOR TABLE t (id, a) WHERE (secret IS NULL);"
)


def titles(script: str) -> set[str]:
    """The fixes of the writes that are refused: UPDATE and DELETE of one table."""
    findings = [finding for finding in lint(script, complete=True) if finding.phase == "write"]
    assert [finding.operation for finding in findings if not finding.after_count] == ["update", "delete"]
    return {fix.title for finding in findings for fix in finding.fixes}


def headlines(script: str) -> set[str]:
    return {
        finding.help.splitlines()[0]
        for finding in lint(script, complete=True)
        if finding.rule == "PUB406" and finding.help
    }


def test_a_list_is_widened_where_nothing_else_is_wrong() -> None:
    assert titles(PLAIN) == {"List id, a too"}
    assert headlines(PLAIN) == {"put id, a into the column list, or publish otherwise; the best first:"}


@pytest.mark.parametrize(
    "script",
    [
        # The statement would be refused: a name that it lists is given only later.
        "CREATE TABLE t (a int NOT NULL); CREATE PUBLICATION p FOR TABLE t (a); ALTER TABLE t ADD id int PRIMARY KEY;",
        "CREATE TABLE t (a int, b int PRIMARY KEY); CREATE PUBLICATION p FOR TABLE t (a); ALTER TABLE t RENAME b TO i;",
    ],
)
def test_a_list_gets_no_name_that_its_statement_does_not_know(script: str) -> None:
    assert titles(script) == set()


def test_a_list_is_not_widened_by_a_column_that_was_generated_then() -> None:
    # In 15 to 17 a list refuses it; one fix would undo the other.
    script = (
        "CREATE TABLE t (a int, g int GENERATED ALWAYS AS (a) STORED PRIMARY KEY);"
        " CREATE PUBLICATION p FOR TABLE t (a); ALTER TABLE t ALTER g DROP EXPRESSION;"
    )
    assert titles(script) == set()


def test_a_list_is_widened_where_other_columns_were_renamed_since() -> None:
    assert titles(PLAIN + "ALTER TABLE t RENAME c TO d; ALTER TABLE t RENAME TO u;") == {"List id, a too"}


def test_a_list_is_left_alone_where_the_identity_has_to_change_as_well() -> None:
    # An index over (id, c) alone ends both refusals; listing `secret` as well would send it for nothing.
    offered = titles(
        "CREATE TABLE t (id int PRIMARY KEY, c text NOT NULL, secret text NOT NULL);"
        " CREATE UNIQUE INDEX s ON t (secret); ALTER TABLE t REPLICA IDENTITY USING INDEX s;"
        " CREATE PUBLICATION p FOR TABLE t (id, c); CREATE PUBLICATION p2 FOR TABLE t WHERE (c = 'x');"
    )
    assert offered
    assert not any(title.startswith("List") for title in offered)


def test_a_list_is_widened_where_another_publication_refuses_nonetheless() -> None:
    # The filter of p2 is another cause, for which no column list is to blame.
    assert titles(TWO) == {"List a too"}
    assert headlines(TWO) == {"put a into the column list, or publish otherwise; the best first:"}
