"""Statements in strings of programs and in templates: what is certain, what is assumed, what is not said."""

from __future__ import annotations

import pytest

from pubcheck import extract
from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from tests.support.linting import covered


def lint(text: str, kind: str, *others: str) -> list[Diagnostic]:
    sources = [extract.source(f"{number}.sql", other) for number, other in enumerate(others)]
    unit = Unit((*sources, extract.source("program", text, kind)))
    return [found for found in Linter(Config(postgres=(18,))).lint(unit).diagnostics if found.rule != "PUB010"]


def standing(found: list[Diagnostic]) -> list[tuple[str, str]]:
    return [(one.rule, one.certainty) for one in found]


def test_a_syntax_error_in_a_string_points_into_the_program_and_is_certain_in_a_migration() -> None:
    text = 'run("ALTER PUBLICATION p ADD TABLEZ \\"T\\"")'
    [found] = lint(text, "python")
    assert (found.rule, found.certainty) == ("PUB102", "assumed")
    migration = f"from alembic import op\n\ndef upgrade():\n    {text}"
    assert standing(lint(migration, "python")) == [("PUB102", "certain")]
    assert covered(found.span) == "TABLEZ"
    assert found.server is not None
    assert found.server.position == len("ALTER PUBLICATION p ADD ") + 1


def test_a_place_after_escapes_is_that_of_the_program_and_the_position_that_of_the_statement() -> None:
    text = 'run("CREATE TABLE \\"T\\" (id int)"); run("CREATE PUBLICATION p FOR TABLE \\"T\\" WHERE (random() > 1)")'
    found = [one for one in lint(text, "javascript") if one.rule == "PUB209"]
    assert [covered(one.span) for one in found] == ["random()"]
    assert found[0].server is not None
    assert found[0].server.position == len('CREATE PUBLICATION p FOR TABLE "T" WHERE (') + 1
    assert found[0].span.source.shown == text


def test_what_a_program_does_is_assumed_and_what_a_migration_does_is_certain() -> None:
    table = "CREATE TABLE t (id int PRIMARY KEY);"
    program = 'run("CREATE PUBLICATION p FOR TABLE t WHERE (random() > 1)")\n'
    assert standing(lint(program, "python", table)) == [("PUB209", "assumed")]
    migration = f"from alembic import op\n\ndef upgrade():\n    {program}"
    assert standing(lint(migration, "python", table)) == [("PUB209", "certain")]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("javascript", "const o = {\n  up: 38,\n  down: 2,\n};\nmodule.exports = o;\n"),
        ("javascript", "class Lift {\n  up() {}\n  down() {}\n}\n"),
        ("javascript", "module.exports = { color: 1, up: 2 };\n"),
        ("javascript", "exports.up = 1;\nexports.down = 2;\n"),
        ("javascript", "exports.up = (counter) => counter.next();\n"),
        ("python", 'revision = "2024"\n'),
        ("python", "import alembic\n"),
        ("php", "<?php class A extends Migration { function helper() {} }\n"),
    ],
)
def test_half_a_mark_of_a_tool_makes_no_migration(kind: str, text: str) -> None:
    table = "CREATE TABLE t (id int PRIMARY KEY);"
    program = text + 'run("CREATE PUBLICATION p FOR TABLE t WHERE (random() > 1)");\n'
    assert standing(lint(program, kind, table)) == [("PUB209", "assumed")]


def test_a_program_that_makes_a_thing_again_begins_anew() -> None:
    text = "".join(
        f"it(() => {{ q(`CREATE TABLE t (id int PRIMARY KEY, {column} int)`);\n"
        f"  q(`CREATE PUBLICATION p FOR TABLE t ({column}, id)`); }});\n"
        for column in ("a", "b", "c")
    )
    assert lint(text, "javascript") == []


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("python", 'run(f"ALTER PUBLICATION p ADD TABLE {t}")'),
        ("go", 'fmt.Sprintf("CREATE PUBLICATION %s FOR TABLE %s", p, t)'),
        ("go", 'fmt.Sprintf("CREATE PUBLICATION p FOR ALL TABLES%s", options)'),
        ("rust", 'format!("CREATE PUBLICATION {} FOR TABLE {} WITH (publish_via_partition_root = {})", a, b, c)'),
        ("ruby", "\"CREATE PUBLICATION p FOR TABLE t WITH (publish = '#{operations}')\""),
        ("javascript", '`ALTER TABLE "${t}" REPLICA IDENTITY USING INDEX "${i}"`; `DROP PUBLICATION ${p}`'),
        ("sql", "CREATE PUBLICATION {{ p }} FOR TABLE {{ t }} WITH (publish = '{{ operations }}');"),
        ("sql", "DROP PUBLICATION %s;\nALTER PUBLICATION p ADD TABLE %I.%I;"),
    ],
)
def test_nothing_is_refused_for_a_name_that_is_not_known(kind: str, text: str) -> None:
    assert [one for one in lint(text, kind) if one.severity != "note"] == []


def test_of_a_name_that_stands_for_another_nothing_is_said() -> None:
    assert lint('run(f"CREATE TABLE {t} (id int)"); run(f"CREATE PUBLICATION p FOR TABLE {t}")', "python") == []


def test_of_what_stands_in_the_quotes_of_a_name_nothing_is_said() -> None:
    text = 'run(`ALTER PUBLICATION "%s" RENAME TO "%s"`); run(`DROP PUBLICATION "%s"`)'
    assert lint(text, "go") == []


def test_strings_that_only_look_like_statements_say_nothing() -> None:
    text = 'run("CREATE PUBLICATION p")\nlabel = "Create table of contents"\nother = "ALTER TABLE `x` ENGINE=InnoDB"\n'
    assert lint(text, "python") == []


def test_a_part_of_a_template_that_cannot_be_read_is_said_once_a_file() -> None:
    text = "DROP PUBLICATION IF EXISTS p;\n"
    text += "CREATE TABLE {{ a }} {{ b }} nonsense here;\nCREATE TABLE {{ c }} {{ d }} nonsense there;\n"
    assert [one.rule for one in lint(text, "sql")] == ["PUB004"]


def test_fixes_in_strings_are_only_shown() -> None:
    table = "CREATE TABLE t (id int PRIMARY KEY, a varchar);"
    text = """from alembic import op\nrun("CREATE PUBLICATION p FOR TABLE t WHERE (a IN ('x', 'y'))")\n"""
    fixes = [fix for found in lint(text, "python", table) for fix in found.fixes]
    assert {fix.applicability for fix in fixes} == {"display"}


def test_a_shell_script_that_speaks_to_two_servers_means_two_databases() -> None:
    text = (
        "psql -h primary <<'EOF'\nCREATE TABLE t (id int PRIMARY KEY);\nCREATE PUBLICATION p FOR TABLE t;\nEOF\n"
        "psql -h replica <<'EOF'\nCREATE TABLE t (id int);\nALTER TABLE t ADD COLUMN x int;\nEOF\n"
        "psql -h primary <<'EOF'\nALTER PUBLICATION p ADD TABLE t;\nEOF\n"
    )
    assert standing(lint(text, "shell")) == [("PUB130", "certain")]


_CREATE = '-c "CREATE PUBLICATION p FOR ALL TABLES"'


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("shell", f"psql {_CREATE}\nPGHOST=other psql {_CREATE}\n"),
        ("shell", f'psql "$A_URL" {_CREATE}\npsql "$B_URL" {_CREATE}\n'),
        ("shell", f"export PGDATABASE=a\npsql {_CREATE}\nexport PGDATABASE=b\npsql {_CREATE}\n"),
        ("shell", f"DB=a\npsql $DB {_CREATE}\nDB=b\npsql $DB {_CREATE}\n"),
        ("shell", f"psql -U x {_CREATE} a\npsql -U x {_CREATE} b\n"),
        ("shell", f"psql -h a {_CREATE}\npsql postgres://b/app {_CREATE}\n"),
        ("shell", f"ssh a <<EOF\npsql {_CREATE}\nEOF\nssh b <<EOF\npsql {_CREATE}\nEOF\n"),
        ("yaml", f"a:\n  command: psql -h a {_CREATE}\nb:\n  command: psql -h b {_CREATE}\n"),
    ],
)
def test_what_is_made_in_two_databases_is_not_there_already(kind: str, text: str) -> None:
    assert [one.rule for one in lint(text, kind) if one.severity == "error"] == []


@pytest.mark.parametrize("options", ["", "-U x ", '-d "$DB" ', "-v ON_ERROR_STOP=1 app ", "-p5433 "])
def test_what_is_made_twice_in_one_database_is(options: str) -> None:
    assert ("PUB105", "certain") in standing(lint(f"psql {options}{_CREATE}\n" * 2, "shell"))


def test_what_stands_in_a_condition_of_a_shell_script_runs_perhaps() -> None:
    text = (
        "psql -c 'CREATE TABLE t (id int PRIMARY KEY)'\nif [ -n \"$X\" ]; then\n"
        "  psql -c 'CREATE PUBLICATION p FOR TABLE t WHERE (random() > 1)'\nfi\n"
    )
    assert standing(lint(text, "shell")) == [("PUB209", "assumed")]


def test_the_beginning_of_a_statement_is_no_syntax_error() -> None:
    assert [one.rule for one in lint('parts = ["alter publication p add table"]', "python")] == ["PUB009"]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("python", 'print("{}")'),
        ("python", 'logger.info("{}")'),
        ("python", 'assert "{}" in text'),
        ("python", 'parser.add_argument("--sql", help="{}")'),
        ("python", 'parser = ArgumentParser(description="{}")'),
        ("python", 'click.echo("{}")'),
        ("python", 'raise ValueError("{}")'),
        ("javascript", "console.log('{}');"),
        ("javascript", "console.error(`Run this:\\n{}`);"),
        ("javascript", "expect(sql).toBe('{}');".replace("toBe", "toEqual")),
        ("javascript", "expect(sql).toMatchInlineSnapshot(`{}`);"),
        ("javascript", "describe('{}', () => {{}});"),
        ("go", 'fmt.Println("{}")'),
        ("go", 'log.Printf("{}")'),
        ("rust", 'println!("{}");'),
        ("rust", 'tracing::warn!("{}");'),
        ("python", "print(\"psql -c '{}'\")"),
        ("ruby", 'puts "{}"'),
        ("java", 'System.out.println("{}");'),
        ("elixir", 'IO.puts("{}")'),
        ("php", 'echo "{}";'),
        ("csharp", 'Console.WriteLine("{}"); throw new Exception("{}");'),
        ("make", 'help:\n\t@echo "{}"\n'),
        ("shell", 'echo "{}"\n'),
        ("shell", "printf '%s\\n' '{}'\n"),
        ("shell", 'psql -c "SELECT 1" || echo "{}"\n'),
        ("shell", 'log_info "{}"\n'),
        ("shell", "cat <<EOF\n{}\nEOF\n"),
    ],
)
def test_a_text_that_is_shown_is_no_statement(kind: str, text: str) -> None:
    statement = "CREATE PUBLICATION p FOR TABLE t WHERE (random() > 1);"
    assert lint(text.replace("{}", statement).replace("{{", "{").replace("}}", "}"), kind) == []


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("python", 'changelog.run("{}")'),
        ("python", 'message = "{}"\ncur.execute(message)'),
        ("python", 'catalog("{}")'),
        ("go", 'db.Exec(fmt.Sprintf("{}"))'),
        ("shell", 'echo "{}" | psql app\n'),
        ("shell", 'echo "{}" > /docker-entrypoint-initdb.d/init.sql\n'),
        ("shell", '{ echo "{}"\n} | psql app\n'),
        ("shell", "cat <<EOF | psql app\n{}\nEOF\n"),
        ("shell", "cat <<EOF > init.sql\n{}\nEOF\n"),
        ("shell", 'run_sql "{}"\n'),
    ],
)
def test_a_text_that_goes_on_from_where_it_is_written_is_a_statement(kind: str, text: str) -> None:
    statement = "CREATE PUBLICATION p FOR TABLE t WHERE (random() > 1);"
    assert "PUB209" in [one.rule for one in lint(text.replace("{}", statement), kind)]


def test_that_statements_stand_in_programs_is_said_once_for_all_files() -> None:
    texts = ('run("CREATE PUBLICATION p")', *('run("CREATE PUBLICATION p FOR TABLE t WHERE (random() > 1)")',) * 2)
    sources = [extract.source(f"{number}.py", text, "python") for number, text in enumerate(texts)]
    found = Linter(Config(postgres=(18,))).lint(Unit(tuple(sources))).diagnostics
    assert [(one.rule, one.span.source.label) for one in found if one.rule == "PUB010"] == [("PUB010", "1.py")]


@pytest.mark.parametrize("text", ['run("ALTER PUBLICATION p ADD TABLE t")', 'run("DROP PUBLICATION p")'])
def test_of_a_program_in_which_nothing_is_wrong_nothing_is_said(text: str) -> None:
    assert Linter(Config(postgres=(18,))).lint(Unit((extract.source("x.py", text, "python"),))).diagnostics == ()


def test_a_test_that_rolls_back_a_schema_does_not_stop_the_search_for_near_names() -> None:
    text = (
        "BEGIN; CREATE SCHEMA s; CREATE PUBLICATION p FOR TABLE s.orders; ROLLBACK;\nCREATE TABLE order_s (id int);\n"
    )
    assert [one.rule for one in lint(text, "sql")] == ["PUB107"]


def test_a_program_beside_migrations_does_not_put_them_in_doubt() -> None:
    program = extract.source(
        "0.py", 'run("CREATE TABLE u (id int PRIMARY KEY)"); run("CREATE PUBLICATION q")', "python"
    )
    script = extract.source("1.sql", "CREATE TABLE t (id int);\nCREATE PUBLICATION p FOR TABLE t;\n")
    found = Linter(Config(postgres=(18,))).lint(Unit((program, script))).diagnostics
    assert {(one.rule, one.certainty) for one in found if one.severity == "error"} == {("PUB302", "certain")}


def test_a_key_that_a_program_may_add_is_an_assumption() -> None:
    program = 'run("ALTER TABLE t ADD PRIMARY KEY (id)"); run("CREATE PUBLICATION q")'
    table = "CREATE TABLE t (id int);\nCREATE PUBLICATION p FOR TABLE t;\n"
    assert [one for one in lint(program, "python", table) if one.certainty == "certain"] == []


def test_a_file_after_a_shell_script_is_for_the_first_database_again() -> None:
    script = extract.source(
        "0.sh", "psql -h a <<'EOF'\nCREATE PUBLICATION p;\nEOF\npsql -h b <<'EOF'\nSELECT 1;\nEOF\n", "shell"
    )
    after = extract.source("1.sql", "CREATE PUBLICATION p;\n")
    found = Linter(Config(postgres=(18,))).lint(Unit((script, after))).diagnostics
    assert ("PUB105", "certain") in standing(list(found))


ALEMBIC = "from alembic import op\n\n\ndef upgrade():\n    {}\n\n\ndef downgrade():\n    op.drop_table('t')\n"
PUBLISH = 'op.execute("CREATE PUBLICATION p FOR TABLE t")'


@pytest.mark.parametrize(
    "steps",
    [
        f'op.create_primary_key("t_pk", "t", ["id"])\n    {PUBLISH}',
        f'{PUBLISH}\n    op.create_primary_key("t_pk", "t", ["id"])',
        f"if op.get_context().as_sql:\n        {PUBLISH}",
        f'if op.get_bind().dialect.name == "mysql":\n        return\n    {PUBLISH}',
        f"try:\n        {PUBLISH}\n    except Exception:\n        pass",
        f"pass\n\n\ndef _unused():\n    {PUBLISH}",
        'op.execute(UP)\n\n\nUP = "CREATE PUBLICATION p FOR TABLE t"\nDOWN = "DROP PUBLICATION p"',
        'op.execute(SQL["up"])\n\n\nSQL = {\n    "up": "CREATE PUBLICATION p FOR TABLE t",\n}',
    ],
)
def test_what_a_migration_does_besides_or_on_condition_leaves_nothing_certain(steps: str) -> None:
    table = "CREATE TABLE t (id int);"
    assert [one for one in lint(ALEMBIC.format(steps), "python", table) if one.certainty == "certain"] == []
    assert {one.certainty for one in lint(ALEMBIC.format(PUBLISH), "python", table)} == {"certain"}


def test_go_asks_after_each_statement_whether_it_failed() -> None:
    text = (
        "func init() {\n\tgoose.AddMigrationContext(upOne, downOne)\n}\n\nfunc upOne(tx *sql.Tx) error {\n"
        '\tif _, err := tx.Exec("CREATE PUBLICATION p FOR TABLE t"); err != nil {\n'
        "\t\treturn err\n\t}\n\treturn nil\n}\n"
    )
    assert {one.certainty for one in lint(text, "go", "CREATE TABLE t (id int);")} == {"certain"}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (
            "ruby",
            "class A < ActiveRecord::Migration[7.1]\n  def up\n    create_table :orders\n    execute '{}'\n  end\n"
            "end\n",
        ),
        ("python", 'import alembic\ndef upgrade():\n    op.create_table("orders")\n    op.execute("{}")\n'),
        (
            "python",
            "from django.db import migrations\nclass Migration(migrations.Migration):\n    operations = [\n"
            '        migrations.CreateModel(name="Orders"),\n        migrations.RunSQL("{}"),\n    ]\n',
        ),
        ("rust", 'm.create_table(Table::create().table(Orders::Table)); run("{}")'),
        ("javascript", 'knex.schema.createTable("orders"); run("{}")'),
    ],
)
@pytest.mark.parametrize("complete", [False, True])
def test_a_table_that_a_call_of_a_program_makes_is_not_missing(kind: str, text: str, complete: bool) -> None:
    name = "shop_orders" if "django" in text else "orders"
    source = extract.source("program", text.replace("{}", f"CREATE PUBLICATION p FOR TABLE {name}"), kind)
    found = Linter(Config(postgres=(18,), complete=complete)).lint(Unit((source,))).diagnostics
    assert [one for one in found if one.rule == "PUB107"] == []


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 'b' AS v \\gset\nCREATE PUBLICATION p FOR TABLE :v;\n",
        "\\set b `echo t`\nCREATE PUBLICATION p FOR TABLE :b;\n",
        'CREATE PUBLICATION p FOR TABLE :"unset", part_:unset;\n',
        "CREATE PUBLICATION p FOR TABLE :schema.t;\nALTER PUBLICATION :user DROP TABLE u;\n",
    ],
)
@pytest.mark.parametrize("complete", [False, True])
def test_a_variable_without_a_value_is_no_name(text: str, complete: bool) -> None:
    unit = Unit((extract.source("x.sql", text),))
    found = Linter(Config(postgres=(18,), complete=complete)).lint(unit).diagnostics
    assert [one.rule for one in found] == ["PUB009"]


def test_the_name_of_a_variable_hides_nothing_that_is_known() -> None:
    text = (
        'CREATE TABLE t (id int);\nCREATE PUBLICATION p FOR TABLE t, :"table", :t;\nCREATE PUBLICATION q FOR TABLE u;\n'
    )
    unit = Unit((extract.source("x.sql", text),))
    found = Linter(Config(postgres=(18,))).lint(unit).diagnostics
    assert "PUB302" in {one.rule for one in found}
    assert ['table "u"' in one.message for one in found if one.rule == "PUB107"] == [True]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (
            "javascript",
            "exports.up = (k) => k.raw('ALTER PUBLICATION p ADD TABLE ??', ['u']).raw('DROP PUBLICATION ??');\n"
            "exports.down = () => null;\n",
        ),
        ("python", ALEMBIC.format('op.execute(f"ALTER PUBLICATION p ADD TABLE {x}, {y}")')),
        ("sql", "\\i x.inc\n\\ir y.inc\nALTER PUBLICATION p ADD TABLE t;\n"),
    ],
)
def test_what_a_statement_names_at_run_time_and_files_that_are_not_there_are_said_once_a_file(
    kind: str, text: str
) -> None:
    table = "CREATE TABLE t (id int PRIMARY KEY);\nCREATE PUBLICATION p;\n"
    assert standing(lint(text, kind, table)) == [("PUB009", "assumed")]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("javascript", f'q(`CREATE PUBLICATION "${{this.options.{"name" * 20}}}"`)'),
        ("javascript", f'q("DROP PUBLICATION prefix_" + options.{"name" * 20})'),
        ("sql", f'CREATE PUBLICATION p FOR TABLE :"{"name" * 20}";\n'),
    ],
)
def test_what_stands_for_a_name_is_not_too_long(kind: str, text: str) -> None:
    assert {one.rule for one in lint(text, kind)} <= {"PUB009"}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (
            "python",
            'UP = """CREATE PUBLICATION p"""\nDOWN = """DROP PUBLICATION p"""\n' + ALEMBIC.format("op.execute(UP)"),
        ),
        (
            "javascript",
            "const up = `CREATE PUBLICATION p`;\nconst down: string =\n  `DROP PUBLICATION p`;\n"
            "exports.up = (k) => k.raw(up);\nexports.down = (k) => k.raw(down);\n",
        ),
        (
            "go",
            "const downSQL = `DROP PUBLICATION p`\nvar upSQL = `CREATE PUBLICATION p`\n"
            "func init() { goose.AddMigration(up, down) }\n",
        ),
    ],
)
@pytest.mark.parametrize("later", ["ALTER PUBLICATION p ADD TABLE t;\n", "CREATE PUBLICATION p FOR TABLE t;\n"])
def test_what_a_named_string_of_a_migration_does_is_not_known(kind: str, text: str, later: str) -> None:
    program = extract.source("1", text, kind)
    after = extract.source("2.sql", later)
    table = extract.source("0.sql", "CREATE TABLE t (id int PRIMARY KEY);\n")
    found = Linter(Config(postgres=(18,))).lint(Unit((table, program, after))).diagnostics
    assert [one for one in found if one.severity == "error" and one.certainty == "certain"] == []


@pytest.mark.parametrize(
    "text",
    [
        """run("CREATE SUBSCRIPTION s CONNECTION 'dbname=a' PUBLICATION p"); run("DROP SUBSCRIPTION s")""",
        """run("CREATE SUBSCRIPTION s CONNECTION 'dbname=a' PUBLICATION p");\n""" * 2,
        """run(f"ALTER SUBSCRIPTION {s} DISABLE"); run(f"ALTER SUBSCRIPTION {s} SET (slot_name = NONE)")""",
        """run(f"CREATE SUBSCRIPTION s CONNECTION '{c}' PUBLICATION p WITH (connect = {x}, two_phase = {y})")""",
        """run("ALTER SUBSCRIPTION s SET (slot_name = NONE)"); run("ALTER SUBSCRIPTION s REFRESH PUBLICATION")""",
    ],
)
def test_a_program_runs_in_no_transaction_and_what_it_does_to_subscriptions_elsewhere_is_not_known(text: str) -> None:
    assert [one for one in lint(f"{text}; run('CREATE PUBLICATION p')", "python") if one.rule == "PUB140"] == []


def test_of_a_subscription_that_is_not_visible_the_state_is_not_known() -> None:
    text = (
        "psql -c 'ALTER SUBSCRIPTION s SET (slot_name = NONE)'\npsql -c 'ALTER SUBSCRIPTION s REFRESH PUBLICATION'\n"
        "psql -c 'DROP PUBLICATION IF EXISTS p'\n"
    )
    assert [one for one in lint(text, "shell") if one.severity == "error"] == []


def test_a_publication_that_a_program_drops_and_makes_again_is_another_runs() -> None:
    text = "".join(f'run("DROP PUBLICATION IF EXISTS p"); run("CREATE PUBLICATION p FOR TABLE {t}");\n' for t in "ab")
    tables = "CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY);"
    assert lint(text, "java", tables) == []


_BROKEN = "CREATE PUBLICATION p FOR TABLE t WITH (publish = 'insert, update';"


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("python", f'cur.execute("""{_BROKEN}""")'),
        ("python", f'q = "{_BROKEN}"\ncur.execute(q)'),
        ("ruby", f"execute <<~SQL\n  {_BROKEN}\nSQL\n"),
        ("javascript", f"await client.query(`{_BROKEN}`)"),
        ("javascript", f"await prisma.$executeRaw`{_BROKEN}`"),
        ("go", f'_, err := tx.Exec(ctx, "{_BROKEN}")'),
        ("elixir", f'execute "{_BROKEN}"'),
        ("java", f'statement.execute("{_BROKEN}");'),
        ("csharp", f'migrationBuilder.Sql("{_BROKEN}");'),
        ("php", f'<?php DB::unprepared("{_BROKEN}");'),
        ("rust", f'client.batch_execute("{_BROKEN}").await?;'),
        ("shell", f'psql -c "{_BROKEN}"'),
        ("yaml", f"sql: |\n  {_BROKEN}\n"),
        ("xml", f"<databaseChangeLog><sql>{_BROKEN}</sql></databaseChangeLog>"),
    ],
)
def test_a_literal_that_is_broken_is_a_syntax_error_and_puts_nothing_else_in_doubt(kind: str, text: str) -> None:
    table = "CREATE TABLE t (id int);\nCREATE PUBLICATION whole FOR TABLE t;\n"
    found = lint(text, kind, table)
    assert [(one.rule, covered(one.span)) for one in found if one.rule != "PUB302"] == [("PUB101", ";")]
    assert {one.certainty for one in found if one.rule == "PUB302"} == {"certain"}


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (
            "CREATE PUBLICATION p FOR TABLE t WITH (publish = 'insert)",
            'unterminated quoted string at or near "\'insert)"',
        ),
        ("CREATE PUBLICATION p FOR TABLE t (a, b", "syntax error at end of input"),
        ("CREATE PUBLICATION FOR TABLE t", 'syntax error at or near "FOR"'),
        ("CREATE PUBLICATION p FRO TABLE t", 'syntax error at or near "FRO"'),
        ("DROP PUBLICATION p,", "syntax error at end of input"),
        ("ALTER SUBSCRIPTION s SET PUBLICATION p,", "syntax error at end of input"),
    ],
)
def test_what_a_call_runs_is_a_statement_whatever_is_wrong_with_it(text: str, answer: str) -> None:
    first = ALEMBIC.format(f'op.execute("{text}")\n    op.execute("CREATE PUBLICATION q")')
    [found] = [one for one in lint(first, "python") if one.severity == "error"]
    assert (found.rule, found.certainty) == ("PUB101", "certain")
    assert found.server is not None
    assert found.server.message == answer


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("python", 'parts = ["CREATE PUBLICATION p FOR TABLE t WITH (publish = "]'),
        ("python", 'sql = "CREATE PUBLICATION p FOR TABLE ("\nsql += ", ".join(tables)'),
        ("python", 'cur.execute("CREATE PUBLICATION p FOR TABLE " + ", ".join(tables))'),
        ("python", 'cur.execute("CREATE PUBLICATION p WITH (publish = \'".replace("p", "q"))'),
        ("go", 'b.WriteString("CREATE PUBLICATION p FOR TABLE t (")'),
        ("java", 'new StringBuilder("CREATE PUBLICATION p FOR TABLE t (").append(columns)'),
        ("javascript", 'expect(sql).toContain("CREATE PUBLICATION p FOR TABLE (")'),
    ],
)
def test_the_beginning_of_a_statement_is_no_broken_one(kind: str, text: str) -> None:
    assert {one.rule for one in lint(text, kind)} <= {"PUB009"}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("python", 'cur.execute("ALTER PUBLICATION p SET TABLE " + ", ".join(tables))'),
        ("python", 'cur.execute("ALTER PUBLICATION p SET TABLE " + ", ".join(quote(t) for t in ts) + ";")'),
        ("python", 'cur.execute(("ALTER PUBLICATION p " "SET TABLE ") + ", ".join(tables))'),
        ("python", "cur.execute(f\"ALTER PUBLICATION p SET TABLE {', '.join(tables)}\")"),
        ("python", 'cur.execute("ALTER PUBLICATION p SET TABLE {}".format(", ".join(tables)))'),
        ("python", 'cur.execute("ALTER PUBLICATION p SET TABLE %s" % ", ".join(tables))'),
        ("python", 'cur.execute(sql.SQL("ALTER PUBLICATION p SET TABLE ") + sql.SQL(", ").join(names))'),
        ("python", 'q = "ALTER PUBLICATION p SET TABLE t"\nq += ", u"\ncur.execute(q)'),
        ("python", 'cur.execute(" ".join(["ALTER PUBLICATION p SET TABLE", ", ".join(tables)]))'),
        ("python", 'cur.execute("ALTER PUBLICATION p SET TABLE " + ("a" if x else "b, c") + ", d")'),
        ("python", 'cur.execute("ALTER PUBLICATION p SET TABLE " + NAMES["all"] + ", d")'),
        ("ruby", 'execute "ALTER PUBLICATION p SET TABLE " + tables.map { |t| quote("#{t}") }.join(", ")'),
        ("ruby", "execute \"ALTER PUBLICATION p SET TABLE #{tables.join(', ')}\""),
        ("javascript", "q('ALTER PUBLICATION p SET TABLE ' + tables.map((t) => `\"${t}\"`).join(', '))"),
        ("javascript", "q(`ALTER PUBLICATION p SET TABLE ${tables.join(', ')}`)"),
        ("javascript", "q('ALTER PUBLICATION p SET TABLE '.concat(tables.join(', ')))"),
        ("go", 'db.Exec("ALTER PUBLICATION p SET TABLE " + strings.Join(tables, ", "))'),
        ("go", 'db.Exec(fmt.Sprintf("ALTER PUBLICATION p SET TABLE %s", strings.Join(tables, ", ")))'),
        ("go", 'db.Exec(fmt.Sprint("ALTER PUBLICATION p SET TABLE ", strings.Join(tables, ", ")))'),
        ("go", 'b.WriteString("ALTER PUBLICATION p SET TABLE t")\nb.WriteString(", u")'),
        ("elixir", 'execute("ALTER PUBLICATION p SET TABLE " <> Enum.join(tables, ", "))'),
        ("elixir", 'execute("ALTER PUBLICATION p SET TABLE #{Enum.join(tables, ", ")}")'),
        ("java", 's.execute("ALTER PUBLICATION p SET TABLE " + String.join(", ", tables));'),
        ("java", 's.execute(String.format("ALTER PUBLICATION p SET TABLE %s", String.join(", ", tables)));'),
        ("java", 'new StringBuilder("ALTER PUBLICATION p SET TABLE t").append(", ").append(u);'),
        ("java", 's.execute("ALTER PUBLICATION p SET TABLE " + tables.joinToString(", ") { "\\"$it\\"" })'),
        ("csharp", 'Execute("ALTER PUBLICATION p SET TABLE " + string.Join(", ", tables));'),
        ("csharp", 'Execute($"ALTER PUBLICATION p SET TABLE {string.Join(", ", tables)}");'),
        ("php", "<?php DB::statement('ALTER PUBLICATION p SET TABLE ' . implode(', ', $tables));"),
        ("php", "<?php DB::statement(sprintf('ALTER PUBLICATION p SET TABLE %s', implode(', ', $tables)));"),
        ("rust", 'db.execute(&("ALTER PUBLICATION p SET TABLE ".to_string() + &tables.join(", ")))'),
        ("rust", 'db.execute(&format!("ALTER PUBLICATION p SET TABLE {}", tables.join(", ")))'),
        ("shell", 'psql -c "ALTER PUBLICATION p SET TABLE $(IFS=,; echo "${tables[*]}")"'),
    ],
)
def test_what_is_put_together_at_run_time_is_no_syntax_error(kind: str, text: str) -> None:
    schema = "CREATE TABLE t (id int PRIMARY KEY);\nCREATE PUBLICATION p FOR TABLE t;\n"
    assert [one for one in lint(text, kind, schema) if one.rule not in ("PUB009", "PUB010")] == []


_FULL = (
    ("python", "for t in tables:\n    run(f'ALTER TABLE \"{t}\" REPLICA IDENTITY FULL')"),
    ("python", "for t in tables:\n    run('ALTER TABLE %s REPLICA IDENTITY FULL' % t)"),
    ("python", "for t in tables:\n    run('ALTER TABLE ' + t + ' REPLICA IDENTITY FULL')"),
    ("javascript", "for (const t of all) { run(`ALTER TABLE ${t} REPLICA IDENTITY FULL`); }"),
    ("ruby", 'all.each { |t| run("ALTER TABLE #{t} REPLICA IDENTITY FULL") }'),
)


@pytest.mark.parametrize(("language", "loop"), _FULL)
def test_tables_of_unknown_names_that_get_an_identity_put_that_of_all_in_doubt(language: str, loop: str) -> None:
    tables = "run('CREATE TABLE t (a int PRIMARY KEY, b text)')\nrun('CREATE TABLE u (a int)')\n"
    publication = "\nrun(\"CREATE PUBLICATION p FOR TABLE u, t WHERE (b = 'x')\")"
    assert lint(tables + loop + publication, language) == []
    assert len(lint(tables + loop.replace("FULL", "DEFAULT") + publication, language)) == 2


def test_a_publication_of_unknown_name_is_not_made_again() -> None:
    text = "def f(pub):\n    run('CREATE TABLE t (a int PRIMARY KEY)')\n" + "".join(
        f"    run(f'CREATE PUBLICATION {{pub}} FOR TABLE t WITH (publish = \"{what}\")')\n"
        for what in ("insert", "delete")
    )
    assert lint(text.replace('\\"', ""), "python") == []


_OF_A_CASE = {
    "python": ('def test_{}(db):\n    db.execute("{}")\n    db.execute("{}")\n', "db.execute('{}')\n"),
    "ruby": ('  it "does {}" do\n    execute "{}"\n    execute "{}"\n  end\n', "execute '{}'\n"),
    "javascript": (
        'test("does {}", async () => {{\n  await db.query("{}");\n  await db.query("{}");\n}});\n',
        "beforeEach(() => db.query('{}'));\n",
    ),
    "go": ('func Test{}(t *testing.T) {{\n\tdb.Exec("{}")\n\tdb.Exec("{}")\n}}\n', "var x = db.Exec(`{}`)\n"),
    "elixir": ('  test "does {}" do\n    query!("{}")\n    query!("{}")\n  end\n', "query!('{}')\n"),
    "java": (
        '    @Test\n    void does{}() {{\n        s.execute("{}");\n        s.execute("{}");\n    }}\n',
        '    static int x = s.execute("{}");\n',
    ),
    "csharp": (
        '    [Fact]\n    public void Does{}()\n    {{\n        Execute("{}");\n        Execute("{}");\n    }}\n',
        '    int x = Execute("{}");\n',
    ),
    "php": (
        '<?php\nfunction test{}()\n{{\n    query("{}");\n    query("{}");\n}}\n?>\n',
        "<?php query('{}'); ?>\n",
    ),
    "rust": (
        '    #[tokio::test]\n    async fn does_{}() {{\n        db.execute("{}");\n        db.execute("{}");\n    }}\n',
        'fn x() {{ db.execute("{}"); }}\n',
    ),
}


@pytest.mark.parametrize("kind", _OF_A_CASE)
def test_the_test_cases_of_a_program_have_a_database_each(kind: str) -> None:
    case, outside = _OF_A_CASE[kind]
    publish, add = "CREATE PUBLICATION p FOR TABLE t", "ALTER PUBLICATION p ADD TABLE t"
    together = case.format("a", publish, add)
    apart = case.format("a", publish, "DROP TABLE u") + case.format("b", "DROP TABLE v", add)
    table = outside.format("CREATE TABLE t (id int PRIMARY KEY)")
    assert [one.rule for one in lint(table + together, kind) if one.severity == "error"] == ["PUB130"]
    assert [one.rule for one in lint(table + apart, kind) if one.severity == "error"] == []
    before = table + outside.format(publish)
    again = case.format("a", "DROP TABLE u", add) + case.format("b", "DROP TABLE v", add)
    assert [one.rule for one in lint(before + again, kind) if one.severity == "error"] == ["PUB130", "PUB130"]


def test_a_variable_of_psql_may_hold_a_literal() -> None:
    text = (
        "\\set connection '\\'host=a port=' :port '\\''\n"
        "CREATE SUBSCRIPTION s_:oid CONNECTION :connection PUBLICATION p WITH (slot_name=slot_:oid);\n"
    )
    assert lint(text, "sql") == []


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("python", 're.search(r"CREATE PUBLICATION p FOR TABLE .*", log)'),
        ("python", 'raise Error("ALTER PUBLICATION p SET TABLE is not supported")'),
        ("javascript", "console.log('CREATE PUBLICATION p FOR TABLE a, b, ...;')"),
        ("javascript", "expect(sql).toMatch('CREATE PUBLICATION p FOR TABLE [a-z]+;')"),
        ("go", 'hint: "CREATE PUBLICATION name FOR TABLE table-name;"'),
        ("rust", 'const HINT: &str = "CREATE PUBLICATION p FOR TABLE your table here";'),
        ("java", 'String message = "DROP PUBLICATION p, failed twice";'),
    ],
)
def test_a_string_that_nothing_runs_is_no_statement_unless_it_is_one(kind: str, text: str) -> None:
    assert lint(text, kind) == []


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("python", 'statement = "ALTER PUBLICATION p ADD TABLEZ t"\ncur.execute(statement)'),
        ("javascript", "const sql = `ALTER PUBLICATION p ADD TABLEZ t`;\nawait client.query(sql);"),
        ("shell", "psql <<'EOF'\nALTER PUBLICATION p ADD TABLEZ t\nEOF\n"),
    ],
)
def test_a_string_that_is_run_is_a_statement(kind: str, text: str) -> None:
    assert [one.rule for one in lint(text, kind)] == ["PUB102"]
