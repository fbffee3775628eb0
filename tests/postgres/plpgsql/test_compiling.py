"""What the compiler of PL/pgSQL refuses, and where: the words and the place (^) are those of PostgreSQL 15 to 18."""

from __future__ import annotations

import pytest

from pubcheck.postgres.plpgsql.compile_errors import NotParsed
from pubcheck.postgres.plpgsql.parse import check_sql, program
from tests.support.linting import lint, run
from tests.support.servers import MAJORS, Servers, answer_in, execute

VARIABLES = """DECLARE i int; t text; r record; k CONSTANT int := 1; c CURSOR FOR SELECT 1;
cc CURSOR (a int) FOR SELECT a; """
TABLE = "CREATE TABLE t (id int, a int)"
# ~ stands for a statement about a publication; blocks that begin with BEGIN have these variables.
REFUSED = r"""
BEGIN ~ i := (1^; END -> 42601 mismatched parentheses at or near ";"
BEGIN ~ i := 1^); END -> 42601 mismatched parentheses at or near ")"
BEGIN ~ i := f(1)^) + 2; END -> 42601 mismatched parentheses at or near ")"
BEGIN ~ IF (i = 1 THEN NULL^; END IF; END -> 42601 mismatched parentheses at or near ";"
BEGIN ~ IF i = 1^) THEN NULL; END IF; END -> 42601 mismatched parentheses at or near ")"
BEGIN ~ IF i = 1^; NULL; END IF; END -> 42601 missing "THEN" at end of SQL expression
BEGIN ~ WHILE true^; NULL; END LOOP; END -> 42601 missing "LOOP" at end of SQL expression
BEGIN ~ FOR i IN 1..2^; NULL; END LOOP; END -> 42601 missing "LOOP" at end of SQL expression
BEGIN ~ FOR i IN ^1 LOOP NULL; END LOOP; END -> 42601 syntax error at or near "1"
BEGIN ~ FOR ^x, y IN 1..2 LOOP NULL; END LOOP; END -> 42601 "x" is not a known variable
BEGIN ~ FOR r IN ^REVERSE SELECT 1 LOOP NULL; END LOOP; END -> 42601 cannot specify REVERSE in query FOR loop
BEGIN ~ ^EXIT; END -> 42601 EXIT cannot be used outside a loop, unless it has a label
BEGIN ~ IF true THEN ^CONTINUE; END IF; END -> 42601 CONTINUE cannot be used outside a loop
<<b>> BEGIN ~ LOOP CONTINUE ^b; END LOOP; END -> 42601 block label "b" cannot be used in CONTINUE
BEGIN ~ <<b>> BEGIN NULL; END ^c; END -> 42601 end label "c" differs from block's label "b"
BEGIN ~ BEGIN NULL; END ^c; END -> 42601 end label "c" specified for unlabeled block
BEGIN ~ <<l>> LOOP EXIT; END LOOP ^m; END -> 42601 end label "m" differs from block's label "l"
BEGIN ~ RETURN ^1; END -> 42804 RETURN cannot have a parameter in function returning void
BEGIN ~ ^RETURN NEXT 1; END -> 42804 cannot use RETURN NEXT in a non-SETOF function
BEGIN ~ ^RETURN QUERY SELECT 1; END -> 42804 cannot use RETURN QUERY in a non-SETOF function
BEGIN ~ RAISE NOTICE^; END -> 42601 syntax error at or near ";"
BEGIN ~ RAISE EXCEPTION USING ^nooption = 1; END -> 42601 unrecognized RAISE statement option at or near "nooption"
BEGIN ~ RAISE SQLSTATE ^'abc'; END -> 42601 invalid SQLSTATE code at or near "'abc'"
BEGIN ~ RAISE 'a' ^'b'; END -> 42601 syntax error at or near "'b'"
BEGIN ~ RAISE EXCEPTION 'a' USING MESSAGE ^'b'; END -> 42601 syntax error, expected "=" at or near "'b'"
BEGIN ~ EXCEPTION WHEN SQLSTATE ^'abc' THEN NULL; END -> 42601 invalid SQLSTATE code at or near "'abc'"
BEGIN ~ EXCEPTION WHEN duplicate_object ^NULL; END -> 42601 syntax error at or near "NULL"
BEGIN ~ EXCEPTION ^duplicate_object THEN NULL; END -> 42601 syntax error at or near "duplicate_object"
BEGIN ~ EXCEPTION WHEN duplicate_object^, others THEN NULL; END -> 42601 syntax error at or near ","
BEGIN ~ ^EXCEPT WHEN duplicate_object THEN NULL; END -> 42601 syntax error at or near "EXCEPT"
BEGIN ~ ^k := 2; END -> 22005 variable "k" is declared CONSTANT
BEGIN ~ ^nosuch := 2; END -> 42601 "nosuch" is not a known variable
BEGIN ~ SELECT 1 INTO ^nosuch; END -> 42601 "nosuch" is not a known variable
BEGIN ~ SELECT 1, 2 INTO r^, i; END -> 42601 record variable cannot be part of multiple-item INTO list
BEGIN ~ SELECT 1, 2 INTO i, ^r; END -> 42601 "r" is not a scalar variable
BEGIN ~ SELECT 1 INTO i ^INTO t; END -> 42601 INTO specified more than once at or near "INTO"
BEGIN ~ SELECT 1 INTO STRICT^; END -> 42601 syntax error at or near ";"
BEGIN ~ GET DIAGNOSTICS i = ^NOSUCH; END -> 42601 unrecognized GET DIAGNOSTICS item at or near "NOSUCH"
BEGIN ~ GET DIAGNOSTICS ^nosuch = ROW_COUNT; END -> 42601 "nosuch" is not a known variable
BEGIN ~ GET DIAGNOSTICS ^r = ROW_COUNT; END -> 42601 "r" is not a scalar variable
BEGIN ~ OPEN ^nosuch; END -> 42601 "nosuch" is not a known variable
BEGIN ~ OPEN ^i; END -> 42804 variable "i" must be of type cursor or refcursor
BEGIN ~ OPEN c^(1); END -> 42601 cursor "c" has no arguments
BEGIN ~ OPEN cc^; END -> 42601 cursor "cc" has arguments
BEGIN ~ OPEN cc(1^, 2); END -> 42601 too many arguments for cursor "cc"
BEGIN ~ OPEN cc(^nosuch := 1); END -> 42601 cursor "cc" has no argument named "nosuch"
BEGIN ~ FETCH c INTO ^nosuch; END -> 42601 "nosuch" is not a known variable
BEGIN ~ FETCH ALL ^c INTO i; END -> 42601 expected FROM or IN at or near "c"
BEGIN ~ CLOSE ^nosuch; END -> 42601 "nosuch" is not a known variable
BEGIN ~ FOR x IN cc ^LOOP NULL; END LOOP; END -> 42601 cursor "cc" has arguments
BEGIN ~ CASE i WHEN 1 THEN NULL; END^; END -> 42601 syntax error at or near ";"
BEGIN ~ CASE i END CASE^; END -> 42601 missing "WHEN" at end of SQL expression
BEGIN ~ ^ELSIF; END -> 42601 syntax error at or near "ELSIF"
BEGIN ~ ^ELSEIF true THEN NULL; END IF; END -> 42601 syntax error at or near "ELSEIF"
BEGIN ~ IF true THEN NULL; ELSIF ^THEN NULL; END IF; END -> 42601 missing expression at or near "THEN"
BEGIN ~ IF ^THEN NULL; END IF; END -> 42601 missing expression at or near "THEN"
BEGIN ~ IF true THEN NULL; ELSE IF true THEN NULL; END IF; END ^ -> 42601 syntax error at end of input
BEGIN ~ PERFORM ^SELECT 1; END -> 42601 syntax error at or near "SELECT"
BEGIN ~ EXECUTE^; END -> 42601 missing expression at or near ";"
BEGIN ~ EXECUTE 'a' USING^; END -> 42601 missing expression at or near ";"
BEGIN ~ CALL^; END -> 42601 syntax error at end of input
BEGIN ~ ASSERT^; END -> 42601 missing expression at or near ";"
BEGIN ~ RETURN ^ -> 42601 unexpected end of function definition at end of input
BEGIN ~ NULL ^ -> 42601 syntax error at end of input
BEGIN ~ i := ^'abc; END -> 42601 unterminated quoted string at or near "'abc; END"
BEGIN ~ ^/* END -> 42601 unterminated /* comment at or near "/* END"
BEGIN ~ i := ^"abc; END -> 42601 unterminated quoted identifier at or near ""abc; END"
BEGIN ~ i := ^$x$abc; END -> 42601 unterminated dollar-quoted string at or near "$x$abc; END"
BEGIN ~ SELECT FROM ^WHERE; END -> 42601 syntax error at or near "WHERE"
BEGIN ~ INSERT INTO t VALUES (1,^); END -> 42601 syntax error at or near ")"
BEGIN ~ PERFORM 1 +^ ; END -> 42601 syntax error at end of input
BEGIN ~ i := 1 ^2; END -> 42601 syntax error at or near "2"
BEGIN ~ i := ^SELECT 1; END -> 42601 syntax error at or near "SELECT"
BEGIN ~ IF EXISTS SELECT ^1 THEN NULL; END IF; END -> 42601 syntax error at or near "1"
BEGIN ~ DELETE ^t WHERE; END -> 42601 syntax error at or near "t"
BEGIN ~ UPDATE t SET ^WHERE a = 1; END -> 42601 syntax error at or near "WHERE"
BEGIN ~ LOOP NULL; END^; END -> 42601 syntax error at or near ";"
BEGIN ~ END; ^END -> 42601 syntax error at or near "END"
BEGIN ~ BEGIN NULL; END;  ^ -> 42601 syntax error at end of input
BEGIN ~ END ^LOOP; END -> 42601 syntax error at or near "LOOP"
BEGIN ~ DECLARE x int; ^NULL; END -> 42601 syntax error at or near "NULL"
BEGIN ~ ^x int; END -> 42601 syntax error at or near "x"
BEGIN ~ VACUUM FULL; ANALYZE t ^WHERE; END -> 42601 syntax error at or near "WHERE"
BEGIN ~ CREATE TABLE t (id int,^); END -> 42601 syntax error at or near ")"
BEGIN ~ ALTER TABLE t ADD COLUM x ^int int; END -> 42601 syntax error at or near "int"
BEGIN ~ ^GOTO x; END -> 42601 syntax error at or near "GOTO"
BEGIN ~ ^PRINT 'x'; END -> 42601 syntax error at or near "PRINT"
BEGIN ~ SET x^; END -> 42601 syntax error at end of input
BEGIN ~ COMMIT AND^; END -> 42601 syntax error at or near ";"
BEGIN ~ ROLLBACK ^TO x; END -> 42601 syntax error at or near "TO"
^~ -> 42601 syntax error at or near "CREATE"
BEGIN ^ -> 42601 syntax error at end of input
BEGIN ~ END ^x y -> 42601 end label "x" specified for unlabeled block
DECLARE BEGIN ~ END; ^END -> 42601 syntax error at or near "END"
BEGIN ~ END; ^SELECT 1 -> 42601 syntax error at or near "SELECT"
BEGIN ^ATOMIC ~ END -> 42601 syntax error at or near "ATOMIC"
begin ~ eND ^iF; end -> 42601 syntax error at or near "iF"
DECLARE x int; ^x int; BEGIN ~ END -> 42601 duplicate declaration at or near "x"
DECLARE x int ^NOT NULL; BEGIN ~ END -> 22004 variable "x" must have a default value, since it's declared NOT NULL
DECLARE x^; BEGIN ~ END -> 42601 missing data type declaration at or near ";"
DECLARE x int := ^; BEGIN ~ END -> 42601 missing expression at or near ";"
DECLARE x int DEFAULT 1 ^2; BEGIN ~ END -> 42601 syntax error at or near "2"
DECLARE x int; y ALIAS FOR ^z; BEGIN ~ END -> 42704 variable "z" does not exist
DECLARE x int^(; BEGIN ~ END -> 42601 syntax error at or near "("
DECLARE c CURSOR FOR^; BEGIN ~ END -> 42601 missing SQL statement at or near ";"
DECLARE c CURSOR ^SELECT 1; BEGIN ~ END -> 42601 syntax error at or near "SELECT"
DECLARE ^<<x>> y int; BEGIN ~ END -> 42601 block label must be placed before DECLARE, not after
DECLARE x t.a%TYPE ^BEGIN ~ END -> 42601 syntax error at or near "BEGIN"
DECLARE ^1x int; BEGIN ~ END -> 42601 trailing junk after numeric literal at or near "1x"
DECLARE x ^:= 1; BEGIN ~ END -> 42601 missing data type declaration at or near ":="
DECLARE x int = 5; y text := 'a' BEGIN ^~ END -> 42601 syntax error at or near "CREATE"
DECLARE x int ^collate "C"; BEGIN ~ END -> 42804 collations are not supported by type integer
DECLARE name text; pub_name text[] := ARRAY['a','b'^; BEGIN ~ END -> 42601 mismatched parentheses at or near ";"
"""


def refusal(line: str) -> tuple[str, int, str]:
    """The body of a line, where in it the server stops, and what it says."""
    written, _, message = line.partition(" -> ")
    body = (VARIABLES if written.startswith("BEGIN") else "") + written.replace("~", "CREATE PUBLICATION s;")
    return body.replace("^", ""), body.index("^"), message


@pytest.mark.parametrize("line", REFUSED.strip().split("\n"))
def test_a_body_is_refused_where_the_server_stops(line: str) -> None:
    body, location, message = refusal(line)
    with pytest.raises(NotParsed) as refused:
        program("DO", body)
    assert f"{refused.value.sqlstate} {refused.value.message}" == message
    assert refused.value.location == location


NOWHERE = (
    ("RAISE NOTICE '%'", "42601", "too few parameters specified for RAISE"),
    ("RAISE NOTICE 'x', 1", "42601", "too many parameters specified for RAISE"),
    ("RAISE nosuch", "42704", 'unrecognized exception condition "nosuch"'),
)


@pytest.mark.parametrize(("statement", "sqlstate", "message"), NOWHERE)
def test_some_refusals_have_no_place(statement: str, sqlstate: str, message: str) -> None:
    with pytest.raises(NotParsed) as refused:
        program("DO", f"BEGIN {statement}; END")
    assert (refused.value.sqlstate, refused.value.message, refused.value.location) == (sqlstate, message, None)


def test_the_statement_at_fault_is_the_one_about_a_publication() -> None:
    with pytest.raises(NotParsed) as refused:
        program("DO", "BEGIN PERFORM 1; CREATE OR REPLACE PUBLICATION p; END")
    assert refused.value.statement == "CREATE OR REPLACE PUBLICATION p"
    with pytest.raises(NotParsed) as refused:
        program("DO", "BEGIN CREATE PUBLICATION p; CREATE OR REPLACE FUNCTOIN p; END")
    assert refused.value.statement == ""
    with pytest.raises(NotParsed) as refused:
        check_sql("SELECT 1; ALTER PUBLICATION p ADD t")
    assert (refused.value.statement, refused.value.location) == ("ALTER PUBLICATION p ADD t", 34)


def test_a_missing_semicolon_refuses_the_block_and_the_function() -> None:
    findings = lint("DO $$ BEGIN CREATE PUBLICATION s END $$; CREATE PUBLICATION s FOR ALL TABLES;", complete=True)
    assert [(finding.rule, finding.server and finding.server.position) for finding in findings if finding.server] == [
        ("PUB101", 38)
    ]
    made = "CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$BEGIN IF i THEN CREATE PUBLICATION s; END IF END$$;"
    findings = lint(made, complete=True)
    assert [(finding.rule, finding.server and finding.server.position) for finding in findings] == [
        ("PUB137", made.index("END$") + 1)
    ]
    # The body is looked at when it is called.
    findings = lint(f"SET check_function_bodies = off; {made} SELECT f();", complete=True)
    assert [
        (finding.statement and finding.statement.index, finding.server and finding.server.position)
        for finding in findings
    ] == [(2, made.index("END$") + 1 - made.index("BEGIN"))]


def test_a_placeholder_may_stand_for_what_is_missing() -> None:
    block = "DO $$ BEGIN IF true THEN CREATE PUBLICATION s; END IF {{ rest }} END $$"
    assert {finding.certainty for finding in run(block).diagnostics} == {"assumed"}


def test_a_type_that_is_not_there_is_missed_before_anything_runs() -> None:
    block = "DO $$ DECLARE x nosuch; BEGIN BEGIN CREATE PUBLICATION s; EXCEPTION WHEN OTHERS THEN NULL; END; END $$"
    (finding,) = [diagnostic for diagnostic in lint(block, complete=True) if diagnostic.server]
    assert finding.server is not None
    assert (finding.server.message, finding.server.position) == ('type "nosuch" does not exist', 17)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("CREATE PUBLICATION s FOR TABLE; END", "; END"),
        ("SELECT 1; CREATE PUBLICATION s END", "END"),
        ("ALTER PUBLICATION s ADD t; SELECT 1; END", "t;"),
    ],
)
def test_a_body_of_standard_sql_is_refused_at_its_statement_about_a_publication(body: str, word: str) -> None:
    made = f"CREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC {body}"
    (finding,) = lint(made)
    assert finding.certainty == "certain"
    assert finding.server is not None
    assert finding.server.position == made.index(word) + 1


def test_another_syntax_error_in_such_a_body_is_passed_over() -> None:
    findings = lint("CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1 END; CREATE PUBLICATION s FOR ALL TABLES")
    assert [(finding.rule, finding.certainty) for finding in findings if finding.phase != "silent"] == [
        ("PUB004", "assumed")
    ]


def test_what_is_said_of_a_whole_statement_has_its_place() -> None:
    body = "BEGIN IF true THEN CREATE PUBLICATION p FOR a; END IF; END"
    with pytest.raises(NotParsed) as refused:
        program("DO", body)
    assert refused.value.message == "invalid publication object list"
    assert refused.value.location == body.index("a;")


FOUND = (
    "DECLARE x double precision; BEGIN ~ END",
    "DECLARE x national character varying(5); BEGIN ~ END",
    "DECLARE /* x is */ x int; BEGIN ~ END",
    "DECLARE y text := 'x is'; x int; BEGIN ~ END",
    "DECLARE y int := (SELECT x z FROM (SELECT 1 x) q); x int; BEGIN ~ END",
    "<<b>> DECLARE y int; BEGIN DECLARE x b.y%TYPE; BEGIN ~ END; END",
    "BEGIN DROP TABLE t; DECLARE x t.id%TYPE; BEGIN ~ END; END",
)


def with_types(written: str) -> tuple[str, str]:
    """A block, and a function of the same body."""
    body = written.replace("~", "CREATE PUBLICATION p;")
    function = f"CREATE FUNCTION f(q text) RETURNS void LANGUAGE plpgsql AS $$ {body.replace('b.y', 'f.q')} $$"
    return f"DO $$ {body} $$", function


@pytest.mark.parametrize("written", FOUND)
def test_types_that_servers_find_are_not_missed(written: str) -> None:
    for statement in with_types(written):
        assert not [finding for finding in lint(f"{TABLE}; {statement}", complete=True) if finding.server]


def test_quotes_hold_no_placeholders_and_labels_are_none() -> None:
    (finding,) = lint("DO $do$ <<b>> BEGIN EXECUTE $q$CREATE PUBLICATION %I$q$ END $do$")
    assert finding.certainty == "certain"


MISSED = (
    ("DO $$ DECLARE text l; BEGIN l := 'a'; CREATE PUBLICATION p; END $$", 'type "l" does not exist'),
    ("DO $$ DECLARE have []; BEGIN CREATE PUBLICATION p; END $$", 'syntax error at or near "["'),
    ("DO $$ DECLARE t text; SELECT BEGIN v()::text; CREATE PUBLICATION p; END $$", 'syntax error at or near "v"'),
)


@pytest.mark.parametrize(("block", "answer"), MISSED)
def test_a_type_is_missed_before_what_comes_after_its_declaration(block: str, answer: str) -> None:
    (finding,) = [diagnostic for diagnostic in lint(block, complete=True) if diagnostic.server]
    assert finding.server is not None
    assert finding.server.message == answer


@pytest.mark.parametrize("block", [block for block, answer in MISSED if "syntax" not in answer])
def test_in_the_open_world_there_may_be_such_a_type(block: str) -> None:
    assert {finding.certainty for finding in lint(block)} == {"assumed"}


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
def test_servers_say_so(servers: Servers, major: int) -> None:
    with servers[major].database() as name, servers[major].connect(name) as connection:
        execute(connection, TABLE)
        for body, location, words in map(refusal, REFUSED.strip().split("\n")):
            answer = execute(connection, f"DO $do${body}$do$")
            assert f"{answer.sqlstate} {answer.message}" == words, body
            assert answer.position == len("DO $do$") + location + 1, body
        for statement, sqlstate, message in NOWHERE:
            answer = execute(connection, f"DO $$ BEGIN {statement}; END $$")
            assert (answer.sqlstate, answer.message, answer.position) == (sqlstate, message, None), statement
        for statement, message in MISSED:
            assert execute(connection, statement).message == message, statement
        for statement in (with_type for written in FOUND for with_type in with_types(written)):
            assert answer_in(connection, (), statement).ok, statement


def test_of_words_that_are_alike_the_one_at_fault_is_found() -> None:
    body = "DECLARE c text; BEGIN c := c || 'b' EXECUTE c; CREATE PUBLICATION p; END"
    with pytest.raises(NotParsed) as refused:
        program("DO", body)
    assert refused.value.location == body.index("c;")
    body = "DECLARE n name; BEGIN SELECT pubname INTO INTO n FROM pg_publication; CREATE PUBLICATION p; END"
    with pytest.raises(NotParsed) as refused:
        program("DO", body)
    assert refused.value.location == body.index("INTO n")
