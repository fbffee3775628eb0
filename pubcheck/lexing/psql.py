"""The effect of psql's own commands on the statements after them: conditions, included files, another connection.

Follows psql's command.c (exec_command_if and its kin, exec_command_connect), conditional.c and variables.c.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence

from msgspec import Struct

from pubcheck.lexing.items import PsqlCommand, Statement
from pubcheck.lexing.lexical import CONDITIONS

_WORDS = re.compile(r"\\(\S*)\s*(.*)", re.DOTALL)
_ARGUMENT = re.compile(r"""'(?:[^'\\]++|\\.|'')*+'|"[^"]*"|[^\s'"]+""")
_DATABASE_NAME = re.compile(r"\bdbname\s*=\s*'?([^\s']+)|^postgres(?:ql)?://[^/?]*/([^/?]+)")
_CONNINFO = r"\b(host|port)\s*=\s*'?([^\s']+)"
_ADDRESS = r"://(?:[^/?@]*@)?([^/?]*)"
_QUOTES = "'\""
HOME = ":home"
"""The view of a shell script uses this name for the database that the script's first command is for."""
_LARGEST = 1 << 20
"""The maximum length of a text with the values of its variables. psql has no limit."""
_NONE: Mapping[str, str] = {}
# Patterns kept as text are needed by few scripts, and compiled (and kept by re) when they are.
_SITE = r""":(?:(?P<plain>\w+)|'(?P<literal>\w+)'|"(?P<name>\w+)"|\{\?(?P<defined>\w+)\})"""
# What ends nothing but itself: no semicolon, comment, backslash, dollar quote or variable outside of quotes.
_PLAIN = r"""[^'"$;\\:/()\-]++|'[^'\\]*+'|"[^"]*+"|::|-(?!-)|/(?!\*)"""
_SELF_CONTAINED = rf"(?:{_PLAIN}|\((?:{_PLAIN})*+\))*+"
_SET_ARGUMENT = r"""(?s)'(?P<quoted>(?:[^'\\]++|\\.|'')*+)'|"(?P<double>[^"]*)"|(?P<bare>[^\s'"]+)|(?P<blank>\s+)"""
_SET_ESCAPE = r"(?s)\\(?P<octal>[0-7]{1,3})|\\x(?P<hex>[0-9A-Fa-f]{1,2})|\\(?P<one>.)|''"
_SET_LETTERS = {"n": "\n", "t": "\t", "b": "\b", "r": "\r", "f": "\f"}
_SWITCHES = frozenset(("AUTOCOMMIT", "SINGLELINE"))
_WITHOUT_BEGIN = frozenset(("abort", "begin", "commit", "end", "rollback", "start"))
_INCLUDING = frozenset(("i", "ir", "include", "include_relative"))


class _Branch(Struct):
    """A part of an \\if: whether it runs, and whether an earlier part did; None if unknown. ``is_last``: it is the
    \\else."""

    runs: bool | None
    is_taken: bool | None
    is_last: bool = False


class Connection(Struct, frozen=True):
    """The target of \\connect: a database and a user ("" for the same ones), and a server as "host" and "port" (None
    for the same one, "" for the initial one)."""

    database: str
    user: str
    server: str | None = None


class Branches:
    """The \\if blocks that one file is in, and whether it was left by \\q."""

    def __init__(self, outer: bool | None = True) -> None:
        """``outer``: whether the file is run; None if unknown."""
        self._outer = outer
        self._open: list[_Branch] = []
        self._left: bool | None = False

    @property
    def runs(self) -> bool | None:
        """Whether the text here runs; None if unknown."""
        parts = [self._outer, *(branch.runs for branch in self._open)]
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
        if name not in CONDITIONS:
            return False
        if name == "if":
            runs = _truth(rest, variables)
            self._open.append(_Branch(runs, runs))
        elif not self._open:
            return True  # psql complains and goes on
        elif name == "endif":
            self._open.pop()
        elif not self._open[-1].is_last:  # psql complains of a part after \else, and goes on as it was
            branch = self._open[-1]
            branch.is_last = name == "else"
            holds = True if branch.is_last else _truth(rest, variables)
            if branch.is_taken or holds is False:
                branch.runs = False
            elif branch.is_taken is None:
                branch.runs = None
            else:
                branch.runs = holds
            if not branch.is_taken and holds is not False:
                branch.is_taken = holds
        return True


def _truth(text: str, variables: Mapping[str, str]) -> bool | None:
    """Return the value of a condition (ParseVariableBool); None if it depends on an unknown value."""
    expanded = interpolated(text, variables)
    if expanded is None:
        return None
    return is_true(expanded)


def is_true(text: str) -> bool:
    """Return the truth of a text (ParseVariableBool). One that is not a truth value counts as false."""
    word = " ".join(argument.strip(_QUOTES) for argument in _ARGUMENT.findall(text)).lower()
    return word in ("on", "1") or (word != "" and any(full.startswith(word) for full in ("true", "yes")))


def begins_transaction(keyword: str, variables: Mapping[str, str]) -> bool:
    """Return whether psql sends BEGIN before a statement that begins with ``keyword``, outside of a transaction
    (SendQuery): AUTOCOMMIT is off."""
    return _is_false(variables.get("AUTOCOMMIT", "on")) and keyword not in _WITHOUT_BEGIN


def _is_false(text: str) -> bool:
    """Return whether a text is one of the false values (ParseVariableBool)."""
    word = text.lower()
    return word in ("of", "off", "0") or (word != "" and any(full.startswith(word) for full in ("false", "no")))


def takes_lines_for_statements(variables: Mapping[str, str]) -> bool:
    """Return whether psql sends each line by itself: SINGLELINE is on."""
    word = variables.get("SINGLELINE")
    return word is not None and (word == "" or is_true(word))


def words(command: PsqlCommand) -> tuple[str, str]:
    """Return a command's name and the rest of it."""
    match = _WORDS.match(command.text)
    return (match[1], match[2]) if match is not None else ("", "")


def included(command: PsqlCommand, variables: Mapping[str, str] = _NONE) -> str | None:
    """Return the path of a file that a command has psql read, as far as it is known; None for any other command."""
    name, rest = words(command)
    if name not in _INCLUDING:
        return None
    known = interpolated(rest, variables)
    return _unquoted((rest if known is None else known).strip())


def encoding(command: PsqlCommand, variables: Mapping[str, str] = _NONE) -> tuple[str | None] | None:
    """Return the argument of \\encoding, "" if it has none and None if it is not known; None for any other command."""
    name, rest = words(command)
    if name != "encoding":
        return None
    known = interpolated(rest, variables)
    return (None if known is None else _unquoted(known.strip()),)


def connection(command: PsqlCommand, variables: Mapping[str, str] = _NONE) -> Connection | None:
    """Return the connection that \\connect asks for; None for any other command."""
    name, rest = words(command)
    if name not in ("c", "connect"):
        return None
    expanded = interpolated(rest, variables)
    rest = rest if expanded is None else expanded
    arguments = [_unquoted(item) for item in _ARGUMENT.findall(rest) if not item.startswith("-reuse-previous")]
    # Quotes around a variable stand after its colon, apart from it here.
    if ":" in arguments:
        arguments = [":" + "".join(arguments[1:])]
    parts = [
        "" if argument in ("-", ":DBNAME", ":USER", ":HOST", ":PORT") else argument
        for argument in (*arguments, *[""] * 4)[:4]
    ]
    database, user, host, port = parts
    if "=" in database or "://" in database:
        settings = dict(re.findall(_CONNINFO, database))
        match = _DATABASE_NAME.search(database)
        address = re.search(_ADDRESS, database)
        server = _server(settings.get("host", ""), settings.get("port", "")) if address is None else address[1]
        reused = "-reuse-previous=on" in rest and not server
        return Connection((match[1] or match[2]) if match is not None else "", user, None if reused else server)
    return Connection(database, user, _server(host, port) or None)


def _unquoted(argument: str) -> str:
    """Return an argument without its quotes, and without semicolons behind it, which psql leaves out of names."""
    return argument.rstrip(";").strip(_QUOTES)


def _server(host: str, port: str) -> str:
    return f"{host}:{port}" if port else host


def names_variable(text: str, name: str) -> bool:
    """Return whether a text may use the variable of that name: as `:name`, `:'name'`, `:"name"` or `:{?name}`."""
    return re.search(rf""":(?:['"]|\{{\?)?{re.escape(name)}(?!\w)""", text) is not None


def substituted(site: str, variables: Mapping[str, str]) -> str | None:
    """Return the text that psql inserts for `:name`, `:'name'`, `:"name"` or `:{?name}` in a statement (psqlscan.l).

    None if the value is unknown or would change where the statement ends.
    """
    value = _value(site, variables)
    return value if value is None or site[1] in "'\"{" or re.fullmatch(_SELF_CONTAINED, value) else None


def _value(site: str, variables: Mapping[str, str]) -> str | None:
    match = re.fullmatch(_SITE, site)
    if match is None:
        return None
    value = variables.get(match[match.lastgroup or 0])
    if value is None:
        return None
    if match["defined"]:
        return "TRUE"
    if match["literal"]:
        quoted = "'" + value.replace("'", "''") + "'"
        # PQescapeLiteral
        return " E" + quoted.replace("\\", "\\\\") if "\\" in value else quoted
    if match["name"]:
        return '"' + value.replace('"', '""') + '"'
    return value


class Piece(Struct, frozen=True):
    """One of the statements of a text after its values are inserted: its offsets in that text, and the (start, end,
    sent) of its variables in its own text."""

    start: int
    end: int
    edits: tuple[tuple[int, int, str], ...]


def pieces(
    text: str,
    sites: Sequence[tuple[int, int]],
    variables: Mapping[str, str],
    split: Callable[[str], Iterable[Statement | PsqlCommand]],
) -> list[Piece]:
    """Return the statements that a text with variables at these offsets is for psql, which reads values as it reads the
    text.

    None of them where a value is not known or names variables or commands itself, where the last of them does not
    end with the text, or where they are too large.
    """
    expanded: list[tuple[int, int, int, int]] = []
    sent, position = "", 0
    for start, end in sites:
        value = _value(text[start:end], variables)
        if value is None or "\\" in value or re.search(_SITE, value) or len(sent) + len(value) > _LARGEST:
            return []
        sent += text[position:start]
        expanded.append((start, end, len(sent), len(sent) + len(value)))
        sent, position = sent + value, end
    sent += text[position:]
    *statements, last = split(f"{sent}\n;{_SENTINEL}")
    if last.text != _SENTINEL or any(isinstance(statement, PsqlCommand) for statement in statements):
        return []
    return [_piece(statement.start, statement.end, sent, expanded) for statement in statements]


_SENTINEL = "SELECT 1"


def _piece(first: int, last: int, sent: str, expanded: Sequence[tuple[int, int, int, int]]) -> Piece:
    start, end = first, last
    edits: list[tuple[int, int, str]] = []
    for site_start, site_end, begin, stop in expanded:
        # Of a value that is cut all of its variable belongs to both parts.
        start = start if first < begin else site_start if first < stop else first + site_end - stop
        end = end if last <= begin else site_end if last <= stop else last + site_end - stop
        if first < stop and begin < last:
            edits.append((site_start, site_end, sent[max(first, begin) : min(last, stop)]))
    return Piece(
        start, end, tuple((site_start - start, site_end - start, value) for site_start, site_end, value in edits)
    )


def interpolated(text: str, variables: Mapping[str, str]) -> str | None:
    """Return a command's argument with its variables; None if one is unknown, or a shell command computes it."""
    if "`" in text:
        return None
    if ":" not in text:
        return text
    unknown, size = False, len(text)

    def value(match: re.Match[str]) -> str:
        nonlocal unknown, size
        replacement = substituted(match[0], variables)
        size += len(replacement or "")
        unknown = unknown or replacement is None or size > _LARGEST
        return replacement or "" if not unknown else ""

    result = re.sub(_SITE, value, text)
    return None if unknown else result


def assign(command: PsqlCommand, variables: MutableMapping[str, str], before: str, *, runs: bool | None) -> bool:
    """Follow a command that sets variables (\\set, \\unset, \\getenv, \\prompt, \\gset); whether it was one.

    What is not known of a value leaves the variable out. ``before`` is the statement before the command; ``runs``:
    whether the command does.
    """
    name, rest = words(command)
    if name == "gset":
        # The columns' names, behind a prefix: without a star each is a word of the query.
        prefix, query_words = rest.strip(), frozenset(re.findall(r"\w+", before.lower()))
        for cleared in [variable for variable in variables if variable.startswith(prefix)]:
            if "*" in before or cleared.removeprefix(prefix).lower() in query_words:
                del variables[cleared]
        return True
    if name not in ("set", "unset", "getenv", "prompt"):
        return False
    arguments = rest.strip().split(None, 1)
    if not arguments:
        return True
    if name == "prompt":
        variables.pop(rest.split()[-1], None)
        return True
    value = _set_value(arguments[1] if len(arguments) > 1 else "", variables) if name == "set" and runs else None
    if arguments[0] in _SWITCHES and runs:
        # psql refuses any other value, and switches off what is unset (variables.c: bool_substitute_hook).
        value = "off" if name == "unset" else value
        if value is not None and not (value == "" or is_true(value) or _is_false(value)):
            return True
    if value is None:
        variables.pop(arguments[0], None)
    else:
        variables[arguments[0]] = value
    return True


def _set_value(text: str, variables: Mapping[str, str]) -> str | None:
    """Return the value of \\set: its arguments, one after the other without blanks between them (command.c)."""
    parts: list[str] = []
    argument = re.compile(_SET_ARGUMENT).match
    position = 0
    while position < len(text):
        match = argument(text, position)
        if match is None or "`" in match[0]:
            return None
        if match["quoted"] is not None and not (parts and parts[-1].endswith(":")):
            parts.append(re.sub(_SET_ESCAPE, _set_escape, match["quoted"]))
        elif match["blank"] is None:
            bare = re.match(r"""[^\s'"]*:(?:'\w+'|"\w+")""", text[position:])
            word = bare[0] if bare is not None else match[0]
            # Double quotes stay, and what is between them is taken as it is.
            expanded = interpolated(word, variables) if match["double"] is None or bare is not None else word
            if expanded is None:
                return None
            parts.append(expanded)
            position += len(word)
            continue
        position = match.end()
    return "".join(parts) if sum(map(len, parts)) <= _LARGEST else None


def _set_escape(match: re.Match[str]) -> str:
    if match["octal"]:
        return chr(int(match["octal"], 8))
    if match["hex"]:
        return chr(int(match["hex"], 16))
    return _SET_LETTERS.get(match["one"], match["one"]) if match["one"] else "'"
