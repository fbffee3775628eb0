"""Statements that change nothing this program keeps, and those whose effect cannot be seen."""

from __future__ import annotations

from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session


def nothing(session: Session, node: Node) -> None:
    """The catalogs kept here stay as they are."""


def unknown_effect(session: Session, node: Node) -> None:
    """A procedure, or a foreign server's tables: from here on a missing name may exist after all."""
    session.blind = True


def do_block(session: Session, node: Node) -> None:
    """An anonymous code block is not looked into; what it makes is not visible."""
    session.blind = True
