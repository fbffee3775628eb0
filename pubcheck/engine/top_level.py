"""Run the statements of a file. DO blocks and function calls run with everything inside them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pubcheck.engine.replay import Replay
from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.parse import Node
from pubcheck.statement_index import StatementText

if TYPE_CHECKING:
    from pubcheck.lexing.items import Statement
    from pubcheck.source import Source

_CALLING = frozenset(("DoStmt", "SelectStmt", "CallStmt"))
_MAY_CALL = frozenset(
    ("copy", "declare", "delete", "explain", "insert", "merge", "prepare", "refresh", "update", "values", "with")
)
_ANALYZES = lazy_compile(r"analy[sz]e", re.IGNORECASE)


def run_statement(
    replay: Replay, statement: StatementText, source: int, name: str, node: Node, *, filled: bool = False
) -> None:
    """Run one statement of a file; the parameters are those of ``Replay.apply``."""
    if name in _CALLING and (name == "DoStmt" or replay.catalog.routines):
        # Loaded only where there are DO blocks, or calls of functions whose bodies may matter.
        from pubcheck.postgres.plpgsql.routines import calls

        if name == "DoStmt" or calls(replay.session, node):
            from pubcheck.engine.blocks import BlockRunner

            BlockRunner(replay, statement, source, filled=filled).run(name, node)
            return
    if name == "CreateFunctionStmt" and "publication" in statement.text.lower():
        # Loaded only where a function is about publications.
        from pubcheck.engine.function_definition import FunctionDefinition

        replay.apply(statement, source, name, node, filled=filled, execution=FunctionDefinition)
        return
    replay.apply(statement, source, name, node, filled=filled)


def skip(replay: Replay, source: Source, number: int, item: Statement, *, conditional: bool) -> None:
    """Skip a statement that is not parsed. The functions that it calls are not followed. ``number`` is the number of
    its source."""
    replay.skip(source, number, item, conditional=conditional)
    if not replay.catalog.routines or item.keyword not in _MAY_CALL:
        return
    if item.keyword == "explain" and not _ANALYZES.search(item.text):
        return
    # Loaded only where there are functions whose bodies may matter.
    from pubcheck.engine.blocks import BlockRunner
    from pubcheck.postgres.plpgsql.routines import called_in

    for routine in called_in(replay.catalog, item.text):
        statement = StatementText(source, item.index, item.start, item.text)
        BlockRunner(replay, statement, number).unfollowed(None, routine.body.text)


def end(replay: Replay, codes: frozenset[str]) -> None:
    """Finish the unit. Functions that nothing called are checked too: they may run some day."""
    if any(routine.about for routine in replay.catalog.routines.values()):
        from pubcheck.engine.rehearsal import rehearse

        rehearse(replay)
    replay.end(codes)
