"""The audit as DataFrames: repositories -> units -> the units to lint -> outcomes -> tables. Nothing but the DataFrame
API.

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
from pubcheck.diagnostics import SEVERITIES
from pubcheck.linter import Linter
from pubcheck.rulebook import RULES
from pubcheck.spark import carrying
from pubcheck.spark.carrying import Before, Standing
from pubcheck.spark.child import Limits
from pubcheck.spark.inputs import Input
from pubcheck.spark.runs import NoRun, Store
from pubcheck.spark.summary import Summary
from pubcheck.spark.summary import summary as summarized
from pubcheck.spark.tables import (
    FINDINGS,
    METRICS,
    PUBLICATIONS,
    QUARANTINE,
    RUNS,
    UNITS,
    arrow,
    ddl,
)
from pubcheck.spark.worker import Job


class Options(Struct, frozen=True, kw_only=True):
    """What a run may take and is called: sizes in bytes, ``since`` the id of a run to carry unchanged units from."""

    run: str
    since: str | None = None
    largest_file: int = 32 << 20
    largest_unit: int = 128 << 20
    limits: Limits = Limits(60.0, 2 << 30)


KEY = ["repository", "unit"]

_WRITTEN = 4_000
"""Units whose outcomes are written in one task."""
_PART = 24 << 20
"""The cost of a task: some two seconds of linting, beside which the tenth of a second that Spark takes for a task is
little, and after which nobody waits long for the last one."""
_FILE_COST = 4096
"""What a file costs beside its bytes, in bytes."""
_LEAST_PART = 1 << 20
_FEWEST_PARTS, _MOST_PARTS = 12, 20_000


def audit(
    spark: SparkSession,
    given: Input,
    store: Store,
    linter: Linter,
    options: Options,
    progress: Callable[[str], None] = lambda text: None,
) -> Summary:
    """Lints the units of an input and writes the tables of a run. Raises NoRun for one that is to be carried over from
    itself; Lost, and what Spark raises, with which the run does not exist."""
    run = options.run
    if run == options.since:
        raise NoRun(f"{run} is the run that is to be written, which cannot be read meanwhile")
    started = datetime.now(UTC)
    rules = ruleset(linter)
    job = Job(_pickled(linter), options.limits, options.largest_file, rules)
    settings = f"{rules} {options.largest_file} {options.largest_unit}"

    with ExitStack() as ending:

        def keep(frame: DataFrame) -> DataFrame:
            kept = frame.persist()
            ending.callback(kept.unpersist)
            return kept

        ending.callback(given.forget, store, run)
        pool = ending.enter_context(ThreadPoolExecutor(_AT_ONCE))
        progress("listing files")
        preparing = pool.submit(carrying.prepared, store, run, options.since, rules, given.name)
        state = given.look(spark, store, run, settings, options.largest_file)
        before, was, notes = preparing.result()

        standing = None
        if before is not None:
            alike = state is not None and state == was
            standing = carrying.ALL_UNCHANGED if alike else carrying.compared(given.repositories(), before, keep)
        units, counts = None, {}
        if standing is None or standing.changed:
            progress("looking through files")
            chosen = standing.of("changed") if standing is not None else None
            units = keep(_with_step(given.units(chosen, job), before, options))
            steps = units.groupBy("step").agg(F.count("*"), F.sum("cost"), F.max("cost")).collect()
            counts = {row[0]: row[1] for row in steps}
        progress(_told(counts, standing))

        outcomes = None
        if units is not None and counts.get("lint"):
            progress("linting")
            cost, most = next((row[2], row[3]) for row in steps if row[0] == "lint")
            outcomes = keep(_outcomes(spark, given, units, cost, most, job))
            outcomes.count()  # which makes them, in as many tasks as are meant
            outcomes = outcomes.coalesce(math.ceil(counts["lint"] / _WRITTEN))

        progress("writing tables")
        made = _Made(given.repositories, units, counts, outcomes, before, standing, options)
        tables = {
            "publications": made.publications,
            "findings": made.findings,
            "units": made.units,
            "quarantine": made.quarantine,
            "repositories": made.repositories,
        }
        copied = _ALIKE if standing is not None and standing.all_unchanged else ()

        def write(name: str) -> None:
            if name not in copied or options.since is None or not store.carry(name, options.since, run):
                store.write(tables[name](), name, run)

        for _ in pool.map(write, tables):
            pass
        seconds = (datetime.now(UTC) - started).total_seconds()
        summary = summarized(given, store, run, seconds, standing, notes)
        metrics = _rows(spark, METRICS, {"metric": list(summary.metrics), "value": list(summary.metrics.values())})
        store.write(metrics, "metrics", run)
        row: dict[str, object] = {
            "run": run,
            "started": started,
            "finished": datetime.now(UTC),
            "pubcheck": __version__,
            "spark": spark.version,
            "input": given.name,
            "since": options.since,
            "ruleset": rules,
            "config": msgspec.json.encode(linter.config).decode(),
            "state": state if all(reason in carrying.SETTLED for reason in summary.quarantine) else None,
        }
        store.write(_rows(spark, RUNS, {name: [value] for name, value in row.items()}), "runs", run)
    return summary


_ALIKE = ("findings", "publications", "quarantine", "repositories")
"""Tables of which not one row is another where nothing has changed."""


def _told(counts: Mapping[str, int], standing: Standing | None) -> str:
    text = f"{sum(counts.get(step, 0) for step in STEPS):,} units: {counts.get('lint', 0):,} to lint"
    if standing is None:
        return text
    if standing.all_unchanged:
        return "nothing has changed"
    return f"{text}, {counts.get('carried', 0):,} carried over, and those of {standing.unchanged:,} repositories"


_AT_ONCE = 4
"""Tables that are written at the same time: what most of one's time goes into waits for files and other threads."""


def _rows(spark: SparkSession, columns: tuple[Any, ...], values: Mapping[str, Sequence[object]]) -> DataFrame:
    """A few rows, in one partition."""
    return spark.createDataFrame(pa.table(values, arrow(columns)), ddl(columns)).coalesce(1)


def _pickled(linter: Linter) -> bytes:
    pickled: bytes = cloudpickle.dumps(linter)  # type: ignore[no-untyped-call]
    return pickled


def ruleset(linter: Linter) -> str:
    """A fingerprint of all but the files that findings depend on: pubcheck, the rules, the configuration; not of what
    only decides whether findings fail a run."""
    kind = type(linter)
    config = replace(linter.config, **{name: getattr(_DEFAULT, name) for name in _OF_THE_STATUS})
    what = (__version__, list(RULES.values()), config, kind.__module__, kind.__qualname__)
    return hashlib.sha256(msgspec.json.encode(what)).hexdigest()


_DEFAULT = Config()
_OF_THE_STATUS = ("fail_on", "fail_on_assumed", "baseline")
"""Settings that change no finding."""


STEPS = ("lint", "carried", "stopped", "passed-over")
"""What is to be done with a unit: it is linted, its rows are carried over, it cannot be linted, its repository is not
about publications."""


def _with_step(found: DataFrame, before: Before | None, options: Options) -> DataFrame:
    """Units with what they cost, what is to be done with them, and the reason where they cannot be linted. What is no
    unit, but the files outside them, has the step `apart`."""
    carried: Column = F.lit(False)
    units = found.withColumns(
        {
            "cost": F.col("bytes") + F.col("files") * _FILE_COST,
            "reason": F.coalesce("stopped", F.when(F.col("bytes") > options.largest_unit, "too-large")),
        }
    )
    if before is not None:
        known = before["units"].where(carrying.ended()).select(*KEY, "fingerprint", F.lit(True).alias("known"))
        units = units.join(known, [*KEY, "fingerprint"], "left")
        carried = F.coalesce("known", F.lit(False))
    step = (
        F.when(F.col("unit").isNull(), "apart")
        .when(~F.col("selected"), "passed-over")
        .when(F.col("reason").isNotNull(), "stopped")
        .when(carried, "carried")
    )
    return units.withColumn("step", step.otherwise("lint")).drop("known", "selected", "stopped")


# Linting.


def _outcomes(spark: SparkSession, given: Input, units: DataFrame, cost: int, most: int, job: Job) -> DataFrame:
    """What came of each unit that is to be linted; together they cost ``cost``, and none more than ``most``."""
    # Few rows a batch: a row may be a file of many megabytes. Releases that know of it count bytes as well.
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 500)
    spark.conf.set("spark.sql.execution.arrow.maxBytesPerBatch", 16 << 20)
    placed, parts = _placed(spark, units.where("step = 'lint'"), cost, most)
    return given.linted(placed, parts, job)


def _placed(spark: SparkSession, chosen: DataFrame, cost: int, most: int) -> tuple[DataFrame, int]:
    """The units with a ``salt`` that `repartition` takes to the partition each shall be in, and how many there are.

    A unit that costs more than a partition shall is alone in one of the first partitions, which start first; the
    others are spread over the rest by their names, of equal cost on the average.
    """
    part = max(min(_PART, math.ceil(cost / _FEWEST_PARTS)), _LEAST_PART, math.ceil(cost / _MOST_PARTS))
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


class _Made:
    """The tables of a run. What is known to be empty is no part of them, for Spark takes its time for that too: of
    ``found``, the units with their steps, and ``outcomes`` there may be none."""

    def __init__(
        self,
        listed: Callable[[], DataFrame],
        found: DataFrame | None,
        counts: dict[str, int],
        outcomes: DataFrame | None,
        before: Before | None,
        standing: Standing | None,
        options: Options,
    ) -> None:
        self._listed, self._found, self._counts, self._outcomes = listed, found, counts, outcomes
        self._before, self._standing, self._options = before, standing, options

    def findings(self) -> DataFrame:
        return self._all(self._told("findings"), self._was("findings"), FINDINGS)

    def publications(self) -> DataFrame:
        return self._all(self._told("published"), self._was("publications"), PUBLICATIONS)

    def units(self) -> DataFrame:
        before = self._was("units")
        if before is not None:
            # The rows of what was not linted then either are only what they would be again.
            before = before.withColumn("carried", carrying.ended())
        return self._all(self._unit_rows(), before, UNITS)

    def quarantine(self) -> DataFrame:
        fresh = [*self._told("quarantine")]
        found = self._found
        if found is not None:
            size = F.format_string(
                f"%d bytes in %d files; a file may have {self._options.largest_file} and a unit"
                f" {self._options.largest_unit} bytes",
                "bytes",
                "files",
            )
            nothing = F.lit(None).cast("string")
            if self._counts.get("stopped"):
                detail = F.when(F.col("reason") == "too-large", size).otherwise(F.col("why")).alias("detail")
                stopped = found.where("step = 'stopped'")
                fresh.append(stopped.select(*KEY, nothing.alias("path"), "reason", detail, nothing.alias("trace")))
            # Files whose fate was known before linting, and those of a unit that could not be linted. What cannot be
            # read is told by the linter where that saw it.
            unseen = (F.col("fate") != "unreadable") | F.col("unit").isNull()
            own = F.col("fate").isNotNull() & unseen
            files = found.where("step <> 'carried'").select(*KEY, "step", "reason", F.explode("members").alias("file"))
            files = files.select(*KEY, "step", F.col("reason").alias("whole"), "file.*")
            fresh.append(
                files.where(own | (F.col("step") == "stopped")).select(
                    *KEY,
                    "path",
                    F.when(own, F.col("fate")).otherwise(F.col("whole")).alias("reason"),
                    F.when(own, F.col("detail")).otherwise("its unit is quarantined").alias("detail"),
                    F.when(own, F.col("trace")).alias("trace"),
                )
            )
        return self._all(fresh, self._was("quarantine"), QUARANTINE)

    def repositories(self) -> DataFrame:
        fresh = []
        if self._found is not None:
            listed = self._listed()
            if self._standing is not None and self._standing.unchanged:
                listed = listed.join(self._standing.of("changed"), "repository", "left_semi")
            zero = F.lit(0).cast("bigint")
            apart = [F.col("files").alias("files_apart"), F.size("members").alias("files_apart_quarantined")]
            if self._counts.get("apart"):
                outside = self._found.where("unit IS NULL").select("repository", *apart)
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
        before = self._was("repositories")
        kept = (
            [self._standing.kept(before)] if before is not None and self._standing and self._standing.unchanged else []
        )
        return reduce(DataFrame.unionByName, [*fresh, *kept])

    def _was(self, name: str) -> DataFrame | None:
        return self._before[name] if self._before is not None else None

    def _told(self, name: str) -> list[DataFrame]:
        """The rows that the outcomes hold under a name."""
        if self._outcomes is None:
            return []
        return [self._outcomes.select(*KEY, F.explode(name).alias("told")).select(*KEY, "told.*")]

    def _all(self, fresh: list[DataFrame], before: DataFrame | None, columns: tuple[Any, ...]) -> DataFrame:
        """Rows of this run, and those that are carried over."""
        rows = list(fresh)
        if before is not None and self._standing is not None and self._standing.unchanged:
            rows.append(self._standing.kept(before))
        if before is not None and self._found is not None and self._counts.get("carried"):
            rows.append(before.join(self._found.where("step = 'carried'").select(*KEY), KEY, "left_semi"))
        if not rows:
            assert self._found is not None
            return self._found.sparkSession.createDataFrame([], ddl(columns))
        return reduce(DataFrame.unionByName, rows)

    def _unit_rows(self) -> list[DataFrame]:
        if self._found is None:
            return []
        rows = self._found.where("unit IS NOT NULL AND step <> 'carried'")
        zero = F.lit(0).cast("bigint")
        counted = ("statements", "unread", "errors", "warnings", "notes")
        if self._outcomes is not None:
            linted = self._outcomes.select(
                *KEY,
                "postgres",
                "statements",
                "seconds",
                "unread",
                F.col("reason").alias("ended"),
                *(_of_severity(severity).alias(f"{severity}s") for severity in SEVERITIES),
            )
            rows = rows.join(linted, KEY, "left")
        else:
            rows = rows.withColumns(
                {
                    **dict.fromkeys(counted, zero),
                    "postgres": F.lit(None).cast("array<int>"),
                    "seconds": F.lit(0.0),
                    "ended": F.lit(None).cast("string"),
                }
            )
        passed_over = F.col("step") == "passed-over"
        reason = F.when(~passed_over, F.coalesce("reason", "ended"))
        own = F.col("duplicates") + F.coalesce("unread", zero)
        quarantined = F.when(reason.isNotNull(), F.col("files")).otherwise(own)
        status = F.when(passed_over, "nothing-to-lint").when(reason.isNotNull(), "quarantined").otherwise("linted")
        fresh = rows.select(
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
            *(F.coalesce(name, zero).alias(name) for name in ("statements", "errors", "warnings", "notes")),
            F.coalesce("seconds", F.lit(0.0)).alias("seconds"),
        )
        return [fresh]


def _of_severity(severity: str) -> Column:
    return F.size(F.filter("findings", lambda found: found["severity"] == severity)).cast("bigint")
