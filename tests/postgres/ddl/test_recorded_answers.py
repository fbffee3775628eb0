"""Statements about no publication, and options of subscriptions, that majors answer in different ways."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.conformance.judging import judge
from tests.postgres.ddl.support import outcomes
from tests.support.cases import Case, load

FOLLOWED = (
    "v19-alter-check-enforced",
    "v19-create-schema-order",
    "v19-create-schema-order-keys",
    "v19-ri-index-not-valid-primary-key",
    "v19-set-escape-string-warning",
    "v19-set-standard-conforming-off",
    "v19-set-standard-conforming-on",
)
CASES = {case.id: case for case in load("v19-*")}
OPTIONS = [case for case in CASES.values() if case.rule == "subscription-option" and "SERVER" not in case.id.upper()]


@pytest.mark.parametrize("name", FOLLOWED)
def test_a_statement_is_followed_as_each_server_answered_it(name: str) -> None:
    case = CASES[name]
    for major, answer in case.answers.items():
        script = ";\n".join((*case.setup, case.statement))
        assert outcomes(script, major)[-1] == answer.sqlstate, major


@pytest.mark.parametrize("case", OPTIONS, ids=lambda case: case.id)
def test_options_of_a_subscription_are_refused_as_each_server_refused_them(case: Case) -> None:
    """On the subscriber; the server of the publisher is not asked."""
    assert case.sub is not None
    statement = case.sub.statement.replace("@@CONN@@", "dbname=x").replace("@@SLOT@@", "slot")
    alone = replace(case, phase="ddl", setup=case.sub.setup, statement=statement, sub=None)
    for major in case.answers:
        judgement = judge(alone, major)
        assert judgement.worded, (major, judgement.differences, judgement.got)


def test_inet_has_an_operator_class_in_gist_from_19_on() -> None:
    """18.4 refuses the index with 42704, 19beta3 creates it."""
    script = "CREATE TABLE n (i inet, c cidr); CREATE INDEX ON n USING gist (i); CREATE INDEX ON n USING gist (c)"
    assert outcomes(script, 18) == [None, "42704", "42704"]
    assert outcomes(script, 19) == [None, None, None]


def test_foreign_keys_of_schema_elements_are_created_last() -> None:
    script = (
        "CREATE SCHEMA s CREATE TABLE x (a int REFERENCES y, b int, FOREIGN KEY (b) REFERENCES y)"
        " CREATE TABLE y (a int PRIMARY KEY); ALTER TABLE s.x DROP CONSTRAINT x_a_fkey, DROP CONSTRAINT x_b_fkey"
    )
    assert outcomes(script, 19) == [None, None]
