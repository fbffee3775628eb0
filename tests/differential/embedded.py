"""`python -m tests.differential.embedded FIRST LAST [--major N]... [--ports FILE] [--failing]`

Random DO blocks and functions (`blocks`) on servers and through pubcheck: which statements are refused, with every
field, and what publications and tables there are in the end. With the world closed all must agree; with the world open
nothing certain may be said that the server does not say. With ``--failing`` the blocks hold much that fails, or may, by
the rows at hand, and that nothing is invented is asked of both worlds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from unittest import mock

from msgspec import Struct

from pubcheck.config import Config
from pubcheck.engine.blocks import BlockRunner
from pubcheck.engine.linter import Followed, Linter
from pubcheck.engine.unit import Unit
from pubcheck.postgres.catalog.rows import EMBEDDED
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.plpgsql.frames import Raised
from pubcheck.postgres.process_utility import apply_with_triggers
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.statement_context import Basis
from pubcheck.source import Source
from tests.differential.blocks import Blocks
from tests.differential.state import QUERY, shown
from tests.support.servers import Answer, Server, asked, execute, seeds_parser


class Difference(Struct, frozen=True):
    """What a server and pubcheck say of a statement, or of what there is in the end."""

    about: str
    server: str
    pubcheck: str


def differences(server: Server, statements: list[str]) -> Iterator[Difference]:
    """Runs a script on both sides."""
    with server.database() as name, server.connect(name) as conn:
        answers = [execute(conn, statement) for statement in statements]
        state = {str(row[0]) for row in conn.execute(QUERY).fetchall()}
    closed, silent, blind = _judged(server.major, statements, complete=True)
    for index, answer in enumerate(answers):
        mine = closed.get(index) or silent.get(index) or "accepted"
        theirs = _said(answer, with_position=index in closed)
        if mine != theirs:
            yield Difference(f"[{index}] {statements[index]}", theirs, mine)
    if blind:
        yield Difference("followed to the end", "yes", "no")
    ours = _state_of(server.major, statements)
    if ours != state:
        yield Difference("state", "; ".join(sorted(state - ours)), "; ".join(sorted(ours - state)))
    told = _judged(server.major, statements, complete=False)[0]
    for index, answer in enumerate(answers):
        if index in told:
            theirs = _said(answer, with_position=True)
            if told[index] != theirs:
                yield Difference(f"(open) [{index}] {statements[index]}", theirs, told[index])
        elif not answer.ok:
            return  # for pubcheck it has been done: from here on there are two worlds


def invented(server: Server, statements: list[str]) -> Iterator[Difference]:
    """What is certain for pubcheck, and not what the server says."""
    with server.database() as name, server.connect(name) as conn:
        answers = [execute(conn, statement) for statement in statements]
    for complete in (True, False):
        told = _judged(server.major, statements, complete=complete)[0]
        for index, answer in enumerate(answers):
            theirs = _said(answer, with_position=True)
            if index in told and told[index] != theirs:
                yield Difference(
                    f"({'closed' if complete else 'open'}) [{index}] {statements[index]}", theirs, told[index]
                )
            elif index not in told and not answer.ok and not complete and "CREATE FUNCTION" not in statements[index]:
                break  # for pubcheck it has perhaps been done: from here on there are two worlds


def _said(answer: Answer, *, with_position: bool) -> str:
    if answer.ok:
        return "accepted"
    if not with_position:
        return f"{answer.sqlstate} {answer.message}"
    return f"{answer.sqlstate} {answer.message} | {answer.detail} | {answer.hint} | {answer.position}"


def _followed(major: int, statements: list[str], complete: bool) -> Followed:
    unit = Unit((Source("script.sql", ";\n".join(statements)),))
    return Linter(Config(postgres=(major,), complete=complete)).follow(unit)


def _judged(major: int, statements: list[str], *, complete: bool) -> tuple[dict[int, str], dict[int, str], bool]:
    """By statement, the certain refusals that are told and those that are followed only; whether all was followed."""
    silent: dict[int, str] = {}

    def refuse(self: BlockRunner, raised: Raised, basis: Basis) -> None:
        if raised.error.key is None:
            silent[self.statement.index] = f"{raised.error.sqlstate} {raised.error.message}"
        original(self, raised, basis)

    def watched(session: Session, name: str, node: Node) -> bool:
        try:
            perhaps_refused = apply_with_triggers(session, name, node)
        except ServerError as error:
            if error.key is None and session.statement < EMBEDDED:
                silent[session.statement] = f"{error.sqlstate} {error.message}"
            raise
        return perhaps_refused

    original = BlockRunner.refuse
    with (
        mock.patch.object(BlockRunner, "refuse", refuse),
        mock.patch("pubcheck.engine.replay.apply_with_triggers", watched),
    ):
        followed = _followed(major, statements, complete)
    told = {
        d.statement.index: " | ".join(
            (f"{d.server.sqlstate} {d.server.message}", *map(str, (d.server.detail, d.server.hint, d.server.position)))
        )
        for d in followed.result.diagnostics
        if d.refused and d.statement is not None and d.server is not None
    }
    return told, silent, followed.replays[0].session.blind


def _state_of(major: int, statements: list[str]) -> set[str]:
    return shown(_followed(major, statements, True).replays[0].catalog)


def main() -> int:
    parser = seeds_parser("tests.differential.embedded", __doc__)
    parser.add_argument("--failing", action="store_true", help="blocks that fail, or may, by the rows at hand")
    options = parser.parse_args()
    total = blocks = 0
    with asked(options) as servers:
        for seed in range(options.first, options.last):
            for major in servers:
                statements = Blocks(seed, failing=0.6 if options.failing else 0).statements
                blocks += sum(not statement.startswith(("CREATE SCHEMA", "CREATE TABLE")) for statement in statements)
                compared = invented if options.failing else differences
                for difference in compared(servers[major], statements):
                    total += 1
                    print(f"[{seed}/{major}] {difference.about}")
                    print(f"    server   {difference.server}")
                    print(f"    pubcheck {difference.pubcheck}", flush=True)
    print(f"{blocks:,} blocks, functions, calls and statements, {total} differences")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
