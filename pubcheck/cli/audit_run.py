"""Run the job of `pubcheck audit`, write its results, and summarise them on the terminal."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from secrets import token_hex
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pubcheck.cli.app import FOUND, NoInput, complain, show
from pubcheck.cli.output_files import put
from pubcheck.cli.spark import AuditRequest, failed, failures, progress_of, reason
from pubcheck.config import Config, ConfigError
from pubcheck.diagnostics import SEVERITIES
from pubcheck.engine.linter import Linter
from pubcheck.rulebook import RULES
from pubcheck.source import escape
from pubcheck.spark.costs import cost, tasks
from pubcheck.spark.exports import NoMerge, NotAnExport, export, merge_into
from pubcheck.spark.inputs import BadInput, EmptyInput, Input
from pubcheck.spark.job import Options, audit
from pubcheck.spark.lint_process import Limits
from pubcheck.spark.paths import local_path
from pubcheck.spark.report_data import collect
from pubcheck.spark.session import release, session
from pubcheck.spark.steps import Progress
from pubcheck.spark.store import NoRun, Store
from pubcheck.spark.summary import Lost, Summary

if TYPE_CHECKING:
    from pubcheck.report.audit_html import Audit, Change
    from pubcheck.spark.inputs import InputSize


class _Written(Struct):
    """The output of a run besides its tables: the page, or why there is none, and the document on it."""

    page: str | None = None
    document: Audit | None = None
    problem: str | None = None


def run_audit(
    request: AuditRequest,
    source: Input,
    config: Config,
    master: str | None,
    remote: str | None,
    conf: Mapping[str, str],
) -> int:
    """Run an audit and return the exit status."""
    try:
        spark = session("pubcheck audit", master, remote, conf)
        try:
            store = Store(spark, request.output)
            with progress_of(spark, quiet=request.quiet) as progress:
                if request.dry_run:
                    progress("listing files")
                    size = source.size(spark, request.max_file_size)
                    show([dry_run_line(size) + "\n"])
                    return 0
                if request.streams:
                    return _stream(spark, source, store, config, request, progress)
                options = _options(request, store, source.name)
                summary = audit(spark, source, store, Linter(config), options, progress, progress.counters)
                written = _write(store, summary, request, progress)
        finally:
            release(spark)
    except EmptyInput as error:
        raise NoInput(str(error)) from None
    except BadInput as error:
        raise ConfigError(str(error)) from None
    except NoRun as error:
        raise ConfigError(f"--since: {error}") from None
    except Lost as error:
        return complain(str(error))
    except failures() as error:
        return failed(error)
    return _show(summary, written, request, config)


def _show(summary: Summary, written: _Written, request: AuditRequest, config: Config) -> int:
    """Show the summary of a run, and return the exit status."""
    if not request.quiet:
        show(f"{line}\n" for line in summarised(summary, request.output, written.page, written.document))
    if written.problem is not None:
        return complain(f"the run is complete, but {written.problem}")
    failing = any(config.fails_run(severity, certainty) for _, severity, certainty, _ in summary.rules)
    return FOUND if failing else 0


def _options(request: AuditRequest, store: Store, input_name: str) -> Options:
    since = request.since or ("latest" if request.retry_quarantine else None)
    return Options(
        # Another run may start in the same second.
        run=request.run or f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{token_hex(4)}",
        since=store.find(since, input_name) if since else None,
        retry=request.retry_quarantine,
        largest_file=request.max_file_size,
        largest_unit=request.max_unit_size,
        limits=Limits(request.unit_timeout, request.unit_memory),
    )


def _stream(
    spark: SparkSession, source: Input, store: Store, config: Config, request: AuditRequest, progress: Progress
) -> int:
    """Audit a table as it grows, with page and exports after each run, and return the last status."""
    from pubcheck.spark.job import stream
    from pubcheck.spark.sources import TableInput

    assert isinstance(source, TableInput)
    status = 0

    def on_run(summary: Summary) -> None:
        nonlocal status
        status = _show(summary, _write(store, summary, request, progress), request, config)

    # The position in a table belongs to its name, so that the command can be repeated as it is.
    run = request.run or f"stream-{hashlib.sha256(source.name.encode()).hexdigest()[:8]}"
    options = replace(_options(request, store, source.name), run=run)
    linter = Linter(config)
    last = stream(spark, source, store, linter, options, progress, interval=request.stream_interval, on_run=on_run)
    if last is None and not request.quiet:
        show(["Nothing is new.\n"])
    return status


def _write(store: Store, summary: Summary, request: AuditRequest, progress: Progress) -> _Written:
    """Write the page and the exports that were requested. The run is complete by now, even if this fails."""
    written = _Written(None if request.no_report else request.report or _page_in(request.output, summary.run))
    try:
        if written.page is not None:
            from pubcheck.report import audit_html

            progress("writing the report")
            written.document = collect(store, summary.run)
            put(written.page, audit_html.render(written.document))
    except OSError as error:
        written.problem = f"its report could not be written: {written.page}: {error.strerror or error}"
        written.page = None
    except failures() as error:
        written.problem, written.page = f"its report could not be written: {reason(str(error))}", None
    try:
        for format_name, where in request.exports:
            progress(f"exporting {format_name}")
            export(store, summary.run, format_name, where)
        if request.survey:
            progress("writing the survey")
            _write_survey(store, summary.run, request)
        if request.merge_into is not None:
            progress(f"merging into {request.merge_into}")
            merge_into(store, summary.run, request.merge_into)
    except (NotAnExport, NoMerge) as error:
        written.problem = f"its findings could not be exported or merged: {error}"
    except failures() as error:
        written.problem = f"its findings could not be exported or merged: {reason(str(error))}"
    return written


def _write_survey(store: Store, run: str, request: AuditRequest) -> None:
    """Write the survey as a table, and as a page if DIR is a folder of this machine."""
    from pubcheck.report.audit_html import SurveyPage, render_survey
    from pubcheck.spark.report_data import survey

    shares = survey(store, run)
    row = store.runs().where(F.col("run") == run).select("input", "pubcheck").collect()[0]
    folder = local_path(request.output)
    if os.path.isdir(folder):
        put(os.path.join(folder, "survey.html"), render_survey(SurveyPage(run, row[0], row[1], shares)))


def _page_in(output: str, run: str) -> str | None:
    """Return the report's default path: in DIR, if DIR is a folder of this machine."""
    local = local_path(output)
    return os.path.join(local, "report.html") if os.path.isdir(os.path.join(local, "runs", f"run={run}")) else None


def dry_run_line(size: InputSize) -> str:
    """Return the line of --dry-run."""
    line = (
        f"{size.files:,} files ({_bytes(size.bytes)}) of {size.repositories:,} repositories would be read,"
        f" in about {tasks(cost(size.bytes, size.files)):,} tasks"
    )
    return line + (f"; {size.passed_over:,} rows of the input are not files to read" if size.passed_over else "")


def _bytes(number: float) -> str:
    units = ["bytes", "KB", "MB", "GB", "TB"]
    while number >= 1000 and len(units) > 1:
        number /= 1000
        del units[0]
    return f"{number:,.1f} {units[0]}" if units[0] != "bytes" else f"{number:,.0f} bytes"


def summarised(summary: Summary, output: str, page: str | None = None, document: Audit | None = None) -> list[str]:
    """Return the lines of a run's summary on the terminal."""
    count = {name: int(value) for name, value in summary.metrics.items()}
    lines = [
        f"{count['units']:,} units of {count['repositories']:,} repositories,"
        f" {count['files']:,} files, {count['statements']:,} statements"
        + (f"; {count['units_carried']:,} units carried over" if count["units_carried"] else "")
    ]
    for end in ("linted", "nothing_to_lint", "quarantined"):
        units, files = count[f"units_{end}"], count[f"files_{end}"]
        lines.append(f"  {end.replace('_', ' '):16}{units:>10,} units {files:>10,} files")
    for why, (units, files) in summary.quarantine.items():
        lines.append(f"    {why:14}{units:>10,} units {files:>10,} files")
    if skipped := count.get("rows_passed_over"):
        lines.append(f"{skipped:,} rows of the input are not files to read")
    lines += summary.notes
    severities = ((severity, count[f"{severity}s"]) for severity in reversed(SEVERITIES))
    lines.append(", ".join(f"{times:,} {severity}{'s' if times != 1 else ''}" for severity, times in severities))
    for rule, severity, certainty, times in sorted(summary.rules, key=lambda row: (-row[3], row)):
        name = RULES[rule].name if rule in RULES else ""
        lines.append(f"  {rule} {severity:8}{certainty:8}{times:>10,}  {name}")
    if document is not None:
        lines += _compared(document.change)
        worst = [repository for repository in document.worst if repository.errors or repository.warnings][:_WORST]
        if worst:
            lines.append("    errors warnings  in")
        lines += [
            f"  {repository.errors:>8,} {repository.warnings:>8,}  {escape(repository.name)}" for repository in worst
        ]
    lines.append(
        f"The tables are {escape(output)}/*/run={summary.run}, made in {summary.metrics['seconds']:.1f} seconds."
    )
    if page is not None:
        lines.append(f"The report is {escape(page)}.")
    return lines


_WORST = 5
"""Repositories that the summary names."""


def _compared(change: Change | None) -> list[str]:
    if change is None:
        return []
    new, gone, unchanged = (sum(getattr(rule, field) for rule in change.rules) for field in ("new", "gone", "same"))
    suffix = "" if change.alike else ", which used another pubcheck version or configuration"
    suffix += "" if change.input is None else f", which had another input, {change.input}"
    return [f"{new:,} new, {gone:,} gone and {unchanged:,} the same as in run {change.run}{suffix}"]
