"""The input of the rules that check a unit's final state, and the findings that they yield."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from pubcheck.diagnostics import ConsumerClaim, Operation, ServerAnswer, Severity
from pubcheck.postgres.catalog import PUBLIC, Catalog
from pubcheck.postgres.catalog.rows import EMBEDDED, Place, Publication, PublicationRel, Relation, Subscription
from pubcheck.postgres.replication.publication_lookup import route
from pubcheck.postgres.session import Session
from pubcheck.rulebook import finder
from pubcheck.source import has_unknown_order
from pubcheck.statement_index import Statements

if TYPE_CHECKING:
    from typing import Any, Protocol, TypeVar

    from pubcheck.checks.publication_history import History
    from pubcheck.checks.write.replica_identity import Refusal, Write
    from pubcheck.consumers.profiles import ConsumerUse
    from pubcheck.live.document import Snapshot
    from pubcheck.live.server_facts import ServerFacts, Slot, Statistics

    class Placed(Protocol):
        """A row that was written somewhere."""

        @property
        def place(self) -> Place | None: ...

    _Row = TypeVar("_Row", bound=Placed)
    _Fact = TypeVar("_Fact")


class RuleFinding(Struct, frozen=True, kw_only=True):
    """A diagnostic before it is attached to its statement.

    ``rule`` is its code and ``place`` the text to change. ``related`` are further places, each with its label.
    ``severity`` overrides that of the rule's page. ``also`` are relations to which the finding applies as it does to
    ``object``. ``columns`` are those that the message names or counts, ``mentions`` the other objects in it: schemas,
    types, subscriptions. ``assumptions`` are those of the rule itself; ``claim`` is the claim about a consumer.
    """

    rule: str
    message: str
    help: str
    place: Place
    certain: bool
    related: tuple[tuple[Place, str], ...] = ()
    object: str | None = None
    publications: tuple[str, ...] = ()
    operation: Operation | None = None
    severity: Severity | None = None
    server: ServerAnswer | None = None
    notices: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    claim: ConsumerClaim | None = None


class Filtered(Struct, frozen=True):
    """A membership with a row filter that is in use: the relation's changes are sent under its own name."""

    entry: PublicationRel
    publication: Publication
    relation: Relation

    @property
    def place(self) -> Place:
        return self.entry.place

    @property
    def certain(self) -> bool:
        return (
            self.publication.seen
            and self.relation.seen
            and self.entry.filter is not None
            and (self.entry.filter.analysed)
        )


NOT_ELSEWHERE = "whether something outside these files creates it"
"""The assumption of a finding that says that something is not created."""
ONE_SUBSCRIPTION = "whether one subscription takes these publications together"
"""The assumption of a finding about several publications if the unit has no subscription to them."""

MENTIONED = 3
"""The number of names that a sentence lists before it counts the rest."""
COMPARED = 100
"""The number of other publications that a publication of a table is compared with if no subscription to both is
known."""
RELATED = 5
"""The number of further places that a finding points at."""


class RuleContext:
    """The final state of a unit in one major, with what its history was found to hold."""

    def __init__(
        self,
        session: Session,
        history: History,
        refused: Sequence[tuple[Refusal, Place]],
        statements: Statements,
        consumers: Sequence[ConsumerUse] = (),
        commented: Mapping[tuple[int, int], Sequence[ConsumerUse]] = {},
    ) -> None:
        """``refused`` are the causes for which writes are refused, each with the place since which it is one.

        ``consumers`` are those of the configuration, ``commented`` those that comments name, by source and statement.
        """
        self.session = session
        self.catalog: Catalog = session.catalog
        self.history = history
        self.statements, self.consumers, self.commented = statements, consumers, commented
        self._refused, self._sources = refused, statements.sources
        self.at: Placed | None = None
        """The row that the running rule has reached."""
        self._facts: dict[Callable[[RuleContext], Any], Any] = {}
        self.left_out: set[int] = set()
        """The rows, by identity, at which the running rule failed and which it skips when it runs again."""

    def visit(self, rows: Iterable[_Row]) -> Iterator[_Row]:
        """Rows that a rule looks at one by one, so that it is known at which one it fails."""
        before = self.at
        for row in rows:
            if id(row) not in self.left_out:
                self.at = row
                yield row
        self.at = before

    def once(self, compute: Callable[[RuleContext], _Fact]) -> _Fact:
        """Return what a function computes from this context, which is computed once."""
        if compute not in self._facts:
            self._facts[compute] = compute(self)
        fact: _Fact = self._facts[compute]
        return fact

    def visited(self) -> Placed | None:
        """Return the row that the running rule has reached, or failed at."""
        return self.at

    @cached_property
    def refused(self) -> dict[tuple[int, Write], tuple[Refusal, Place]]:
        """The writes that are refused, by table, each with the cause that the server reports."""
        return {
            (refusal.relation, refusal.operation): (refusal, place)
            for refusal, place in self._refused
            if not refusal.number
        }

    @cached_property
    def texts(self) -> list[str]:
        """The sources as they are in their files, comments and other languages too."""
        return [source.shown for source in self._sources]

    @cached_property
    def _snapshot(self) -> tuple[int, Snapshot] | None:
        """The catalogs with facts or statistics among the sources, with their number."""
        if all(source.listing is None for source in self._sources):
            return None
        from pubcheck.live.document import snapshots

        rows = snapshots(self._sources).items()
        return next(((number, row) for number, row in rows if row.facts or row.statistics), None)

    @cached_property
    def facts(self) -> ServerFacts | None:
        """The facts about the running server whose catalogs are a source."""
        return self._snapshot[1].facts if self._snapshot is not None else None

    @cached_property
    def statistics(self) -> Statistics | None:
        """The statistics of the database that is a source."""
        return (self._snapshot[1].facts or self._snapshot[1].statistics) if self._snapshot is not None else None

    @cached_property
    def _addresses(self) -> dict[str, Place]:
        if self._snapshot is None:
            return {}
        source, snapshot = self._snapshot
        return {row.address: Place(source, number, 0, 0) for number, row in enumerate(snapshot.objects)}

    def is_listed(self, place: Place | None) -> bool:
        """Return whether something was there before any statement: in a database or a snapshot of one."""
        return place is not None and self._sources[place.source].listing is not None

    def slot_reading(self, publication: str) -> Slot | None:
        """Return a slot of the running server whose reader asks for a publication."""
        slots = self.facts.slots if self.facts is not None else ()
        asking = [slot for slot in slots if slot.reader is not None and publication in slot.reader.publications]
        return max(asking, key=lambda slot: slot.has_known_reader, default=None)

    def place_at(self, address: str) -> Place:
        """Return the place of an object of the running server, such as ``slot crm``."""
        return self._addresses[address]

    def in_order(self, place: Place) -> bool:
        """Return whether the statements run in the order in which they are written. This is unknown for programs."""
        return not has_unknown_order(self._sources[place.source])

    def age(self, row: Relation | PublicationRel) -> tuple[int, ...]:
        """Return the position of a row's creation in the order of the unit. The objects of a database are listed by
        name: their oids give the order."""
        assert row.place is not None
        if self._sources[row.place.source].listing is not None:
            return row.place.source, row.oid
        return order(row.place)

    def outer(self, place: Place) -> int:
        """Return the number of the top-level statement of a place."""
        outer, number = divmod(place.statement, EMBEDDED)
        return outer - 1 if outer else number

    def name(self, relation: Relation) -> str:
        """Return a relation's name without the schema public."""
        if relation.namespace == PUBLIC:
            return relation.name
        return f"{self.catalog.namespaces[relation.namespace].name}.{relation.name}"

    def qualified(self, relations: Iterable[Relation]) -> tuple[str, ...]:
        """Return the qualified names of relations, each once."""
        return tuple(dict.fromkeys(map(self.session.qualified, relations)))

    @cached_property
    def entries(self) -> list[PublicationRel]:
        """All memberships, by place."""
        return sorted(self.catalog.publication_rels.values(), key=lambda entry: order(entry.place))

    @cached_property
    def filtered(self) -> list[Filtered]:
        """Memberships with a filter that the server uses, by place (get_rel_sync_entry)."""
        catalog, filtered_members = self.catalog, []
        for entry in self.entries:
            if entry.filter is None:
                continue
            publication, relation = catalog.publications[entry.publication], catalog.relations[entry.relation]
            if (publication.oid, relation.namespace) in catalog.schema_members:
                continue
            arrives = route(catalog, publication, relation)
            if arrives is not None and arrives.arrives_as == relation.oid:
                filtered_members.append(Filtered(entry, publication, relation))
        return filtered_members

    @cached_property
    def subscription_publications(self) -> list[tuple[Subscription, frozenset[int]]]:
        """The unit's subscriptions with those of their publications that the unit has."""
        names = self.catalog.publication_names
        return [
            (row, frozenset(names[name] for name, _ in row.publications if name in names))
            for row in self.catalog.subscriptions.values()
        ]

    def publications_of_subscription(self, subscription: Subscription) -> list[int]:
        """The unit's publications that a subscription names, in its order."""
        names = self.catalog.publication_names
        return [names[name] for name, _ in subscription.publications if name in names]

    def subscription_to(self, *publications: int) -> Subscription | None:
        """A subscription of the unit that names all of these publications."""
        of_first = self._subscriptions_of.get(publications[0], ())
        return next((row for row, named in of_first if named.issuperset(publications)), None)

    @cached_property
    def _subscriptions_of(self) -> dict[int, list[tuple[Subscription, frozenset[int]]]]:
        subscriptions: dict[int, list[tuple[Subscription, frozenset[int]]]] = {}
        for row, named in self.subscription_publications:
            for oid in named:
                subscriptions.setdefault(oid, []).append((row, named))
        return subscriptions

    def subscribed_with(self, publication: int) -> frozenset[int]:
        """The publications that subscriptions of the unit take together with one, and this one."""
        publication_sets = [named for _, named in self._subscriptions_of.get(publication, ())]
        widest = max(publication_sets, key=len, default=frozenset[int]())
        # One that takes hundreds is not copied for each of them.
        return widest if all(map(widest.issuperset, publication_sets)) else widest.union(*publication_sets)

    def is_subscribed(self, *publications: int) -> bool:
        """Return whether the unit says who subscribes to one of them, so that nothing need be assumed."""
        return any(publication in self._subscriptions_of for publication in publications)

    def place_of(self, publication: Publication) -> Place | None:
        """Return where a publication is created, or else where it is first named."""
        if publication.place is not None:
            return publication.place
        catalog = self.catalog
        for member in catalog.members_of.get(publication.oid):
            return catalog.publication_rels[member].place
        for schema in catalog.schemas_of.get(publication.oid):
            return catalog.publication_namespaces[schema].place
        return None

    def leaves(self, relation: Relation) -> list[Relation]:
        """The ordinary tables whose rows are a relation's: itself, or the leaves of a partitioned table."""
        if relation.kind != "p":
            return [relation]
        rows = (self.catalog.relations[oid] for oid in self.catalog.descendants(relation.oid))
        return [row for row in rows if row.kind == "r"]


def by_publication(context: RuleContext) -> Iterator[tuple[Publication, list[Filtered]]]:
    """The filters in use, together for each publication."""
    groups: dict[int, list[Filtered]] = {}
    for filtered in context.visit(context.filtered):
        groups.setdefault(filtered.publication.oid, []).append(filtered)
    for filters in groups.values():
        for publication in context.visit((filters[0].publication,)):
            yield publication, filters


def published_roots(context: RuleContext, publication: Publication) -> list[Relation]:
    """The partitioned tables that a publication names, by itself, its schema or as one of all tables."""
    catalog = context.catalog
    if publication.all_tables:
        return [row for row in catalog.relations.values() if row.kind == "p" and not row.partition]
    relations = [catalog.publication_rels[member].relation for member in catalog.members_of.get(publication.oid)]
    for schema in catalog.schemas_of.get(publication.oid):
        relations += catalog.relations_in.get(catalog.publication_namespaces[schema].namespace)
    return [catalog.relations[oid] for oid in dict.fromkeys(relations) if catalog.relations[oid].kind == "p"]


Check = Callable[[RuleContext], Iterator[RuleFinding]]
CHECKS: dict[str, Check] = {}
"""The checks of a unit's final state, by the code of their rule."""


def finds(code: str) -> Callable[[Check], Check]:
    """Enter a check under the code of the rule whose findings it yields."""

    def enter(check: Check) -> Check:
        CHECKS[code] = check
        return finder(code)(check)

    return enter


def order(place: Place) -> tuple[int, int, int, int]:
    """Places in the order of the unit; what is inside a statement comes after its beginning."""
    outer, number = divmod(place.statement, EMBEDDED)
    if outer:
        return place.source, outer - 1, number, place.start
    return place.source, number, -1, place.start


def listed(names: Iterable[str], noun: str = "", last: str = "and") -> str:
    """'a, b and 3 more'; with a noun in the singular, "table a", "tables a and b". ``last``: "or" instead of "and"."""
    unique = list(dict.fromkeys(names))
    shown, rest = unique[:MENTIONED], len(unique) - MENTIONED
    if rest > 0:
        text = f"{', '.join(shown)} {last} {rest} more"
    elif len(shown) > 1:
        text = f"{', '.join(shown[:-1])} {last} {shown[-1]}"
    else:
        text = "".join(shown)
    if not noun:
        return text
    return f"{noun}{'s' if len(unique) > 1 else ''} {text}"


def quoted(names: Iterable[str]) -> list[str]:
    return [f'"{name}"' for name in names]


def first_places(places: Sequence[tuple[Place, str]]) -> tuple[tuple[Place, str], ...]:
    """The first few of further places."""
    return tuple(places[:RELATED])
