"""What the recorded filters do not show: depth, what is not visible, what the walk says of its culprit."""

from __future__ import annotations

import pytest

from pubcheck.postgres import older_grammars
from pubcheck.postgres.analysis.analyze import transform
from pubcheck.postgres.analysis.parse_state import expr_location
from pubcheck.postgres.analysis.row_filter import Refusal, analyze, check_simple, parse_state
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.parse import Node, parse
from pubcheck.postgres.session import Session
from pubcheck.postgres.versions import BY_NUMBER
from tests.postgres.analysis.judging import judge, session
from tests.postgres.analysis.record import publication


def _tree(catalog_session: Session, filter_: str) -> tuple[Node, int]:
    statement, start = publication("w", filter_)
    catalog_session.begin_statement(0, 0, statement)
    parsed = parse(statement)
    assert parsed is not None
    tree: Node = parsed[1]["pubobjects"][0]["PublicationObjSpec"]["pubtable"]["whereClause"]
    return tree, start


def _refusal(filter_: str, major: int = 18) -> tuple[Refusal, int]:
    catalog_session = session(major)
    tree, start = _tree(catalog_session, filter_)
    relation = catalog_session.find_unqualified("w")
    assert relation is not None
    p = parse_state(catalog_session, relation)
    refusal = check_simple(p, analyze(p, tree))
    assert refusal is not None
    return refusal, expr_location(refusal.culprit) - start


@pytest.mark.parametrize(
    "filter_",
    [
        "NOT (" * 3000 + "b" + ")" * 3000,
        "(b OR NOT (b AND " * 900 + "b" + "))" * 900,
        " || ".join(["t"] * 3000) + " = 'a'",
        "i4 = " + " + ".join(["1"] * 3000),
        " AND ".join(["i4 <> 1"] * 3000),
    ],
    ids=["not", "and-or", "concatenation", "addition", "list"],
)
def test_depth_that_the_grammar_takes_is_judged(filter_: str) -> None:
    assert judge(18, "w", filter_) is None


@pytest.mark.parametrize(
    ("filter_", "sqlstate"),
    [
        ("i4 = {}", None),
        ("n > -{}", None),
        ("ia[{}] = 1", "0A000"),
        ("i4 = {}::int", None),
        ("t = {}", "42883"),
        ("i4 = {zeros}", None),
        ("t = {zeros}", "42883"),
    ],
)
@pytest.mark.parametrize("major", [15, 18])
def test_numbers_of_any_length_are_read(major: int, filter_: str, sqlstate: str | None) -> None:
    answer = judge(major, "w", filter_.format("9" * 5000, zeros="0" * 5000 + "5"))
    assert (answer and answer[0]) == sqlstate


@pytest.mark.parametrize("length", ["4294967304", "99999999999999999999"])
def test_a_prefix_length_that_overflows_is_not_judged(length: str) -> None:
    """PostgreSQL 15 to 18 take the first for 8 and refuse the second."""
    assert isinstance(judge(18, "w", f"ip = '10.0.0.1/{length}'"), str)
    assert judge(18, "w", "ip = '10.0.0.1/0000000000000000000008'") is None


def test_the_walk_names_the_function_behind_an_operator() -> None:
    refusal, place = _refusal("b AND tz > d")
    proc = session(18).syscache.proc(refusal.oid)
    assert (refusal.key, proc.name, proc.volatility, place) == (
        "filter-mutable-function",
        "timestamptz_gt_date",
        "s",
        6,
    )


def test_the_walk_names_the_node_that_stands_in_the_way() -> None:
    refusal, _ = _refusal("i4 = 1 AND vc IN ('a', 'b')")
    assert (refusal.key, refusal.culprit.node, refusal.oid) == ("filter-construct", "ArrayCoerceExpr", 0)
    # The array of an IN list has no place of its own.
    assert refusal.error.location is None


def test_the_outermost_node_decides() -> None:
    refusal, _ = _refusal("(now()::text)::bool")
    assert refusal.key == "filter-construct"


def test_a_type_that_may_be_made_elsewhere_is_not_refused() -> None:
    catalog_session = session(18)
    tree, _ = _tree(catalog_session, "i4::nosuch = 1")
    relation = catalog_session.find_unqualified("w")
    assert relation is not None
    catalog_session.complete = False
    try:
        with pytest.raises(Unknowable):
            transform(parse_state(catalog_session, relation), tree)
    finally:
        catalog_session.complete = True


@pytest.mark.parametrize(
    ("major", "filter_", "token", "message"),
    [
        (15, "i4 = 1_000", "1_000", 'trailing junk after numeric literal at or near "1_000"'),
        (15, "t = '1_000' AND i4 = 0x1F", "0x1F", 'trailing junk after numeric literal at or near "0x1F"'),
        (15, "t Is Not Json", "Json", 'syntax error at or near "Json"'),
        (15, "json_object('a': 1) IS NULL", ":", 'syntax error at or near ":"'),
        (15, "json_array(i4::text, 1 NULL ON NULL) IS NULL", "NULL", 'syntax error at or near "NULL"'),
        (15, "json_array(tz::timestamp WITH time zone, 1 ABSENT ON NULL) IS NULL", "ABSENT", None),
        (16, "json_value(json_object('a': 1)::jsonb, '$' RETURNING int) = 1", "RETURNING", None),
        (16, "tz AT /* here */ LOCAL > ts", "LOCAL", 'syntax error at or near "LOCAL"'),
    ],
)
def test_what_an_earlier_grammar_stops_at(major: int, filter_: str, token: str, message: str | None) -> None:
    with pytest.raises(ServerError) as raised:
        older_grammars.check(BY_NUMBER[major], filter_.encode())
    assert raised.value.location == filter_.index(token)
    assert raised.value.message == (message or f'syntax error at or near "{token}"')


@pytest.mark.parametrize(
    "filter_",
    [
        "json_array(NULL, i4 IS NULL, CASE WHEN b THEN NULL ELSE true END) IS NULL",
        "f8 = 1.5e10 AND i4 = 10 AND a1 = 1 AND t = '0x1F' AND \"1_0\" = 2",
        "json_object('{a,b}') IS NULL AND local = 1 AND indent = 2",
        "json_array(a::int, b -> 'value') IS NULL",
    ],
)
def test_what_all_grammars_take(filter_: str) -> None:
    older_grammars.check(BY_NUMBER[15], filter_.encode())
