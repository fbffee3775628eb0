"""With the world open, what rests on names that are not visible is nothing certain."""

from __future__ import annotations

import pytest

from tests.support.linting import answers, lint, writes


@pytest.mark.parametrize(
    "made",
    [
        "CREATE PUBLICATION p FOR TABLE x, y;",
        "CREATE PUBLICATION q FOR TABLE s.x; CREATE PUBLICATION p FOR TABLES IN SCHEMA s;",
        "SET search_path = s; CREATE PUBLICATION p FOR TABLES IN SCHEMA CURRENT_SCHEMA;",
    ],
)
def test_a_publication_over_what_is_not_visible_is_perhaps_not_there(made: str) -> None:
    assert not [answer for answer in answers(lint(made + "CREATE PUBLICATION p;")) if answer[2] == "certain"]


@pytest.mark.parametrize(
    ("before", "certainty"), [("DROP PUBLICATION p, x;", "assumed"), ("DROP PUBLICATION p;", "certain")]
)
def test_what_was_to_be_dropped_with_what_is_not_visible_is_perhaps_still_there(before: str, certainty: str) -> None:
    refusals = answers(lint("CREATE PUBLICATION p;" + before + "DROP PUBLICATION p;"))
    assert refusals[-1] == ("42704", 'publication "p" does not exist', certainty)


def test_a_view_that_the_server_refuses_stands_in_nobody_s_way() -> None:
    """PostgreSQL 15 to 18 refuse the view, as there is no function length(integer), and then drop the table."""
    view = "CREATE TABLE t (a int, b varchar); CREATE VIEW v AS SELECT b, length(a) FROM t;"
    assert writes(lint(f"{view} CREATE PUBLICATION p FOR ALL TABLES; DROP TABLE t;", complete=True)) == []


@pytest.mark.parametrize("elements", ["", " (a PRIMARY KEY)", " (PRIMARY KEY (a))"])
def test_the_columns_of_a_table_of_a_type_that_is_not_visible_are_not_known(elements: str) -> None:
    refusals = answers(lint(f"CREATE TABLE t OF x{elements}; CREATE PUBLICATION p FOR TABLE t WHERE (b > 1);"))
    assert not [finding for finding in refusals if finding[2] == "certain"]


def test_a_block_cannot_read_an_identity_that_was_perhaps_changed() -> None:
    refusals = answers(
        lint(
            "CREATE TABLE t (a int PRIMARY KEY); CREATE PUBLICATION p FOR TABLE t;"
            "DO $$ DECLARE n int; BEGIN SELECT count(*) INTO n FROM pg_publication_rel;"
            " IF n = 2 THEN EXECUTE format('CREATE PUBLICATION %I FOR TABLE t', n); END IF; END $$;"
            "DO $$ BEGIN EXECUTE (SELECT 'ALTER TABLE t REPLICA IDENTITY ' || v FROM x); END $$;"
            "DO $$ BEGIN IF (SELECT relreplident FROM pg_class WHERE oid = 't'::regclass) = 'f'"
            " THEN ALTER TABLE t REPLICA IDENTITY DEFAULT; ELSE RAISE EXCEPTION 'odd'; END IF; END $$;"
        )
    )
    assert not [finding for finding in refusals if finding[2] == "certain"]


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize(
    ("script", "certainty"),
    [
        ("SET ROLE x; CREATE PUBLICATION p; RESET ROLE; CREATE PUBLICATION p;", "assumed"),
        (
            "SET SESSION AUTHORIZATION x; CREATE PUBLICATION p; RESET ROLE; SET ROLE y; CREATE PUBLICATION p",
            "assumed",
        ),
        ("BEGIN; SET LOCAL ROLE x; CREATE PUBLICATION p; COMMIT; CREATE PUBLICATION p;", "assumed"),
        ("SET ROLE x; CREATE PUBLICATION p; CREATE PUBLICATION p;", "certain"),
        ("SET ROLE x; RESET ROLE; CREATE PUBLICATION p; CREATE PUBLICATION p;", "certain"),
        ("CREATE PUBLICATION p; ALTER PUBLICATION p OWNER TO x; CREATE PUBLICATION p;", "certain"),
    ],
)
def test_a_role_of_unknown_rights_perhaps_could_not_create_the_publication(
    script: str, certainty: str, complete: bool
) -> None:
    """With a role x that may create nothing in the database PostgreSQL 15 to 18 accept the second CREATE."""
    assert answers(lint(script, complete=complete))[-1] == ("42710", 'publication "p" already exists', certainty)


@pytest.mark.parametrize("predicate", ["'x' COLLATE elsewhere = 'x'", "NOT elsewhere(1)"])
def test_an_index_whose_predicate_is_not_known_is_not_refused_as_partial(predicate: str) -> None:
    """If the predicate is folded to TRUE, PostgreSQL 15 to 18 take the index as replica identity."""
    script = f"CREATE TABLE t (a int NOT NULL); CREATE UNIQUE INDEX u ON t (a) WHERE {predicate};"
    assert answers(lint(script + "ALTER TABLE t REPLICA IDENTITY USING INDEX u;")) == []


def test_a_function_of_a_schema_that_is_not_visible_is_a_user_s_in_a_row_filter() -> None:
    """No server accepts it: without the schema it is 3F000, without the function 42883, with both 0A000."""
    diagnostics = lint("CREATE TABLE t (i int PRIMARY KEY); CREATE PUBLICATION p FOR TABLE t WHERE (s.f(i));")
    assert [(finding.rule, finding.certainty) for finding in diagnostics if finding.severity == "error"] == [
        ("PUB210", "assumed")
    ]


def test_a_name_that_is_missing_later_takes_nothing_from_the_table_that_had_it_before() -> None:
    """PostgreSQL 15 to 18 answer 42710 to the first ADD, where the table still exists."""
    script = (
        "CREATE TABLE t (a int PRIMARY KEY); CREATE PUBLICATION p FOR TABLE t; ALTER PUBLICATION p ADD TABLE t;"
        " DROP TABLE t; ALTER PUBLICATION p ADD TABLE t; CREATE SCHEMA s; CREATE TABLE s.t (a int);"
    )
    rules = [finding.rule for finding in lint(script, complete=True)]
    assert [rule for rule in rules if rule in ("PUB130", "PUB107")] == ["PUB130", "PUB107"]


def test_a_publication_that_a_block_perhaps_created_perhaps_refuses_its_creation() -> None:
    """Without x PostgreSQL 15 to 18 refuse the second CREATE, and with x and t the publication holds t afterwards."""
    script = (
        "CREATE TABLE t (a int PRIMARY KEY); DO $$ BEGIN CREATE PUBLICATION p FOR TABLE x, t;"
        " EXCEPTION WHEN undefined_table THEN CREATE PUBLICATION p; END $$;"
        " CREATE PUBLICATION p; ALTER PUBLICATION p DROP TABLE t;"
    )
    assert not [answer for answer in answers(lint(script)) if answer[2] == "certain"]


@pytest.mark.parametrize("handler", ["duplicate_object", "OTHERS"])
@pytest.mark.parametrize(
    ("before", "certainty"),
    [("", "assumed"), ("DROP PUBLICATION IF EXISTS p;", "certain"), ("DROP PUBLICATION p;", "certain")],
)
def test_a_publication_whose_existence_a_handler_expects_is_perhaps_another_one(
    handler: str, before: str, certainty: str
) -> None:
    """If p exists already, PostgreSQL 15 to 18 keep it as it is, as with IF NOT EXISTS (SELECT FROM pg_publication)."""
    script = (
        f"CREATE TABLE t (id int PRIMARY KEY, a int); {before} DO $$ BEGIN"
        f" CREATE PUBLICATION p FOR TABLE t WHERE (a > 1); EXCEPTION WHEN {handler} THEN NULL; END $$;"
    )
    assert {(finding.rule, finding.certainty) for finding in lint(script) if finding.phase == "write"} == {
        ("PUB301", certainty)
    }


@pytest.mark.parametrize("complete", [False, True])
def test_a_role_of_unknown_rights_perhaps_could_not_drop_the_publication(complete: bool) -> None:
    """With an ordinary role x PostgreSQL 15 to 18 keep p with its table t, and accept the last statement."""
    script = (
        "CREATE TABLE t (a int PRIMARY KEY); CREATE PUBLICATION p FOR TABLE t; SET ROLE x; DROP PUBLICATION p;"
        " RESET ROLE; CREATE PUBLICATION p; ALTER PUBLICATION p DROP TABLE t;"
    )
    assert not [answer for answer in answers(lint(script, complete=complete)) if answer[2] == "certain"]


def test_if_exists_is_no_error_for_an_unknown_table_that_was_altered_before() -> None:
    altered = "CREATE PUBLICATION p; ALTER TABLE t ADD COLUMN x int;"
    assert answers(lint(altered + "ALTER TABLE IF EXISTS t REPLICA IDENTITY FULL;")) == []
    assert answers(lint(altered + "ALTER TABLE t REPLICA IDENTITY FULL;")) == [
        ("42P01", 'relation "t" does not exist', "assumed")
    ]
