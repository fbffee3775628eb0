"""Output functions of PostgreSQL's types: values as text, and in the binary format of send functions.

``pubcheck.postgres.input`` is the inverse, ``pubcheck.postgres.datum`` describes the values. Modules are imported when
the first value of their kind is written.
"""

from __future__ import annotations

from pubcheck.postgres.output.dispatch import OutputContext, binary_send, has_send, sender, text_output, writer
from pubcheck.postgres.output.encodings import to_client
from pubcheck.postgres.output.names import type_name

__all__ = ["OutputContext", "binary_send", "has_send", "sender", "text_output", "to_client", "type_name", "writer"]
