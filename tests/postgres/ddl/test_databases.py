"""Who owns a database, and may so create publications in it. The answers are those of servers 15 to 18."""

from __future__ import annotations

from tests.support.linting import answers, lint

OWNED = """\
CREATE ROLE a; CREATE ROLE b; CREATE ROLE c; GRANT a TO c;
CREATE DATABASE d OWNER a;
\\c d
"""
DENIED = [("42501", "permission denied for database d", "certain")]


def denied(sql: str) -> list[tuple[str, str, str]]:
    return answers(lint(OWNED + sql, complete=True))


def test_the_owner_of_a_database_and_the_members_of_that_role_may_create_in_it() -> None:
    assert denied("SET ROLE a; CREATE TABLE t (id int PRIMARY KEY); CREATE PUBLICATION p FOR TABLE t;") == []
    assert denied("SET ROLE c; CREATE TABLE t (id int PRIMARY KEY); CREATE PUBLICATION p FOR TABLE t;") == []
    assert denied("SET ROLE b; CREATE PUBLICATION p;") == DENIED


def test_a_database_is_given_to_another_owner() -> None:
    assert denied("ALTER DATABASE d OWNER TO b; SET ROLE b; CREATE PUBLICATION p;") == []
    assert denied("ALTER DATABASE d OWNER TO b; SET ROLE a; CREATE PUBLICATION p;") == DENIED


def test_nobody_is_denied_in_a_database_that_was_made_elsewhere() -> None:
    assert answers(lint("CREATE ROLE a;\n\\c d\nSET ROLE a; CREATE PUBLICATION p;")) == []


def test_where_the_name_of_the_database_is_not_said_the_refusal_that_names_it_is_assumed() -> None:
    refusals = answers(lint("CREATE ROLE a; SET ROLE a; CREATE PUBLICATION p;", complete=True))
    assert [(sqlstate, certainty) for sqlstate, _, certainty in refusals] == [("42501", "assumed")]
