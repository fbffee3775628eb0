"""What is said of statements that the grammar refuses: syntax errors where they are about publications, else that they
were passed over, once a file where it is a template's or another database's."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from pubcheck.diagnostics import Certainty, ServerAnswer, Span
from pubcheck.engine.assumptions import assume_source
from pubcheck.engine.connections import Databases
from pubcheck.engine.unit_notes import Notes
from pubcheck.lexing.items import Statement
from pubcheck.lexing.splitter import Splitter
from pubcheck.postgres.catalog.reasons import MAY_NOT_RUN, VARIABLE
from pubcheck.postgres.parse import SyntaxRefused
from pubcheck.postgres.tokens import in_bytes, tokens
from pubcheck.rulebook import RULES
from pubcheck.source import Source
from pubcheck.statement_index import Statements, StatementText

# Templates and placeholders: what stands there when the text is run is not known.
_PLACEHOLDER = re.compile(r"\{\{|\$\{|#\{|<%|%\(|%[sIqL]\b|@\w+@|:\w|:[\"']")


class SyntaxErrorReporter:
    """Tells of them for one unit."""

    def __init__(self, notes: Notes, databases: Databases, statements: Statements) -> None:
        self.notes, self.databases, self.statements = notes, databases, statements
        self._templates: set[int] = set()
        """Sources of which it was said that something with a placeholder cannot be read."""
        self._ours: set[int] = set()
        """Sources that are no other database's."""

    def explain(
        self,
        source: int,
        statement: StatementText,
        item: Statement,
        splitter: Splitter,
        refusal: SyntaxRefused,
        *,
        conditional: bool,
    ) -> bool:
        """Of one statement of a source. ``perhaps``: whether it runs at all is not known.

        The splitter goes on at the next line that begins as a statement does. False where the whole source is written
        for another database.
        """
        rest = splitter.recover(item)
        if rest is not None:
            self.statements.put(source, item.index, rest.start, rest.end)
        self.databases.at((source, item.index), "this statement cannot be read")
        view = statement.source.view
        quoted = view is not None and view.quoted
        inside = _in_body(statement.text, refusal)
        if not inside and not _about_publications(statement.text):
            return self._skip(source, statement, item, rest, refusal, quoted=quoted)
        # A string may hold no more than the beginning of a statement, or be for people, or a regular expression.
        unsent = quoted and not _sent(statement)
        if unsent and not item.placeholders and refusal.location is not None:
            self.databases.unfollowed(statement.text)
        elif item.placeholders or unsent:
            self.databases.unfollowed(statement.text)
            self.notes.report_unseen(
                statement.span(0),
                statement,
                "this statement about a publication cannot be read: part of it is only known at run time",
                "what it changes is not followed",
            )
        else:
            unknown = VARIABLE if item.variables else MAY_NOT_RUN if conditional or item.perhaps else ""
            self._syntax_error(statement, refusal, unknown, inside)
        return True

    def _skip(
        self,
        source: int,
        statement: StatementText,
        item: Statement,
        rest: Statement | None,
        refusal: SyntaxRefused,
        *,
        quoted: bool,
    ) -> bool:
        """What is not about publications is passed over: all of the statement, or ``rest``, what of it stands before
        the next one. False as ``tell`` gives it; ``quoted``: it stands in a program's string."""
        skipped = item.text if rest is None else rest.text
        # A string may only begin like a statement, or be one for another database.
        if quoted or item.placeholders or _PLACEHOLDER.search(skipped):
            self.databases.unfollowed(skipped)
        if quoted:
            return True
        if source not in self._ours and self._of_another_database(source, statement.source):
            return False
        self._ours.add(source)
        if item.placeholders:
            if source in self._templates:
                return True
            self._templates.add(source)
        if rest is None:
            self._passed_over(statement, refusal)
        else:
            shown = self.statements[source, item.index]
            self.notes.add(
                "PUB005",
                "assumed",
                "this text is not PostgreSQL and was skipped; reading goes on at the next line that begins a statement",
                shown.span(0),
                statement=shown.ref(),
            )
        return True

    def _passed_over(self, statement: StatementText, refusal: SyntaxRefused) -> None:
        at = refusal.location
        related: tuple[Span, ...] = ()
        if at is not None:
            start = statement.place(at)
            end = max(start, statement.place(at + 1, end=True))
            related = (Span(statement.source, start, end, refusal.message),)
        self.notes.add(
            "PUB004",
            "assumed",
            "this statement is not PostgreSQL and was passed over",
            statement.span(0),
            statement=statement.ref(),
            related=related,
        )

    def _of_another_database(self, number: int, source: Source) -> bool:
        """Whether a source with a refused statement is written for another database; that is then said."""
        # Loaded only where a statement is refused.
        from pubcheck.checks.ddl.other_dialects import foreign

        found = foreign(source)
        if found is None:
            return False
        name, at = found
        self.notes.add(
            "PUB008",
            "certain",
            f"this file is written for {name}, not for PostgreSQL, and was passed over"
            if name
            else "hardly a statement of this file is PostgreSQL, and it was passed over",
            Span(source, at, at + 1),
            help="exclude it in the configuration",
        )
        for fold in self.databases.folds:
            assume_source(fold.catalog, number)
        return True

    def _syntax_error(self, statement: StatementText, refusal: SyntaxRefused, unknown: str, inside: str = "") -> None:
        """``unknown`` is what the finding rests on, if anything; ``inside`` is the statement at fault, if it is
        in the body of a function."""
        certainty: Certainty = "assumed" if unknown else "certain"
        # Loaded only where a statement about publications is refused.
        from pubcheck.checks.ddl.syntax_help import code_of_syntax_error, syntax_help
        from pubcheck.checks.remedies import edits
        from pubcheck.checks.remedies.syntax_fixes import correction

        message = refusal.message
        code, detail = code_of_syntax_error(message)
        rule = RULES[code]
        at = refusal.location
        text = statement.text
        if at is None:
            end = statement.place(len(text), end=True)
            span = Span(statement.source, max(statement.start, end - 1), end)
        else:
            span = statement.span(in_bytes(text, at))
        position = None if at is None else at + 1
        if at is None and "end of input" in message:
            position = len(text) + 1
        meant = correction(text) if not inside else None
        fixes = (edits.as_fix(statement, meant, certain=certainty == "certain"),) if meant is not None else ()
        self.notes.diagnostics.extend(
            rule.diagnostic(
                certainty,
                majors,
                f"PostgreSQL cannot read this statement: {said}",
                span,
                help=syntax_help(text) if not inside else _NOT_IN_BODY,
                statement=statement.ref(),
                assumptions=(unknown,) if unknown else (),
                server=ServerAnswer(refusal.sqlstate, said, detail, refusal.hint, position=position),
                fixes=fixes,
            )
            for said, majors in _wordings(message, self.notes.majors)
        )


def _sent(statement: StatementText) -> bool:
    """Whether nothing is added at run time to the string of a program that holds a statement."""
    view = statement.source.view
    return view is not None and any(start <= statement.start < end for start, end in view.sent)


_INNER = (b"create", b"alter", b"drop")
_BEFORE_PUBLICATION = {
    b"explain": _INNER,
    b"grant": (b"on",),
    b"prepare": _INNER,
    b"revoke": (b"on",),
    b"schema": _INNER,
}
"""The word before PUBLICATION by which a statement that begins otherwise is about one; CREATE SCHEMA under "schema"."""


_ROUTINE = re.compile(
    r"\s*create\s+(?:or\s+replace\s+)?(?:function|procedure)\b.*\batomic\b", re.IGNORECASE | re.DOTALL
)
_NOT_IN_BODY = "BEGIN ATOMIC takes no statement about a publication: write the body as a string, AS $$ ... $$"


def _in_body(text: str, refusal: SyntaxRefused) -> str:
    """The statement about a publication in a body of standard SQL that the grammar refuses, "" for another one."""
    if _ROUTINE.match(text) is None:
        return ""
    # Loaded only where such a function is refused.
    from pubcheck.postgres.plpgsql.compile_errors import about_publication

    return about_publication(text, refusal.location)


def _about_publications(text: str) -> bool:
    """Whether a statement that does not parse is CREATE, ALTER, DROP or COMMENT ON PUBLICATION, has such a one in it
    where none can be, is one of a subscription, or ALTER TABLE ... REPLICA IDENTITY."""
    words = [token.lower() for _, token, _ in tokens(text[:1000].encode(errors="surrogatepass"))]
    if words[:3] == [b"comment", b"on", b"publication"]:
        return True
    if not words:
        return False
    before = _BEFORE_PUBLICATION.get(words[0] if words[:2] != [b"create", b"schema"] else b"schema")
    if before is not None:
        return any(first in before and second == b"publication" for first, second in itertools.pairwise(words))
    if words[0] not in (b"create", b"alter", b"drop"):
        return False
    if words[:2] == [b"alter", b"table"]:
        return any(pair == (b"replica", b"identity") for pair in itertools.pairwise(words))
    if words[1:2] == [b"subscription"]:
        return words[3:4] != [b"on"]  # InfluxQL has some of its own
    return words[1:2] == [b"publication"] or words[1:4] == [b"or", b"replace", b"publication"]


_PREFIX_ALONE = re.compile(r"invalid (?:hexadecimal|octal|binary) integer (?=at or near)")


def _wordings(message: str, majors: Sequence[int]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """A syntax error in the words of each of the majors; numbers in other bases came with 16."""
    earlier = tuple(major for major in majors if major < 16) if _PREFIX_ALONE.match(message) else ()
    if earlier:
        yield _PREFIX_ALONE.sub("trailing junk after numeric literal ", message), earlier
    later = tuple(major for major in majors if major not in earlier)
    if later:
        yield message, later
