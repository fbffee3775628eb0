"""Row filters."""

from __future__ import annotations

from tests.benchmarks.dimensions.parts import TABLE, Dimension, each, nested, with_tables

_WHERE = f"{TABLE}CREATE PUBLICATION p FOR TABLE t WHERE ("
FILTERS = (
    Dimension("parentheses in a filter", nested("(", ")", before=_WHERE, inside="id > 5", after=");")),
    Dimension("ANDs of a filter", each("id > @", joint=" AND ", before=_WHERE, after=");")),
    Dimension("ORs of a filter", each("id = @", joint=" OR ", before=_WHERE, after=");")),
    Dimension("ANDs in ORs of a filter", each("(id = @ AND a > @)", joint=" OR ", before=_WHERE, after=");")),
    Dimension(
        "AND in OR, nested",
        nested("(id > 1 AND (id < 9 OR ", "))", before=_WHERE, inside="a > 5", after=");"),
        most=320,
    ),
    Dimension("AND in AND, nested", nested("(id > 1 AND ", ")", before=_WHERE, inside="a > 5", after=");"), most=320),
    Dimension("NOT in NOT", nested("NOT (", ")", before=_WHERE, inside="id > 5", after=");"), most=320),
    Dimension(
        "CASE in CASE",
        nested("CASE WHEN a > 1 THEN ", " ELSE false END", before=_WHERE, inside="true", after=");"),
        most=160,
    ),
    Dimension("calls in calls", nested("abs(", ")", before=_WHERE, inside="id", after=" > 5);"), most=160),
    Dimension("COALESCE in COALESCE", nested("coalesce(", ", 1)", before=_WHERE, inside="a", after=" > 5);"), most=160),
    Dimension("casts of a filter", nested("", "::bigint", before=f"{_WHERE}id", after=" > 5);"), most=160),
    Dimension("sum in a filter", each("@", joint=" + ", before=f"{_WHERE}id > ", after=");"), most=320),
    Dimension("IN list of a filter", each("@", joint=", ", before=f"{_WHERE}id IN (", after="));")),
    Dimension("IN list of texts", each("'value @'", joint=", ", before=f"{_WHERE}v IN (", after="));")),
    Dimension("ARRAY of a filter", each("@", joint=", ", before=f"{_WHERE}id = ANY (ARRAY[", after="]));")),
    Dimension("branches of a CASE", each("WHEN id = @ THEN a > 5", joint=" ", before=f"{_WHERE}CASE ", after=" END);")),
    Dimension("a long literal", lambda size: f"{_WHERE}v = '{'x' * size * 100}');\n"),
    Dimension("filters", with_tables("CREATE PUBLICATION p@ FOR TABLE t@ WHERE (id > @ AND id < 5);")),
    Dimension("explained: ANDs of a filter", each("id > @", joint=" AND ", before=_WHERE, after=");"), ("explain",)),
    Dimension("explained: ORs of a filter", each("id = @", joint=" OR ", before=_WHERE, after=");"), ("explain",)),
    Dimension("explained: IN list", each("@", joint=", ", before=f"{_WHERE}id IN (", after="));"), ("explain",)),
    Dimension(
        "explained: AND in OR, nested",
        nested("(id > 1 AND (id < 9 OR ", "))", before=_WHERE, inside="a > 5", after=");"),
        ("explain",),
        most=320,
    ),
    Dimension("explained: parentheses", nested("(", ")", before=_WHERE, inside="id > 5", after=");"), ("explain",)),
)
