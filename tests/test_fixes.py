"""Fixes: what they leave lints clean of their rule, applying them twice changes nothing, and servers accept it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import hypothesis
import pglast
import psycopg
import pytest
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from pubcheck import Config, Linter
from pubcheck.autofix import Changes, Editing, add_ignores, fix
from pubcheck.diagnostics import Edit, Span
from pubcheck.discovery.file_types import DiscoveredUnit, File
from pubcheck.lint_files import lint_files
from pubcheck.rulebook import RULES
from pubcheck.source import Source
from tests.conformance.judging import DATABASE, text_of
from tests.support.cases import DDL_PHASES, Case
from tests.support.servers import MAJORS, Servers, answer_in, execute, prepare
from tools.rulebook.pages import read_pages

PAGES = read_pages(str(Path(__file__).parent.parent / "rules"))


def applied(sql: str, major: int = 18, *, unsafe: bool = False, select: tuple[str, ...] = ()) -> Changes:
    linter = Linter(Config(postgres=(major,), complete=True, database=DATABASE, select=select))
    plan = DiscoveredUnit("a", (File("a.sql", "a.sql", content=sql.encode()),), "file", "")
    return fix(plan, lambda plan: lint_files(plan, linter, excerpts=False), unsafe=unsafe)


def fixed(sql: str, major: int = 18, *, unsafe: bool = False, select: tuple[str, ...] = ()) -> str:
    """The text after its fixes."""
    files = applied(sql, major, unsafe=unsafe, select=select).files
    return files[0].after.decode() if files else sql


class Given(Struct, frozen=True):
    """Statements and the one that is looked at."""

    name: str
    setup: tuple[str, ...]
    statement: str
    major: int

    @property
    def sql(self) -> str:
        return "".join(f"{statement};\n" for statement in self.setup) + self.statement


def of_pages() -> Iterator[Given]:
    for page in (finding for finding in PAGES if finding.rule.fix):
        for number, example in enumerate(page.bad, 1):
            *setup, statement = pglast.split(example.sql, with_parser=False)
            for major in page.rule.postgres:
                yield Given(f"{page.rule.code}-{number}-{major}", tuple(setup), statement, major)


def of_corpus(corpus: list[Case]) -> Iterator[Given]:
    for case in corpus:
        if case.phase in DDL_PHASES:
            sql, start = text_of(case)
            setup = tuple(statement.replace("@@DB@@", DATABASE).replace("@@PORT@@", "5432") for statement in case.setup)
            for major, recorded in case.answers.items():
                if not recorded.ok:
                    yield Given(f"{case.id}-{major}", setup, sql[start:], major)


def problems(example: Given, *, unsafe: bool) -> Iterator[str]:
    """What is wrong with the fixes of a statement."""
    changes = applied(example.sql, example.major, unsafe=unsafe)
    left = {finding.entry.rule for finding in changes.linted.findings if finding.entry.certainty == "certain"}
    done = {finding.rule for finding in changes.applied}
    if left & done:
        yield f"{example.name}: {', '.join(left & done)} is still found"
    if changes.files:
        text = changes.files[0].after.decode()
        again = fixed(text, example.major, unsafe=unsafe)
        if again != text:
            yield f"{example.name}: a second run changes {text!r} into {again!r}"


@pytest.mark.parametrize("unsafe", [False, True])
def test_what_is_fixed_is_found_no_more_and_not_fixed_again(corpus: list[Case], unsafe: bool) -> None:
    latest = [example for example in (*of_pages(), *of_corpus(corpus[:: 2 if unsafe else 5])) if example.major == 18]
    assert [problem for example in latest for problem in problems(example, unsafe=unsafe)] == []


@pytest.mark.server
def test_servers_accept_what_safe_fixes_leave(servers: Servers, corpus: list[Case]) -> None:
    checked, refused = 0, []
    for example, connection in _connected(servers, (*of_pages(), *of_corpus(corpus[::2]))):
        changes = applied(example.sql, example.major)
        after = changes.files[0].after.decode() if changes.files else example.sql
        before = "".join(f"{statement};\n" for statement in example.setup)
        if after == example.sql or not after.startswith(before):
            continue
        checked += 1
        # What another rule refuses about the statement is still found.
        expected = not any(finding.refused for finding in changes.linted.diagnostics)
        answer = answer_in(connection, example.setup, after[len(before) :])
        if answer.ok != expected:
            refused.append(f"{example.name}: {answer.sqlstate} {answer.message}\n  in: {after[len(before) :]}")
    assert checked > 50
    assert refused == []


def _connected(servers: Servers, all_given: Iterable[Given]) -> Iterator[tuple[Given, psycopg.Connection[Any]]]:
    for major in MAJORS:
        with servers[major].database() as name, servers[major].connect(name) as connection:
            yield from ((example, connection) for example in all_given if example.major == major)


@pytest.mark.server
def test_servers_accept_a_fixed_write(servers: Servers) -> None:
    for example in of_pages():
        if RULES[example.name[:6]].phase != "write" or example.major not in MAJORS:
            continue
        *script, write = [*example.setup, example.statement]
        after = fixed("".join(f"{statement};\n" for statement in script), example.major, unsafe=True)
        with servers[example.major].database() as name, servers[example.major].connect(name) as connection:
            prepare(connection, pglast.split(after, with_parser=False))
            answer = execute(connection, write)
        assert answer.ok, f"{example.name}: {answer.message} in {after}"


# --- Each statement fix ---------------------------------------------------------------------------------------------

Q = "CREATE PUBLICATION q"
T = "CREATE TABLE t (id int PRIMARY KEY, a int NOT NULL, b text);\nCREATE TABLE u (id int PRIMARY KEY);\n"
P = "CREATE PUBLICATION p FOR TABLE t;\n"


@pytest.mark.parametrize(
    ("bad", "good"),
    [
        ("CREATE PUBLICATION q FOR TABLE t (id, a, id, a);", "CREATE PUBLICATION q FOR TABLE t (id, a);"),
        (Q + " FOR TABLE t (id, A, a) WHERE (id > 1);", Q + " FOR TABLE t (id, A) WHERE (id > 1);"),
        ('CREATE PUBLICATION q FOR TABLE t ( ID , "B" );', "CREATE PUBLICATION q FOR TABLE t ( ID , b );"),
        (Q + " WITH (publish = 'insert', publish='insert');", Q + " WITH (publish = 'insert');"),
        (Q + " WITH (publish = insert, delete);", Q + " WITH (publish = 'insert, delete');"),
        (Q + " WITH (publish = 'INSERT update,');", Q + " WITH (publish = 'insert, update');"),
        (Q + " WITH (publish_via_partition_root = 'no');", Q + " WITH (publish_via_partition_root = false);"),
        (Q + " WITH (publish_generated_columns = on);", Q + " WITH (publish_generated_columns = stored);"),
        (P + "ALTER PUBLICATION p ADD TABLE u, t;", P + "ALTER PUBLICATION p ADD TABLE u;"),
        (P + "ALTER PUBLICATION p ADD TABLE t, u;", P + "ALTER PUBLICATION p ADD TABLE u;"),
        (P + "ALTER PUBLICATION p ADD TABLE t, TABLE u;", P + "ALTER PUBLICATION p ADD TABLE u;"),
        (P + "ALTER PUBLICATION p DROP TABLE u, t;", P + "ALTER PUBLICATION p DROP TABLE t;"),
        (P + "ALTER PUBLICATION p DROP TABLE t (id);", P + "ALTER PUBLICATION p DROP TABLE t;"),
        (P + "ALTER PUBLICATION p DROP TABLE public.t WHERE (id > 1);", P + "ALTER PUBLICATION p DROP TABLE public.t;"),
        ('CREATE PUBLICATION "Q"; DROP PUBLICATION Q;', 'CREATE PUBLICATION "Q"; DROP PUBLICATION "Q";'),
        ('CREATE PUBLICATION q FOR TABLE public."T";', "CREATE PUBLICATION q FOR TABLE public.t;"),
        ('CREATE PUBLICATION q FOR TABLE t WHERE ("ID" > 1);', "CREATE PUBLICATION q FOR TABLE t WHERE (id > 1);"),
        (
            "CREATE TABLE c () INHERITS (u); CREATE PUBLICATION q FOR TABLE u WHERE (u.id > 1 AND public.u.id < 9);",
            "CREATE TABLE c () INHERITS (u); CREATE PUBLICATION q FOR TABLE u WHERE (id > 1 AND id < 9);",
        ),
        (
            "CREATE PUBLICATION q FOR TABLES IN SCHEMA public, public.t;",
            "CREATE PUBLICATION q FOR TABLES IN SCHEMA public, TABLE public.t;",
        ),
        (
            "create publication q for tables in schema public, t where (id > 1), table u;",
            "create publication q for tables in schema public, table t where (id > 1), table u;",
        ),
        (
            "CREATE PUBLICATION q FOR TABLE t, CURRENT_SCHEMA;",
            "CREATE PUBLICATION q FOR TABLE t, TABLES IN SCHEMA CURRENT_SCHEMA;",
        ),
    ],
)
def test_what_can_mean_one_thing_is_fixed_safely(bad: str, good: str) -> None:
    assert fixed(T + bad) == T + good


@pytest.mark.parametrize(
    ("bad", "good"),
    [
        ("CREATE PUBLICATION q FOR TABLE tt_orders;", "CREATE PUBLICATION q FOR TABLE t_orders;"),
        ("CREATE PUBLICATION q FOR TABLE t_orders (id, totl);", "CREATE PUBLICATION q FOR TABLE t_orders (id, total);"),
        (
            "CREATE PUBLICATION q FOR TABLE t_orders WHERE (totla > 1) WITH (publish = 'insert');",
            "CREATE PUBLICATION q FOR TABLE t_orders WHERE (total > 1) WITH (publish = 'insert');",
        ),
        ("CREATE PUBLICATION q FOR TABLE t_orders (id, ctid);", "CREATE PUBLICATION q FOR TABLE t_orders (id);"),
        ("CREATE PUBLICATION q FOR TABLE t_orders (ctid, id);", "CREATE PUBLICATION q FOR TABLE t_orders (id);"),
        (Q + " WITH (publish = 'inserts, udpate');", Q + " WITH (publish = 'insert, update');"),
        ("CREATE PUBLICATION q WITH (publsh = 'insert');", "CREATE PUBLICATION q WITH (publish = 'insert');"),
        (P + "ALTER PUBLICATION p ADD TABLE t;\nSELECT 1;", P + "SELECT 1;"),
        (P + "SELECT 1; ALTER PUBLICATION p ADD TABLE t; SELECT 2;", P + "SELECT 1; SELECT 2;"),
        (P + "ALTER PUBLICATION p ADD TABLE u, t WHERE (id > 1);", P + "ALTER PUBLICATION p ADD TABLE u;"),
        (
            "CREATE PUBLICATION q FOR TABLE root WHERE (id > 1);",
            "CREATE PUBLICATION q FOR TABLE root WHERE (id > 1) WITH (publish_via_partition_root = true);",
        ),
        (
            "CREATE PUBLICATION q FOR TABLE root (id) WITH (publish = 'insert');",
            "CREATE PUBLICATION q FOR TABLE root (id) WITH (publish = 'insert', publish_via_partition_root = true);",
        ),
        (
            "CREATE PUBLICATION q;\nALTER PUBLICATION q ADD TABLE root (id);",
            "CREATE PUBLICATION q;\nALTER PUBLICATION q SET (publish_via_partition_root = true);\n"
            "ALTER PUBLICATION q ADD TABLE root (id);",
        ),
        ("CREATE PUBLICATION q FOR TABLE t (a, b)", "CREATE PUBLICATION q FOR TABLE t (a, b, id)"),
        (
            "CREATE PUBLICATION q FOR TABLE t WHERE (a > 1)",
            "CREATE PUBLICATION q FOR TABLE t WHERE (a > 1);\nCREATE UNIQUE INDEX t_identity ON t (id, a);\n"
            "ALTER TABLE t REPLICA IDENTITY USING INDEX t_identity;\n",
        ),
        # What is left is the filter's: another identity would have to be in the list.
        (Q + " FOR TABLE t (b) WHERE (a > 1);", Q + " FOR TABLE t (b, id) WHERE (a > 1);"),
        (Q + " FOR TABLE n;", Q + " FOR TABLE n;\nALTER TABLE n REPLICA IDENTITY FULL;\n"),
    ],
)
def test_what_is_a_guess_or_does_more_is_fixed_when_asked_for(bad: str, good: str) -> None:
    setup = T + (
        "CREATE TABLE t_orders (id int PRIMARY KEY, total int);\nCREATE TABLE n (a int);\n"
        "CREATE TABLE root (id int) PARTITION BY RANGE (id);\n"
    )
    assert fixed(setup + bad) == setup + bad
    assert fixed(setup + bad, unsafe=True) == setup + good


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE PUBLICATION q WITH (publish = 'insert', publish = 'update');",
        "CREATE PUBLICATION q WITH (publish = 'upsert');",
        'CREATE TABLE "tT" (); CREATE TABLE "Tt" (); CREATE PUBLICATION q FOR TABLE tt;',
        "CREATE PUBLICATION q FOR TABLE t (ctid);",
        "CREATE PUBLICATION q FOR TABLE t WHERE (region = 'EU');",
        "CREATE PUBLICATION q FOR TABLES IN SCHEMA public, t (id), u;",
        "BEGIN; CREATE TABLE n (a int); CREATE PUBLICATION q FOR TABLE n;",
        "SET search_path = other, public; CREATE TABLE public.n (a int); CREATE PUBLICATION q FOR TABLE n;",
    ],
)
def test_what_is_not_clear_is_left_alone(sql: str) -> None:
    assert fixed(T + sql, unsafe=True) == T + sql


def test_many_tables_are_fixed_in_one_round() -> None:
    tables = "".join(f"CREATE TABLE n{number} (a int);\n" for number in range(30))
    after = fixed(tables + "CREATE PUBLICATION q FOR ALL TABLES;\n", unsafe=True)
    assert after.count("REPLICA IDENTITY FULL;\n") == 30
    text = "CREATE TABLE a (x int); CREATE TABLE b (x int); CREATE PUBLICATION q FOR TABLE a, b"
    added = "ALTER TABLE a REPLICA IDENTITY FULL;\nALTER TABLE b REPLICA IDENTITY FULL;\n"
    assert fixed(text, unsafe=True) == f"{text};\n{added}"
    assert fixed(f"{text} -- both\n", unsafe=True) == f"{text}; -- both\n{added}"


def test_the_last_file_of_a_unit_is_where_statements_are_added() -> None:
    made = "CREATE TABLE n (a int); CREATE PUBLICATION q FOR TABLE n;\n"
    files = [("1.sql", made), ("2.sql", "SELECT 1;\n"), ("R__again.sql", "SELECT 2;\n")]
    plan = DiscoveredUnit("x", tuple(File(name, name, content=text.encode()) for name, text in files), "folder", "")
    linter = Linter()
    (changed,) = fix(plan, lambda plan: lint_files(plan, linter, excerpts=False), unsafe=True).files
    assert (changed.path, changed.after) == ("2.sql", b"SELECT 1;\nALTER TABLE n REPLICA IDENTITY FULL;\n")


def test_context_is_never_changed() -> None:
    bad = b"CREATE TABLE t (id int PRIMARY KEY);\n-- pubcheck: ignore\nCREATE PUBLICATION q FOR TABLE t;\n"
    files = (File("1.sql", "1.sql", content=bad, context=True), File("2.sql", "2.sql", content=b"SELECT 1;"))
    linter = Linter()
    plan = DiscoveredUnit("x", files, "folder", "")
    assert fix(plan, lambda plan: lint_files(plan, linter, excerpts=False), unsafe=True).files == ()


def test_a_rule_that_fixes_says_so_on_its_page(corpus: list[Case]) -> None:
    rules = {
        fix.rule
        for case in of_corpus(corpus[1::2])
        if case.major == 18
        for fix in applied(case.sql, unsafe=True).applied
    }
    assert {rule for rule in rules if not RULES[rule].fix} == set()


# --- Comments -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_comments_silence_all_that_is_found_and_nothing_is_left_to_comment(corpus: list[Case]) -> None:
    linter = Linter(Config(postgres=(18,), complete=True, database=DATABASE, select=("PUB",)))
    wrong, commented = [], 0
    for case in corpus[::4]:
        plan = DiscoveredUnit("a", (File("a.sql", "a.sql", content=text_of(case)[0].encode()),), "file", "")
        changes = add_ignores(plan, lambda plan: lint_files(plan, linter, excerpts=False))
        commented += sum(applied_fix.number for applied_fix in changes.applied)
        if changes.linted.findings:
            wrong.append(case.id)
        for changed in changes.files:
            file = File("a.sql", "a.sql", content=changed.after)
            again = add_ignores(replace(plan, files=(file,)), lambda plan: lint_files(plan, linter, excerpts=False))
            if again.files:
                wrong.append(f"{case.id}, the second time")
    assert wrong == []
    assert commented > 250


# --- Edits --------------------------------------------------------------------------------------------------------


@hypothesis.given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12), st.sampled_from(["", "x", "y;\n", "\xe9"])), max_size=9)
)
def test_edits_that_are_taken_stand_side_by_side(wanted: list[tuple[int, int, str]]) -> None:
    before = "abcd;\r\nefgh\xe9"
    source = Source("a.sql", before)
    text = Editing.of(File("a.sql", "a.sql", content=before.encode("cp1252")), source)
    assert text is not None
    taken: list[tuple[int, int, str]] = []
    for first, last, new in wanted:
        span = Span(source, min(first, last), max(first, last))
        if text.takes(Edit(span, new)):
            text.take(Edit(span, new))
            if (span.start, span.end, new) not in taken:
                taken.append((span.start, span.end, new))
    after = before
    for start, end, new in sorted(taken, key=lambda edit: edit[:2], reverse=True):
        same = [edit[2] for edit in taken if edit[:2] == (start, end)]
        if new == same[0]:
            after = after[:start] + "".join(same).replace("\n", "\r\n") + after[end:]
    assert text.content().decode("cp1252") == after
    replaced = sorted(edit[:2] for edit in taken if edit[0] < edit[1])
    assert all(earlier[1] <= other[0] for earlier, other in pairwise(replaced))
