"""What is known of a unit after its last statement: the findings, and answers to questions about a place in a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from pubcheck.autofix import comments_for
from pubcheck.diagnostics import Diagnostic
from pubcheck.discovery.file_types import DiscoveredUnit
from pubcheck.engine.linter import Linter
from pubcheck.engine.replay import Replay
from pubcheck.explain.subscribers import consumers_of
from pubcheck.findings import EditEntry, Entry, Finding, Resolver
from pubcheck.lexing.items import Statement
from pubcheck.lexing.splitter import Splitter
from pubcheck.lint_files import LintedUnit, lint_files
from pubcheck.postgres.catalog.rows import Column, Place, Publication, Relation
from pubcheck.postgres.replication.publication_lookup import (
    OPERATIONS,
    effective_entry,
    publications_of,
    replica_identity,
    sent_columns,
)
from pubcheck.postgres.tokens import identifier
from pubcheck.report import count
from pubcheck.server.words import Completion, Name, completions, consumers, name_at, names_of, words_of
from pubcheck.source import Source


class Located(Struct, frozen=True):
    """A stretch of a file, in code points."""

    path: str
    start: int
    end: int


class HoverText(Struct, frozen=True):
    """Markdown about the name from ``start`` to ``end``."""

    markdown: str
    start: int
    end: int


class Analysis:
    """A unit linted, with its final state in the newest of its majors."""

    def __init__(self, unit: DiscoveredUnit, linter: Linter) -> None:
        self.linted: LintedUnit = lint_files(unit, linter, follow=True)
        self._entries: list[Entry] = [finding.entry for finding in self.linted.findings]
        self._sources = {source.label: source for source in self.linted.reading.sources}
        followed = self.linted.followed
        self._replay: Replay | None = followed.replays[-1] if followed is not None else None

    # Questions.

    def findings(self) -> list[Finding]:
        return [Finding(finding.entry, write=finding.write) for finding in self.linted.findings]

    def hover(self, label: str, offset: int) -> HoverText | None:
        """Describe the table, column or publication that is named at an offset."""
        source, replay = self._sources.get(label), self._replay
        name = name_at(source.text, offset) if source is not None else None
        if source is None or replay is None or name is None:
            return None
        text = self._described(replay, source, name)
        return None if text is None else HoverText(text, name.start, name.end)

    def definition(self, label: str, offset: int) -> list[Located]:
        """Return where the table, column or publication that is named at an offset is created."""
        source, replay = self._sources.get(label), self._replay
        name = name_at(source.text, offset) if source is not None else None
        if source is None or replay is None or name is None:
            return []
        named = self._publication(replay, source, name) or self._relation_of(replay, source, name)
        place = named.place if named is not None else None
        return [] if place is None else [self._located(replay, place, name.last)]

    def references(self, label: str, offset: int) -> list[Located]:
        """Return every place of the unit where the name at an offset is written, if it names an object or a column."""
        source, replay = self._sources.get(label), self._replay
        name = name_at(source.text, offset) if source is not None else None
        if source is None or replay is None or name is None:
            return []
        if self._publication(replay, source, name) is None and self._relation_of(replay, source, name) is None:
            return []
        return [
            Located(other.label, use.start, use.end)
            for other in self._sources.values()
            for use in names_of(other.text)
            if use.last == name.last
        ]

    def ignoring(self, entries: Sequence[Entry]) -> list[list[EditEntry]]:
        """Return for each finding the edit of a comment that ignores it at its statement; none where there is none."""
        diagnostics: dict[tuple[str, str, int, int], Diagnostic] = {}
        for diagnostic, entry in zip(self.linted.diagnostics, self._entries, strict=True):
            diagnostics.setdefault(_place(entry), diagnostic)
        resolver = Resolver()
        comments: list[list[EditEntry]] = []
        for entry in entries:
            same_place = [diagnostics[_place(entry)]] if _place(entry) in diagnostics else []
            groups = comments_for(same_place)
            comments.append(resolver.edits([edit for _, group in groups for edit in group]))
        return comments

    def complete(self, label: str, offset: int) -> list[Completion]:
        """Return what may be written at an offset of a statement about publications, or of a comment that names their
        consumers."""
        source, replay = self._sources.get(label), self._replay
        if source is None or replay is None:
            return []
        line = source.text[source.text.rfind("\n", 0, offset) + 1 : offset]
        return consumers(line) or completions(replay, self._statement_before(source.text, offset))

    # Names.

    def _described(self, replay: Replay, source: Source, name: Name) -> str | None:
        publication = self._publication(replay, source, name)
        if publication is not None:
            return "\n".join([*_of_publication(replay, publication), *self._readers(replay, publication)])
        relation = _relation(replay, name)
        if relation is not None:
            return _of_table(replay, relation)
        relation = self._relation_of_column(replay, source, name)
        column = relation.column(name.last) if relation is not None else None
        return _of_column(replay, relation, column) if relation is not None and column is not None else None

    def _readers(self, replay: Replay, publication: Publication) -> Iterator[str]:
        """Yield who reads a publication."""
        findings = self.linted.followed.findings if self.linted.followed is not None else ()
        for reader in consumers_of(replay, findings).get(publication.oid, ()):
            certainty = ", as its name suggests" if reader.certainty == "assumed" else ""
            met = reader.demands - len(reader.unmet)
            yield f"- read by {reader.name}{certainty}: {met} of {count(reader.demands, 'demand')} met"

    def _publication(self, replay: Replay, source: Source, name: Name) -> Publication | None:
        """Return the publication of a name, in a statement about publications or subscriptions."""
        oid = replay.catalog.publication_names.get(name.last)
        if oid is None or len(name.parts) > 1:
            return None
        if _relation(replay, name) is not None and not _follows_publication(source.text, name.start):
            return None
        return replay.catalog.publications[oid]

    def _relation_of(self, replay: Replay, source: Source, name: Name) -> Relation | None:
        """Return the table that a name is of, else the one of the column that it is of."""
        return _relation(replay, name) or self._relation_of_column(replay, source, name)

    def _relation_of_column(self, replay: Replay, source: Source, name: Name) -> Relation | None:
        """Return the nearest table named before a column in its statement that has such a column."""
        before = self._statement_before(source.text, name.start)
        for candidate in reversed(list(names_of(before))):
            relation = _relation(replay, candidate)
            if relation is not None and relation.column(name.last) is not None:
                return relation
        return None

    @staticmethod
    def _statement_before(text: str, offset: int) -> str:
        """Return a statement from its beginning to an offset; in a body that is not closed there, one of the body."""
        statement = text[_start_of_statement(text, offset) : offset]
        words = list(words_of(statement))
        opened = next((number for number, word in enumerate(words) if word.text == "$"), len(words))
        ends = [word.end for word in words[opened:] if word.text in _BEFORE_STATEMENTS]
        return statement[max(ends, default=0) :]

    def _located(self, replay: Replay, place: Place, name: str) -> Located:
        """Return the name within the statement of a place, else the place."""
        span = replay.statements.span(place)
        statement = replay.statements.at(place)
        for use in names_of(statement.text):
            if use.last == name:
                return Located(span.source.label, statement.place(use.start), statement.place(use.end, end=True))
        return Located(span.source.label, span.start, span.end)


def _place(entry: Entry) -> tuple[str, str, int, int]:
    return entry.rule, entry.path, entry.line, entry.column


_BEFORE_STATEMENTS = frozenset((";", "begin", "then", "else", "loop"))
"""Words of a body that a statement follows."""


def _start_of_statement(text: str, offset: int) -> int:
    """Return where the statement that an offset is in begins: after the last semicolon before it that ends one."""
    start = 0
    for item in Splitter(Source("", text[:offset]), {}):
        start = item.start
    return start


def _relation(replay: Replay, name: Name) -> Relation | None:
    if len(name.parts) > 2:
        return None
    quoted = ".".join('"' + part.replace('"', '""') + '"' for part in name.parts)
    return replay.session.regclass(quoted)


def _follows_publication(text: str, start: int) -> bool:
    before = text[max(0, start - 40) : start].split()
    return bool(before) and before[-1].lower() in ("publication", "exists")


# Descriptions, in Markdown.


def _of_publication(replay: Replay, publication: Publication) -> list[str]:
    catalog = replay.catalog
    operations = ", ".join(name.upper() for name in OPERATIONS if getattr(publication, name)) or "nothing"
    lines = [f"**publication {identifier(publication.name)}** publishes {operations}"]
    if publication.via_root:
        lines.append("partitions are published under the name of their root")
    if publication.all_tables:
        lines.append("of all tables")
    for oid in catalog.schemas_of.get(publication.oid):
        namespace = catalog.namespaces[catalog.publication_namespaces[oid].namespace]
        lines.append(f"- every table of schema `{namespace.name}`")
    for oid in catalog.members_of.get(publication.oid):
        entry = catalog.publication_rels[oid]
        relation = catalog.relations[entry.relation]
        columns = ""
        if entry.columns is not None:
            columns = f" ({', '.join(relation.columns[number - 1].name for number in entry.columns)})"
        filtered = ", filtered" if entry.filter is not None else ""
        lines.append(f"- `{replay.session.qualified(relation)}{columns}`{filtered}")
    return lines


def _of_table(replay: Replay, relation: Relation) -> str:
    catalog = replay.catalog
    lines = [f"**{_KINDS.get(relation.kind, 'relation')} {replay.session.qualified(relation)}**"]
    lines.append(f"replica identity: {_identity(replay, relation)}")
    published = list(publications_of(catalog, relation))
    for publication in published:
        entry = effective_entry(catalog, publication, relation.oid)
        generated = publication.generated == "s"
        sent = sent_columns(relation, entry.columns if entry is not None else None, generated)
        names = [relation.columns[number - 1].name for number in sent]
        left_out = [column.name for column in relation.live() if column.name not in names]
        rows = "filtered rows" if entry is not None and entry.filter is not None else "all rows"
        without = f" without {', '.join(left_out)}" if left_out else ""
        lines.append(f"- publication `{publication.name}`: {rows}{without}")
    if not published:
        lines.append("in no publication")
    return "\n".join((lines[0], "", *lines[1:]))


_KINDS = {
    "r": "table",
    "p": "partitioned table",
    "v": "view",
    "m": "materialized view",
    "f": "foreign table",
    "S": "sequence",
}


def _identity(replay: Replay, relation: Relation) -> str:
    identity = replica_identity(replay.catalog, relation)
    if identity.full:
        return "FULL, every old row whole"
    if not identity.exists:
        return "none: UPDATE and DELETE are refused where they are published"
    return ", ".join(relation.columns[number - 1].name for number in sorted(identity.columns))


def _of_column(replay: Replay, relation: Relation, column: Column) -> str:
    parts = [replay.session.syscache.format_type(column.type, column.typmod) if column.type else "unknown type"]
    if column.not_null:
        parts.append("NOT NULL")
    if column.generated:
        parts.append("generated, stored" if column.generated == "s" else "generated, virtual")
    identity = replica_identity(replay.catalog, relation)
    parts.append(
        "in the replica identity"
        if identity.full or column.number in identity.columns
        else "not in the replica identity"
    )
    return f"**column {identifier(column.name)}** of {replay.session.qualified(relation)}: {', '.join(parts)}"


def symbols(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the statements of a text that matter here, in a few words, with their offsets."""
    for item in Splitter(Source("", text), {}):
        if isinstance(item, Statement) and item.keyword in ("create", "alter", "drop"):
            words = " ".join(item.text.split()[:6])
            yield words.split("(")[0].strip()[:80], item.start, item.end
