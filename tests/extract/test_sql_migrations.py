"""SQL files that PostgreSQL is not given letter by letter: ways back, changesets for others, templates."""

from __future__ import annotations

import pytest

from pubcheck import extract
from pubcheck.lexing.items import Statement
from pubcheck.lexing.splitter import Splitter


def statements(text: str) -> list[Statement]:
    return [item for item in Splitter(extract.source("x", text)) if isinstance(item, Statement)]


def sent(text: str) -> list[str]:
    return [" ".join(item.sent().split()) for item in statements(text)]


UP, DOWN = "CREATE PUBLICATION p", "DROP PUBLICATION p"


@pytest.mark.parametrize(
    "text",
    [
        f"-- +goose Up\n{UP};\n-- +goose Down\n{DOWN};\n",
        f"-- +goose Up\n-- +goose StatementBegin\n{UP};\n-- +goose StatementEnd\n\n-- +goose Down\n{DOWN};\n",
        f"-- +goose NO TRANSACTION\n-- +goose up\n{UP};\n-- +goose down\n{DOWN};\n",
        f"-- migrate:up\n{UP};\n\n-- migrate:down\n{DOWN};\n",
        f"-- migrate:up transaction:false\r\n{UP};\r\n-- migrate:down\r\n{DOWN};\r\n",
        f"-- +migrate Up\n{UP};\n-- +migrate Down\n{DOWN};\n",
        f"-- Up Migration\n{UP};\n\n-- Down Migration\n{DOWN};\n",
        f"# --- !Ups\n{UP};\n# --- !Downs\n{DOWN};\n",
        f"{UP};\n---- create above / drop below ----\n{DOWN};\n",
        f"--// First\n{UP};\n--//@UNDO\n{DOWN};\n",
        f"-- rambler up\n{UP};\n-- rambler down\n{DOWN};\n",
        f"-- ==== UP ====\n{UP};\n-- ==== DOWN ====\n{DOWN};\n",
        f"-- +goose Down\n{DOWN};\n-- +goose Up\n{UP};\n",
        f"-- +goose Up\r{UP};\r-- +goose Down\r{DOWN};\r",
    ],
)
def test_the_way_back_of_a_migration_is_not_run(text: str) -> None:
    assert sent(text) == [UP]


def test_a_file_that_only_speaks_of_a_way_back_is_run_whole() -> None:
    text = f"-- to come down again: migrate:down\n{UP};\nSELECT '-- +goose Down';\n{DOWN};\n"
    assert sent(text) == [UP, "SELECT '-- +goose Down'", DOWN]
    assert extract.source("x", text).view is None


def test_changesets_for_other_databases_are_not_run_and_conditional_ones_perhaps() -> None:
    text = (
        "--liquibase formatted sql\n"
        "--changeset a:1 dbms:mysql,mariadb\nCREATE TABLE m (a int);\n"
        "--changeset a:2 dbms:postgresql\nCREATE TABLE p (a int);\n--rollback DROP TABLE p;\n"
        "--changeset a:3 context:test\nCREATE TABLE q (a int);\n"
        "--changeset a:4 dbms:!postgresql\nCREATE TABLE r (a int);\n"
        "--changeset a:5 endDelimiter:/\nCREATE TABLE s (a int)\n/\nCREATE TABLE t (a int)\n/\n"
        "--changeset a:6\nCREATE TABLE u (a int);\n"
    )
    parts = statements(text)
    assert [item.sql.split()[2] for item in parts] == ["p", "q", "s", "t", "u"]
    assert [item.perhaps for item in parts] == [False, True, False, False, False]


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("ALTER PUBLICATION p ADD TABLE {{ schema }}.t;", "ALTER PUBLICATION p ADD TABLE ___schema___.t"),
        ("ALTER PUBLICATION ${pub} ADD TABLE t;", "ALTER PUBLICATION __pub_ ADD TABLE t"),
        ("ALTER PUBLICATION p ADD TABLE <%= name %>;", "ALTER PUBLICATION p ADD TABLE ____name___"),
        ("{# it's #}\n{%- set x = 'a' -%}\nDROP PUBLICATION p;", "DROP PUBLICATION p"),
        ("<% x.each do |t| %>\nDROP PUBLICATION p;\n<% end %>", "DROP PUBLICATION p"),
        ("{{- if .Values.x }}\nDROP PUBLICATION p;\n{{- end }}\n", "DROP PUBLICATION p"),
        ("DROP PUBLICATION part_{{ x }};", "DROP PUBLICATION part____x___"),
        ("{{!-- it's --}}DROP PUBLICATION p;", "DROP PUBLICATION p"),
    ],
)
def test_of_a_template_names_stand_for_values_and_control_blocks_are_blank(text: str, sql: str) -> None:
    assert sent(text) == [sql]


def test_what_stands_in_a_block_of_a_template_runs_perhaps() -> None:
    text = "CREATE TABLE a (x int);\n{% if y %}CREATE TABLE b (x int);{% endif %}\nCREATE TABLE c (x int);\n"
    assert [item.perhaps for item in statements(text)] == [False, True, False]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT '{{1,2},{3,4}}'::int[];",
        "SELECT data #> '{a,b}', '{%' FROM t;",
        "CREATE TABLE t (a text DEFAULT '{}');",
        "COPY t FROM stdin;\n{{ x }}\t${y}\n\\.\n",
        "SELECT $1, $x$ {{1,2},{3}} $x$;",
        "INSERT INTO t VALUES ('<a>'), ('#tag'), ('50%');",
    ],
)
def test_sql_that_looks_like_a_template_is_left_as_it_is(text: str) -> None:
    view = extract.source("x", text).view
    assert view is None or not view.filled


def test_a_placeholder_in_a_text_leaves_it_and_is_noted() -> None:
    text = "CREATE PUBLICATION p WITH (publish = '{{ operations }}');"
    [statement] = statements(text)
    assert statement.sql == text[:-1]
    assert [text[start:end] for start, end in statement.placeholders] == ["{{ operations }}"]


def test_a_pointer_of_git_lfs_is_no_sql() -> None:
    source = extract.source("x", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n")
    assert source.view is not None
    assert [note.rule for note in source.view.notes] == ["PUB013"]
    assert not source.text.strip()
