"""Refusals of statements that are followed and not judged: they count only where the server certainly gives them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.session import Session


@contextmanager
def only_certain(session: Session) -> Iterator[None]:
    """Lets a ServerError out, as one that nobody is told of, if it rests on nothing that is not visible.

    What is noted of the statement as not visible is as before, however the question ended.
    """
    before, unseen = session.assumed, len(session.unseen)
    try:
        yield
    except Unknowable:
        pass
    except ServerError as error:
        error.rule = None
        if session.assumed == before and not session.blind:
            raise
    session.assumed = before
    del session.unseen[unseen:]
