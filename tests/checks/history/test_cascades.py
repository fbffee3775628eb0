"""Foreign keys whose actions end at a table that refuses them."""

from __future__ import annotations

import pytest

from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.source import Source
from tests.checks.history.finding import of, only, places
from tests.support.linting import covered, lint

RULE = "PUB306"
USERS = "CREATE TABLE users (id int PRIMARY KEY, name text, number int UNIQUE);\n"
ALL = "CREATE PUBLICATION p FOR ALL TABLES;\n"


def sessions(action: str) -> str:
    return f"CREATE TABLE sessions (user_id int REFERENCES users {action}, token text);\n"


@pytest.mark.parametrize(
    ("action", "says"),
    [
        ("ON DELETE CASCADE", "DELETE from users will fail: ON DELETE CASCADE leads to sessions, which refuses DELETE"),
        (
            "ON DELETE SET NULL",
            "DELETE from users will fail: ON DELETE SET NULL leads to sessions, which refuses UPDATE",
        ),
        (
            "ON DELETE SET DEFAULT",
            "DELETE from users will fail: ON DELETE SET DEFAULT leads to sessions, which refuses UPDATE",
        ),
        (
            "ON UPDATE CASCADE",
            "UPDATE of the key of users will fail: ON UPDATE CASCADE leads to sessions, which refuses UPDATE",
        ),
    ],
)
def test_an_action_that_ends_at_a_table_without_identity_is_told_of_the_table_referred_to(
    action: str, says: str
) -> None:
    finding = only(RULE, USERS, ALL + sessions(action))
    assert (finding.message, finding.object, finding.severity, finding.certainty) == (
        says,
        "public.users",
        "error",
        "certain",
    )
    assert (finding.phase, finding.server, finding.operation) == ("write", None, None)
    assert covered(finding.span) == "sessions"
    assert places(finding) == [("1.sql", "is referenced here")]


def test_both_actions_of_a_key_are_told_at_once() -> None:
    finding = only(RULE, USERS, ALL + sessions("ON DELETE CASCADE ON UPDATE CASCADE"))
    assert finding.message.startswith("DELETE from and UPDATE of the key of users will fail")


@pytest.mark.parametrize("action", ["", "ON DELETE RESTRICT", "ON DELETE NO ACTION ON UPDATE RESTRICT"])
def test_keys_that_only_look_are_not(action: str) -> None:
    assert of(RULE, USERS + ALL + sessions(action)) == []


@pytest.mark.parametrize(
    "text",
    [
        "CREATE PUBLICATION p FOR TABLE users;",
        "CREATE PUBLICATION p FOR TABLE users, sessions WITH (publish = 'insert');",
        "CREATE PUBLICATION p FOR TABLE users, sessions WITH (publish = 'insert, update');",
        ALL + "ALTER TABLE sessions REPLICA IDENTITY FULL;",
        ALL + "ALTER TABLE sessions ADD PRIMARY KEY (token);",
        ALL + "ALTER TABLE sessions DROP CONSTRAINT sessions_user_id_fkey;",
        ALL + "DROP TABLE sessions;",
        ALL + "DROP PUBLICATION p;",
        ALL + "ALTER TABLE sessions ALTER CONSTRAINT sessions_user_id_fkey NOT ENFORCED;",
    ],
)
def test_tables_that_take_the_action_are_not_told(text: str) -> None:
    assert of(RULE, USERS + sessions("ON DELETE CASCADE") + text) == []


def test_a_key_that_is_not_enforced_does_nothing() -> None:
    assert of(RULE, USERS + ALL + sessions("ON DELETE CASCADE NOT ENFORCED")) == []
    enforced = "ALTER TABLE sessions ALTER CONSTRAINT sessions_user_id_fkey ENFORCED;"
    assert len(of(RULE, USERS + ALL + sessions("ON DELETE CASCADE NOT ENFORCED") + enforced)) == 1


def test_a_row_filter_outside_the_identity_stops_it_too() -> None:
    visits = "CREATE TABLE visits (id int PRIMARY KEY, u int REFERENCES users ON DELETE CASCADE, page text);"
    finding = only(RULE, USERS, visits, "CREATE PUBLICATION p FOR TABLE visits WHERE (page <> '/');")
    assert (covered(finding.span), finding.publications) == ("page", ("p",))


def test_a_key_added_later_is_the_culprit() -> None:
    key = "ALTER TABLE sessions ADD FOREIGN KEY (user_id) REFERENCES users ON DELETE CASCADE;"
    finding = only(RULE, USERS, "CREATE TABLE sessions (user_id int);" + ALL, key)
    assert (finding.span.source.label, covered(finding.span)) == ("3.sql", "sessions")


def test_a_table_with_its_own_refusal_is_told_of_that_alone() -> None:
    users = "CREATE TABLE users (id int UNIQUE);\n"
    text = "CREATE TABLE sessions (user_id int REFERENCES users (id) ON DELETE CASCADE);"
    assert of(RULE, users + ALL + text) == []


def test_a_key_into_its_own_table_is_not_told() -> None:
    assert of(RULE, ALL + "CREATE TABLE t (id int UNIQUE, parent int REFERENCES t (id) ON DELETE CASCADE);") == []


def test_tables_further_up_are_named_with_the_table_referred_to() -> None:
    orders = "CREATE TABLE orders (id int PRIMARY KEY, u int REFERENCES users ON DELETE CASCADE);"
    lines = "CREATE TABLE lines (o int REFERENCES orders ON DELETE CASCADE);"
    finding = only(RULE, USERS + orders + lines + ALL)
    assert finding.object == "public.orders"
    assert finding.message.endswith("; so will DELETE from users, where rows refer to each other")


def test_keys_in_a_circle_end() -> None:
    text = USERS + "CREATE TABLE a (id int PRIMARY KEY, b int); CREATE TABLE b (id int PRIMARY KEY, a int);"
    text += "ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b ON DELETE CASCADE;"
    text += "ALTER TABLE b ADD FOREIGN KEY (a) REFERENCES a ON DELETE CASCADE;"
    text += "CREATE TABLE c (a int REFERENCES a ON DELETE CASCADE);" + ALL
    finding = only(RULE, text)
    assert (finding.object, "so will DELETE from b," in finding.message) == ("public.a", True)


def test_partitions_that_the_key_does_not_choose_are_certain() -> None:
    text = "CREATE TABLE visits (u int REFERENCES users ON DELETE CASCADE, r text) PARTITION BY LIST ({key});"
    text += "CREATE TABLE visits_1 PARTITION OF visits FOR VALUES IN (1); CREATE PUBLICATION p FOR TABLE visits_1;"
    by_other = text.replace("{key}", "r").replace("(1)", "('eu')")
    assert only(RULE, USERS + by_other).certainty == "certain"
    assert only(RULE, USERS + text.replace("{key}", "u")).certainty == "assumed"


def test_many_tables_that_refer_to_one_are_one_finding() -> None:
    many = "".join(f"CREATE TABLE s{n} (u int REFERENCES users ON DELETE CASCADE);" for n in range(6))
    finding = only(RULE, USERS + ALL + many)
    assert "leads to s0, s1, s2 and 3 more, which refuse DELETE" in finding.message


def test_tables_that_the_unit_does_not_make_are_assumed() -> None:
    finding = only(RULE, ALL + "CREATE TABLE sessions (user_id int REFERENCES auth.users ON DELETE CASCADE);")
    assert (finding.object, finding.certainty) == ("auth.users", "assumed")


def test_nothing_else_is_said_of_it_than_of_the_table_that_refuses() -> None:
    objects = [(finding.rule, finding.object) for finding in lint(USERS + ALL + sessions("ON DELETE CASCADE"))]
    assert sorted(objects, key=str) == [
        ("PUB302", "public.sessions"),
        ("PUB302", "public.sessions"),
        (RULE, "public.users"),
    ]


def test_what_is_refused_is_found_by_table_and_operation() -> None:
    followed = Linter().follow(Unit((Source("a.sql", USERS + ALL + sessions("ON DELETE CASCADE")),)))
    (fold,) = followed.replays
    assert fold.outcome is not None
    assert fold.outcome.history is not None
    ground = fold.outcome.context(fold.outcome.history)
    table = fold.catalog.relation_names[2200, "sessions"]
    assert set(ground.refused) == {(table, "update"), (table, "delete")}
