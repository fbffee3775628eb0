"""The parser is loaded without the rest of pglast, and leaves pglast whole for everybody else."""

import subprocess
import sys

import pytest
from msgspec.json import decode
from pglast.parser import parse_sql_json

from pubcheck.postgres import parse as parse_module
from pubcheck.postgres.parse import SyntaxRefused, TooDeep, parse
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


_WORDS = (
    *("a", "_b1", "users", "format", "nulls", "select", "table", "only", "order", "public", "owner", "x" * 63),
    *("x" * 64, '"a"', "A", "ü", "a$b"),
)
_RESTS = (
    "ALTER TABLE {} OWNER TO app",
    "ALTER TABLE {} OWNER TO public",
    "ALTER TABLE {} OWNER TO CURRENT_USER, ENABLE ROW LEVEL SECURITY",
    "ALTER SEQUENCE {} OWNER TO app",
    "ALTER SEQUENCE {} OWNER TO /* ü */ app",
    "ALTER TABLE {}.c OWNER TO app",
    "ALTER TABLE {} OWNER TO app; SELECT 1",
    "CREATE SEQUENCE {}\n    START WITH 1\n    CACHE 1",
    "CREATE SEQUENCE {}\n.c START WITH 1",
    "CREATE SEQUENCE {}\n    OWNED BY a.b.c",
    "CREATE SEQUENCE {}",
)


def _read(text: str) -> object:
    try:
        return parse(text)
    except SyntaxRefused as refusal:
        return refusal.message, refusal.location


@pytest.mark.parametrize("rest", _RESTS)
def test_a_statement_repeated_for_another_relation_has_the_tree_of_the_grammar(
    rest: str,
) -> None:
    names = [f"{schema}.{name}" for schema in _WORDS for name in _WORDS]
    expected = []
    for name in names:
        parse_module._repeated.clear()
        expected.append(_read(rest.format(name)))
    parse_module._repeated.clear()
    assert [_read(rest.format(name)) for name in names] == expected
    assert [_read(rest.format(name)) for name in reversed(names)] == expected[::-1]


def test_few_statements_are_kept() -> None:
    for number in range(3_000):
        parse(f"ALTER TABLE s.t OWNER TO role_{number}")
        parse(f"ALTER TABLE s.t OWNER TO a /* {'x' * 1_000} {number} */")
    assert 0 < len(parse_module._repeated) <= 1_000
