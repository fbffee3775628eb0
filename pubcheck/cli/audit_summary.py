"""The summary of an audit on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubcheck.diagnostics import SEVERITIES
from pubcheck.rulebook import RULES
from pubcheck.source import escape
from pubcheck.spark.costs import cost, tasks

if TYPE_CHECKING:
    from pubcheck.report.audit_document import Audit, Change
    from pubcheck.spark.inputs import InputSize
    from pubcheck.spark.summary import Summary


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
