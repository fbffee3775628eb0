"""Making the document: the final state of a unit asked what each publication sends of each table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.diagnostics import Diagnostic
from pubcheck.explain.document import (
    Answer,
    Condition,
    CopyDifference,
    Identity,
    InitialCopy,
    Note,
    NotSent,
    PartOfFilter,
    Publication,
    Refused,
    Same,
    Sending,
    Subscription,
    Table,
    Together,
    UnitExplained,
    Widening,
)
from pubcheck.explain.rows import Samples, changes_of, examples_of
from pubcheck.explain.sampling import Sampler
from pubcheck.explain.written import condition
from pubcheck.fold import Fold
from pubcheck.postgres.catalog import rows
from pubcheck.replication.combined import Combined, Filters, combine
from pubcheck.replication.copied import Copied, copied
from pubcheck.replication.identity import replica_identity
from pubcheck.replication.sent import OPERATIONS, Reason, Sent, not_sent, sent_by, unpublishable
from pubcheck.report.document import Resolver
from pubcheck.statements import Statements


class Wanted(Struct, frozen=True):
    """What is asked for: publications and tables by name (all, where none is named), and which publications are
    subscribed to together."""

    publications: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    subscriptions: tuple[tuple[str, ...], ...] = ()


def explained(
    fold: Fold,
    statements: Statements,
    diagnostics: Sequence[Diagnostic],
    paths: Sequence[str],
    wanted: Wanted,
    sampler: Sampler,
) -> UnitExplained:
    """One unit in one major. ``diagnostics`` are all, those of rules that are off in `lint` among them."""
    return _Builder(fold, statements, diagnostics, wanted, sampler).unit(paths)


_COMPARED = 100
"""Other publications of a table with which one is compared, those without a filter first."""
_OF_THE_FIRST = frozenset(("filter-widened",))
"""Rules that speak of one publication and name the others that have to do with it; all else speaks of each."""


class _Facts(Struct, frozen=True):
    """What does not depend on the publication. ``kind`` is what tables must have in common to share an answer:
    generated columns, the kind of identity, what is refused. ``alone``: in no partition tree."""

    name: str
    columns: tuple[str, ...]
    identity: Identity
    kind: object
    alone: bool


class _Builder:
    def __init__(
        self,
        fold: Fold,
        statements: Statements,
        diagnostics: Sequence[Diagnostic],
        wanted: Wanted,
        sampler: Sampler,
    ) -> None:
        self.fold, self.catalog, self.statements = fold, fold.catalog, statements
        self.wanted, self.sampler = wanted, sampler
        self.resolver = Resolver(excerpts=False)
        self.shown = [row for row in self._by_place() if not wanted.publications or row.name in wanted.publications]
        self.names = {row.name for row in self.shown}
        self.sent = {row.oid: self._asked(sent_by(self.catalog, row.oid)) for row in self.catalog.publications.values()}
        self.of_table: dict[int, list[Sent]] = {}
        for sents in self.sent.values():
            for sent in sents:
                self.of_table.setdefault(sent.relation, []).append(sent)
        self._facts: dict[int, _Facts] = {}
        self._conditions: dict[int, Condition] = {}
        self._same_name: dict[tuple[int, int], list[Sent]] = {}
        self._copies: dict[int, dict[int, Copied]] = {}
        self._lost: dict[int, dict[str, list[str]]] = {}
        self.refused: dict[str, list[Refused]] = {}
        self.notes: dict[str, dict[str, list[Diagnostic]]] = {}
        """By publication, "" for those that name none, and table."""
        self.general: dict[str, list[Diagnostic]] = {}
        self.left: list[Diagnostic] = []
        self._sort(diagnostics)
        self.used: set[int] = set()
        self.not_sent: dict[int, list[tuple[int, Reason]]] = {}

    def _by_place(self) -> list[rows.Publication]:
        def order(row: rows.Publication) -> tuple[int, int, int]:
            place = row.place
            return (place.source, place.statement, place.start) if place is not None else (-1, 0, row.oid)

        return sorted(self.catalog.publications.values(), key=order)

    def _asked(self, sents: list[Sent]) -> list[Sent]:
        """Those of the tables that were asked for; a partitioned table stands for its leaves."""
        wanted = self.wanted.tables
        if not wanted:
            return sents
        return [sent for sent in sents if any(self.means(oid, wanted) for oid in self._family(sent.relation))]

    def _family(self, oid: int) -> tuple[int, ...]:
        relation = self.catalog.relations[oid]
        return (oid, *self.catalog.ancestors(oid)) if relation.partition else (oid,)

    def means(self, oid: int, names: Iterable[str]) -> bool:
        """Whether one of these names, with a schema or without, is that of a relation."""
        relation = self.catalog.relations[oid]
        return any(name in (relation.name, self.name(oid)) for name in names)

    def name(self, oid: int) -> str:
        return self.fold.session.qualified(self.catalog.relations[oid])

    # --- What diagnostics say --------------------------------------------------------------------------------------

    def _sort(self, diagnostics: Sequence[Diagnostic]) -> None:
        for found in diagnostics:
            if found.phase == "write" and found.object is not None and found.server is not None:
                self.refused.setdefault(found.object, []).append(_refused(found))
            elif found.phase in ("silent", "subscribe") and (found.publications or found.object is not None):
                about = found.publications[:1] if found.name in _OF_THE_FIRST else found.publications
                for publication in about or ("",):
                    if found.object is None or found.also:
                        # What is said of several tables is said once, of the publication.
                        if self._asked_about(found):
                            self.general.setdefault(publication, []).append(found)
                    else:
                        self.notes.setdefault(publication, {}).setdefault(found.object, []).append(found)
            else:
                self.left.append(found)

    def _about(self, sent: Sent, publication: str) -> list[Diagnostic]:
        """Notes on a table in a publication, whichever name of its tree they give."""
        found: dict[int, Diagnostic] = {}
        if publication not in self.notes and "" not in self.notes:
            return []
        for notes in (self.notes.get(publication), self.notes.get("")):
            if notes:
                for oid in self._family(sent.relation):
                    for diagnostic in notes.get(self.facts(oid).name, ()):
                        found[id(diagnostic)] = diagnostic
        self.used.update(found)
        return list(found.values())

    def _noted(self, diagnostics: Iterable[Diagnostic]) -> tuple[Note, ...]:
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

    # --- The unit ---------------------------------------------------------------------------------------------------

    def unit(self, paths: Sequence[str]) -> UnitExplained:
        self._find_not_sent()
        publications = tuple(self._publication(row) for row in self.shown)
        subscriptions = tuple(self._subscription(names) for names in self._together())
        reached: dict[int, None] = {}
        for row in self.shown:
            for sent in self.sent[row.oid]:
                for oid in reversed(self._family(sent.relation)):
                    reached[oid] = None
            for lost, _ in self.not_sent[row.oid]:
                if self.catalog.relations[lost].partition:
                    for oid in reversed(self._family(lost)):
                        reached[oid] = None
        findings = self.resolver.findings(self.left)
        return UnitExplained(
            tuple(paths),
            tuple(self.catalog.publication_names),
            tuple(self._table(oid) for oid in reached),
            publications,
            subscriptions,
            tuple(finding.entry for finding in sorted(findings, key=lambda finding: finding.order)),
        )

    def _find_not_sent(self) -> None:
        """Fills ``not_sent``; publications of all tables, and of the same schemas, have the same."""
        alike: dict[object, list[tuple[int, Reason]]] = {}
        for row in self.shown:
            schemas = [
                self.catalog.publication_namespaces[oid].namespace for oid in self.catalog.schemas_of.get(row.oid)
            ]
            key = "all" if row.all_tables else (tuple(schemas), tuple(self.catalog.members_of.get(row.oid)))
            if key not in alike:
                # That sequences are not replicated is no surprise of a table's.
                found = not_sent(self.catalog, row.oid)
                alike[key] = [each for each in found if self.catalog.relations[each[0]].kind != "S"]
            self.not_sent[row.oid] = alike[key]

    def facts(self, oid: int) -> _Facts:
        known = self._facts.get(oid)
        if known is None:
            relation = self.catalog.relations[oid]
            live = relation.live()
            name, identity = self.name(oid), self._identity(relation)
            refused = self.refused.get(name)
            generated = [(column.name, column.generated) for column in live if column.generated]
            kind = (
                tuple(generated),
                identity.kind,
                refused and tuple((each.operation, each.publications, each.detail) for each in refused),
            )
            columns = tuple([column.name for column in live])
            known = self._facts[oid] = _Facts(name, columns, identity, kind, not relation.partition)
        return known

    def _identity(self, relation: rows.Relation) -> Identity:
        found = replica_identity(self.catalog, relation)
        if found.full:
            return Identity("full")
        if found.index:
            keys = self.catalog.indexes[found.index].keys
            names = tuple([relation.columns[number - 1].name for number in keys])
            return Identity("primary key" if found.kind == "d" else "index", names)
        if not found.known:
            return Identity("not visible")
        return Identity("nothing" if found.kind == "n" else "none")

    def _table(self, oid: int) -> Table:
        relation, facts = self.catalog.relations[oid], self.facts(oid)
        parent = self.name(relation.parents[0]) if relation.partition and relation.parents else None
        kind = "partitioned" if relation.kind == "p" else "partition" if relation.partition else "table"
        certainty = "certain" if relation.seen else "assumed"
        return Table(facts.name, kind, parent, facts.columns, facts.identity, certainty)  # type: ignore[arg-type]

    def _publication(self, row: rows.Publication) -> Publication:
        sents = self.sent[row.oid]
        noted = self._noted_tables(row)
        groups: dict[object, list[Sent]] = {}
        for sent in sents:
            facts = self.facts(sent.relation)
            # Most tables of large publications: nothing is to be said of them but what they are.
            if sent.entry is None and facts.alone and facts.name not in noted:
                key: object = (sent.how, sent.certain, facts.kind)
            else:
                key = self._key(row, sent)
            groups.setdefault(key, []).append(sent)
        answers = [self._answer(row, members) for members in groups.values()]
        schemas = [self.catalog.publication_namespaces[oid].namespace for oid in self.catalog.schemas_of.get(row.oid)]
        has_tables = bool(self.catalog.members_of.get(row.oid))
        kind = "all tables" if row.all_tables else "schemas" if schemas and not has_tables else "tables"
        if not row.all_tables and not sents and not schemas and not has_tables:
            kind = "empty"
        elif schemas and has_tables:
            kind = "tables and schemas"
        reasons: dict[str, list[str]] = {}
        for oid, reason in self.not_sent[row.oid]:
            if not self.wanted.tables or any(self.means(each, self.wanted.tables) for each in self._family(oid)):
                reasons.setdefault(reason, []).append(self.name(oid))
        path = line = None
        if row.place is not None:
            statement = self.statements[row.place.source, row.place.statement]
            span = statement.span(row.place.start, row.place.end)
            path, line = span.source.label, self.resolver.line(span)
        general = list(self.general.get(row.name, ()))
        general += [
            found
            for every in self.notes.get(row.name, {}).values()
            for found in every
            if id(found) not in self.used and self._asked_about(found)
        ]
        return Publication(
            row.name,
            kind,  # type: ignore[arg-type]
            tuple(self.catalog.namespaces[oid].name for oid in schemas),
            tuple(operation for operation in OPERATIONS if getattr(row, operation)),
            row.via_root,
            "stored" if row.generated == "s" else "none",
            "certain" if row.seen else "assumed",
            path,
            line,
            len(sents),
            tuple(answers),
            tuple(NotSent(reason, tuple(names)) for reason, names in reasons.items()),
            self._noted(general),
        )

    def _asked_about(self, found: Diagnostic) -> bool:
        """Whether a note that no answer shows is on a table that was asked for, or on none."""
        wanted = self.wanted.tables
        tables = () if found.object is None else (found.object, *found.also)
        return not wanted or any(name in wanted or name.partition(".")[2] in wanted for name in tables)

    def _noted_tables(self, row: rows.Publication) -> set[str]:
        """The names that notes on a publication speak of."""
        return {*self.notes.get(row.name, ()), *self.notes.get("", ())}

    # --- An answer --------------------------------------------------------------------------------------------------

    def _key(self, row: rows.Publication, sent: Sent) -> object:
        """What tables must have in common to share an answer."""
        facts = self.facts(sent.relation)
        entry = sent.entry
        listed = entry is not None and entry.columns is not None
        return (
            sent.how,
            sent.certain,
            facts.kind,
            None if sent.through == sent.relation else sent.through,
            None if sent.arrives_as == sent.relation else sent.arrives_as,
            None if sent.filter is None else (self._reading(sent), facts.identity),
            tuple(self._condition(each).sql for each in self._unused(sent)),
            None if facts.alone else self._initial_copy(row, sent),
            tuple(self._names(sent)) if listed else None,
            frozenset(found.rule for found in self._about(sent, row.name)),
            tuple(self._widening(sent)) if sent.filter is not None else (),
        )

    def _reading(self, sent: Sent) -> object:
        """A filter, and the types of the columns that it reads."""
        condition = self.condition(sent)
        assert sent.entry is not None
        assert sent.filter is not None
        columns = self.catalog.relations[sent.entry.relation].columns
        read = [columns[number - 1] for number in sent.filter.columns]
        own = sent.entry.relation == sent.relation or condition.of
        return condition.sql, own, tuple((one.name, one.type, one.typmod, one.not_null) for one in read)

    def _unused(self, sent: Sent) -> list[rows.PublicationRel]:
        """Memberships of the table and of its ancestors whose filters do not count."""
        found = []
        for oid in self._family(sent.relation):
            member = self.catalog.members.get((sent.publication, oid))
            if member is not None:
                entry = self.catalog.publication_rels[member]
                if entry.filter is not None and entry.filter is not sent.filter:
                    found.append(entry)
        return found

    def _names(self, sent: Sent) -> list[str]:
        columns = self.catalog.relations[sent.relation].columns
        return [columns[number - 1].name for number in sent.columns]

    def condition(self, sent: Sent) -> Condition:
        assert sent.entry is not None
        return self._condition(sent.entry)

    def _condition(self, entry: rows.PublicationRel) -> Condition:
        known = self._conditions.get(entry.oid)
        if known is None:
            assert entry.filter is not None
            statement = self.statements[entry.place.source, entry.place.statement]
            sql = condition(statement.text, entry.place.start)
            relation = self.catalog.relations[entry.relation]
            known = self._conditions[entry.oid] = Condition(
                sql or "(not shown: its text was not found)",
                _canonical(sql) if sql is not None else None,
                tuple(relation.columns[number - 1].name for number in entry.filter.columns),
                self.name(entry.relation),
            )
        return known

    def _answer(self, row: rows.Publication, members: list[Sent]) -> Answer:
        first = members[0]
        relation = self.catalog.relations[first.relation]
        facts = self.facts(first.relation)
        entry = first.entry
        listed = entry is not None and entry.columns is not None
        sent_names = self._names(first)
        left_out = tuple([name for name in facts.columns if name not in set(sent_names)])
        identity = facts.identity
        if any(self._facts[sent.relation].identity != identity for sent in members):
            identity = replace(identity, columns=())
        filtered = None if first.filter is None else self.condition(first)
        samples = Samples()
        if first.filter is not None:
            source = self.catalog.relations[entry.relation] if entry is not None else relation
            samples = self.sampler(first.filter, source)
        noted = self._noted_tables(row)
        notes = [
            found
            for sent in members
            if not self._facts[sent.relation].alone or self._facts[sent.relation].name in noted
            for found in self._about(sent, row.name)
        ]
        return Answer(
            tuple([self._facts[sent.relation].name for sent in members]),
            first.how,
            None if first.through == first.relation else self.name(first.through),
            None if first.arrives_as == first.relation else self.name(first.arrives_as),
            first.operations,
            first.truncate_sent,
            filtered,
            tuple(self._condition(each) for each in self._unused(first)),
            tuple(sent_names) if listed else None,
            left_out,
            identity,
            tuple(self.refused.get(facts.name, ())),
            changes_of(samples) if first.filter is not None and "update" in first.operations else (),
            examples_of(samples),
            tuple(self._widening(first)) if first.filter is not None else (),
            tuple(self._same(first)) if first.filter is not None else (),
            self._noted(notes),
            "certain" if first.certain and (first.filter is None or first.filter.judged) else "assumed",
            self._initial_copy(row, first),
            self._not_compared(first) if first.filter is not None else 0,
        )

    def _alongside(self, sent: Sent) -> list[Sent]:
        """What publications send of the same table under the same name, those without a filter first."""
        key = sent.relation, sent.arrives_as
        if key not in self._same_name:
            found = [other for other in self.of_table[sent.relation] if other.arrives_as == sent.arrives_as]
            self._same_name[key] = sorted(found, key=lambda other: other.filter is not None)
        return self._same_name[key]

    def _others(self, sent: Sent) -> list[Sent]:
        """The others among them, as many as are compared."""
        others = (other for other in self._alongside(sent) if other.publication != sent.publication)
        return list(islice(others, _COMPARED))

    def _not_compared(self, sent: Sent) -> int:
        return max(0, len(self._alongside(sent)) - 1 - _COMPARED)

    # --- The initial copy -------------------------------------------------------------------------------------------

    def _initial_copy(self, row: rows.Publication, sent: Sent) -> InitialCopy | None:
        differences: list[CopyDifference] = []
        if "insert" not in sent.operations:
            text = "the rows that are there are copied, although INSERT is not published"
            differences.append(CopyDifference("insert not published", text))
        if not self.catalog.relations[sent.relation].partition:
            sql = None if sent.filter is None else self.condition(sent).sql
            return InitialCopy(None, sql, None, tuple(differences))
        if row.oid not in self._copies:
            self._copies[row.oid] = {each.relation: each for each in copied(self.catalog, [row.oid])}
        found = [each for oid in self._family(sent.relation) if (each := self._copies[row.oid].get(oid)) is not None]
        if not found:
            return None
        taken = next((each for each in found if each.relation == sent.arrives_as), found[-1])
        if not _same_rows([condition for _, condition in taken.filters], sent.filter):
            differences.append(CopyDifference("other rows", "the changes are sent by another filter"))
        return self._copied(found, taken, sent.relation, self._names(sent), differences)

    def _copied(
        self, found: list[Copied], taken: Copied, relation: int, sent: Sequence[str], differences: list[CopyDifference]
    ) -> InitialCopy:
        """``found``: all copies that take the rows of ``relation``, ``taken`` the one that counts."""
        catalog = self.catalog
        source = catalog.relations[taken.relation]
        columns = [source.columns[number - 1].name for number in taken.columns]
        if set(columns) != set(sent):
            lacking = [name for name in columns if name not in sent]
            more = f"{', '.join(lacking)} too" if lacking else f"only {', '.join(columns)}"
            differences.append(CopyDifference("other columns", f"the copy has {more}"))
        lost = self._never_sent(taken.relation) if source.kind == "p" else {}
        for reason, names in lost.items():
            text = f"the copy has the rows of {', '.join(names)} ({reason}), of which no change is ever sent"
            differences.append(CopyDifference("never sent", text))
        if len(found) > 1:
            names = [self.name(each.relation) for each in found]
            differences.append(CopyDifference("twice", f"the rows are copied once for each of {', '.join(names)}"))
        parts = [self._condition(self._member(oid, taken.relation)).sql for oid, _ in taken.filters]
        return InitialCopy(
            None if taken.relation == relation else self.name(taken.relation),
            (parts[0] if len(parts) == 1 else " OR ".join(f"({part})" for part in parts)) if parts else None,
            None if set(columns) == set(sent) else tuple(columns),
            tuple(differences),
        )

    def _never_sent(self, root: int) -> dict[str, list[str]]:
        """The partitions below a root of which changes are never sent, by the reason."""
        if root not in self._lost:
            lost: dict[str, list[str]] = {}
            self._lost[root] = lost
            for oid in self.catalog.descendants(root):
                reason = unpublishable(self.catalog.relations[oid])
                if reason is not None:
                    lost.setdefault(reason, []).append(self.name(oid))
        return self._lost[root]

    def _member(self, publication: int, relation: int) -> rows.PublicationRel:
        return self.catalog.publication_rels[self.catalog.members[publication, relation]]

    # --- What other publications of a table have to do with it --------------------------------------------------------

    def _widening(self, sent: Sent) -> list[Widening]:
        found = []
        for other in self._others(sent):
            operations = tuple(one for one in other.operations if one in sent.operations and one != "truncate")
            if not operations:
                continue
            sql = None
            if other.filter is not None:
                if self._alike(sent, other):
                    continue
                sql = self.condition(other).sql
            found.append(Widening(self.catalog.publications[other.publication].name, sql, operations))
        return found

    def _same(self, sent: Sent) -> list[Same]:
        return [
            Same(
                self.catalog.publications[other.publication].name,
                self.condition(other).sql == self.condition(sent).sql,
            )
            for other in self._others(sent)
            if other.filter is not None and self._alike(sent, other)
        ]

    def _alike(self, sent: Sent, other: Sent) -> bool:
        """Whether two filters of one table have the same canonical form, and no literal in them whose value was fixed
        when the filter was read: then the same text can mean two things."""
        if sent.filter is None or other.filter is None or sent.filter.frozen or other.filter.frozen:
            return False
        one, two = self.condition(sent), self.condition(other)
        return one.of == two.of and one.canonical is not None and one.canonical == two.canonical

    # --- Several publications in one subscription --------------------------------------------------------------------

    def _together(self) -> Iterable[tuple[str, ...]]:
        if self.wanted.subscriptions:
            return self.wanted.subscriptions
        named = [tuple(name for name, _ in row.publications) for row in self.catalog.subscriptions.values()]
        return dict.fromkeys(names for names in named if len(names) > 1)

    def _subscription(self, names: tuple[str, ...]) -> Subscription:
        known = self.catalog.publication_names
        oids = [known[name] for name in names if name in known]
        groups: dict[object, tuple[list[Combined], InitialCopy | None]] = {}
        tables = dict.fromkeys(sent.relation for oid in oids for sent in self.sent[oid])
        copies = {each.relation: each for each in copied(self.catalog, oids)}
        for table in tables:
            combined = combine(self.catalog, oids, table)
            if combined is not None:
                copy = self._copied_together(combined, copies)
                groups.setdefault((self._combined_key(combined), copy), ([], copy))[0].append(combined)
        return Subscription(
            names,
            tuple(name for name in names if name not in known),
            tuple(self._combined(members, copy) for members, copy in groups.values()),
        )

    def _copied_together(self, row: Combined, copies: Mapping[int, Copied]) -> InitialCopy | None:
        found = [each for oid in self._family(row.relation) if (each := copies.get(oid)) is not None]
        if row.conflict is not None or not found:
            return None
        taken = next((each for each in found if each.relation == row.arrives_as), found[-1])
        differences: list[CopyDifference] = []
        if row.insert is None:
            text = "the rows that are there are copied, although INSERT is not published"
            differences.append(CopyDifference("insert not published", text))
        elif {oid for oid, _ in taken.filters} != {oid for oid, _ in row.insert}:
            who = ", ".join(self.catalog.publications[oid].name for oid, _ in row.insert)
            text = f"INSERTs are sent by the filters of {who} alone" if who else "INSERTs of all rows are sent"
            differences.append(CopyDifference("other rows", text))
        return self._copied(found, taken, row.relation, self._column_names(row), differences)

    def _combined_key(self, row: Combined) -> object:
        filters = tuple(
            None if found is None else tuple(self._part(oid, row) for oid, _ in found)
            for found in (row.insert, row.update, row.delete)
        )
        own = row.arrives_as == row.relation
        everything = self._all_columns(row)
        return (
            row.publications,
            row.overruled,
            None if own else row.arrives_as,
            filters,
            row.truncate,
            None if everything else tuple(self._column_names(row)),
            row.widened_by,
            None if row.conflict is None else row.conflict.rule,
            row.certain,
        )

    def _column_names(self, row: Combined) -> list[str]:
        columns = self.catalog.relations[row.relation].columns
        return [columns[number - 1].name for number in row.columns]

    def _all_columns(self, row: Combined) -> bool:
        """Whether no publication that counts has a column list."""
        for oid in row.publications:
            member = self.catalog.members.get((oid, row.arrives_as))
            if member is not None and self.catalog.publication_rels[member].columns is not None:
                return False
        return True

    def _part(self, publication: int, row: Combined) -> PartOfFilter:
        entry = self._member(publication, row.arrives_as)
        return PartOfFilter(self.catalog.publications[publication].name, self._condition(entry).sql)

    def _sending(self, operation: str, filters: Filters, row: Combined) -> Sending:
        parts = tuple(self._part(oid, row) for oid, _ in filters)
        whole = " OR ".join(f"({part.sql})" for part in parts)
        return Sending(operation, parts, _canonical(whole) if parts else None)  # type: ignore[arg-type]

    def _combined(self, members: list[Combined], copy: InitialCopy | None) -> Together:
        first = members[0]
        publications = self.catalog.publications
        found = [(operation, first.filters(operation)) for operation in OPERATIONS]
        return Together(
            tuple(self.name(row.relation) for row in members),
            tuple(publications[oid].name for oid in first.publications),
            tuple(publications[oid].name for oid in first.overruled),
            None if first.arrives_as == first.relation else self.name(first.arrives_as),
            tuple(self._sending(operation, filters, first) for operation, filters in found if filters is not None),
            None if self._all_columns(first) else tuple(self._column_names(first)),
            tuple(publications[oid].name for oid in first.widened_by),
            None if first.conflict is None else first.conflict.server.message,
            "certain" if first.certain else "assumed",
            copy,
        )


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
    )


def _same_rows(filters: Sequence[rows.Filter], one: rows.Filter | None) -> bool:
    return list(filters) == ([] if one is None else [one])


@cache
def _canonical(sql: str) -> str | None:
    from pubcheck.replication.canonical import canonical

    return canonical(sql)
