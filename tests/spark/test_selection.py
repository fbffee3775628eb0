"""Which files may hold a publication: none that does is passed over, in Python and in Spark."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from pubcheck.sources.selection import STATEMENT, WORD, may_publish
from pubcheck.spark import inputs

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


@pytest.mark.parametrize("text", KEPT)
def test_a_publication_is_kept(text: str) -> None:
    assert may_publish(text.encode())
    assert may_publish(text.encode("utf-16"))


@pytest.mark.parametrize("text", PASSED_OVER)
def test_the_word_alone_is_not(text: str) -> None:
    assert not may_publish(text.encode())


def cased(word: str) -> st.SearchStrategy[str]:
    return st.tuples(*(st.sampled_from([each.lower(), each.upper()]) for each in word)).map("".join)


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


def test_the_search_takes_linear_time() -> None:
    """Half a second is a hundred times what it takes; what is quadratic would take hours."""
    for hostile in ("create --\n", "create ", "create or /*", "publication drop"):
        may_publish(hostile.encode() * 500_000)
    may_publish(b"create" + b" " * 5_000_000 + b"publication"[:-1])


@pytest.mark.spark
def test_spark_keeps_what_python_keeps(spark: SparkSession) -> None:
    examples = [text.encode() for text in (*KEPT, *PASSED_OVER)]
    examples += [text.encode("utf-16") for text in KEPT]
    examples += [text.encode("cp1252") for text in ("CREATE /* é */ PUBLICATION p", "é CREATE PUBLICATION p")]
    rows = spark.createDataFrame([(text,) for text in examples], "content BINARY")
    kept = rows.select("content", inputs.may_publish(rows["content"]).alias("kept")).collect()
    assert {bytes(row[0]): row[1] for row in kept} == {text: may_publish(text) for text in examples}
    assert WORD.startswith("(?i)")
    assert STATEMENT.startswith("(?i)")
