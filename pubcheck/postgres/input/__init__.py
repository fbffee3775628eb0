"""Input functions of PostgreSQL's types: the server reads constants while it analyses an expression.

``read`` gives what the server's input function makes of a text, or raises what the server raises. What is not imported
until a literal of its kind is met costs nothing.
"""

from __future__ import annotations

from pubcheck.postgres.input.dispatch import InputContext, read

__all__ = ["InputContext", "read"]
