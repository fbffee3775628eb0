"""The label of a Django application, which `apps.py` may give it, begins the names of its tables.

The tables are those of Django 5.2: the label of an application is `AppConfig.label`, or the last part of
`AppConfig.name`, as it is written, and without `apps.py` the name of its folder.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pubcheck.config import Config, UnitConfig
from pubcheck.discovery.units import find_units
from pubcheck.engine.linter import Linter
from pubcheck.lint_files import lint_files

MIGRATION = """\
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [{after}]
    operations = [{operation}]
"""
ITEM = 'migrations.CreateModel(name="Item", fields=[("a", models.IntegerField(primary_key=True))])'
HEADER = "from django.apps import AppConfig\n\n\nclass Shop(AppConfig):\n"


def lint(folder: Path, apps: str | None, table: str, app: str = "shop") -> list[tuple[str, str]]:
    """The codes and certainties of findings about a publication of a table, in a project with an application in the
    folder ``app`` with a model Item."""
    migrations = folder / app / "migrations"
    migrations.mkdir(parents=True)
    (folder / "manage.py").touch()
    if apps is not None:
        (folder / app / "apps.py").write_text(apps)
    publish = f"migrations.RunSQL('CREATE PUBLICATION p FOR TABLE \"{table}\" (none)')"
    (migrations / "0001_initial.py").write_text(MIGRATION.format(after="", operation=ITEM))
    (migrations / "0002_publish.py").write_text(MIGRATION.format(after="", operation=publish))
    (unit,) = find_units([str(folder)])
    entries = [finding.entry for finding in lint_files(unit, Linter()).findings]
    return [(entry.rule, entry.certainty) for entry in entries]


NO_COLUMN = [("PUB401", "certain")]
"""Of a table that is there: the column list names a column that is not."""


@pytest.mark.parametrize(
    ("apps", "table"),
    [
        (None, "shop_item"),
        ("", "shop_item"),
        (HEADER + "    name = 'project.shop'\n", "shop_item"),
        (HEADER + "    label = 'Sales'\n    name = 'shop'\n", "Sales_item"),
        (HEADER + "    label: str = 'sales'\n", "sales_item"),
        (
            HEADER.replace("Shop", "BaseConfig") + "    label = 'sales'\nclass C(BaseConfig):\n    name = 'shop'",
            "sales_item",
        ),
    ],
)
def test_tables_have_the_label_before_their_names(tmp_path: Path, apps: str | None, table: str) -> None:
    assert lint(tmp_path, apps, table) == NO_COLUMN


def test_the_folder_counts_as_it_is_written(tmp_path: Path) -> None:
    assert lint(tmp_path, None, "Shop_item", "Shop") == NO_COLUMN


@pytest.mark.parametrize(
    "apps",
    [
        HEADER + "    label = prefix() + 'shop'\n",
        "from other.apps import ShopConfig\n\n\nclass Mine(ShopConfig):\n    name = 'shop'\n",
        HEADER + "    label = 'a'\n\n\nclass Other(AppConfig):\n    label = 'b'\n",
        "class Shop(AppConfig)\n    label = 'a'\n",
    ],
)
@pytest.mark.parametrize("table", ["shop_item", "sales_item"])
def test_of_a_label_that_is_computed_nothing_is_certain(tmp_path: Path, apps: str, table: str) -> None:
    assert all(certainty == "assumed" for _, certainty in lint(tmp_path, apps, table))


def test_other_applications_depend_on_the_label(tmp_path: Path) -> None:
    for app, after, operation in (
        ("a", "('sales', '0001_initial')", "migrations.RunSQL('CREATE PUBLICATION p FOR TABLE sales_item (none)')"),
        ("shop", "", ITEM),
    ):
        (tmp_path / app / "migrations").mkdir(parents=True)
        text = MIGRATION.format(after=after, operation=operation)
        (tmp_path / app / "migrations" / "0001_initial.py").write_text(text)
    (tmp_path / "manage.py").touch()
    (tmp_path / "shop" / "apps.py").write_text(HEADER + "    label = 'sales'\n")
    (unit,) = find_units([str(tmp_path)])
    assert [Path(file.path).parts[-3] for file in unit.files] == ["shop", "a"]
    entries = [finding.entry for finding in lint_files(unit, Linter()).findings]
    assert [(entry.rule, entry.certainty) for entry in entries] == NO_COLUMN


@pytest.mark.parametrize("arguments", ["together", "schema", "configuration"])
@pytest.mark.parametrize(
    ("apps", "findings"), [(HEADER + "    label = 'sales'\n", NO_COLUMN), (HEADER, [("PUB107", "assumed")])]
)
def test_files_that_are_named_one_by_one_have_their_label_too(
    tmp_path: Path, arguments: str, apps: str, findings: list[tuple[str, str]]
) -> None:
    lint(tmp_path, apps, "sales_item")
    paths = [str(tmp_path / "shop/migrations" / name) for name in ("0001_initial.py", "0002_publish.py")]
    if arguments == "together":
        (unit,) = find_units(paths, together=True)
    elif arguments == "schema":
        (unit,) = find_units(paths[1:], schema=paths[:1])
    else:
        config = Config(units=(UnitConfig(name="shop", files=tuple(paths)),), root=str(tmp_path))
        (unit,) = find_units([str(tmp_path)], config)
    entries = [finding.entry for finding in lint_files(unit, Linter()).findings]
    assert [(entry.rule, entry.certainty) for entry in entries] == findings
