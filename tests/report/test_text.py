"""The text report. Snapshots are written out: what a reader sees is what stands here."""

from __future__ import annotations

import re
from textwrap import dedent

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from pubcheck.diagnostics import Diagnostic, Fix, ServerAnswer, Span, StatementRef
from pubcheck.report.text import len_display, render
from pubcheck.source import Source, escape
from tests.report.samples import ORDERS, REFUSED, diagnostic, famous, reported, span


def shown(*diagnostics: Diagnostic, verbose: bool = False, **about: tuple[int, ...]) -> str:
    return "".join(render(reported(*diagnostics, **about), quiet=True, verbose=verbose))  # type: ignore[arg-type]


def excerpt(where: Span, **changes: object) -> str:
    """The lines with their marks, without headline and remarks."""
    return "\n".join(re.findall(r"^(?: *\d* \|.*|\.\.\.)$", shown(diagnostic(where, **changes)), re.MULTILINE))


def test_the_famous_error() -> None:
    assert "".join(render(reported(famous()))) == dedent(
        """\
        error[PUB301]: every UPDATE of public.orders will be refused
         --> db/schema.sql:6:47
          |
        2 |     id bigint PRIMARY KEY,
          |     -- the key is (id)
        ...
        6 | CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'eu');
          |                                               ^^^^^^ not part of the replica identity
          = server: ERROR 42P10: cannot update table "orders"
                    DETAIL: Column used in the publication WHERE expression is not part of the replica identity.
          = help: choose a replica identity that holds region

        Found 1 error in 2 statements of 1 file (PostgreSQL 18).
        """
    )


def test_nothing_found_says_what_was_looked_at() -> None:
    assert "".join(render(reported(postgres=(15, 18)))) == (
        "Nothing found in 2 statements of 1 file (PostgreSQL 15, 18).\n"
    )


def test_the_closing_line_counts_severities_and_what_is_assumed() -> None:
    where = span(ORDERS, "eu")
    findings = [
        diagnostic(where),
        diagnostic(where, severity="warning", certainty="assumed"),
        diagnostic(where, severity="warning"),
        diagnostic(where, severity="note", certainty="assumed"),
    ]
    assert "".join(render(reported(*findings, files=3, statements=1))).splitlines()[-1] == (
        "Found 1 error, 2 warnings (1 assumed), 1 note (1 assumed) in 1 statement of 3 files (PostgreSQL 18)."
    )


def test_quiet_leaves_the_closing_line_out() -> None:
    assert "".join(render(reported(), quiet=True)) == ""


def test_where_a_file_has_many_notes_of_a_rule_the_first_are_shown_and_the_others_counted() -> None:
    many = Source("db/many.sql", "SELECT 1;\n" * 20)
    notes = [diagnostic(Span(many, 10 * line, 10 * line + 9), severity="note") for line in range(11)]
    text = shown(*notes, diagnostic(Span(many, 150, 159)))
    assert [line for line in text.splitlines() if line.startswith((" -->", "note", "error", "  -->"))] == [
        *[
            line
            for number in (1, 2, 3)
            for line in (
                "note[PUB301]: every UPDATE of public.orders will be refused",
                f" --> db/many.sql:{number}:1",
            )
        ],
        "note[PUB301]: 8 more PUB301 in db/many.sql; --format concise shows them all",
        "error[PUB301]: every UPDATE of public.orders will be refused",
        "  --> db/many.sql:16:1",
    ]
    assert shown(*notes[1:]).count("-->") == 10


def test_assumed_stands_in_the_headline_and_is_explained() -> None:
    where = span(ORDERS, "orders", "the effect of this statement, which is unknown", nth=1)
    rests_on = ("table public.x, which these files do not create", where)
    text = shown(diagnostic(span(ORDERS, "eu"), certainty="assumed", severity="note", assumptions=rests_on))
    assert text.startswith("note[PUB301] (assumed): ")
    assert (
        "= rests on: table public.x, which these files do not create; the effect of this statement, which is unknown"
        " (db/schema.sql:6)\n"
    ) in text


def test_what_a_finding_rests_on_is_left_out_where_the_message_says_it() -> None:
    text = shown(diagnostic(span(ORDERS, "eu"), certainty="assumed", severity="note"))
    assert "= assumed" not in text


def test_majors_stand_there_only_when_not_all_that_were_asked_for() -> None:
    where = span(ORDERS, "eu")
    assert "= postgres: 15, 16\n" in shown(diagnostic(where, postgres=(15, 16)), postgres=(15, 16, 18))
    assert "= postgres" not in shown(diagnostic(where, postgres=(15, 18)), postgres=(15, 18))


def test_hint_notice_publications_and_fix_have_lines_of_their_own() -> None:
    text = shown(
        diagnostic(
            span(ORDERS, "eu"),
            server=ServerAnswer("42601", "no", None, "try\nthis"),
            notices=('NOTICE: identifier "x" will be truncated',),
            publications=("eu", "us"),
            fixes=(Fix("quote it", "unsafe"), Fix("drop it", "safe")),
        )
    )
    assert [line.strip() for line in text.splitlines() if line.startswith(("  =", "     "))] == [
        "= server: ERROR 42601: no",
        "HINT: try",
        "this",
        '= notice: NOTICE: identifier "x" will be truncated',
        "= publications: eu, us",
        "= fix: quote it (unsafe)",
        "= fix: drop it",
    ]


def test_findings_of_one_rule_and_statement_are_one_block() -> None:
    many = [structs.replace(famous(), object=f"public.t{number}") for number in range(500)]
    text = shown(*many)
    assert text.count("error[PUB301]") == 1
    assert "= 500 tables: public.t0, public.t1, public.t2 and 497 more\n" in text


def test_update_and_delete_of_one_table_are_one_block_with_both_answers() -> None:
    refused = structs.replace(REFUSED, message='cannot delete from table "orders"')
    both = famous(), structs.replace(famous(), operation="delete", server=refused)
    assert shown(*both).count("= server: ERROR 42P10: cannot ") == 1
    text = shown(*both, verbose=True)
    assert text.count("error[PUB301]") == 1
    assert text.count("= server: ERROR 42P10: cannot ") == 2
    assert " tables:" not in text


def test_other_statements_rules_and_standings_are_blocks_of_their_own() -> None:
    other = structs.replace(famous(), object="public.b")
    findings = [
        famous(),
        structs.replace(other, rule="PUB305"),
        structs.replace(other, certainty="assumed"),
        structs.replace(other, postgres=(15,)),
        structs.replace(other, statement=StatementRef(ORDERS, 2, 0)),
    ]
    assert shown(*findings).count("[PUB30") == 5


def test_related_places_in_other_files_follow() -> None:
    tables = Source("tables.sql", "-- ours\nCREATE TABLE orders (id int PRIMARY KEY);")
    text = shown(structs.replace(famous(), related=(span(tables, "id", "the key is (id)"),)))
    assert text.splitlines()[2:9] == [
        "  |",
        "6 | CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'eu');",
        "  |                                               ^^^^^^ not part of the replica identity",
        " ::: tables.sql:2",
        "  |",
        "2 | CREATE TABLE orders (id int PRIMARY KEY);",
        "  |                      -- the key is (id)",
    ]


def test_marks_stand_under_tabs_and_wide_and_combining_characters() -> None:
    source = Source("a.sql", "a\tb 日本 e\u0301 mark")
    assert excerpt(span(source, "mark")) == "  |\n1 | a   b 日本 e\u0301 mark\n  |              ^^^^"
    assert excerpt(span(source, "日本")) == "  |\n1 | a   b 日本 e\u0301 mark\n  |       ^^^^"


def test_a_place_without_length_gets_one_caret() -> None:
    assert excerpt(Span(Source("a.sql", "abc"), 3, 3)) == "  |\n1 | abc\n  |    ^"


def test_a_file_without_text_gets_no_excerpt() -> None:
    assert shown(diagnostic(Span(Source("a.sql", ""), 0, 0))).splitlines()[1:] == [" --> a.sql:1:1", ""]


def test_a_long_line_is_cut_around_its_mark() -> None:
    source = Source("a.sql", "x, " * 200_000 + "needle" + ", y" * 200_000)
    lines = excerpt(span(source, "needle")).splitlines()
    assert len(lines[1]) < 180
    assert lines[1].startswith("1 | …")
    assert lines[1].endswith("…")
    assert lines[1].index("needle") == lines[2].index("^")


def test_a_long_mark_on_a_long_line_keeps_its_beginning() -> None:
    source = Source("a.sql", "b" * 1000 + "x" + "y" * 10_000)
    lines = excerpt(Span(source, 1000, 11_001)).splitlines()
    assert lines[1].index("x") == lines[2].index("^")
    assert len(lines[2]) <= len(lines[1]) < 180


def test_a_span_over_several_lines_marks_each_and_speaks_once() -> None:
    source = Source("a.sql", "one\r\n  two\r\nthree")
    assert excerpt(Span(source, 1, len(source.text), "all")).splitlines() == [
        "  |",
        "1 | one",
        "  |  ^^",
        "2 |   two",
        "  |   ^^^",
        "3 | three",
        "  | ^^^^^ all",
    ]


def test_a_span_over_many_lines_shows_the_first_and_the_last() -> None:
    source = Source("a.sql", "\n".join(f"line {number}" for number in range(1, 41)))
    numbers = re.findall(r"^ ?(\d+) \|", excerpt(Span(source, 0, len(source.text))), re.MULTILINE)
    assert numbers == ["1", "2", "3", "4", "5", "40"]


def test_nothing_in_a_file_reaches_the_terminal_as_a_command() -> None:
    source = Source("\x1b]0;evil\x07.sql", "SELECT '\x1b[2J\u202e' AS \x9b31m")
    text = shown(
        diagnostic(
            span(source, "SELECT"),
            message="relation \x1b[1m is\nmissing",
            server=ServerAnswer("42P01", "bell \x07"),
            object="a\x1b",
        )
    )
    assert "1 | SELECT '\\x1b[2J\\u202e' AS \\x9b31m\n" in text
    assert "relation \\x1b[1m is missing" in text
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)


def test_colour_changes_nothing_but_colour() -> None:
    report = reported(famous(), diagnostic(span(ORDERS, "eu"), severity="warning", certainty="assumed"))
    plain, colored = ("".join(render(report, color=color)) for color in (False, True))
    assert "\x1b[1;31m" in colored
    assert re.sub("\x1b\\[[0-9;]*m", "", colored) == plain


@given(st.text(), st.data())
def test_any_text_and_place_can_be_shown(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    lines = excerpt(Span(Source("a.sql", text), start, end)).splitlines()
    assert any("^" in line for line in lines) or not text


@given(st.text())
def test_escaped_text_is_one_printable_line(text: str) -> None:
    assert len(escape(text).splitlines()) <= 1
    assert len_display(text) >= 0
