"""What is certain in a migration, and what is assumed in any other program."""

from __future__ import annotations

import pytest

from pubcheck import extract
from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from tests.programs.support import certainties, lint


def test_what_a_program_does_is_assumed_and_what_a_migration_does_is_certain() -> None:
    table = "CREATE TABLE t (id int PRIMARY KEY);"
    program = 'run("CREATE PUBLICATION p FOR TABLE t WHERE (random() > 1)")\n'
    assert certainties(lint(program, "python", table)) == [("PUB209", "assumed")]
    migration = f"from alembic import op\n\ndef upgrade():\n    {program}"
    assert certainties(lint(migration, "python", table)) == [("PUB209", "certain")]


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
    assert certainties(lint(program, kind, table)) == [("PUB209", "assumed")]


def test_a_program_that_makes_a_thing_again_begins_anew() -> None:
    text = "".join(
        f"it(() => {{ q(`CREATE TABLE t (id int PRIMARY KEY, {column} int)`);\n"
        f"  q(`CREATE PUBLICATION p FOR TABLE t ({column}, id)`); }});\n"
        for column in ("a", "b", "c")
    )
    assert lint(text, "javascript") == []


def test_that_statements_stand_in_programs_is_said_once_for_all_files() -> None:
    texts = ('run("CREATE PUBLICATION p")', *('run("CREATE PUBLICATION p FOR TABLE t WHERE (random() > 1)")',) * 2)
    sources = [extract.source(f"{number}.py", text, "python") for number, text in enumerate(texts)]
    findings = Linter(Config(postgres=(18,))).lint(Unit(tuple(sources))).diagnostics
    assert [(finding.rule, finding.span.source.label) for finding in findings if finding.rule == "PUB010"] == [
        ("PUB010", "1.py")
    ]


@pytest.mark.parametrize("text", ['run("ALTER PUBLICATION p ADD TABLE t")', 'run("DROP PUBLICATION p")'])
def test_of_a_program_in_which_nothing_is_wrong_nothing_is_said(text: str) -> None:
    assert Linter(Config(postgres=(18,))).lint(Unit((extract.source("x.py", text, "python"),))).diagnostics == ()


def test_a_test_that_rolls_back_a_schema_does_not_stop_the_search_for_near_names() -> None:
    text = (
        "BEGIN; CREATE SCHEMA s; CREATE PUBLICATION p FOR TABLE s.orders; ROLLBACK;\nCREATE TABLE order_s (id int);\n"
    )
    assert [finding.rule for finding in lint(text, "sql")] == ["PUB107"]


def test_a_program_beside_migrations_does_not_put_them_in_doubt() -> None:
    program = extract.source(
        "0.py", 'run("CREATE TABLE u (id int PRIMARY KEY)"); run("CREATE PUBLICATION q")', "python"
    )
    script = extract.source("1.sql", "CREATE TABLE t (id int);\nCREATE PUBLICATION p FOR TABLE t;\n")
    findings = Linter(Config(postgres=(18,))).lint(Unit((program, script))).diagnostics
    assert {(finding.rule, finding.certainty) for finding in findings if finding.severity == "error"} == {
        ("PUB302", "certain")
    }


def test_a_key_that_a_program_may_add_is_an_assumption() -> None:
    program = 'run("ALTER TABLE t ADD PRIMARY KEY (id)"); run("CREATE PUBLICATION q")'
    table = "CREATE TABLE t (id int);\nCREATE PUBLICATION p FOR TABLE t;\n"
    assert [finding for finding in lint(program, "python", table) if finding.certainty == "certain"] == []


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
    assert [finding for finding in lint(ALEMBIC.format(steps), "python", table) if finding.certainty == "certain"] == []
    assert {finding.certainty for finding in lint(ALEMBIC.format(PUBLISH), "python", table)} == {"certain"}


def test_go_asks_after_each_statement_whether_it_failed() -> None:
    text = (
        "func init() {\n\tgoose.AddMigrationContext(upOne, downOne)\n}\n\nfunc upOne(tx *sql.Tx) error {\n"
        '\tif _, err := tx.Exec("CREATE PUBLICATION p FOR TABLE t"); err != nil {\n'
        "\t\treturn err\n\t}\n\treturn nil\n}\n"
    )
    assert {finding.certainty for finding in lint(text, "go", "CREATE TABLE t (id int);")} == {"certain"}


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
    findings = Linter(Config(postgres=(18,))).lint(Unit((table, program, after))).diagnostics
    assert [finding for finding in findings if finding.severity == "error" and finding.certainty == "certain"] == []


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
    assert [
        finding for finding in lint(f"{text}; run('CREATE PUBLICATION p')", "python") if finding.rule == "PUB140"
    ] == []


def test_of_a_subscription_that_is_not_visible_the_state_is_not_known() -> None:
    text = (
        "psql -c 'ALTER SUBSCRIPTION s SET (slot_name = NONE)'\npsql -c 'ALTER SUBSCRIPTION s REFRESH PUBLICATION'\n"
        "psql -c 'DROP PUBLICATION IF EXISTS p'\n"
    )
    assert [finding for finding in lint(text, "shell") if finding.severity == "error"] == []


def test_a_publication_that_a_program_drops_and_makes_again_is_another_runs() -> None:
    text = "".join(f'run("DROP PUBLICATION IF EXISTS p"); run("CREATE PUBLICATION p FOR TABLE {t}");\n' for t in "ab")
    tables = "CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY);"
    assert lint(text, "java", tables) == []


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
        f"    run(f'CREATE PUBLICATION {{pub}} FOR TABLE t WITH (publish = \"{operation}\")')\n"
        for operation in ("insert", "delete")
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
    assert [finding.rule for finding in lint(table + together, kind) if finding.severity == "error"] == ["PUB130"]
    assert [finding.rule for finding in lint(table + apart, kind) if finding.severity == "error"] == []
    before = table + outside.format(publish)
    again = case.format("a", "DROP TABLE u", add) + case.format("b", "DROP TABLE v", add)
    assert [finding.rule for finding in lint(before + again, kind) if finding.severity == "error"] == [
        "PUB130",
        "PUB130",
    ]
