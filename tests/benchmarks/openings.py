"""Text that opens what it never closes, for the views of programs, scripts and templates."""

from __future__ import annotations

import time

from pubcheck import extract

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

_HEAD = "use Ecto.Migration\nexports.up = 1\nimport alembic\nCREATE PUBLICATION x;\n"


def hostile(name: str, length: int) -> str:
    """The text of that name, of some ``length`` characters."""
    unit = HOSTILE[name]
    return _HEAD + unit * (length // len(unit))


def growth(kind: str, name: str) -> float:
    """How many times as long the view of a text takes that is sixteen times as long; a quadratic one takes 256.

    Of what takes less than ten milliseconds nothing can be said: 0.
    """
    small, large = (_seconds(kind, hostile(name, length)) for length in (4_000, 64_000))
    return large / max(small, 1e-6) if large > 0.01 else 0.0


def _seconds(kind: str, text: str) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        extract.VIEWS[kind](text)
        best = min(best, time.process_time() - start)
    return best
