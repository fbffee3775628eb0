"""What is said twice points at where it was said first."""

from __future__ import annotations

import pytest

from tests.checks.history.finding import TABLES, only, places
from tests.support.linting import covered, lint


@pytest.mark.parametrize(
    ("rule", "first", "again", "where", "says"),
    [
        (
            "PUB130",
            "CREATE PUBLICATION p FOR TABLE u, t;",
            "ALTER PUBLICATION p ADD TABLE v, t;",
            "t",
            "became a member here",
        ),
        (
            "PUB130",
            "CREATE PUBLICATION p; ALTER PUBLICATION p ADD TABLES IN SCHEMA public;",
            "ALTER PUBLICATION p ADD TABLES IN SCHEMA public;",
            "public",
            "became a member here",
        ),
        (
            "PUB130",
            'CREATE SCHEMA "s.t"; CREATE TABLE "s.t"."a.b" (id int); CREATE PUBLICATION p FOR TABLE "s.t"."a.b";',
            'ALTER PUBLICATION p ADD TABLE "s.t"."a.b";',
            '"s.t"."a.b"',
            "became a member here",
        ),
        ("PUB105", "CREATE PUBLICATION p;", "CREATE PUBLICATION p FOR TABLE t;", "p", "is created here"),
    ],
)
def test_the_first_place_is_a_further_one(rule: str, first: str, again: str, where: str, says: str) -> None:
    finding = only(rule, TABLES, first, again)
    assert places(finding) == [("2.sql", says)]
    assert [covered(span) for span in finding.related] == [where]


def test_of_a_platforms_publication_too() -> None:
    add = "ALTER PUBLICATION supabase_realtime ADD TABLE t;"
    finding = only("PUB130", TABLES, add, "ALTER PUBLICATION supabase_realtime ADD TABLE u;", add)
    assert (places(finding), finding.certainty) == ([("2.sql", "became a member here")], "assumed")


def test_thousands_of_repeats_are_found_in_no_time() -> None:
    tables = "".join(f"CREATE TABLE t{n} (id int PRIMARY KEY);" for n in range(3000))
    adds = "".join(f"ALTER PUBLICATION p ADD TABLE t{n};" for n in range(3000))
    findings = lint(tables, "CREATE PUBLICATION p;" + adds, adds)
    assert {(finding.rule, finding.related[0].source.label) for finding in findings} == {("PUB130", "2.sql")}
    assert len(findings) == 3000
