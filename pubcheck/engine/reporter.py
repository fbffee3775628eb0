"""Report on single statements: refusals, unknown names, and filters with a surprising meaning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.checks.grounds import Grounds
from pubcheck.checks.write.write_refusal_history import Change
from pubcheck.diagnostics import (
    Applicability,
    Assumption,
    Certainty,
    Diagnostic,
    Edit,
    Fix,
    ServerAnswer,
    Span,
    StatementRef,
)
from pubcheck.faults import Faults
from pubcheck.postgres.catalog import RELATION
from pubcheck.postgres.catalog.rows import Place, PublicationRel
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.statement_context import Basis
from pubcheck.postgres.tokens import names_in, place_of_name, qualified
from pubcheck.rulebook import RULES, Rule, finder
from pubcheck.source import utf8
from pubcheck.statement_index import Statements, StatementText

if TYPE_CHECKING:
    from typing import TypedDict

    from pubcheck.checks.messages.row_filters import FilterExplanation
    from pubcheck.checks.misspelt_names import Missing, Suggestion

    class _Answer(TypedDict):
        statement: StatementRef
        object: str | None
        publications: tuple[str, ...]
        mentions: tuple[str, ...]
        server: ServerAnswer
        notices: tuple[str, ...]
        assumptions: tuple[Assumption, ...]


_DUPLICATE = "42710"
_SETTINGS = {"zone": "timezone", "datestyle": "datestyle"}
_NAMED = ("index", "column", "publication", "relation")
"""Arguments of an error, the one that it is about first."""
_MAX_REWRITINGS = 200
"""The maximum number of refused filters for which a rewriting is searched, at about a millisecond each."""


class _NotCreated(Struct, frozen=True):
    """A note that something is not created.

    ``number`` is its index in the diagnostics, ``names`` the missing names as the message has them. ``in_public``: the
    statement qualifies one of them with the schema public.
    """

    number: int
    note: Diagnostic
    names: dict[Missing, str]
    in_public: bool


def _name_fix(note: Diagnostic, name: str) -> Fix:
    """Return the fix that replaces the name at a finding."""
    plain = note.span.source.view is None and note.statement is not None and not note.statement.embedded
    new = qualified(name)
    return Fix(f"Write {new}", "unsafe" if plain else "display", (Edit(note.span, new),) if plain else ())


class StatementReporter:
    """Turns the server's answers of one major into diagnostics."""

    def __init__(self, session: Session, faults: Faults, statements: Statements) -> None:
        self.session, self._faults, self._grounds = session, faults, Grounds(session, statements)
        self.majors = (session.catalog.major.number,)
        self.diagnostics: list[Diagnostic] = []
        self.repeats: list[tuple[int, Place, str]] = []
        """Findings that refer to an earlier definition: their index, the place, and the text there."""
        self.missing: list[_NotCreated] = []
        self.offered: set[Span] = set()
        """Places of findings about missing names that suggest another name."""
        self._rewritings = 0
        self._misspelt_tables: set[str] = set()
        """Tables that are not created and whose names are similar to one that is."""

    def refuse(self, statement: StatementText, error: ServerError, basis: Basis) -> None:
        """Report that the server refuses the statement. ``basis`` is what the refusal rests on."""
        from pubcheck.checks.messages import refusals

        rule = refusals.rule_of(error)
        certainty: Certainty = "certain" if basis.certain else "assumed"
        words = self._faults.value(statement, None, self._filter_explanation, error)
        answer = self.answer(statement, error, basis)
        if words is None:
            message, help_text = self._faults.value(statement, (error.message, None), refusals.explain, error)
            if error.sqlstate == _DUPLICATE:
                from pubcheck.checks.history.duplicates import earlier_definition

                earlier = self._faults.value(statement, None, earlier_definition, self.session, error)
                if earlier is not None:
                    self.repeats.append((len(self.diagnostics), *earlier))
            fixes = self._fixes(rule, statement, error, certain=certainty == "certain")
            span = statement.span(self._culprit(statement, error))
            diagnostic = rule.diagnostic(certainty, self.majors, message, span, help=help_text, fixes=fixes, **answer)
            self._record_missing(diagnostic, [error])
            self.diagnostics.append(diagnostic)
            return
        span = statement.span(words.start, words.end)
        fixes = () if words.title else self._fixes(rule, statement, error, certain=certainty == "certain")
        if words.title:
            end = statement.offset(words.edit_end, end=True)
            edited = Span(statement.source, statement.offset(words.edit_start), end)
            applicability: Applicability = "safe" if words.safe and certainty == "certain" else "unsafe"
            view = statement.source.view
            in_string = bool(statement.embedded) and "'" in words.text
            if statement.edits or in_string or (view is not None and view.quoted):
                applicability = "display"  # the source text is not the SQL letter by letter
            fixes = (Fix(words.title, applicability, (Edit(edited, words.text),)),)
        diagnostic = rule.diagnostic(
            certainty, self.majors, words.headline, span, help=words.help, fixes=fixes, **answer
        )
        self.diagnostics.append(diagnostic)

    @staticmethod
    def _culprit(statement: StatementText, error: ServerError) -> int:
        """Return where the statement names the object of an error, if the parser gives no place."""
        if error.culprit is not None:
            return error.culprit
        named = next((error.arguments[kind] for kind in _NAMED if kind in error.arguments), None)
        return (named is not None and place_of_name(utf8(statement.text).data, named)) or 0

    def _filter_explanation(self, error: ServerError) -> FilterExplanation | None:
        """Return, for a refused filter, which part is refused and how to rewrite it."""
        if error.evidence is None:
            return None
        from pubcheck.checks.messages.row_filters import explain_filter_error

        self._rewritings += 1
        return explain_filter_error(error, with_rewriting=self._rewritings <= _MAX_REWRITINGS)

    def _fixes(self, rule: Rule, statement: StatementText, error: ServerError, *, certain: bool) -> tuple[Fix, ...]:
        """Return fixes that make the current statement valid, if any are known."""
        self._rewritings += rule.fix
        if not rule.fix or self._rewritings > _MAX_REWRITINGS:
            return ()
        return self._faults.value(statement, (), self._statement_fixes, rule, statement, error, certain=certain)

    def _statement_fixes(
        self, rule: Rule, statement: StatementText, error: ServerError, *, certain: bool
    ) -> tuple[Fix, ...]:
        from pubcheck.checks.remedies import edits
        from pubcheck.checks.remedies.statement_fixes import statement_fix

        replacement = statement_fix(rule.code, self.session, error, utf8(statement.text).data)
        return () if replacement is None else (edits.as_fix(statement, replacement, certain=certain),)

    @finder("PUB214", "PUB215")
    def report_filters(self, statement: StatementText, changes: Iterable[Change]) -> None:
        """Report on the filters that the statement gave to members of publications."""
        reported: set[tuple[str, Place]] = set()
        for heap, key, former in changes:
            row = heap.get(key)
            if not isinstance(row, PublicationRel) or row.filter is None or row == former:
                continue
            with self._faults.guard(statement):
                if not row.filter.analysed and self.session.catalog.relations[row.relation].seen:
                    self._report_filter("PUB215", row, row.place, statement, reported, row.filter.unknown)
            for place, frozen_by in row.filter.frozen:
                with self._faults.guard(statement):
                    # Settings that the unit itself sets are the same for every session.
                    kinds = [kind for kind in frozen_by if self.session.setting(_SETTINGS.get(kind, "")) is None]
                    if kinds:
                        self._report_filter("PUB214", row, place, statement, reported, *kinds)

    def _report_filter(
        self,
        code: str,
        row: PublicationRel,
        place: Place,
        statement: StatementText,
        reported: set[tuple[str, Place]],
        *details: str,
    ) -> None:
        """Report an accepted filter. A place is reported once, however many partitions share the filter."""
        from pubcheck.checks.messages import refusals

        if (code, place) in reported:
            return
        reported.add((code, place))
        rule, catalog = RULES[code], self.session.catalog
        unknown = (
            "" if row.filter is None or row.filter.analysed else row.filter.unknown or "the types in the row filter"
        )
        span = statement.span(place.start, place.end)
        literal = span.source.text[span.start : span.end]
        if code == "PUB214":
            severity, message, help_text = refusals.frozen_words(literal, details)
        else:
            severity, (message, help_text) = rule.severity, refusals.undecided_filter(details[0])
        self.diagnostics.append(
            rule.diagnostic(
                "assumed" if unknown else "certain",
                self.majors,
                message,
                span,
                assumptions=(unknown,) if unknown else (),
                severity=severity,
                help=help_text,
                statement=statement.ref(),
                object=self.session.qualified(catalog.relations[row.relation]),
                publications=(catalog.publications[row.publication].name,),
                mentions=(literal,) if code == "PUB214" else details,
            )
        )

    def report_unseen(self, statement: StatementText, errors: list[ServerError], basis: Basis) -> None:
        """Report all unknown names of a statement in one note, with the server's answer for the first."""
        with self._faults.guard(statement):
            self._report_unseen(statement, errors, basis)

    def _report_unseen(self, statement: StatementText, errors: list[ServerError], basis: Basis) -> None:
        from pubcheck.checks.messages import refusals

        first = errors[0]
        rule = refusals.rule_of(first)
        message, help_text = refusals.explain_unseen(errors)
        related = tuple(
            statement.span(error.culprit, message=error.message) for error in errors[1:] if error.culprit is not None
        )
        answer = self.answer(statement, first, basis, ("whether something outside these files creates it",))
        answer["mentions"] = tuple(value for error in errors for value in error.arguments.values())
        span = statement.span(first.culprit or 0)
        note = rule.diagnostic(
            "assumed", self.majors, message, span, severity="note", help=help_text, related=related, **answer
        )
        self._record_missing(note, errors)
        self.diagnostics.append(note)

    def _record_missing(self, note: Diagnostic, errors: Sequence[ServerError]) -> None:
        """Record the names that are missing according to the next finding."""
        from pubcheck.checks.messages import refusals

        missing = {error.missing: refusals.missing_name(error) for error in errors if error.missing}
        if missing:
            in_public = any(error.missing_schema == "public" for error in errors)
            self.missing.append(_NotCreated(len(self.diagnostics), note, missing, in_public))

    def answer(
        self, statement: StatementText, error: ServerError, basis: Basis, assumptions: tuple[Assumption, ...] = ()
    ) -> _Answer:
        """Return the fields of a diagnostic that come from the server's answer to the current statement.

        ``assumptions`` are passed if they are known without the catalog.
        """
        if not basis.certain and not assumptions:
            assumptions = self._grounds.assumptions_of(basis, error.publication)
        return {
            "statement": statement.ref(),
            "object": error.relation,
            "publications": (error.publication,) if error.publication else (),
            "mentions": self._mentions(statement, error),
            "server": ServerAnswer(
                error.sqlstate, error.message, error.detail, error.hint, statement.position(error.location)
            ),
            "notices": tuple(self.session.notices),
            "assumptions": assumptions,
        }

    @staticmethod
    def _mentions(statement: StatementText, error: ServerError) -> tuple[str, ...]:
        """Return the names that the server's message may have: an error that no rule is about does not keep them."""
        if error.key is not None:
            return tuple(error.arguments.values())
        return tuple(names_in(utf8(statement.text).data))

    def complete(self, statements: Statements) -> None:
        """Complete the findings with facts that are known only when the unit is over."""
        with self._faults.guard(None):
            self._complete_missing(statements)
        for number, place, message in self.repeats:
            with self._faults.guard(place):
                self.diagnostics[number] = replace(self.diagnostics[number], related=(statements.span(place, message),))
        if self._misspelt_tables:
            # Others hold this list.
            self.diagnostics[:] = [row for row in self.diagnostics if not self._rests_on_misspelling(row)]

    def _rests_on_misspelling(self, diagnostic: Diagnostic) -> bool:
        """Return whether a table is "already a member" only because of a name that is probably misspelt."""
        return (
            diagnostic.rule == "PUB130"
            and diagnostic.certainty == "assumed"
            and diagnostic.object in self._misspelt_tables
        )

    def _complete_missing(self, statements: Statements) -> None:
        """Add to findings about missing names where the names are created later, or similar names."""
        # Some were undone since.
        notes = [
            note
            for note in self.missing
            if note.number < len(self.diagnostics) and self.diagnostics[note.number] is note.note
        ]
        missing_names = {key for note in notes for key in note.names}
        if not missing_names:
            return
        from pubcheck.checks.misspelt_names import suggestions

        catalog = self.session.catalog
        near = suggestions(catalog, missing_names, self.session.platform)
        for note in notes:
            missing = note.names
            created = [
                catalog.relations[catalog.relation_names[namespace, name]].place
                for kind, namespace, name in missing
                if kind == RELATION and (namespace, name) in catalog.relation_names
            ]
            refused = self.diagnostics[note.number].severity == "error"
            if len(missing) == 1 and created and created[0] is not None and not refused:
                self._created_later(statements, note, created[0])
            elif similar := [key for missing_key in missing for key in near.get(missing_key, ())]:
                misspelt = [name for missing_key, name in missing.items() if missing_key in near]
                self._misspelt_tables.update(
                    f"{catalog.namespaces[namespace].name}.{name}"
                    for kind, namespace, name in near.keys() & missing.keys()
                    if kind == RELATION
                )
                # The message begins with the first name that is missing.
                plain = misspelt == list(missing.values())[:1]
                instead = "" if plain else f" instead of {' and '.join(misspelt)}"
                self._misspelt(statements, note, similar, instead)

    def _misspelt(self, statements: Statements, missing: _NotCreated, near: Sequence[Suggestion], instead: str) -> None:
        """Suggest similar names for one that is not created, unless something may create it elsewhere."""
        note = self.diagnostics[missing.number]
        severity = note.severity if note.severity == "error" or self.session.blind else "warning"
        written = (_name_fix(note, near[0][0].removeprefix("" if missing.in_public else "public.")),)
        fixes = note.fixes or (written if len({name for name, _ in near}) == 1 and not note.related else ())
        self.offered.add(note.span)
        public = "" if missing.in_public else "public."  # as it is written there
        names = list(dict.fromkeys(f'"{name.removeprefix(public)}"' for name, _ in near))
        offered = " or ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
        places = tuple(statements.span(place, "created here") for _, place in near if place is not None)
        self.diagnostics[missing.number] = replace(
            note,
            severity=severity,
            message=f"{note.message}; did you mean {offered}{instead}?",
            related=note.related + places,
            fixes=fixes,
        )

    def _created_later(self, statements: Statements, missing: _NotCreated, place: Place) -> None:
        """Say where a relation is created that was named before."""
        number, (name,) = missing.number, missing.names.values()
        span = statements.span(place, "created here")
        source = self.diagnostics[number].span.source
        line = span.source.text.count("\n", 0, span.start) + 1
        where = f"on line {line}" if span.source is source else f"in {span.source.label}, line {line}"
        self.diagnostics[number] = replace(
            self.diagnostics[number],
            message=f"{name} is created later",  # without a line: baselines know the finding by its message
            help=f"move its creation, {where}, before this statement",
            related=(span,),
        )
