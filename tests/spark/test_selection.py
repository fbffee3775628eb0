"""Which files may hold a publication: none that does is passed over, in Python and in Spark."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubcheck.discovery.file_facts import may_matter, may_publish, traits
from pubcheck.discovery.units import find_units
from tests.spark.conftest import PROJECT, linted

KEPT = (
    "CREATE PUBLICATION p;",
    "create\tPublication p",
    "ALTER\n\fPUBLICATION p SET (publish = '')",
    "drop publication if exists p",
    "CREATE OR REPLACE PUBLICATION p",
    "CREATE/**/PUBLICATION p",
    "CREATE -- a publication\n PUBLICATION p",
    "CREATE /* a /* nested */ comment */ PUBLICATION p",
    "CREATE or /* x */ replace -- y\n PUBLICATION p",
    "CREATE\n\\echo psql\nPUBLICATION p",
    "DO $$ BEGIN EXECUTE 'CREATE PUBLICATION p'; END $$",
)
PASSED_OVER = (
    "",
    "CREATE TABLE publication (id int);",
    "CREATE TABLE t (id int); -- no publication",
    "SELECT create_publication('p')",
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'; SELECT publication FROM t",
)

MADE_LATE = (
    "DO $$ BEGIN EXECUTE 'CREATE ' || 'PUBLICATION p FOR TABLE t WHERE (a > 1)'; END $$;",
    "DO $$ BEGIN EXECUTE format('CREATE %s p FOR TABLE t WHERE (a > 1)', 'PUBLICATION'); END $$;",
    "\\set d PUBLICATION\nCREATE :d p FOR TABLE t WHERE (a > 1);",
)
"""What is put together when it is run."""
OTHERS = (
    "ALTER TABLE t REPLICA IDENTITY USING INDEX nope;",
    "ALTER TABLE t REPLICA -- this\n IDENTITY USING INDEX nope;",
    "CREATE SUBSCRIPTION s CONNECTION 'x' PUBLICATION p, p;",
    "DROP SUBSCRIPTION s;",
)
"""Statements of which something is said that name no publication of their own."""


@pytest.mark.parametrize("text", KEPT)
def test_a_publication_is_kept(text: str) -> None:
    assert may_publish(text.encode())
    assert may_publish(text.encode("utf-16"))


@pytest.mark.parametrize("text", PASSED_OVER)
def test_the_word_alone_is_not(text: str) -> None:
    assert not may_publish(text.encode())


@pytest.mark.parametrize("text", [*KEPT, *MADE_LATE, *OTHERS])
def test_whatever_is_said_of_sql_it_is_kept(text: str) -> None:
    for encoding in ("utf-8", "utf-16", "utf-16-le", "utf-16-be"):
        content = text.encode(encoding)
        assert may_matter("a.SQL", content)
        assert traits("a.SQL", content).may_matter
    assert may_matter("a.sql", text.replace(" ", "\u00a0").encode())


@pytest.mark.parametrize("text", PASSED_OVER)
def test_a_program_that_only_says_the_word_is_passed_over(text: str) -> None:
    assert not may_matter("a.py", text.encode())
    assert may_matter("a.py", b"ALTER TABLE t REPLICA IDENTITY FULL")


@pytest.mark.parametrize("text", ["", "CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY)", "SELECT publication"])
def test_sql_of_which_nothing_is_said_is_passed_over(text: str) -> None:
    assert not may_matter("a.sql", text.encode())


@pytest.mark.parametrize("text", [*MADE_LATE, OTHERS[0], OTHERS[2]])
def test_lint_does_say_something_of_it(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.sql"
    path.write_text("CREATE TABLE t (id int PRIMARY KEY, a int);\n" + text)
    assert linted(str(path))


def test_no_file_of_the_samples_of_which_lint_says_anything_certain_is_passed_over() -> None:
    """A repository is kept for one of its files: here each file must be kept that has a finding of its own."""
    top = str(PROJECT / "corpus" / "samples")
    files = {file.label: file.path for plan in find_units([top]) for file in plan.files}
    certain = {
        finding["path"]
        for finding in linted(top)
        if finding["certainty"] == "certain" and finding["severity"] == "error"
    }
    assert len(certain) > 5
    assert not [path for path in certain if not may_matter(path, Path(files[path]).read_bytes())]


def cased(word: str) -> st.SearchStrategy[str]:
    return st.tuples(*(st.sampled_from([letter.lower(), letter.upper()]) for letter in word)).map("".join)


BETWEEN = st.lists(
    st.one_of(
        st.text(" \t\n\r\f\v", min_size=1),
        st.text().map(lambda text: "--" + re.sub(r"[\n\r]", "", text) + "\n"),
        st.text().map(lambda text: "/*" + re.sub(r"\*/|/\*", "", text) + "*/"),
    ),
    min_size=1,
).map("".join)
STATEMENTS = st.tuples(st.text(), cased("create"), BETWEEN, cased("publication"), st.text()).map("".join)


@given(STATEMENTS)
def test_whatever_stands_between_the_words_loses_none(text: str) -> None:
    assert may_publish(text.encode())
    assert may_matter("a.sql", text.encode())


def test_the_search_takes_linear_time() -> None:
    """Sixteen times the input takes 256 times as long where the time grows with the square."""

    def seconds(repetitions: int) -> float:
        begun = time.process_time()
        for hostile in ("create or -\n", "create ", "create or replace ", "publication drop"):
            may_publish(b"publication " + hostile.encode() * repetitions)
        may_publish(b"publication create" + b" " * (10 * repetitions))
        for hostile in ("replica --\n", "replica ", "replica, replica identit", "publication\\"):
            may_matter("a.sql", hostile.encode() * repetitions)
        may_matter("a.sql", b"replica" + b" " * (10 * repetitions))
        return time.process_time() - begun

    seconds(1_000)
    assert seconds(160_000) < 64 * max(seconds(10_000), 0.005)
