"""What is certain of publications after something that is not followed: the last statement of each case is accepted by
PostgreSQL 15 to 18 (asked), and would be refused if what is not followed had done nothing."""

from __future__ import annotations

import pytest

from tests.support.linting import answers, lint, writes

_SETUP = "CREATE TABLE t (id int PRIMARY KEY); CREATE PUBLICATION p FOR TABLE t;"
_DROPS = "EXECUTE format('ALTER PUBLICATION p DROP TABLE %I', x)"
_FUNCTION = f"CREATE FUNCTION f(x text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN {_DROPS}; END $$;"
_ADD, _CREATE = "ALTER PUBLICATION p ADD TABLE t;", "CREATE PUBLICATION p FOR TABLE t;"

ACCEPTED = {
    "loop": "DO $$ DECLARE x text; BEGIN FOR x IN SELECT regexp_split_to_table('t', ',') LOOP"
    f" {_DROPS}; END LOOP; END $$; {_ADD}",
    "call": "CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN EXECUTE (SELECT 'DROP PUBLICATION ' ||"
    f" string_agg(pubname, ', ') FROM pg_publication); END $$; SELECT f(); {_CREATE}",
    "gexec": "SELECT 'ALTER PUBLICATION p DROP TABLE ' || tablename FROM pg_tables WHERE tablename = 't' \\gexec\n"
    f"{_ADD}",
    "trigger": "CREATE TABLE l (x text); CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    " EXECUTE 'ALTER PUBLICATION p DROP TABLE ' || NEW.x; RETURN NEW; END $$; CREATE TRIGGER a BEFORE INSERT ON l"
    f" FOR EACH ROW EXECUTE FUNCTION f(); INSERT INTO l VALUES ('t'); {_ADD}",
    "decoded": "DO $$ DECLARE s text := convert_from(decode('RFJPUCBQVUJMSUNBVElPTiBw', 'base64'), 'utf8'); BEGIN"
    f" EXECUTE s; END $$; {_CREATE}",
    "another language": f'DO LANGUAGE plpython3u $$ plpy.execute("DROP PUBLICATION p") $$; {_CREATE}',
    "made elsewhere": f"SELECT reset_publications(); {_CREATE}",
    "function in FROM": f"{_FUNCTION} SELECT * FROM f('t'); {_ADD}",
    "subquery": f"{_FUNCTION} SELECT (SELECT f('t')); {_ADD}",
    "VALUES": f"{_FUNCTION} VALUES (f('t')); {_ADD}",
    "EXPLAIN ANALYZE": f"{_FUNCTION} EXPLAIN ANALYZE SELECT f('t'); {_ADD}",
    "INSERT": f"{_FUNCTION} INSERT INTO t SELECT 1 FROM f('t'); {_ADD}",
    "prepared": f"{_FUNCTION} PREPARE s AS SELECT f('t'); EXECUTE s; {_ADD}",
    "overloaded": f"{_FUNCTION} CREATE FUNCTION f(x int) RETURNS void LANGUAGE sql AS ''; SELECT f('t'); {_ADD}",
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_may_be_gone_is_not_held_against_anybody(name: str) -> None:
    findings = lint(f"{_SETUP} {ACCEPTED[name]}")
    assert all(certainty == "assumed" for _, _, certainty in answers(findings))


@pytest.mark.parametrize(
    "harmless",
    [
        "SELECT cron.schedule('nightly', '0 3 * * *', 'VACUUM');",
        "DO $$ DECLARE x text; BEGIN FOR x IN SELECT relname FROM stat LOOP"
        " EXECUTE format('ANALYZE %I', x); END LOOP; END $$;",
        "DO $$ DECLARE x text; BEGIN FOR x IN SELECT a FROM u LOOP"
        " EXECUTE format('ALTER PUBLICATION p ADD TABLE %I', x); END LOOP; END $$;",
    ],
)
def test_what_takes_nothing_away_leaves_certainty(harmless: str) -> None:
    findings = lint(f"{_SETUP} {harmless} {_ADD}")
    assert answers(findings)[-1] == ("42710", 'relation "t" is already member of publication "p"', "certain")


def test_a_publication_made_after_that_is_perhaps_refused() -> None:
    """If nothing was dropped, PostgreSQL 15 to 18 refuse the second CREATE and accept the last statement."""
    findings = lint(f"{_SETUP} SELECT reset_publications(); CREATE PUBLICATION p; ALTER PUBLICATION p DROP TABLE t;")
    assert answers(findings) == []


def test_what_may_have_become_a_member_is_taken_away_by_assumption() -> None:
    block = (
        "DO $$ DECLARE x text; BEGIN FOR x IN SELECT regexp_split_to_table('u', ',') LOOP"
        " EXECUTE format('ALTER PUBLICATION p ADD TABLE %I', x); END LOOP; END $$;"
    )
    findings = lint(f"{_SETUP} CREATE TABLE u (); {block} ALTER PUBLICATION p DROP TABLE u;")
    assert answers(findings)[-1] == ("42704", 'relation "u" is not part of the publication', "assumed")


@pytest.mark.parametrize("query", ["SELECT f('t') LIMIT 0", "SELECT f('t') OFFSET 1", "EXPLAIN SELECT f('t')"])
def test_a_call_that_is_not_run_changes_nothing_for_certain(query: str) -> None:
    findings = lint(f"{_SETUP} {_FUNCTION} {query}; {_ADD}")
    assert [sqlstate for sqlstate, _, _ in answers(findings)] == ["42710"]


def test_a_function_in_from_is_followed() -> None:
    findings = lint(f"{_SETUP} {_FUNCTION} SELECT * FROM f('t'); {_ADD} {_ADD}")
    assert answers(findings) == [("42710", 'relation "t" is already member of publication "p"', "certain")]


@pytest.mark.parametrize(
    "block",
    [
        "DO LANGUAGE sql $$ ALTER PUBLICATION p DROP TABLE t; $$;",
        "DO $$ BEGIN ALTER PUBLICATION p DROP TABLE t; EXCEPTION WHEN no_such_thing THEN NULL; END $$;",
        "DO $$ BEGIN ALTER PUBLICATION p DROP TABLE t; SELECT 1; END $$;",
        "DO $$ BEGIN ALTER PUBLICATION p DROP TABLE t; INSERT INTO t VALUES (1) RETURNING id; END $$;",
        "DO $$ DECLARE x int; BEGIN ALTER PUBLICATION p DROP TABLE t; x := 'abc'; END $$;",
        "DO $$ BEGIN ALTER PUBLICATION p DROP TABLE t; EXECUTE NULL; END $$;",
    ],
)
def test_a_block_that_fails_changes_nothing(block: str) -> None:
    """PostgreSQL 15 to 18 refuse each, and then the ALTER PUBLICATION."""
    findings = lint(f"{_SETUP} {block} {_ADD}")
    assert next(finding.rule for finding in findings if finding.phase == "ddl") == "PUB137"
    assert answers(findings)[1:] == [("42710", 'relation "t" is already member of publication "p"', "certain")]


def test_what_an_event_trigger_may_have_added_is_taken_away_by_assumption() -> None:
    """PostgreSQL 15 to 18 accept the last statement."""
    text = (
        "CREATE FUNCTION f() RETURNS event_trigger LANGUAGE plpgsql AS $$ DECLARE r record; BEGIN"
        " FOR r IN SELECT * FROM pg_event_trigger_ddl_commands() WHERE command_tag = 'CREATE TABLE' LOOP"
        " EXECUTE format('ALTER PUBLICATION p ADD TABLE %s', r.object_identity); END LOOP; END $$;"
        "CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION f(); CREATE TABLE u (id int PRIMARY KEY);"
        "ALTER PUBLICATION p DROP TABLE u;"
    )
    findings = lint(f"{_SETUP} {text}")
    assert [certainty for _, _, certainty in answers(findings)] == ["assumed"]


def test_a_function_that_was_perhaps_dropped_may_be_there() -> None:
    script = (
        "CREATE FUNCTION f() RETURNS text LANGUAGE sql AS $$ SELECT 'one' $$;"
        "DO $$ BEGIN BEGIN DROP FUNCTION f(); RAISE EXCEPTION 'x'; EXCEPTION WHEN raise_exception THEN NULL; END;"
        " EXECUTE 'CREATE PUBLICATION ' || f(); END $$;"
    )
    assert [
        finding for finding in lint(script, complete=True) if finding.certainty == "certain" and finding.server
    ] == []


def test_what_stands_for_any_type_is_not_taken_for_it() -> None:
    script = (
        "CREATE FUNCTION first_of(anyarray) RETURNS anyelement LANGUAGE sql AS $$ SELECT $1[1] $$;"
        "DO $$ BEGIN EXECUTE 'CREATE PUBLICATION ' || first_of(ARRAY['x', 'y']); END $$;"
    )
    assert [
        finding for finding in lint(script, complete=True) if finding.certainty == "certain" and finding.server
    ] == []


_FULL, _DEFAULT = (f"ALTER TABLE t REPLICA IDENTITY {kind};" for kind in ("FULL", "DEFAULT"))
_UPDATE, _FEW = "UPDATE t SET b = upper(b);", "(SELECT count(*) FROM t) > 3"


@pytest.mark.parametrize(
    "block",
    [
        f"{_FULL} IF {_FEW} THEN RETURN; END IF; {_DEFAULT}",
        f"IF {_FEW} THEN {_FULL} END IF; IF {_FEW} THEN {_DEFAULT} END IF;",
        f"IF {_FEW} THEN {_FULL} IF {_FEW} THEN {_DEFAULT} END IF; END IF;",
        f"{_FULL} {_UPDATE}",
        f"{_FULL} BEGIN {_UPDATE} {_DEFAULT} EXCEPTION WHEN OTHERS THEN NULL; END;",
        f"BEGIN {_UPDATE} {_DEFAULT} EXCEPTION WHEN OTHERS THEN {_FULL} END;",
        f"BEGIN {_FULL} {_UPDATE} EXCEPTION WHEN OTHERS THEN {_DEFAULT} END;",
        f"IF {_FEW} THEN {_FULL} ELSE {_DEFAULT} END IF;",
        f"IF {_FEW} THEN {_DEFAULT} ELSE {_FULL} END IF;",
        f"IF {_FEW} THEN {_FULL} {_DEFAULT} ELSIF {_FEW} THEN {_FULL} END IF;",
        f"{_FULL} IF {_FEW} THEN {_DEFAULT} ELSE IF {_FEW} THEN {_DEFAULT} END IF; END IF;",
        f"{_FULL} IF {_FEW} THEN RETURN; ELSE {_DEFAULT} END IF;",
    ],
)
def test_an_identity_that_a_block_may_leave_changed_is_not_certain(block: str) -> None:
    """The rows decide which identity the table has: PostgreSQL 18 refuses the DELETE or does it."""
    table = "CREATE TABLE t (a int, b text); CREATE PUBLICATION p FOR ALL TABLES;"
    findings = lint(f"{table} DO $$ BEGIN {block} END $$;", complete=True)
    assert not [write for write in writes(findings) if write[2] == "certain"]


def test_what_precedes_a_statement_that_may_fail_in_a_block_with_a_handler_is_assumed() -> None:
    """If other.missing does not exist, the handler takes the error and nothing has published t."""
    findings = lint(
        "CREATE TABLE t (a int); CREATE PUBLICATION p; DO $$ BEGIN BEGIN ALTER PUBLICATION p ADD TABLE t;"
        " ALTER TABLE other.missing ADD x int; EXCEPTION WHEN OTHERS THEN NULL; END; END $$;"
    )
    assert not [write for write in writes(findings) if write[2] == "certain"]


@pytest.mark.parametrize(
    "command",
    [
        "format('REVOKE ALL ON SCHEMA public FROM %I', current_user)",
        "'GRANT SELECT ON ' || quote_ident((SELECT a FROM u)) || ' TO PUBLIC'",
        "format('COMMENT ON TABLE %I IS NULL', (SELECT a FROM u))",
        "concat('REASSIGN OWNED BY ', (SELECT a FROM u), ' TO postgres')",
    ],
)
def test_a_command_that_begins_with_another_matter_puts_no_publication_in_doubt(command: str) -> None:
    """Although the block around it names a publication; PostgreSQL 15 to 18 refuse the second ADD."""
    table = "CREATE TABLE t (id int PRIMARY KEY); CREATE PUBLICATION p FOR TABLE t;"
    block = f"DO $$ BEGIN EXECUTE {command}; DROP PUBLICATION IF EXISTS other; END $$;"
    assert answers(lint(f"{table} {block} ALTER PUBLICATION p ADD TABLE t;"))[-1][::2] == ("42710", "certain")


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE t RENAME TO s;",
        "ALTER TABLE t SET SCHEMA s;",
        "ALTER PUBLICATION p RENAME TO q;",
        "ALTER TABLE t RENAME COLUMN b TO d;",
        "DROP TABLE t;",
    ],
)
@pytest.mark.parametrize("complete", [False, True])
def test_what_a_branch_perhaps_renamed_is_not_certainly_missing(change: str, complete: bool) -> None:
    """If the branch is skipped, PostgreSQL 15 to 18 accept the statement after it."""
    findings = lint(
        "CREATE SCHEMA s; CREATE TABLE t (a int PRIMARY KEY, b text); CREATE PUBLICATION p;"
        f"DO $$ BEGIN IF {_FEW} THEN {change} END IF; ALTER PUBLICATION p ADD TABLE t (a, b); END $$;",
        complete=complete,
    )
    assert not [answer for answer in answers(findings) if answer[2] == "certain"]
