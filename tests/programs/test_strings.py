"""Strings of programs: which of them are statements, and which syntax errors in them are reported, and where."""

from __future__ import annotations

import pytest

from tests.programs.support import certainties, lint
from tests.support.linting import covered


def test_a_syntax_error_in_a_string_points_into_the_program_and_is_certain_in_a_migration() -> None:
    text = 'run("ALTER PUBLICATION p ADD TABLEZ \\"T\\"")'
    [finding] = lint(text, "python")
    assert (finding.rule, finding.certainty) == ("PUB102", "assumed")
    migration = f"from alembic import op\n\ndef upgrade():\n    {text}"
    assert certainties(lint(migration, "python")) == [("PUB102", "certain")]
    assert covered(finding.span) == "TABLEZ"
    assert finding.server is not None
    assert finding.server.position == len("ALTER PUBLICATION p ADD ") + 1


def test_a_place_after_escapes_is_that_of_the_program_and_the_position_that_of_the_statement() -> None:
    text = 'run("CREATE TABLE \\"T\\" (id int)"); run("CREATE PUBLICATION p FOR TABLE \\"T\\" WHERE (random() > 1)")'
    findings = [finding for finding in lint(text, "javascript") if finding.rule == "PUB209"]
    assert [covered(finding.span) for finding in findings] == ["random()"]
    assert findings[0].server is not None
    assert findings[0].server.position == len('CREATE PUBLICATION p FOR TABLE "T" WHERE (') + 1
    assert findings[0].span.source.shown == text


def test_strings_that_only_look_like_statements_say_nothing() -> None:
    text = 'run("CREATE PUBLICATION p")\nlabel = "Create table of contents"\nother = "ALTER TABLE `x` ENGINE=InnoDB"\n'
    assert lint(text, "python") == []


def test_a_part_of_a_template_that_cannot_be_read_is_said_once_a_file() -> None:
    text = "DROP PUBLICATION IF EXISTS p;\n"
    text += "CREATE TABLE {{ a }} {{ b }} nonsense here;\nCREATE TABLE {{ c }} {{ d }} nonsense there;\n"
    assert [finding.rule for finding in lint(text, "sql")] == ["PUB004"]


def test_fixes_in_strings_are_only_shown() -> None:
    table = "CREATE TABLE t (id int PRIMARY KEY, a varchar);"
    text = """from alembic import op\nrun("CREATE PUBLICATION p FOR TABLE t WHERE (a IN ('x', 'y'))")\n"""
    fixes = [fix for finding in lint(text, "python", table) for fix in finding.fixes]
    assert {fix.applicability for fix in fixes} == {"display"}


def test_the_beginning_of_a_statement_is_no_syntax_error() -> None:
    assert [finding.rule for finding in lint('parts = ["alter publication p add table"]', "python")] == ["PUB009"]


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
    assert "PUB209" in [finding.rule for finding in lint(text.replace("{}", statement), kind)]


ALEMBIC = "from alembic import op\n\n\ndef upgrade():\n    {}\n\n\ndef downgrade():\n    op.drop_table('t')\n"


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
    findings = lint(text, kind, table)
    assert [(finding.rule, covered(finding.span)) for finding in findings if finding.rule != "PUB302"] == [
        ("PUB101", ";")
    ]
    assert {finding.certainty for finding in findings if finding.rule == "PUB302"} == {"certain"}


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
    [finding] = [diagnostic for diagnostic in lint(first, "python") if diagnostic.severity == "error"]
    assert (finding.rule, finding.certainty) == ("PUB101", "certain")
    assert finding.server is not None
    assert finding.server.message == answer


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
    assert {finding.rule for finding in lint(text, kind)} <= {"PUB009"}


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
    assert [finding for finding in lint(text, kind, schema) if finding.rule not in ("PUB009", "PUB010")] == []


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
    assert [finding.rule for finding in lint(text, kind)] == ["PUB102"]
