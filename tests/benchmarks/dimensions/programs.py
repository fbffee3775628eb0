"""Programs, scripts and templates that hold SQL."""

from __future__ import annotations

from tests.benchmarks.dimensions.parts import Dimension, each, nested

_SQL = "CREATE PUBLICATION p@ FOR TABLE t@"


def _program(name: str, file: str, line: str, before: str = "", after: str = "") -> Dimension:
    return Dimension(f"{name}: SQL strings", each(line, before=before, after=after), file=file)


PROGRAMS = (
    _program("Python", "run.py", f'cur.execute("{_SQL}")'),
    _program("JavaScript", "run.js", f'await sql.query("{_SQL}");'),
    _program("TypeScript templates", "run.ts", f"await sql`{_SQL}`;"),
    _program("shell", "run.sh", f'psql -c "{_SQL}"'),
    _program("shell here-documents", "run.sh", f"psql <<EOF\n{_SQL};\nEOF"),
    _program("Go", "run.go", f'db.Exec("{_SQL}")', "package main\n"),
    _program("Go raw", "run.go", f"db.Exec(`{_SQL}`)", "package main\n"),
    _program("Java", "Run.java", f'statement.execute("{_SQL}");'),
    _program("Java text blocks", "Run.java", f'statement.execute("""\n{_SQL}\n""");'),
    _program("Kotlin", "Run.kt", f'statement.execute("{_SQL}")'),
    _program("C#", "Run.cs", f'command.Execute("{_SQL}");'),
    _program("PHP", "run.php", f'$db->exec("{_SQL}");', "<?php\n"),
    _program("Ruby", "run.rb", f'execute "{_SQL}"'),
    _program("Ruby here-documents", "run.rb", f"execute <<~SQL\n  {_SQL}\nSQL"),
    _program("Rust", "run.rs", f'client.execute("{_SQL}", &[]);'),
    _program("Elixir", "run.ex", f'execute "{_SQL}"'),
    _program("YAML", "run.yaml", f'- "{_SQL};"'),
    _program("YAML blocks", "run.yaml", f"- |\n  {_SQL};"),
    _program("YAML plain", "run.yaml", f"- sql: {_SQL}"),
    _program("XML", "run.xml", f"<sql>{_SQL};</sql>", "<databaseChangeLog>", "</databaseChangeLog>"),
    _program("makefile", "Makefile", f'run@:\n\tpsql -c "{_SQL}"'),
    _program("Dockerfile", "Dockerfile", f'RUN psql -c "{_SQL}"', "FROM postgres\n"),
    _program("Terraform", "run.tf", f'resource "sql" "r@" {{\n  command = "psql -c \\"{_SQL}\\""\n}}'),
    _program("Jinja", "run.sql.j2", f"{{% if x@ %}}{_SQL};{{% endif %}}"),
    Dimension(
        "JavaScript: strings about one table",
        each('await sql.query("CREATE PUBLICATION p@ FOR TABLE t");'),
        file="run.js",
    ),
    Dimension(
        "TypeScript: templates about one table", each("await sql`CREATE PUBLICATION p@ FOR TABLE ${t}`;"), file="run.ts"
    ),
    Dimension(
        "Python: f-string holes",
        each("{x@}", joint=", ", before='cur.execute(f"CREATE PUBLICATION p FOR TABLE ', after='")'),
        file="run.py",
    ),
    Dimension("Python: f-strings", each('cur.execute(f"CREATE PUBLICATION p@ FOR TABLE {t}")'), file="run.py"),
    Dimension(
        "Python: holes in holes",
        nested("{f'", "'}", before='cur.execute(f"CREATE PUBLICATION p FOR TABLE ', inside="t", after='")'),
        file="run.py",
    ),
    Dimension(
        "Python: brackets in a hole",
        nested("{(", ")}", before='cur.execute(f"CREATE PUBLICATION p FOR TABLE ', inside="t", after='")'),
        file="run.py",
    ),
    Dimension(
        "Python: joined strings",
        each('"t@, "', before='cur.execute("CREATE PUBLICATION p FOR TABLE "', after=' "t")'),
        file="run.py",
    ),
    Dimension(
        "Python: added strings",
        each('"t@, "', joint=" + ", before='cur.execute("CREATE PUBLICATION p FOR TABLE " + ', after=' + "t")'),
        file="run.py",
    ),
    Dimension(
        "Python: names put in", each('T@ = "t@"\ncur.execute(f"CREATE PUBLICATION p@ FOR TABLE {T@}")'), file="run.py"
    ),
    Dimension("Python: % holes", each('cur.execute("CREATE PUBLICATION p@ FOR TABLE %s" % t)'), file="run.py"),
    Dimension(
        "Python: functions", each('def f@(cur):\n    cur.execute("CREATE PUBLICATION p@ FOR TABLE t")'), file="run.py"
    ),
    Dimension(
        "Python: other strings",
        each('x = "text number @"', before='cur.execute("CREATE PUBLICATION p FOR ALL TABLES")\n'),
        file="run.py",
    ),
    Dimension(
        "Alembic",
        each(
            '    op.execute("CREATE PUBLICATION p@ FOR TABLE t@")',
            before="from alembic import op\nrevision = 'a'\ndown_revision = None\ndef upgrade():\n",
            after="\ndef downgrade():\n    pass",
        ),
        file="run.py",
    ),
    Dimension(
        "JavaScript: /[",
        each("x = y /[ @", before='sql.query("CREATE PUBLICATION p FOR ALL TABLES");\n'),
        file="run.js",
    ),
    Dimension(
        "JavaScript: /[ of one line",
        each("= /[", joint=" ", before='sql.query("CREATE PUBLICATION p FOR ALL TABLES");\n'),
        file="run.js",
    ),
    Dimension(
        "shell: psql in psql",
        nested('$(psql -c "CREATE PUBLICATION p FOR TABLE t" ', ")", before="x="),
        file="run.sh",
    ),
    Dimension(
        "JavaScript: regular expressions",
        each("x = /[a-z]@/;", before='sql.query("CREATE PUBLICATION p FOR ALL TABLES");\n'),
        file="run.js",
    ),
    Dimension(
        "JavaScript: divisions",
        each("x = a / b / @;", before='sql.query("CREATE PUBLICATION p FOR ALL TABLES");\n'),
        file="run.js",
    ),
    Dimension(
        "JavaScript: template holes",
        each("${x@}", joint=", ", before="sql`CREATE PUBLICATION p FOR TABLE ", after="`;"),
        file="run.js",
    ),
    Dimension("JavaScript: templates with holes", each("sql`CREATE PUBLICATION p@ FOR TABLE ${t}`;"), file="run.js"),
    Dimension(
        "JavaScript: templates in templates",
        nested("${`", "`}", before="sql`CREATE PUBLICATION p FOR TABLE ", inside="t", after="`;"),
        file="run.js",
    ),
    Dimension(
        "JavaScript: open holes",
        nested("${", "", before="sql`CREATE PUBLICATION p FOR TABLE ", inside="t"),
        file="run.js",
    ),
    Dimension(
        "JavaScript: open templates",
        nested("`${", "", before="sql`CREATE PUBLICATION p FOR TABLE ", inside="t"),
        file="run.js",
    ),
    Dimension(
        "JavaScript: added strings",
        each('"t@, "', joint=" + ", before='sql.query("CREATE PUBLICATION p FOR TABLE " + ', after=' + "t");'),
        file="run.js",
    ),
    Dimension(
        "JavaScript: braces",
        nested("{", "}", before='sql.query("CREATE PUBLICATION p FOR ALL TABLES");\n'),
        file="run.js",
    ),
    Dimension(
        "JavaScript: JSX",
        each(
            "<p>it's number @</p>",
            before='const a = sql.query("CREATE PUBLICATION p FOR ALL TABLES");\nreturn <div>',
            after="</div>",
        ),
        file="run.jsx",
    ),
    Dimension(
        "shell: $(",
        nested("$(", ")", before='psql -c "CREATE PUBLICATION p FOR TABLE ', inside="t", after='"'),
        file="run.sh",
    ),
    Dimension(
        "shell: $( with quotes",
        nested('$(echo "', '")', before='psql -c "CREATE PUBLICATION p FOR TABLE ', inside="t", after='"'),
        file="run.sh",
    ),
    Dimension(
        "shell: open $(", nested("$(", "", before='psql -c "CREATE PUBLICATION p FOR ALL TABLES"\n'), file="run.sh"
    ),
    Dimension(
        "shell: ${",
        nested("${x:-", "}", before='psql -c "CREATE PUBLICATION p FOR TABLE ', inside="t", after='"'),
        file="run.sh",
    ),
    Dimension("shell: variables", each('V@=t@\npsql -c "CREATE PUBLICATION p@ FOR TABLE $V@"'), file="run.sh"),
    Dimension("shell: functions", each('f@() {\n  psql -c "CREATE PUBLICATION p@ FOR ALL TABLES"\n}'), file="run.sh"),
    Dimension(
        "shell: open here-documents",
        each("cat <<A@", before='psql -c "CREATE PUBLICATION p FOR ALL TABLES"\n'),
        file="run.sh",
    ),
    Dimension(
        "Go: added strings",
        each(
            '"t@, "', joint=" +\n", before='package main\nvar x = "CREATE PUBLICATION p FOR TABLE " + ', after=' + "t"'
        ),
        file="run.go",
    ),
    Dimension(
        "Java: added strings",
        each('"t@, "', joint=" +\n", before='String x = "CREATE PUBLICATION p FOR TABLE " + ', after=' + "t";'),
        file="Run.java",
    ),
    Dimension(
        "C#: interpolated holes",
        each("{x@}", joint=", ", before='var x = $"CREATE PUBLICATION p FOR TABLE ', after='";'),
        file="Run.cs",
    ),
    Dimension(
        "Ruby: holes",
        each("#{x@}", joint=", ", before='execute "CREATE PUBLICATION p FOR TABLE ', after='"'),
        file="run.rb",
    ),
    Dimension(
        "Kotlin: holes",
        each("${x@}", joint=", ", before='val x = "CREATE PUBLICATION p FOR TABLE ', after='"'),
        file="Run.kt",
    ),
    Dimension(
        "PHP: holes",
        each("{$x@}", joint=", ", before='<?php\n$x = "CREATE PUBLICATION p FOR TABLE ', after='";'),
        file="run.php",
    ),
    Dimension(
        "Elixir: holes",
        each("#{x@}", joint=", ", before='execute "CREATE PUBLICATION p FOR TABLE ', after='"'),
        file="run.ex",
    ),
    Dimension("Rust: raw strings", each('client.execute(r#"CREATE PUBLICATION p@ FOR TABLE t@"#);'), file="run.rs"),
    Dimension("YAML: one block", each("  CREATE PUBLICATION p@ FOR TABLE t@;", before="sql: |\n"), file="run.yaml"),
    Dimension(
        "YAML: nested",
        lambda size: (
            "".join(f"{' ' * (n % 50)}k{n}:\n" for n in range(size)) + "sql: CREATE PUBLICATION p FOR ALL TABLES;\n"
        ),
        file="run.yaml",
    ),
)
