"""The audit as DataFrames: repositories -> units, those of small repositories linted at once -> the others, linted ->
tables. Nothing but the DataFrame API.

Every file and every unit ends in one of linted, nothing to lint, quarantined; `audit` counts them another way before it
lets a run exist. What has not changed since an earlier run is carried over from it: a repository as a whole where its
files look as they did, which costs no more than to list them; and where they do not, each unit whose contents are those
of then.

With `pubcheck audit --stream` (Structured Streaming) each micro-batch is a run of its own. It tells which repositories
have new rows; those are read whole from the table as it is now, and everything else is carried over from the run
before. The findings after the last batch are therefore those of a batch run over the table, whatever the batches were.
A batch that is repeated after a failure writes the run of the same ID again.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.utils import is_remote

from pubcheck import __version__
from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.rulebook import RULES
from pubcheck.spark import costs, incremental
from pubcheck.spark.incremental import Earlier, RepositoryDiff, may_carry
from pubcheck.spark.inputs import BadInput, Input
from pubcheck.spark.lint_process import Limits
from pubcheck.spark.run_tables import KEY, RunTables
from pubcheck.spark.schema import METRICS
from pubcheck.spark.session import settings
from pubcheck.spark.sources import TableInput
from pubcheck.spark.steps import Counters, Progress, Silent, Steps
from pubcheck.spark.store import NoRun, Store
from pubcheck.spark.summary import Lost, Summary
from pubcheck.spark.summary import copied as summary_of_copies
from pubcheck.spark.summary import summary as summarized
from pubcheck.spark.unit_discovery import Largest
from pubcheck.spark.worker import Job


class Options(Struct, frozen=True, kw_only=True):
    """The limits of a run in bytes, its names, and ``since``, the id of the run from which unchanged units are
    carried over. ``retry``: whatever was quarantined then is linted again. ``partial``: the input holds only the
    repositories that may have changed, and all others are carried over."""

    run: str
    since: str | None = None
    retry: bool = False
    partial: bool = False
    largest_file: int = 32 << 20
    largest_unit: int = 128 << 20
    limits: Limits = Limits(60.0, 2 << 30)

    @property
    def largest(self) -> Largest:
        return Largest(self.largest_file, self.largest_unit)


_WRITTEN = 10_000
"""Units whose rows are written in one task."""


_BATCHES = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "500",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(16 << 20),
}
"""Few rows a batch: a row may be a file of many megabytes. Releases that know of it count bytes as well."""


def audit(
    spark: SparkSession,
    source: Input,
    store: Store,
    linter: Linter,
    options: Options,
    progress: Callable[[str], None] = lambda text: None,
    counters: Counters | None = None,
) -> Summary:
    """Lint the units of an input and write the tables of a run, and count on ``counters`` meanwhile. Raises NoRun for
    one that is to be carried over from itself; Lost, and what Spark raises, with which the run does not exist."""
    run = options.run
    if run == options.since:
        raise NoRun(f"{run} is the run to be written; it cannot be read at the same time")
    started = datetime.now(UTC)
    # The pool ends first: what still runs in it needs what is kept.
    with (
        settings(spark, _BATCHES),
        Steps(spark, run, progress) as steps,
        ExitStack() as ending,
        ThreadPoolExecutor(_AT_ONCE) as pool,
    ):
        store = store.start(run)
        ending.callback(store.discard, run)
        ending.callback(source.forget, store, run)
        rules = ruleset(linter)
        job = Job(_pickled(linter), options.limits, options.largest, rules, source.top, counters)
        running = _Running(spark, source, store, job, options, steps, ending, pool)
        state, earlier, standing, notes = running.compare()
        units, counts = running.lint(earlier, standing)
        tables = RunTables(lambda: source.repositories(job), units, counts, earlier, standing)
        summary = running.write(tables, earlier, standing, notes)
        summary.metrics["seconds"] = (datetime.now(UTC) - started).total_seconds()
        summary.metrics.update(steps.metrics())
        metrics = summary.metrics
        store.write_rows(METRICS, {"metric": list(metrics), "value": list(metrics.values())}, "metrics", run)
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
            "largest_file": options.largest_file,
            "largest_unit": options.largest_unit,
            "summary": msgspec.json.encode(summary).decode(),
        }
        store.commit(row, run)
    return summary


class _Running:
    """The steps of an audit. Frames that are kept are released when ``ending`` ends."""

    def __init__(
        self,
        spark: SparkSession,
        source: Input,
        store: Store,
        job: Job,
        options: Options,
        steps: Steps,
        ending: ExitStack,
        pool: ThreadPoolExecutor,
    ) -> None:
        self._spark, self._source, self._store, self._job = spark, source, store, job
        self._options, self._steps, self._ending, self._pool = options, steps, ending, pool

    def _keep(self, frame: DataFrame) -> DataFrame:
        persisted = frame.persist()
        self._ending.callback(persisted.unpersist)
        return persisted

    def compare(self) -> tuple[str | None, Earlier | None, RepositoryDiff | None, tuple[str, ...]]:
        """Return the state of the input, the run that is carried over from, the differences between their repositories,
        and why less is carried over than could be."""
        source, options, rules = self._source, self._options, self._job.rules
        self._steps("listing", "listing files")
        preparing = self._pool.submit(incremental.prepared, self._store, options, rules, source.name)
        comparing = options.since is not None
        state = source.look(self._spark, self._store, options.run, rules, options.largest_file, comparing=comparing)
        earlier, notes = preparing.result()
        if earlier is None:
            return state, None, None, notes
        if state is not None and state == earlier.state and not options.partial:
            return state, earlier, incremental.ALL_UNCHANGED, notes
        listed = source.repositories(self._job)
        return state, earlier, incremental.compared(listed, earlier, self._keep, partial=options.partial), notes

    def lint(
        self, earlier: Earlier | None, standing: RepositoryDiff | None
    ) -> tuple[DataFrame | None, Mapping[str, int]]:
        """Return the units, linted, and how many there are of each step; None if no repository has changed."""
        if standing is not None and not standing.changed:
            self._steps("examining", _summary_line({}, standing))
            return None, {}
        self._steps("examining", "examining files")
        units = self._keep(_carried(self._source.units(standing, self._job), earlier))
        rows = units.groupBy("step").agg(F.count("*"), F.sum("cost"), F.max("cost")).collect()
        counts: dict[str, int] = {row[0]: row[1] for row in rows}
        self._steps("linting", _summary_line(counts, standing))
        if counts.get("lint"):
            cost, most = next((row[2], row[3]) for row in rows if row[0] == "lint")
            placed, parts = _placed(self._spark, units.where("step = 'lint'"), cost, most)
            linted = self._keep(self._source.linted(placed, parts, self._job))
            # This makes them, in as many tasks as are meant.
            number, statements, errors = linted.agg(F.count("*"), F.sum("statements"), F.sum("errors")).collect()[0]
            self._steps.progress(f"{number:,} units linted: {statements or 0:,} statements, {errors or 0:,} errors")
            units = units.where("step <> 'lint'").unionByName(linted)
            counts["linted"] = counts.get("linted", 0) + counts.pop("lint")
        return units.coalesce(1 + sum(counts.values()) // _WRITTEN), counts

    def write(
        self, tables: RunTables, earlier: Earlier | None, standing: RepositoryDiff | None, notes: tuple[str, ...]
    ) -> Summary:
        """Write the tables and count them. Raises Lost."""
        self._steps("writing", "writing tables")
        self._store.mark(self._options.run)
        try:
            return self._write(tables, earlier, standing, notes)
        except Lost:
            # An executor that was lost meanwhile took what it kept along; what is made in its place, such as a unit
            # that took too long, may differ from what the tables written before it have.
            self._steps("writing", "writing tables again")
            return self._write(tables, earlier, standing, notes)

    def _write(
        self, tables: RunTables, earlier: Earlier | None, standing: RepositoryDiff | None, notes: tuple[str, ...]
    ) -> Summary:
        frames, options, store, source = tables.by_name(), self._options, self._store, self._source
        unchanged = standing is not None and standing.all_unchanged

        def write(name: str) -> bool:
            """Return whether the table is a copy."""
            self._steps.describe(f"writing {name}")
            if unchanged and earlier is not None and options.since is not None:
                if name == "units":
                    copied = store.carry_units(options.since, options.run, earlier.lasting)
                else:
                    copied = store.carry(name, options.since, options.run)
                if copied:
                    return True
            store.write(frames[name](), name, options.run)
            return False

        copies = dict(zip(frames, self._pool.map(write, frames), strict=True))
        if earlier is not None and earlier.summary is not None and all(copies[name] for name in _ALIKE):
            return summary_of_copies(
                source, options.run, earlier.summary, earlier.lasting, notes, partial=options.partial
            )
        return summarized(source, store, options.run, standing, notes, partial=options.partial)


_ALIKE = ("findings", "publications", "quarantine", "repositories")
"""Tables whose rows are all the same as before if nothing has changed; those of `units` are then carried over."""


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


def _carried(units: DataFrame, earlier: Earlier | None) -> DataFrame:
    """Return the units, with the step `carried` for units to lint that are unchanged since the earlier run."""
    if earlier is None:
        return units
    known = earlier.table("units").where(earlier.ended).select(*KEY, "fingerprint", F.lit(True).alias("known"))
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


class GrowingTable(TableInput):
    """The repositories of a table that have new rows."""

    def __init__(self, table: TableInput, changed: DataFrame) -> None:
        super().__init__(table.source, table.format, table.columns, table.options)
        self._changed = changed

    def rows_of(self, table: DataFrame) -> DataFrame:
        return super().rows_of(table).join(self._changed, "repository", "left_semi")


def stream(
    spark: SparkSession,
    source: TableInput,
    store: Store,
    linter: Linter,
    options: Options,
    progress: Progress = Silent(),
    *,
    interval: str | None = None,
    on_run: Callable[[Summary], None] = lambda summary: None,
) -> Summary | None:
    """Audit a table as it grows, and return the summary of the last run, or None if there was nothing new. The names
    of runs begin with ``options.run``. Without an ``interval``, such as `1 minute`, only the present rows are audited.
    ``on_run`` is called when a run is committed. The position in the table is kept in DIR/stream. Raises BadInput."""
    if is_remote():
        raise BadInput("--stream does not run on Spark Connect")
    last: list[Summary] = []

    def on_batch(rows: DataFrame, number: int) -> None:
        # Spark gives the batch a session of its own, which knows no frame of another.
        session = rows.sparkSession
        changed = source.rows_of(rows).select("repository").distinct().persist()
        try:
            if changed.isEmpty():
                return
            run, batch_store = f"{options.run}-{number:09}", Store(session, store.where)
            since = batch_store.last_of(source.name, but=run)
            batch = replace(options, run=run, since=since)
            table = source
            if since is not None and may_carry(batch_store, since, ruleset(linter), options.largest):
                table, batch = GrowingTable(source, changed), replace(batch, partial=True)
            last.append(audit(session, table, batch_store, linter, batch, progress, progress.counters))
            del last[:-1]
            on_run(last[-1])
        finally:
            changed.unpersist()

    writer = source.growing(spark).writeStream.foreachBatch(on_batch)
    writer = writer.option("checkpointLocation", f"{store.where}/stream/{options.run}")
    if interval is None:
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=interval)
    query = writer.start()
    with ThreadPoolExecutor(1) as pool:
        try:
            # PySpark answers an interrupt by a call to Java, which the main thread must be free for.
            pool.submit(query.awaitTermination).result()
        finally:
            query.stop()
    return last[-1] if last else None
