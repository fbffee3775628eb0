"""The parser is loaded without the rest of pglast, and leaves pglast whole for everybody else."""

import subprocess
import sys

import pytest
from msgspec.json import decode
from pglast.parser import parse_sql_json

from pubcheck.postgres.parse import TooDeep, parse
from pubcheck.postgres.parse import _decode_deep as decode_deep


def answer_of(code: str) -> str:
    """What a new process prints that runs ``code``."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_the_parser_comes_without_the_python_nodes_of_pglast() -> None:
    loaded = "import sys, pubcheck.postgres.parse; print(*sorted(m for m in sys.modules if m.startswith('pglast')))"
    assert answer_of(loaded) == "pglast.error pglast.parser"


@pytest.mark.parametrize("first", ["pubcheck.postgres.parse, pglast", "pglast, pubcheck.postgres.parse"])
def test_pglast_is_whole_for_who_imports_it_beside(first: str) -> None:
    code = f"""
import {first}
from pglast.stream import RawStream
[statement] = pglast.parse_sql("select a + 1 from b")
assert isinstance(statement.stmt, pglast.ast.SelectStmt)
assert isinstance(statement.stmt.targetList[0].val.kind, pglast.enums.A_Expr_Kind)
print(RawStream()(statement), pubcheck.postgres.parse.parse("drop table b")[0])
"""
    assert answer_of(code) == "SELECT a + 1 FROM b DropStmt"


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "SELECT ''",
        "SELECT -1.5, NULL, '\"', '\\', E'\\n\\t\\x01', 'é\U0001f418', \"{[,:]}\" FROM \"a\"\"b\" WHERE true",
        "CREATE TABLE t (id int DEFAULT 1 PRIMARY KEY, v text CHECK (v <> '{}[]:,'), CHECK (id > 0)) WITH (x = 1)",
        "CREATE PUBLICATION p FOR TABLE t (id) WHERE (id > 1 AND v IS NOT NULL), TABLES IN SCHEMA s",
    ],
)
def test_both_decoders_agree(sql: str) -> None:
    tree = parse_sql_json(sql)
    assert decode_deep(tree) == decode(tree)


@pytest.mark.parametrize("operators", [100, 1_000, 10_000])
def test_chains_of_operators_are_read_as_far_as_the_grammar_goes(operators: int) -> None:
    parsed = parse(f"CREATE VIEW v AS SELECT {'1 + ' * operators}1")
    assert parsed is not None
    [target] = parsed[1]["query"]["SelectStmt"]["targetList"]
    depth, value = 0, target["ResTarget"]["val"]
    while "A_Expr" in value:
        depth, value = depth + 1, value["A_Expr"]["lexpr"]
    assert depth == operators


@pytest.mark.parametrize("text", ["1 + " * 100_000 + "1", "(" * 100_000 + "1" + ")" * 100_000, "NOT " * 100_000 + "a"])
def test_what_is_too_deep_for_the_grammar_is_said_to_be(text: str) -> None:
    with pytest.raises(TooDeep):
        parse(f"SELECT {text}")
