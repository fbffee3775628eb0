"""What psql's own commands say of the statements after them: conditions, included files, another connection.

Follows psql's command.c (exec_command_if and its kin, exec_command_connect), conditional.c and variables.c.
"""

from __future__ import annotations

import re

from msgspec import Struct

from pubcheck.sources.statements import PsqlCommand

_WORDS = re.compile(r"\\(\S*)\s*(.*)", re.DOTALL)
_ARGUMENT = re.compile(r"""'(?:[^'\\]|\\.|'')*'|"[^"]*"|[^\s'"]+""")
_DATABASE_NAME = re.compile(r"\bdbname\s*=\s*'?([^\s']+)|^postgres(?:ql)?://[^/?]*/([^/?]+)")
_QUOTES = "'\""
_CONDITIONS = frozenset(("if", "elif", "else", "endif"))
_INCLUDING = frozenset(("i", "ir", "include", "include_relative"))


class _Branch(Struct):
    """Where in an \\if we are: whether this part runs, and whether one before it did; None where nobody can tell."""

    runs: bool | None
    done: bool | None


class Connection(Struct, frozen=True):
    """What \\connect asks for: a database ("" for the same one) and a user ("" for the same one)."""

    database: str
    user: str


class Branches:
    """The \\if blocks that one file is in, and whether it was left by \\q."""

    def __init__(self) -> None:
        self._open: list[_Branch] = []
        self._left: bool | None = False

    @property
    def runs(self) -> bool | None:
        """Whether what stands here runs; None where that is not known."""
        parts = [branch.runs for branch in self._open]
        if False in parts or self._left:
            return False
        return None if None in parts or self._left is None else True

    def follow(self, command: PsqlCommand) -> bool:
        """Take note of a command; whether it was about conditions or the end of the file."""
        name, rest = words(command)
        if name in ("q", "quit"):
            runs = self.runs
            if runs is not False:
                self._left = True if runs else None
            return True
        if name not in _CONDITIONS:
            return False
        if name == "if":
            runs = _truth(rest)
            self._open.append(_Branch(runs, runs))
        elif not self._open:
            return True  # psql complains and goes on
        elif name == "endif":
            self._open.pop()
        else:
            branch = self._open[-1]
            holds = True if name == "else" else _truth(rest)
            if branch.done or holds is False:
                branch.runs = False
            elif branch.done is None:
                branch.runs = None
            else:
                branch.runs = holds
            if not branch.done and holds is not False:
                branch.done = holds
        return True


def _truth(text: str) -> bool | None:
    """The value of a condition (ParseVariableBool); None where it rests on what is not written down."""
    if ":" in text or "`" in text:
        return None
    word = " ".join(one.strip(_QUOTES) for one in _ARGUMENT.findall(text)).lower()
    # What is no truth value at all counts as false, with a complaint.
    return word in ("on", "1") or (word != "" and any(full.startswith(word) for full in ("true", "yes")))


def words(command: PsqlCommand) -> tuple[str, str]:
    """A command's name and the rest of it."""
    match = _WORDS.match(command.text)
    return (match[1], match[2]) if match is not None else ("", "")


def included(command: PsqlCommand) -> str | None:
    """The path of a file that a command has psql read, as written; None for any other command."""
    name, rest = words(command)
    return rest.strip().strip(_QUOTES) if name in _INCLUDING else None


def connection(command: PsqlCommand) -> Connection | None:
    """What a \\connect asks for; None for any other command."""
    name, rest = words(command)
    if name not in ("c", "connect"):
        return None
    given = [one.strip(_QUOTES) for one in _ARGUMENT.findall(rest) if not one.startswith("-reuse-previous")]
    # Quotes around a variable stand after its colon, apart from it here.
    if ":" in given:
        given = [":" + "".join(given[1:])]
    database, user = ("" if one in ("-", ":DBNAME", ":USER") else one for one in (*given, "", "")[:2])
    if "=" in database or "://" in database:
        match = _DATABASE_NAME.search(database)
        database = (match[1] or match[2]) if match is not None else ""
    return Connection(database, user)
