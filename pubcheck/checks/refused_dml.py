"""Report statements in the files that a publication forbids at that point (``checks.write.written_dml``).

If the write is still refused at the end of the unit, that finding points at these statements. Otherwise a later
statement fixes it, and there is one finding per table, operation and interval of the history, at the first of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.checks.context import RELATED
from pubcheck.checks.grounds import Grounds
from pubcheck.checks.messages import writes as texts
from pubcheck.checks.write.replica_identity import Refusal, RefusedDml, Write
from pubcheck.checks.write.write_refusal_history import RefusedWrites
from pubcheck.checks.write.written_dml import NAME, DmlRefusal, may_be_refused, stopped
from pubcheck.diagnostics import Diagnostic, ServerAnswer, Span, StatementRef
from pubcheck.lexing.items import Statement
from pubcheck.postgres.catalog.rows import Place
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.newer_grammar import parse_with
from pubcheck.postgres.parse import Node, SyntaxRefused, TooDeep
from pubcheck.postgres.session import Session
from pubcheck.postgres.tokens import folded
from pubcheck.rulebook import RULES, finder
from pubcheck.source import Source, has_unknown_order
from pubcheck.statement_index import Statements, StatementText


class _RefusalInterval(Struct):
    """An interval in which a write is refused for one reason: its first refused statement, and others."""

    first: Diagnostic
    further: list[Span] = []
    count: int = 0
    earliest: list[tuple[int, Span]] = []
    latest: list[tuple[int, Span]] = []
    """The first few refused statements and the last few, each with its ``RefusedDml.clock``."""


_PREPARED = re.compile(rf"(?:prepare|execute|deallocate)\s+(?:prepare\s+)?({NAME})", re.IGNORECASE)


_FIRST = ("whether another error is raised first",)


class RefusedDmlCollector:
    """Collects the refused statements of one major."""

    def __init__(self, session: Session, refused: RefusedWrites, grounds: Grounds) -> None:
        self._session, self._refused, self._grounds = session, refused, grounds
        self._intervals: dict[tuple[int, Write, Place], dict[tuple[ServerAnswer, bool], _RefusalInterval]] = {}
        self._still: set[tuple[int, Write, Place]] = set()
        """The keys of the intervals that last to the end of the unit."""

    # Meeting statements.

    def skip(self, source: Source, number: int, item: Statement) -> None:
        """Check a statement that has not been parsed, if it may be refused. ``number`` is the number of its source."""
        if item.perhaps or item.placeholders or item.variables or has_unknown_order(source):
            return
        statement = StatementText(source, item.index, item.start, item.text)
        if item.edits:
            statement = replace(statement, text=item.sent(), edits=item.edits)
        text = statement.text if item.edits else item.sql
        if item.keyword in ("prepare", "deallocate"):
            self._prepare(item.keyword, text)
        elif self._refused and may_be_refused(self._session, self._refused, text):
            try:
                parsed = parse_with(self._session.catalog.major.newer_grammar, text)
            except (SyntaxRefused, TooDeep):
                return
            if parsed is not None:
                self.check(statement, number, *parsed)

    def _prepare(self, keyword: str, text: str) -> None:
        name = _PREPARED.match(text)
        if keyword == "prepare" and name is not None:
            self._session.prepared[folded(name[1].encode())] = text
        elif name is not None and name[1].lower() != "all":
            self._session.prepared.pop(folded(name[1].encode()), None)
        elif keyword == "deallocate":
            self._session.prepared.clear()

    def check(self, statement: StatementText, number: int, name: str, node: Node) -> None:
        """Check a parsed statement that changes no catalog. ``number`` is the number of its source."""
        self._session.begin_statement(number, statement.index, statement.text)
        stop = self.stop(name, node)
        if stop is not None:
            self.record(self.describe(statement, stop))

    def stop(self, name: str, node: Node, enclosing_block: str = "") -> DmlRefusal | None:
        """Return why the current statement is refused (``written_dml.stopped``); the catalog stays unchanged."""
        journal = self._session.catalog.journal
        mark = journal.mark()
        try:
            executed = node if name == "ExecuteStmt" else node.get("query", {}).get("ExecuteStmt")
            if executed is None:
                return stopped(self._session, self._refused, name, node, enclosing_block)
            prepared = parse_with(
                self._session.catalog.major.newer_grammar, self._session.prepared.get(executed["name"], "")
            )
            stop = stopped(self._session, self._refused, *prepared) if prepared is not None else None
            return stop and replace(stop, start=0)
        except (SyntaxRefused, TooDeep):
            return None
        finally:
            journal.undo(mark)
            self._session.forget_path()

    def error(self, statement: StatementText, stop: DmlRefusal) -> ServerError:
        """Return the error of a statement inside a block, with its diagnostic: the error undoes the block's changes."""
        answer = stop.refusal.server
        error = ServerError(
            answer.sqlstate,
            answer.message,
            key="write-refused",
            detail=answer.detail,
            hint=answer.hint,
            culprit=stop.start,
        )
        error.evidence = self.describe(statement, stop)
        return error

    @finder("PUB138")
    def describe(self, statement: StatementText, stop: DmlRefusal) -> RefusedDml:
        """Return a refused statement with its diagnostic, for the current state."""
        catalog, refusal = self._session.catalog, stop.refusal
        relation = catalog.relations[refusal.relation]
        key = refusal.relation, refusal.operation, self._refused.since(refusal.relation, refusal.operation)
        diagnostic = RULES["PUB138"].diagnostic(
            "certain" if stop.certain else "assumed",
            (catalog.major.number,),
            f"{stop.verb} {relation.name} is refused here: {texts.reason(catalog, refusal)}",
            statement.span(stop.start),
            statement=statement.ref(),
            object=self._session.qualified(relation),
            publications=(catalog.publications[refusal.publication].name,),
            operation=refusal.operation,
            mentions=(catalog.publications[refusal.publication].name, refusal.column),
            server=refusal.server,
            assumptions=() if stop.certain else self._grounds.of_refusal(refusal) or _FIRST,
        )
        return RefusedDml(key, diagnostic, self._refused.clock)

    def record(self, met: RefusedDml) -> None:
        """Keep a refused statement with its diagnostic."""
        diagnostic = met.diagnostic
        assert diagnostic.server is not None
        intervals = self._intervals.setdefault(met.key, {})
        interval = intervals.setdefault(
            (diagnostic.server, diagnostic.certainty == "certain"), _RefusalInterval(diagnostic)
        )
        interval.latest.append((met.clock, diagnostic.span))
        del interval.latest[:-RELATED]
        if len(interval.earliest) < RELATED:
            interval.earliest.append((met.clock, diagnostic.span))
        if interval.first is not diagnostic:
            interval.count += 1
            if len(interval.further) < RELATED:
                interval.further.append(replace(diagnostic.span, message="is refused too"))

    # Results.

    def end(self, refused: Iterable[tuple[Refusal, Place]]) -> None:
        """Note which writes are refused at the end of the unit."""
        writes = {(refusal.relation, refusal.operation) for refusal, _ in refused}
        self._still = {(*write, self._refused.since(*write)) for write in writes}

    def still_refused(self, refusal: Refusal) -> tuple[Span, ...]:
        """Return the statements that were refused earlier because of ``refusal``, which lasts to the end."""
        key = refusal.relation, refusal.operation, self._refused.since(refusal.relation, refusal.operation)
        intervals, came = self._intervals.get(key, {}).values(), self._refused.came(refusal)
        met = dict.fromkeys(span for row in intervals for span in (*row.earliest, *row.latest))
        spans = [span for clock, span in met if clock >= came]
        return tuple(replace(span, message="is refused already") for span in spans[:RELATED])

    def earliest(self, oid: int) -> StatementRef | None:
        """Return the first statement on a table that was refused in an interval that lasts to the end."""
        lasting = (intervals for key, intervals in self._intervals.items() if key[0] == oid and key in self._still)
        return next((interval.first.statement for intervals in lasting for interval in intervals.values()), None)

    def resolved_later(self, statements: Statements) -> Iterator[Diagnostic]:
        """Yield the remaining findings: later statements fix these refusals."""
        relations = self._session.catalog.relations
        for (oid, write, since), intervals in self._intervals.items():
            if (oid, write, since) in self._still:
                continue
            until = self._refused.until(oid, write, since) if oid in relations else None
            cause = statements[since.source, since.statement].span(since.start, since.end, "is refused since here")
            for interval in intervals.values():
                first, remedies, related = interval.first, [], [cause]
                if until is not None and not _within(first, statements[until]):
                    end = statements[until].span(0, message="is allowed again from here on")
                    remedies.append(f"run it after {_line(first.span, end)}, which fixes this")
                    related.append(end)
                created = relations[oid].place if oid in relations else None
                if created is None or (created.source, created.statement) != (since.source, since.statement):
                    remedies.append(f"run it before {_line(first.span, cause)}, which forbids it")
                else:
                    remedies.append(
                        f"give the table a replica identity on {_line(first.span, cause)}, where it is created"
                    )
                more = f"; so {'is' if interval.count == 1 else 'are'} {interval.count} more" if interval.count else ""
                yield replace(
                    first,
                    message=f"{first.message}{more}",
                    help="; or ".join(remedies),
                    related=(*related, *interval.further),
                )


def _within(diagnostic: Diagnostic, statement: StatementText) -> bool:
    """Return whether a finding is about a statement or one inside it: a refused block undoes its changes."""
    ref = diagnostic.statement
    return ref is not None and (ref.source, ref.index) == (statement.source, statement.index)


def _line(origin: Span, span: Span) -> str:
    line = f"line {span.source.text.count(chr(10), 0, span.start) + 1}"
    return line if span.source is origin.source else f"{line} of {span.source.label}"
