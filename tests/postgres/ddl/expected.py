"""Scripts whose statements carry the SQLSTATE that servers answered, in the notation of tests/support/scripts.py."""

from __future__ import annotations

import pytest

from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.session import Session
from tests.postgres.ddl import agreement
from tests.postgres.ddl.support import assert_agrees, play
from tests.support.scripts import statements
from tests.support.servers import MAJORS, ROLES, Servers


def assert_followed(script: str, major: int) -> None:
    """The statements are refused here as the annotations say, which are what servers answer."""
    session = Session(Catalog(major, agreement.DATABASE), complete=True)
    play(session, "".join(f"CREATE ROLE {role};" for role in ROLES))
    differing = [
        f"{statement.sql}\n  annotated {statement.answer(major)}, answered {state}"
        for statement, state in zip(statements(script), play(session, script), strict=True)
        if state != statement.answer(major)
    ]
    assert not differing, "\n".join(differing)


class _Scripts:
    """A class of tests is parametrized with ``script``."""

    @pytest.mark.parametrize("major", MAJORS)
    def test_statements_are_refused_as_annotated(self, script: str, major: int) -> None:
        assert_followed(script, major)


class AnnotatedScripts(_Scripts):
    """Scripts that leave the same relations here and on servers."""

    @pytest.mark.server
    @pytest.mark.parametrize("major", MAJORS)
    def test_servers_agree(self, script: str, servers: Servers, major: int) -> None:
        assert_agrees(servers[major], script)


class ComparedScripts(_Scripts):
    """Scripts that leave the same catalog here and on servers, and are refused in the same words."""

    @pytest.mark.server
    @pytest.mark.parametrize("major", MAJORS)
    def test_servers_agree(self, script: str, servers: Servers, major: int) -> None:
        agreement.assert_agrees(servers[major], script)
