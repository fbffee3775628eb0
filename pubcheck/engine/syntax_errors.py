"""Report statements that do not parse.

Statements about publications get a syntax error. Other statements get a note that they were skipped, once per file if
the file is a template or for another database.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from pubcheck.checks.misspelt_names import misspelt_keyword
from pubcheck.checks.remedies import edits
from pubcheck.diagnostics import Certainty, ServerAnswer, Span
from pubcheck.engine.assumptions import assume_source
from pubcheck.engine.connections import Databases
from pubcheck.engine.replay import Replay
from pubcheck.engine.unit import Notes
from pubcheck.lexing.items import Statement
from pubcheck.lexing.splitter import Splitter
from pubcheck.postgres import older_grammars
from pubcheck.postgres.catalog.tables import MAY_NOT_RUN, VARIABLE
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.newer_grammar.clauses import UNREAD
from pubcheck.postgres.newer_grammar.statements import parse_newer
from pubcheck.postgres.parse import Node, SyntaxRefused
from pubcheck.postgres.tokens import in_bytes, in_characters, tokens
from pubcheck.postgres.versions import BY_NUMBER, NEWER_GRAMMAR
from pubcheck.rulebook import RULES, finder
from pubcheck.source import Source
from pubcheck.statement_index import Statements, StatementText

_INNER = (b"create", b"alter", b"drop")


_NO_OBJECT = (*_INNER, b"or", b"replace", b"temp", b"temporary", b"unlogged")
"""Words after CREATE, ALTER or DROP that leave open which kind of object follows."""


_BEFORE_PUBLICATION = {
    b"explain": _INNER,
    b"grant": (b"on",),
    b"prepare": _INNER,
    b"revoke": (b"on",),
    b"schema": _INNER,
}
"""The word before PUBLICATION in statements with another first word that are about one. CREATE SCHEMA is under
"schema"."""


_ROUTINE = re.compile(
    r"\s*create\s+(?:or\s+replace\s+)?(?:function|procedure)\b.*\batomic\b", re.IGNORECASE | re.DOTALL
)


def statement_in_body(text: str, refusal: SyntaxRefused) -> str:
    """Return the statement about a publication in a BEGIN ATOMIC body that does not parse, "" for other statements."""
    if _ROUTINE.match(text) is None:
        return ""
    from pubcheck.postgres.plpgsql.compile_errors import about_publication

    return about_publication(text, refusal.location)


def is_about_publications(text: str) -> bool:
    """Return whether a statement that does not parse is about publications.

    That is CREATE, ALTER, DROP or COMMENT ON PUBLICATION, a statement about a subscription, ALTER TABLE ... REPLICA
    IDENTITY, or another statement with such a one in a wrong place.
    """
    words = [token.lower() for _, token, _ in tokens(text[:1000].encode(errors="surrogatepass"))]
    if words[:3] == [b"comment", b"on", b"publication"]:
        return True
    if not words:
        return False
    if misspelt_keyword([word.decode(errors="replace") for word in words[:2]]) is not None:
        return True
    before = _BEFORE_PUBLICATION.get(words[0] if words[:2] != [b"create", b"schema"] else b"schema")
    if before is not None:
        return any(first in before and second == b"publication" for first, second in itertools.pairwise(words))
    if words[0] not in (b"create", b"alter", b"drop"):
        return False
    if words[:2] == [b"alter", b"table"]:
        return any(pair == (b"replica", b"identity") for pair in itertools.pairwise(words))
    if words[1:2] == [b"subscription"]:
        return words[3:4] != [b"on"]  # InfluxQL has some of its own
    first = next((word for word in words[1:] if word not in _NO_OBJECT), b"")
    return first == b"publication"


# Templates and placeholders: the text at run time is unknown.
_PLACEHOLDER = re.compile(r"\{\{|\$\{|#\{|<%|%\(|%[sIqL]\b|@\w+@|:\w|:[\"']")


class RefusedStatement(Struct, frozen=True):
    """One statement of a source that the parser refuses for ``replays``, or only the newer grammar if it is ``newly``
    refused.

    ``conditional``: it is unknown whether it runs.
    """

    source: int
    statement: StatementText
    item: Statement
    refusal: SyntaxRefused
    conditional: bool
    replays: list[Replay]
    newly: bool = False

    @property
    def text(self) -> str:
        """The text that is parsed."""
        return self.statement.text if self.item.edits else self.item.sql


def is_newer(text: str) -> bool:
    """Return whether the newer grammar accepts a statement."""
    try:
        return parse_newer(text) is not None
    except SyntaxRefused:
        return False


def _unfollowed(replays: list[Replay], text: str) -> None:
    for replay in replays:
        replay.session.note_unknown_effect(text)


class SyntaxErrorReporter:
    """Reports the statements of one unit that do not parse."""

    def __init__(self, notes: Notes, databases: Databases, statements: Statements) -> None:
        self.notes, self.databases, self.statements = notes, databases, statements
        self._templates: set[int] = set()
        """Sources for which an unreadable statement with a placeholder was reported."""
        self._postgres_sources: set[int] = set()
        """Sources that are written for PostgreSQL."""
        self._newer_sources: set[int] = set()
        """Sources for which a statement was reported that only a newer grammar accepts."""

    def accepted(self, refused: RefusedStatement) -> tuple[tuple[str, Node], list[Replay]] | None:
        """Return a refused statement as the majors with a newer grammar read it, and their replays.

        None if there is none, or it refuses the statement too. For all other majors the statement is reported.
        """
        newer = [replay for replay in refused.replays if replay.catalog.major.newer_grammar]
        if not newer:
            return None
        try:
            statement = parse_newer(refused.text)
        except SyntaxRefused:
            return None
        if statement is None:
            return None
        older = [replay for replay in refused.replays if replay not in newer]
        if older:
            self._report(refused, None, older, refused.refusal)
        if statement[0] == UNREAD:
            self._skip_newer(refused, newer)
        return statement, newer

    @finder("PUB004")
    def _skip_newer(self, refused: RefusedStatement, replays: list[Replay]) -> None:
        """Skip a statement that only the server can read, with one note per source."""
        reason = "the effect of this statement, which cannot be read"
        for replay in replays:
            replay.catalog.reasons.at, replay.catalog.reasons.text = (refused.source, refused.item.index), reason
            replay.session.note_unknown_effect(refused.text)
        if refused.source in self._newer_sources:
            return
        self._newer_sources.add(refused.source)
        self.notes.add(
            "PUB004",
            "assumed",
            f"pubcheck cannot read this PostgreSQL {NEWER_GRAMMAR} syntax yet and skipped the statement",
            refused.statement.span(0),
            help="objects that it creates are treated as unknown; other such statements in this file are skipped too",
            statement=refused.statement.ref(),
            majors=[replay.major for replay in replays],
        )

    def report_newly_refused(self, refused: RefusedStatement) -> list[Replay]:
        """Report a statement for majors that refuse what the grammar of 18 accepts; return the other replays."""
        older = [replay for replay in refused.replays if not replay.catalog.major.newer_grammar]
        newer = [replay for replay in refused.replays if replay not in older]
        self._postgres_sources.add(refused.source)
        self._report(refused, None, newer, refused.refusal)
        return older

    def report(self, refused: RefusedStatement, splitter: Splitter) -> bool:
        """Report one statement of a source that every major refuses.

        The splitter continues at the next line that begins like a statement. Returns False if the whole source is
        written for another database.
        """
        rest = splitter.recover(refused.item)
        if rest is not None:
            self.statements.put(refused.source, refused.item.index, rest.start, rest.end)
        replays = refused.replays
        newer = [replay for replay in replays if replay.catalog.major.newer_grammar]
        if newer and is_about_publications(refused.statement.text):
            try:
                parse_newer(refused.text)
            except SyntaxRefused as refusal:
                older = [replay for replay in replays if replay not in newer]
                if older:
                    self._report(refused, rest, older, refused.refusal)
                return self._report(refused, rest, newer, refusal)
        return self._report(refused, rest, replays, refused.refusal)

    def _report(
        self, refused: RefusedStatement, rest: Statement | None, replays: list[Replay], refusal: SyntaxRefused
    ) -> bool:
        """Report a statement for the majors of these replays. ``rest`` is its part before the next statement, if that
        is not all of it. The result is that of ``report``."""
        statement, item = refused.statement, refused.item
        for replay in replays:
            replay.catalog.reasons.at = (refused.source, item.index)
            replay.catalog.reasons.text = "the effect of this statement, which cannot be read"
        view = statement.source.view
        quoted = view is not None and view.quoted
        inside = statement_in_body(statement.text, refusal)
        if not inside and not is_about_publications(statement.text):
            return self._skip(refused, rest, replays, quoted=quoted)
        # A string may be only the beginning of a statement, text for people, or a regular expression.
        unsent = quoted and not _sent_text(statement)
        if unsent and not item.placeholders and refusal.location is not None:
            _unfollowed(replays, statement.text)
        elif item.placeholders or unsent:
            _unfollowed(replays, statement.text)
            self.notes.report_unseen(
                statement.span(0),
                statement,
                "this statement about a publication cannot be parsed: part of it is known only at run time",
                "its changes are not analysed",
            )
        else:
            unknown = VARIABLE if item.variables else MAY_NOT_RUN if refused.conditional or item.perhaps else ""
            for earliest, refusing in _by_refusal(statement.text, refusal, replays):
                self._report_syntax_error(statement, earliest, refusing, unknown, inside)
        return True

    @finder("PUB005")
    def _skip(self, refused: RefusedStatement, rest: Statement | None, replays: list[Replay], *, quoted: bool) -> bool:
        """Skip a statement that is not about publications, or ``rest``, the part of it before the next statement.

        Returns the same as ``report``. ``quoted``: the statement is in a program's string.
        """
        source, statement, item = refused.source, refused.statement, refused.item
        skipped = item.text if rest is None else rest.text
        # A string may only begin like a statement, or be for another database.
        if quoted or item.placeholders or _PLACEHOLDER.search(skipped):
            _unfollowed(replays, skipped)
        if quoted:
            return True
        if source not in self._postgres_sources and self._of_another_database(source, statement.source):
            return False
        self._postgres_sources.add(source)
        if item.placeholders:
            if source in self._templates:
                return True
            self._templates.add(source)
        if rest is None:
            self._report_skipped(refused, replays)
        else:
            shown = self.statements[source, item.index]
            self.notes.add(
                "PUB005",
                "assumed",
                "this text is not PostgreSQL and was skipped; parsing continues at the next line that starts one",
                shown.span(0),
                statement=shown.ref(),
            )
        return True

    @finder("PUB004")
    def _report_skipped(self, refused: RefusedStatement, replays: list[Replay]) -> None:
        statement, refusal = refused.statement, refused.refusal
        location = refusal.location
        related: tuple[Span, ...] = ()
        if location is not None:
            start = statement.place(location)
            end = max(start, statement.place(location + 1, end=True))
            related = (Span(statement.source, start, end, refusal.message),)
        if refused.newly:
            message = f"PostgreSQL {NEWER_GRAMMAR} cannot parse this statement, which earlier versions accept"
        elif is_newer(refused.text):
            message = f"this statement is PostgreSQL {NEWER_GRAMMAR} syntax and was skipped"
        else:
            message = "this statement is not PostgreSQL and was skipped"
        self.notes.add(
            "PUB004",
            "assumed",
            message,
            statement.span(0),
            statement=statement.ref(),
            related=related,
            majors=[replay.major for replay in replays],
        )

    @finder("PUB008")
    def _of_another_database(self, number: int, source: Source) -> bool:
        """Return whether a source with a refused statement is written for another database. If so, this is reported."""
        from pubcheck.checks.ddl.other_dialects import foreign

        dialect = foreign(source)
        if dialect is None:
            return False
        name, offset = dialect
        self.notes.add(
            "PUB008",
            "certain",
            f"this file is written for {name}, not for PostgreSQL, and was skipped"
            if name
            else "this file was skipped: hardly any statement in it is PostgreSQL",
            Span(source, offset, offset + 1),
            help="exclude it in the configuration",
        )
        for replay in self.databases.replays:
            assume_source(replay.catalog, number)
        return True

    def _report_syntax_error(
        self,
        statement: StatementText,
        refusal: SyntaxRefused,
        replays: list[Replay],
        unknown: str,
        inside: str = "",
    ) -> None:
        """Report a syntax error for the majors of these replays.

        ``unknown`` is the reason why the finding is assumed, if it is. ``inside`` is the refused statement in the body
        of a function.
        """
        certainty: Certainty = "assumed" if unknown else "certain"
        from pubcheck.checks.ddl.syntax_help import code_of_syntax_error, syntax_help
        from pubcheck.checks.remedies.syntax_fixes import correction

        message = refusal.message
        code, detail = code_of_syntax_error(message)
        detail = refusal.detail or detail
        rule = RULES[code]
        location = refusal.location
        text = statement.text
        if location is None:
            end = statement.place(len(text), end=True)
            span = Span(statement.source, max(statement.start, end - 1), end)
        else:
            span = statement.span(in_bytes(text, location))
        position = None if location is None else location + 1
        if location is None and "end of input" in message:
            position = len(text) + 1
        corrected = correction(text) if not inside else None
        fixes = (edits.as_fix(statement, corrected, certain=certainty == "certain"),) if corrected is not None else ()
        newer = all(replay.catalog.major.newer_grammar for replay in replays)
        self.notes.diagnostics.extend(
            rule.diagnostic(
                certainty,
                majors,
                f"PostgreSQL cannot parse this statement: {wording}",
                span,
                help=syntax_help(text, newer=newer) if not inside else _NOT_IN_BODY,
                statement=statement.ref(),
                mentions=() if location is None else (_token_at(text, location),),
                assumptions=(unknown,) if unknown else (),
                server=ServerAnswer(refusal.sqlstate, wording, detail, refusal.hint, position=position),
                fixes=fixes,
            )
            for wording, majors in _wordings(message, [replay.major for replay in replays])
        )


def _token_at(text: str, location: int) -> str:
    """Return the token at which the parser stops, which its message quotes."""
    rest = tokens(text.encode(errors="surrogatepass"), in_bytes(text, location))
    return next((token.decode(errors="replace") for _, token, _ in rest), "")


def _sent_text(statement: StatementText) -> bool:
    """Return whether a program sends the string with this statement as it is, with nothing added at run time."""
    view = statement.source.view
    return view is not None and any(start <= statement.start < end for start, end in view.sent)


_NOT_IN_BODY = "a BEGIN ATOMIC body cannot contain statements about publications: write it as a string, AS $$ ... $$"


def _by_refusal(
    text: str, refusal: SyntaxRefused, replays: Sequence[Replay]
) -> Iterator[tuple[SyntaxRefused, list[Replay]]]:
    """Yield the first errors of parsers, each with the replays whose parsers raise it.

    Those of earlier majors may stop before the place of ``refusal``, or refuse the token there for another reason.
    """
    stop = in_bytes(text, refusal.location)
    data = text.encode(errors="surrogatepass")
    by_message: dict[tuple[int, str], tuple[SyntaxRefused, list[Replay]]] = {(stop, refusal.message): (refusal, [])}
    for replay in replays:
        first = stop, refusal.message
        try:
            older_grammars.check(replay.catalog.major, data)
        except ServerError as error:
            if error.location is not None and error.location <= stop:
                first = error.location, error.message
                by_message.setdefault(first, (SyntaxRefused(error.message, in_characters(data, error.location)), []))
        by_message[first][1].append(replay)
    yield from (pair for pair in by_message.values() if pair[1])


_PREFIX_ALONE = re.compile(r"invalid (?:hexadecimal|octal|binary) integer (?=at or near)")


def _wordings(message: str, majors: Sequence[int]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the wording of a syntax error for each major."""
    earlier = (
        tuple(major for major in majors if not BY_NUMBER[major].nondecimal_integers)
        if _PREFIX_ALONE.match(message)
        else ()
    )
    if earlier:
        yield _PREFIX_ALONE.sub("trailing junk after numeric literal ", message), earlier
    later = tuple(major for major in majors if major not in earlier)
    if later:
        yield message, later
