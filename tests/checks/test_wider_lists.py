"""Where a column list is widened by a fix, and what the help says of it: only where that ends the refusal.

What is left was asked of servers 15 and 18.
"""

from __future__ import annotations

from tests.linting import lint

PLAIN = "CREATE TABLE t (id int, a int, c text, PRIMARY KEY (id, a)); CREATE PUBLICATION p FOR TABLE t (c);"
TWO = (
    "CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL, c text NOT NULL, secret text);"
    " CREATE UNIQUE INDEX k ON t (a); ALTER TABLE t REPLICA IDENTITY USING INDEX k;"
    " CREATE PUBLICATION p FOR TABLE t (id, c); CREATE PUBLICATION p2 FOR TABLE t (id, a) WHERE (secret IS NULL);"
)


def titles(script: str) -> set[str]:
    return {fix.title for one in lint(script, complete=True) if one.phase == "write" for fix in one.fixes}


def headlines(script: str) -> set[str]:
    return {one.help.splitlines()[0] for one in lint(script, complete=True) if one.rule == "PUB406" and one.help}


def test_a_list_is_widened_where_nothing_else_is_wrong() -> None:
    assert titles(PLAIN) == {"List id, a too"}
    assert headlines(PLAIN) == {"put id, a into the column list, or publish otherwise; the best first:"}


def test_a_list_is_left_alone_where_the_identity_has_to_change_as_well() -> None:
    # An index over (id, c) alone ends both refusals; listing `secret` as well would send it for nothing.
    found = titles(
        "CREATE TABLE t (id int PRIMARY KEY, c text NOT NULL, secret text NOT NULL);"
        " CREATE UNIQUE INDEX s ON t (secret); ALTER TABLE t REPLICA IDENTITY USING INDEX s;"
        " CREATE PUBLICATION p FOR TABLE t (id, c); CREATE PUBLICATION p2 FOR TABLE t WHERE (c = 'x');"
    )
    assert found
    assert not any(title.startswith("List") for title in found)


def test_a_list_is_left_alone_where_another_publication_refuses_nonetheless() -> None:
    assert not titles(TWO)
    assert not any("column list" in each for each in headlines(TWO))
