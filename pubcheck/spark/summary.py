"""The summary of a run of the audit, counted from the tables that it wrote and compared with its input."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from pubcheck.diagnostics import SEVERITIES
from pubcheck.spark.incremental import RepositoryDiff
from pubcheck.spark.inputs import Input
from pubcheck.spark.schema import RESULTS
from pubcheck.spark.store import Store


class Summary(Struct, frozen=True):
    """The results of a run: its metrics by name, quarantined units and files by reason, findings by rule and
    severity, and a message about the run from which units should have been carried over."""

    run: str
    metrics: dict[str, float]
    quarantine: dict[str, tuple[int, int]]
    rules: list[tuple[str, str, str, int]]
    notes: tuple[str, ...] = ()


class Lost(RuntimeError):
    """The counts do not add up, so that the run was not let exist; the message says what did not."""


def summary(
    source: Input,
    store: Store,
    run: str,
    standing: RepositoryDiff | None,
    notes: tuple[str, ...],
    *,
    partial: bool = False,
) -> Summary:
    """Count what was written, and holds it to the input, unless that is ``partial``. Raises Lost."""
    written = {name: store.read(columns, name, run) for name, columns in RESULTS.items()}
    counts = [
        written["units"].selectExpr(*_counts("units", (), _OF_UNITS.values())),
        written["repositories"].selectExpr(*_counts("repositories", (), _OF_REPOSITORIES.values())),
        written["findings"].groupBy(*_KINDS).agg(*map(F.expr, _counts("findings", _KINDS, ["count(*)"]))),
        written["quarantine"].groupBy("reason").agg(*map(F.expr, _counts("quarantine", ["reason"], _OF_QUARANTINE))),
    ]
    counted: dict[str, list[tuple[list[str], list[float]]]] = {}
    shaped = (count.select("of", "names", "numbers") for count in counts)  # without what was grouped by
    for table, names, numbers in reduce(DataFrame.union, shaped).collect():
        counted.setdefault(table, []).append((names, numbers))
    metrics = dict(zip(_OF_UNITS, counted["units"][0][1], strict=True))
    listed = dict(zip(_OF_REPOSITORIES, counted["repositories"][0][1], strict=True))
    metrics["repositories"] = listed["repositories"]
    metrics["repositories_listed"] = listed["all"]
    metrics["repositories_unchanged"] = listed["all"] - standing.changed if standing is not None else 0.0
    metrics["files"] += listed["files_apart"]
    metrics["files_quarantined"] += listed["files_apart_quarantined"]
    metrics["files_nothing_to_lint"] += listed["files_apart"] - listed["files_apart_quarantined"]
    rules = [(names[0], names[1], names[2], int(numbers[0])) for names, numbers in sorted(counted.get("findings", []))]
    metrics["findings"] = float(sum(row[3] for row in rules))
    metrics["rows_passed_over"] = float(source.passed_over())
    _hold(metrics, "units", sum(metrics[f"units_{end}"] for end in ENDS), "units of every status")
    _hold(metrics, "files", sum(metrics[f"files_{end}"] for end in ENDS), "files of every status")
    _hold(metrics, "files", listed["files"], "files of all repositories")
    if not partial:
        _hold(metrics, "files", source.count(), "files of the input")
    _hold(metrics, "findings", sum(metrics[f"{severity}s"] for severity in SEVERITIES), "findings of all units")
    quarantine = {names[0]: (int(units), int(files)) for names, (units, files) in sorted(counted.get("quarantine", []))}
    _hold(metrics, "units_quarantined", sum(units for units, _ in quarantine.values()), "units in quarantine")
    # Files whose names are not valid UTF-8 may share a label, and then share one row.
    quarantined_files = sum(files for _, files in quarantine.values())
    _hold(metrics, "files_quarantined", max(quarantined_files, metrics["files_quarantined"]), "files in quarantine")
    return Summary(run, metrics, quarantine, rules, notes)


def copied(
    source: Input, run: str, earlier: str, lasting: Iterable[str], notes: tuple[str, ...], *, partial: bool
) -> Summary:
    """Return the summary of a run whose tables are copies of those of an ``earlier`` run, given by its summary as JSON,
    and held to the input as that one. Units that were quarantined for ``lasting`` reasons count as carried over. Raises
    Lost."""
    before = msgspec.json.decode(earlier, type=Summary)
    metrics = {name: before.metrics[name] for name in (*_OF_UNITS, *_OF_SUMMARY)}
    quarantined = sum(before.quarantine[reason][0] for reason in lasting if reason in before.quarantine)
    metrics["units_carried"] = metrics["units_linted"] + quarantined
    metrics["repositories_unchanged"] = metrics["repositories_listed"]
    metrics["rows_passed_over"] = float(source.passed_over())
    if not partial:
        _hold(metrics, "files", source.count(), "files of the input")
    return replace(before, run=run, metrics=metrics, notes=notes)


def _sums(*names: str) -> dict[str, str]:
    return {name: f"coalesce(sum({name}), 0)" for name in names}


_OF_UNITS = {
    "units": "count(*)",
    "units_linted": "count_if(status = 'linted')",
    "units_nothing_to_lint": "count_if(status = 'nothing-to-lint')",
    "units_quarantined": "count_if(status = 'quarantined')",
    "units_carried": "count_if(carried)",
    **_sums("files", "files_linted", "files_nothing_to_lint", "files_quarantined", "bytes"),
    **_sums("statements", "errors", "warnings", "notes"),
    "seconds_linting": "coalesce(sum(seconds), 0)",
}
_OF_SUMMARY = ("repositories", "repositories_listed", "findings")
_OF_REPOSITORIES = {
    "all": "count(*)",
    "repositories": "count_if(files > files_apart)",
    **_sums("files", "files_apart", "files_apart_quarantined"),
}
_KINDS = ("rule", "severity", "certainty")
_WHOLE = "path IS NULL AND unit IS NOT NULL"
_OF_QUARANTINE = (f"count_if({_WHOLE})", f"count_if(NOT ({_WHOLE}))")


def _counts(table: str, names: Iterable[str], numbers: Iterable[str]) -> list[str]:
    """Count of a table in a shape that all tables have, so that all are counted in one query."""
    doubles = ", ".join(f"CAST({number} AS DOUBLE)" for number in numbers)
    return [
        f"'{table}' AS of",
        f"CAST(array({', '.join(names)}) AS ARRAY<STRING>) AS names",
        f"array({doubles}) AS numbers",
    ]


ENDS = ("linted", "nothing_to_lint", "quarantined")
"""The statuses of a file or a unit."""


def _hold(metrics: dict[str, float], name: str, expected: float, description: str) -> None:
    if metrics[name] != expected:
        counts = f"{metrics[name]:.0f} {name}, but {expected:.0f} {description}"
        raise Lost(
            f"the audit's counts do not add up: {counts}. If the cluster lost a worker, or another audit wrote a run"
            " with the same ID, run it again; otherwise this is a bug in pubcheck, please report it"
        )
