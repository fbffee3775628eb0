"""The tables of a run, made of its units and of what is carried over from an earlier run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pubcheck.spark import worker
from pubcheck.spark.incremental import Earlier, RepositoryDiff
from pubcheck.spark.schema import RESULTS, ddl

KEY = ["repository", "unit"]


class RunTables:
    """The tables of a run. A table known to be empty is not included, because Spark takes its time for that too: of
    ``examined``, the units with what came of them (``schema.EXAMINED``), there may be none."""

    def __init__(
        self,
        listed: Callable[[], DataFrame],
        examined: DataFrame | None,
        counts: Mapping[str, int],
        earlier: Earlier | None,
        standing: RepositoryDiff | None,
    ) -> None:
        self._listed, self._examined, self._counts = listed, examined, counts
        self._earlier, self._standing = earlier, standing

    def by_name(self) -> dict[str, Callable[[], DataFrame]]:
        """Return the functions that make the tables, those that take longest first."""
        return {
            "publications": self.publications,
            "findings": self.findings,
            "units": self.units,
            "quarantine": self.quarantine,
            "repositories": self.repositories,
        }

    def findings(self) -> DataFrame:
        return self._all_rows(self._unpacked("findings", "findings"), "findings")

    def publications(self) -> DataFrame:
        return self._all_rows(self._unpacked("published", "publications"), "publications")

    def units(self) -> DataFrame:
        fresh = [] if self._examined is None else [_unit_rows(self._examined)]
        # The rows of what was not linted then either are only what they would be again.
        return self._all_rows(fresh, "units", carry_mark=True)

    def quarantine(self) -> DataFrame:
        fresh = []
        examined = self._examined
        if examined is not None:
            if self._counts.get("linted"):
                linted = examined.where("step = 'linted'")
                fresh.append(linted.select(*KEY, F.explode("quarantine").alias("row")).select(*KEY, "row.*"))
            nothing = F.lit(None).cast("string")
            if self._counts.get("stopped"):
                stopped = examined.where("step = 'stopped'")
                fresh.append(
                    stopped.select(
                        *KEY, nothing.alias("path"), "reason", F.col("why").alias("detail"), nothing.alias("trace")
                    )
                )
            # Files whose fate was known before linting, and those of a unit that is quarantined. The linter reports an
            # unreadable file if it saw the file.
            unseen = (F.col("fate") != "unreadable") | F.col("unit").isNull()
            own = F.col("fate").isNotNull() & unseen
            files = examined.where("step <> 'carried'").select(
                *KEY,
                _reason().alias("whole"),
                F.col("quarantine.path").alias("reported"),
                F.explode(F.filter("members", lambda file: ~file["context"])).alias("file"),
            )
            unreported = F.col("whole").isNotNull() & ~F.coalesce(
                F.array_contains("reported", F.col("path")), F.lit(False)
            )
            fresh.append(
                files.select(*KEY, "whole", "reported", "file.*")
                .where(own | unreported)
                .select(
                    *KEY,
                    "path",
                    F.when(own, F.col("fate")).otherwise(F.col("whole")).alias("reason"),
                    F.when(own, F.col("detail")).otherwise("its unit is quarantined").alias("detail"),
                    F.when(own, F.col("trace")).alias("trace"),
                )
            )
        return self._all_rows(fresh, "quarantine")

    def repositories(self) -> DataFrame:
        fresh = []
        if self._examined is not None:
            listed = self._listed()
            if self._standing is not None and self._standing.unchanged:
                listed = listed.join(self._standing.of("changed"), "repository", "left_semi")
            zero = F.lit(0).cast("bigint")
            apart = [F.col("files").alias("files_apart"), F.size("members").alias("files_apart_quarantined")]
            if self._counts.get("apart"):
                outside = self._examined.where("step = 'apart'").select("repository", *apart)
                listed = listed.join(outside, "repository", "left")
            else:
                listed = listed.withColumns(dict.fromkeys(("files_apart", "files_apart_quarantined"), zero))
            fresh.append(
                listed.select(
                    "repository",
                    "state",
                    "files",
                    *(
                        F.coalesce(name, zero).cast("bigint").alias(name)
                        for name in ("files_apart", "files_apart_quarantined")
                    ),
                )
            )
        return self._all_rows(fresh, "repositories", by_unit=False)

    def _unpacked(self, column: str, table: str) -> list[DataFrame]:
        """Return the rows of a table that the results of units hold in a column."""
        if self._examined is None or not self._counts.get("linted"):
            return []
        return [rows_of_table(self._examined, column, table)]

    def _all_rows(
        self, fresh: list[DataFrame], name: str, *, by_unit: bool = True, carry_mark: bool = False
    ) -> DataFrame:
        """Rows of this run, and those of a table that are carried over: with their repository, or ``by_unit``. With
        ``carry_mark`` the column `carried` says which are."""
        rows = list(fresh)
        if self._earlier is not None:
            before = self._earlier.table(name)
            if carry_mark:
                before = before.withColumn("carried", self._earlier.ended)
            if self._standing is not None and self._standing.unchanged:
                rows.append(self._standing.rows_of_unchanged(before))
            if by_unit and self._examined is not None and self._counts.get("carried"):
                rows.append(before.join(self._examined.where("step = 'carried'").select(*KEY), KEY, "left_semi"))
        if not rows:
            assert self._examined is not None
            return self._examined.sparkSession.createDataFrame([], ddl(RESULTS[name]))
        return reduce(DataFrame.unionByName, rows)


def rows_of_table(examined: DataFrame, column: str, table: str) -> DataFrame:
    """Return the rows of a table that units (``schema.EXAMINED``) hold in a column."""
    packed = examined.where(F.col(column).isNotNull()).select(*KEY, column)
    return packed.mapInArrow(partial(worker.unpack, table=table), ddl(RESULTS[table]))


def _reason() -> Column:
    """Return the reason for which a unit is quarantined: linting was not possible, or it failed."""
    return F.coalesce("reason", "failed")


def _unit_rows(examined: DataFrame) -> DataFrame:
    """Return the rows of the table `units` for those that are not carried over."""
    rows = examined.where("step NOT IN ('apart', 'carried')")
    zero = F.lit(0).cast("bigint")
    skipped = F.col("step") == "skipped"
    reason = _reason()
    quarantined = F.when(reason.isNotNull(), F.col("files")).otherwise(F.col("set_aside") + F.col("unread"))
    status = F.when(skipped, "nothing-to-lint").when(reason.isNotNull(), "quarantined").otherwise("linted")
    return rows.select(
        *KEY,
        status.alias("status"),
        reason.alias("reason"),
        F.lit(False).alias("carried"),
        "fingerprint",
        "files",
        F.when(skipped, zero).otherwise(F.col("files") - quarantined).alias("files_linted"),
        F.when(skipped, F.col("files") - quarantined).otherwise(zero).alias("files_nothing_to_lint"),
        quarantined.alias("files_quarantined"),
        "bytes",
        "postgres",
        *("statements", "errors", "warnings", "notes"),
        "seconds",
    )
