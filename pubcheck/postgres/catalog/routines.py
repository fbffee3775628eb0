"""Functions and procedures whose bodies can be run, as CREATE FUNCTION defines them."""

from __future__ import annotations

import re

from msgspec import Struct

from pubcheck.postgres.parse import Node
from pubcheck.postgres.source_text import Text


class Routine(Struct, frozen=True):
    """A function or procedure. ``source`` and ``statement`` number the CREATE FUNCTION; ``about``: its body mentions
    publications, ``changes``: it may change something else.

    ``inputs`` are the names and types of the input arguments, ``defaults`` the (position, expression) of those that
    have one; ``settings`` its SET clauses. ``outputs`` are the names and types of OUT arguments, ``results`` the names
    of those and of INOUT ones.
    """

    name: str
    language: str
    body: Text
    source: int
    statement: int
    about: bool
    inputs: tuple[tuple[str, str], ...]
    outputs: tuple[tuple[str, str], ...] = ()
    results: tuple[str, ...] = ()
    defaults: tuple[tuple[int, Node], ...] = ()
    returns: str = "void"
    returns_set: bool = False
    procedure: bool = False
    settings: tuple[Node, ...] = ()
    changes: bool = False

    def header(self) -> str:
        """Return the part of a CREATE FUNCTION before AS, with argument and result types that any parser knows."""
        if self.returns in ("trigger", "event_trigger"):
            return f"CREATE FUNCTION {_quoted(self.name)}() RETURNS {self.returns} LANGUAGE plpgsql AS"
        arguments = [f"{_quoted(name)} {_plain(type_name)}".strip() for name, type_name in self.inputs]
        arguments += [f"OUT {_quoted(name)} {_plain(type_name)}" for name, type_name in self.outputs if name]
        kind = "PROCEDURE" if self.procedure else "FUNCTION"
        returns = ""
        if not self.procedure:
            several = len(self.outputs) > 1
            of_one = _plain(self.outputs[0][1]) if self.outputs and self.outputs[0][0] else "text"
            result = "record" if several else of_one if self.outputs or self.returns != "void" else "void"
            returns = f" RETURNS {'SETOF ' if self.returns_set else ''}{result}"
        return f"CREATE {kind} {_quoted(self.name)}({', '.join(arguments)}){returns} LANGUAGE plpgsql AS"

    def last_statement(self) -> str:
        """The last statement of a body in SQL."""
        parts = [part for part in self.body.text.split(";") if part.strip()]
        return parts[-1] if parts else ""


_TYPES = re.compile(r"(text|int[248]?|bool|name|varchar|regclass|_text|_name|_varchar|_int[248]|jsonb?)(\[\])?")


def _plain(type_name: str) -> str:
    return type_name if _TYPES.fullmatch(type_name) else "text[]" if type_name.endswith("[]") else "text"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if name else ""
