"""Whatever the text and the kind: a view is as long as its text and ends lines where it does."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubcheck import extract
from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.lexing.items import Statement
from pubcheck.lexing.placeholders import filled
from pubcheck.lexing.splitter import Splitter
from pubcheck.source import View
from tests.benchmarks.openings import HOSTILE, hostile

KINDS = sorted(extract.VIEWS)

PIECES = (
    "CREATE PUBLICATION p FOR TABLE t",
    "ALTER PUBLICATION p ADD TABLE ",
    "DROP PUBLICATION p",
    "CREATE TABLE t (id int, a text DEFAULT 'x')",
    "'",
    '"',
    "`",
    '"""',
    "'''",
    "\\",
    "\\\n",
    "\\n",
    "\\u00e9",
    '\\"',
    "\\'",
    "\\$\\$",
    "$$",
    "$body$",
    "${x}",
    "#{x}",
    "{x}",
    "{{ x }}",
    "{% if x %}",
    "{% endif %}",
    "{# it's #}",
    "<%= x %>",
    "<% end %>",
    "%s",
    "%(name)s",
    "$x",
    "$(",
    "${",
    "#{",
    "{",
    "}",
    "(",
    ")",
    ";",
    "--",
    "-- +goose Down\n",
    "-- +goose Up\n",
    "--liquibase formatted sql\n--changeset a:1 dbms:mysql endDelimiter:/\n",
    "/\n",
    "/*",
    "*/",
    "//",
    "#",
    "\n",
    "\r\n",
    "\r",
    "\t",
    " ",
    " + ",
    " . ",
    " <> ",
    "<<EOF\n",
    "EOF\n",
    "<<~SQL\n",
    "<<<SQL\n",
    "SQL\n",
    "psql -d app -v a=b -c ",
    "~S(",
    "%q(",
    'r#"',
    'f"',
    '$@"',
    "key: |\n  ",
    "- ",
    "def down\n",
    "use Ecto.Migration\n",
    "é",
    "\u2028",
    "\x0b",
    "\ufeff",
)
texts = st.lists(st.sampled_from(PIECES), max_size=30).map("".join) | st.text(max_size=60)


def line_ends(text: str) -> list[int]:
    return [match.start() for match in re.finditer(r"[\r\n]", text)]


def check(text: str, view: View) -> None:
    assert len(view.text) == len(text)
    assert line_ends(view.text) == line_ends(text)
    for spans in (view.filled, view.perhaps, [edit[:2] for edit in view.edits]):
        assert all(0 <= start < end <= len(text) for start, end in spans)
        assert all(first[1] <= other[0] for first, other in pairwise(spans))
    assert all(0 <= note.start <= note.end <= len(text) for note in view.notes)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=100)
@given(texts)
def test_a_view_is_as_long_as_its_text_and_ends_lines_where_it_does(kind: str, text: str) -> None:
    for script in (text, f"CREATE PUBLICATION x {text}", f"{text} 'CREATE PUBLICATION x' {text}"):
        check(script, extract.VIEWS[kind](script))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40)
@given(texts)
def test_statements_of_a_view_lie_in_its_text(kind: str, text: str) -> None:
    source = extract.source("x", f'f("CREATE PUBLICATION p FOR TABLE t");\n{text}', kind)
    for item in Splitter(source):
        assert 0 <= item.start < item.end <= len(source.text)
        if isinstance(item, Statement):
            item.sent()
            list(filled(item))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40)
@given(texts)
def test_whatever_is_found_lies_in_the_file(kind: str, text: str) -> None:
    table = "CREATE TABLE t (id int, a text);"
    source = extract.source("x", f'f("CREATE PUBLICATION p FOR TABLE t WHERE (a > 1)");\n{text}\n"{text}"', kind)
    result = Linter(Config(postgres=(18,))).lint(Unit((extract.source("y", table), source)))
    for finding in result.diagnostics:
        for span in (finding.span, *finding.related):
            assert 0 <= span.start <= span.end <= len(span.source.text)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_text_keeps_its_places(kind: str, name: str) -> None:
    text = hostile(name, 2_000)
    seen = extract.VIEWS[kind](text).text
    assert len(seen) == len(text)
    assert [index for index, char in enumerate(seen) if char == "\n"] == [
        index for index, char in enumerate(text) if char == "\n"
    ]
