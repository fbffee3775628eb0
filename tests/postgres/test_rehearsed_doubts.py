"""What a run that is undone makes uncertain is certain again afterwards."""

from __future__ import annotations

from pubcheck.postgres.catalog import PUBLICATION, Catalog
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.statement_context import Uncertainty, Visibility

FLAGS = [name for name, member in vars(Visibility).items() if isinstance(member, Uncertainty)]


def test_doubts_end_with_the_run_that_raised_them() -> None:
    session = Session(Catalog(18), complete=True)
    session.joined = True
    with session.rehearsed():
        for flag in FLAGS:
            setattr(session, flag, True)
        session.doubted.add("p")
        session.perhaps_there.add((PUBLICATION, 0, "p"))
    assert [flag for flag in FLAGS if getattr(session, flag)] == ["joined"]
    assert (session.doubted, session.perhaps_there) == (set(), set())
