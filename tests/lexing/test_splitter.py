"""Splitting a text into statements and psql commands as PostgreSQL's scan.l and psql's psqlscan.l do."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pglast.parser import split

from pubcheck.lexing.items import PsqlCommand, Statement
from pubcheck.lexing.placeholders import filled
from pubcheck.lexing.splitter import Splitter
from pubcheck.source import Source


def items(text: str) -> list[Statement | PsqlCommand]:
    return list(Splitter(Source("test", text)))


def statements(text: str) -> list[Statement]:
    return [item for item in items(text) if isinstance(item, Statement)]


def texts(text: str) -> list[str]:
    return [item.text for item in items(text)]


def recovered(text: str, refused: Callable[[Statement], bool] = lambda statement: True) -> list[str]:
    """The statements' texts when the linter asks to recover from each that ``refused`` says the parser refuses."""
    splitter = Splitter(Source("test", text))
    pieces: list[str] = []
    for item in splitter:
        if isinstance(item, Statement) and refused(item):
            shortened = splitter.recover(item)
            if shortened is not None:
                assert (shortened.index, shortened.start) == (item.index, item.start)
                assert item.text.startswith(shortened.text)
                item = shortened
        assert text[item.start : item.end] == item.text
        if isinstance(item, Statement):
            assert item.index == len(pieces)
            assert len(item.sql) == len(item.text)
            pieces.append(item.text)
    return pieces


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \t\r\n\f\v;;; ;-- x;\n/* y; */;", []),
        ("SELECT 1", ["SELECT 1"]),
        (" SELECT 1 ;\n\nSELECT 2;", ["SELECT 1", "SELECT 2"]),
        ("SELECT 1 -- a; b\n -- c\n;SELECT 2 /* ; */ ; ", ["SELECT 1", "SELECT 2"]),
        ("SELECT -- a; b\n 1; SELECT /* ; */ 2", ["SELECT -- a; b\n 1", "SELECT /* ; */ 2"]),
        ("SELECT 1 --\r; SELECT 2", ["SELECT 1", "SELECT 2"]),
        ("/* a /* b; */ ; */ SELECT 1; /* c **/ SELECT 2", ["SELECT 1", "SELECT 2"]),
        ("SELECT 1 /*/ ; */ ; SELECT 2", ["SELECT 1", "SELECT 2"]),
        ("SELECT 2*/*;*/3; SELECT 4--;\n", ["SELECT 2*/*;*/3", "SELECT 4"]),
        ("SELECT 1 - -1; SELECT a->>'x' / 2", ["SELECT 1 - -1", "SELECT a->>'x' / 2"]),
        ("SELECT 'it''s; a \\'; SELECT ';';", ["SELECT 'it''s; a \\'", "SELECT ';'"]),
        ("SELECT E'it\\'s; \\\\'; SELECT e';''\\';'", ["SELECT E'it\\'s; \\\\'", "SELECT e';''\\';'"]),
        ("SELECT type'\\'; SELECT 1;", ["SELECT type'\\'", "SELECT 1"]),
        ("SELECT E'a' -- x\n 'b\\';'; SELECT 1", ["SELECT E'a' -- x\n 'b\\';'", "SELECT 1"]),
        ("SELECT E'a' 'b\\'; SELECT 1", ["SELECT E'a' 'b\\'", "SELECT 1"]),
        ("SELECT U&'\\', B';', U&\"\\;\"; SELECT 1", ["SELECT U&'\\', B';', U&\"\\;\"", "SELECT 1"]),
        ('SELECT "a"";b"; SELECT 1', ['SELECT "a"";b"', "SELECT 1"]),
        ("DO $$ ; $a$ ; $$; SELECT $q$;$$;$q$;", ["DO $$ ; $a$ ; $$", "SELECT $q$;$$;$q$"]),
        ("SELECT $größe$;$größe$; SELECT 1", ["SELECT $größe$;$größe$", "SELECT 1"]),
        ("SELECT $a$;$b$a$; SELECT 1", ["SELECT $a$;$b$a$", "SELECT 1"]),
        ("SELECT a$$; SELECT b1$x$; SELECT é$$;", ["SELECT a$$", "SELECT b1$x$", "SELECT é$$"]),
        ("EXECUTE p($1); SELECT $1, $2$$;$$", ["EXECUTE p($1)", "SELECT $1, $2$$;$$"]),
        ("SELECT $$a$$$b$;$b$; SELECT 1", ["SELECT $$a$$$b$;$b$", "SELECT 1"]),
        ("CREATE RULE r AS DO (a; b); SELECT 1", ["CREATE RULE r AS DO (a; b)", "SELECT 1"]),
        ("SELECT ((((((1;)))))); SELECT ')', (1);", ["SELECT ((((((1;))))))", "SELECT ')', (1)"]),
        ("SELECT 1); SELECT (2);", ["SELECT 1)", "SELECT (2)"]),
        ("\u00a0SELECT 1; SELECT\u00a02", ["\u00a0SELECT 1", "SELECT\u00a02"]),
        ("\ufeffSELECT 1", ["SELECT 1"]),
        ("SELECT 1;\r\nSELECT\r\n2\r\n;\r\n", ["SELECT 1", "SELECT\r\n2"]),
        ("SELECT 'größe;', \U0001f418; SELECT 2", ["SELECT 'größe;', \U0001f418", "SELECT 2"]),
        ("+; 'a'; (SELECT 1)", ["+", "'a'", "(SELECT 1)"]),
    ],
)
def test_statements_end_where_the_server_and_psql_end_them(text: str, expected: list[str]) -> None:
    parts = statements(text)
    assert [statement.text for statement in parts] == expected
    assert [statement.index for statement in parts] == list(range(len(expected)))
    for statement in parts:
        assert text[statement.start : statement.end] == statement.text
        assert statement.sql is statement.text


@pytest.mark.parametrize(
    ("text", "keyword"),
    [
        ("Create Table t ()", "create"),
        ("(( select 1))", "select"),
        ('"create"', ""),
        ("+ 1", ""),
        ("/* unterminated", ""),
        ("COPY t FROM stdin", "copy"),
    ],
)
def test_the_keyword_is_the_first_word_in_lower_case(text: str, keyword: str) -> None:
    assert [statement.keyword for statement in statements(text + ";")] == [keyword]


ATOMIC = "CREATE OR REPLACE /* x */ FUNCTION f() RETURNS int LANGUAGE sql\nBEGIN ATOMIC\n{}\nEND"


@pytest.mark.parametrize(
    "statement",
    [
        ATOMIC.format("SELECT 1; SELECT 2;"),
        ATOMIC.format("SELECT CASE WHEN a THEN CASE b WHEN 1 THEN 2 END ELSE 3 END; SELECT 1;"),
        ATOMIC.format("SELECT (CASE WHEN a THEN 1 END); SELECT 'END;' || $$END;$$; -- END;\n"),
        ATOMIC.format('SELECT t.end, t.case FROM t; SELECT endless, "end";'),
        "create procedure p() begin /* x */ atomic insert into t values (1); end",
        "CREATE FUNCTION begin() RETURNS int LANGUAGE sql AS $x$ SELECT 1; $x$",
        "CREATE FUNCTION atomic() RETURNS int LANGUAGE sql AS $$ SELECT 1; $$",
        "CREATE FUNCTION case_end() RETURNS int LANGUAGE sql RETURN CASE WHEN a THEN 1 END",
        "BEGIN ATOMIC",
        "CREATE TABLE begin (atomic int)",
    ],
)
def test_a_body_of_begin_atomic_is_one_statement(statement: str) -> None:
    assert texts(f"{statement};\nSELECT 3;") == [statement, "SELECT 3"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("COPY t FROM stdin;\n1;'\n\\.\nSELECT 1;", ["COPY t FROM stdin", "SELECT 1"]),
        ('copy s.t (a, "b)") From\nSTDIN csv;\n\\.\nSELECT 1;', ['copy s.t (a, "b)") From\nSTDIN csv', "SELECT 1"]),
        ("COPY BINARY t FROM stdin;\r\n\\.x\r\n\\.\r\nSELECT 1;", ["COPY BINARY t FROM stdin", "SELECT 1"]),
        ("COPY t FROM stdin; -- to the end\n1;\n2;", ["COPY t FROM stdin"]),
        ("COPY t FROM stdin;", ["COPY t FROM stdin"]),
        ("COPY t FROM stdin \\g\nSELECT\n\\.\nSELECT 1", ["COPY t FROM stdin", "\\g", "SELECT 1"]),
        ("COPY t FROM stdin; SELECT 1;\n;'\n\\.\nSELECT 2", ["COPY t FROM stdin", "SELECT 1", "SELECT 2"]),
        ("COPY t FROM stdin;COPY u FROM stdin;\n;\n\\.\n;\n\\.\nz", ["COPY t FROM stdin", "COPY u FROM stdin", "z"]),
        ("COPY t FROM 'stdin';\nSELECT 1;", ["COPY t FROM 'stdin'", "SELECT 1"]),
        ("COPY t FROM PROGRAM 'x';\nSELECT 1;", ["COPY t FROM PROGRAM 'x'", "SELECT 1"]),
        ("COPY (SELECT 1 FROM stdin) TO stdout;\nSELECT 1;", ["COPY (SELECT 1 FROM stdin) TO stdout", "SELECT 1"]),
        ("\\copy t from stdin\n;'\n\\.\nSELECT 1", ["\\copy t from stdin", "SELECT 1"]),
        ("\\COPY t from stdin\n;'\n\\.\nSELECT 1", ["\\COPY t from stdin", "SELECT 1"]),
        ("\\COPY t from 'it''s' \\ ;\nSELECT 1", ["\\COPY t from 'it''s' \\ ;", "SELECT 1"]),
        ("\\copy t from 'it.csv' \\ ;\nSELECT 1", ["\\copy t from 'it.csv' \\ ;", "SELECT 1"]),
        ("\\copy t from pstdin\nSELECT 1", ["\\copy t from pstdin", "SELECT 1"]),
    ],
)
def test_copy_data_are_no_statements(text: str, expected: list[str]) -> None:
    assert texts(text) == expected
    assert [statement.index for statement in statements(text)] == list(range(len(statements(text))))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\\set x 1\n\\echo :x ; y\r\nSELECT 1;", ["\\set x 1", "\\echo :x ; y", "SELECT 1"]),
        ("SELECT 1 \\gset p_\nSELECT 2", ["SELECT 1", "\\gset p_", "SELECT 2"]),
        ("(SELECT 1 \\gexec\nSELECT 2", ["(SELECT 1", "\\gexec", "SELECT 2"]),
        ("SELECT 1 \\bind 'a' \\g\nSELECT 2", ["SELECT 1", "\\bind 'a'", "\\g", "SELECT 2"]),
        ("SELECT 1 \\crosstabview a\nSELECT 2\\g", ["SELECT 1", "\\crosstabview a", "SELECT 2", "\\g"]),
        ("SELECT 1\\; SELECT 2 \\;\\; SELECT 3;", ["SELECT 1", "SELECT 2", "SELECT 3"]),
        ("\\pset x \\\\ SELECT 1;", ["\\pset x", "SELECT 1"]),
        ("\\\\ SELECT 1;\nSELECT 2;", ["\\\\ SELECT 1;", "SELECT 2"]),
        ("\\echo 'a \\\\ b' `c \\\\` \"d \\\\\"\nSELECT 1;", ["\\echo 'a \\\\ b' `c \\\\` \"d \\\\\"", "SELECT 1"]),
        ("\\if :x \\echo it's\n\\endif", ["\\if :x", "\\echo it's", "\\endif"]),
        ("\\! ls \\\\ ; x\nSELECT 1;", ["\\! ls \\\\ ; x", "SELECT 1"]),
        ("SELECT 1 \\q\nSELECT 2;", ["SELECT 1", "\\q", "SELECT 2"]),
        ("SELECT 1 \\r\nSELECT 2;", ["\\r", "SELECT 2"]),
        ("SELECT '\\g', \"\\g\", $$\\g$$ -- \\g\n/* \\g */;", ["SELECT '\\g', \"\\g\", $$\\g$$"]),
        ("\\", ["\\"]),
    ],
)
def test_psql_commands_are_told_from_statements(text: str, expected: list[str]) -> None:
    assert texts(text) == expected
    for item in items(text):
        assert text[item.start : item.end] == item.text


def test_a_psql_command_within_a_statement_is_blank_to_the_parser() -> None:
    text = "SELECT 1\n\\if :x\n, 2\\:3\n\\endif\n;"
    assert items(text) == [
        Statement(0, 0, 22, text[:22], "select", "SELECT 1\n      \n, 2 :3"),
        PsqlCommand(9, 15, "\\if :x"),
        PsqlCommand(23, 29, "\\endif"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT 1", None),
        ("SELECT a::int, ':x', \":x\", $$:x$$, /* :x */ b := 1 -- :x", None),
        ("SELECT a[1:2]", "SELECT a[1 2]"),
        ("SELECT :x, :'x', :\"x\", :{?x}", "SELECT  x,  'x',  \"x\", true "),
        ("SELECT :::x, :'x y', :\"\", : x", "SELECT :: x, :'x y', :\"\", : x"),
        ("SELECT * FROM :table, :Größe.t_:n LIMIT :limit", 'SELECT * FROM "tabl",  Größe.t__n LIMIT "limi"'),
        ("SELECT :1st", "SELECT  _st"),
    ],
)
def test_psql_variables_are_found_and_filled(text: str, expected: str | None) -> None:
    [statement] = statements(text)
    assert statement.sql is statement.text
    assert next(filled(statement), None) == expected
    for start, end in statement.variables:
        assert statement.text[start] == ":"
        assert end <= len(statement.text)


OFF = "SET standard_conforming_strings = off;\n"
LITERALS = "SELECT 'it\\'s; \\\\', E'\\';', B'\\', U&'\\', X'\\', 'a'';'"


@pytest.mark.parametrize(
    ("setting", "conforming"),
    [
        ("SET standard_conforming_strings = off", False),
        ("set Session /* x */ standard_conforming_strings to 'OFF'", False),
        ("SET LOCAL standard_conforming_strings=0", False),
        ("SELECT set_config('standard_conforming_strings', 'off', true)", False),
        ("select pg_catalog.set_config ( 'standard_conforming_strings','false',false )", False),
        ("SET standard_conforming_strings = on", True),
        ("SET standard_conforming_strings = off x", True),
        ("SET search_path = 'standard_conforming_strings = off'", True),
        (OFF + "SET standard_conforming_strings TO DEFAULT", True),
        (OFF + "RESET standard_conforming_strings", True),
        (OFF + "RESET ALL", True),
        (OFF + "DISCARD ALL", True),
        (OFF + "RESET search_path", False),
        ("BEGIN; SET LOCAL standard_conforming_strings = off; COMMIT", True),
        ("BEGIN; SET standard_conforming_strings = off; COMMIT", False),
        ("BEGIN; SET standard_conforming_strings = off; ROLLBACK", True),
        (OFF + "BEGIN; SAVEPOINT a; ROLLBACK TO a", False),
        (OFF + "BEGIN; SET LOCAL standard_conforming_strings = on; END", False),
    ],
)
def test_backslashes_escape_while_standard_conforming_strings_is_off(setting: str, conforming: bool) -> None:
    *_, literal, last = statements(f"{setting};\nSELECT '\\'; --'\n; SELECT 2")
    assert last.text == "SELECT 2"
    if conforming:
        assert literal.text == literal.sql == "SELECT '\\'"
    else:
        assert (literal.text, literal.sql) == ("SELECT '\\'; --'", "SELECT '''; --'")


def test_the_parser_is_given_doubled_quotes_for_escaped_ones() -> None:
    _, statement, last = statements(f"{OFF}{LITERALS}; SELECT 1")
    assert statement.text == LITERALS
    assert statement.sql == "SELECT 'it''s; \\\\', E'\\';', B'\\', U&'\\', X'\\', 'a'';'"
    assert last.text == "SELECT 1"


GOOD = "CREATE TABLE b (id int);\nSELECT 2;"
AFTER = ["CREATE TABLE b (id int)", "SELECT 2"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("INSERT INTO a VALUES ('it's');\n" + GOOD, ["INSERT INTO a VALUES ('it's');", *AFTER]),
        ("SELECT 'x;\n" + GOOD + "\nSELECT 'it';", ["SELECT 'x;", *AFTER, "SELECT 'it'"]),
        ('SELECT "x;\n\n  ' + GOOD, ['SELECT "x;', *AFTER]),
        ("SELECT (1;\nSELECT 3;\n" + GOOD, ["SELECT (1;\nSELECT 3;", *AFTER]),
        ("SELECT 1 $$x;\n" + GOOD, ["SELECT 1 $$x;", *AFTER]),
        ("SELECT 1 /* x;\n" + GOOD, ["SELECT 1 /* x;", *AFTER]),
        ("/* x /* y */;\n" + GOOD, ["/* x /* y */;", *AFTER]),
        ("SELECT E'x\\';\n" + GOOD, ["SELECT E'x\\';", *AFTER]),
        ("CREATE TABLE a (id int)\n" + GOOD, ["CREATE TABLE a (id int)", *AFTER]),
        ("CREATE TABLE a (id int) -- no end\n\n-- b\n" + GOOD, ["CREATE TABLE a (id int)", *AFTER]),
        ("COPY t FROM stdin\n" + GOOD, ["COPY t FROM stdin", *AFTER]),
        ("CREATE FUNCTION f() BEGIN ATOMIC SELECT 1;\n" + GOOD, ["CREATE FUNCTION f() BEGIN ATOMIC SELECT 1;", *AFTER]),
        ("x y\r\n\tdrop a;\r\nz", ["x y", "drop a", "z"]),
        ("x\rDO $$ $$", ["x", "DO $$ $$"]),
        ("x\ncreates y\ndo_it\nalter$ z", ["x\ncreates y\ndo_it\nalter$ z"]),
        ("x CREATE y;\nCREATE z", ["x CREATE y", "CREATE z"]),
        ("x -- \nCREATE y", ["x", "CREATE y"]),
        ("x /*\nCREATE y\n*/ z\nDROP a", ["x /*\nCREATE y\n*/ z", "DROP a"]),
        ("x $$\nCREATE y\n$$ z", ["x $$\nCREATE y\n$$ z"]),
        (
            "x '\nCREATE FUNCTION f() AS $$\nCREATE y;\n$$;\nDROP z",
            ["x '", "CREATE FUNCTION f() AS $$\nCREATE y;\n$$", "DROP z"],
        ),
        ("x '\nCREATE y (\nDO z;\na ';\nb;\nDROP c", ["x '", "CREATE y (", "DO z", "a ';\nb;", "DROP c"]),
        (
            "x '\nCREATE t;\nCOPY t FROM stdin;\nDROP '\n\\.\ny';\nz;",
            ["x '", "CREATE t", "COPY t FROM stdin", "y';\nz;"],
        ),
        ("x '\nCREATE y 'a;\nb\nc';\nd;", ["x '", "CREATE y 'a;\nb\nc'", "d"]),
    ],
)
def test_what_follows_a_refused_statement_is_found_again(text: str, expected: list[str]) -> None:
    assert recovered(text) == expected


def test_the_statement_after_a_recovery_is_split_whole_again() -> None:
    body = "CREATE FUNCTION f() AS '\nCREATE x;\n'"
    text = f"a (\nCREATE b);\n{body};"
    assert recovered(text, lambda statement: statement.text != body) == ["a (", "CREATE b)", body]


def test_a_statement_that_is_not_refused_stays_whole() -> None:
    text = "CREATE FUNCTION f() AS '\nCREATE a;\n' || (\nDROP b\n);"
    assert texts(text) == [text[:-1]]


def test_only_the_last_statement_can_be_recovered_from() -> None:
    splitter = Splitter(Source("test", "a; b;"))
    first, _ = list(splitter)
    assert isinstance(first, Statement)
    with pytest.raises(ValueError, match="only the last statement can be recovered"):
        splitter.recover(first)


def test_commands_within_a_refused_statement_are_not_told_twice() -> None:
    splitter = Splitter(Source("test", "x ( \\if 1\n,\nCREATE y;\n\\endif\n;\nCREATE z );"))
    pieces = []
    for item in splitter:
        shortened = splitter.recover(item) if isinstance(item, Statement) else None
        pieces.append((shortened or item).text)
    assert pieces == ["x ( \\if 1\n,", "\\if 1", "CREATE y", "\\endif", "CREATE z )"]


class Counting(Splitter):
    """Counts the characters that it reads one statement after another."""

    read = 0

    def _lex(self, start: int, *, is_dead: bool = False):  # type: ignore[no-untyped-def]
        lexed = super()._lex(start, is_dead=is_dead)
        self.read += lexed.resume - start
        return lexed

    def _ordinary(self, matched: re.Match[str]) -> Statement | None:
        self.read += matched.end() - matched.start()
        return super()._ordinary(matched)


LINES = 2_000


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("CREATE x\n" * LINES, LINES),
        ("CREATE 'x\n" * LINES, LINES),
        ("CREATE 'x;\n" * LINES, LINES),
        ("it's;\n" * LINES, LINES // 2),
        ('CREATE "x\n' * LINES, LINES),
        ("CREATE (x;\n" * LINES, LINES),
        ("CREATE /* x\n" * LINES, LINES),
        ("CREATE /* x\n" * LINES + "*/", 1),
        ("CREATE x */* /*\n" * LINES + "a", 1),
        ("".join(f"CREATE $a{i}$\n" for i in range(LINES)), LINES),
        ("".join(f"CREATE ' $a{i}$ ';\n" for i in range(LINES)), LINES),
        ("CREATE E'x\\\n" * LINES, LINES),
        ("CREATE FUNCTION f() BEGIN ATOMIC x;\n" * LINES, LINES),
        ("COPY t FROM stdin\nCREATE x;\n" * LINES + "\\.\n", 2 * LINES),
        ("COPY t FROM stdin;" * LINES, LINES),
        ("SELECT 1 \\x\n" * LINES, 1),
        ("a\n" + "(" * 100_000 + "\n;" + ")" * 100_000, 1),
        ("/*" * 100_000 + "*/" * 100_000 + "x", 1),
        ("SELECT '" + "x" * 1_000_000 + "größe", 1),
        ("ж" * 1_000_000 + " '\nDO " + "ж" * 1_000_000, 2),
    ],
    ids=lambda value: repr(value[:24]) if isinstance(value, str) else "",
)
def test_each_character_is_read_a_bounded_number_of_times(text: str, least: int) -> None:
    splitter = Counting(Source("test", text))
    count = 0
    for item in splitter:
        if isinstance(item, Statement):
            count += 1
            splitter.recover(item)
    assert count >= least
    assert splitter.read <= 6 * len(text)


def test_a_search_that_failed_is_not_made_again() -> None:
    opened = "".join(f"CREATE $a{i}$ /* \n" for i in range(100))
    splitter = Splitter(Source("test", opened))
    for item in splitter:
        assert isinstance(item, Statement)
        splitter.recover(item)
    assert splitter._ends_of._last_dollar_quote is not None
    assert splitter._ends_of.comment(len(opened) - 4) == -1
    nested = Splitter(Source("test", "CREATE /* /* */\nCREATE /* /* */ x"))
    pieces = []
    for item in nested:
        assert isinstance(item, Statement)
        pieces.append((nested.recover(item) or item).text)
    assert pieces == ["CREATE /* /* */", "CREATE /* /* */ x"]


class Careful(Splitter):
    """Reads every statement token by token."""

    def _ordinary(self, matched: re.Match[str]) -> Statement | None:
        return None


FRAGMENTS = (
    "SELECT 1",
    "CREATE t",
    "create or replace function f()",
    "DO",
    "begin atomic",
    "case",
    "end",
    "\n",
    " ",
    "\r\n",
    ";",
    "(",
    ")",
    "'",
    '"',
    "$$",
    "$_$",
    "$a$",
    "$1",
    "a$",
    "/*",
    "*/",
    "--",
    "-",
    "/",
    ":",
    "::",
    ":x",
    ":'x'",
    "E'",
    "e",
    "\\'",
    "\\",
    "\\g",
    "\\;",
    "\\r",
    "x",
    "é",
    "\nCREATE ",
    "\n  drop ",
    "COPY t FROM stdin;",
    "\n\\.\n",
    "SET standard_conforming_strings = off;",
    "U&'",
)
rubbish = st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join)


@given(rubbish, st.booleans())
def test_the_quick_way_and_the_careful_way_agree(text: str, refuse: bool) -> None:
    def run(splitter: Splitter) -> list[Statement | PsqlCommand]:
        pieces = []
        for item in splitter:
            if refuse and isinstance(item, Statement):
                item = splitter.recover(item) or item
            pieces.append(item)
        return pieces

    source = Source("test", text)
    assert run(Splitter(source)) == run(Careful(source))


@given(rubbish)
def test_offsets_are_exact_and_ascend_whatever_the_text(text: str) -> None:
    end = index = 0
    for item in items(text):
        assert 0 <= item.start < item.end <= len(text)
        assert text[item.start : item.end] == item.text
        assert item.text.strip(" \t\n\r\f\v") == item.text
        assert item.start >= end
        end = item.start
        if isinstance(item, Statement):
            assert item.index == index
            assert len(item.sql) == len(item.text)
            assert all(len(text) == len(item.text) for text in filled(item))
            index += 1


@given(rubbish)
def test_a_recovery_loses_no_offset(text: str) -> None:
    recovered(text)


WELL_FORMED = (
    "SELECT 1",
    "SELECT 'it''s; --', \"a;b\", $$;'$$, $x$ $$; $x$, E'\\';'",
    "SELECT 'a'\n  'b;', E'c'\n'\\';'",
    "SELECT a - -1, b->>'c', d::int / 2 FROM t -- ; '\n WHERE e = 1",
    "SELECT (1 /* ; ' /* \" */ $$ */), (((((2)))))",
    "CREATE TABLE s.t (id int PRIMARY KEY, a text DEFAULT ';)', b$ int)",
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $_$ SELECT 1; SELECT 2; $_$",
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 1; SELECT CASE WHEN true THEN 1 END; END",
    "CREATE OR REPLACE PROCEDURE p() LANGUAGE sql BEGIN ATOMIC INSERT INTO t VALUES (1); END",
    "CREATE RULE r AS ON INSERT TO t DO ALSO (DELETE FROM u; NOTIFY x)",
    "DO $$ BEGIN PERFORM 1; END $$",
    "ALTER PUBLICATION p ADD TABLE t WHERE (a = ';')",
    "INSERT INTO t VALUES (B'01', X'1F', N'x', U&'\\0061', U&\"d\\0061\")",
)
GAPS = (" ", "\n", "\r\n", "\t", "-- it's ; a (comment\n", "/* it's /* nested; */ $$ */", "\f\v")
gap = st.lists(st.sampled_from(GAPS), max_size=3).map("".join)


@given(st.lists(st.tuples(gap, st.sampled_from(WELL_FORMED), gap), max_size=6), st.booleans(), gap)
def test_well_formed_sql_is_split_as_the_parser_splits_it(
    parts: list[tuple[str, str, str]], terminated: bool, last: str
) -> None:
    text = ";".join("".join(part) for part in parts) + (";" if terminated and parts else "") + last
    pieces = statements(text)
    assert [statement.text for statement in pieces] == [written for _, written, _ in parts]
    ends = 0
    for statement, (before, written, after) in zip(pieces, parts, strict=True):
        assert statement.start == ends + len(before)
        assert statement.end == statement.start + len(written)
        ends = statement.end + len(after) + 1
    for with_parser in (True, False):
        # libpg_query's scanner variant ends some bodies of BEGIN ATOMIC too early.
        if parts and (with_parser or "ATOMIC" not in text):
            slices = split(text, with_parser=with_parser, only_slices=True)
            # The comments around a statement are part of pglast's slices, not of ours.
            assert [bare(text[whole]) for whole in slices] == [statement.text for statement in pieces]


def bare(text: str) -> str:
    """A statement without what stands around it: its first occurrence of any that we know."""
    return next(written for written in sorted(WELL_FORMED, key=len, reverse=True) if written in text)
