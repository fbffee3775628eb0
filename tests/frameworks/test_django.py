"""Django's operations make the tables that Django makes of them; what cannot be read leaves nothing certain."""

from __future__ import annotations

from pathlib import Path

import pytest

from pubcheck import extract
from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.extract.frameworks.project import Project
from pubcheck.source import Source
from tests.frameworks.catalogs import answered, facts, followed, identifying, sources, statements
from tests.support.servers import Servers

HERE = Path(__file__).parents[2] / "corpus" / "frameworks" / "django"
FILES = (
    "people/migrations/0001_initial.py",
    "shop/migrations/0001_initial.py",
    "shop/migrations/0002_changes.py",
    "shop/migrations/0003_more.py",
)
RECORDED = Source("recorded.sql", (HERE / "recorded.sql").read_text())


def test_operations_make_the_catalog_that_the_sql_of_django_makes() -> None:
    unit = sources(HERE, FILES, "python")
    assert identifying(facts(followed(unit))) == identifying(facts(followed((RECORDED,))))


@pytest.mark.server
def test_a_server_makes_the_same_of_them(servers: Servers) -> None:
    unit = sources(HERE, FILES, "python")
    recorded = identifying(answered(servers[18], statements((RECORDED,))))
    assert identifying(answered(servers[18], statements(unit))) == recorded
    assert identifying(facts(followed(unit))) == recorded


MIGRATION = """\
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = []
    operations = [
        migrations.CreateModel(name="T", fields=[{fields}], options={{{options}}}),
        {steps},
        migrations.RunSQL("CREATE PUBLICATION p FOR TABLE {table}"),
    ]
"""
KEY = '("a", models.IntegerField(primary_key=True))'


def lint(
    steps: str = "migrations.AlterModelOptions(name='t', options={})",
    *,
    fields: str = KEY,
    options: str = "",
    table: str = "app_t",
    after: str = "",
    complete: bool = False,
) -> list[Diagnostic]:
    project = Project()
    project.begin("/repo/app/migrations/0001.py")
    text = MIGRATION.format(steps=steps, fields=fields, options=options, table=table) + after
    unit = Unit((extract.source("0001.py", text, "python", project),))
    return list(Linter(Config(postgres=(18,), complete=complete)).lint(unit).diagnostics)


IDENTITY = "migrations.RunSQL('ALTER TABLE app_t REPLICA IDENTITY NOTHING')"


def keyless(findings: list[Diagnostic]) -> set[str]:
    """How certain it is that a table has no replica identity."""
    return {finding.certainty for finding in findings if finding.rule == "PUB302"}


def test_a_model_without_a_key_has_one_all_the_same() -> None:
    assert lint(fields='("a", models.TextField())', complete=True) == []
    assert keyless(lint(IDENTITY)) == {"certain"}


@pytest.mark.parametrize(
    ("options", "table"),
    [('"db_table": "orders"', "orders"), ('"db_table": \'"public"."orders"\'', "orders"), ("", "app_t")],
)
def test_a_table_has_the_name_that_its_options_give_it(options: str, table: str) -> None:
    assert lint(options=options, table=table, complete=True) == []


def test_a_table_that_django_does_not_manage_is_not_made() -> None:
    assert {finding.rule for finding in lint(options='"managed": False')} == {"PUB107"}
    assert {finding.rule for finding in lint(options='"proxy": True')} == {"PUB107"}


@pytest.mark.parametrize(
    "step",
    [
        "migrations.AddField(model_name='t', name='b', field=models.CharField(max_length=N))",
        "migrations.AddField(model_name='t', name='b', field=fields.MoneyField(default=1))",
        "migrations.AddField(model_name='t', name='b', field=models.ForeignKey(settings.X, models.CASCADE))",
        "migrations.AddField('t', 'b', models.ForeignKey('other.model', models.CASCADE))",
        "migrations.AddField('t', 'b', models.ForeignKey(to='other.model', on_delete=models.CASCADE))",
        "migrations.AddField('t', 'b', models.ManyToManyField(to='other.model'))",
        "migrations.AlterModelManagers(name='t', managers=[('x', X())])",
        "migrations.RunPython(migrations.RunPython.noop)",
        "migrations.AddConstraint('t', models.CheckConstraint(check=models.Q(a=1), name='c'))",
        "migrations.AddField('t', 'b', taggit.managers.TaggableManager(to='x.y', through='x.z'))",
        "migrations.CreateModel(name='U', fields=fields_of_u())",
    ],
)
@pytest.mark.parametrize("complete", [False, True])
def test_what_does_not_concern_the_key_leaves_it_known(step: str, complete: bool) -> None:
    certain = {
        finding.rule for finding in lint(f"{step}, {IDENTITY}", complete=complete) if finding.certainty == "certain"
    }
    assert certain <= {"PUB302"}
    if "ForeignKey('other" not in step and "ForeignKey(settings" not in step:
        assert certain == {"PUB302"}


@pytest.mark.parametrize(
    "step",
    [
        "migrations.RunPython(elsewhere.run)",
        "migrations.RunPython(run)",
        "*more",
        "operation",
        "tool.AddKey(model_name='t')",
        "tool.DoAnything()",
        "migrations.AlterField(model_name='t', name='zz', field=models.TextField())",
        "migrations.AlterField(model_name='t', name='a', field=models.IntegerField())",
        "migrations.AddField(model_name=NAME, name='a', field=models.IntegerField())",
        "migrations.SeparateDatabaseAndState(database_operations=[tool.DoAnything()])",
    ],
)
def test_what_an_operation_does_that_cannot_be_read_leaves_nothing_certain(step: str) -> None:
    after = "\n\ndef run(apps, schema_editor):\n    schema_editor.execute(SQL)\n"
    assert keyless(lint(f"{IDENTITY}, {step}", after=after)) <= {"assumed"}
    assert {finding.certainty for finding in lint(f"{IDENTITY}, {step}", after=after, complete=True)} <= {"assumed"}


@pytest.mark.parametrize("operations", ["[*more]", "[] if x else [y]", "list(z)", "[]\n    operations += [y]"])
def test_operations_that_are_put_together_may_do_anything(operations: str) -> None:
    text = f"from django.db import migrations\nclass Migration(migrations.Migration):\n    operations = {operations}\n"
    project = Project()
    project.begin("/repo/app/migrations/0002.py")
    table = Source("0001.sql", "CREATE TABLE t (id int); CREATE PUBLICATION p FOR TABLE t;")
    unit = Unit((table, extract.source("0002.py", text + "    # migrations.X()", "python", project)))
    assert keyless(list(Linter(Config(postgres=(18,))).lint(unit).diagnostics)) == {"assumed"}


def test_a_composite_key_is_one() -> None:
    fields = '("pk", models.CompositePrimaryKey("a", "b")), ("a", models.IntegerField()), ("b", models.IntegerField())'
    assert lint(fields=fields, table="app_t WHERE (b = 1)", complete=True) == []


def test_models_that_are_only_told_of_are_not_sent() -> None:
    step = (
        "migrations.SeparateDatabaseAndState(state_operations=[migrations.RemoveField('t', 'a'),"
        " migrations.AddField('t', 'z', models.TextField(primary_key=True))])"
    )
    assert lint(step, table="app_t (a)", complete=True) == []


def test_a_migration_that_only_merges_others_puts_nothing_in_doubt() -> None:
    text = "from django.db import migrations\nclass Migration(migrations.Migration):\n    operations = [\n    ]\n"
    text += "    dependencies = [('t', '0001_initial')]\n"
    project = Project()
    project.begin("/repo/app/migrations/0002.py")
    table = Source("0001.sql", "CREATE TABLE t (id int); CREATE PUBLICATION p FOR TABLE t;")
    unit = Unit((table, extract.source("0002.py", text, "python", project)))
    assert keyless(list(Linter(Config(postgres=(18,))).lint(unit).diagnostics)) == {"certain"}
