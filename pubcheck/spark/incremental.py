"""Carry results over from an earlier run, for repositories that have not changed since."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from msgspec import Struct
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pubcheck.spark.schema import RESULTS, RUNS
from pubcheck.spark.store import Store

LASTING = ("not-postgresql", "not-text")
"""Reasons to quarantine a unit that are its content's own. What it took or met may be otherwise next time."""
SETTLED = (*LASTING, "too-large", "duplicate")
"""And of a unit or a file, those that its repository's state tells."""


def ended() -> Column:
    """Return whether a unit's rows are what they would be again."""
    return F.coalesce((F.col("status") == "linted") | F.col("reason").isin(*LASTING), F.lit(False))


Before = dict[str, DataFrame]
"""The tables of the run that is carried over from, by name."""


def prepared(
    store: Store, run: str, since: str | None, rules: str, name: str
) -> tuple[Before | None, str | None, tuple[str, ...]]:
    """Take the run back that there may be, and reads the one to carry over from, if anything can be: its tables, the
    state of all its repositories, and why less than could be is carried over."""
    store.clear(RUNS, "runs", run)
    if since is None:
        return None, None, ()
    row = store.runs().where(F.col("run") == since).select("ruleset", "input", "state").collect()[0]
    notes = []
    if row[0] != rules:
        notes.append(
            f"Nothing was carried over from run {since}: it used another pubcheck version, rules or configuration."
        )
    if row[1] != name:
        notes.append(f"Run {since} is of another input, {row[1]}.")
    if row[0] != rules:
        return None, None, tuple(notes)
    return {name: store.read(columns, name, since) for name, columns in RESULTS.items()}, row[2], tuple(notes)


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
        """Return the repositories of which that is so."""
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


def compared(listed: DataFrame, before: Before, keep: Callable[[DataFrame], DataFrame]) -> RepositoryDiff:
    """Compare the listed repositories with those of the earlier run; ``keep`` persists a frame that is read again."""

    def tagged(rows: DataFrame, label: str, state: Column | str) -> DataFrame:
        return rows.select("repository", F.lit(label).alias("of"), state)

    # An aggregation of all three, for joins of as many would take as many passes.
    unsettled = before["quarantine"].where(~F.col("reason").isin(*SETTLED))
    rows = reduce(
        DataFrame.unionByName,
        [
            tagged(listed, "now", "state"),
            tagged(before["repositories"], "before", "state"),
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
    standing = F.when(~F.col("there"), "gone").when(unchanged, "unchanged").otherwise("changed")
    differences = keep(repositories.select("repository", standing.alias("standing")))
    counts = {row[0]: row[1] for row in differences.groupBy("standing").count().collect()}
    return RepositoryDiff(differences, counts.get("unchanged", 0), counts.get("changed", 0), counts.get("gone", 0))
