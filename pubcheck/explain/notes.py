"""What diagnostics say of publications and tables, and the notes that the document makes of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from pubcheck.diagnostics import Diagnostic
from pubcheck.explain.document import Note, Refused
from pubcheck.explain.table_facts import Facts
from pubcheck.findings import Resolver
from pubcheck.postgres.replication.published_changes import Sent

_OF_THE_FIRST = frozenset(("PUB508",))
"""Rules that speak of one publication and name the others that have to do with it; all else speaks of each."""

_SHOWN = 3
"""Causes of a refused write that are shown with every publication of its table, whichever publications they are of."""


class DiagnosticNotes:
    """The diagnostics of a unit, each where it belongs. ``tables`` are those that were asked for."""

    def __init__(self, diagnostics: Sequence[Diagnostic], tables: tuple[str, ...]) -> None:
        self.resolver = Resolver(excerpts=False)
        self._tables = tables
        self._refused: dict[str, dict[str, list[Refused]]] = {}
        """Why writes are refused, by table and publication."""
        self._first: dict[str, list[Refused]] = {}
        """The first causes of each table, in the server's order; worked out when first asked for."""
        self.notes: dict[str, dict[str, list[Diagnostic]]] = {}
        """By publication, "" for those that name none, and table."""
        self._general: dict[str, list[Diagnostic]] = {}
        self.left: list[Diagnostic] = []
        """The text neither of a publication nor of a table in one."""
        self._used: set[int] = set()
        self._sort(diagnostics)

    def _sort(self, diagnostics: Sequence[Diagnostic]) -> None:
        for found in diagnostics:
            if found.phase == "write" and found.object is not None and found.server is not None:
                of_table = self._refused.setdefault(found.object, {})
                of_table.setdefault(found.publications[0], []).append(_refused(found))
            elif found.phase in ("silent", "subscribe") and (found.publications or found.object is not None):
                about = found.publications[:1] if found.rule in _OF_THE_FIRST else found.publications
                for publication in about or ("",):
                    if found.object is None or found.also:
                        # The text about several tables is said once, of the publication.
                        if self.asks(found):
                            self._general.setdefault(publication, []).append(found)
                    else:
                        self.notes.setdefault(publication, {}).setdefault(found.object, []).append(found)
            else:
                self.left.append(found)

    def refused(self, table: str, publication: str) -> tuple[Refused, ...]:
        """Why writes of a table are refused: all causes of a publication, and the first of the others."""
        of_table = self._refused.get(table)
        if of_table is None:
            return ()
        if table not in self._first:
            causes = sorted((each for causes in of_table.values() for each in causes), key=_order)
            self._first[table] = [each for each in causes if each.after_count < _SHOWN]
        first = [each for each in self._first[table] if publication not in each.publications]
        return tuple(sorted((*of_table.get(publication, ()), *first), key=_order))

    def about(self, facts: Facts, sent: Sent, publication: str) -> list[Diagnostic]:
        """Notes on a table in a publication, whichever name of its tree they give."""
        found: dict[int, Diagnostic] = {}
        if publication not in self.notes and "" not in self.notes:
            return []
        for notes in (self.notes.get(publication), self.notes.get("")):
            if notes:
                for oid in facts.family(sent.relation):
                    for diagnostic in notes.get(facts.of(oid).name, ()):
                        found[id(diagnostic)] = diagnostic
        self._used.update(found)
        return list(found.values())

    def noted(self, diagnostics: Iterable[Diagnostic]) -> tuple[Note, ...]:
        """One note a rule and place; the tables that it concerns, where there are several."""
        notes: dict[tuple[object, ...], Note] = {}
        counted: dict[tuple[object, ...], dict[str, None]] = {}
        for found in diagnostics:
            entry = self.resolver.findings([found])[0].entry
            key = (entry.rule, entry.path, entry.line, entry.severity, entry.certainty)
            notes.setdefault(
                key,
                Note(
                    entry.rule,
                    entry.name,
                    entry.severity,
                    entry.certainty,
                    entry.message,
                    entry.help,
                    entry.path,
                    entry.line,
                ),
            )
            if entry.object is not None:
                counted.setdefault(key, {}).update(dict.fromkeys((entry.object, *found.also)))
        order = {"error": 0, "warning": 1, "note": 2}
        made = [replace(note, tables=tuple(counted.get(key, ()))) for key, note in notes.items()]
        return tuple(sorted(made, key=lambda note: (order[note.severity], note.rule)))

    def asks(self, found: Diagnostic) -> bool:
        """Whether a note that no answer shows is on a table that was asked for, or on none."""
        wanted = self._tables
        tables = () if found.object is None else (found.object, *found.also)
        return not wanted or any(name in wanted or name.partition(".")[2] in wanted for name in tables)

    def tables(self, publication: str) -> set[str]:
        """The names that notes on a publication speak of."""
        return {*self.notes.get(publication, ()), *self.notes.get("", ())}

    def general(self, publication: str) -> tuple[Note, ...]:
        """Notes on a publication itself, and those on its tables that no answer shows."""
        rest = [
            found
            for every in self.notes.get(publication, {}).values()
            for found in every
            if id(found) not in self._used and self.asks(found)
        ]
        return self.noted([*self._general.get(publication, ()), *rest])


def _refused(found: Diagnostic) -> Refused:
    assert found.server is not None
    server = found.server
    return Refused(
        "update" if found.operation == "update" else "delete",
        found.publications,
        server.sqlstate,
        server.message,
        server.detail,
        server.hint,
        found.certainty,
        found.rule,
        found.help,
        found.after,
        found.after_count,
    )


def _order(refused: Refused) -> tuple[bool, int]:
    """UPDATE first, then in the order in which the server meets the causes."""
    return refused.operation != "update", refused.after_count
