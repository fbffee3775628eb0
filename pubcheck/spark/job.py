"""The audit as DataFrames: files -> units -> the units to lint -> outcomes -> tables. Nothing but the DataFrame API.

Every file and every unit ends in one of linted, nothing to lint, quarantined; `audit` counts them another way before it
lets a run exist.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial, reduce

import msgspec
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
from pubcheck.spark import worker
from pubcheck.spark.child import Limits
from pubcheck.spark.inputs import Input
from pubcheck.spark.runs import NoRun, Store
from pubcheck.spark.tables import FINDINGS, METRICS, OUTCOMES, PUBLICATIONS, QUARANTINE, RUNS, UNITS, ddl


class Options(Struct, frozen=True, kw_only=True):
    """What a run may take and is called: sizes in bytes, ``since`` the id of a run to carry unchanged units from."""

    run: str
    since: str | None = None
    largest_file: int = 32 << 20
    largest_unit: int = 128 << 20
    limits: Limits = Limits(60.0, 2 << 30)


class Summary(Struct, frozen=True):
    """What a run did: its metrics by name, quarantined units and files by reason, findings by rule and severity, and
    what is to be said of the run that units were to be carried over from."""

    run: str
    metrics: dict[str, float]
    quarantine: dict[str, tuple[int, int]]
    rules: list[tuple[str, str, str, int]]
    notes: tuple[str, ...] = ()


class Lost(RuntimeError):
    """The counts do not add up: an error of pubcheck's own, for which the run was not let exist."""


KEY = ["repository", "unit"]

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
    store.clear(RUNS, "runs", run)

    progress("listing files")
    files = given.files(spark, store, run, options.largest_file).persist()
    units = _units(files, rules, options)
    before = _before(store, options.since)
    notes = _differences(store, options.since, rules, given.name)
    units = _with_step(units, before, options).persist()
    steps = units.groupBy("step").agg(F.count("*"), F.sum("cost"), F.max("cost")).collect()
    counts = {row[0]: row[1] for row in steps}
    progress(
        f"{sum(counts.values()):,} units: {counts.get('lint', 0):,} to lint, {counts.get('carried', 0):,} carried over"
    )

    if counts.get("lint"):
        progress("linting")
        cost, most = next((row[2], row[3]) for row in steps if row[0] == "lint")
        store.write(_outcomes(spark, given, files, units, cost, most, linter, options), "outcomes", run)
        outcomes = store.read(OUTCOMES, "outcomes", run)
    else:  # known to be empty, whatever is made of it costs nothing
        outcomes = spark.createDataFrame([], ddl(OUTCOMES))

    progress("writing tables")
    store.write(_findings(outcomes, units, before), "findings", run)
    store.write(_publications(outcomes, units, before), "publications", run)
    store.write(_unit_rows(outcomes, units, before), "units", run)
    store.write(_quarantine(outcomes, files, units, before, options), "quarantine", run)
    summary = _summary(given, store, files, run, (datetime.now(UTC) - started).total_seconds(), notes)
    metrics = [(name, float(value)) for name, value in summary.metrics.items()]
    store.write(spark.createDataFrame(metrics, ddl(METRICS)).coalesce(1), "metrics", run)
    if counts.get("lint"):
        store.remove(OUTCOMES, "outcomes", run)
    given.forget(store, run)
    row = (
        run,
        started,
        datetime.now(UTC),
        __version__,
        spark.version,
        given.name,
        options.since,
        rules,
        msgspec.json.encode(linter.config).decode(),
    )
    store.write(spark.createDataFrame([row], ddl(RUNS)).coalesce(1), "runs", run)
    units.unpersist()
    files.unpersist()
    return summary


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


LASTING = ("not-postgresql", "not-text")
"""Reasons to quarantine a unit that are its content's own. What it took or met may be otherwise next time."""


# From files to what is to be done with each unit.


def _units(files: DataFrame, rules: str, options: Options) -> DataFrame:
    """The units of the input, with a fingerprint of their content and whether their repository may publish."""
    described = F.concat_ws("\t", F.lpad(F.col("ordinal").cast("string"), 9, "0"), "path", "digest", "fate")
    units = (
        files.where("unit IS NOT NULL")
        .groupBy(*KEY)
        .agg(
            F.count("*").alias("files"),
            F.sum("size").alias("bytes"),
            F.sum(F.col("size") + _FILE_COST).alias("cost"),
            F.count_if(F.col("fate") == "duplicate").alias("duplicates"),
            F.count_if(F.col("fate") == "too-large").alias("large"),
            F.max("may_publish").alias("may_publish"),
            F.sha2(F.concat_ws("\n", F.lit(rules), F.array_sort(F.collect_list(described))), 256).alias("fingerprint"),
        )
    )
    selected = F.max("may_publish").over(Window.partitionBy("repository"))
    return units.withColumn("selected", selected).drop("may_publish")


class Before(Struct, frozen=True):
    """The tables of the run that unchanged units are carried over from."""

    findings: DataFrame
    publications: DataFrame
    units: DataFrame
    quarantine: DataFrame


def _before(store: Store, since: str | None) -> Before | None:
    if since is None:
        return None
    return Before(
        store.read(FINDINGS, "findings", since),
        store.read(PUBLICATIONS, "publications", since),
        store.read(UNITS, "units", since),
        store.read(QUARANTINE, "quarantine", since),
    )


def _differences(store: Store, since: str | None, rules: str, name: str) -> tuple[str, ...]:
    """Why less than could be is carried over from a run."""
    if since is None:
        return ()
    row = store.runs().where(F.col("run") == since).select("ruleset", "input").collect()[0]
    notes = []
    if row[0] != rules:
        notes.append(f"Nothing was carried over from run {since}: another pubcheck, rules or configuration made it.")
    if row[1] != name:
        notes.append(f"Run {since} is of another input, {row[1]}.")
    return tuple(notes)


def _with_step(units: DataFrame, before: Before | None, options: Options) -> DataFrame:
    """The units with what is to be done: lint, or carried, too-large, passed-over."""
    carried: Column = F.lit(False)
    if before is not None:
        ended = (F.col("status") == "linted") | F.col("reason").isin(*LASTING)
        known = before.units.where(ended).select(*KEY, "fingerprint", F.lit(True).alias("known"))
        units = units.join(known, [*KEY, "fingerprint"], "left")
        carried = F.coalesce("known", F.lit(False))
    large = (F.col("large") > 0) | (F.col("bytes") > options.largest_unit)
    step = F.when(~F.col("selected"), "passed-over").when(large, "too-large").when(carried, "carried")
    return units.withColumn("step", step.otherwise("lint")).drop("known", "selected")


# Linting.


def _outcomes(
    spark: SparkSession,
    given: Input,
    files: DataFrame,
    units: DataFrame,
    cost: int,
    most: int,
    linter: Linter,
    options: Options,
) -> DataFrame:
    """What came of each unit that is to be linted; together they cost ``cost``, and none more than ``most``."""
    chosen, parts = _with_part(spark, units.where("step = 'lint'").select(*KEY, "cost"), cost, most)
    wanted = files.where("fate IS NULL OR fate = 'unreadable'").join(chosen, KEY)
    columns = ["habit", "ordinal", "path", "view", "location", "content", "problem"]
    ready = (
        given.contents(spark, wanted)
        .repartition(parts, "salt")
        .sortWithinPartitions("cost", *KEY, "ordinal")
        .select(*KEY, *columns)
    )
    # Few rows a batch: a row may be a file of many megabytes. Releases that know of it count bytes as well.
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 500)
    spark.conf.set("spark.sql.execution.arrow.maxBytesPerBatch", 16 << 20)
    lint = partial(worker.lint, linter=_pickled(linter), limits=options.limits)
    return ready.mapInArrow(lint, ddl(OUTCOMES))


def _pickled(linter: Linter) -> bytes:
    pickled: bytes = cloudpickle.dumps(linter)  # type: ignore[no-untyped-call]
    return pickled


def _with_part(spark: SparkSession, chosen: DataFrame, cost: int, most: int) -> tuple[DataFrame, int]:
    """The units with a ``salt`` that `repartition` takes to the partition each shall be in, and how many there are.

    A unit that costs more than a partition shall is alone in one of the first partitions, which start first; the
    others are spread over the rest by their names, of equal cost on the average.
    """
    part = max(min(_PART, math.ceil(cost / _FEWEST_PARTS)), _LEAST_PART, math.ceil(cost / _MOST_PARTS))
    large = chosen.where(F.col("cost") > part)
    alone = large.count() if most > part else 0
    spread = max(1, math.ceil(cost / part) - alone)
    placed = chosen.where(F.col("cost") <= part).withColumn("part", F.pmod(F.xxhash64(*KEY), F.lit(spread)) + alone)
    if alone:
        place = F.row_number().over(Window.orderBy(F.desc("cost"), *KEY)) - 1
        placed = placed.unionByName(large.withColumn("part", place.cast("bigint")))
    parts = alone + spread
    # Spark has no way, in all its releases, to say which partition; what it hashes there can be found out. The tries
    # are so many that a partition which none of them hits is next to impossible, and its units only share another.
    tries = spark.range(parts * (20 + 2 * parts.bit_length())).select(
        F.col("id").alias("salt"), F.pmod(F.hash("id"), F.lit(parts)).cast("bigint").alias("part")
    )
    salts = tries.groupBy("part").agg(F.min("salt").alias("salt"))
    return placed.join(F.broadcast(salts), "part", "left"), parts


# The tables.


def _carried(units: DataFrame) -> DataFrame:
    return units.where("step = 'carried'").select(*KEY)


def _findings(outcomes: DataFrame, units: DataFrame, before: Before | None) -> DataFrame:
    return _each(outcomes, "findings", units, before.findings if before is not None else None)


def _publications(outcomes: DataFrame, units: DataFrame, before: Before | None) -> DataFrame:
    return _each(outcomes, "published", units, before.publications if before is not None else None)


def _each(outcomes: DataFrame, name: str, units: DataFrame, before: DataFrame | None) -> DataFrame:
    """The rows that outcomes hold under a name, and those of the units that were carried over."""
    found = outcomes.select(*KEY, F.explode(name).alias("found")).select(*KEY, "found.*")
    return found if before is None else found.unionByName(before.join(_carried(units), KEY, "left_semi"))


def _unit_rows(outcomes: DataFrame, units: DataFrame, before: Before | None) -> DataFrame:
    def of_severity(severity: str) -> Column:
        return F.size(F.filter("findings", lambda found: found["severity"] == severity)).cast("bigint")

    linted = outcomes.select(
        *KEY,
        "postgres",
        "statements",
        "seconds",
        "reason",
        F.size("unread").alias("unread"),
        *(of_severity(severity).alias(f"{severity}s") for severity in SEVERITIES),
    )
    rows = units.where("step <> 'carried'").join(linted, KEY, "left")
    passed_over = F.col("step") == "passed-over"
    reason = F.when(F.col("step") == "too-large", "too-large").otherwise(F.col("reason"))
    own = F.col("duplicates") + F.coalesce("unread", F.lit(0))
    quarantined = F.when(reason.isNotNull(), F.col("files")).otherwise(own)
    zero = F.lit(0).cast("bigint")
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
    if before is None:
        return fresh
    kept = before.units.join(_carried(units), KEY, "left_semi").withColumn("carried", F.lit(True))
    return fresh.unionByName(kept)


def _quarantine(
    outcomes: DataFrame, files: DataFrame, units: DataFrame, before: Before | None, options: Options
) -> DataFrame:
    nothing = F.lit(None).cast("string")
    no_path = nothing.alias("path")
    failed = outcomes.where("reason IS NOT NULL").select(*KEY, no_path, "reason", "detail", "trace")
    unread = (
        outcomes.select(*KEY, F.explode("unread").alias("each")).select(*KEY, "each.*").withColumn("trace", nothing)
    )
    size = F.format_string(
        f"%d bytes in %d files; a file may have {options.largest_file} and a unit {options.largest_unit} bytes",
        "bytes",
        "files",
    )
    large = units.where("step = 'too-large'").select(
        *KEY, no_path, F.lit("too-large").alias("reason"), size.alias("detail"), nothing.alias("trace")
    )
    # Files whose fate was known before linting. What cannot be read is told by the linter where that saw it.
    unseen = (F.col("fate") != "unreadable") | F.col("unit").isNull()
    known = files.where(F.col("fate").isNotNull() & unseen)
    detail = F.when(F.col("fate") == "too-large", F.format_string("%d bytes", "size")).otherwise(F.col("problem"))
    fated = known.select(*KEY, "path", F.col("fate").alias("reason"), detail.alias("detail"), nothing.alias("trace"))
    # The files of a unit that is quarantined as a whole, but for those of which it is told by themselves.
    whole = failed.unionByName(large).select(*KEY, "reason")
    members = (
        files.where("unit IS NOT NULL AND (fate IS NULL OR fate = 'unreadable')")
        .select(*KEY, "path")
        .join(whole, KEY)
        .join(unread.select(*KEY, "path"), [*KEY, "path"], "left_anti")
        .withColumn("detail", F.lit("its unit is quarantined"))
        .withColumn("trace", nothing)
    )
    tables = [failed, unread, large, members]
    if before is None:
        tables.append(fated)
    else:
        tables.append(fated.join(_carried(units), KEY, "left_anti"))
        tables.append(before.quarantine.join(_carried(units), KEY, "left_semi"))
    return reduce(DataFrame.unionByName, tables)


# What is told of a run.


def _summary(given: Input, store: Store, files: DataFrame, run: str, seconds: float, notes: tuple[str, ...]) -> Summary:
    """Counts what was written, and holds it to the input. Raises Lost."""
    units, findings = store.read(UNITS, "units", run), store.read(FINDINGS, "findings", run)
    totals = units.agg(
        F.countDistinct("repository").alias("repositories"),
        F.count("*").alias("units"),
        F.count_if(F.col("status") == "linted").alias("units_linted"),
        F.count_if(F.col("status") == "nothing-to-lint").alias("units_nothing_to_lint"),
        F.count_if(F.col("status") == "quarantined").alias("units_quarantined"),
        F.count_if("carried").alias("units_carried"),
        *(
            F.coalesce(F.sum(name), F.lit(0)).alias(name)
            for name in (
                "files",
                "files_linted",
                "files_nothing_to_lint",
                "files_quarantined",
                "bytes",
                "statements",
                "errors",
                "warnings",
                "notes",
            )
        ),
        F.coalesce(F.sum("seconds"), F.lit(0.0)).alias("seconds_linting"),
    ).collect()[0]
    metrics: dict[str, float] = {name: float(value) for name, value in totals.asDict().items()}
    outside = files.where("unit IS NULL").agg(F.count("*"), F.count_if(F.col("fate").isNotNull())).collect()[0]
    metrics["files"] += outside[0]
    metrics["files_quarantined"] += outside[1]
    metrics["files_nothing_to_lint"] += outside[0] - outside[1]
    rules = findings.groupBy("rule", "severity", "certainty").count().orderBy("rule", "severity", "certainty").collect()
    metrics["findings"] = float(sum(row[3] for row in rules))
    metrics["rows_passed_over"] = float(given.passed_over())
    metrics["seconds"] = seconds
    _hold(metrics, "units", sum(metrics[f"units_{end}"] for end in ENDS), "units of every status")
    _hold(metrics, "files", sum(metrics[f"files_{end}"] for end in ENDS), "files of every status")
    _hold(metrics, "files", given.count(), "files of the input")
    _hold(metrics, "findings", sum(metrics[f"{severity}s"] for severity in SEVERITIES), "findings of all units")
    whole = F.expr("path IS NULL AND unit IS NOT NULL")
    reasons = store.read(QUARANTINE, "quarantine", run).groupBy("reason")
    quarantine = reasons.agg(F.count_if(whole), F.count_if(~whole)).orderBy("reason").collect()
    counted = {row[0]: (row[1], row[2]) for row in quarantine}
    return Summary(run, metrics, counted, [tuple(row) for row in rules], notes)


ENDS = ("linted", "nothing_to_lint", "quarantined")
"""How a file or a unit may end."""


def _hold(metrics: dict[str, float], name: str, other: float, what: str) -> None:
    if metrics[name] != other:
        raise Lost(f"the audit lost something: {metrics[name]:.0f} {name}, but {other:.0f} {what}")


def fails(rules: list[tuple[str, str, str, int]], config: Config) -> bool:
    """Whether something that was found fails the run, as `pubcheck lint` would say."""
    least = SEVERITIES.index(config.fail_on)
    return any(
        severity in SEVERITIES[least:] and (certainty == "certain" or config.fail_on_assumed)
        for _, severity, certainty, _ in rules
    )
