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
def test_a_statement_repeated_for_another_relation_has_the_tree_of_the_grammar(rest: str) -> None:
    names = [f"{schema}.{name}" for schema in _WORDS for name in _WORDS]
    expected = []
    for name in names:
        parse_module._templates.clear()
        expected.append(_read(rest.format(name)))
    parse_module._templates.clear()
    assert [_read(rest.format(name)) for name in names] == expected
    assert [_read(rest.format(name)) for name in reversed(names)] == expected[::-1]


def test_few_statements_are_kept() -> None:
    for number in range(3_000):
        parse(f"ALTER TABLE s.t OWNER TO role_{number}")
        parse(f"ALTER TABLE s.t OWNER TO a /* {'x' * 1_000} {number} */")
    assert 0 < len(parse_module._templates) <= 1_000


_SAME_LENGTH = (
    ("user", "date", "time", "case", "null", "t_01", "zqzq", "e123"),
    ("current", "session", "primary", "foreign", "default", "orders_", "merge_a"),
    ("a" * 49, "b" * 49, "current" * 7),
    ("a" * 50 + "b", "b" * 50 + "a", "a" * 51),
)
_NAMED_AFTER_THE_TABLE = (
    "ALTER TABLE ONLY s.{0}\n    ADD CONSTRAINT {0}_pkey PRIMARY KEY (id)",
    "ALTER TABLE ONLY s.{0} ADD CONSTRAINT {0} UNIQUE (a)",
    "ALTER TABLE ONLY s.{0} ADD CONSTRAINT {0}_a_very_long_name_of_a_key_key UNIQUE (a)",
    "ALTER TABLE ONLY s.{0} ALTER COLUMN id SET DEFAULT nextval('s.{0}_id_seq'::regclass)",
    "ALTER TABLE ONLY s.{0} ALTER COLUMN a SET DEFAULT '{0}''{0}' || E'\\x{0}'",
    "ALTER TABLE ONLY s.{0} ALTER COLUMN a SET DEFAULT s.{0}'1'",
    "ALTER TABLE ONLY s.{0} ALTER COLUMN a SET DEFAULT {0}'1'",
    "ALTER TABLE ONLY s.{0} ALTER COLUMN a SET DEFAULT {0}_user",
    "ALTER TABLE ONLY s.{0} ALTER COLUMN a SET DEFAULT 1{0}",
    "ALTER TABLE ONLY s.{0} ALTER COLUMN a SET DEFAULT $${0}$$",
    "ALTER TABLE ONLY s.{0} ADD CHECK ({0}_timestamp > a)",
    "ALTER TABLE ONLY s.{0} ADD FOREIGN KEY (a) REFERENCES s.{0} (id) -- {0}",
    "ALTER TABLE ONLY s.{0}.{0} ADD FOREIGN KEY (a) REFERENCES s.{0}_key (id)",
    "ALTER SEQUENCE s.{0}_id_seq OWNED BY s.{0}.id",
    "CREATE INDEX {0}_a_idx ON s.{0} USING btree (a) WHERE (a > 0)",
    "CREATE UNIQUE INDEX {0} ON s.{0} (a, {0}_a_check(b))",
)


@pytest.mark.parametrize("text", _NAMED_AFTER_THE_TABLE)
def test_a_statement_with_names_after_the_table_has_the_tree_of_the_grammar(text: str) -> None:
    texts = [text.format(name) for names in _SAME_LENGTH for name in names]
    expected = []
    for sql in texts:
        parse_module._templates.clear()
        expected.append(_read(sql))
    for _ in range(3):
        assert [_read(sql) for sql in texts] == expected


@pytest.mark.parametrize("position", [0, 3, 13, 14])
def test_usual_statements_of_a_dump_are_parsed_once_for_all_tables(
    position: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []
    grammar = parse_module._parse

    def counted(sql: str) -> tuple[str, parse_module.Node] | None:
        parsed.append(sql)
        return grammar(sql)

    monkeypatch.setattr(parse_module, "_parse", counted)
    parse_module._templates.clear()
    for number in range(1_000, 2_000):
        parse(_NAMED_AFTER_THE_TABLE[position].format(f"table_{number}"))
    assert len(parsed) == 3


def test_a_statement_may_be_changed_without_changing_those_after_it() -> None:
    parse_module._templates.clear()
    trees = [parse(_NAMED_AFTER_THE_TABLE[0].format(f"table_{number}")) for number in range(5)]
    relations = [tree[1]["relation"] for tree in trees if tree is not None]
    assert [relation["relname"] for relation in relations] == [f"table_{number}" for number in range(5)]
