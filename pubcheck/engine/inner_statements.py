"""Statements inside others, with their places in the source, and the bodies of functions that they are in."""

from __future__ import annotations

import itertools

from pubcheck.engine.replay import Replay
from pubcheck.postgres.budget import Budget
from pubcheck.postgres.catalog.routines import Routine
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import TooDeep
from pubcheck.postgres.plpgsql.compile_errors import NotParsed
from pubcheck.postgres.plpgsql.declarations import all_types_exist, first_refusal
from pubcheck.postgres.plpgsql.host import Inner
from pubcheck.postgres.plpgsql.parse import check_sql, program
from pubcheck.postgres.plpgsql.query_check import QueryChecker
from pubcheck.postgres.source_text import Text
from pubcheck.postgres.tokens import in_bytes
from pubcheck.statement_index import StatementText


def embedded(outer: StatementText, inner: Inner) -> StatementText:
    """Return a statement inside another one, with its exact place in the source."""
    text, number = inner.text, (*outer.embedded, *inner.number)
    if not text.sites:
        start = text.start
        edits: tuple[tuple[int, int, str], ...] = ((0, max(0, text.end - start), text.text),)
        return StatementText(outer.source, outer.index, start, text.text, edits, number)
    start = text.sites[0][1]
    edits_of_pieces: list[tuple[int, int, str]] = []
    for (inside, outside), (after, next_outside) in itertools.pairwise(text.sites):
        # The text between two pieces: source text without a counterpart, or inserted text.
        end = outside + after - inside
        edits_of_pieces.append((min(end, next_outside) - start, next_outside - start, "?" * max(0, end - next_outside)))
    return StatementText(outer.source, outer.index, start, text.text, tuple(edits_of_pieces), number)


def with_sites(statement: StatementText) -> Text:
    """Return the text of a top-level statement, with its offsets in the source."""
    text = statement.text
    sites = [(0, statement.start)]
    for start, end, sent in statement.edits:
        shift = sites[-1][0] + statement.start - sites[-1][1] if len(sites) > 1 else 0
        inside = start + shift + len(sent)
        extra = len(sent) - (end - start)
        sites += [(inside - extra + position, statement.start + end) for position in range(extra)]
        sites.append((inside, statement.start + end))
    return Text(text, tuple(sites), statement.start, statement.place(len(text), end=True))


# The body of a function that a statement creates, checked as CREATE FUNCTION checks it (plpgsql_validator).


def compile_error(statement: str, body: Text, failure: NotParsed) -> ServerError:
    """Return the server's error for a body that does not parse, with the position in the statement around it."""
    location = None
    if failure.location is not None and body.sites:
        location = in_bytes(statement, body.outside(failure.location))
    return failure.error(location)


def created_function(replay: Replay, since: int) -> Routine | None:
    """Return the function that a statement created. ``since`` is the journal's mark before the statement."""
    catalog = replay.catalog
    created = (key for heap, key, _ in reversed(catalog.journal.entries[since:]) if heap is catalog.routines)
    return catalog.routines.get(next(created, 0))


def refused_body(replay: Replay, routine: Routine) -> NotParsed | None:
    """Return the error in the body of a function, if there is one."""
    if replay.session.setting("check_function_bodies") == "off":
        return None
    trial, newer = QueryChecker(replay.session, Budget()), replay.catalog.major.newer_grammar
    try:
        if routine.language == "plpgsql":
            all_types_exist(trial, routine.body.text, program(routine.header(), routine.body.text, newer=newer))
        else:
            check_sql(routine.body.text, newer=newer)
    except NotParsed as refusal:
        return first_refusal(trial, routine.body.text, refusal)
    except TooDeep:
        pass
    return None
