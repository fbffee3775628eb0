"""`pubcheck audit --survey`: what publications of a corpus have, which rules have findings, and whose publications they
are, as shares with confidence intervals."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from msgspec.structs import asdict
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from pubcheck.consumers import NAME_PREFIXES, NAMES, NAMES_OF_ONE
from pubcheck.report.audit_html import Share, share
from pubcheck.rulebook import RULES
from pubcheck.spark.report_data import features
from pubcheck.spark.schema import FINDINGS, PUBLICATIONS, SURVEY, UNITS, arrow, ddl
from pubcheck.spark.store import Store

_PUBLICATION = ["repository", "unit", "publication"]


def survey(store: Store, run: str) -> list[Share]:
    """Return the survey of a run that exists, and write it as the table `survey`."""
    publications = store.read(PUBLICATIONS, "publications", run)
    units, findings = store.read(UNITS, "units", run), store.read(FINDINGS, "findings", run)
    shares = [*_features(publications), *_rules(findings, units), *_consumers(publications)]
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


def _rules(findings: DataFrame, units: DataFrame) -> Iterator[Share]:
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
