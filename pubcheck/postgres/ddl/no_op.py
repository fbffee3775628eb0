"""Statements that change nothing this program keeps, and those whose effect cannot be seen."""

from __future__ import annotations

from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session


def nothing(session: Session, node: Node) -> None:
    """The catalogs kept here stay as they are."""


def unknown_effect(session: Session, node: Node) -> None:
    """A foreign server's tables: from here on a missing name may exist after all."""
    session.blind = True


def call(session: Session, node: Node) -> None:
    """CALL: a procedure is not looked into when it runs."""
    from pubcheck.postgres.ddl.functions import run_called_functions

    session.blind = True
    run_called_functions(session, node)


def do_block(session: Session, node: Node) -> None:
    """An anonymous code block is not looked into; what it makes is not visible."""
    session.note_unknown_effect(session.text.decode(errors="replace"))
