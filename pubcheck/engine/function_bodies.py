"""The body of a function that a statement creates, checked as CREATE FUNCTION checks it (plpgsql_validator)."""

from __future__ import annotations

from pubcheck.engine.replay import Replay
from pubcheck.postgres.budget import Budget
from pubcheck.postgres.catalog.routines import Routine
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import TooDeep
from pubcheck.postgres.plpgsql.compile_errors import NotParsed
from pubcheck.postgres.plpgsql.declarations import all_types_exist, first_refusal
from pubcheck.postgres.plpgsql.parse import check_sql, program
from pubcheck.postgres.plpgsql.query_check import QueryChecker
from pubcheck.postgres.source_text import Text
from pubcheck.postgres.tokens import in_bytes


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
