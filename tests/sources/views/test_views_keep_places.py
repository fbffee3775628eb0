"""Whatever the text and the kind: a view is as long as its text, ends lines where it does, and takes linear time."""

from __future__ import annotations

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubcheck.config import Config
from pubcheck.linter import Linter, Unit
from pubcheck.sources import views
from pubcheck.sources.statements import Splitter, Statement
from pubcheck.sources.text import View

KINDS = sorted(views.VIEWS)

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
    return [found.start() for found in re.finditer(r"[\r\n]", text)]


def check(text: str, view: View) -> None:
    assert len(view.text) == len(text)
    assert line_ends(view.text) == line_ends(text)
    for spans in (view.filled, view.perhaps, [edit[:2] for edit in view.edits]):
        assert all(0 <= start < end <= len(text) for start, end in spans)
        assert all(one[1] <= other[0] for one, other in pairwise(spans))
    assert all(0 <= note.start <= note.end <= len(text) for note in view.notes)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=100, deadline=None)
@given(texts)
def test_a_view_is_as_long_as_its_text_and_ends_lines_where_it_does(kind: str, text: str) -> None:
    for each in (text, f"CREATE PUBLICATION x {text}", f"{text} 'CREATE PUBLICATION x' {text}"):
        check(each, views.VIEWS[kind](each))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40, deadline=None)
@given(texts)
def test_statements_of_a_view_lie_in_its_text(kind: str, text: str) -> None:
    source = views.source("x", f'f("CREATE PUBLICATION p FOR TABLE t");\n{text}', kind)
    for item in Splitter(source):
        assert 0 <= item.start < item.end <= len(source.text)
        if isinstance(item, Statement):
            item.sent()
            list(item.filled())


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40, deadline=None)
@given(texts)
def test_whatever_is_found_lies_in_the_file(kind: str, text: str) -> None:
    table = "CREATE TABLE t (id int, a text);"
    source = views.source("x", f'f("CREATE PUBLICATION p FOR TABLE t WHERE (a > 1)");\n{text}\n"{text}"', kind)
    result = Linter(Config(postgres=(18,))).lint(Unit((views.source("y", table), source)))
    for found in result.diagnostics:
        for span in (found.span, *found.related):
            assert 0 <= span.start <= span.end <= len(span.source.text)


HOSTILE = {
    "openers": "CREATE PUBLICATION p; '\"`\"\"\"'''${#{{%<%$(",
    "holes": "${${${${#{#{#{#{{{{{",
    "escapes": '"\\"\\"\\"\\"',
    "quotes": "'\"" * 8,
    "here": "<<A\n<<B\n<<~C\n<<<D\n",
    "brackets": "((((%q(~S({{{{[[[[",
    "comments": "/* // -- # /* ",
    "dollars": "$a$ $b$ $$ \\$\\$ ",
    "slashes": "= / / /[ ",
    "concatenated": '"CREATE PUBLICATION p FOR TABLE t" + a + ',
    "strings": '"CREATE PUBLICATION p FOR TABLE t", ',
    "blocks": "k: |\n  CREATE PUBLICATION p\n",
    "tags": "{% if %}{{#if}}<% if do %>",
    "blanks": " \n\t  ",
    "downs": "def down\nexports.down = \n  def downgrade(\n",
    "letters": "create publication a_b_c ",
}


def took(kind: str, text: str) -> float:
    start = time.process_time()
    views.VIEWS[kind](text)
    return time.process_time() - start


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_time_is_linear_in_the_length_of_hostile_text(kind: str, name: str) -> None:
    unit = HOSTILE[name]
    head = "use Ecto.Migration\nexports.up = 1\nimport alembic\nCREATE PUBLICATION x;\n"
    small, large = (head + unit * (size // len(unit)) for size in (2_000, 32_000))
    # Sixteen times the text; quadratic would be 256 times the time.
    assert took(kind, large) < 0.1 + 64 * took(kind, small)
