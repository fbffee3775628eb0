"""The body of a function that a statement creates, checked as CREATE FUNCTION checks it (plpgsql_validator)."""

from __future__ import annotations

from pubcheck.engine.replay import Replay
from pubcheck.postgres.budget import Budget
from pubcheck.postgres.catalog.routines import Routine
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import TooDeep
from pubcheck.postgres.plpgsql.compile_errors import NotParsed
from pubcheck.postgres.plpgsql.declarations import are_declarable, first_refusal
from pubcheck.postgres.plpgsql.parse import check_sql, program
from pubcheck.postgres.plpgsql.query_check import QueryChecker
from pubcheck.postgres.source_text import Text
from pubcheck.postgres.tokens import in_bytes


def compile_error(statement: str, body: Text, failure: NotParsed) -> ServerError:
    """What the server says of a body that it cannot read, with the position in the statement around it."""
    location = None
    if failure.location is not None and body.sites:
        location = in_bytes(statement, body.outside(failure.location))
    return failure.error(location)


def function_made(fold: Replay, since: int) -> Routine | None:
    """The function that a statement has made; ``since``: the journal's mark before it."""
    catalog = fold.catalog
    made = (key for heap, key, _ in reversed(catalog.journal.entries[since:]) if heap is catalog.routines)
    return catalog.routines.get(next(made, 0))


def refused_body(fold: Replay, found: Routine) -> NotParsed | None:
    """What is wrong with the body of the function that a statement has made."""
    if fold.session.setting("check_function_bodies") == "off":
        return None
    trial = QueryChecker(fold.session, Budget())
    try:
        if found.language == "plpgsql":
            are_declarable(trial, found.body.text, program(found.header(), found.body.text))
        else:
            check_sql(found.body.text)
    except NotParsed as refusal:
        return first_refusal(trial, found.body.text, refusal)
    except TooDeep:
        pass
    return None
