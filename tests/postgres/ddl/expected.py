"""Scripts whose statements carry the SQLSTATE that servers answered: one a line, the answer in a comment at its end.

``-- 42P16`` is the answer of all majors, ``-- 15: 42601, 16: 42601`` of those named; the others accept the statement,
as all do without a comment.
"""

from __future__ import annotations

from pglast.parser import split

from pubcheck.postgres.versions import MAJORS
from tests.postgres.ddl.support import Outcome, outcomes
from tests.support.servers import Server, execute

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


def assert_followed(script: str) -> None:
    """Every major's statements are refused here as the annotations say."""
    for major in MAJORS:
        wanted = read(script, major)
        text = ";\n".join(statement for statement, _ in wanted)
        assert len(split(text)) == len(wanted)
        states = outcomes(text, major)
        assert list(zip((statement for statement, _ in wanted), states, strict=True)) == wanted, f"major {major}"


def assert_annotated(script: str, server: Server) -> None:
    """The annotations are what the server says."""
    wanted = read(script, server.major)
    with server.database() as name, server.connect(name) as conn:
        states = [(statement, execute(conn, statement).sqlstate) for statement, _ in wanted]
    assert states == wanted
