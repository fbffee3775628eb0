"""Published tables and columns that are called otherwise now, and names that stand for other tables."""

from __future__ import annotations

import pytest

from tests.checks.history.finding import TABLES, of, only, places
from tests.support.linting import covered

RULE = "PUB712"
P = "CREATE PUBLICATION p FOR TABLE t, u (id);\n"


def test_a_renamed_member_is_a_note_at_the_rename() -> None:
    finding = only(RULE, TABLES + P, "ALTER TABLE t RENAME TO clients;")
    assert finding.message == (
        'changes of t arrive as those of clients in publication "p": a subscriber without a table of that name stops '
        "at the first change"
    )
    assert (finding.severity, finding.certainty, finding.object, covered(finding.span)) == (
        "note",
        "certain",
        "public.clients",
        "t",
    )
    assert places(finding) == [("1.sql", "is published here")]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ALTER TABLE t RENAME a TO b2;", 'column "a" of t arrives as "b2"'),
        ("CREATE SCHEMA s; ALTER TABLE t SET SCHEMA s;", "changes of t arrive as those of s.t"),
        ("ALTER TABLE t RENAME TO x; ALTER TABLE x RENAME TO y;", "changes of t arrive as those of y"),
        ("ALTER TABLE u RENAME id TO key;", 'column "id" of u arrives as "key"'),
    ],
)
def test_columns_schemas_and_further_names(text: str, says: str) -> None:
    assert only(RULE, TABLES + P + text).message.startswith(says)


@pytest.mark.parametrize(
    "text",
    [
        "ALTER TABLE t RENAME TO x; ALTER TABLE x RENAME TO t;",
        "BEGIN; ALTER TABLE t RENAME TO x; ROLLBACK;",
        "ALTER TABLE t RENAME TO x; ALTER PUBLICATION p DROP TABLE x;",
        "ALTER TABLE t RENAME TO x; DROP TABLE x;",
        "ALTER TABLE v RENAME TO x;",
        "ALTER TABLE u RENAME a TO b;",
        "ALTER TABLE t RENAME a TO x; ALTER TABLE t DROP COLUMN x;",
        "ALTER TABLE t RENAME CONSTRAINT t_pkey TO t_key;",
    ],
)
def test_what_is_back_gone_or_not_sent_is_silent(text: str) -> None:
    assert of(RULE, TABLES + P + text) == []


def test_tables_of_a_schema_or_of_all_are_silent() -> None:
    for scope in ("ALL TABLES", "TABLES IN SCHEMA public"):
        assert of(RULE, TABLES + f"CREATE PUBLICATION p FOR {scope}; ALTER TABLE t RENAME TO x;") == []


def test_what_arrives_under_the_name_of_a_root_is_silent() -> None:
    text = "CREATE TABLE r (id int PRIMARY KEY) PARTITION BY LIST (id); CREATE TABLE r1 PARTITION OF r DEFAULT;"
    publication = "CREATE PUBLICATION p FOR TABLE r, r1 WITH (publish_via_partition_root);"
    assert of(RULE, text + publication + "ALTER TABLE r1 RENAME TO x;") == []
    assert len(of(RULE, text + publication + "ALTER TABLE r RENAME TO x;")) == 1
    assert len(of(RULE, text + "CREATE PUBLICATION p FOR TABLE r, r1; ALTER TABLE r1 RENAME TO x;")) == 1


SCHEMAS = "CREATE SCHEMA live; CREATE SCHEMA next; CREATE TABLE live.t (id int PRIMARY KEY);"
SCHEMAS += "CREATE TABLE next.t (id int PRIMARY KEY);"
SWAP = "ALTER SCHEMA live RENAME TO old; ALTER SCHEMA next RENAME TO live;"


def test_a_schema_that_is_exchanged_by_name_takes_its_tables_out() -> None:
    finding = only("PUB705", SCHEMAS + "CREATE PUBLICATION p FOR TABLE live.t;" + SWAP)
    assert finding.message.startswith("live.t is another table now: the former one was renamed, and not in")
    finding = only("PUB705", SCHEMAS + "CREATE PUBLICATION p FOR TABLES IN SCHEMA live;" + SWAP)
    assert finding.message.startswith("schema live is another one now: the former one was renamed, and not in")


def test_a_schema_that_is_exchanged_and_published_again_is_silent() -> None:
    add = "ALTER PUBLICATION p ADD TABLES IN SCHEMA live;"
    publication = "CREATE PUBLICATION p FOR TABLES IN SCHEMA live;"
    assert of("PUB705", SCHEMAS + publication + SWAP + add) == []
    back = "ALTER SCHEMA live RENAME TO old; ALTER SCHEMA old RENAME TO live;"
    assert of("PUB705", SCHEMAS + publication + back) == []


@pytest.mark.parametrize(("member", "lost"), [("t WHERE (id > 1)", "row filter"), ("t (id, a)", "column list")])
def test_a_member_that_is_dropped_and_added_bare_is_a_note(member: str, lost: str) -> None:
    text = TABLES + f"CREATE PUBLICATION p FOR TABLE {member}, u; ALTER PUBLICATION p DROP TABLE t;"
    finding = only("PUB709", text, "ALTER PUBLICATION p ADD TABLE t;")
    assert finding.message.startswith(f't loses its {lost} in "p": it is dropped and added again without')
    assert (finding.severity, covered(finding.span)) == ("note", "t")
    assert of("PUB709", text + f"ALTER PUBLICATION p ADD TABLE {member};") == []


PARTITIONS = """\
CREATE TABLE r (id int, k int) PARTITION BY LIST (k);
CREATE TABLE r1 PARTITION OF r FOR VALUES IN (1);
CREATE TABLE r2 PARTITION OF r FOR VALUES IN (2);
CREATE PUBLICATION p FOR TABLE r1, r2 WITH (publish = 'insert');
"""


def test_a_partition_beside_others_that_are_named_one_by_one_is_a_warning() -> None:
    finding = only("PUB507", PARTITIONS, "CREATE TABLE r3 PARTITION OF r FOR VALUES IN (3);")
    assert finding.message == (
        'rows of table r3 are not published: publication "p" names the partitions that r had then, one by one'
    )
    assert (finding.severity, finding.object) == ("warning", "public.r3")


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE r3 PARTITION OF r FOR VALUES IN (3); ALTER PUBLICATION p ADD TABLE r3;",
        "CREATE TABLE r3 PARTITION OF r FOR VALUES IN (3); ALTER PUBLICATION p ADD TABLE r;",
        "CREATE UNLOGGED TABLE r3 PARTITION OF r FOR VALUES IN (3);",
        "ALTER PUBLICATION p DROP TABLE r2; CREATE TABLE r3 PARTITION OF r FOR VALUES IN (3);",
    ],
)
def test_partitions_that_are_added_or_left_out_on_purpose_are_silent(text: str) -> None:
    assert of("PUB507", PARTITIONS + text) == []


def test_a_partition_that_takes_the_place_of_a_member_is_a_note() -> None:
    text = "ALTER TABLE r DETACH PARTITION r2; ALTER PUBLICATION p DROP TABLE r1;"
    text += "CREATE TABLE n (id int, k int); ALTER TABLE r DETACH PARTITION r1;"
    finding = only("PUB507", PARTITIONS + text + "ALTER TABLE r ATTACH PARTITION n FOR VALUES IN (2);")
    assert (finding.severity, finding.object) == ("note", "public.n")


@pytest.mark.parametrize(
    ("major", "later"), [(15, "; a connected one gets the old name until it reconnects"), (16, "")]
)
def test_a_schema_that_is_renamed_is_not_announced_by_15(major: int, later: str) -> None:
    text = "CREATE SCHEMA a; CREATE TABLE a.t (id int PRIMARY KEY); CREATE PUBLICATION p FOR TABLE a.t;"
    finding = only(RULE, text, "ALTER SCHEMA a RENAME TO b;", major=major)
    assert finding.message == (
        'changes of a.t arrive as those of b.t in publication "p": a subscriber without a table of that name stops at '
        "the first change" + later
    )


def test_sql_for_a_name_with_a_dot_is_quoted_as_one_name() -> None:
    files = ('CREATE TABLE "a.b" (id int PRIMARY KEY); CREATE PUBLICATION p FOR TABLE "a.b";', 'DROP TABLE "a.b";')
    finding = only("PUB705", *files, 'CREATE TABLE "a.b" (id int PRIMARY KEY);')
    assert finding.help is not None
    assert finding.help.startswith('ALTER PUBLICATION p ADD TABLE "a.b"; ')
