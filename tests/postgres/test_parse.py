"""The parser is loaded without the rest of pglast, and leaves pglast whole for everybody else."""

import subprocess
import sys

import pytest


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
