"""Carry results over from an earlier run, for repositories that have not changed since."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, reduce
from typing import Protocol

from msgspec import Struct
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F

from pubcheck.spark.schema import RESULTS
from pubcheck.spark.store import Store
from pubcheck.spark.unit_discovery import Largest

LASTING = ("not-postgresql", "not-text")
"""Reasons to quarantine a unit that depend on its content alone. Other reasons may be gone in the next run."""
SETTLED = (*LASTING, "too-large", "duplicate")
"""Reasons that depend only on the content, the state of the repository and the limits of a run."""


class Earlier(Struct, frozen=True):
    """The run that is carried over from: a function that reads its tables, its summary as JSON, the state of all its
    repositories if it is known, and the reasons for a quarantine that would be the same again: of a unit with its
    content, and of a repository with its state."""

    table: Callable[[str], DataFrame]
    summary: str | None
    state: str | None
    lasting: tuple[str, ...]
    settled: tuple[str, ...]

    @property
    def ended(self) -> Column:
        """Whether a unit's rows are what they would be again."""
        return F.coalesce((F.col("status") == "linted") | F.col("reason").isin(*self.lasting), F.lit(False))


class CarryOptions(Protocol):
    """The options of a run that decide what is carried over (``job.Options``)."""

    @property
    def run(self) -> str: ...
    @property
    def since(self) -> str | None: ...
    @property
    def retry(self) -> bool: ...
    @property
    def largest(self) -> Largest: ...


def prepared(store: Store, options: CarryOptions, rules: str, name: str) -> tuple[Earlier | None, tuple[str, ...]]:
    """Return the run to carry over from, if anything can be, and why less than could be is carried over."""
    since, largest = options.since, options.largest
    if since is None:
        return None, ()
    row, before = _run(store, since, largest)
    notes = []
    obstacle = _obstacle(row["ruleset"], before, rules, largest)
    if obstacle is not None:
        notes.append(f"Nothing was carried over from run {since}: it {obstacle}.")
    if row["input"] != name:
        notes.append(f"Run {since} is of another input, {row['input']}.")
    if obstacle is not None:
        return None, tuple(notes)
    settled = () if options.retry else SETTLED if largest == before else (*LASTING, "duplicate")
    run = since

    @cache
    def table(name: str) -> DataFrame:
        return store.read(RESULTS[name], name, run)

    state = row["state"] if settled == SETTLED else None
    return Earlier(table, row["summary"], state, () if options.retry else LASTING, settled), tuple(notes)


def _run(store: Store, run: str, largest: Largest) -> tuple[Row, Largest]:
    """Return the row of a run and its limits; ``largest`` are taken for those of a run of an earlier release."""
    row = store.row(run)
    return row, Largest(row["largest_file"] or largest.file, row["largest_unit"] or largest.unit)


def may_carry(store: Store, since: str, rules: str, largest: Largest) -> bool:
    """Return whether a run with these rules and limits may carry anything over from another one."""
    row, before = _run(store, since, largest)
    return _obstacle(row["ruleset"], before, rules, largest) is None


def _obstacle(earlier_rules: str, earlier: Largest, rules: str, largest: Largest) -> str | None:
    """Return what about an earlier run forbids to carry anything over from it."""
    if earlier_rules != rules:
        return "used another pubcheck version, rules or configuration"
    if largest.file < earlier.file or largest.unit < earlier.unit:
        return "linted larger files or units"
    return None


class RepositoryDiff(Struct, frozen=True):
    """The differences between the repositories of this run and of the earlier one.

    ``known`` has the standing of each: `unchanged`, so that all its rows are carried over, `changed` (or new), or
    `gone`. The numbers count them. If all are unchanged, ``known`` is None.
    """

    known: DataFrame | None
    unchanged: int
    changed: int
    gone: int

    @property
    def all_unchanged(self) -> bool:
        return not self.changed + self.gone

    def of(self, *standings: str) -> DataFrame:
        """Return the repositories with one of these standings."""
        assert self.known is not None
        return self.known.where(F.col("standing").isin(*standings)).select("repository")

    def rows_of_unchanged(self, rows: DataFrame) -> DataFrame:
        """Return the rows of a table of the run before that are those of unchanged repositories."""
        if self.all_unchanged:
            return rows
        if self.changed + self.gone < self.unchanged:
            return rows.join(self.of("changed", "gone"), "repository", "left_anti")
        return rows.join(self.of("unchanged"), "repository", "left_semi")


ALL_UNCHANGED = RepositoryDiff(None, 1, 0, 0)


def compared(
    listed: DataFrame, earlier: Earlier, keep: Callable[[DataFrame], DataFrame], *, partial: bool
) -> RepositoryDiff:
    """Compare the listed repositories with those of the earlier run; ``keep`` persists a frame that is read again.
    ``partial``: a repository that is not listed has not changed."""

    def tagged(rows: DataFrame, label: str, state: Column | str) -> DataFrame:
        return rows.select("repository", F.lit(label).alias("of"), state)

    # An aggregation of all three, for joins of as many would take as many passes.
    unsettled = earlier.table("quarantine").where(~F.col("reason").isin(*earlier.settled))
    rows = reduce(
        DataFrame.unionByName,
        [
            tagged(listed, "now", "state"),
            tagged(earlier.table("repositories"), "before", "state"),
            tagged(unsettled, "unsettled", F.lit("").alias("state")),
        ],
    )
    repositories = rows.groupBy("repository").agg(
        F.max(F.when(F.col("of") == "now", F.col("state"))).alias("now"),
        F.max(F.when(F.col("of") == "before", F.col("state"))).alias("before"),
        F.max(F.col("of") == "now").alias("there"),
        F.max(F.col("of") == "unsettled").alias("unsettled"),
    )
    unchanged = (F.col("now") == F.col("before")) & ~F.col("unsettled")
    standing = (
        F.when(~F.col("there"), "unchanged" if partial else "gone").when(unchanged, "unchanged").otherwise("changed")
    )
    differences = keep(repositories.select("repository", standing.alias("standing")))
    counts = {row[0]: row[1] for row in differences.groupBy("standing").count().collect()}
    return RepositoryDiff(differences, counts.get("unchanged", 0), counts.get("changed", 0), counts.get("gone", 0))
