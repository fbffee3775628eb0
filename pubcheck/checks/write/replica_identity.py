"""Write phase: which UPDATE or DELETE of a published table the publisher refuses (execReplication.c:
CheckCmdReplicaIdentity), each with its cause, and the order in which the server meets the causes.

RelationBuildPublicationDesc (relcache.c) looks at the publications of a table in turn and notes which checks fail;
CheckCmdReplicaIdentity reports the first of these checks. When the cause of that is gone, the next one comes to light.
A missing replica identity is only looked for where all checks pass.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, product
from typing import Literal

from msgspec import Struct

from pubcheck.diagnostics import Diagnostic, ServerAnswer
from pubcheck.postgres.catalog import OTHER, RELATION, Catalog
from pubcheck.postgres.catalog.rows import OtherObject, Place, Publication, PublicationRel, Relation
from pubcheck.postgres.replication.publication_lookup import (
    ReplicaIdentity,
    identity_check_entry,
    is_publishable,
    partition_columns,
    publications_of,
    replica_identity,
)
from pubcheck.rulebook import finder

Write = Literal["update", "delete"]

WRITES: tuple[Write, ...] = ("update", "delete")


class Cause(Struct, frozen=True):
    """A failed check for one publication of a table, so that UPDATE and DELETE of the table are refused.

    ``rule`` is a code. ``check`` is the number of the check in _CHECKS. ``entry`` is the membership that causes it,
    ``column`` the attribute's name and ``place`` where it is written.
    """

    rule: str
    publication: Publication
    check: int
    certain: bool
    column: str = ""
    entry: PublicationRel | None = None
    place: Place | None = None


def causes_in(
    catalog: Catalog, relation: Relation, identity: ReplicaIdentity, publication: Publication
) -> tuple[Cause, ...]:
    """Return the checks that fail for one publication of a table, whatever operations it publishes.

    They do not depend on other publications.
    """
    entry = None if publication.all_tables else identity_check_entry(catalog, publication, relation)
    # Without an entry there is neither a filter nor a column list.
    checks = (_generated_cause, _identity_cause) if entry is None else _CHECKS
    return tuple(
        [cause for check in checks if (cause := check(catalog, relation, identity, publication, entry)) is not None]
    )


@finder("PUB301", "PUB304")
def _filter_cause(
    catalog: Catalog,
    relation: Relation,
    identity: ReplicaIdentity,
    publication: Publication,
    entry: PublicationRel | None,
) -> Cause | None:
    """pub_rf_contains_invalid_column: a filter column outside the identity; any will do under FULL."""
    if entry is None or entry.filter is None or identity.full or not identity.known:
        return None
    source = catalog.relations[entry.relation]
    for number in entry.filter.columns:
        if identity.columns.isdisjoint(partition_columns(source, relation, (number,))):
            name = source.columns[number - 1].name
            place = next((place for column, place in entry.filter.places if column == number), None)
            rule = "PUB304" if relation.partition else "PUB301"
            return Cause(rule, publication, FILTER, publication.seen and entry.filter.analysed, name, entry, place)
    return None


@finder("PUB406")
def _columns_cause(
    catalog: Catalog,
    relation: Relation,
    identity: ReplicaIdentity,
    publication: Publication,
    entry: PublicationRel | None,
) -> Cause | None:
    """pub_contains_invalid_column: every column of the identity is listed, and there is no list under FULL."""
    if entry is None or entry.columns is None:
        return None
    place = None
    if entry.column_places:
        first, last = entry.column_places[0][1], entry.column_places[-1][1]
        place = Place(first.source, first.statement, first.start, last.end)
    if identity.full:
        return Cause("PUB406", publication, COLUMN_LIST, publication.seen, "", entry, place)
    listed = partition_columns(catalog.relations[entry.relation], relation, entry.columns)
    for number in sorted(identity.columns):
        if number not in listed:
            name = relation.columns[number - 1].name
            return Cause("PUB406", publication, COLUMN_LIST, publication.seen, name, entry, place)
    return None


@finder("PUB303")
def _generated_cause(
    catalog: Catalog,
    relation: Relation,
    identity: ReplicaIdentity,
    publication: Publication,
    entry: PublicationRel | None,
) -> Cause | None:
    """pub_contains_invalid_column, since 18: the identity has a generated column that is not published."""
    if not catalog.major.publish_generated_columns:
        return None
    generated = [number for number in identity.columns if relation.columns[number - 1].generated]
    if not generated:
        return None
    if not identity.full and entry is not None and entry.columns is not None:
        return None
    for number in sorted(generated):
        column = relation.columns[number - 1]
        if column.generated == "v" or publication.generated != "s":
            return Cause("PUB303", publication, GENERATED, publication.seen, column.name, entry)
    return None


@finder("PUB302")
def _identity_cause(
    catalog: Catalog,
    relation: Relation,
    identity: ReplicaIdentity,
    publication: Publication,
    entry: PublicationRel | None,
) -> Cause | None:
    """The table has no replica identity."""
    missing = identity.known and not identity.exists
    return Cause("PUB302", publication, NO_IDENTITY, publication.seen) if missing else None


_CHECKS = (_filter_cause, _columns_cause, _generated_cause, _identity_cause)
"""The checks in the order in which CheckCmdReplicaIdentity reports their failures."""

CHECKS = range(4)

FILTER, COLUMN_LIST, GENERATED, NO_IDENTITY = CHECKS
"""Numbers of the checks."""


_ACTIONS = ("insert", "update", "delete", "truncate")
_CHECKED = range(NO_IDENTITY)

_MOST = 1000
"""The number of failing publications up to which each one that overwrites another's result is followed."""


class Line:
    """The causes of one table. ``publications`` in the server's order, with the ``causes`` of each."""

    def __init__(
        self, publications: Sequence[Publication], causes: Sequence[tuple[Cause, ...]], *, overwrites: bool
    ) -> None:
        """``overwrites``: whether a publication whose column list or generated columns fail decides alone which of the
        two the server reports, so that the last one wins (18 and later)."""
        self._publications, self._causes = publications, causes
        self._all_published = _all_published(publications)
        checks = {cause.check for cause in chain.from_iterable(causes)}
        at_fault = sum(map(bool, causes))
        self._overwrites = overwrites and checks.issuperset((COLUMN_LIST, GENERATED)) and at_fault <= _MOST

    def of(self, write: Write) -> Iterator[Cause]:
        """The causes of one write in the order in which the server meets them."""
        by_check = self._overwriting(write) if self._overwrites else self._in_turn(write)
        for number, check in by_check:
            yield next(cause for cause in self._causes[number] if cause.check == check)
        for publication, causes in zip(self._publications, self._causes, strict=True):
            if getattr(publication, write):
                yield from (cause for cause in causes if cause.check == NO_IDENTITY)

    def _waiting(self) -> dict[tuple[Write, int], deque[int]]:
        """Return the publications for which each check fails, by write and check."""
        keys = product(WRITES, _CHECKED)
        waiting: dict[tuple[Write, int], deque[int]] = {key: deque() for key in keys}
        for number, causes in enumerate(self._causes):
            for cause in causes:
                for write in WRITES:
                    if cause.check != NO_IDENTITY and getattr(cause.publication, write):
                        waiting[write, cause.check].append(number)
        return waiting

    def _in_turn(self, write: Write) -> Iterator[tuple[int, int]]:
        """The server looks no further once all four operations are published and one check has failed for both writes:
        what fails in a later publication is then not found, though its check would be reported first."""
        waiting, gone = self._waiting(), set[tuple[int, int]]()
        end = len(self._causes)
        while True:
            for (_, check), numbers in waiting.items():
                while numbers and (numbers[0], check) in gone:
                    numbers.popleft()
            first = {key: numbers[0] if numbers else end for key, numbers in waiting.items()}
            last = min(max(first["update", check], first["delete", check], self._all_published) for check in _CHECKED)
            check_name = next((check for check in _CHECKED if first[write, check] <= min(last, end - 1)), None)
            if check_name is None:
                return
            gone.add((first[write, check_name], check_name))
            yield first[write, check_name], check_name

    def _overwriting(self, write: Write) -> Iterator[tuple[int, int]]:
        """Like ``_in_turn``, but a failing column list or generated column replaces the earlier ones."""
        checks_of = ({cause.check for cause in causes}.intersection(_CHECKED) for causes in self._causes)
        failing = {number: checks for number, checks in enumerate(checks_of) if checks}
        while (reported := self._reported(failing, write)) is not None:
            number = next(
                number
                for number, checks in failing.items()
                if reported in checks and getattr(self._publications[number], write)
            )
            yield number, reported
            failing[number].discard(reported)
            if not failing[number]:
                del failing[number]

    def _reported(self, failing: dict[int, set[int]], write: Write) -> int | None:
        """The check whose failure is reported for a write."""
        noted: dict[Write, set[int]] = {operation: set() for operation in WRITES}
        for number, checks in failing.items():
            if number > self._all_published and noted["update"] & noted["delete"]:
                break
            for operation in WRITES:
                if getattr(self._publications[number], operation):
                    checks_seen = noted[operation] & {0} if checks - {0} else noted[operation]
                    noted[operation] = checks_seen | checks
            if number >= self._all_published and noted["update"] & noted["delete"]:
                break
        return min(noted[write], default=None)


def _all_published(publications: Sequence[Publication]) -> int:
    """The publication with which all four operations are published; the number of publications where none is."""
    published: set[str] = set()
    for number, publication in enumerate(publications):
        published.update(action for action in _ACTIONS if getattr(publication, action))
        if len(published) == len(_ACTIONS):
            return number
    return len(publications)


WRITING = frozenset(("UpdateStmt", "DeleteStmt", "InsertStmt", "MergeStmt"))
"""The nodes of the statements that write tables; others may have them inside."""

AFTER = 10
"""The number of earlier causes that a refusal lists. A table can be in tens of thousands of publications."""

_FILTER = "Column used in the publication WHERE expression is not part of the replica identity."
_COLUMNS = "Column list used by the publication does not cover the replica identity."
_GENERATED = "Replica identity must not contain unpublished generated columns."


class Refusal(Struct, frozen=True):
    """One cause for which the server refuses an operation on a table, with the answer after all earlier causes are
    removed.

    ``number`` is the number of causes that the server meets first: 0 for today's answer. ``after``
    lists the first of these, as publication and rule. ``total`` counts all causes of this operation on the table,
    ``of_publication`` those of this publication.
    """

    operation: Write
    relation: int
    server: ServerAnswer
    publication: int
    certain: bool
    cause: Cause
    number: int = 0
    after: tuple[tuple[int, str], ...] = ()
    total: int = 1
    of_publication: int = 1

    @property
    def rule(self) -> str:
        return self.cause.rule

    @property
    def column(self) -> str:
        return self.cause.column

    @property
    def entry(self) -> PublicationRel | None:
        return self.cause.entry


class RefusedDml(Struct, frozen=True):
    """A statement of the files that is refused for what it writes (``checks.refused_dml``): the table that the server
    names, the operation, the place since which it is refused, its diagnostic, and the ``RefusedWrites.clock`` at which
    it would run."""

    key: tuple[int, Write, Place]
    diagnostic: Diagnostic
    clock: int


def refusals(catalog: Catalog, relation: Relation) -> dict[Write, tuple[Refusal, ...]]:
    """Return the causes for which the server refuses EXPLAIN UPDATE and DELETE of one table, in the server's order.

    An operation that it accepts is not in the result. A partitioned table itself is never refused, but its leaves are.
    """
    publications = publications_of(catalog, relation) if _is_checked(relation) else []
    if not publications:
        return {}
    identity = replica_identity(catalog, relation)
    causes = [causes_in(catalog, relation, identity, publication) for publication in publications]
    if not any(causes):
        # Most tables: nothing is wrong with any of their publications.
        return {}
    from pubcheck.checks.write.replica_identity import Line

    line = Line(publications, causes, overwrites=catalog.major.publish_generated_columns)
    refusals_by_write = {}
    for write in WRITES:
        if not _never_written(catalog, relation, write) and (met := list(line.of(write))):
            refusals_by_write[write] = _in_order(catalog, relation, write, met)
    return refusals_by_write


def causes_of(catalog: Catalog, relation: Relation, publications: Iterable[Publication]) -> dict[Write, list[Cause]]:
    """Return the causes for which writes of a table are refused because of these publications, in any order."""
    if not _is_checked(relation):
        return {}
    identity = replica_identity(catalog, relation)
    causes = [cause for publication in publications for cause in causes_in(catalog, relation, identity, publication)]
    if not causes:
        return {}
    return {
        write: [cause for cause in causes if getattr(cause.publication, write)]
        for write in WRITES
        if not _never_written(catalog, relation, write)
    }


def _is_checked(relation: Relation) -> bool:
    return relation.kind == "r" and is_publishable(relation)


def _in_order(catalog: Catalog, relation: Relation, operation: Write, met: list[Cause]) -> tuple[Refusal, ...]:
    """The causes of one operation, each with the server's answer."""
    seen = relation.seen and all(catalog.relations[oid].seen for oid in catalog.ancestors(relation.oid))
    first = tuple((cause.publication.oid, cause.rule) for cause in met[:AFTER])
    own: dict[int, int] = {}
    for cause in met:
        own[cause.publication.oid] = own.get(cause.publication.oid, 0) + 1
    return tuple(
        Refusal(
            operation,
            relation.oid,
            _answer(relation, operation, cause.check),
            cause.publication.oid,
            seen and cause.certain,
            cause,
            number,
            first[:number],
            len(met),
            own[cause.publication.oid],
        )
        for number, cause in enumerate(met)
    )


def _answer(relation: Relation, operation: Write, check: int) -> ServerAnswer:
    verb = "update" if operation == "update" else "delete from"
    if check != NO_IDENTITY:
        detail = (_FILTER, _COLUMNS, _GENERATED)[check]
        return ServerAnswer("42P10", f'cannot {verb} table "{relation.name}"', detail)
    gerund = "updating" if operation == "update" else "deleting from"
    return ServerAnswer(
        "55000",
        f'cannot {verb} table "{relation.name}" because it does not have a replica identity and publishes {operation}s',
        hint=f"To enable {gerund} the table, set REPLICA IDENTITY using ALTER TABLE.",
    )


def others_on(catalog: Catalog, relation: Relation, kind: str) -> list[OtherObject]:
    """The rules or triggers of a table or view."""
    dependents = catalog.dependents.groups.get((RELATION, relation.oid), ())
    if len(catalog.others) <= len(dependents):
        # A table can be in tens of thousands of publications, which depend on it too.
        rows: Iterable[OtherObject | None] = list(catalog.others.values())
    else:
        rows = [catalog.others.get(key[1]) for key, _, _ in dependents if key[0] == OTHER]
    return [row for row in rows if row is not None and row.kind == kind and row.namespace == relation.oid]


def is_replaced(catalog: Catalog, relation: Relation, write: Write) -> bool:
    """Return whether a rule of the table always does something else instead (rewriteHandler.c)."""
    return any(rule.instead == write and rule.enabled for rule in others_on(catalog, relation, "rule"))


def _never_written(catalog: Catalog, relation: Relation, write: Write) -> bool:
    """Return whether rules replace every write of the table.

    A rule counts only in statements that name its table, not in those that reach the table through a parent.
    """
    return is_replaced(catalog, relation, write) and all(
        _never_written(catalog, catalog.relations[parent], write) for parent in relation.parents
    )
