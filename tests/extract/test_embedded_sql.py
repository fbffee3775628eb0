"""Which strings of a program are SQL, and what PostgreSQL is given of them."""

from __future__ import annotations

import pytest

from pubcheck import extract
from pubcheck.lexing.items import Statement
from pubcheck.lexing.splitter import Splitter
from pubcheck.source import Source


def statements(kind: str, text: str) -> list[Statement]:
    return [item for item in Splitter(extract.source("x", text, kind)) if isinstance(item, Statement)]


def sent(kind: str, text: str) -> list[str]:
    return [" ".join(item.sent().split()) for item in statements(kind, text)]


def rules(source: Source) -> list[str]:
    return [note.rule for note in source.view.notes] if source.view is not None else []


CREATE = "CREATE PUBLICATION p FOR TABLE t"

PROGRAMS = {
    "python": (
        'cur.execute("CREATE PUBLICATION p FOR TABLE t")',
        "cur.execute('''\n  CREATE PUBLICATION p\n  FOR TABLE t;\n''')",
        'cur.execute(r"""CREATE PUBLICATION p FOR TABLE t""")',
        'q = ("CREATE PUBLICATION p "  # all of it\n     "FOR TABLE t")',
        'q = "CREATE PUBLICATION p " + \\\n    "FOR TABLE t"',
        "q = b'CREATE PUBLICATION p FOR TABLE t'",
        '# "CREATE PUBLICATION no"\nq = "CREATE PUBLICATION\\n p FOR TABLE t"',
        "q = 'CREATE PUBLICATION p \\\nFOR TABLE t'",
    ),
    "ruby": (
        'execute "CREATE PUBLICATION p FOR TABLE t"',
        "execute <<~SQL\n  CREATE PUBLICATION p FOR TABLE t;\nSQL\n",
        "execute(<<-'SQL', x)\n  CREATE PUBLICATION p FOR TABLE t\n  SQL\n",
        "execute %q(CREATE PUBLICATION p FOR TABLE t)",
        "a = /it's/\nexecute %{CREATE PUBLICATION p FOR TABLE t}",
        '=begin\n"CREATE PUBLICATION no"\n=end\nexecute "CREATE PUBLICATION p " \\\n  "FOR TABLE t"',
    ),
    "javascript": (
        "await q(`CREATE PUBLICATION p\n  FOR TABLE t`)",
        "q('CREATE PUBLICATION p FOR TABLE t')",
        'const r = /["\'`]/g; q("CREATE PUBLICATION p " +\n  "FOR TABLE t")',
        '// "CREATE PUBLICATION no"\n/* `CREATE PUBLICATION no` */ sql`CREATE PUBLICATION p FOR TABLE t`',
        "<p>Don't</p>\nq('CREATE PUBLICATION p FOR TABLE t')",
        "q(`\n  ${tables(f(1))}\n  CREATE PUBLICATION p FOR TABLE t;\n`)",
        "x = a / b; y = c / d; q('CREATE PUBLICATION p FOR TABLE t')",
    ),
    "go": (
        "db.Exec(`CREATE PUBLICATION p\nFOR TABLE t`)",
        'db.Exec("CREATE PUBLICATION p " +\n\t"FOR TABLE t")',
        'c := \'"\'; db.Exec("CREATE PUBLICATION p FOR TABLE t")',
    ),
    "elixir": (
        'execute("CREATE PUBLICATION p FOR TABLE t")',
        'execute """\n  CREATE PUBLICATION p FOR TABLE t\n  """',
        "execute ~S(CREATE PUBLICATION p FOR TABLE t)",
        'c = ?"\nexecute "CREATE PUBLICATION p " <> "FOR TABLE t"',
        "execute ~s|CREATE PUBLICATION p FOR TABLE t|",
    ),
    "java": (
        'execute("CREATE PUBLICATION p FOR TABLE t");',
        'execute("""\n    CREATE PUBLICATION p\n    FOR TABLE t;\n    """);',
        'execute("""\n    |CREATE PUBLICATION p\n    |FOR TABLE t\n    """.trimMargin())',
        'char c = \'"\'; execute("CREATE PUBLICATION p " // one\n  + "FOR TABLE t");',
    ),
    "csharp": (
        'Execute("CREATE PUBLICATION p FOR TABLE t");',
        'Execute(@"CREATE PUBLICATION p\n FOR TABLE t");',
        'Execute("""\n  CREATE PUBLICATION p FOR TABLE t\n  """);',
        'Execute($@"CREATE PUBLICATION p FOR TABLE t");',
    ),
    "php": (
        "<?php DB::statement('CREATE PUBLICATION p FOR TABLE t');",
        "<p>it's</p><?php $x = \"CREATE PUBLICATION p \" . 'FOR TABLE t'; ?> it's",
        "<?php $x = <<<SQL\n  CREATE PUBLICATION p FOR TABLE t\n  SQL;\n",
        "<?php # it's\n$x = <<<'SQL'\nCREATE PUBLICATION p FOR TABLE t\nSQL;\n",
    ),
    "rust": (
        'client.execute("CREATE PUBLICATION p FOR TABLE t", &[])',
        'client.execute(r#"CREATE PUBLICATION p FOR TABLE t"#, &[])',
        "fn f<'a>(x: &'a str) { client.execute(\"CREATE PUBLICATION p \\\n      FOR TABLE t\", &[]) }",
    ),
    "shell": (
        'psql -c "CREATE PUBLICATION p FOR TABLE t"',
        "psql -d app -c 'CREATE PUBLICATION p FOR TABLE t' # it's",
        "psql <<EOF\nCREATE PUBLICATION p FOR TABLE t;\nEOF\n",
        "psql <<-'EOF'\n\tCREATE PUBLICATION p FOR TABLE t;\n\tEOF\n",
        'echo "CREATE PUBLICATION p FOR TABLE t;" | psql',
        "docker exec db sh -c \"psql -c 'CREATE PUBLICATION p FOR TABLE t'\"",
        'docker exec db sh -c "psql -c \\"CREATE PUBLICATION p FOR TABLE t\\""',
        "ssh db <<EOF\nsudo -u postgres psql -c 'CREATE PUBLICATION p FOR TABLE t'\nEOF\n",
        "ssh db <<'EOF'\npsql <<SQL\nCREATE PUBLICATION p FOR TABLE t;\nSQL\nEOF\n",
        "cat > init.sql <<SQL\nCREATE PUBLICATION p FOR TABLE t;\nSQL\n",
        'x=$((1<<4))\npsql --command="CREATE PUBLICATION p FOR TABLE t"',
        "psql -c \\\n  'CREATE PUBLICATION p FOR TABLE t'",
    ),
    "xml": (
        "<changeSet><sql>CREATE PUBLICATION p FOR TABLE t</sql></changeSet>",
        '<sql splitStatements="false"><![CDATA[\n  CREATE PUBLICATION p FOR TABLE t;\n]]></sql><rollback/>',
        "<!-- <sql>DROP PUBLICATION q</sql> --><sql>CREATE PUBLICATION <!-- it's --> p FOR TABLE t</sql>",
        "<sql>CREATE PUBLICATION p FOR TABLE &#116;</sql><rollback><sql>DROP PUBLICATION p</sql></rollback>",
    ),
    "make": (
        "publish:\n\t@psql -c 'CREATE PUBLICATION p FOR TABLE t'\n",
        'publish: db # it is\n\tdocker exec $(DB) sh -c "psql -c \\"CREATE PUBLICATION p FOR TABLE t\\""\n',
    ),
    "yaml": (
        "init.sql: |\n  CREATE PUBLICATION p\n  FOR TABLE t;\n",
        'run: psql -c "CREATE PUBLICATION p FOR TABLE t"\n',
        "- >-\n  CREATE PUBLICATION p\n  FOR TABLE t\nother: 1\n",
        "sql: CREATE PUBLICATION p FOR TABLE t # why\n",
        'command: ["psql", "-c", "CREATE PUBLICATION p FOR TABLE t"]\n',
        'run: "psql -c \\"CREATE PUBLICATION p FOR TABLE t\\""\n',
        "run: |\n  psql <<EOF\n  CREATE PUBLICATION p FOR TABLE t;\n  EOF\n",
        "- sql: 'CREATE PUBLICATION p FOR TABLE t'\n",
    ),
}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in PROGRAMS.items() for text in texts])
def test_a_statement_is_found_in_every_kind_of_string(kind: str, text: str) -> None:
    assert sent(kind, text) == [CREATE]


@pytest.mark.parametrize(
    ("kind", "text", "sql"),
    [
        ("python", r'"ALTER PUBLICATION p ADD TABLE \"Foo\""', 'ALTER PUBLICATION p ADD TABLE "Foo"'),
        ("javascript", r"'DROP PUBLICATION \'x\''", None),
        (
            "javascript",
            r"'CREATE PUBLICATION p WITH (publish = \'insert\')'",
            "CREATE PUBLICATION p WITH (publish = 'insert')",
        ),
        ("java", r'"CREATE PUBLICATION caf\u00e9 FOR TABLE t"', "CREATE PUBLICATION café FOR TABLE t"),
        ("java", r'"CREATE PUBLICATION p FOR TABLE t -- all\n, u"', "CREATE PUBLICATION p FOR TABLE t , u"),
        ("csharp", '@"DROP PUBLICATION ""P"""', 'DROP PUBLICATION "P"'),
        (
            "yaml",
            "- 'CREATE PUBLICATION p WITH (publish = ''insert'')'",
            "CREATE PUBLICATION p WITH (publish = 'insert')",
        ),
        ("go", '"CREATE PUBLICATION " + "p_" + "q"', "CREATE PUBLICATION p_q"),
        ("shell", r'psql -c "DROP PUBLICATION \"P\""', 'DROP PUBLICATION "P"'),
        ("ruby", r"'DROP PUBLICATION \"P\"'", None),
    ],
)
def test_postgres_is_given_what_the_string_says(kind: str, text: str, sql: str | None) -> None:
    assert sent(kind, text) == ([] if sql is None else [sql])


def test_escaped_dollar_quotes_of_a_here_document_stay_quotes() -> None:
    text = "psql <<EOF\nDO \\$\\$ BEGIN CREATE PUBLICATION p; END \\$\\$;\nDROP PUBLICATION q;\nEOF\n"
    assert sent("shell", text) == ["DO $$ BEGIN CREATE PUBLICATION p; END $$", "DROP PUBLICATION q"]


@pytest.mark.parametrize(
    ("kind", "text", "unknown"),
    [
        ("python", 'f"ALTER PUBLICATION p ADD TABLE {schema}.{table}"', ["{schema}", "{table}"]),
        ("python", '"ALTER PUBLICATION %s ADD TABLE {}".format(x)', ["%s", "{}"]),
        ("python", '"ALTER PUBLICATION %(name)s ADD TABLE t"', ["%(name)s"]),
        ("ruby", '"ALTER PUBLICATION p ADD TABLE #{quote(t)}"', ["#{quote(t)}"]),
        ("javascript", "`ALTER PUBLICATION p ADD TABLE ${a.map((x) => `${x}`)}`", ["${a.map((x) => `${x}`)}"]),
        ("javascript", '"ALTER PUBLICATION p ADD TABLE " + t + " WHERE (x > 1)"', ['" + t + "']),
        ("go", 'fmt.Sprintf("ALTER PUBLICATION %[1]s ADD TABLE %q", a, b)', ["%[1]s", "%q"]),
        ("elixir", '"ALTER PUBLICATION p ADD TABLE #{table}"', ["#{table}"]),
        ("java", '"ALTER PUBLICATION p ADD TABLE " + name', ['" + name']),
        ("java", '"""ALTER PUBLICATION $name ADD TABLE ${x.y}, #{z}"""', ["$name", "${x.y}", "#{z}"]),
        ("csharp", '$"ALTER PUBLICATION p ADD TABLE {Name}"', ["{Name}"]),
        ("php", '<?php "ALTER PUBLICATION p ADD TABLE {$this->t}, $x[0]";', ["{$this->t}", "$x[0]"]),
        ("rust", 'format!("ALTER PUBLICATION {} ADD TABLE {name}")', ["{}", "{name}"]),
        ("shell", 'psql -c "ALTER PUBLICATION $P ADD TABLE ${T:-t}, $(list)"', ["$P", "${T:-t}", "$(list)"]),
        ("yaml", "- ALTER PUBLICATION p ADD TABLE {{ .Values.t }}\n- |\n  DROP PUBLICATION ${p}\n", None),
    ],
)
def test_a_name_stands_for_what_is_known_at_run_time_only(kind: str, text: str, unknown: list[str] | None) -> None:
    embedded = statements(kind, text)
    assert embedded
    view = extract.VIEWS[kind](text)
    if unknown is not None:
        [statement] = embedded
        assert [text[start:end] for start, end in view.filled] == unknown
        assert len(statement.placeholders) == len(unknown)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("python", 'raise Error("create publication failed")\n"CREATE PUBLICATION is not supported"'),
        ("python", '"""Create publication p, then drop publication p."""'),
        ("go", 'errors.New("failed to create publication"); log("ALTER PUBLICATION ADD TABLE failed")'),
        ("javascript", "const title = 'Create publication for everyone'"),
        ("java", '"CREATE PUBLICATION statement"'),
        ("ruby", '"CREATE TABLE t (id int)"'),
        ("shell", "# psql -c 'CREATE PUBLICATION p'\necho it is"),
        ("yaml", "description: how to create publication records\n"),
        ("yaml", "- name: Create publication for a schema\n  when: version is {{ x }}\n"),
        ("python", 'print(f"Create publication on primary {host} database {name}")'),
        ("javascript", "// CREATE PUBLICATION\ntest('create subscription without connecting', async () => {})"),
        ("javascript", "// CREATE PUBLICATION\ntest(`alter subscription connection with password ${n}`)"),
        ("csharp", '// CREATE PUBLICATION\nsql.Should().NotContain("CREATE SUBSCRIPTION");'),
    ],
)
def test_sentences_about_publications_are_no_statements(kind: str, text: str) -> None:
    assert not any(
        "publication" in statement.lower() or "subscription" in statement.lower() for statement in sent(kind, text)
    )
    assert rules(extract.source("x", text, kind)) == []


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("python", 'q = "ALTER PUBLICATION " + " ".join(parts)'),
        ("python", "os.system(\"sudo psql -c 'CREATE PUBLICATION p'\")"),
        ("javascript", "q(['CREATE PUBLICATION ', name].join(''))"),
        ("elixir", '"ALTER PUBLICATION p #{operation} TABLE t"'),
    ],
)
def test_what_cannot_be_seen_is_said(kind: str, text: str) -> None:
    assert sent(kind, text) == []
    assert rules(extract.source("x", text, kind)) == ["PUB009"]


def test_dollar_signs_of_a_makefile_are_doubled() -> None:
    text = "a:\n\tpsql -c \"CREATE PUBLICATION p_$$N FOR TABLE $${T}, $(X)\"\n\tpsql -c 'DO $$$$ BEGIN END $$$$'\n"
    assert sent("make", text) == ["CREATE PUBLICATION p___N FOR TABLE ___T_, __X_", "DO $$ BEGIN END $$"]


def test_quotes_within_quotes_are_read_as_the_inner_command_does() -> None:
    inner = r"CREATE PUBLICATION \\\"P\\\" FOR TABLE $a, \$b; DO \\\$\\\$ BEGIN END \\\$\\\$"
    text = rf'ssh db "psql -c \"{inner}\""'
    assert sent("shell", text) == ['CREATE PUBLICATION "P" FOR TABLE _a, __b', "DO $$ BEGIN END $$"]
    assert [text[start:end] for start, end in extract.VIEWS["shell"](text).filled] == ["$a", "\\$b"]


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE SUBSCRIPTION s CONNECTION 'dbname=a' PUBLICATION p",
        "ALTER SUBSCRIPTION IF EXISTS s DISABLE",
        "DROP SUBSCRIPTION IF EXISTS s",
    ],
)
def test_subscriptions_of_programs_are_statements(statement: str) -> None:
    assert statement in sent("python", f'run("CREATE PUBLICATION p"); run("{statement}")')


def test_a_scalar_ends_where_the_next_key_of_its_entry_begins() -> None:
    text = "- sql: CREATE PUBLICATION p\n  when: x\n- sql: ALTER PUBLICATION p\n    ADD TABLE t\n  when: y\n"
    assert [" ".join(statement.split()) for statement in sent("yaml", text)] == [
        "CREATE PUBLICATION p",
        "ALTER PUBLICATION p ADD TABLE t",
    ]


def test_what_cannot_be_seen_is_said_once_a_file() -> None:
    text = 'a("ALTER PUBLICATION " + " ".join(x))\n' * 3
    [note] = extract.VIEWS["python"](text).notes
    assert "2 more" in note.message


def test_that_a_program_runs_at_an_unknown_time_is_said_once() -> None:
    text = 'a("CREATE PUBLICATION p")\nb("DROP PUBLICATION p")\n'
    source = extract.source("x", text, "python")
    assert rules(source) == ["PUB010"]
    assert all(item.perhaps for item in statements("python", text))


MIGRATIONS = {
    "python": (
        "from alembic import op\n\ndef upgrade() -> None:\n    op.execute('CREATE PUBLICATION p FOR TABLE t')\n\n\n"
        "def downgrade() -> None:\n    op.execute('DROP PUBLICATION p')\n",
        "from django.db import migrations\n\nclass Migration(migrations.Migration):\n    operations = [\n"
        "        migrations.RunSQL(\n            'CREATE PUBLICATION p FOR TABLE t',\n"
        "            reverse_sql='DROP PUBLICATION p',\n        ),\n    ]\n",
        "from django.db import migrations\n"
        "migrations.RunSQL('CREATE PUBLICATION p FOR TABLE t', 'DROP PUBLICATION p')\n",
    ),
    "ruby": (
        "class A < ActiveRecord::Migration[7.1]\n  def up\n    execute <<~SQL\n      CREATE PUBLICATION p FOR TABLE t\n"
        "    SQL\n  end\n\n  def down\n    execute <<~SQL\nDROP PUBLICATION p\n    SQL\n  end\nend\n",
        "class A < ActiveRecord::Migration[7.1]\n  def change\n    reversible do |dir|\n      dir.up do\n"
        "        execute 'CREATE PUBLICATION p FOR TABLE t'\n      end\n      dir.down do\n"
        "        execute 'DROP PUBLICATION p'\n      end\n    end\n  end\nend\n",
    ),
    "javascript": (
        "exports.up = (knex) => knex.raw('CREATE PUBLICATION p FOR TABLE t');\n"
        "exports.down = (knex) => knex.raw('DROP PUBLICATION p');\n",
        "exports.up = (knex) => knex.raw('CREATE PUBLICATION p FOR TABLE t');\n",
        "export async function up(pgm: MigrationBuilder) {\n  pgm.sql('CREATE PUBLICATION p FOR TABLE t');\n}\n",
        "export async function up(db: Kysely<any>) {\n  await sql`CREATE PUBLICATION p FOR TABLE t`.execute(db);\n}\n",
        "export class A implements MigrationInterface {\n  public async up(r: QueryRunner): Promise<void> {\n"
        "    await r.query(`CREATE PUBLICATION p FOR TABLE t`);\n  }\n\n  public async down(\n    r: QueryRunner,\n"
        "  ): Promise<void> {\n    await r.query(`\nDROP PUBLICATION p\n`);\n  }\n}\n",
        "module.exports = {\n  async up(q) {\n    await q.sequelize.query('CREATE PUBLICATION p FOR TABLE t');\n  },\n"
        "  async down(q) {\n    await q.sequelize.query('DROP PUBLICATION p');\n  },\n};\n",
    ),
    "go": (
        "func init() {\n\tgoose.AddMigrationContext(up, down)\n}\n\nfunc up(tx *sql.Tx) error {\n"
        '\t_, err := tx.Exec("CREATE PUBLICATION p FOR TABLE t")\n\treturn err\n}\n\nfunc down(tx *sql.Tx) error {\n'
        '\t_, err := tx.Exec("DROP PUBLICATION p")\n\treturn err\n}\n',
    ),
    "elixir": (
        'defmodule A do\n  use Ecto.Migration\n  def up do\n    execute("CREATE PUBLICATION p FOR TABLE t")\n  end\n\n'
        '  def down do\n    execute("DROP PUBLICATION p")\n  end\nend\n',
        'defmodule A do\n  use Ecto.Migration\n\n  def change do\n    execute "CREATE PUBLICATION p FOR TABLE t",\n'
        '            "DROP PUBLICATION p"\n  end\nend\n',
    ),
    "csharp": (
        "public partial class A : Migration\n{\n    protected override void Up(MigrationBuilder b)\n    {\n"
        '        b.Sql("CREATE PUBLICATION p FOR TABLE t");\n    }\n'
        "    protected override void Down(MigrationBuilder b)\n"
        '    {\n        b.Sql("DROP PUBLICATION p");\n    }\n}\n',
    ),
    "php": (
        "<?php\nreturn new class extends Migration\n{\n    public function up(): void\n    {\n"
        "        DB::statement('CREATE PUBLICATION p FOR TABLE t');\n    }\n\n    public function down(): void\n    {\n"
        "        DB::statement('DROP PUBLICATION p');\n    }\n};\n",
    ),
    "rust": (
        "impl MigrationTrait for M {\n    async fn up(&self, m: &SchemaManager) -> Result<(), DbErr> {\n"
        '        db.execute_unprepared("CREATE PUBLICATION p FOR TABLE t").await?;\n    }\n\n'
        "    async fn down(&self, m: &SchemaManager) -> Result<(), DbErr> {\n"
        '        db.execute_unprepared("DROP PUBLICATION p").await?;\n    }\n}\n',
    ),
}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in MIGRATIONS.items() for text in texts])
def test_of_a_migration_only_the_way_forth_is_run_and_in_order(kind: str, text: str) -> None:
    embedded = statements(kind, text)
    assert [" ".join(item.sent().split()) for item in embedded] == [CREATE]
    assert not any(item.perhaps for item in embedded)
    assert rules(extract.source("x", text, kind)) == []
