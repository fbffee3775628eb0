"""Publications that are dropped and recreated: what the new one lacks."""

from __future__ import annotations

import pytest

from tests.checks.history.finding import TABLES, of, only, places
from tests.support.linting import covered, run

RULE = "PUB710"


def test_a_table_added_since_is_a_warning_at_the_new_publication() -> None:
    first, second = "CREATE PUBLICATION p FOR TABLE t;", "ALTER PUBLICATION p ADD TABLE u;"
    finding = only(RULE, TABLES + first, second, "DROP PUBLICATION p; CREATE PUBLICATION p FOR TABLE t, v;")
    assert finding.message == 'publication "p" is recreated without table u that it had before'
    assert (finding.severity, finding.certainty, finding.object, covered(finding.span)) == (
        "warning",
        "certain",
        "public.u",
        "p",
    )
    assert places(finding) == [("2.sql", "was like this here"), ("3.sql", "is dropped")]
    assert finding.help is not None
    assert finding.help.startswith("ALTER PUBLICATION p ADD TABLE u; ")


def test_a_table_of_the_former_create_is_a_note() -> None:
    first = "CREATE PUBLICATION p FOR TABLE t, u;"
    finding = only(RULE, TABLES + first, "DROP PUBLICATION p; CREATE PUBLICATION p FOR TABLE t;")
    assert finding.severity == "note"


@pytest.mark.parametrize(
    ("former", "anew"),
    [
        ("FOR TABLE t WHERE (id > 1)", "FOR TABLE t"),
        ("FOR TABLE t (id, a)", "FOR TABLE t"),
        ("FOR TABLE t (id, a) WHERE (id > 1)", "FOR TABLE t (id, a)"),
    ],
)
def test_a_lost_filter_or_list_is_a_warning(former: str, anew: str) -> None:
    finding = only(RULE, TABLES + f"CREATE PUBLICATION p {former}; DROP PUBLICATION p; CREATE PUBLICATION p {anew};")
    assert (finding.severity, finding.object) == ("warning", "public.t")
    assert "with table t without the row filter or column list" in finding.message


@pytest.mark.parametrize(
    ("former", "says"),
    [
        ("publish = 'insert, update'", "publish = 'insert, update'"),
        ("publish_via_partition_root", "publish_via_partition_root = true"),
        ("publish_generated_columns = stored", "publish_generated_columns = stored"),
    ],
)
def test_a_lost_option_is_a_note(former: str, says: str) -> None:
    text = f"CREATE PUBLICATION p FOR TABLE t WITH ({former}); DROP PUBLICATION p; CREATE PUBLICATION p FOR TABLE t;"
    finding = only(RULE, TABLES + text)
    assert (finding.severity, f"without {says}" in finding.message) == ("note", True)


@pytest.mark.parametrize(
    "text",
    [
        # What it had is there again.
        "CREATE PUBLICATION p FOR TABLE t; DROP PUBLICATION p; CREATE PUBLICATION p FOR TABLE t, u;",
        "CREATE PUBLICATION p FOR TABLE t (id); DROP PUBLICATION p; CREATE PUBLICATION p FOR TABLE t (id, a);",
        "CREATE PUBLICATION p FOR TABLE t, u; DROP PUBLICATION p; CREATE PUBLICATION p; "
        "ALTER PUBLICATION p ADD TABLE u, t;",
        "CREATE PUBLICATION p FOR TABLE t; DROP PUBLICATION p; CREATE PUBLICATION p FOR ALL TABLES;",
        "CREATE PUBLICATION p FOR TABLE t; DROP PUBLICATION p; CREATE PUBLICATION p FOR TABLES IN SCHEMA public;",
        "CREATE PUBLICATION p FOR TABLE t WHERE (id > 1); DROP PUBLICATION p; CREATE PUBLICATION p FOR ALL TABLES;",
        # What it had is no more.
        "CREATE PUBLICATION p FOR TABLE t, u; DROP TABLE u; DROP PUBLICATION p; CREATE PUBLICATION p FOR TABLE t;",
        "CREATE PUBLICATION p FOR TABLE t, u; DROP PUBLICATION p; CREATE PUBLICATION p FOR TABLE t; DROP TABLE u;",
        "CREATE PUBLICATION p FOR TABLE t, u; ALTER PUBLICATION p DROP TABLE u; DROP PUBLICATION p; "
        "CREATE PUBLICATION p FOR TABLE t;",
        # What the new one had and then gave up is another statement's.
        "CREATE PUBLICATION p FOR TABLE t, u; DROP PUBLICATION p; CREATE PUBLICATION p FOR TABLE t, u; "
        "ALTER PUBLICATION p DROP TABLE u;",
        # It is not made anew, or in another way.
        "CREATE PUBLICATION p FOR TABLE t, u; DROP PUBLICATION p;",
        "CREATE PUBLICATION p FOR TABLE t, u; DROP PUBLICATION p; CREATE PUBLICATION q FOR TABLE t;",
        "DROP PUBLICATION IF EXISTS p; CREATE PUBLICATION p FOR TABLE t;",
        "CREATE PUBLICATION p FOR TABLE t, u; BEGIN; DROP PUBLICATION p; CREATE PUBLICATION p FOR TABLE t; ROLLBACK;",
        # The options are said in so many words, or were the default's.
        "CREATE PUBLICATION p FOR TABLE t WITH (publish = 'insert'); DROP PUBLICATION p; "
        "CREATE PUBLICATION p FOR TABLE t WITH (publish = 'insert, update, delete, truncate');",
        "CREATE PUBLICATION p FOR TABLE t WITH (publish_via_partition_root); DROP PUBLICATION p; "
        "CREATE PUBLICATION p FOR TABLE t WITH (publish_via_partition_root = off);",
        "CREATE PUBLICATION p FOR TABLE t WITH (publish = 'insert'); DROP PUBLICATION p; "
        "CREATE PUBLICATION p FOR TABLE t; ALTER PUBLICATION p SET (publish = 'insert');",
        "CREATE PUBLICATION p FOR TABLE t WITH (publish = 'insert, update, delete, truncate'); DROP PUBLICATION p; "
        "CREATE PUBLICATION p FOR TABLE t;",
        # A column list is changed by leaving and coming back.
        "CREATE PUBLICATION p FOR TABLE t (id, a); ALTER PUBLICATION p DROP TABLE t; "
        "ALTER PUBLICATION p ADD TABLE t (id);",
    ],
)
def test_histories_that_lose_nothing_are_silent(text: str) -> None:
    assert of(RULE, TABLES + text) == []


def test_each_making_anew_is_told_of_what_it_lost() -> None:
    text = "CREATE PUBLICATION p; ALTER PUBLICATION p ADD TABLE t; ALTER PUBLICATION p ADD TABLE u;"
    once = "DROP PUBLICATION p; CREATE PUBLICATION p FOR TABLE t;"
    again = "ALTER PUBLICATION p ADD TABLE v; DROP PUBLICATION p; CREATE PUBLICATION p FOR TABLE t;"
    findings = of(RULE, TABLES + text, once, again)
    assert [(finding.span.source.label, finding.object) for finding in findings] == [
        ("2.sql", "public.u"),
        ("3.sql", "public.v"),
    ]


def test_one_that_the_platform_makes_is_assumed() -> None:
    first = "ALTER PUBLICATION supabase_realtime ADD TABLE t;"
    reset = "DROP PUBLICATION IF EXISTS supabase_realtime; CREATE PUBLICATION supabase_realtime;"
    finding = only(RULE, TABLES + first, reset)
    assert (finding.severity, finding.certainty) == ("warning", "assumed")
    assert of(RULE, TABLES + reset + first) == []


def test_a_large_publication_made_anew_is_one_finding() -> None:
    tables = "".join(f"CREATE TABLE t{n} (id int PRIMARY KEY);" for n in range(20))
    text = "CREATE PUBLICATION p; ALTER PUBLICATION p ADD TABLE " + ", ".join(f"t{n}" for n in range(20)) + ";"
    finding = only(RULE, tables + text + "DROP PUBLICATION p; CREATE PUBLICATION p FOR TABLE t0;")
    assert "tables t1, t2, t3 and 16 more" in finding.message
    assert finding.help is not None
    assert "ADD TABLE t1, t2, t3, ..." in finding.help


def test_one_that_perhaps_was_dropped_gives_way_without_a_word() -> None:
    perhaps = "DO $$ BEGIN IF random() > 0.5 THEN DROP PUBLICATION p; END IF; END $$;"
    findings = run(
        TABLES + "CREATE PUBLICATION p FOR TABLE t;", perhaps, "CREATE PUBLICATION p FOR TABLE u;"
    ).diagnostics
    assert [finding.rule for finding in findings if finding.certainty == "certain"] == []


def test_a_publication_that_takes_the_name_of_a_renamed_one_is_compared_with_it() -> None:
    first, second = "CREATE PUBLICATION p FOR TABLE t;", "ALTER PUBLICATION p ADD TABLE u;"
    finding = only(RULE, TABLES + first, second, "ALTER PUBLICATION p RENAME TO old; CREATE PUBLICATION p FOR TABLE t;")
    assert finding.message == 'publication "p" is replaced by a renamed one, without table u that it had before'
    assert (finding.severity, covered(finding.span)) == ("warning", "p")
    assert places(finding) == [("2.sql", "was like this here"), ("3.sql", "is renamed")]


@pytest.mark.parametrize("away", ["DROP PUBLICATION p", "ALTER PUBLICATION p RENAME TO old"])
def test_one_that_is_renamed_into_the_place_is_compared_too(away: str) -> None:
    text = "CREATE PUBLICATION p FOR TABLE t (id, a), u; CREATE PUBLICATION next FOR TABLE t WITH (publish = 'insert');"
    finding = only(RULE, TABLES + text, f"{away}; ALTER PUBLICATION next RENAME TO p;")
    assert "without table u" in finding.message
    assert "with table t without the row filter or column list" in finding.message
    assert finding.span.source.label == "2.sql"


@pytest.mark.parametrize(
    "text",
    [
        "ALTER PUBLICATION p RENAME TO q; ALTER PUBLICATION q RENAME TO p;",
        "ALTER PUBLICATION p RENAME TO old; CREATE PUBLICATION p FOR TABLE t, u;",
        "CREATE PUBLICATION next FOR TABLE t, u; DROP PUBLICATION p; ALTER PUBLICATION next RENAME TO p;",
        "BEGIN; ALTER PUBLICATION p RENAME TO q; CREATE PUBLICATION p FOR TABLE t; ROLLBACK;",
        "ALTER PUBLICATION p RENAME TO q; CREATE PUBLICATION p FOR TABLE t; ALTER PUBLICATION p ADD TABLE u;",
    ],
)
def test_renames_that_lose_nothing_are_silent(text: str) -> None:
    assert of(RULE, TABLES + "CREATE PUBLICATION p FOR TABLE t, u;" + text) == []


@pytest.mark.parametrize("scope", ["ALL TABLES", "TABLES IN SCHEMA public"])
def test_what_was_published_with_all_others_is_missed_as_a_note(scope: str) -> None:
    text = f"CREATE PUBLICATION p FOR {scope}; DROP PUBLICATION p; CREATE TABLE later (id int PRIMARY KEY);"
    finding = only(RULE, TABLES + text + "CREATE PUBLICATION p FOR TABLE t;")
    assert finding.message == 'publication "p" is recreated without tables u and v that it had before'
    assert (finding.severity, finding.object, finding.also) == ("note", "public.u", ("public.v",))


def test_a_swap_in_one_transaction_lets_no_subscriber_down() -> None:
    swap = "BEGIN; DROP PUBLICATION p; ALTER PUBLICATION next RENAME TO p; COMMIT;"
    text = TABLES + "CREATE PUBLICATION p FOR TABLE t; CREATE PUBLICATION next FOR TABLE t;"
    assert of("PUB811", text + swap) == []
    assert len(of("PUB811", text + swap.replace("BEGIN;", ""))) == 1
