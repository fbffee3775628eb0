"""The conventions of the tools that people use, each on a small tree."""

from __future__ import annotations

import pytest

from pubcheck.config import Config
from pubcheck.discovery.units import find_units
from pubcheck.engine.linter import Linter
from pubcheck.lint_files import lint_files
from tests.discovery.tools.trees import PUBLICATION, TABLE, Grow, passed_over, plant, shown, units, write


def test_supabase_runs_migrations_by_time_and_then_the_seed(grow: Grow) -> None:
    grow(
        "repo/supabase/migrations/20240102000000_b.sql",
        "repo/supabase/migrations/20240101000000_a.sql",
        "repo/supabase/migrations/notes.sql",
        "repo/supabase/seed.sql",
        "repo/supabase/schemas/b.sql",
        "repo/supabase/schemas/auth/a.sql",
        "repo/supabase/tests/a_test.sql",
    )
    assert units() == {
        "supabase/migrations": (
            "supabase",
            [
                "supabase/migrations/20240101000000_a.sql",
                "supabase/migrations/20240102000000_b.sql",
                "supabase/seed.sql",
            ],
        ),
        "supabase/migrations/notes.sql": ("folder", ["supabase/migrations/notes.sql"]),
        "supabase/schemas": ("supabase", ["supabase/schemas/b.sql", "supabase/schemas/auth/a.sql"]),
        "supabase/tests": ("folder", ["supabase/tests/a_test.sql"]),
    }


def test_flyway_runs_versions_by_number_then_what_is_repeatable_and_nothing_that_undoes(grow: Grow) -> None:
    names = ("V10__j.sql", "V2.1__b.sql", "V2__a.sql", "R__views.sql", "R__a.sql", "U2__a.sql", "afterMigrate.sql")
    grow(*(f"repo/db/migration/{name}" for name in names), "repo/db/migration/2024/V11__k.sql")
    ordered = ("V2__a.sql", "V2.1__b.sql", "V10__j.sql", "2024/V11__k.sql", "R__a.sql", "R__views.sql")
    files = [f"db/migration/{name}" for name in (*ordered, "afterMigrate.sql")]
    assert units() == {"db/migration": ("flyway", files)}
    assert passed_over() == ["db/migration/U2__a.sql"]


def test_a_baseline_of_flyway_stands_for_the_versions_up_to_its_own(grow: Grow) -> None:
    grow(*(f"repo/sql/{name}" for name in ("V1__a.sql", "V2__b.sql", "B2__base.sql", "V3__c.sql")))
    assert units() == {"sql": ("flyway", ["sql/B2__base.sql", "sql/V3__c.sql"])}
    assert passed_over() == ["sql/V1__a.sql", "sql/V2__b.sql"]


def test_vendors_of_flyway_are_databases_of_their_own(grow: Grow) -> None:
    grow("repo/db/migration/h2/V1__a.sql", "repo/db/migration/postgresql/V1__a.sql")
    assert units() == {
        "db/migration/h2": ("flyway", ["db/migration/h2/V1__a.sql"]),
        "db/migration/postgresql": ("flyway", ["db/migration/postgresql/V1__a.sql"]),
    }


@pytest.mark.parametrize(
    ("kind", "mark"),
    [
        ("goose", "-- +goose Up"),
        ("dbmate", "-- migrate:up"),
        ("sql-migrate", "-- +migrate Up"),
        ("node-pg-migrate", "-- Up Migration"),
        ("liquibase", "--liquibase formatted sql"),
    ],
)
def test_files_with_the_marks_of_a_tool_are_its_history(grow: Grow, kind: str, mark: str) -> None:
    grow()
    plant({f"repo/changes/{name}": f"{mark}\nSELECT 1;\n" for name in ("10_c.sql", "9_b.sql", "1_a.sql")})
    plant({"repo/changes/2_unmarked.sql": "SELECT 1;", "repo/other/a.sql": "SELECT 1;"})
    own = ["changes/1_a.sql", "changes/2_unmarked.sql", "changes/9_b.sql", "changes/10_c.sql"]
    if kind == "liquibase":  # in which a file without marks is another kind of change
        own.remove("changes/2_unmarked.sql")
    assert units()["changes"] == (kind, own)


def test_change_logs_of_liquibase_may_have_folders(grow: Grow) -> None:
    grow()
    plant(
        {f"repo/db/changelog/{name}": "--liquibase formatted sql\n" for name in ("v2/a.sql", "v1/b.sql", "v10/c.sql")}
    )
    files = [f"db/changelog/{name}" for name in ("v1/b.sql", "v2/a.sql", "v10/c.sql")]
    assert units() == {"db/changelog": ("liquibase", files)}


LOGS = {
    "master.xml": """<?xml version="1.0"?>
<databaseChangeLog>
  <!-- <include file="old.sql"/> -->
  <include relativeToChangelogFile="true" file="{0}"/>
  <changeSet id="1"><sqlFile path="{1}"/><rollback><sqlFile path="undo.sql"/></rollback></changeSet>
  <includeAll path="{2}/"/>
</databaseChangeLog>""",
    "db.changelog-master.yaml": """databaseChangeLog:
  # - include:
  #     file: old.sql
  - include:
      file: {0}
      relativeToChangelogFile: true
  - changeSet:
      id: 1
      changes:
        - sqlFile:
            path: "{1}"
      rollback:
        - sqlFile:
            path: undo.sql
  - includeAll:
      path: {2}
""",
    "changelog.json": """{{"databaseChangeLog": [{{"include": {{"file": "{0}"}}}},
  {{"include": {{"relativeToChangelogFile": true, "file": "{1}"}}}}, {{"includeAll": {{"path": "{2}/"}}}}]}}""",
}


@pytest.mark.parametrize("log", LOGS)
def test_a_change_log_of_liquibase_gives_the_order(grow: Grow, log: str) -> None:
    grow()
    marked = "--liquibase formatted sql\n--changeset a:1\n"
    names = ("b.sql", "a.sql", "more/d.sql", "more/c.sql", "undo.sql", "old.sql")
    plant({f"repo/db/{name}": marked + "SELECT 1;" for name in names})
    plant({f"repo/db/{log}": LOGS[log].format("b.sql", "a.sql", "more")})
    planned = [(convention, files) for convention, files in units().values()]
    assert ("liquibase", ["db/b.sql", "db/a.sql", "db/more/c.sql", "db/more/d.sql"]) in planned
    assert sum(len(files) for _, files in planned) == 6


def test_change_logs_may_include_each_other_from_where_liquibase_looks(grow: Grow) -> None:
    grow()
    include = '<databaseChangeLog><include file="{}"/><include file="{}"/></databaseChangeLog>'
    top = "db/changelog"
    plant(
        {
            f"repo/res/{top}/master.xml": include.format(f"classpath:{top}/v2/changelog-2.xml", "db/z.sql"),
            f"repo/res/{top}/v2/changelog-2.xml": include.format(f"{top}/v2/b.sql", f"{top}/v2/a.sql"),
            f"repo/res/{top}/v2/a.sql": "SELECT 1;",
            f"repo/res/{top}/v2/b.sql": "SELECT 1;",
            "repo/res/db/z.sql": "SELECT 1;",
        }
    )
    files = [f"res/{top}/v2/b.sql", f"res/{top}/v2/a.sql", "res/db/z.sql"]
    assert list(units().values()) == [("liquibase", files)]


def test_a_change_log_that_names_what_is_not_there_gives_no_order(grow: Grow) -> None:
    grow()
    plant({f"repo/db/{name}.sql": "--liquibase formatted sql\n" for name in "ba"})
    write("repo/db/master.xml", '<databaseChangeLog><include file="b.sql"/><include file="c.xml"/></databaseChangeLog>')
    assert units() == {"db": ("liquibase", ["db/a.sql", "db/b.sql"])}


@pytest.mark.parametrize(
    ("ups", "downs"),
    [
        (("1_a.up.sql", "2_b.up.sql", "10_c.up.sql"), ("1_a.down.sql", "2_b.down.sql")),
        (("001.do.a.sql", "002.do.b.sql"), ("001.undo.a.sql", "002.undo.b.sql")),
        (("001_do.sql", "002_do.sql"), ("001_undo.sql", "002_undo.sql")),
        (("20240101-a-up.sql", "20240102-b-up.sql"), ("20240101-a-down.sql", "20240102-b-down.sql")),
        (("0001_a.sql", "0002_b.sql"), ("0001_a.rollback.sql", "0002_b.rollback.sql")),
        (("0001_a_upgrade.sql", "0002_b_upgrade.sql"), ("0001_a_downgrade.sql", "0002_b_downgrade.sql")),
    ],
)
def test_of_pairs_only_the_way_up_is_run(grow: Grow, ups: tuple[str, ...], downs: tuple[str, ...]) -> None:
    grow(*(f"repo/db/{name}" for name in (*ups, *downs)))
    assert units() == {"db": ("up-down", [f"db/{name}" for name in ups])}
    assert passed_over() == sorted(f"db/{name}" for name in downs)


def test_a_folder_of_ways_down_beside_that_of_ways_up_is_not_run(grow: Grow) -> None:
    grow("repo/db/up/1.sql", "repo/db/up/10.sql", "repo/db/up/2.sql", "repo/db/down/1.sql", "repo/db/down/2.sql")
    assert units() == {"db/up": ("up-down", ["db/up/1.sql", "db/up/2.sql", "db/up/10.sql"])}
    assert passed_over() == ["db/down/1.sql", "db/down/2.sql"]


def test_sqitch_deploys_in_the_order_of_its_plan(grow: Grow) -> None:
    grow(
        *(
            f"repo/{folder}/{name}.sql"
            for folder in ("deploy", "revert", "verify")
            for name in ("users", "app/flips", "aaa")
        ),
        "repo/deploy/users@v1.sql",
    )
    write(
        "repo/sqitch.plan",
        "%syntax-version=1.0.0\n%project=flipr\n\n"
        "users 2024-01-01T00:00:00Z A <a@b> # first\n@v1 2024-01-01T00:00:00Z A <a@b> # tag\n\n"
        "app/flips [users] 2024-01-02T00:00:00Z A <a@b> # second\nusers [users@v1] 2024-01-03T00:00:00Z A <a@b>\n",
    )
    planned = units()
    assert planned["."] == ("sqitch", ["deploy/users@v1.sql", "deploy/app/flips.sql", "deploy/users.sql"])
    assert len(passed_over()) == 6


def test_prisma_runs_the_folders_of_its_migrations_in_order(grow: Grow) -> None:
    grow(
        "repo/prisma/migrations/20240102000000_b/migration.sql",
        "repo/prisma/migrations/20240101000000_a/migration.sql",
        "repo/prisma/migrations/migration_lock.toml",
    )
    files = [f"prisma/migrations/{name}/migration.sql" for name in ("20240101000000_a", "20240102000000_b")]
    assert units() == {"prisma/migrations": ("prisma", files)}


def test_diesel_and_hasura_run_the_way_up_of_each_folder(grow: Grow) -> None:
    grow(
        *(f"repo/migrations/{name}/{direction}.sql" for name in ("2_b", "10_c", "1_a") for direction in ("up", "down"))
    )
    files = [f"migrations/{name}/up.sql" for name in ("1_a", "2_b", "10_c")]
    assert units() == {"migrations": ("up-down", files)}


def test_drizzle_runs_what_its_journal_lists(grow: Grow) -> None:
    grow("repo/drizzle/0000_b.sql", "repo/drizzle/0001_a.sql", "repo/drizzle/custom.sql")
    write(
        "repo/drizzle/meta/_journal.json",
        '{"version": "7", "entries": [{"idx": 1, "tag": "0000_b"}, {"idx": 0, "tag": "0001_a"}]}',
    )
    planned = units()
    assert planned["drizzle"] == ("drizzle", ["drizzle/0001_a.sql", "drizzle/0000_b.sql"])
    assert planned["drizzle/custom.sql"] == ("folder", ["drizzle/custom.sql"])


def test_a_journal_that_cannot_be_read_lists_nothing(grow: Grow) -> None:
    grow("repo/drizzle/0001_b.sql", "repo/drizzle/0000_a.sql")
    write("repo/drizzle/meta/_journal.json", "{")
    assert units() == {"drizzle": ("numbered", ["drizzle/0000_a.sql", "drizzle/0001_b.sql"])}


def test_the_image_of_postgresql_runs_sql_and_shell_by_name(grow: Grow) -> None:
    top = "docker-entrypoint-initdb.d"
    grow(f"repo/{top}/10.sql", f"repo/{top}/2.sh", f"repo/{top}/1.sql", f"repo/{top}/readme.md")
    assert units() == {top: ("initdb", [f"{top}/{name}" for name in ("1.sql", "10.sql", "2.sh")])}


def test_programs_are_known_by_their_names_or_their_first_line(grow: Grow) -> None:
    grow()
    command = 'psql -c "' + PUBLICATION.format("t").strip() + '"\n'
    named = ("Makefile", "docker/Dockerfile", "docker/Dockerfile.db", "main.tf", "init.sh.j2", "scripts/publish")
    plant(
        {
            **dict.fromkeys((f"repo/{name}" for name in named), f"#!/usr/bin/env bash\n{command}"),
            "repo/README": command,
            "repo/LICENSE": "-- no script\n",
            "repo/scripts/tool": "#!/usr/bin/env awk -f\n" + command,
            "repo/bin/app": "\x7fELF\0" + command,
        }
    )
    assert sorted(files for _, files in units().values()) == [[name] for name in sorted(named)]


def test_numbered_migrations_run_as_people_count(grow: Grow) -> None:
    grow("repo/migrations/10_c.sql", "repo/migrations/9_b.sql", "repo/migrations/1_a.sql", "repo/steps/2.sql")
    write("repo/steps/10.sql", TABLE.format("t"))
    assert units() == {
        "migrations": ("migrations", [f"migrations/{name}" for name in ("1_a.sql", "9_b.sql", "10_c.sql")]),
        "steps": ("numbered", ["steps/2.sql", "steps/10.sql"]),
    }


def test_numbered_files_that_make_the_same_tables_are_databases_of_their_own(grow: Grow) -> None:
    grow()
    demo = TABLE.format("t") + PUBLICATION.format("t")
    plant({"repo/demos/01_a.sql": demo, "repo/demos/02_b.sql": demo})
    assert [files for _, files in units().values()] == [["demos/01_a.sql"], ["demos/02_b.sql"]]


def test_numbered_files_of_which_one_makes_a_table_anew_are_a_history(grow: Grow) -> None:
    grow()
    plant({f"repo/steps/{number}.sql": TABLE.format(f"t{number}") for number in range(1, 5)})
    plant({"repo/steps/5.sql": "DROP TABLE t1;" + TABLE.format("t1") + PUBLICATION.format("t1")})
    assert [len(files) for _, files in units().values()] == [5]


@pytest.mark.parametrize("folder", ["db/animals_migrate", "Data/Migrations", "db-migrations"])
def test_folders_of_migrations_go_by_several_names(grow: Grow, folder: str) -> None:
    grow(f"repo/{folder}/20240101_a.sql")
    assert units()[folder][0] == "migrations"


def test_migrations_in_other_languages_take_part_when_one_of_them_publishes(grow: Grow) -> None:
    grow()
    execute = 'execute "ALTER PUBLICATION p ADD TABLE t"\n'
    plant({"repo/db/migrate/20240102_b.rb": execute, "repo/db/migrate/20240101_a.rb": execute})
    plant({"repo/db/migrate/20240103_c.rb": "add_column :t, :a, :int\n", "repo/app/models/t.rb": "class T; end\n"})
    plant({"repo/other/migrate/20240103_c.rb": "add_column :t, :a, :int\n"})
    files = [f"db/migrate/{name}" for name in ("20240101_a.rb", "20240102_b.rb", "20240103_c.rb")]
    assert units() == {"db/migrate": ("migrations", files)}


def test_migrations_of_alembic_run_in_the_order_of_their_revisions(grow: Grow) -> None:
    grow()

    def migration(own: str, after: str | None, does: str = 'op.execute("ALTER PUBLICATION p ADD TABLE t")') -> str:
        return f"revision: str = {own!r}\ndown_revision = {after!r}\n\ndef upgrade():\n    {does}\n"

    plant(
        {
            "repo/alembic/versions/aaa_last.py": migration("aaa", "bbb"),
            "repo/alembic/versions/bbb_middle.py": migration("bbb", "ccc", "pass"),
            "repo/alembic/versions/ccc_first.py": migration("ccc", None),
        }
    )
    files = [f"alembic/versions/{name}.py" for name in ("ccc_first", "bbb_middle", "aaa_last")]
    assert units() == {"alembic/versions": ("migrations", files)}


def test_a_script_of_psql_follows_what_it_includes(grow: Grow) -> None:
    grow("repo/db/tables/z.sql", "repo/db/tables/a.sql", "repo/db/last.sql", "repo/db/other.sql")
    plant(
        {
            "repo/db/all.sql": "\\set ON_ERROR_STOP on\n\\ir tables/all.sql\n\\i db/last.sql\n\\i :dir/none.sql\n",
            "repo/db/tables/all.sql": "\\ir z.sql\n\\ir 'a.sql'\n\\ir all.sql\n",
        }
    )
    files = ["db/all.sql", "db/tables/all.sql", "db/tables/z.sql", "db/tables/a.sql", "db/last.sql"]
    assert units() == {"db/all.sql": ("psql", files), "db": ("folder", ["db/other.sql"])}


def test_a_dump_beside_migrations_is_a_database_of_its_own(grow: Grow) -> None:
    grow()
    dump = "--\n-- PostgreSQL database dump\n--\n\n-- Dumped from database version 16.3\n\n" + TABLE.format("public.t")
    plant({"repo/db/schema.sql": dump, "repo/db/structure.sql": TABLE.format("t"), "repo/db/seed.sql": "SELECT 1;"})
    plant({"repo/db/migrations/1_a.sql": TABLE.format("t"), "repo/db/migrations/2_b.sql": PUBLICATION.format("t")})
    plans = {plan.name: (plan.convention, plan.postgres) for plan in find_units(["repo"])}
    assert plans == {
        "repo/db": ("folder", ()),
        "repo/db/schema.sql": ("dump", (16,)),
        "repo/db/structure.sql": ("rails", ()),
        "repo/db/migrations": ("migrations", ()),
    }


def test_the_dump_of_dbmate_has_no_header(grow: Grow) -> None:
    grow()
    plant({"repo/db/migrations/1_a.sql": "-- migrate:up\n" + TABLE.format("t") + PUBLICATION.format("t")})
    dump = "SET statement_timeout = 0;\nSET lock_timeout = 0;\n" + TABLE.format("public.t") + PUBLICATION.format("t")
    write("repo/db/schema.sql", dump + "\n\n--\n-- Dbmate schema migrations\n--\n\n")
    assert units() == {
        "db/schema.sql": ("dump", ["db/schema.sql"]),
        "db/migrations": ("dbmate", ["db/migrations/1_a.sql"]),
    }


DJANGO = "class Migration(migrations.Migration):\n    dependencies = [{}]\n{}    operations = [{}]\n"
PUBLISHES = 'migrations.RunSQL("CREATE PUBLICATION p")'


def test_migrations_of_django_run_after_those_that_they_depend_on(grow: Grow) -> None:
    grow()
    plant(
        {
            "repo/site/manage.py": "",
            "repo/site/a/migrations/0001_initial.py": DJANGO.format("('b', '0002_more')", "", PUBLISHES),
            "repo/site/a/migrations/0002_next.py": DJANGO.format('("a", "0001_initial")', "", ""),
            "repo/site/a/migrations/__init__.py": "",
            "repo/site/b/migrations/0001_initial.py": DJANGO.format("", "", ""),
            "repo/site/b/migrations/0002_more.py": DJANGO.format("\n        ('b', '0001_initial'),\n    ", "", ""),
            "repo/other/manage.py": "",
            "repo/other/c/migrations/0001_initial.py": DJANGO.format("", "", ""),
        }
    )
    names = [
        "b/migrations/0001_initial",
        "b/migrations/0002_more",
        "a/migrations/0001_initial",
        "a/migrations/0002_next",
    ]
    assert units() == {"site": ("django", [f"site/{name}.py" for name in names])}


def test_of_migrations_that_are_replaced_django_runs_the_one_that_replaces_them(grow: Grow) -> None:
    grow()
    replaces = '    replaces = [("a", "0001_initial"), ("a", "0002_more")]\n'
    plant(
        {
            "repo/a/migrations/0001_initial.py": DJANGO.format("", "", ""),
            "repo/a/migrations/0002_more.py": DJANGO.format('("a", "0001_initial")', "", ""),
            "repo/a/migrations/0001_squashed.py": DJANGO.format("", replaces, ""),
            "repo/a/migrations/0003_last.py": DJANGO.format('("a", "0002_more")', "", PUBLISHES),
        }
    )
    names = ["0001_squashed", "0003_last"]
    assert units() == {"a/migrations": ("django", [f"a/migrations/{name}.py" for name in names])}
    assert passed_over() == ["a/migrations/0001_initial.py", "a/migrations/0002_more.py"]


STRUCTURE = "{}\nINSERT INTO \"schema_migrations\" (version) VALUES\n('20240102000000'),\n('20240101000000');\n"
RUBY = "class M < ActiveRecord::Migration[7.1]\n  def change\n    {}\n  end\nend\n"


def test_migrations_of_rails_start_from_the_structure(grow: Grow) -> None:
    grow()
    publishes = RUBY.format('execute "CREATE PUBLICATION p FOR TABLE t"')
    plant(
        {
            "repo/db/structure.sql": STRUCTURE.format(TABLE.format("t")),
            "repo/db/migrate/20240102000000_b.rb": RUBY.format(""),
            "repo/db/migrate/20240103000000_c.rb": publishes,
            "repo/app/db/schema.rb": "ActiveRecord::Schema[7.1].define(version: 2024_01_02_000000) do\nend\n",
            "repo/app/db/migrate/20240101000000_a.rb": RUBY.format(""),
            "repo/app/db/migrate/20240103000000_c.rb": publishes,
        }
    )
    assert units() == {
        "app/db/schema.rb": ("migrations", ["app/db/schema.rb", "app/db/migrate/20240103000000_c.rb"]),
        "db/structure.sql": ("migrations", ["db/structure.sql", "db/migrate/20240103000000_c.rb"]),
    }
    named = shown("repo/db/migrate/20240103000000_c.rb")
    assert named == [["(repo/db/structure.sql)", "repo/db/migrate/20240103000000_c.rb"]]


def test_change_logs_with_statements_are_a_unit_of_their_master(grow: Grow) -> None:
    grow()
    log = '<databaseChangeLog><changeSet id="1" author="a">{}</changeSet></databaseChangeLog>'
    include = '<databaseChangeLog><include file="db/{}"/><include file="db/{}"/></databaseChangeLog>'
    plant(
        {
            "repo/db/master.xml": include.format("2-tables.xml", "1-publish.xml"),
            "repo/db/2-tables.xml": log.format("<sql>CREATE TABLE t (id int)</sql>"),
            "repo/db/1-publish.xml": log.format("<sql>CREATE PUBLICATION p FOR TABLE t WHERE (id = 'x')</sql>"),
            "repo/other/master.xml": include.format("a.xml", "b.xml"),
            "repo/other/db/a.xml": log.format("<sql>CREATE TABLE t (id int)</sql>"),
            "repo/other/db/b.xml": log.format("<sql>CREATE TABLE u (id int)</sql>"),
        }
    )
    assert units() == {"db": ("liquibase", ["db/2-tables.xml", "db/1-publish.xml"])}
    [unit] = find_units(["repo"])
    (finding,) = [
        diagnostic for diagnostic in lint_files(unit, Linter(Config(postgres=(18,)))).diagnostics if diagnostic.server
    ]
    assert (finding.rule, finding.certainty) == ("PUB205", "assumed")
