"""Shell scripts: what psql is given, in here-documents, with -c and in strings that begin as statements do.

Read so as well are what holds such commands: makefiles, those of images, Terraform's.

Follows the quoting of POSIX sh (XCU 2.2, 2.7.4). A name represents text that the shell substitutes. The
commands around are blank except for what they say to psql: of `psql -d app -v t=orders` come \\set and, where a script
speaks to several databases or servers, \\connect, if there is room for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.extract.concatenation import pieces
from pubcheck.extract.embedded_sql import MENTION, Written, assembled, begins_statement, worked_out
from pubcheck.extract.masked_text import Canvas, joined
from pubcheck.lexing.psql import HOME
from pubcheck.source import View

_MOST_FAILURES = 64
_HOLE_LENGTH = 400

_OPENING = (
    r"(?P<escape>\\(?s:.))"
    r"|(?P<comment>(?<![^\s;&|()])\#[^\n]*+)"
    r"|(?P<here><<(?!<)(?P<dash>-?)[ \t]*(?P<quote>['\"]?)(?P<backslash>\\?)(?P<tag>[A-Za-z_][\w.-]*)(?P=quote))"
    r"|(?P<ansi>\$')|(?P<single>')|(?P<double>\")"
)
_OPENINGS = re.compile(_OPENING), re.compile(rf'(?P<inner>\\")|{_OPENING}')
"""The patterns for a script, and for a command that is itself in double quotes."""
_SINGLE = re.compile(r"[^']*+")
_ANSI = re.compile(r"(?:[^'\\]++|\\(?s:.))*+")
_DOUBLE = re.compile(r'(?:[^"\\$`]++|\\(?s:.))*+')
_INNER = re.compile(r'(?:[^"\\$`]++|\\(?![\\"$`])(?s:.)|\\\\(?:\\(?s:.))?+)*+')
_HOLE = re.compile(r"\$\{|\$\(|\$(?=[A-Za-z_@*#?0-9!-])|`")
_NAME = re.compile(r"\$(?:[A-Za-z_]\w*+|[@*#?0-9!-])")
_INSIDE = re.compile(r"""[^(){}"'\\]++|"(?:[^"\\]++|\\.)*+"|'[^']*+'|\\(?s:.)|["']""")
_PSQL = re.compile(r"\bpsql\b")
_ARGUMENT = re.compile(r"(?:(?<=\s)-[A-Za-z0-9]*c|--command)[= \t]*(?:\\\r?\n[ \t]*)?$")
_SHOWN = re.compile(
    r"(?:^|[;&|{@]|\b(?:then|do|else)\s)\s*[@-]?\s*(?:(?:echo|printf|print|die|usage|help|fail|abort)\b[^;|&>]*"
    r"|(?:\w+_)?(?:log|info|warn|warning|error|err|debug|msg|message|say)(?:_\w+)?[ \t][^;|&>]*|cat[ \t]*<<[^|>]*)\Z"
)
"""A command that shows a text to people, up to the text."""
_ENDS = re.compile(r"[^\n;&|>]*+(?:\n|;|&&|\|\||\Z)")
"""The end of a command: nothing after the text reads it."""
_PIPED = re.compile(r"(?:[})]|\bdone)\s*(?:\|(?!\|)|>)")
"""A pipe or redirection that takes the output of all commands before it."""
_STARTS = re.compile(
    r"(?:\s|--[^\n]*+\n|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/|\\[a-z][^\n]*+\n)*+(?ai:create|alter|drop|do|begin|start|set|"
    r"select|insert|update|delete|grant|revoke|comment|truncate|copy|with|call|reset|reindex|vacuum|analyze)\b"
)
_SURROUNDINGS = re.compile(
    r"(?:(?<=\s)-[dhp][ \t]*|--(?:dbname|host|port)[= \t]|\b(?:exec|run|ssh)[ \t]+(?:-{1,2}\w+[ \t]+)*)"
    r"([\w\"'${}:?/.@=-]+)"
)
_DATABASE = re.compile(
    r"\bpsql\b(?:[ \t]+(?:-[dhpULvPFRTofc][ \t]+[^\s-]\S*|--(?:dbname|host|port|username|set|variable)[ \t]+\S+"
    r"|-\S*))*+[ \t]+([^\s<>|&;-]\S*)"
)
"""psql's first argument that is not an option."""
_LIBPQ = frozenset(("PGHOST", "PGHOSTADDR", "PGPORT", "PGDATABASE", "PGSERVICE"))
_ASSIGNMENT = re.compile(r"(?<![\w$?&/=-])([A-Za-z_]\w*+)=([^\s;]*+)(?:[ \t;]|$)*+([^\n]?)")
"""A variable that is set: its name and value; and whether more comes in the line, which it then holds for."""
_USED = re.compile(r"\$\{?(\w+)")
_REST = re.compile(r"[^\n;|&]*+")
_LONGEST_COMMAND = 2000
_LINE_END = re.compile(r"[\r\n]")
_VARIABLE = re.compile(
    r"(?:(?<=\s)-v[ \t]*|--(?:set|variable)[= \t])(?P<quote>['\"]?)(?P<name>\w+)=(?P<value>[\w.]+)(?P=quote)(?=\s|$)"
)
_BLOCK = re.compile(
    r"^[ \t]*(?:(?P<opens>(?:if|for|while|until|case|select)\b|(?:function\s+)?[\w:-]+\s*\(\)\s*\{|function\s+\w+\s*\{)"
    r"|(?P<closes>(?:fi|done|esac)\b|\}))",
    re.MULTILINE,
)


class _Text(Struct, frozen=True):
    """A text that the shell hands to a command: its place with its quotes and without, how it escapes, what the shell
    puts in, and whether it is a here-document."""

    start: int
    body: int
    close: int
    end: int
    escapes: str
    holes: tuple[tuple[int, int], ...]
    is_heredoc: bool = False


def shell(text: str) -> View:
    """Return a shell script's statements."""
    arguments = sql_arguments(text, 0, len(text))
    unseen = [argument.written.unseen for argument in arguments if argument.written.unseen >= 0]
    view = assembled(text, [argument.written for argument in arguments], unseen, in_order=True)
    commands, unplaced = _commands(text, arguments)
    sheet = Canvas(text)
    copied_to = 0
    for place, command in commands:
        sheet.put(copied_to, view.text[copied_to:place])
        sheet.put(place, command)
        copied_to = place + len(command)
    sheet.put(copied_to, view.text[copied_to:])
    return replace(view, text=sheet.text(), perhaps=joined((*_conditions(text), *unplaced)))


_DOUBLED = re.compile(r"(?P<pairs>(?:\$\$){2,})|\$\$(?P<next>[A-Za-z_{(]?)")


def makefile(text: str) -> View:
    """Return a makefile's statements: recipes are shell scripts, in which a dollar sign is doubled."""
    return shell(_DOUBLED.sub(_of_the_shell, text))


def _of_the_shell(match: re.Match[str]) -> str:
    """Return what the inner shell gets for doubled dollar signs, in as many characters: names get longer."""
    if match["pairs"]:
        return match["pairs"][::2].rjust(len(match["pairs"]))
    opening = match["next"]
    return "${_" if opening == "{" else "$( " if opening == "(" else f"$_{opening}" if opening else " $"


class SqlArgument(Struct, frozen=True):
    """The SQL that a command is given, and where the command is. A here-document begins on a line of its own."""

    written: Written
    start: int
    end: int
    is_heredoc: bool
    within: str = ""
    """The command that is given this one."""


def sql_arguments(text: str, start: int, end: int, *, within: str = "", quoted: bool = False) -> list[SqlArgument]:
    """Return the SQL that psql is given between two offsets of a text.

    ``within``: the text is an argument of another command; ``quoted``: it is in double quotes.
    """
    arguments: list[SqlArgument] = []
    for piece in _Scanner(text, start, end, quoted=quoted).texts():
        before = _command_before(text, piece.start, start)
        command = text[before : piece.body if piece.is_heredoc else piece.start]
        of_psql = _PSQL.search(command) is not None
        if (
            _SHOWN.search(command)
            and _ENDS.match(text, piece.start if piece.is_heredoc else piece.end)
            and not _PIPED.search(text, piece.end, end)
        ):
            continue
        if piece.is_heredoc:
            if of_psql or _STARTS.match(text, piece.body, piece.close):
                arguments.append(
                    SqlArgument(_heredoc_sql(text, piece), before, piece.body, is_heredoc=True, within=within)
                )
                continue
        elif begins_statement(text, piece.body, piece.close) or (of_psql and _ARGUMENT.search(command)):
            group = list(pieces(text, piece.body, piece.close, piece.escapes, piece.holes))
            written = worked_out(text, group, piece.close, runs=of_psql and _ARGUMENT.search(command) is not None)
            arguments.append(SqlArgument(written, before, piece.start, is_heredoc=False, within=within))
            continue
        if _PSQL.search(text, piece.body, piece.close) and MENTION.search(text, piece.body, piece.close):
            # A command in a command: `sh -c "psql -c '...'"`, or `ssh host <<EOF`.
            outer = f"{within} {text[before : piece.start]} "
            arguments += sql_arguments(text, piece.body, piece.close, within=outer, quoted=piece.escapes == "shell")
    return arguments


def _command_before(text: str, offset: int, start: int) -> int:
    """Return the start of the command at an offset: its line, or the line that it continues."""
    start = max(start, offset - _LONGEST_COMMAND)
    line = text.rfind("\n", start, offset) + 1
    while line > start + 1 and text[line - 2] == "\\":
        line = text.rfind("\n", start, line - 1) + 1
    return max(line, start)


def _heredoc_sql(text: str, heredoc: _Text) -> Written:
    """Return a here-document unchanged: it is a psql script and may hold psql commands and COPY data."""
    group = list(pieces(text, heredoc.body, heredoc.close, heredoc.escapes, heredoc.holes))
    if all(piece.exact for piece in group):
        about = MENTION.search(text, heredoc.body, heredoc.close)
        position = about.start() if about is not None else -1
        return Written(
            heredoc.body, heredoc.close, text[heredoc.body : heredoc.close], [], [], position, sent=about is not None
        )
    return worked_out(text, group, heredoc.close)


def _commands(text: str, arguments: list[SqlArgument]) -> tuple[list[tuple[int, str]], list[tuple[int, int]]]:
    """Return psql's options as commands, each with a place that has room for it, and the spans of SQL for another
    database or server that leave no room for such a command."""
    commands: list[tuple[int, str]] = []
    unplaced: list[tuple[int, int]] = []
    places: dict[str, int] = {}
    current = free_from = 0
    surroundings = _Surroundings(text)
    for argument in arguments:
        command = text[argument.start : argument.end]
        if not _PSQL.search(command):
            continue
        after = min(argument.written.end + 1, len(text))
        rest = "" if argument.is_heredoc else _REST.match(text, after, after + _LONGEST_COMMAND)[0]  # type: ignore[index]
        place = surroundings.place(f"{argument.within}{command}x{rest}", argument.start)
        number = places.setdefault(place, len(places))
        psql_commands = (
            [f"\\set {variable['name']} {variable['value']}" for variable in _VARIABLE.finditer(command)]
            if argument.is_heredoc
            else []
        )
        if number != current:
            psql_commands.insert(0, f"\\c {_short(place, number)}")
        if not psql_commands:
            free_from = argument.written.end + 1
            continue
        line = " \\\\ ".join(psql_commands) + ("" if argument.is_heredoc else " \\\\")
        begin = max(argument.start, free_from)
        ends = _LINE_END.search(text, begin, argument.end)
        room = argument.end if ends is None else ends.start()
        if len(line) <= room - begin and (argument.is_heredoc or ends is None):
            commands.append((begin, line))
            current = number
        elif number != current:
            unplaced.append((argument.written.start, argument.written.end))
        free_from = argument.written.end + 1
    return commands, unplaced


class _Surroundings:
    """The variables that a script has set so far; asked in the order of the text."""

    def __init__(self, text: str) -> None:
        self._coming = _ASSIGNMENT.finditer(text)
        self._next = next(self._coming, None)
        self._times: dict[str, int] = {}
        self._libpq: dict[str, str] = {}

    def place(self, command: str, offset: int) -> str:
        """Return the database and server that a command at an offset speaks to, as far as the script tells them apart:
        what its options, its first argument and libpq's variables say, and how often the variables in that were set."""
        while self._next is not None and self._next.start() < offset:
            name, value, rest = self._next.groups()
            self._times[name] = self._times.get(name, 0) + 1
            if name in _LIBPQ and not rest:
                self._libpq[name] = value
            self._next = next(self._coming, None)
        settings = _SURROUNDINGS.findall(command)
        argument = _DATABASE.search(command)
        if argument is not None:
            settings.append(argument[1])
        variables = self._libpq | {match[1]: match[2] for match in _ASSIGNMENT.finditer(command) if match[1] in _LIBPQ}
        settings += (f"{name}={variables[name]}" for name in sorted(variables))
        place = "@".join(setting.strip("\"'") for setting in settings)
        return "@".join([place, *(f"{self._times[name]}" for name in _USED.findall(place) if name in self._times)])


def _short(place: str, number: int) -> str:
    """Return the view's name for a place: its database if nothing else is known about it."""
    return HOME if number == 0 else place if re.fullmatch(r"[A-Za-z]\w{0,30}", place) else f"s{number}"


def _conditions(text: str) -> Iterator[tuple[int, int]]:
    """Return the spans of conditions, loops and functions, as far as lines show them."""
    depth = start = 0
    for match in _BLOCK.finditer(text):
        if match["opens"]:
            if depth == 0:
                start = match.start()
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                yield start, match.end()
    if depth:
        yield start, len(text)


class _Scanner:
    """Return the text without its escapes, if ``quoted`` within double quotes."""

    def __init__(self, text: str, start: int, end: int, *, quoted: bool) -> None:
        self.text, self.start, self.limit = text, start, end
        self.opening = _OPENINGS[quoted]
        self.failures = 0

    def texts(self) -> Iterator[_Text]:
        text, limit = self.text, self.limit
        pos, line_end, resume = self.start, -1, -1
        while True:
            match = self.opening.search(text, pos, line_end if line_end >= 0 else limit)
            if match is None:
                if line_end < 0:
                    return
                pos, line_end = resume, -1
                continue
            kind, pos = match.lastgroup, match.end()
            if match["here"] is not None:
                eol = text.find("\n", pos, limit) if line_end < 0 else line_end
                if eol >= 0 and not _arithmetic(text, match.start()):
                    heredoc = self._heredoc(match, resume if line_end >= 0 else eol + 1)
                    if heredoc is not None:
                        line_end, resume = eol, heredoc.end
                        yield heredoc
            elif kind not in ("escape", "comment"):
                quoted = self._quoted(str(kind), match.start(), pos)
                if quoted is not None:
                    yield quoted
                    pos = quoted.end
            if line_end >= 0 and pos > line_end:
                pos, line_end = max(pos, resume), -1

    def _quoted(self, kind: str, start: int, body: int) -> _Text | None:
        text, limit = self.text, self.limit
        holes: list[tuple[int, int]] = []
        if kind in ("double", "inner"):
            plain, closing = (_DOUBLE, '"') if kind == "double" else (_INNER, '\\"')
            offset = body
            while True:
                offset = plain.match(text, offset, limit).end()  # type: ignore[union-attr]
                if offset >= limit or text.startswith(closing, offset):
                    break
                # Behind a backslash it is the inner command that puts something in.
                sign = offset + (text[offset] == "\\")
                hole = self._hole_end(sign, limit)
                if hole > sign + 1:
                    holes.append((offset, hole))
                offset = hole
        else:
            offset = (_ANSI if kind == "ansi" else _SINGLE).match(text, body, limit).end()  # type: ignore[union-attr]
        if offset >= limit:
            return None
        escapes = {"double": "shell", "inner": "inner shell", "ansi": "c", "single": "none"}[kind]
        return _Text(start, body, offset, offset + (2 if kind == "inner" else 1), escapes, tuple(holes))

    def _heredoc(self, match: re.Match[str], begin: int) -> _Text | None:
        text = self.text
        if self.failures >= _MOST_FAILURES:
            return None
        # In a file within a file the closing line may be further in than the shell will see it.
        closing = re.compile(rf"^[ \t]*{re.escape(match['tag'])}[ \t\r]*$", re.MULTILINE).search(
            text, begin, self.limit
        )
        if closing is None:
            self.failures += 1
            return None
        close = closing.start()
        if match["quote"] or match["backslash"]:
            return _Text(match.start(), begin, close, closing.end(), "none", (), is_heredoc=True)
        holes: list[tuple[int, int]] = []
        position = begin
        while (hole := _HERE_HOLE.search(text, position, close)) is not None:
            position = hole.end()
            if not hole["escape"]:
                end = self._hole_end(hole.start(), close)
                if end > hole.start() + 1:
                    holes.append((hole.start(), end))
                position = max(position, end)
        return _Text(match.start(), begin, close, closing.end(), "here", tuple(holes), is_heredoc=True)

    def _hole_end(self, offset: int, limit: int) -> int:
        """Return the end of what the shell puts in; one character on where it puts in nothing."""
        text = self.text
        opened = _HOLE.match(text, offset, limit)
        if opened is None:
            return offset + 1
        if opened[0] == "$":
            named = _NAME.match(text, offset, limit)
            return named.end() if named is not None else offset + 1
        stop = min(limit, offset + _HOLE_LENGTH)
        if opened[0] == "`":
            closed = text.find("`", offset + 1, stop)
            return closed + 1 if closed >= 0 else offset + 1
        if self.failures >= _MOST_FAILURES:
            return offset + 1
        pos, depth = opened.end(), 1
        while pos < stop:
            char = text[pos]
            if char in "({":
                depth += 1
                pos += 1
            elif char in ")}":
                depth -= 1
                pos += 1
                if depth == 0:
                    return pos
            else:
                part = _INSIDE.match(text, pos, stop)
                pos = part.end() if part is not None else pos + 1
        self.failures += 1
        return offset + 1


_HERE_HOLE = re.compile(r"(?P<escape>\\[$`\\])|\$\{|\$\(|\$(?=[A-Za-z_@*#?0-9!-])|`")


def _arithmetic(text: str, offset: int) -> bool:
    """Return whether `<<` shifts, in `$((1<<X))`."""
    line = text[max(0, text.rfind("\n", 0, offset)) : offset]
    return line.count("((") > line.count("))")
