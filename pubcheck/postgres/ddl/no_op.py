"""Statements that change nothing that is kept here, and statements whose effect is unknown."""

from __future__ import annotations

from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session


def nothing(session: Session, node: Node) -> None:
    """Change nothing."""


def unknown_effect(session: Session, node: Node) -> None:
    """Import a foreign server's tables: from here on a missing name may exist."""
    session.blind = True


def call(session: Session, node: Node) -> None:
    """CALL: the body of a procedure is not followed here."""
    from pubcheck.postgres.ddl.functions import run_called_functions

    session.blind = True
    run_called_functions(session, node)


def do_block(session: Session, node: Node) -> None:
    """DO: the block is not followed here; the objects that it creates are unknown."""
    session.note_unknown_effect(session.text.decode(errors="replace"))
