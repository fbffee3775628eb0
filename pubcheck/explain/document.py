"""The document of `pubcheck explain`: plain values, named and ordered as in `explain/explain.schema.json`.

Tables are named "schema.table" without quotes: the names are for reading. Tables for which a publication gives the same
answer share one ``Answer``.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from pubcheck.diagnostics import Certainty, Earlier, Operation, Severity
from pubcheck.findings import Entry

SCHEMA_VERSION = 1

Outcome = Literal["nothing", "INSERT", "UPDATE", "DELETE"]
How = Literal["table", "schema", "all tables"]


class Identity(Struct, frozen=True):
    """The replica identity: the columns of an old row by which a subscriber finds it.

    ``kind`` is "primary key", "index", "full", "nothing" (REPLICA IDENTITY NOTHING), "none" (no suitable key) or "not
    visible". ``columns`` are in the table's order; empty if the answer's tables have different ones.
    """

    kind: str
    columns: tuple[str, ...] = ()


class Table(Struct, frozen=True):
    """A table whose rows change, an ordinary one or a leaf partition, or a partitioned one above it; partitions that
    are never published are among them. ``partition_of`` is the direct parent.
    """

    name: str
    kind: Literal["table", "partition", "partitioned"]
    partition_of: str | None
    columns: tuple[str, ...]
    identity: Identity
    certainty: Certainty


class Condition(Struct, frozen=True):
    """A row filter: as written, in sqlglot's canonical form (null for what sqlglot does not read), and the columns it
    reads. ``of`` is the table whose filter it is, another than the answer's where a partition's root has it."""

    sql: str
    canonical: str | None
    columns: tuple[str, ...]
    of: str


class Value(Struct, frozen=True):
    """A column of an example row; ``sql`` is its value as SQL writes it, ``NULL`` for none."""

    column: str
    sql: str


Row = tuple[Value, ...]


class Change(Struct, frozen=True):
    """A line of the old/new-row table: an UPDATE with an example, and what the subscriber gets.

    ``old`` and ``new`` are None where no row was found that matches (or does not); ``why`` then says why, or that what
    changes between rows that look alike is another column.
    """

    old_matches: bool
    new_matches: bool
    sent: Outcome
    old: Row | None
    new: Row | None
    why: str | None = None


class Example(Struct, frozen=True):
    """A row and the result of the filter for it: true, false, null, or the error that evaluating it raises."""

    row: Row
    result: Literal["true", "false", "null", "error"]
    error: str | None = None


class CopyDifference(Struct, frozen=True):
    """How the initial copy differs from the changes replicated later: ``kind`` for programs, ``text`` for people."""

    kind: Literal["insert not published", "other rows", "other columns", "never published", "twice"]
    text: str


class InitialCopy(Struct, frozen=True):
    """The existing rows that a new subscriber of PostgreSQL 15 or later gets, unless it asks for no copy.

    ``table`` is the table under whose name they arrive, null for the answer's own. ``filter`` is the condition on which
    they are copied, null for all rows. ``columns`` are null if they are those that are replicated later.
    """

    table: str | None
    filter: str | None
    columns: tuple[str, ...] | None
    differences: tuple[CopyDifference, ...]


class Refused(Struct, frozen=True):
    """A cause for which the publisher refuses an operation, with the server's answer for the first table.

    If ``after_count`` is 0, this is today's answer. Otherwise it is the answer once that many other causes are removed;
    ``after`` lists the first of these. ``publications`` names the publication that causes it.
    """

    operation: Literal["update", "delete"]
    publications: tuple[str, ...]
    sqlstate: str
    message: str
    detail: str | None
    hint: str | None
    certainty: Certainty
    rule: str
    help: str | None
    after: tuple[Earlier, ...] = ()
    after_count: int = 0


class Widening(Struct, frozen=True):
    """Another publication that, in the same subscription, publishes rows that this filter excludes: all of them, or
    those of a filter of its own. ``operations`` are those for which it does."""

    publication: str
    filter: str | None
    operations: tuple[Operation, ...]


class Same(Struct, frozen=True):
    """Another publication whose filter for the same table has the same canonical form; ``identical``: and text."""

    publication: str
    identical: bool


class Note(Struct, frozen=True):
    """A finding of a rule. Rules about silent losses are included, even if they are off in `lint`."""

    rule: str
    name: str
    severity: Severity
    certainty: Certainty
    message: str
    help: str | None
    path: str
    line: int
    tables: tuple[str, ...] = ()


class Estimate(Struct, frozen=True):
    """Bounds of the share of a table's rows that a row filter publishes, estimated from the statistics of its columns.
    ``rows`` are those of the table."""

    rows: float
    low: float
    high: float


class FullCost(Struct, frozen=True):
    """The numbers on which the cost of REPLICA IDENTITY FULL depends, estimated from the server's counters: rows of the
    table, bytes of a row, and UPDATEs and DELETEs a day."""

    rows: int
    row_size: int
    changes_a_day: float


class Answer(Struct, frozen=True):
    """What a subscriber to this publication alone sees of these tables.

    ``operations`` are those of the publication; only TRUNCATE if the table is partitioned and no partition is
    published. ``arrives_as`` is the table under whose name the changes arrive, null if each table keeps its own.
    ``columns`` are the published ones, null if they are all that the publication's options allow (``left_out`` has the
    generated columns). ``truncate`` is false if TRUNCATE of the table itself is not published. ``named`` is the
    ancestor that the publication names. ``unused_filters`` were accepted but do not apply here: the schema is published
    too, or another table of the partition tree has the filter that applies. ``refused`` has all causes of this
    publication and the first of others, in the server's order. ``changes`` is empty if UPDATE is certainly refused.
    ``initial_copy`` is null if no rows are copied. ``not_compared`` counts the publications of these tables that were
    not compared for ``widened_by`` and ``same_filter``.
    """

    tables: tuple[str, ...]
    how: How
    named: str | None
    arrives_as: str | None
    operations: tuple[Operation, ...]
    truncate: bool
    filter: Condition | None
    unused_filters: tuple[Condition, ...]
    columns: tuple[str, ...] | None
    left_out: tuple[str, ...]
    identity: Identity
    refused: tuple[Refused, ...]
    changes: tuple[Change, ...]
    examples: tuple[Example, ...]
    widened_by: tuple[Widening, ...]
    same_filter: tuple[Same, ...]
    notes: tuple[Note, ...]
    certainty: Certainty
    initial_copy: InitialCopy | None = None
    not_compared: int = 0
    messages: tuple[str, ...] = ()
    """The examples as messages of the stream, if they were asked for."""
    estimate: Estimate | None = None
    """Of a running server, where all tables have one filter."""
    full_cost: FullCost | None = None
    """Of a running server, for one table."""


class SlotReader(Struct, frozen=True):
    """A slot of a running server whose reader asks for a publication.

    ``asks`` is "certain" if its walsender was asked for it, "assumed" if the ``subscription`` that has a slot of this
    name names it, and "unknown" if nothing shows what its reader asks for. ``behind`` is the WAL that the reader has
    not confirmed, in bytes.
    """

    slot: str
    active: bool
    asks: Literal["certain", "assumed", "unknown"]
    subscription: str | None
    wal_status: str | None
    behind: int | None


class NotSent(Struct, frozen=True):
    """Tables that belong to the publication's members and are accepted, yet never published."""

    reason: str
    tables: tuple[str, ...]


class Unmet(Struct, frozen=True):
    """A demand of a consumer that a publication does not meet: the claim, how severe that is, and the tables at
    fault."""

    claim: str
    severity: Severity
    says: str
    tables: tuple[str, ...]


class ConsumerView(Struct, frozen=True):
    """A consumer of a publication: how many demands it has, those that are not met, and what it does with what the
    publication offers. ``certainty`` is assumed if only the name of the publication says who reads it."""

    consumer: str
    name: str
    certainty: Certainty
    modes: tuple[str, ...]
    demands: int
    unmet: tuple[Unmet, ...]
    effects: tuple[str, ...]


class Publication(Struct, frozen=True):
    """``kind``: what it names. ``via_root`` is publish_via_partition_root, ``generated_columns`` 18's option.

    ``sequences`` are those that ALL SEQUENCES publishes, null without it. ``excluded`` are the tables of EXCEPT; the
    partitions of one are not published either.
    """

    name: str
    kind: Literal["tables", "schemas", "tables and schemas", "all tables", "all sequences", "empty"]
    schemas: tuple[str, ...]
    operations: tuple[Operation, ...]
    via_root: bool
    generated_columns: Literal["none", "stored"]
    certainty: Certainty
    path: str | None
    line: int | None
    tables: int
    answers: tuple[Answer, ...]
    not_sent: tuple[NotSent, ...]
    notes: tuple[Note, ...]
    sequences: tuple[str, ...] | None = None
    excluded: tuple[str, ...] = ()
    slots: tuple[SlotReader, ...] | None = None
    """The slots that may read it; null without a running server."""
    consumers: tuple[ConsumerView, ...] = ()
    """The consumers that read it, as far as they are known."""


class PartOfFilter(Struct, frozen=True):
    publication: str
    sql: str


class Sending(Struct, frozen=True):
    """One operation of several publications together: the filters that are ORed, none where all rows are published."""

    operation: Operation
    filters: tuple[PartOfFilter, ...]
    canonical: str | None = None


class Together(Struct, frozen=True):
    """The tables as one subscription to several publications gets them. ``conflict`` is the server's error."""

    tables: tuple[str, ...]
    publications: tuple[str, ...]
    overruled: tuple[str, ...]
    arrives_as: str | None
    operations: tuple[Sending, ...]
    columns: tuple[str, ...] | None
    widened_by: tuple[str, ...]
    conflict: str | None
    certainty: Certainty
    initial_copy: InitialCopy | None = None


class Subscription(Struct, frozen=True):
    """Publications that are subscribed to together: by the user's request, or by a CREATE SUBSCRIPTION of the unit."""

    publications: tuple[str, ...]
    missing: tuple[str, ...]
    answers: tuple[Together, ...]


class FilterPair(Struct, frozen=True):
    """The rows of the first publication's filter, as they relate to those of the second's: "narrower" if the second
    has them all. "unknown" if it is not proved. ``both`` is a row that both publish, if they overlap."""

    first: str
    second: str
    kind: Literal["equivalent", "narrower", "wider", "disjoint", "overlapping", "unknown"]
    both: Row | None


class Region(Struct, frozen=True):
    """The rows that exactly these publications publish: whether the table's constraints allow some, or this is unknown,
    and one of them."""

    publications: tuple[str, ...]
    rows: Literal["some", "unknown"]
    example: Row | None


class FiltersCompared(Struct, frozen=True):
    """The filters of several publications for one table.

    ``regions`` has every set of publications that publish a row together, or may; null if there are more than 16 of
    them. ``nulls`` are columns such that every row
    that none of them publishes has a NULL in one of these.
    """

    table: str
    publications: tuple[str, ...]
    pairs: tuple[FilterPair, ...]
    regions: tuple[Region, ...] | None
    nulls: tuple[str, ...]


class UnitExplained(Struct, frozen=True):
    """One unit. ``findings`` are diagnostics that concern none of the publications shown, such as refused statements
    and unreadable files. ``all_publications`` has all names, also of publications that are not shown."""

    paths: tuple[str, ...]
    all_publications: tuple[str, ...]
    tables: tuple[Table, ...]
    publications: tuple[Publication, ...]
    subscriptions: tuple[Subscription, ...]
    findings: tuple[Entry, ...]
    filters: tuple[FiltersCompared, ...] = ()


class Explanation(Struct, frozen=True):
    """The whole document. ``noun`` is what ``statements`` counts, ``container`` what ``files`` counts."""

    pubcheck: str
    schema_version: int
    postgres: int
    files: int
    statements: int
    units: tuple[UnitExplained, ...]
    noun: str = "statement"
    container: str = "file"
