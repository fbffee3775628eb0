"""Assign diagnostics to publications and tables, and turn them into notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from pubcheck.diagnostics import Diagnostic
from pubcheck.explain.document import Note, Refused
from pubcheck.explain.table_facts import Facts
from pubcheck.findings import Resolver
from pubcheck.postgres.replication.published_changes import PublishedChanges

_OF_THE_FIRST = frozenset(("PUB508",))
"""Rules about one publication that also name related ones. All other rules are about every publication that they
name."""

_SHOWN = 3
"""The number of causes of a refused write that every publication of the table shows, whichever publication is at
fault."""


class DiagnosticNotes:
    """The diagnostics of a unit by publication and table. ``tables`` are the selected ones."""

    def __init__(self, diagnostics: Sequence[Diagnostic], tables: tuple[str, ...]) -> None:
        self.resolver = Resolver(excerpts=False)
        self._tables = tables
        self._refused: dict[str, dict[str, list[Refused]]] = {}
        """The causes of refused writes, by table and publication."""
        self._first: dict[str, list[Refused]] = {}
        """The first causes of each table, in the server's order; computed on first use."""
        self.notes: dict[str, dict[str, list[Diagnostic]]] = {}
        """Diagnostics by publication ("" if they name none) and table."""
        self._general: dict[str, list[Diagnostic]] = {}
        self.unassigned: list[Diagnostic] = []
        """Diagnostics about no publication and no table in one."""
        self._used: set[int] = set()
        self._assign(diagnostics)

    def _assign(self, diagnostics: Sequence[Diagnostic]) -> None:
        for row in diagnostics:
            if row.phase == "write" and row.object is not None and row.server is not None:
                of_table = self._refused.setdefault(row.object, {})
                of_table.setdefault(row.publications[0], []).append(_refused(row))
            elif row.phase in ("silent", "subscribe") and (row.publications or row.object is not None):
                about = row.publications[:1] if row.rule in _OF_THE_FIRST else row.publications
                for publication in about or ("",):
                    if row.object is None or row.also:
                        # A diagnostic about several tables appears once, with the publication.
                        if self.is_selected(row):
                            self._general.setdefault(publication, []).append(row)
                    else:
                        self.notes.setdefault(publication, {}).setdefault(row.object, []).append(row)
            else:
                self.unassigned.append(row)

    def refused(self, table: str, publication: str) -> tuple[Refused, ...]:
        """Return why writes of a table are refused: all causes of a publication, and the first of the others."""
        of_table = self._refused.get(table)
        if of_table is None:
            return ()
        if table not in self._first:
            causes = sorted((cause for causes in of_table.values() for cause in causes), key=_order)
            self._first[table] = [cause for cause in causes if cause.after_count < _SHOWN]
        first = [cause for cause in self._first[table] if publication not in cause.publications]
        return tuple(sorted((*of_table.get(publication, ()), *first), key=_order))

    def about(self, facts: Facts, sent: PublishedChanges, publication: str) -> list[Diagnostic]:
        """Return the notes on a table in a publication, under any name of its partition tree."""
        diagnostics: dict[int, Diagnostic] = {}
        if publication not in self.notes and "" not in self.notes:
            return []
        for notes in (self.notes.get(publication), self.notes.get("")):
            if notes:
                for oid in facts.family(sent.relation):
                    for diagnostic in notes.get(facts.of(oid).name, ()):
                        diagnostics[id(diagnostic)] = diagnostic
        self._used.update(diagnostics)
        return list(diagnostics.values())

    def notes_of(self, diagnostics: Iterable[Diagnostic]) -> tuple[Note, ...]:
        """Return one note per rule and place, with the tables that it concerns if there are several."""
        notes: dict[tuple[object, ...], Note] = {}
        tables: dict[tuple[object, ...], dict[str, None]] = {}
        for diagnostic in diagnostics:
            entry = self.resolver.findings([diagnostic])[0].entry
            claim = diagnostic.claim.claim if diagnostic.claim is not None else ""
            key = (entry.rule, entry.path, entry.line, entry.severity, entry.certainty, claim)
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
                tables.setdefault(key, {}).update(dict.fromkeys((entry.object, *diagnostic.also)))
        order = {"error": 0, "warning": 1, "note": 2}
        with_tables = [replace(note, tables=tuple(tables.get(key, ()))) for key, note in notes.items()]
        return tuple(sorted(with_tables, key=lambda note: (order[note.severity], note.rule)))

    def is_selected(self, diagnostic: Diagnostic) -> bool:
        """Return whether a diagnostic that no answer shows is about a selected table, or about no table."""
        selected = self._tables
        tables = () if diagnostic.object is None else (diagnostic.object, *diagnostic.also)
        return not selected or any(name in selected or name.partition(".")[2] in selected for name in tables)

    def tables(self, publication: str) -> set[str]:
        """Return the tables that notes on a publication name."""
        return {*self.notes.get(publication, ()), *self.notes.get("", ())}

    def general(self, publication: str) -> tuple[Note, ...]:
        """Return the notes on a publication itself, and those on its tables that no answer shows."""
        rest = [
            diagnostic
            for every in self.notes.get(publication, {}).values()
            for diagnostic in every
            if id(diagnostic) not in self._used and self.is_selected(diagnostic)
        ]
        return self.notes_of([*self._general.get(publication, ()), *rest])


def _refused(diagnostic: Diagnostic) -> Refused:
    assert diagnostic.server is not None
    server = diagnostic.server
    return Refused(
        "update" if diagnostic.operation == "update" else "delete",
        diagnostic.publications,
        server.sqlstate,
        server.message,
        server.detail,
        server.hint,
        diagnostic.certainty,
        diagnostic.rule,
        diagnostic.help,
        diagnostic.after,
        diagnostic.after_count,
    )


def _order(refused: Refused) -> tuple[bool, int]:
    """Return the sort key of a refusal: UPDATE first, then the order in which the server meets the causes."""
    return refused.operation != "update", refused.after_count
