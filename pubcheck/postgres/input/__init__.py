"""Input functions of PostgreSQL's types: the server reads constants while it analyses an expression.

``read`` returns the value that the server's input function reads from a text, or raises the server's error. Modules are
imported when the first literal of their kind is read.
"""

from __future__ import annotations

from pubcheck.postgres.input.dispatch import InputContext, read

__all__ = ["InputContext", "read"]
