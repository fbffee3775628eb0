"""The results of a run as a document for people; and its survey (`pubcheck audit --survey`): what publications of a
corpus have, which rules have findings, and whose publications they are, as shares with confidence intervals.

They are counted where the tables are, so that the driver holds no more of a large corpus than of a small one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import msgspec
import pyarrow as pa
from msgspec.structs import asdict
from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F

from pubcheck.consumers import NAME_PREFIXES, NAMES, NAMES_OF_ONE
from pubcheck.diagnostics import SEVERITIES
from pubcheck.report.audit_html import (
    Audit,
    Change,
    Ends,
    Features,
    Finding,
    Owner,
    Past,
    Quarantined,
    Repository,
    Rule,
    RuleChange,
    Share,
    Slow,
    Usage,
    share,
)
from pubcheck.rulebook import RULES
from pubcheck.spark.schema import FINDINGS, METRICS, PUBLICATIONS, QUARANTINE, SURVEY, UNITS, arrow, ddl
from pubcheck.spark.store import Store

MOST_REPOSITORIES, MOST_OWNERS, MOST_SLOW, MOST_RUNS = 30, 30, 10, 12
"""Rows of the lists that a corpus could make long."""

MOST_FINDINGS, MOST_OF_A_RULE = 300, 20
"""Findings in the list, and those of a rule and severity among them."""

MOST_OF_A_MESSAGE, MOST_OF_A_NAME = 400, 160
"""Characters of a message, and of a path or another name, which the user of a corpus may have chosen freely."""

SPREAD = (("none", 0, 0), ("1", 1, 1), ("2 to 9", 2, 9), ("10 to 99", 10, 99), ("100 and more", 100, 1 << 62))
"""Classes of repositories by how many errors and warnings they have."""

OPERATIONS = ("insert", "update", "delete", "truncate")


def collect(store: Store, run: str) -> Audit:
    """Return the document of a run that exists; it is held against the run that units were carried over from, else
    against the one of the same input that finished before it."""
    runs = store.runs().select(
        *("run", "pubcheck", "spark", "input", "since", "ruleset", "config"),
        *(F.unix_micros(name).alias(name) for name in ("started", "finished")),
    )
    current = runs.where(F.col("run") == run).collect()[0]
    alike = (F.col("input") == current.input) | F.col("run").eqNullSafe(current.since)
    candidates = runs.where((F.col("finished") < current.finished) & (F.col("run") != run) & alike)
    earlier = candidates.orderBy(F.desc("finished"), F.desc("run")).limit(MOST_RUNS - 1).collect()
    before = next((row for row in earlier if row.run == current.since), earlier[0] if earlier else None)
    findings, units = store.read(FINDINGS, "findings", run), store.read(UNITS, "units", run)
    history = _history(store, [row.run for row in (current, *earlier)])
    metrics = history[run]
    worst, spread = _repositories(findings, units)
    change = None
    if before is not None:
        new, gone = _seen_once(units, store.read(UNITS, "units", before.run))
        rules = _changes(findings, store.read(FINDINGS, "findings", before.run))
        other_input = before.input if before.input != current.input else None
        change = Change(
            before.run, _time(before.finished), before.ruleset == current.ruleset, rules, new, gone, other_input
        )
    return Audit(
        run=run,
        pubcheck=current.pubcheck,
        spark=current.spark,
        input=current.input,
        started=_time(current.started),
        seconds=metrics["seconds"],
        since=current.since,
        postgres=tuple(msgspec.json.decode(current.config).get("postgres") or ()),
        repositories=int(metrics["repositories"]),
        units=_ends(metrics, "units"),
        files=_ends(metrics, "files"),
        carried=int(metrics["units_carried"]),
        statements=int(metrics["statements"]),
        bytes=int(metrics["bytes"]),
        severities={severity: int(metrics[f"{severity}s"]) for severity in reversed(SEVERITIES)},
        rules=_rules(findings),
        findings=_first_findings(findings),
        worst=worst,
        owners=_owners(findings),
        spread=spread,
        features=features(store.read(PUBLICATIONS, "publications", run)),
        quarantine=_quarantined(store.read(QUARANTINE, "quarantine", run)),
        slowest=_slowest(units),
        change=change,
        history=tuple(
            Past(name, *(int(row[metric]) for metric in ("units", "errors", "warnings", "notes")))
            for name, row in reversed(history.items())
        ),
    )


def _short(text: str, most: int) -> str:
    """Return a text without its middle if it is long."""
    return text if len(text) <= most else f"{text[: most // 2]}…{text[1 - most // 2 :]}"


def _name(text: str) -> str:
    return _short(text, MOST_OF_A_NAME)


def _message(text: str) -> str:
    return _short(text, MOST_OF_A_MESSAGE)


def _place(finding: Row) -> tuple[str | None, int | None]:
    """Return the path and the line of a finding."""
    return None if finding.path is None else _name(finding.path), finding.line


def _time(micros: int) -> str:
    """Return a time in UTC, to the minute."""
    return f"{datetime.fromtimestamp(micros // 1_000_000, UTC):%Y-%m-%d %H:%M} UTC"


def _ends(metrics: dict[str, float], prefix: str) -> Ends:
    names = (prefix, *(f"{prefix}_{end}" for end in ("linted", "nothing_to_lint", "quarantined")))
    return Ends(*(int(metrics[name]) for name in names))


def _history(store: Store, runs: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the metrics of these runs, by run, in their order."""
    metrics: dict[str, dict[str, float]] = {run: {} for run in runs}
    tables = [store.read(METRICS, "metrics", run).withColumn("run", F.lit(run)) for run in runs]
    rows = tables[0]
    for table in tables[1:]:
        rows = rows.unionByName(table)
    for row in rows.collect():
        metrics[row.run][row.metric] = row.value
    return metrics


def _rules(findings: DataFrame) -> tuple[Rule, ...]:
    first = F.struct(F.col("certainty") == "assumed", "path", "line", "column", "message")
    rows = (
        findings.groupBy("rule", "name", "phase", "severity")
        .agg(
            F.count_if(F.col("certainty") == "certain"),
            F.count_if(F.col("certainty") != "certain"),
            F.countDistinct("repository"),
            F.min(first),
        )
        .collect()
    )
    rules = [
        Rule(code, name, phase, severity, certain, assumed, repositories, *_place(example), _message(example.message))
        for code, name, phase, severity, certain, assumed, repositories, example in rows
    ]
    return tuple(sorted(rules, key=lambda rule: (-SEVERITIES.index(rule.severity), -rule.count, rule.code)))


def _first_findings(findings: DataFrame) -> tuple[Finding, ...]:
    """Return the first findings of each rule and severity, certain ones before others; of many rules fewer of each."""
    place = ("repository", "path", "line", "column")
    order = Window.partitionBy("rule", "severity").orderBy(F.col("certainty") != "certain", *place, "message")
    rows = (
        findings.withColumn("number", F.row_number().over(order))
        .where(F.col("number") <= MOST_OF_A_RULE)
        .orderBy("number", "rule", "severity")
        .limit(MOST_FINDINGS)
        .select("rule", "severity", "certainty", "path", "line", "message", "number")
        .collect()
    )
    rows.sort(key=lambda row: (-SEVERITIES.index(row.severity), row.rule, row.number))
    return tuple(Finding(row.rule, row.severity, row.certainty, *_place(row), _message(row.message)) for row in rows)


def _repositories(findings: DataFrame, units: DataFrame) -> tuple[tuple[Repository, ...], dict[str, int]]:
    """Return the worst repositories, and how many there are of each class of SPREAD."""
    totals = units.groupBy("repository").agg(
        F.count("*").alias("units"), *(F.sum(f"{severity}s").alias(f"{severity}s") for severity in reversed(SEVERITIES))
    )
    loud = F.col("errors") + F.col("warnings")
    classes = totals.agg(*(F.count_if(loud.between(low, high)).alias(name) for name, low, high in SPREAD)).collect()[0]
    worst = (
        totals.where(loud + F.col("notes") > 0)
        .orderBy(F.desc("errors"), F.desc("warnings"), F.desc("notes"), "repository")
        .limit(MOST_REPOSITORIES)
        .collect()
    )
    rules: dict[str, dict[str, int]] = {row.repository: {} for row in worst}
    if worst:
        shown = findings.where(F.col("repository").isin(list(rules))).groupBy("repository", "rule").count()
        for repository, rule, count in sorted(map(tuple, shown.collect())):
            rules[repository][rule] = count
    named = (
        Repository(_name(name), units, errors, warnings, notes, rules[name])
        for name, units, errors, warnings, notes in worst
    )
    return tuple(named), classes.asDict()


def _owners(findings: DataFrame) -> tuple[Owner, ...]:
    """Return the owners of files with findings, the worst first; none if no repository names any."""
    owner = F.explode(F.when(F.size("owners") > 0, F.col("owners")).otherwise(F.array(F.lit("")))).alias("owner")
    rows = (
        findings.select(owner, "repository", "severity")
        .groupBy("owner")
        .agg(
            F.count_distinct("repository"),
            *(F.count_if(F.col("severity") == severity).alias(severity) for severity in reversed(SEVERITIES)),
        )
        .orderBy(*(F.desc(severity) for severity in reversed(SEVERITIES)), "owner")
        .limit(MOST_OWNERS)
        .collect()
    )
    owners = tuple(Owner(_name(name), *counts) for name, *counts in rows)
    return owners if any(owner.name for owner in owners) else ()


_KEY = ("repository", "unit", "publication")


def features(publications: DataFrame) -> Features:
    """Return what the publications of a run have, and what becomes of their operations."""

    def any_of(condition: Column) -> Column:
        return F.max(F.coalesce(condition, F.lit(False)))

    names = F.first("names", ignorenulls=True)
    publishes = F.max("publish")
    per_publication = publications.groupBy(*_KEY).agg(
        F.size(F.collect_set("table")).alias("tables"),  # a second distinct count would double the rows
        any_of(F.col("filter").isNotNull()).alias("row filter"),
        any_of(F.col("columns").isNotNull()).alias("column list"),
        (names == "all tables").alias("FOR ALL TABLES"),
        names.contains("schemas").alias("TABLES IN SCHEMA"),
        names.startswith("tables").alias("FOR TABLE"),
        (names == "empty").alias("no member"),
        (F.size(publishes) < len(OPERATIONS)).alias("publish option"),
        any_of(F.col("via_root")).alias("publish_via_partition_root"),
        any_of(F.col("generated_columns") == "stored").alias("publish_generated_columns"),
        any_of(F.col("verdict") == "refused").alias("refused UPDATE or DELETE"),
        any_of(F.col("certainty") == "assumed").alias("assumed in part"),
    )
    used = [name for name in per_publication.columns if name not in (*_KEY, "tables")]
    by_repository = per_publication.groupBy("repository").agg(
        F.count("*").alias("all"),
        F.sum("tables").alias("tables"),
        *(F.count_if(F.col(f"`{name}`")).alias(name) for name in used),
    )
    counted = by_repository.agg(
        F.coalesce(F.sum("all"), F.lit(0)),
        F.count("*"),
        F.coalesce(F.sum("tables"), F.lit(0)),
        *(F.coalesce(F.sum(f"`{name}`"), F.lit(0)) for name in used),
        *(F.count_if(F.col(f"`{name}`") > 0) for name in used),
    ).collect()[0]
    shares = zip(used, counted[3 : 3 + len(used)], counted[3 + len(used) :], strict=True)
    verdicts: dict[str, dict[str, int]] = {operation: {} for operation in OPERATIONS}
    known = publications.where("operation IS NOT NULL")
    for operation, verdict, count in known.groupBy("operation", "verdict").count().collect():
        verdicts[operation][verdict or "unknown"] = count
    return Features(
        counted[0],
        counted[1],
        counted[2],
        {name: Usage(publications, repositories) for name, publications, repositories in shares},
        verdicts,
    )


def _quarantined(quarantine: DataFrame) -> tuple[Quarantined, ...]:
    subject = F.coalesce("path", "unit", F.lit(""))
    rows = (
        quarantine.groupBy("reason")
        .agg(
            F.count_if(F.col("path").isNull() & F.col("unit").isNotNull()),
            F.count_if(F.col("path").isNotNull() | F.col("unit").isNull()),
            F.min(
                F.struct(F.col("path").isNotNull(), subject.alias("what"), F.coalesce("detail", F.lit("")).alias("why"))
            ),
        )
        .collect()
    )
    groups = [
        Quarantined(reason, units, files, _name(example.what), _message(example.why))
        for reason, units, files, example in rows
    ]
    return tuple(sorted(groups, key=lambda group: (-group.units, -group.files, group.reason)))


def _slowest(units: DataFrame) -> tuple[Slow, ...]:
    rows = (
        units.where("status <> 'nothing-to-lint' AND NOT carried AND seconds > 0")
        .orderBy(F.desc("seconds"), "unit")
        .limit(MOST_SLOW)
    )
    rows = rows.select("unit", "seconds", "statements", "bytes")
    return tuple(Slow(_name(unit), *costs) for unit, *costs in rows.collect())


def _changes(current: DataFrame, previous: DataFrame) -> tuple[RuleChange, ...]:
    """Return the numbers of new, gone and unchanged findings by rule. A fingerprint identifies one finding of a run."""

    def marked(rows: DataFrame, current: int, previous: int) -> DataFrame:
        return rows.select("rule", "fingerprint", F.lit(current).alias("now"), F.lit(previous).alias("before"))

    changes = (
        marked(current, 1, 0)
        .unionByName(marked(previous, 0, 1))
        .groupBy("rule", "fingerprint")
        .agg(F.sum("now").alias("now"), F.sum("before").alias("before"))
    )
    common = F.least("now", "before")
    rows = changes.groupBy("rule").agg(F.sum(F.col("now") - common), F.sum(F.col("before") - common), F.sum(common))
    changed = [RuleChange(*row) for row in rows.collect()]
    order = {code: number for number, code in enumerate(RULES)}
    return tuple(sorted(changed, key=lambda changes: (order.get(changes.code, len(order)), changes.code)))


def _seen_once(current: DataFrame, before: DataFrame) -> tuple[int, int]:
    """Return the repositories of this run that were not in the other, and those of the other that are gone."""
    repositories = (
        current.select("repository", F.lit(1).alias("now"), F.lit(0).alias("before"))
        .unionByName(before.select("repository", F.lit(0).alias("now"), F.lit(1).alias("before")))
        .groupBy("repository")
        .agg(F.max("now").alias("now"), F.max("before").alias("before"))
    )
    row = repositories.agg(F.count_if(F.expr("now > before")), F.count_if(F.expr("before > now"))).collect()[0]
    return row[0], row[1]


_PUBLICATION = ["repository", "unit", "publication"]


def survey(store: Store, run: str) -> list[Share]:
    """Return the survey of a run that exists, and write it as the table `survey`."""
    publications = store.read(PUBLICATIONS, "publications", run)
    units, findings = store.read(UNITS, "units", run), store.read(FINDINGS, "findings", run)
    shares = [*_features(publications), *_rules_that_fire(findings, units), *_consumers(publications)]
    table = pa.Table.from_pylist([asdict(row) for row in shares], schema=arrow(SURVEY))
    store.write(store.spark.createDataFrame(table, ddl(SURVEY)).coalesce(1), "survey", run)
    return shares


def _features(publications: DataFrame) -> Iterator[Share]:
    counted = features(publications)
    for kind, whole in (("publications", counted.publications), ("repositories", counted.repositories)):
        rows = [share("features", name, kind, getattr(used, kind), whole) for name, used in counted.used.items()]
        yield from _most_first(rows)
    for operation, verdicts in counted.verdicts.items():
        whole = sum(verdicts.values())
        rows = [
            share(
                "outcomes", f"{operation.upper()} {verdict}", f"published tables with {operation.upper()}", count, whole
            )
            for verdict, count in verdicts.items()
        ]
        yield from _most_first(rows)


def _rules_that_fire(findings: DataFrame, units: DataFrame) -> Iterator[Share]:
    """Return the shares of linted units and of their repositories that have a finding of a rule."""
    linted = units.where("status = 'linted'")
    whole = linted.agg(F.count("*"), F.count_distinct("repository")).collect()[0]
    of_linted = findings.join(linted.select("repository", "unit"), ["repository", "unit"], "left_semi")
    by_rule = of_linted.select("rule", "repository", "unit").distinct().groupBy("rule")
    counts = by_rule.agg(F.count("*"), F.count_distinct("repository")).collect()
    for place, kind in enumerate(("linted units", "repositories with a linted unit")):
        rows = [share("rules", _titled(row[0]), kind, row[1 + place], whole[place]) for row in counts]
        yield from _most_first(rows)


def _titled(code: str) -> str:
    return f"{code} {RULES[code].name}" if code in RULES else code


def _consumers(publications: DataFrame) -> Iterator[Share]:
    """Return the shares of publications that have the name which only one consumer uses."""
    named = publications.select(*_PUBLICATION).distinct()
    known = named.withColumn("consumer", _consumer(F.col("publication")))
    whole = known.agg(F.count("*"), F.count_distinct("repository")).collect()[0]
    by_consumer = known.where("consumer IS NOT NULL").groupBy("consumer")
    counts = by_consumer.agg(F.count("*"), F.count_distinct("repository")).collect()
    for place, kind in enumerate(("publications", "repositories")):
        yield from _most_first(
            [share("consumers", NAMES[row[0]], kind, row[1 + place], whole[place]) for row in counts]
        )


def _consumer(name: Column) -> Column:
    """Return the ID of the consumer that alone uses publications of a name, null if there is none."""
    of_name = F.lit(None).cast("string")
    for prefix, consumer in NAME_PREFIXES:
        of_name = F.when(name.startswith(prefix), consumer).otherwise(of_name)
    for publication, consumer in NAMES_OF_ONE.items():
        of_name = F.when(name == publication, consumer).otherwise(of_name)
    return of_name


def _most_first(shares: list[Share]) -> list[Share]:
    return sorted(shares, key=lambda row: (-row.count, row.item))
