"""A running server as input: its catalogs, and what only a server knows."""

from __future__ import annotations


class LiveError(Exception):
    """A server could not be read; the message is one line that names the connection and the reason."""
