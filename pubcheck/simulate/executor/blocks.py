"""DO blocks."""

from __future__ import annotations

from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend, Result
from pubcheck.simulate.not_followed import NotFollowed


def do(session: Backend, node: Node) -> Result:
    raise NotFollowed("a DO block")
