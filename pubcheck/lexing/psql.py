"""What psql's own commands say of the statements after them: conditions, included files, another connection.

Follows psql's command.c (exec_command_if and its kin, exec_command_connect), conditional.c and variables.c.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence

from msgspec import Struct

from pubcheck.lexing.items import PsqlCommand, Statement

_WORDS = re.compile(r"\\(\S*)\s*(.*)", re.DOTALL)
_ARGUMENT = re.compile(r"""'(?:[^'\\]++|\\.|'')*+'|"[^"]*"|[^\s'"]+""")
_DATABASE_NAME = re.compile(r"\bdbname\s*=\s*'?([^\s']+)|^postgres(?:ql)?://[^/?]*/([^/?]+)")
_CONNINFO = r"\b(host|port)\s*=\s*'?([^\s']+)"
_ADDRESS = r"://(?:[^/?@]*@)?([^/?]*)"
_QUOTES = "'\""
HOME = ":home"
"""What the view of a shell script calls the database that the script's first command is for."""
_LARGEST = 1 << 20
"""Characters of a text with the values of its variables; psql has no limit, but nobody writes such values."""
_NONE: Mapping[str, str] = {}
# Patterns kept as text are needed by few scripts, and compiled (and kept by re) when they are.
_SITE = r""":(?:(?P<plain>\w+)|'(?P<literal>\w+)'|"(?P<name>\w+)"|\{\?(?P<defined>\w+)\})"""
# What ends nothing but itself: no semicolon, comment, backslash, dollar quote or variable outside of quotes.
_PLAIN = r"""[^'"$;\\:/()\-]++|'[^'\\]*+'|"[^"]*+"|::|-(?!-)|/(?!\*)"""
_SELF_CONTAINED = rf"(?:{_PLAIN}|\((?:{_PLAIN})*+\))*+"
_SET_ARGUMENT = r"""(?s)'(?P<quoted>(?:[^'\\]++|\\.|'')*+)'|"(?P<double>[^"]*)"|(?P<bare>[^\s'"]+)|(?P<blank>\s+)"""
_SET_ESCAPE = r"(?s)\\(?P<octal>[0-7]{1,3})|\\x(?P<hex>[0-9A-Fa-f]{1,2})|\\(?P<one>.)|''"
_SET_LETTERS = {"n": "\n", "t": "\t", "b": "\b", "r": "\r", "f": "\f"}
_CONDITIONS = frozenset(("if", "elif", "else", "endif"))
_INCLUDING = frozenset(("i", "ir", "include", "include_relative"))


class _Branch(Struct):
    """Where in an \\if we are: whether this part runs, and whether one before it did; None where nobody can tell."""

    runs: bool | None
    done: bool | None


class Connection(Struct, frozen=True):
    """What \\connect asks for: a database ("" for the same one), a user ("" for the same one), and a server, as "host"
    and "port" (None for the same one, "" for that which everything begins with)."""

    database: str
    user: str
    server: str | None = None


class Branches:
    """The \\if blocks that one file is in, and whether it was left by \\q."""

    def __init__(self) -> None:
        self._open: list[_Branch] = []
        self._left: bool | None = False

    @property
    def runs(self) -> bool | None:
        """Whether the text here runs; None if unknown."""
        parts = [branch.runs for branch in self._open]
        if False in parts or self._left:
            return False
        return None if None in parts or self._left is None else True

    def follow(self, command: PsqlCommand, variables: Mapping[str, str] = _NONE) -> bool:
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
            runs = _truth(rest, variables)
            self._open.append(_Branch(runs, runs))
        elif not self._open:
            return True  # psql complains and goes on
        elif name == "endif":
            self._open.pop()
        else:
            branch = self._open[-1]
            holds = True if name == "else" else _truth(rest, variables)
            if branch.done or holds is False:
                branch.runs = False
            elif branch.done is None:
                branch.runs = None
            else:
                branch.runs = holds
            if not branch.done and holds is not False:
                branch.done = holds
        return True


def _truth(text: str, variables: Mapping[str, str]) -> bool | None:
    """The value of a condition (ParseVariableBool); None where it rests on what is not written down."""
    known = interpolated(text, variables)
    if known is None:
        return None
    text = known
    word = " ".join(one.strip(_QUOTES) for one in _ARGUMENT.findall(text)).lower()
    # A value that is not a truth value counts as false, with a complaint.
    return word in ("on", "1") or (word != "" and any(full.startswith(word) for full in ("true", "yes")))


def words(command: PsqlCommand) -> tuple[str, str]:
    """A command's name and the rest of it."""
    match = _WORDS.match(command.text)
    return (match[1], match[2]) if match is not None else ("", "")


def included(command: PsqlCommand, variables: Mapping[str, str] = _NONE) -> str | None:
    """The path of a file that a command has psql read, as far as it is known; None for any other command."""
    name, rest = words(command)
    if name not in _INCLUDING:
        return None
    known = interpolated(rest, variables)
    return (rest if known is None else known).strip().strip(_QUOTES)


def connection(command: PsqlCommand, variables: Mapping[str, str] = _NONE) -> Connection | None:
    """What a \\connect asks for; None for any other command."""
    name, rest = words(command)
    if name not in ("c", "connect"):
        return None
    known = interpolated(rest, variables)
    rest = rest if known is None else known
    given = [one.strip(_QUOTES) for one in _ARGUMENT.findall(rest) if not one.startswith("-reuse-previous")]
    # Quotes around a variable stand after its colon, apart from it here.
    if ":" in given:
        given = [":" + "".join(given[1:])]
    said = ["" if one in ("-", ":DBNAME", ":USER", ":HOST", ":PORT") else one for one in (*given, *[""] * 4)[:4]]
    database, user, host, port = said
    if "=" in database or "://" in database:
        named = dict(re.findall(_CONNINFO, database))
        match = _DATABASE_NAME.search(database)
        address = re.search(_ADDRESS, database)
        server = _server(named.get("host", ""), named.get("port", "")) if address is None else address[1]
        reused = "-reuse-previous=on" in rest and not server
        return Connection((match[1] or match[2]) if match is not None else "", user, None if reused else server)
    return Connection(database, user, _server(host, port) or None)


def _server(host: str, port: str) -> str:
    return f"{host}:{port}" if port else host


def substituted(site: str, variables: Mapping[str, str]) -> str | None:
    """What psql puts in the place of `:name`, `:'name'`, `:"name"` or `:{?name}` in a statement (psqlscan.l); None
    where the value is not known, or would change where the statement ends."""
    value = _value(site, variables)
    return value if value is None or site[1] in "'\"{" or re.fullmatch(_SELF_CONTAINED, value) else None


def _value(site: str, variables: Mapping[str, str]) -> str | None:
    found = re.fullmatch(_SITE, site)
    if found is None:
        return None
    value = variables.get(found[found.lastgroup or 0])
    if value is None:
        return None
    if found["defined"]:
        return "TRUE"
    if found["literal"]:
        quoted = "'" + value.replace("'", "''") + "'"
        # PQescapeLiteral
        return " E" + quoted.replace("\\", "\\\\") if "\\" in value else quoted
    if found["name"]:
        return '"' + value.replace('"', '""') + '"'
    return value


class Piece(Struct, frozen=True):
    """One of the statements that a text is once the values are in: its offsets in that text, and the (start, end, sent)
    of its variables, in its own."""

    start: int
    end: int
    edits: tuple[tuple[int, int, str], ...]


def pieces(
    text: str,
    sites: Sequence[tuple[int, int]],
    variables: Mapping[str, str],
    split: Callable[[str], Iterable[Statement | PsqlCommand]],
) -> list[Piece]:
    """The statements that a text with variables at these offsets is for psql, which reads values as it reads the text.

    None of them where a value is not known or names variables or commands itself, where the last of them does not
    end with the text, or where they are too large.
    """
    expanded: list[tuple[int, int, int, int]] = []
    sent, at = "", 0
    for start, end in sites:
        value = _value(text[start:end], variables)
        if value is None or "\\" in value or re.search(_SITE, value) or len(sent) + len(value) > _LARGEST:
            return []
        sent += text[at:start]
        expanded.append((start, end, len(sent), len(sent) + len(value)))
        sent, at = sent + value, end
    sent += text[at:]
    *found, last = split(f"{sent}\n;{_SENTINEL}")
    if last.text != _SENTINEL or any(isinstance(one, PsqlCommand) for one in found):
        return []
    return [_piece(one.start, one.end, sent, expanded) for one in found]


_SENTINEL = "SELECT 1"


def _piece(first: int, last: int, sent: str, expanded: Sequence[tuple[int, int, int, int]]) -> Piece:
    start, end = first, last
    edits: list[tuple[int, int, str]] = []
    for here, after, begin, stop in expanded:
        # Of a value that is cut all of its variable belongs to both parts.
        start = start if first < begin else here if first < stop else first + after - stop
        end = end if last <= begin else after if last <= stop else last + after - stop
        if first < stop and begin < last:
            edits.append((here, after, sent[max(first, begin) : min(last, stop)]))
    return Piece(start, end, tuple((here - start, after - start, value) for here, after, value in edits))


def interpolated(text: str, variables: Mapping[str, str]) -> str | None:
    """The argument of a command with its variables; None where one is not known, or a shell command is to be asked."""
    if "`" in text:
        return None
    if ":" not in text:
        return text
    unknown, size = False, len(text)

    def value(found: re.Match[str]) -> str:
        nonlocal unknown, size
        known = substituted(found[0], variables)
        size += len(known or "")
        unknown = unknown or known is None or size > _LARGEST
        return known or "" if not unknown else ""

    said = re.sub(_SITE, value, text)
    return None if unknown else said


def assign(command: PsqlCommand, variables: MutableMapping[str, str], before: str, *, runs: bool | None) -> bool:
    """Follow a command that sets variables (\\set, \\unset, \\getenv, \\prompt, \\gset); whether it was one.

    What is not known of a value leaves the variable out. ``before`` is the statement before the command; ``runs``:
    whether the command does.
    """
    name, rest = words(command)
    if name == "gset":
        # The columns' names, behind a prefix.
        prefix = rest.strip()
        for each in [one for one in variables if one.startswith(prefix)]:
            if "*" in before or each.removeprefix(prefix).lower() in before.lower():
                del variables[each]
        return True
    if name not in ("set", "unset", "getenv", "prompt"):
        return False
    given = rest.strip().split(None, 1)
    if not given:
        return True
    if name == "prompt":
        variables.pop(rest.split()[-1], None)
        return True
    value = _set_value(given[1] if len(given) > 1 else "", variables) if name == "set" and runs else None
    if value is None:
        variables.pop(given[0], None)
    else:
        variables[given[0]] = value
    return True


def _set_value(text: str, variables: Mapping[str, str]) -> str | None:
    """The value of \\set: its arguments, one after the other without blanks between them (command.c)."""
    parts: list[str] = []
    argument = re.compile(_SET_ARGUMENT).match
    at = 0
    while at < len(text):
        found = argument(text, at)
        if found is None or "`" in found[0]:
            return None
        if found["quoted"] is not None and not (parts and parts[-1].endswith(":")):
            parts.append(re.sub(_SET_ESCAPE, _set_escape, found["quoted"]))
        elif found["blank"] is None:
            bare = re.match(r"""[^\s'"]*:(?:'\w+'|"\w+")""", text[at:])
            word = bare[0] if bare is not None else found[0]
            # Double quotes stay, and what is between them is taken as it is.
            known = interpolated(word, variables) if found["double"] is None or bare is not None else word
            if known is None:
                return None
            parts.append(known)
            at += len(word)
            continue
        at = found.end()
    return "".join(parts) if sum(map(len, parts)) <= _LARGEST else None


def _set_escape(found: re.Match[str]) -> str:
    if found["octal"]:
        return chr(int(found["octal"], 8))
    if found["hex"]:
        return chr(int(found["hex"], 16))
    return _SET_LETTERS.get(found["one"], found["one"]) if found["one"] else "'"
