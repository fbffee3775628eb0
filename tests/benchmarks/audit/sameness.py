"""The findings of the audit are those of lint, whatever the input."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pyarrow.parquet

from corpus.generate import Shape, planted
from pubcheck.discovery.units import find_units
from pubcheck.engine.linter import Linter
from pubcheck.lint_files import lint_files
from pubcheck.spark.folder_input import FolderInput
from pubcheck.spark.inputs import Input
from pubcheck.spark.job import Options, stream
from pubcheck.spark.object_input import ObjectInput
from pubcheck.spark.sources import TableInput
from pubcheck.spark.summary import Summary
from tests.benchmarks.audit.bench import Bench
from tests.benchmarks.audit.files import COLUMNS, rows_of
from tests.benchmarks.measure import ROOT

Rows = Counter[bytes]


def findings(bench: Bench) -> None:
    """Row by row, and against the planted faults."""
    where = bench.every
    document, _ = bench.lint(where)
    summary, _ = bench.audit(where)
    table = _table(bench, "findings", summary.run)
    _compare(bench, "folder", _of_audit(table), _of_lint(bench, document["diagnostics"], where, summary.run))
    expected = Counter(
        (f"{where}/{fault.repository}/{fault.path}", fault.line, fault.rule, fault.operation, fault.sqlstate)
        for fault in planted(where)
    )
    certain = Counter(
        (row["path"], row["line"], row["rule"], row["operation"], (row["server"] or {}).get("sqlstate"))
        for row in table
        if row["certainty"] == "certain" and row["severity"] != "note"
    )
    bench.figures.show("planted", expected.total(), "rows")
    bench.figures.at_most("planted, but not found", (expected - certain).total(), 0, "rows")
    bench.figures.at_most("found, but not planted", (certain - expected).total(), 0, "rows")


def inputs(bench: Bench) -> None:
    """All kinds of input, row by row."""
    where = bench.corpus("inputs", bench.options.inputs, Shape())
    document, _ = bench.lint(where)
    expected: Rows | None = None
    for kind, run in _runs(bench, where).items():
        summary = run()
        if expected is None:
            expected = _of_lint(bench, document["diagnostics"], where, summary.run)
        _compare(bench, kind, _of_audit(_table(bench, "findings", summary.run)), expected)
        bench.figures.show(f"{kind}: time", summary.metrics["seconds"], "s")


def samples(bench: Bench) -> None:
    """The sample repositories, through all kinds of input."""
    where = str(ROOT / "corpus" / "samples")
    # A unit that the configuration of a repository names is not one in a corpus; the files of the folder itself are
    # in no repository of a table.
    chosen = f"{bench.folder}/samples"
    for earlier in (chosen, f"{chosen}.parquet"):
        shutil.rmtree(earlier, ignore_errors=True)
    shutil.copytree(where, chosen)
    shutil.rmtree(f"{chosen}/configured")
    for path in Path(chosen).iterdir():
        if path.is_file():
            path.unlink()
    expected = Counter(
        msgspec.json.encode(msgspec.to_builtins(finding.entry), order="sorted")
        for name in sorted(os.listdir(chosen))
        for unit in find_units([f"{chosen}/{name}"])
        for finding in lint_files(unit, Linter()).findings
    )
    for kind, run in _runs(bench, chosen).items():
        summary = run()
        _compare(bench, kind, _of_audit(_table(bench, "findings", summary.run)), expected)


def _runs(bench: Bench, where: str) -> dict[str, Callable[[], Summary]]:
    """Return an audit of a folder for each kind of input that was chosen. The Parquet files of a corpus that is kept
    are kept as well."""
    files = f"{where}.parquet"
    if not os.path.exists(f"{files}/_SUCCESS"):
        # Most repositories have files in more than one of them.
        rows_of(bench.spark, where).repartition(3).write.mode("overwrite").parquet(files)
    bench.spark.read.parquet(files).createOrReplaceTempView("files")
    sources: dict[str, Input] = {
        "folder": FolderInput(where),
        "parquet": TableInput(files, "parquet", COLUMNS),
        "table": TableInput("files", "table", COLUMNS),
        "objects": ObjectInput(where),
    }

    def audited(kind: str) -> Summary:
        return bench.audit(sources[kind])[0]

    def streamed() -> Summary:
        # No earlier run is of an input of that name, so that nothing is carried over from one.
        run = f"{os.path.basename(where)}-stream-{os.getpid()}"
        grows = bench.folder / run
        grows.mkdir()
        table = TableInput(str(grows), "parquet", COLUMNS)

        def batch(new: list[Path]) -> Summary:
            for file in new:
                shutil.copy(file, grows)
            summary = stream(bench.spark, table, bench.store, Linter(), Options(run=run))
            assert summary is not None
            bench.figures.show("stream: units of a batch examined", _fresh(summary), "units")
            return summary

        *first, last = sorted(Path(files).glob("*.parquet"))
        batch(first)
        summary = batch([last])
        shutil.rmtree(grows)
        return summary

    runs = {kind: partial(audited, kind) for kind in sources} | {"stream": streamed}
    chosen = bench.options.kinds.split(",") if bench.options.kinds else list(runs)
    return {kind: runs[kind] for kind in chosen}


def _fresh(summary: Summary) -> float:
    return summary.metrics["units_linted"] + summary.metrics["units_nothing_to_lint"] - summary.metrics["units_carried"]


def _table(bench: Bench, name: str, run: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pyarrow.parquet.read_table(bench.store.path(name, run), partitioning=None).to_pylist()
    return rows


def _of_lint(bench: Bench, diagnostics: list[dict[str, Any]], where: str, run: str) -> Rows:
    """Return the findings of lint without those, such as that a file is written for another database, that are in
    repositories without publications: the audit reports nothing there."""
    units = _table(bench, "units", run)
    skipped = {unit["repository"] for unit in units if unit["status"] == "nothing-to-lint"}
    rows: Rows = Counter()
    left_out = 0
    for entry in diagnostics:
        if os.path.relpath(entry["path"], where).partition("/")[0] in skipped:
            left_out += 1
            assert entry["severity"] == "note"
            assert entry["rule"].startswith("PUB0")
        else:
            rows[msgspec.json.encode(entry, order="sorted")] += 1
    bench.figures.show("findings of lint", rows.total(), "rows")
    bench.figures.show("findings of lint in repositories without publications", left_out, "rows")
    return rows


def _compare(bench: Bench, kind: str, rows: Rows, expected: Rows) -> None:
    bench.figures.show(f"{kind}: findings", rows.total(), "rows")
    bench.figures.at_most(f"{kind}: more than lint", (rows - expected).total(), 0, "rows")
    bench.figures.at_most(f"{kind}: fewer than lint", (expected - rows).total(), 0, "rows")


_OWN = ("repository", "unit", "fingerprint", "owners")


def _of_audit(table: list[dict[str, Any]]) -> Rows:
    """Return rows of the table `findings` as lint prints them."""
    return Counter(msgspec.json.encode(_as_printed(row), order="sorted") for row in table)


def _as_printed(row: dict[str, Any]) -> dict[str, Any]:
    printed = {name: value for name, value in row.items() if name not in _OWN}
    if printed["statement"] and printed["statement"].get("embedded") is None:
        printed["statement"].pop("embedded", None)
    if printed["consumer"] is None:
        del printed["consumer"]
    for place in printed["related"]:
        for name in ("database_object", "live"):
            if place[name] is None:
                del place[name]
    return printed
