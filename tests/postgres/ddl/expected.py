"""Scripts whose statements carry the SQLSTATE that servers answered: one a line, the answer in a comment at its end.

``-- 42P16`` is the answer of all majors, ``-- 15: 42601, 16: 42601`` of those named; the others accept the statement,
as all do without a comment.
"""

from __future__ import annotations

import pytest
from pglast.parser import split

from pubcheck.postgres.versions import MAJORS
from tests.postgres.ddl.support import Outcome, outcomes
from tests.support.servers import Server, Servers, execute

Annotated = list[tuple[str, Outcome]]


def read(script: str, major: int) -> Annotated:
    """The statements of a script with what a major answers."""
    found: Annotated = []
    for line in script.strip().splitlines():
        statement, _, answer = line.strip().rpartition(" -- ") if " -- " in line else (line.strip(), "", "")
        expected: Outcome = answer or None
        if ":" in answer:
            expected = dict(part.split(": ") for part in answer.split(", ")).get(str(major))
        found.append((statement.removesuffix(";"), expected))
    return found


def assert_followed(script: str, major: int) -> None:
    """The statements are refused here as the annotations say."""
    wanted = read(script, major)
    text = ";\n".join(statement for statement, _ in wanted)
    assert len(split(text)) == len(wanted)
    _assert_same(wanted, outcomes(text, major))


def assert_annotated(script: str, server: Server) -> None:
    """The annotations are what the server says."""
    wanted = read(script, server.major)
    with server.database() as name, server.connect(name) as conn:
        states = [execute(conn, statement).sqlstate for statement, _ in wanted]
    _assert_same(wanted, states)


def _assert_same(wanted: Annotated, states: list[Outcome]) -> None:
    differing = [
        f"{statement}\n  annotated {expected}, answered {state}"
        for (statement, expected), state in zip(wanted, states, strict=True)
        if state != expected
    ]
    assert not differing, "\n".join(differing)


class AnnotatedScripts:
    """The tests of a file of annotated scripts; its class there is parametrized with ``script``."""

    @pytest.mark.parametrize("major", MAJORS)
    def test_statements_are_refused_as_servers_refuse_them(self, script: str, major: int) -> None:
        assert_followed(script, major)

    @pytest.mark.server
    @pytest.mark.parametrize("major", MAJORS)
    def test_the_answers_are_those_of_servers(self, script: str, servers: Servers, major: int) -> None:
        assert_annotated(script, servers[major])
