"""Conditions, included files and connections of psql scripts. What runs is what psql 15 ran."""

from __future__ import annotations

import pytest

from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.lexing.items import PsqlCommand
from pubcheck.lexing.psql import Branches, Connection, assign, connection, included
from pubcheck.lexing.splitter import Splitter
from pubcheck.source import Source
from tests.support.linting import answers, covered, lint

T = "CREATE TABLE t (id int PRIMARY KEY, a int);\n"
REFUSED = "CREATE PUBLICATION p FOR TABLE t WHERE (a = 'x');\n"


def _runs(script: str) -> dict[str, bool | None]:
    """Of each statement, a name: whether it runs."""
    branches, runs = Branches(), {}
    for item in Splitter(Source("x.sql", script)):
        if isinstance(item, PsqlCommand):
            branches.follow(item)
        else:
            runs[item.text] = branches.runs
    return runs


def _command(text: str) -> PsqlCommand:
    return PsqlCommand(0, len(text), text)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("\\if true\na;\n\\elif true\nb;\n\\else\nc;\n\\endif\nd;", {"a": True, "b": False, "c": False, "d": True}),
        ("\\if off\na;\n\\elif 1\nb;\n\\else\nc;\n\\endif\nd;", {"a": False, "b": True, "c": False, "d": True}),
        ("\\if :x\na;\n\\else\nb;\n\\endif\nc;", {"a": None, "b": None, "c": True}),
        ("\\if :x\na;\n\\elif true\nb;\n\\else\nc;\n\\endif", {"a": None, "b": None, "c": False}),
        ("\\if false\n\\if :x\na;\n\\else\nb;\n\\endif\n\\endif\nc;", {"a": False, "b": False, "c": True}),
        ("\\if :x\n\\if true\na;\n\\endif\n\\endif", {"a": None}),
        ("\\if nonsense\na;\n\\else\nb;\n\\endif", {"a": False, "b": True}),
        ("\\if true false\na;\n\\endif", {"a": False}),
        ("\\endif\n\\else\na;", {"a": True}),
        ("a;\n\\q\nb;", {"a": True, "b": False}),
        ("\\if :x\n\\q\n\\endif\na;", {"a": None}),
        ("\\if false\n\\q\n\\endif\na;", {"a": True}),
    ],
)
def test_branches_of_conditions(script: str, expected: dict[str, bool | None]) -> None:
    assert _runs(script) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("\\c shop", Connection("shop", "")),
        ("\\connect - app", Connection("", "app")),
        ("\\c", Connection("", "")),
        ('\\c "Shop" app host 5432', Connection("Shop", "app", "host:5432")),
        ("\\connect -reuse-previous=on \"dbname='shop'\"", Connection("shop", "")),
        ("\\c postgresql://host:5432/shop?sslmode=off", Connection("shop", "", "host:5432")),
        ("\\c :DBNAME", Connection("", "")),
        ("\\copy t from x", None),
    ],
)
def test_connections(command: str, expected: Connection | None) -> None:
    assert connection(_command(command)) == expected


def test_included_files() -> None:
    assert [included(_command(command)) for command in ("\\i 'a b.sql'", "\\ir ../c.sql ", "\\if x")] == [
        "a b.sql",
        "../c.sql",
        None,
    ]


def test_a_branch_that_is_dead_is_passed_over() -> None:
    assert answers(lint(T + "\\if false\n" + REFUSED + "\\endif\n", complete=True)) == []


def test_in_a_branch_that_may_run_everything_is_assumed() -> None:
    script = "\\if :x\nALTER TABLE t ADD b int;\n" + REFUSED + "\\endif\n"
    findings = lint(T + script + "CREATE PUBLICATION q FOR TABLE t WHERE (b = 1 AND c = 1);", complete=True)
    assert {finding.certainty for finding in findings} == {"assumed"}


@pytest.mark.parametrize("command", ["\\i other.sql", "\\ir sub/other.sql", "SELECT 'ALTER TABLE t ADD b int' \\gexec"])
def test_what_psql_runs_from_elsewhere_is_not_followed(command: str) -> None:
    findings = lint(T + command + "\nCREATE PUBLICATION p FOR TABLE t WHERE (b = 1);", complete=True)
    assert [answer[::2] for answer in answers(findings)] == [("42703", "assumed")]


def test_an_included_file_among_the_sources_is_followed() -> None:
    findings = lint("CREATE TABLE u ();", T + "\\i 1.sql\n" + "CREATE PUBLICATION p FOR TABLE t WHERE (b = 1);")
    assert [answer[::2] for answer in answers(findings)] == [("42703", "certain")]


@pytest.mark.parametrize(
    ("script", "sqlstates"),
    [
        ("SET search_path = pg_catalog;\n\\c -\n" + REFUSED, ["22P02"]),
        ("BEGIN; DROP TABLE t;\n\\c\n" + REFUSED, ["22P02"]),
        ("CREATE TEMP TABLE t (a text);\n\\c -\n" + REFUSED, ["22P02"]),
        ("CREATE DATABASE shop;\n\\c shop\nCREATE TABLE t (a text);\n" + REFUSED, []),
        ("CREATE SCHEMA s; ALTER ROLE postgres SET search_path = s;\n\\c -\nCREATE TABLE t (a text);\n" + REFUSED, []),
        ("CREATE ROLE app;\n\\c - app\nCREATE PUBLICATION p FOR ALL TABLES;", ["42501"]),
        ("CREATE ROLE app;\n\\c shop app\nCREATE PUBLICATION p FOR ALL TABLES;", ["42501"]),
        (
            "\\c shop\nCREATE PUBLICATION p;\n\\c shop2\nCREATE PUBLICATION p;\n\\c shop\nCREATE PUBLICATION p;",
            ["42710"],
        ),
    ],
)
def test_another_connection(script: str, sqlstates: list[str]) -> None:
    assert [answer[0] for answer in answers(lint(T + script, complete=True))] == sqlstates


def _sent(script: str, **variables: str) -> list[str]:
    """What is sent of a script; a question mark before what holds a value that is not known."""
    branches, messages, before = Branches(), [], ""
    for item in Splitter(Source("x.sql", script), variables):
        if isinstance(item, PsqlCommand):
            if not branches.follow(item, variables):
                assign(item, variables, before, runs=branches.runs)
        elif branches.runs is not False:
            before = item.text
            messages.append("?" * bool(item.variables) + item.sent())
    return messages


@pytest.mark.parametrize(
    ("script", "messages"),
    [
        ("\\set AUTOCOMMIT off\n{p}ROLLBACK;\n{p}", []),
        ("\\set AUTOCOMMIT off\n{p}COMMIT;\n{p}", ['publication "p" already exists']),
        ("\\set AUTOCOMMIT off\n{p}\\set AUTOCOMMIT on\nROLLBACK;\n{p}{p}", ['publication "p" already exists']),
    ],
)
def test_without_autocommit_psql_begins_transactions(script: str, messages: list[str]) -> None:
    refusals = answers(lint(T + script.replace("{p}", "CREATE PUBLICATION p FOR TABLE t;\n"), complete=True))
    assert [message for _, message, _ in refusals] == messages


@pytest.mark.parametrize(
    "script",
    [
        "\\if :x\nDROP TABLE t;\n\\endif\n",
        "\\if :x\nDROP SCHEMA s CASCADE;\n\\endif\n",
        "ALTER PUBLICATION q ADD TABL t\nDROP TABLE t;\n",
        "ALTER TABLE t ADD COLUM z int\nDROP SCHEMA s CASCADE;\n",
    ],
)
def test_a_drop_that_may_not_run_refuses_nothing_later(script: str) -> None:
    tables = T + "CREATE SCHEMA s;\nCREATE TABLE s.u (id int PRIMARY KEY);\nCREATE PUBLICATION q;\n"
    refusals = answers(lint(tables + script + "CREATE PUBLICATION p FOR TABLE t, s.u;\n", complete=True))
    assert [finding for finding in refusals if finding[0] in ("42P01", "3F000")] == []


@pytest.mark.parametrize(
    ("script", "variables", "sent"),
    [
        ("SELECT ':x', :x, :'x', :\"x\";", {"x": "a"}, ["SELECT ':x', a, 'a', \"a\""]),
        ("SELECT :'x', :\"x\";", {"x": "b'c\"d"}, ["SELECT 'b''c\"d', \"b'c\"\"d\""]),
        ("SELECT :x;", {"x": "1 + 2"}, ["SELECT 1 + 2"]),
        ("SELECT :x;", {"x": "'a;b'"}, ["SELECT 'a;b'"]),
        ("SELECT :'x';", {"x": "a\\b"}, ["SELECT  E'a\\\\b'"]),
        ("\\set y 'a''b' c\nSELECT :'y';", {}, ["SELECT 'a''bc'"]),
        ("\\set y a b  c\nSELECT :'y';", {}, ["SELECT 'abc'"]),
        ("\\set y 'a\\nb' \"q r\"\nSELECT :'y';", {}, ["SELECT 'a\nb\"q r\"'"]),
        ("\\set y :x\nSELECT :'y';", {"x": "v w"}, ["SELECT 'v w'"]),
        ("\\set y :'x'\nSELECT :y;", {"x": "v'w"}, ["SELECT 'v''w'"]),
        ("\\set y pre:x\nSELECT :'y';", {"x": "v"}, ["SELECT 'prev'"]),
        ("\\set y :\"x\"z\nSELECT :'y';", {"x": "v"}, ["SELECT '\"v\"z'"]),
        ("\\set y\nSELECT :'y';", {}, ["SELECT ''"]),
        ("\\set y '\\101\\x42'\nSELECT :'y';", {}, ["SELECT 'AB'"]),
        ("\\set y 'x:x'\nSELECT :'y';", {"x": "v"}, ["SELECT 'x:x'"]),
        ("\\if :{?x}\nSELECT 1;\n\\else\nSELECT 2;\n\\endif", {"x": ""}, ["SELECT 1"]),
        ("\\if :x\nSELECT 1;\n\\else\nSELECT 2;\n\\endif", {"x": "off"}, ["SELECT 2"]),
        ("SELECT :{?x};", {"x": "1"}, ["SELECT TRUE"]),
        ("SELECT :x, 5;SELECT 9;", {"x": "1; SELECT 2"}, ["SELECT 1", "SELECT 2, 5", "SELECT 9"]),
        (":x\nSELECT 3;", {"x": "SELECT 1; SELECT 2;"}, ["SELECT 1", "SELECT 2", "SELECT 3"]),
        (":x;", {"x": "SELECT 1; SELECT 2;;"}, ["SELECT 1", "SELECT 2"]),
        ("SELECT 1 :x SELECT 3;", {"x": "; SELECT 2;"}, ["SELECT 1", "SELECT 2", "SELECT 3"]),
        (
            "SELECT :x FROM :y;",
            {"x": "1; SELECT 2", "y": "(SELECT 7) q; SELECT 8"},
            ["SELECT 1", "SELECT 2 FROM (SELECT 7) q", "SELECT 8"],
        ),
        ("\\set y 'SELECT 1; SELECT 2'\n:y;", {}, ["SELECT 1", "SELECT 2"]),
        ("SELECT :x;", {"x": "$$a;b$$"}, ["SELECT $$a;b$$"]),
        ("SELECT :x;", {"x": "1 /* c; */"}, ["SELECT 1"]),
        ("SELECT :x, 3;", {"x": "1 -- c\n"}, ["SELECT 1 -- c\n, 3"]),
        ("SELECT 1 AS x \\gset p_\nSELECT :x;", {"x": "z"}, ["SELECT 1 AS x", "SELECT z"]),
        (
            "SELECT 1 AS have FROM pg_class \\gset\nSELECT :pg;",
            {"pg": "z"},
            ["SELECT 1 AS have FROM pg_class", "SELECT z"],
        ),
        ('SELECT $$:x$$, ":x", :x::text;', {"x": "1"}, ['SELECT $$:x$$, ":x", 1::text']),
    ],
)
def test_what_is_sent_is_what_psql_15_sent(script: str, variables: dict[str, str], sent: list[str]) -> None:
    assert _sent(script, **variables) == sent


@pytest.mark.parametrize(
    ("script", "variables"),
    [
        ("SELECT :x;", {}),
        ("\\unset x\nSELECT :x;", {"x": "1"}),
        ("\\set x `date`\nSELECT :x;", {"x": "1"}),
        ("\\set x :y\nSELECT :x;", {"x": "1"}),
        ("\\getenv x HOME\nSELECT :x;", {"x": "1"}),
        ("\\prompt 'x? ' x\nSELECT :x;", {"x": "1"}),
        ("SELECT :x;", {"x": "1; SELECT :y"}),
        ("SELECT :x;", {"x": "1; \\\\q"}),
        ("SELECT :x;", {"x": "1; SELECT 'open"}),
        ("SELECT :x;", {"x": "'open"}),
        ("\\if :y\n\\set x 2\n\\endif\nSELECT :x;", {"x": "1"}),
    ],
)
def test_a_value_that_is_not_known_or_does_more_than_stand_there_is_not_put_in(
    script: str, variables: dict[str, str]
) -> None:
    assert _sent(script, **variables) == ["?SELECT :x"]


def test_with_its_variables_a_statement_is_judged_for_certain_and_its_place_is_that_of_the_file() -> None:
    source = Source("x.sql", T + "CREATE PUBLICATION :\"p\" FOR TABLE :t WHERE (id > 0 AND a = 'x');\n")
    [finding] = Linter(Config(variables=(("p", "a much longer name"), ("t", "t")))).lint(Unit((source,))).diagnostics
    assert finding.certainty == "certain"
    assert covered(finding.span) == "'x'"
    assert finding.server is not None
    assert (
        finding.server.position == len('CREATE PUBLICATION "a much longer name" FOR TABLE t WHERE (id > 0 AND a = ') + 1
    )


def test_what_a_value_says_besides_is_judged_where_its_variable_stands() -> None:
    script = T + ":setup\nCREATE PUBLICATION q FOR TABLE t WHERE (nope = 1);\n"
    value = "CREATE PUBLICATION p; CREATE PUBLICATION p; ALTER PUBLICATION p ADD TABLE t;"
    config = Config(variables=(("setup", value),))
    findings = [
        finding for finding in Linter(config).lint(Unit((Source("x.sql", script),))).diagnostics if finding.server
    ]
    assert [
        (finding.certainty, finding.statement and finding.statement.index, covered(finding.span))
        for finding in findings
    ] == [
        ("certain", 2, ":setup"),
        ("certain", 4, "nope"),
    ]


@pytest.mark.parametrize(
    "connect",
    [
        "\\c - - - 44293",
        "\\c - - otherhost",
        '\\c "host=otherhost port=1"',
        "\\c postgresql://u:p@otherhost:1/postgres",
        "\\c - - :HOST 1",
    ],
)
def test_another_server_shares_nothing(connect: str) -> None:
    text = f"CREATE ROLE r; CREATE PUBLICATION p;\n{connect}\nCREATE PUBLICATION p;\nCREATE PUBLICATION p;\n"
    refusals = answers(lint(text))
    assert refusals == [("42710", 'publication "p" already exists', "certain")]


def test_the_first_server_is_come_back_to() -> None:
    text = "CREATE PUBLICATION p;\n\\c - - otherhost\nCREATE PUBLICATION q;\n"
    text += '\\c "dbname=postgres"\nCREATE PUBLICATION p;\n'
    assert answers(lint(text)) == [("42710", 'publication "p" already exists', "certain")]


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE PUBLICATION p FOR TABLE t WITH (publish = :'x');",
        "CREATE PUBLICATION p FOR TABLE t WHERE (id > :'x');",
        "CREATE PUBLICATION p FOR TABLE t WHERE (id > :x::int);",
        "CREATE SUBSCRIPTION s CONNECTION :'x' PUBLICATION p WITH (slot_name = :'y', copy_data = :z);",
        "COMMENT ON PUBLICATION q IS :'x';",
    ],
)
def test_of_values_that_are_not_known_nothing_is_reported(statement: str) -> None:
    tables = (
        "CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (id int PRIMARY KEY); CREATE PUBLICATION q FOR TABLE u;"
    )
    assert [finding.rule for finding in lint(f"{tables}\n{statement}") if finding.rule != "PUB009"] == []


_ALREADY = ("42710", 'publication "p" already exists', "certain")
_NOT_THERE = ("42704", 'publication "nope" does not exist', "certain")
_REPEATED = ("42710", 'publication "q" already exists', "certain")
_SYNTAX = ("42601", 'syntax error at or near "PUBLICATIO"', "certain")
_IN_BLOCK = (
    "25001",
    "CREATE SUBSCRIPTION ... WITH (create_slot = true) cannot run inside a transaction block",
    "certain",
)
_OF_ALL = ("55000", 'publication "p" is defined as FOR ALL TABLES', "certain")
_CHOSEN = "CREATE PUBLICATION p\n\\if {}\n FOR ALL TABLES;\n\\else\n FOR TABLE t -- it's;\n;\n\\endif\n"


@pytest.mark.parametrize(
    ("script", "refusals"),
    [
        (_CHOSEN.format("true") + "ALTER PUBLICATION p ADD TABLE t;", [_OF_ALL]),
        (_CHOSEN.format("false") + "ALTER PUBLICATION p DROP TABLE t;", []),
        ("CREATE PUBLICATION p\n\\if false\nFOR '\n\\endif\n;'\n\\endif\n;\nCREATE PUBLICATION p;", [_ALREADY]),
        ("\\if false\nCREATE PUBLICATION p\n\\else\nCREATE PUBLICATION p;\n\\endif\nCREATE PUBLICATION p;", [_ALREADY]),
        ("\\if true\n\\else\n\\else\nCREATE PUBLICATION p;\n\\endif\nCREATE PUBLICATION p;", []),
        ("\\if false\n\\else\n\\elif false\nCREATE PUBLICATION p;\n\\endif\nCREATE PUBLICATION p;", [_ALREADY]),
        ("\\if false\nCOPY t FROM STDIN;\n\\endif\n\\.\n;\nCREATE PUBLICATION p;\nCREATE PUBLICATION p;", [_ALREADY]),
        ("CREATE PUBLICATION p \\gdesc\nCREATE PUBLICATION p;", []),
        ("\\unset AUTOCOMMIT\nCREATE PUBLICATION p;\nROLLBACK;\nCREATE PUBLICATION p;", []),
        ("\\set AUTOCOMMIT off\n\\set AUTOCOMMIT x\nCREATE PUBLICATION p;\nROLLBACK;\nCREATE PUBLICATION p;", []),
        ("CREATE PUBLICATION p;\n\\c postgres;\nCREATE PUBLICATION p;", [_ALREADY]),
        ("SET standard_conforming_strings = off;\n\\c -\nSELECT '\\';\nCREATE PUBLICATION p;\nDROP PUBLICATION p;", []),
        ("CREATE PUBLICATION p \\g\n\\g\n", [_ALREADY]),
        ("CREATE PUBLICATION p;\n\\gx\n", [_ALREADY]),
        ("CREATE PUBLICATION p\n\\r\n\\g\nCREATE PUBLICATION p;", []),
        ("\\g\nCREATE PUBLICATION p; -- ;\n;\nDROP PUBLICATION p\\g\nCREATE PUBLICATION p;", []),
        ("CREATE PUBLICATION q \\; CREATE PUBLICATION p;\n\\g\nCREATE PUBLICATION p;", [_REPEATED, _ALREADY]),
        ("CREATE PUBLICATION p\\; CREATE PUBLICATION p;\nCREATE PUBLICATION p;", [_ALREADY]),
        ("CREATE PUBLICATION p\\; CREATE PUBLICATIO q;\nCREATE PUBLICATION p;", [_SYNTAX]),
        ("BEGIN\\; CREATE PUBLICATION p\\; CREATE PUBLICATIO q;\nCREATE PUBLICATION p;\nROLLBACK;", [_SYNTAX]),
        ("CREATE PUBLICATION p FOR TABLE nope\\; CREATE PUBLICATIO q;\nCREATE PUBLICATION p;", [_SYNTAX]),
        ("CREATE PUBLICATIO p\\; CREATE PUBLICATION q\\; CREATE PUBLICATION q;\nCREATE PUBLICATION q;", [_SYNTAX]),
        ("BEGIN;\nCREATE PUBLICATION p\\; CREATE PUBLICATIO q;\nROLLBACK;\nCREATE PUBLICATION p;", [_SYNTAX]),
        ("CREATE PUBLICATION p\\; SELECT FROM FROM t;\nCREATE PUBLICATION p;", []),
        ("\\set n q\nCREATE PUBLICATION p\\;\n\\set n p\nCREATE PUBLICATION :n;\nCREATE PUBLICATION p;", [_ALREADY]),
        ("CREATE PUBLICATION p\\; ROLLBACK\\; CREATE PUBLICATION q;\nCREATE PUBLICATION p;", []),
        ("CREATE PUBLICATION p\\; BEGIN;\nROLLBACK;\nCREATE PUBLICATION p;", []),
        ("CREATE PUBLICATION p\\; COMMIT\\; DROP PUBLICATION nope;\nCREATE PUBLICATION p;", [_NOT_THERE, _ALREADY]),
        ("CREATE PUBLICATION p\\; SAVEPOINT x;\nCREATE PUBLICATION p;", []),
        ("BEGIN;\nCREATE PUBLICATION p\\; SAVEPOINT x;\nCOMMIT;\nCREATE PUBLICATION p;", [_ALREADY]),
        (
            "CREATE PUBLICATION p\\; DO $$BEGIN DROP TABLE t; DROP TABLE t; END$$;\nCREATE PUBLICATION p FOR TABLE t;",
            [],
        ),
        ("SELECT 1\\; CREATE SUBSCRIPTION s CONNECTION 'host=h' PUBLICATION p;", [_IN_BLOCK]),
        ("CREATE SUBSCRIPTION s CONNECTION 'host=h' PUBLICATION p\\; ;", []),
        ("CREATE SUBSCRIPTION s CONNECTION 'host=h' PUBLICATION p\\; SELECT 1;", [_IN_BLOCK]),
        (
            "\\if false\nSET standard_conforming_strings = off;\n\\endif\n"
            "SELECT '\\';\nCREATE PUBLICATION p;\nCREATE PUBLICATION p;",
            [_ALREADY],
        ),
    ],
)
def test_what_runs_is_what_psql_of_15_to_18_ran(script: str, refusals: list[tuple[str, str, str]]) -> None:
    assert answers(lint(T + script, complete=True)) == refusals


@pytest.mark.parametrize(
    "script",
    [
        _CHOSEN.format(":x") + "ALTER PUBLICATION p ADD TABLE t;",
        "CREATE PUBLICATION p \\parse s\nCREATE PUBLICATION p;",
        "\\set SINGLELINE on\nCREATE PUBLICATION p\nCREATE PUBLICATION q\n",
    ],
)
def test_a_refusal_of_what_may_run_otherwise_is_assumed(script: str) -> None:
    assert {certainty for *_, certainty in answers(lint(T + script, complete=True))} <= {"assumed"}


_P = "CREATE PUBLICATION p;"


@pytest.mark.parametrize(
    ("sources", "refusals"),
    [
        ((f"BEGIN;\n\\i 2.sql\nROLLBACK;\n{_P}", _P), []),
        ((f"\\i 2.sql\n{_P}", _P), [_ALREADY]),
        ((f"\\if false\n\\i 2.sql\n\\endif\n{_P}", _P), []),
        ((f"{_P}\n\\q\n\\i 2.sql", _P), []),
        (("\\set n p\n\\i './2.sql';\nCREATE PUBLICATION :m;", "CREATE PUBLICATION :n;\n\\set m p"), [_ALREADY]),
        ((f"\\c shop;\n\\i 2.sql\n{_P}", f"{_P}\n\\c postgres\n{_P}"), [_ALREADY]),
        (
            (f"\\ir 2.sql\n{_P}\nALTER PUBLICATION p ADD TABLE t;", f"{T}\\i 3.sql", "DROP TABLE t;"),
            [("42P01", 'relation "t" does not exist', "certain")],
        ),
    ],
)
def test_an_included_file_runs_where_it_is_included(
    sources: tuple[str, ...], refusals: list[tuple[str, str, str]]
) -> None:
    assert answers(lint(*sources, complete=True)) == refusals


_MANGLED = ("42P01", 'relation "grÃ¶" does not exist', "certain")
_UNLIKE = ("42P01", 'relation "grĂś" does not exist', "certain")
_GR = "CREATE TABLE grö (id int PRIMARY KEY);\n"
_PUBLISHED = "CREATE PUBLICATION {} FOR TABLE grö;\n"


@pytest.mark.parametrize(
    ("script", "refusals"),
    [
        (_GR + "\\encoding LATIN1\n" + _PUBLISHED.format("p"), [_MANGLED]),
        (_GR + "\\encoding\n" + _PUBLISHED.format("p"), []),
        (_GR + "\\encoding NOPE\n" + _PUBLISHED.format("p"), []),
        (_GR + "\\encoding LATIN1\n\\encoding utf-8\n" + _PUBLISHED.format("p"), []),
        (_GR + "SET client_encoding = 'SQL_ASCII';\n" + _PUBLISHED.format("p"), []),
        (_GR + "SET client_encoding TO win1252;\n" + _PUBLISHED.format("p"), [_MANGLED]),
        (_GR + "SET NAMES 'iso-8859-2';\n" + _PUBLISHED.format("p"), [_UNLIKE]),
        (_GR + "SELECT set_config('client_encoding', 'latin1', false);\n" + _PUBLISHED.format("p"), [_MANGLED]),
        (_GR + "SET client_encoding = latin1;\nRESET client_encoding;\n" + _PUBLISHED.format("p"), []),
        (_GR + "SET client_encoding = latin1;\nSET NAMES DEFAULT;\n" + _PUBLISHED.format("p"), []),
        (_GR + "SET client_encoding = latin1;\n\\c\n" + _PUBLISHED.format("p"), []),
        (_GR + "BEGIN;\nSET LOCAL client_encoding = latin1;\nCOMMIT;\n" + _PUBLISHED.format("p"), []),
        (_GR + "BEGIN;\nSET client_encoding = latin1;\nROLLBACK;\n" + _PUBLISHED.format("p"), []),
        (_GR + "\\encoding LATIN1\n" + _GR + _PUBLISHED.format("p") + "\\encoding UTF8\n" + _PUBLISHED.format("q"), []),
        (
            "SET client_encoding = latin1;\n" + _GR + "SET client_encoding = utf8;\n"
            'CREATE PUBLICATION p FOR TABLE "grÃ¶";\n',
            [],
        ),
        ("SET client_encoding = latin1;\n-- größe\nCREATE PUBLICATION p;\nCREATE PUBLICATION p;\n", [_ALREADY]),
    ],
)
def test_the_server_reads_what_is_not_ascii_in_the_encoding_that_psql_15_and_the_servers_of_15_to_18_used(
    script: str, refusals: list[tuple[str, str, str]]
) -> None:
    assert answers(lint(script, complete=True)) == refusals


@pytest.mark.parametrize(
    "setting", ["SET client_encoding = 'EUC_JP';", "\\encoding :x", "\\if :x\n\\encoding LATIN1\n\\endif"]
)
def test_in_an_encoding_that_is_not_known_what_is_not_ascii_is_assumed(setting: str) -> None:
    refusals = answers(lint(f"{_GR}CREATE PUBLICATION p;\n{setting}\n{_GR}CREATE PUBLICATION p;\n", complete=True))
    assert refusals == [_ALREADY]


def test_bytes_of_a_file_mean_what_the_encoding_says() -> None:
    written = b"\\encoding LATIN1\nCREATE TABLE gr\xf6 (id int);\n\\encoding UTF8\nALTER TABLE gr\xc3\xb6 ADD id int;\n"
    written += b"CREATE PUBLICATION p FOR TABLE gr\xc3\xb6, nope;\nCREATE PUBLICATION p FOR TABLE gr\xf6;\n"
    source = Source("x.sql", written.decode("cp1252"), encoding="windows-1252")
    findings = Linter(Config(complete=True)).lint(Unit((source,))).diagnostics
    assert answers(list(findings)) == [("42P01", 'relation "nope" does not exist', "certain")]


_OPEN = f"{T}BEGIN;\n{_P}\n"


@pytest.mark.parametrize(
    ("scripts", "convention", "reported"),
    [
        ((_OPEN,), "", True),
        ((_OPEN,), "file", True),
        ((f"\\i 2.sql\n{_P}", "BEGIN;"), "psql", True),
        (("\\i 2.sql\nCOMMIT;", _OPEN), "psql", False),
        ((_OPEN,), "flyway", False),
        ((T, "BEGIN;\n" + _P), "folder", False),
        ((f"{_OPEN}PREPARE TRANSACTION 'x';",), "", False),
        ((f"{_OPEN}\\c -\n",), "", False),
        ((f"{_P} \\; CREATE PUBLICATION q;",), "", False),
        ((f"CREATE PUBLICATION q\\; BEGIN;\n{_P}",), "", True),
    ],
)
def test_a_script_that_ends_in_a_transaction(scripts: tuple[str, ...], convention: str, reported: bool) -> None:
    sources = tuple(Source(f"{number}.sql", script) for number, script in enumerate(scripts, 1))
    findings = Linter(Config(complete=True)).lint(Unit(sources, convention=convention)).diagnostics
    assert any(finding.rule == "PUB141" for finding in findings) is reported
