"""DO blocks where not everything is visible: what is guarded is not reported, what is not known is only assumed."""

from __future__ import annotations

import pytest

from pubcheck.diagnostics import Diagnostic
from tests.support.linting import answers, lint

TABLE = "CREATE TABLE public.messages (id int PRIMARY KEY, body text);\n"


def errors(script: str) -> list[Diagnostic]:
    return [finding for finding in lint(script) if finding.severity == "error"]


GUARDED = [
    "IF NOT EXISTS (SELECT 1 FROM pg_publication_tables WHERE pubname = 'platform' AND schemaname = 'public'"
    " AND tablename = 'messages') THEN {add} END IF;",
    "IF NOT EXISTS (SELECT 1 FROM pg_publication_rel pr JOIN pg_publication p ON p.oid = pr.prpubid"
    " JOIN pg_class c ON c.oid = pr.prrelid WHERE p.pubname = 'platform' AND c.relname = 'messages')"
    " THEN {add} END IF;",
    "BEGIN {add} EXCEPTION WHEN duplicate_object THEN NULL; END;",
    "BEGIN {add} EXCEPTION WHEN OTHERS THEN RAISE NOTICE '%', SQLERRM; END;",
    "IF current_setting('app.realtime', true) = 'on' THEN {add} END IF;",
]


@pytest.mark.parametrize("guard", GUARDED)
def test_a_guarded_member_is_never_reported_as_there_already(guard: str) -> None:
    block = "DO $$ BEGIN " + guard.format(add="ALTER PUBLICATION platform ADD TABLE public.messages;") + " END $$;\n"
    assert not errors(TABLE + block + block)
    assert not errors(TABLE + "ALTER PUBLICATION platform ADD TABLE public.messages;\n" + block)


def test_a_guard_for_the_publication_silences_that_it_is_not_visible() -> None:
    block = "DO $$ BEGIN IF EXISTS (SELECT 1 FROM pg_publication WHERE pubname = 'platform') THEN {} END IF; END $$;"
    assert not lint(TABLE + block.format("ALTER PUBLICATION platform ADD TABLE public.messages;"))
    findings = lint(TABLE + block.format("ALTER PUBLICATION platform ADD TABLE public.others;"))
    assert [(finding.rule, finding.certainty, finding.severity) for finding in findings] == [
        ("PUB107", "assumed", "note")
    ]


@pytest.mark.parametrize("condition", ["undefined_object", "OTHERS", "SQLSTATE '42704'"])
def test_a_handler_silences_the_names_that_it_is_for(condition: str) -> None:
    block = f"DO $$ BEGIN ALTER PUBLICATION platform ADD TABLE messages; EXCEPTION WHEN {condition} THEN NULL; END $$;"
    assert not lint(TABLE + block)


def test_without_a_guard_a_name_that_is_not_visible_is_a_note() -> None:
    findings = lint(TABLE + "DO $$ BEGIN ALTER PUBLICATION platform ADD TABLE messages; END $$;")
    assert [(finding.rule, finding.severity, finding.certainty) for finding in findings] == [
        ("PUB106", "note", "assumed")
    ]


def test_a_block_that_is_followed_hides_nothing() -> None:
    block = "DO $$ BEGIN PERFORM set_config('a.b', 'c', false); INSERT INTO x VALUES (1); END $$;"
    script = TABLE + block + "ALTER TABLE messages DROP COLUMN body; CREATE PUBLICATION p FOR TABLE messages (body);"
    assert answers(lint(script)) == [("42703", 'column "body" of relation "messages" does not exist', "certain")]


def test_what_is_made_under_an_unknown_condition_is_assumed() -> None:
    made = "CREATE PUBLICATION p FOR TABLE messages WHERE (body > 'a');"
    findings = lint(TABLE + f"DO $$ BEGIN IF random() > 0.5 THEN {made} END IF; END $$;")
    assert {(finding.phase, finding.certainty) for finding in findings if finding.phase == "write"} == {
        ("write", "assumed")
    }


def test_an_error_under_an_unknown_condition_is_assumed() -> None:
    block = "DO $$ BEGIN IF random() > 0.5 THEN CREATE PUBLICATION p FOR TABLE messages WHERE (nope); END IF; END $$;"
    assert answers(lint(TABLE + block)) == [("42703", 'column "nope" does not exist', "assumed")]


def test_what_was_dropped_under_an_unknown_condition_may_still_be_there() -> None:
    script = TABLE + "CREATE PUBLICATION p; DO $$ BEGIN IF random() > 0.5 THEN DROP PUBLICATION p; END IF; END $$;"
    assert not errors(script + "ALTER PUBLICATION p ADD TABLE messages;")
    assert not errors(script + "CREATE PUBLICATION p;")


def test_after_a_return_that_is_not_certain_the_rest_is_in_doubt() -> None:
    made = "CREATE PUBLICATION p FOR TABLE messages WHERE (no);"
    findings = lint(TABLE + f"DO $$ BEGIN IF random() > 0.5 THEN RETURN; END IF; {made} END $$")
    assert [certainty for *_, certainty in answers(findings)] == ["assumed"]


def test_a_statement_of_unknown_text_is_said_once_a_file() -> None:
    block = "DO $$ BEGIN EXECUTE 'ALTER PUBLICATION p ADD TABLE ' || (SELECT name FROM wanted); END $$;\n"
    findings = lint("CREATE PUBLICATION p;" + block * 3)
    assert [finding.rule for finding in findings if finding.rule == "PUB009"] == ["PUB009"]


def test_a_refusal_that_others_takes_is_a_note() -> None:
    block = "DO $$ BEGIN CREATE PUBLICATION p FOR TABLE messages WHERE (nope); EXCEPTION WHEN OTHERS THEN NULL; END $$;"
    findings = lint(TABLE + block)
    assert [(finding.rule, finding.severity, finding.certainty) for finding in findings] == [
        ("PUB135", "note", "certain")
    ]
    assert not lint(TABLE + "CREATE PUBLICATION p FOR TABLE messages;" + block.replace(" WHERE (nope)", ""))


@pytest.mark.parametrize("kind", ["void", "trigger", "event_trigger"])
def test_a_function_that_nothing_calls_is_judged_as_if_something_did(kind: str) -> None:
    body = "BEGIN EXECUTE 'ALTER PUBLICATION p ADD TABLE messages WHERE (nope)'; END"
    made = f"CREATE FUNCTION f() RETURNS {kind} LANGUAGE plpgsql AS $$ {body} $$;"
    script = TABLE + "CREATE PUBLICATION p;" + made
    assert answers(lint(script)) == [("42703", 'column "nope" does not exist', "assumed")]


def test_a_function_that_nothing_calls_changes_nothing() -> None:
    body = "BEGIN ALTER PUBLICATION p ADD TABLE messages; DROP TABLE messages; EXECUTE $1; END"
    made = f"CREATE FUNCTION f(x text) RETURNS void LANGUAGE plpgsql AS $$ {body} $$;"
    findings = lint(TABLE + "CREATE PUBLICATION p FOR TABLE messages WHERE (body > 'a');" + made)
    assert {(finding.phase, finding.certainty) for finding in findings} == {("write", "certain")}


@pytest.mark.parametrize(
    "body",
    [
        "BEGIN LOOP CREATE PUBLICATION p; END LOOP; END",
        "BEGIN LOOP NULL; END LOOP; END",
        "BEGIN FOR i IN 1..1000000000 LOOP NULL; END LOOP; END",
        "DECLARE i int := 0; BEGIN WHILE i < 1000000 LOOP i := i + 1; END LOOP; END",
        "BEGIN nonsense; END",
        "BEGIN x := y; END",
        "",
        "BEGIN " * 300 + "END; " * 299 + "END",
        "BEGIN PERFORM f(); END",
        "BEGIN EXECUTE repeat('x', 1000000); END",
        "BEGIN IF " + "NOT " * 5000 + "true THEN CREATE PUBLICATION p; END IF; END",
        "BEGIN IF " + " OR ".join(["true"] * 5000) + " THEN CREATE PUBLICATION p; END IF; END",
        "DECLARE a nope%ROWTYPE; b x.y%TYPE; c zork[] := '{}'; BEGIN a := b; SELECT 1 INTO a.b; END",
    ],
)
def test_no_body_breaks_anything(body: str) -> None:
    function = "CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN PERFORM f(); END /* publication */ $$;"
    for complete in (False, True):
        lint(function + f"DO $$ {body} $$; SELECT f(); CREATE PUBLICATION q;", complete=complete)


def test_a_member_of_all_tables_behind_its_guard_is_not_reported() -> None:
    made = "DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_publication WHERE pubname = 'p') THEN {} END IF; END $$;"
    guard = "SELECT 1 FROM pg_publication_tables WHERE pubname = 'p' AND tablename = 'issues'"
    added = f"DO $$ BEGIN IF NOT EXISTS ({guard}) THEN ALTER PUBLICATION p ADD TABLE issues; END IF; END $$;"
    assert not errors(made.format("CREATE PUBLICATION p FOR ALL TABLES;") + added)
    assert not errors("CREATE PUBLICATION p FOR ALL TABLES;" + added)


def test_a_helper_that_takes_a_table_is_followed_for_tables_that_are_not_visible() -> None:
    helper = """CREATE FUNCTION ensure(t regclass) RETURNS void LANGUAGE plpgsql AS $$
      DECLARE s text; n text;
      BEGIN
        SELECT ns.nspname, c.relname INTO s, n FROM pg_class c JOIN pg_namespace ns ON ns.oid = c.relnamespace
         WHERE c.oid = t;
        IF NOT EXISTS (SELECT 1 FROM pg_publication_tables WHERE pubname = 'p' AND schemaname = s
                         AND tablename = n) THEN
          EXECUTE format('ALTER PUBLICATION p ADD TABLE %I.%I', s, n);
        END IF;
      END $$;"""
    findings = lint(
        TABLE + "CREATE PUBLICATION p;" + helper + "SELECT ensure('public.notes'); SELECT ensure('messages');"
    )
    assert [(finding.rule, finding.certainty) for finding in findings] == [("PUB107", "assumed")]
    script = TABLE + "CREATE PUBLICATION p;" + helper + "SELECT ensure('messages');"
    again = lint(script + "ALTER PUBLICATION p ADD TABLE messages;")
    assert answers(again) == [("42710", 'relation "messages" is already member of publication "p"', "certain")]


def test_what_an_event_trigger_does_later_is_not_followed() -> None:
    body = "BEGIN EXECUTE format('ALTER TABLE %s ADD COLUMN z int', tg_tag); END"
    made = f"CREATE FUNCTION f() RETURNS event_trigger LANGUAGE plpgsql AS $$ {body} $$;"
    fired = "CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION f();"
    script = made + "{}" + TABLE + "CREATE PUBLICATION p FOR TABLE messages (id, z);"
    assert [certainty for *_, certainty in answers(lint(script.format("")))] == ["certain"]
    assert [certainty for *_, certainty in answers(lint(script.format(fired)))] == ["assumed"]
