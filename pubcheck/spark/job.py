"""The audit as DataFrames: repositories -> units, those of small repositories linted at once -> the others, linted ->
tables. Nothing but the DataFrame API.

Every file and every unit ends in one of linted, nothing to lint, quarantined; `audit` counts them another way before it
lets a run exist. What has not changed since an earlier run is carried over from it: a repository as a whole where its
files look as they did, which costs no more than to list them; and where they do not, each unit whose contents are those
of then.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import reduce
from typing import Any

import msgspec
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace
from pyspark import cloudpickle
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from pubcheck import __version__
from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.rulebook import RULES
from pubcheck.spark import costs, incremental
from pubcheck.spark.incremental import Before, RepositoryDiff
from pubcheck.spark.inputs import Input
from pubcheck.spark.lint_process import Limits
from pubcheck.spark.schema import METRICS, RESULTS, RUNS, arrow, ddl
from pubcheck.spark.store import NoRun, Store
from pubcheck.spark.summary import Summary
from pubcheck.spark.summary import summary as summarized
from pubcheck.spark.unit_discovery import Largest
from pubcheck.spark.worker import Job


class Options(Struct, frozen=True, kw_only=True):
    """The limits of a run in bytes, its names, and ``since``, the id of the run from which unchanged units are
    carried over."""

    run: str
    since: str | None = None
    largest_file: int = 32 << 20
    largest_unit: int = 128 << 20
    limits: Limits = Limits(60.0, 2 << 30)


KEY = ["repository", "unit"]

_WRITTEN = 10_000
"""Units whose rows are written in one task."""


def audit(
    spark: SparkSession,
    source: Input,
    store: Store,
    linter: Linter,
    options: Options,
    progress: Callable[[str], None] = lambda text: None,
) -> Summary:
    """Lint the units of an input and writes the tables of a run. Raises NoRun for one that is to be carried over from
    itself; Lost, and what Spark raises, with which the run does not exist."""
    run = options.run
    if run == options.since:
        raise NoRun(f"{run} is the run to be written; it cannot be read at the same time")
    started = datetime.now(UTC)
    rules = ruleset(linter)
    job = Job(_pickled(linter), options.limits, Largest(options.largest_file, options.largest_unit), rules, source.top)
    settings = f"{rules} {options.largest_file} {options.largest_unit}"

    # The pool ends first: what still runs in it needs what is kept.
    with ExitStack() as ending, ThreadPoolExecutor(_AT_ONCE) as pool:

        def keep(frame: DataFrame) -> DataFrame:
            persisted = frame.persist()
            ending.callback(persisted.unpersist)
            return persisted

        ending.callback(source.forget, store, run)
        progress("listing files")
        preparing = pool.submit(incremental.prepared, store, run, options.since, rules, source.name)
        state = source.look(spark, store, run, settings, options.largest_file)
        before, was, notes = preparing.result()

        standing = None
        if before is not None:
            alike = state is not None and state == was
            standing = incremental.ALL_UNCHANGED if alike else incremental.compared(source.repositories(), before, keep)
        units, counts = None, {}
        if standing is None or standing.changed:
            # Few rows a batch: a row may be a file of many megabytes. Releases that know of it count bytes as well.
            spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 500)
            spark.conf.set("spark.sql.execution.arrow.maxBytesPerBatch", 16 << 20)
            progress("examining files")
            units = keep(_carried(source.units(standing, job), before))
            steps = units.groupBy("step").agg(F.count("*"), F.sum("cost"), F.max("cost")).collect()
            counts = {row[0]: row[1] for row in steps}
            progress(_summary_line(counts, standing))
            if counts.get("lint"):
                progress("linting the rest" if counts.get("linted") else "linting")
                cost, most = next((row[2], row[3]) for row in steps if row[0] == "lint")
                placed, parts = _placed(spark, units.where("step = 'lint'"), cost, most)
                linted = keep(source.linted(placed, parts, job))
                linted.count()  # which makes them, in as many tasks as are meant
                units = units.where("step <> 'lint'").unionByName(linted)
                counts["linted"] = counts.get("linted", 0) + counts.pop("lint")
            units = units.coalesce(1 + sum(counts.values()) // _WRITTEN)
        else:
            progress(_summary_line(counts, standing))

        progress("writing tables")
        tables = _RunTables(source.repositories, units, counts, before, standing).by_name()
        copied = _ALIKE if standing is not None and standing.all_unchanged else ()

        def write(name: str) -> None:
            if name not in copied or options.since is None or not store.carry(name, options.since, run):
                store.write(tables[name](), name, run)

        for _ in pool.map(write, tables):
            pass
        seconds = (datetime.now(UTC) - started).total_seconds()
        summary = summarized(source, store, run, seconds, standing, notes)
        metrics = _rows(spark, METRICS, {"metric": list(summary.metrics), "value": list(summary.metrics.values())})
        store.write(metrics, "metrics", run)
        row: dict[str, object] = {
            "run": run,
            "started": started,
            "finished": datetime.now(UTC),
            "pubcheck": __version__,
            "spark": spark.version,
            "input": source.name,
            "since": options.since,
            "ruleset": rules,
            "config": msgspec.json.encode(linter.config).decode(),
            "state": state if all(reason in incremental.SETTLED for reason in summary.quarantine) else None,
        }
        store.write(_rows(spark, RUNS, {name: [value] for name, value in row.items()}), "runs", run)
    return summary


_ALIKE = ("findings", "publications", "quarantine", "repositories")
"""Tables of which not one row is another where nothing has changed."""


def _summary_line(counts: Mapping[str, int], standing: RepositoryDiff | None) -> str:
    units = sum(number for step, number in counts.items() if step != "apart")
    linted, waiting = counts.get("linted", 0), counts.get("lint", 0)
    text = f"{units:,} units: " + (f"{linted:,} linted, {waiting:,} more to lint" if linted else f"{waiting:,} to lint")
    if standing is None:
        return text
    if standing.all_unchanged:
        return "nothing has changed"
    return f"{text}, {counts.get('carried', 0):,} carried over, and those of {standing.unchanged:,} repositories"


_AT_ONCE = 4
"""Tables that are written at the same time: what most of one's time goes into waits for files and other threads."""


def _rows(spark: SparkSession, columns: tuple[Any, ...], values: Mapping[str, Sequence[object]]) -> DataFrame:
    """Return a few rows, in one partition."""
    return spark.createDataFrame(pa.table(values, arrow(columns)), ddl(columns)).coalesce(1)


def _pickled(linter: Linter) -> bytes:
    pickled: bytes = cloudpickle.dumps(linter)  # type: ignore[no-untyped-call]
    return pickled


def ruleset(linter: Linter) -> str:
    """Return a fingerprint of all but the files that findings depend on: pubcheck, the rules, the configuration; not of
    what only decides whether findings fail a run."""
    kind = type(linter)
    config = replace(linter.config, **{name: getattr(_DEFAULT, name) for name in _OF_THE_STATUS})
    inputs = (__version__, list(RULES.values()), config, kind.__module__, kind.__qualname__)
    return hashlib.sha256(msgspec.json.encode(inputs)).hexdigest()


_DEFAULT = Config()
_OF_THE_STATUS = ("fail_on", "fail_on_assumed", "baseline", "file")
"""Settings that change no finding; the file is only where they were read."""


def _carried(units: DataFrame, before: Before | None) -> DataFrame:
    """Units with the step `carried` for those that are yet to be linted and were as they are in the run before."""
    if before is None:
        return units
    known = before["units"].where(incremental.ended()).select(*KEY, "fingerprint", F.lit(True).alias("known"))
    carried = (F.col("step") == "lint") & F.coalesce("known", F.lit(False))
    joined = units.join(known, [*KEY, "fingerprint"], "left")
    return joined.withColumn("step", F.when(carried, "carried").otherwise(F.col("step"))).drop("known")


def _placed(spark: SparkSession, chosen: DataFrame, cost: int, most: int) -> tuple[DataFrame, int]:
    """Return the units with a ``salt`` that `repartition` takes to the partition each must be in, and how many there
    are.

    A unit that costs more than a partition should is alone in one of the first partitions, which start first; the
    others are spread over the rest by their names, of equal cost on the average.
    """
    part = costs.part(cost)
    if most <= part:
        return chosen.withColumn("salt", F.xxhash64(*KEY)), math.ceil(cost / part)
    large = chosen.where(F.col("cost") > part)
    alone = large.count()
    spread = max(1, math.ceil(cost / part) - alone)
    place = F.row_number().over(Window.orderBy(F.desc("cost"), *KEY)) - 1
    placed = (
        chosen.where(F.col("cost") <= part)
        .withColumn("part", F.pmod(F.xxhash64(*KEY), F.lit(spread)) + alone)
        .unionByName(large.withColumn("part", place.cast("bigint")))
    )
    parts = alone + spread
    # Spark has no way, in all its releases, to say which partition; what it hashes there can be found out. The tries
    # are so many that a partition which none of them hits is next to impossible, and its units only share another.
    tries = spark.range(parts * (20 + 2 * parts.bit_length())).select(
        F.col("id").alias("salt"), F.pmod(F.hash("id"), F.lit(parts)).cast("bigint").alias("part")
    )
    salts = tries.groupBy("part").agg(F.min("salt").alias("salt"))
    return placed.join(F.broadcast(salts), "part", "left"), parts


# The tables.


class _RunTables:
    """The tables of a run. A table known to be empty is not included, because Spark takes its time for that too: of
    ``examined``, the units with what came of them (``schema.EXAMINED``), there may be none."""

    def __init__(
        self,
        listed: Callable[[], DataFrame],
        examined: DataFrame | None,
        counts: dict[str, int],
        before: Before | None,
        standing: RepositoryDiff | None,
    ) -> None:
        self._listed, self._examined, self._counts = listed, examined, counts
        self._before, self._standing = before, standing

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
        return self._all_rows(self._exploded("findings"), "findings")

    def publications(self) -> DataFrame:
        return self._all_rows(self._exploded("published"), "publications")

    def units(self) -> DataFrame:
        fresh = [] if self._examined is None else [_unit_rows(self._examined)]
        # The rows of what was not linted then either are only what they would be again.
        return self._all_rows(fresh, "units", carried=incremental.ended())

    def quarantine(self) -> DataFrame:
        fresh = [*self._exploded("quarantine")]
        examined = self._examined
        if examined is not None:
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

    def _exploded(self, name: str) -> list[DataFrame]:
        """Return the rows of a table that the results of units hold in the column of that name."""
        if self._examined is None or not self._counts.get("linted"):
            return []
        linted = self._examined.where("step = 'linted'")
        return [linted.select(*KEY, F.explode(name).alias("row")).select(*KEY, "row.*")]

    def _all_rows(
        self, fresh: list[DataFrame], name: str, *, by_unit: bool = True, carried: Column | None = None
    ) -> DataFrame:
        """Rows of this run, and those of a table that are carried over: with their repository, or ``by_unit``. Of the
        latter, ``carried`` is the column of that name."""
        rows = list(fresh)
        if self._before is not None:
            before = self._before[name]
            if carried is not None:
                before = before.withColumn("carried", carried)
            if self._standing is not None and self._standing.unchanged:
                rows.append(self._standing.rows_of_unchanged(before))
            if by_unit and self._examined is not None and self._counts.get("carried"):
                rows.append(before.join(self._examined.where("step = 'carried'").select(*KEY), KEY, "left_semi"))
        if not rows:
            assert self._examined is not None
            return self._examined.sparkSession.createDataFrame([], ddl(RESULTS[name]))
        return reduce(DataFrame.unionByName, rows)


def _reason() -> Column:
    """Return the reason for which a unit is quarantined: linting was not possible, or it failed."""
    return F.coalesce("reason", "failed")


def _unit_rows(examined: DataFrame) -> DataFrame:
    """Return the rows of the table `units` for those that are not carried over."""
    rows = examined.where("step NOT IN ('apart', 'carried')")
    zero = F.lit(0).cast("bigint")
    passed_over = F.col("step") == "passed-over"
    reason = _reason()
    quarantined = F.when(reason.isNotNull(), F.col("files")).otherwise(F.col("set_aside") + F.col("unread"))
    status = F.when(passed_over, "nothing-to-lint").when(reason.isNotNull(), "quarantined").otherwise("linted")
    return rows.select(
        *KEY,
        status.alias("status"),
        reason.alias("reason"),
        F.lit(False).alias("carried"),
        "fingerprint",
        "files",
        F.when(passed_over, zero).otherwise(F.col("files") - quarantined).alias("files_linted"),
        F.when(passed_over, F.col("files") - quarantined).otherwise(zero).alias("files_nothing_to_lint"),
        quarantined.alias("files_quarantined"),
        "bytes",
        "postgres",
        *("statements", "errors", "warnings", "notes"),
        "seconds",
    )
