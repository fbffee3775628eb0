"""Makes a disagreement smaller: the expression first, then the database around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import psycopg
from msgspec.structs import replace

from pubcheck.diagnostics import ServerAnswer
from tests.differential.filters.answers import Kind, Said, asked, compared, prepared, told
from tests.differential.filters.report import Outcome
from tests.differential.filters.schemas import Definition
from tests.differential.filters.trees import Tree, smaller
from tests.support.cases import Case, Recorded, render

MOST_TRIES = 400
"""Candidates that are tried for one disagreement's expression; a try takes some milliseconds."""


class Smaller(Outcome, frozen=True):
    """A disagreement with the least setup that shows it."""

    setup: tuple[Definition, ...]


def minimised(conn: psycopg.Connection[Any], database: str, outcome: Outcome) -> Smaller:
    """The smallest disagreement of the same kind that is found from ``outcome``. Leaves no transaction open."""
    major = outcome.batch.major
    setup = outcome.batch.world.setup
    filter_ = outcome.filter

    def tried(setup: Sequence[Definition], statement: str) -> tuple[ServerAnswer, Said] | None:
        conn.execute("BEGIN")
        try:
            if not prepared(conn, setup):
                return None
            server = asked(conn, [statement])[0]
        finally:
            conn.execute("ROLLBACK")
        return server, told(major, database, setup, [statement]).ours[0]

    def persists(setup: Sequence[Definition], statement: str) -> bool:
        answers = tried(setup, statement)
        return answers is not None and _same(outcome, *answers)

    tree = _shrunk(filter_.tree, lambda tree: persists(setup, replace(filter_, tree=tree).statement))
    filter_ = replace(filter_, tree=tree)
    plain = replace(filter_, before=f"CREATE PUBLICATION p FOR TABLE {_table(filter_.before)} WHERE (", after=")")
    if persists(setup, plain.statement):
        filter_ = plain
    setup = _least(setup, lambda setup: persists(setup, filter_.statement))
    for number in range(len(setup)):
        setup = _without_columns(setup, number, lambda setup: persists(setup, filter_.statement))
    # Columns that are gone may have been all that a type or an extension was for.
    setup = _least(setup, lambda setup: persists(setup, filter_.statement))
    # Some of the expression may have stood for what the setup had.
    server, ours = tried(setup, filter_.statement) or (outcome.server, outcome.ours)
    return Smaller(outcome.batch, filter_, server, ours, compared(server, ours), setup)


def _same(outcome: Outcome, server: ServerAnswer, answer: Said) -> bool:
    kind = compared(server, answer)
    if kind is not outcome.kind or server.sqlstate != outcome.server.sqlstate:
        return False
    if kind is Kind.WORDING:
        return differing(server, answer.answer) == differing(outcome.server, outcome.ours.answer)
    return answer.answer.sqlstate == outcome.ours.answer.sqlstate


def differing(answer: ServerAnswer, other: ServerAnswer) -> list[str]:
    """The fields in which two answers differ."""
    return [name for name in ServerAnswer.__struct_fields__ if getattr(answer, name) != getattr(other, name)]


def _shrunk(tree: Tree, persists: Callable[[Tree], bool]) -> Tree:
    tries = 0
    while tries < MOST_TRIES:
        for less in islice(smaller(tree), MOST_TRIES - tries):
            tries += 1
            if less != tree and len(less.text) <= len(tree.text) and persists(less):
                tree = less
                break
        else:
            break
    return tree


def _least(items: tuple[Any, ...], persists: Callable[[tuple[Any, ...]], bool]) -> tuple[Any, ...]:
    """``items`` without those that are not needed: halves, quarters and so on, then one by one, from the last."""
    size = max(1, len(items) // 2)
    while True:
        end = len(items)
        while end > 0:
            less = items[: max(0, end - size)] + items[end:]
            if persists(less):
                items = less
            end -= size
        if size == 1:
            return items
        size //= 2


def _without_columns(
    setup: tuple[Definition, ...], number: int, persists: Callable[[tuple[Definition, ...]], bool]
) -> tuple[Definition, ...]:
    """The setup with the fewest columns in its statement number ``number``."""

    def having(items: tuple[str, ...]) -> tuple[Definition, ...]:
        return (*setup[:number], replace(setup[number], items=items), *setup[number + 1 :])

    if not setup[number].items:
        return setup
    return having(_least(setup[number].items, lambda items: persists(having(items))))


def _table(before: str) -> str:
    """The last table that is named before a WHERE."""
    words = before.removesuffix("WHERE (").rstrip().removesuffix("WHERE").rstrip()
    for word in ("FOR TABLE ONLY ", "SET TABLE ", "ADD TABLE ", "FOR TABLE "):
        if word in words:
            words = words.split(word)[-1].split("), ")[-1]
            break
    return words.removesuffix(" (id)")


def case(example: Smaller, name: str) -> str:
    """The disagreement as a case of the corpus, with the server's answer."""
    server = example.server
    ok = server.sqlstate == "00000"
    recorded = (
        Recorded(True)
        if ok
        else Recorded(False, server.sqlstate, server.message, server.detail, server.hint, server.position)
    )
    # The tables that have all their columns have them in the corpus too, where a fixture stands for them.
    return render(
        [
            Case(
                id=name,
                rule="rf-expr",
                phase="create",
                setup=tuple(definition.text for definition in example.setup),
                statement=example.filter.statement,
                answers={example.batch.major: recorded},
                postgres=(example.batch.major,),
            )
        ],
        {},
    )
