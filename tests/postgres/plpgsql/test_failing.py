"""Blocks that fail, or may, for what is not about publications.

What is said to fail does with these words on PostgreSQL 15 to 18; what may fail rests on rows, on what a server has or
on what is not followed.
"""

from __future__ import annotations

import pytest
from pglast.parser import split

from tests.support.linting import answers, covered, lint
from tests.support.servers import MAJORS, Servers, answer_in, execute, prepare

SETUP = """CREATE TABLE a (id int PRIMARY KEY, x int, y text); CREATE TABLE b (id int PRIMARY KEY, x int NOT NULL);
CREATE PUBLICATION p FOR TABLE a;
CREATE PROCEDURE put(INOUT n int) LANGUAGE plpgsql AS $$ BEGIN n := n + 1; END $$;
CREATE PROCEDURE take(IN n int) LANGUAGE plpgsql AS $$ BEGIN n := n + 1; END $$;
CREATE FUNCTION row_of() RETURNS record LANGUAGE plpgsql AS $$ BEGIN RETURN (1, 'x'::text); END $$;
CREATE FUNCTION rows_of() RETURNS SETOF record LANGUAGE plpgsql AS $$ BEGIN RETURN NEXT (1, 'x'::text); END $$;
"""
VARIABLES = """i int; t text; r record; n numeric; arr int[]; bo boolean; rr a%ROWTYPE; nn int NOT NULL := 1;
k CONSTANT int := 5; c CURSOR FOR SELECT id FROM a; rc refcursor; d date; u uuid; j jsonb;"""
MEMBER = ("42710", 'relation "b" is already member of publication "p"', "certain")
NO_MEMBER = ("42704", 'relation "b" is not part of the publication', "certain")

FAILS = (
    (
        "CREATE TRIGGER tr AFTER INSERT ON a FOR EACH ROW EXECUTE FUNCTION nosuch()",
        "42883",
        "function nosuch() does not exist",
    ),
    ("CREATE POLICY po ON a USING (nope)", "42703", 'column "nope" does not exist'),
    ("PERFORM 1/0", "22012", "division by zero"),
    ("i := 1/0", "22012", "division by zero"),
    ("n := 1/0", "22012", "division by zero"),
    ("RAISE EXCEPTION 'no'", "P0001", "no"),
    ("RAISE EXCEPTION 'no %', 1", "P0001", "no 1"),
    ("RAISE NOTICE '%', 1/0", "22012", "division by zero"),
    ("RAISE NOTICE '% %', i", "42601", "too few parameters specified for RAISE"),
    ("RAISE NOTICE 'x', i", "42601", "too many parameters specified for RAISE"),
    ("RAISE nosuchcondition", "42704", 'unrecognized exception condition "nosuchcondition"'),
    ("RAISE SQLSTATE '22012'", "22012", "22012"),
    ("RAISE unique_violation USING MESSAGE = 'x'", "23505", "x"),
    ("RAISE", "0Z002", "RAISE without parameters cannot be used outside an exception handler"),
    ("RAISE EXCEPTION USING MESSAGE = NULL", "22004", "RAISE statement option cannot be null"),
    ("RAISE EXCEPTION division_by_zero", "22012", "division_by_zero"),
    ("ASSERT false", "P0004", "assertion failed"),
    ("ASSERT false, 'message'", "P0004", "message"),
    ("PERFORM 'x'::int", "22P02", 'invalid input syntax for type integer: "x"'),
    ("PERFORM 'x'::boolean", "22P02", 'invalid input syntax for type boolean: "x"'),
    ("PERFORM 'x'::date", "22007", 'invalid input syntax for type date: "x"'),
    ("PERFORM 'x'::timestamptz", "22007", 'invalid input syntax for type timestamp with time zone: "x"'),
    ("PERFORM 'x'::interval", "22007", 'invalid input syntax for type interval: "x"'),
    ("PERFORM '\\x0'::bytea", "22023", "invalid hexadecimal data: odd number of digits"),
    ("PERFORM 'x'::regclass", "42P01", 'relation "x" does not exist'),
    ("PERFORM 'x'::regrole", "42704", 'role "x" does not exist'),
    ("PERFORM 'x'::regnamespace", "3F000", 'schema "x" does not exist'),
    ("PERFORM 'x'::regtype", "42704", 'type "x" does not exist'),
    ("PERFORM 'x'::regproc", "42883", 'function "x" does not exist'),
    ("PERFORM 70000::smallint", "22003", "smallint out of range"),
    ("PERFORM 3000000000::int", "22003", "integer out of range"),
    ("i := 'x'", "22P02", 'invalid input syntax for type integer: "x"'),
    ("i := 3000000000", "22003", "integer out of range"),
    ("i := '3000000000'", "22003", 'value "3000000000" is out of range for type integer'),
    ("n := 'x'", "22P02", 'invalid input syntax for type numeric: "x"'),
    ("bo := 'x'", "22P02", 'invalid input syntax for type boolean: "x"'),
    ("d := 'x'", "22007", 'invalid input syntax for type date: "x"'),
    ("d := '2024-02-30'", "22008", 'date/time field value out of range: "2024-02-30"'),
    ("u := 'x'", "22P02", 'invalid input syntax for type uuid: "x"'),
    ("j := '{'", "22P02", "invalid input syntax for type json"),
    ("arr := '{1,x}'", "22P02", 'invalid input syntax for type integer: "x"'),
    ("arr := 'x'", "22P02", 'malformed array literal: "x"'),
    ("nn := NULL", "22004", 'null value cannot be assigned to variable "nn" declared NOT NULL'),
    ("k := 6", "22005", 'variable "k" is declared CONSTANT'),
    ("GET DIAGNOSTICS i = NOSUCH", "42601", 'unrecognized GET DIAGNOSTICS item at or near "NOSUCH"'),
    ("DECLARE q nosuch%ROWTYPE; BEGIN NULL; END", "42P01", 'relation "nosuch" does not exist'),
    ("DECLARE q nosuch; BEGIN NULL; END", "42704", 'type "nosuch" does not exist'),
    ("CREATE SEQUENCE q INCREMENT 0", "22023", "INCREMENT must not be zero"),
    ("SELECT pubname INTO i FROM pg_publication", "22P02", 'invalid input syntax for type integer: "p"'),
    (
        "EXECUTE 'CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS ''BEGIN garbage; END'''",
        "42601",
        'syntax error at or near "garbage"',
    ),
    (
        "CREATE FUNCTION ff() RETURNS int LANGUAGE plpgsql AS 'BEGIN garbage; END'",
        "42601",
        'syntax error at or near "garbage"',
    ),
    ("i := ", "42601", "assignment source returned 0 columns"),
    ("i := y", "42703", 'column "y" does not exist'),
    ("yy := 1", "42601", '"yy" is not a known variable'),
    ("r.z := 1", "55000", 'record "r" is not assigned yet'),
    ("i := r.z", "55000", 'record "r" is not assigned yet'),
    ("i := (SELECT id, x FROM a)", "42601", "subquery must return only one column"),
    ("i := (SELECT id FROM nosuch)", "42P01", 'relation "nosuch" does not exist'),
    ("i := nofunc(1)", "42883", "function nofunc(integer) does not exist"),
    ("i := length(1)", "42883", "function length(integer) does not exist"),
    ("n := 9223372036854775807 + 1", "22003", "bigint out of range"),
    ("arr[1] := 'x'", "22P02", 'invalid input syntax for type integer: "x"'),
    ("arr[1/0] := 5", "22012", "division by zero"),
    ("i := array_length(5, 1)", "42883", "function array_length(integer, integer) does not exist"),
    ("i := CASE 'z' WHEN 1 THEN 1 ELSE 2 END", "42883", "operator does not exist: text = integer"),
    ("i := sqrt(-1)", "2201F", "cannot take square root of a negative number"),
    ("i := ln(0)", "2201E", "cannot take logarithm of zero"),
    ("t := substring('abc', 1, -1)", "22011", "negative substring length not allowed"),
    ("t := left('abc', 'x')", "22P02", 'invalid input syntax for type integer: "x"'),
    ("t := chr(0)", "54000", "null character not permitted"),
    ("t := format('%I', NULL)", "22004", "null values cannot be formatted as an SQL identifier"),
    ("t := format('%s')", "22023", "too few arguments for format()"),
    ("t := format('%y', 1)", "22023", 'unrecognized format() type specifier "y"'),
    ("t := decode('zz', 'hex')", "22023", 'invalid hexadecimal digit: "z"'),
    ("bo := 1 = 'a'", "22P02", 'invalid input syntax for type integer: "a"'),
    ("bo := now() > 'x'", "22007", 'invalid input syntax for type timestamp with time zone: "x"'),
    ("bo := true AND 1", "42804", "argument of AND must be type boolean, not type integer"),
    ("bo := a", "42703", 'column "a" does not exist'),
    ("SELECT 1 INTO STRICT i WHERE false", "P0002", "query returned no rows"),
    ("SELECT 'x' INTO i", "22P02", 'invalid input syntax for type integer: "x"'),
    ("SELECT 1 INTO yy", "42601", '"yy" is not a known variable'),
    ("SELECT 1 INTO r.z", "55000", 'record "r" is not assigned yet'),
    ("SELECT generate_series(1,2) INTO STRICT i", "P0003", "query returned more than one row"),
    ("SELECT 1", "42601", "query has no destination for result data"),
    ("VALUES (1)", "42601", "query has no destination for result data"),
    ("WITH q AS (SELECT 1) SELECT * FROM q", "42601", "query has no destination for result data"),
    ("INSERT INTO a (nope) VALUES (1)", "42703", 'column "nope" of relation "a" does not exist'),
    ("ALTER TABLE a ENABLE TRIGGER nosuch", "42704", 'trigger "nosuch" for table "a" does not exist'),
    ("INSERT INTO nosuch VALUES (1)", "42P01", 'relation "nosuch" does not exist'),
    ("UPDATE a SET nope = 1", "42703", 'column "nope" of relation "a" does not exist'),
    ("UPDATE nosuch SET x = 1", "42P01", 'relation "nosuch" does not exist'),
    ("DELETE FROM nosuch", "42P01", 'relation "nosuch" does not exist'),
    ("MERGE INTO nosuch USING a ON true WHEN MATCHED THEN DELETE", "42P01", 'relation "nosuch" does not exist'),
    ("PERFORM nope FROM a", "42703", 'column "nope" does not exist'),
    ("PERFORM a.nope FROM a", "42703", "column a.nope does not exist"),
    ("PERFORM nofunc()", "42883", "function nofunc() does not exist"),
    ("PERFORM pg_sleep(0, 1)", "42883", "function pg_sleep(integer, integer) does not exist"),
    ("PERFORM count(*) FROM a WHERE count(*) > 1", "42803", "aggregate functions are not allowed in WHERE"),
    (
        "PERFORM id FROM a GROUP BY x",
        "42803",
        'column "a.id" must appear in the GROUP BY clause or be used in an aggregate function',
    ),
    ("PERFORM 1 ORDER BY 2", "42P10", "ORDER BY position 2 is not in select list"),
    ("PERFORM *", "42601", "SELECT * with no tables specified is not valid"),
    ("PERFORM 1 FROM a, a", "42712", 'table name "a" specified more than once'),
    (
        "PERFORM 1 FROM a JOIN b USING (nope)",
        "42703",
        'column "nope" specified in USING clause does not exist in left table',
    ),
    (
        "PERFORM ambiguous FROM (SELECT 1 AS ambiguous) q, (SELECT 1 AS ambiguous) w",
        "42702",
        'column reference "ambiguous" is ambiguous',
    ),
    ("PERFORM x FROM a WHERE y = 1", "42883", "operator does not exist: text = integer"),
    ("PERFORM x FROM a WHERE x", "42804", "argument of WHERE must be type boolean, not type integer"),
    (
        "DECLARE z CURSOR FOR SELECT nope FROM a; BEGIN FOR q IN z LOOP NULL; END LOOP; END",
        "42703",
        'column "nope" does not exist',
    ),
    ("DECLARE z CURSOR FOR SELECT 1/0 AS z; BEGIN FOR q IN z LOOP NULL; END LOOP; END", "22012", "division by zero"),
    (
        "FOR i IN EXECUTE 'SELECT ''x''' LOOP NULL; END LOOP",
        "22P02",
        'invalid input syntax for type integer: "x"',
    ),
    ("EXECUTE NULL", "22004", "query string argument of EXECUTE is null"),
    ("EXECUTE 'garbage'", "42601", 'syntax error at or near "garbage"'),
    ("EXECUTE 'SELECT 1/0'", "22012", "division by zero"),
    ("EXECUTE 'SELECT nope'", "42703", 'column "nope" does not exist'),
    ("EXECUTE 'SELECT * FROM nosuch'", "42P01", 'relation "nosuch" does not exist'),
    ("EXECUTE 'SELECT $1'", "42P02", "there is no parameter $1"),
    ("EXECUTE 'SELECT ''x''' INTO i", "22P02", 'invalid input syntax for type integer: "x"'),
    ("EXECUTE 'SELECT 1 WHERE false' INTO STRICT i", "P0002", "query returned no rows"),
    ("EXECUTE 'SELECT 1 UNION SELECT 2' INTO STRICT i", "P0003", "query returned more than one row"),
    ("EXECUTE 'CREATE TABLE zz (id int)' INTO i", "42601", "INTO used with a command that cannot return data"),
    ("EXECUTE 'BEGIN'", "0A000", "EXECUTE of transaction commands is not implemented"),
    ("EXECUTE format('DROP TABLE %I', t)", "22004", "null values cannot be formatted as an SQL identifier"),
    ("EXECUTE 'DO $q$ BEGIN RAISE EXCEPTION ''x''; END $q$'", "P0001", "x"),
    ("IF 1/0 = 1 THEN NULL; END IF", "22012", "division by zero"),
    ("IF 'x' THEN NULL; END IF", "22P02", 'invalid input syntax for type boolean: "x"'),
    ("IF nope THEN NULL; END IF", "42703", 'column "nope" does not exist'),
    ("IF false THEN garbage; END IF", "42601", 'syntax error at or near "garbage"'),
    ("IF i IS NULL THEN RAISE EXCEPTION 'x'; END IF", "P0001", "x"),
    ("WHILE 1/0 = 1 LOOP NULL; END LOOP", "22012", "division by zero"),
    ("FOR q IN 1..NULL LOOP NULL; END LOOP", "22004", "upper bound of FOR loop cannot be null"),
    ("FOR q IN 1..2 LOOP PERFORM 1/(q-2); END LOOP", "22012", "division by zero"),
    ("FOR q IN 'x'..2 LOOP NULL; END LOOP", "22P02", 'invalid input syntax for type integer: "x"'),
    ("FOR q IN 1..2 BY 0 LOOP NULL; END LOOP", "22023", "BY value of FOR loop must be greater than zero"),
    ("FOR r IN SELECT nope FROM a LOOP NULL; END LOOP", "42703", 'column "nope" does not exist'),
    ("FOR r IN SELECT * FROM nosuch LOOP NULL; END LOOP", "42P01", 'relation "nosuch" does not exist'),
    ("FOR r IN SELECT 1 AS q LOOP i := r.nope; END LOOP", "42703", 'record "r" has no field "nope"'),
    ("FOR r IN EXECUTE NULL LOOP NULL; END LOOP", "22004", "query string argument of EXECUTE is null"),
    (
        "FOR q IN SELECT 1 LOOP NULL; END LOOP",
        "42601",
        "loop variable of loop over rows must be a record variable or list of scalar variables",
    ),
    ("FOREACH i IN ARRAY NULL::int[] LOOP NULL; END LOOP", "22004", "FOREACH expression must not be null"),
    ("CASE 5 WHEN 6 THEN NULL; END CASE", "20000", "case not found"),
    ("CASE 5 WHEN 'x' THEN NULL; ELSE NULL; END CASE", "22P02", 'invalid input syntax for type integer: "x"'),
    ("EXIT", "42601", "EXIT cannot be used outside a loop, unless it has a label"),
    ("EXIT nosuch", "42601", 'there is no label "nosuch" attached to any block or loop enclosing this statement'),
    ("CONTINUE", "42601", "CONTINUE cannot be used outside a loop"),
    ("RETURN 5", "42804", "RETURN cannot have a parameter in function returning void"),
    ("RETURN NEXT 5", "42804", "cannot use RETURN NEXT in a non-SETOF function"),
    ("RETURN QUERY SELECT 1", "42804", "cannot use RETURN QUERY in a non-SETOF function"),
    ("OPEN rc FOR SELECT nope FROM a", "42703", 'column "nope" does not exist'),
    ("CLOSE rc", "22004", 'cursor variable "rc" is null'),
    ("GET DIAGNOSTICS yy = ROW_COUNT", "42601", '"yy" is not a known variable'),
    (
        "GET STACKED DIAGNOSTICS t = MESSAGE_TEXT",
        "0Z002",
        "GET STACKED DIAGNOSTICS cannot be used outside an exception handler",
    ),
    ("ROLLBACK; PERFORM 1/0", "22012", "division by zero"),
    ("SAVEPOINT s", "0A000", "unsupported transaction command in PL/pgSQL"),
    ("START TRANSACTION", "0A000", "unsupported transaction command in PL/pgSQL"),
    ("SET ROLE pg_nosuch", "22023", 'role "pg_nosuch" does not exist'),
    ("COMMENT ON PUBLICATION nosuch IS 'x'", "42704", 'publication "nosuch" does not exist'),
    ("CREATE TABLE a (id int)", "42P07", 'relation "a" already exists'),
    ("CREATE TABLE q (id nosuchtype)", "42704", 'type "nosuchtype" does not exist'),
    ("CREATE TABLE q (id int, id int)", "42701", 'column "id" specified more than once'),
    ("CREATE TABLE q (id int REFERENCES nosuch)", "42P01", 'relation "nosuch" does not exist'),
    ("CREATE TABLE q (id int DEFAULT 'x')", "22P02", 'invalid input syntax for type integer: "x"'),
    ("CREATE TABLE q (id int CHECK (nope > 1))", "42703", 'column "nope" does not exist'),
    ("CREATE TABLE nosch.q (id int)", "3F000", 'schema "nosch" does not exist'),
    ("CREATE INDEX CONCURRENTLY ON a (x)", "25001", "CREATE INDEX CONCURRENTLY cannot be executed from a function"),
    ("CREATE SCHEMA public", "42P06", 'schema "public" already exists'),
    (
        "CREATE TYPE q AS ENUM ('a', 'a')",
        "23505",
        'duplicate key value violates unique constraint "pg_enum_typid_label_index"',
    ),
    ("CREATE ROLE postgres", "42710", 'role "postgres" already exists'),
    ("CREATE DATABASE zz", "25001", "CREATE DATABASE cannot be executed from a function"),
    ("CREATE TABLESPACE zz LOCATION '/tmp'", "25001", "CREATE TABLESPACE cannot be executed from a function"),
    ("CREATE PUBLICATION p", "42710", 'publication "p" already exists'),
    ("ALTER PUBLICATION p ADD TABLE a", "42710", 'relation "a" is already member of publication "p"'),
    ("ALTER PUBLICATION nosuch ADD TABLE a", "42704", 'publication "nosuch" does not exist'),
    ("ALTER TABLE a ADD COLUMN x int", "42701", 'column "x" of relation "a" already exists'),
    ("ALTER TABLE a DROP COLUMN nope", "42703", 'column "nope" of relation "a" does not exist'),
    ("ALTER TABLE a ALTER COLUMN y TYPE int", "42804", 'column "y" cannot be cast automatically to type integer'),
    ("ALTER TABLE a ALTER COLUMN y TYPE date", "42804", 'column "y" cannot be cast automatically to type date'),
    ("ALTER TABLE a ADD PRIMARY KEY (id)", "42P16", 'multiple primary keys for table "a" are not allowed'),
    ("ALTER TABLE a ADD FOREIGN KEY (x) REFERENCES nosuch", "42P01", 'relation "nosuch" does not exist'),
    ("ALTER TABLE a ADD CHECK (nope > 1)", "42703", 'column "nope" does not exist'),
    ("ALTER TABLE a DROP CONSTRAINT nope", "42704", 'constraint "nope" of relation "a" does not exist'),
    ("ALTER TABLE a OWNER TO pg_nosuch", "42704", 'role "pg_nosuch" does not exist'),
    ("ALTER TABLE a SET SCHEMA nosuch", "3F000", 'schema "nosuch" does not exist'),
    ("ALTER TABLE a REPLICA IDENTITY USING INDEX nosuch", "42704", 'index "nosuch" for table "a" does not exist'),
    ("ALTER FUNCTION nosuch() OWNER TO postgres", "42883", "function nosuch() does not exist"),
    ("ALTER SYSTEM SET work_mem = '4MB'", "25001", "ALTER SYSTEM cannot be executed from a function"),
    ("DROP TABLE nosuch", "42P01", 'table "nosuch" does not exist'),
    ("DROP VIEW a", "42809", '"a" is not a view'),
    ("DROP INDEX nosuch", "42704", 'index "nosuch" does not exist'),
    ("DROP INDEX a_pkey", "2BP01", "cannot drop index a_pkey because constraint a_pkey on table a requires it"),
    ("DROP SCHEMA nosuch", "3F000", 'schema "nosuch" does not exist'),
    ("DROP FUNCTION nosuch()", "42883", "function nosuch() does not exist"),
    ("DROP TYPE nosuch", "42704", 'type "nosuch" does not exist'),
    ("DROP TRIGGER nosuch ON a", "42704", 'trigger "nosuch" for table "a" does not exist'),
    ("DROP POLICY nosuch ON a", "42704", 'policy "nosuch" for table "a" does not exist'),
    ("DROP SEQUENCE nosuch", "42P01", 'sequence "nosuch" does not exist'),
    ("DROP CONSTRAINT nosuch", "42601", 'syntax error at or near "CONSTRAINT"'),
    ("DROP DATABASE nosuch", "25001", "DROP DATABASE cannot be executed from a function"),
    ("VACUUM a", "25001", "VACUUM cannot be executed from a function"),
    ("REINDEX TABLE CONCURRENTLY a", "25001", "REINDEX CONCURRENTLY cannot be executed from a function"),
    ("DISCARD ALL", "25001", "DISCARD ALL cannot be executed from a function"),
    ("COPY a FROM STDIN", "0A000", "cannot COPY to/from client in PL/pgSQL"),
    ("DECLARE q CURSOR FOR SELECT 1", "42601", 'syntax error at or near "END"'),
    ("garbage", "42601", 'syntax error at or near "garbage"'),
    ("BEGIN PERFORM 1/0; EXCEPTION WHEN unique_violation THEN NULL; END", "22012", "division by zero"),
    ("BEGIN PERFORM 1/0; EXCEPTION WHEN nosuch THEN NULL; END", "42704", 'unrecognized exception condition "nosuch"'),
    ("BEGIN PERFORM 1/0; EXCEPTION WHEN division_by_zero THEN RAISE EXCEPTION 'x'; END", "P0001", "x"),
    ("BEGIN ASSERT false; EXCEPTION WHEN OTHERS THEN NULL; END", "P0004", "assertion failed"),
    ("DECLARE q int := 1/0; BEGIN NULL; END", "22012", "division by zero"),
    ("DECLARE q int := 'x'; BEGIN NULL; END", "22P02", 'invalid input syntax for type integer: "x"'),
    (
        "DECLARE q int NOT NULL; BEGIN NULL; END",
        "22004",
        'variable "q" must have a default value, since it\'s declared NOT NULL',
    ),
    (
        "DECLARE q int NOT NULL := NULL; BEGIN NULL; END",
        "22004",
        'null value cannot be assigned to variable "q" declared NOT NULL',
    ),
    ("DECLARE q nosuchtype; BEGIN NULL; END", "42704", 'type "nosuchtype" does not exist'),
    ("DECLARE q int; q text; BEGIN NULL; END", "42601", 'duplicate declaration at or near "q"'),
    ("DECLARE q int := nofunc(); BEGIN NULL; END", "42883", "function nofunc() does not exist"),
    ("DECLARE q CONSTANT int; BEGIN q := 1; END", "22005", 'variable "q" is declared CONSTANT'),
    ("DECLARE q ALIAS FOR nosuch; BEGIN NULL; END", "42704", 'variable "nosuch" does not exist'),
    ("CALL put(r.x)", "55000", 'record "r" is not assigned yet'),
    ("CALL take(r.x)", "55000", 'record "r" is not assigned yet'),
    ("SELECT 1 AS q INTO r; CALL put(r.nope)", "42703", 'record "r" has no field "nope"'),
    ("SELECT 1 AS q INTO r; CALL take(r.nope)", "42703", 'record "r" has no field "nope"'),
)

MAY_FAIL = (
    "ASSERT (SELECT count(*) FROM a) > 0",
    "yy.z := 1",
    "rr.z := 1",
    "rr.x := 'q'",
    "t := rr.nope",
    "i := ROW(1,2)",
    "i := (SELECT 1 UNION ALL SELECT 2)",
    "i := to_number('x', '999')",
    "d := to_date('x', 'YYYY')",
    "t := current_setting('nosuch.setting')",
    "t := current_setting('nosuch')",
    "t := set_config('nosuch', 'x', true)",
    "t := set_config('work_mem', 'x', true)",
    "t := convert_from('abc'::bytea, 'nosuch')",
    "t := regexp_replace('a', '(', 'b')",
    "bo := 'a' ~ '('",
    "SELECT id INTO STRICT i FROM a",
    "SELECT id INTO STRICT i FROM a LIMIT 1",
    "SELECT relname INTO STRICT t FROM pg_class",
    "INSERT INTO a VALUES (1), (2) RETURNING id INTO i",
    "INSERT INTO a VALUES (1), (2) RETURNING id INTO STRICT i",
    "UPDATE a SET x = 1 WHERE id = 99 RETURNING id INTO STRICT i",
    "INSERT INTO a VALUES (1) RETURNING id",
    "INSERT INTO a VALUES ('x')",
    "INSERT INTO a VALUES (NULL)",
    "INSERT INTO a VALUES (1,2,3,4)",
    "INSERT INTO b VALUES (1, NULL)",
    "INSERT INTO b (id) VALUES (1)",
    "INSERT INTO a VALUES (1), (1)",
    "INSERT INTO a SELECT 1/0",
    "UPDATE a SET x = 'x'",
    "UPDATE a SET x = 1/0",
    "DELETE FROM a WHERE nope = 1",
    "PERFORM pg_get_serial_sequence('a', 'nope')",
    "PERFORM has_table_privilege('nosuch', 'select')",
    "PERFORM generate_series(1, 10, 0)",
    "PERFORM pg_create_logical_replication_slot('zz', 'nosuch')",
    "PERFORM pg_drop_replication_slot('nosuch')",
    "EXECUTE 'SELECT $1::int' USING 'x'",
    "EXECUTE 'CREATE FUNCTION ff() RETURNS int LANGUAGE sql AS ''SELECT nope'''",
    "EXECUTE 'SET nosuch = 1'",
    "IF NOT EXISTS (SELECT 1 FROM a) THEN RAISE EXCEPTION 'x'; END IF",
    "IF random() < 2 THEN RAISE EXCEPTION 'x'; END IF",
    "FOREACH i IN ARRAY 5 LOOP NULL; END LOOP",
    "FOREACH i IN ARRAY ARRAY['x'] LOOP NULL; END LOOP",
    "FOREACH i SLICE 1 IN ARRAY ARRAY[1,2] LOOP NULL; END LOOP",
    "CALL nosuch()",
    "CALL nosuch(1/0)",
    "SET nosuch = 1",
    "SET work_mem = 'x'",
    "RESET nosuch",
    "LOCK TABLE nosuch",
    "TRUNCATE nosuch",
    "GRANT SELECT ON nosuch TO PUBLIC",
    "GRANT SELECT ON a TO nosuchrole",
    "REVOKE SELECT ON nosuch FROM PUBLIC",
    "COMMENT ON TABLE nosuch IS 'x'",
    "COMMENT ON COLUMN a.nope IS 'x'",
    "CREATE TABLE q AS SELECT 1/0 AS z",
    "CREATE EXTENSION nosuch",
    "CREATE EXTENSION IF NOT EXISTS nosuch",
    "CREATE EXTENSION plpgsql",
    "CREATE FUNCTION ff() RETURNS int LANGUAGE sql AS 'SELECT nope'",
    "CREATE FUNCTION ff() RETURNS int LANGUAGE nosuch AS 'SELECT 1'",
    "CREATE SUBSCRIPTION s CONNECTION 'x' PUBLICATION p",
    "ALTER DATABASE nosuch SET work_mem = '4MB'",
    "DROP EXTENSION nosuch",
    "ANALYZE nosuch",
    "CLUSTER a",
    "REINDEX TABLE nosuch",
    "REFRESH MATERIALIZED VIEW nosuch",
    "COPY a FROM '/nosuch'",
    "EXPLAIN SELECT 1",
    "SHOW work_mem",
    "DEALLOCATE q",
    "SECURITY LABEL ON TABLE a IS 'x'",
    "LOAD 'nosuch'",
    "IMPORT FOREIGN SCHEMA x FROM SERVER y INTO public",
    "DECLARE q varchar(2) := 'abc'; BEGIN NULL; END",
    "DECLARE q numeric(3,1) := 12345; BEGIN NULL; END",
    'DECLARE q text COLLATE "nosuch"; BEGIN NULL; END',
    "SELECT * INTO r FROM row_of() AS q(one int, two text); EXECUTE format('COMMENT ON TABLE a IS %L', r.two)",
    "FOR r IN SELECT * FROM rows_of() AS q(one int, two text) LOOP PERFORM r.two; t := r.two; END LOOP",
)

SUCCEEDS = (
    "PERFORM 1/1", "PERFORM 1/nullif(0, 0)", "i := '12'", "i := 1.5", "bo := 'yes'", "d := '2024-02-28'", "j := '{}'",
    "arr := '{1,2}'", "i := CASE WHEN false THEN 1/0 ELSE 1 END", "t := format('%s', 1)", "t := quote_ident(NULL)",
    "t := current_setting('no.such', true)", "bo := 'a' LIKE 'a%'", "SELECT 1 INTO STRICT i",
    "SELECT pubname INTO STRICT t FROM pg_publication WHERE pubname = 'p'", "PERFORM id FROM a",
    "PERFORM a.id FROM a, b WHERE a.x = b.x AND a.id = i",
    "EXECUTE 'SELECT $1' USING 1", "IF false THEN PERFORM 1/0; END IF", "IF false THEN PERFORM missing(); END IF",
    "IF NOT EXISTS (SELECT 1 FROM pg_publication_tables WHERE tablename = 'b') THEN RAISE EXCEPTION 'x'; END IF",
    "IF current_setting('server_version_num')::int < 150000 THEN RAISE EXCEPTION 'old'; END IF",
    "FOR q IN 1..0 LOOP PERFORM 1/0; END LOOP", "FOR r IN SELECT 1 AS q LOOP i := r.q; END LOOP",
    "OPEN c; FETCH c INTO i; CLOSE c", "GET DIAGNOSTICS i = ROW_COUNT", "SET work_mem = '4MB'", "LOCK TABLE a",
    "TRUNCATE b", "GRANT SELECT ON a TO PUBLIC", "COMMENT ON COLUMN a.x IS 'x'", "NOTIFY x",
    "BEGIN PERFORM 1/0; EXCEPTION WHEN division_by_zero THEN NULL; END",
    "BEGIN PERFORM missing FROM a; EXCEPTION WHEN undefined_column THEN NULL; END", "FOR q IN c LOOP NULL; END LOOP",
)  # fmt: skip

PLACES = (
    ("PERFORM missing FROM a", 8, "missing"),
    ("i := missing + 1", 6, "missing"),
    ("i := 'x'", 6, "'x'"),
    ("IF missing > 1 THEN NULL; END IF", 1, "missing"),
    ("EXECUTE 'SELECT missing FROM a'", 8, "missing"),
    ("garbage", 242, "garbage"),
)
"""What fails, and where: servers count in the expression or the query, or else in the whole statement."""


def block(statement: str) -> str:
    return f"DO $do$ DECLARE {VARIABLES} BEGIN ALTER PUBLICATION p ADD TABLE b; {statement}; END $do$;\n"


@pytest.mark.parametrize(("statement", "sqlstate", "message"), FAILS)
def test_what_fails_is_told_and_changes_nothing(statement: str, sqlstate: str, message: str) -> None:
    findings = lint(SETUP + block(statement) + "ALTER PUBLICATION p DROP TABLE b;", complete=True)
    assert answers(findings) == [(sqlstate, message, "certain"), NO_MEMBER]


@pytest.mark.parametrize("statement", MAY_FAIL)
@pytest.mark.parametrize("complete", [True, False])
def test_what_may_fail_leaves_nothing_certain(statement: str, complete: bool) -> None:
    findings = lint(SETUP + block(statement) + "ALTER PUBLICATION p ADD TABLE b;", complete=complete)
    assert all(certainty == "assumed" for _, _, certainty in answers(findings))


@pytest.mark.parametrize("statement", [statement for statement, _, _ in FAILS])
def test_nothing_is_certain_of_what_the_open_world_may_hold(statement: str) -> None:
    """The servers take the last statement: the block has failed."""
    findings = lint(SETUP + block(statement) + "ALTER PUBLICATION p ADD TABLE b;")
    assert MEMBER not in answers(findings)


@pytest.mark.parametrize("statement", SUCCEEDS)
def test_what_succeeds_is_certain(statement: str) -> None:
    findings = lint(SETUP + block(statement) + "ALTER PUBLICATION p ADD TABLE b;", complete=True)
    assert answers(findings) == [MEMBER]


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
def test_servers_say_so(servers: Servers, major: int) -> None:
    with servers[major].database() as name, servers[major].connect(name) as connection:
        prepare(connection, split(SETUP))
        for statement, sqlstate, message in FAILS:
            answer = execute(connection, block(statement))
            assert (answer.sqlstate, answer.message) == (sqlstate, message), statement
        for statement in SUCCEEDS:
            assert answer_in(connection, (), block(statement)).ok, statement
        for statement, position, _ in PLACES:
            assert execute(connection, block(statement)).position == position, statement


def test_a_block_that_fails_and_is_not_about_publications_is_not_spoken_of() -> None:
    assert not lint("CREATE TABLE a (id int); DO $$ BEGIN PERFORM 1/0; END $$;")


def test_what_fails_after_rows_were_changed_is_assumed() -> None:
    """It fails, but perhaps in other words."""
    body = "CREATE PUBLICATION q; INSERT INTO a VALUES (1), (1); PERFORM 1/0;"
    findings = lint(f"{SETUP} DO $$ BEGIN {body} END $$; CREATE PUBLICATION q; CREATE PUBLICATION q;")
    assert answers(findings) == [
        ("22012", "division by zero", "assumed"),
        ("42710", 'publication "q" already exists', "certain"),
    ]


def test_columns_that_such_a_block_adds_may_be_missing() -> None:
    """PostgreSQL takes the second block: the first one fails."""
    fails = "INSERT INTO a VALUES (1), (1);"
    blocks = f"DO $$ BEGIN ALTER TABLE a ADD COLUMN z int; {fails} END $$;"
    blocks += "DO $$ BEGIN ALTER TABLE a ADD COLUMN z int; ALTER PUBLICATION p ADD TABLE b; END $$;"
    assert answers(lint(SETUP + blocks, complete=True)) == []
    added = ("42701", 'column "z" of relation "a" already exists', "certain")
    assert answers(lint(SETUP + blocks.replace(fails, ""), complete=True)) == [added]


def test_an_argument_of_a_function_may_be_of_any_type() -> None:
    """PostgreSQL refuses the call: there is no such column."""
    function = (
        "CREATE FUNCTION f(t regclass, n int) RETURNS void LANGUAGE plpgsql AS $$ DECLARE s text; BEGIN"
        " ALTER PUBLICATION p ADD TABLE b; SELECT relname INTO s FROM pg_class WHERE oid = t AND relpages > n;"
        " PERFORM missing FROM a; END $$;"
    )
    findings = lint(SETUP + function + "SELECT f('a', 1);", complete=True)
    assert findings[0].rule == "PUB137"
    assert answers(findings) == [("42703", 'column "missing" does not exist', "certain")]


@pytest.mark.parametrize(("statement", "position", "place"), PLACES)
def test_a_failure_is_told_at_its_place(statement: str, position: int, place: str) -> None:
    (finding,) = [
        diagnostic for diagnostic in lint(SETUP + block(statement), complete=True) if diagnostic.phase == "ddl"
    ]
    assert finding.server is not None
    assert finding.server.position == position
    assert covered(finding.span) == place


def test_what_is_made_in_the_place_of_what_is_perhaps_there_is_assumed() -> None:
    """PostgreSQL refuses the second block because of p, which is there: the first one fails."""
    blocks = "DO $$ BEGIN ALTER PUBLICATION p SET TABLE b; INSERT INTO a VALUES (1), (1); END $$;"
    blocks += "DO $$ BEGIN CREATE PUBLICATION p; ALTER PUBLICATION q ADD TABLE b; END $$;"
    refusals = [(sqlstate, certainty) for sqlstate, _, certainty in answers(lint(SETUP + blocks, complete=True))]
    assert refusals == [("42704", "assumed")]


def test_a_schema_that_is_perhaps_there_refuses_nothing_for_certain() -> None:
    """PostgreSQL refuses the first block (23505) and takes the others."""
    made = "DO $$ BEGIN CREATE SCHEMA s; INSERT INTO a VALUES (1), (1); END $$;"
    again = "DO $$ BEGIN CREATE PUBLICATION q; CREATE SCHEMA s; END $$; DROP PUBLICATION q;"
    assert answers(lint(SETUP + made + again, complete=True)) == []
