"""The throughput of the audit: against lint, of a run in which nothing has changed, and of two executors."""

from __future__ import annotations

from pubcheck.engine.linter import Followed, Linter
from pubcheck.engine.unit import Unit
from tests.benchmarks.audit.bench import CORES, Bench, Seconds

LEAST_THROUGHPUT = 0.95
"""Of the audit, as a share of that of lint."""
LEAST_GAIN = 20
"""Of a run in which nothing has changed."""
LEAST_SPREAD = 1.8
"""Of two executors, against one."""


class WithoutPublications(Linter):
    """Lints as usual, but leaves no publication behind, so that the table `publications` is empty."""

    def follow(self, unit: Unit) -> Followed:
        followed = super().follow(unit)
        for replay in followed.replays:
            for oid in list(replay.catalog.publications):
                replay.catalog.publications.remove(oid)
        return followed


def speed(bench: Bench) -> None:
    """The audit against `pubcheck lint --jobs` over repositories that all hold publications, start-up apart.

    Lint prints the findings as one document. The audit writes them as a table, and four more. The rows of
    `publications` are those of `pubcheck explain`, and lint computes nothing like them: a second figure, without a
    limit, leaves them out. Java compiles its code for the first thousands of units, which is start-up as well: what
    counts is what the last three quarters of the units cost, beyond a run over the first quarter.
    """
    where, quarter = bench.loud, bench.quarter
    bench.audit(where)
    turns = []
    for _ in range(bench.options.turns):
        (_, lint), (_, lint_quarter), (_, lint_start) = bench.lint(where), bench.lint(quarter), bench.lint(bench.one)
        (summary, audit), (first, audit_quarter) = bench.audit(where), bench.audit(quarter)
        _, audit_start = bench.audit(bench.one)
        linter = WithoutPublications()
        (_, findings), (_, findings_quarter) = bench.audit(where, linter=linter), bench.audit(quarter, linter=linter)
        turns.append((lint, lint_quarter, lint_start, audit, audit_quarter, audit_start, findings, findings_quarter))
    least = map(Seconds.least, zip(*turns, strict=True))
    lint, lint_quarter, lint_start, audit, audit_quarter, audit_start, findings, findings_quarter = least
    units = summary.metrics["units"]
    later = units - first.metrics["units"]
    theirs, ours, without = lint - lint_quarter, audit - audit_quarter, findings - findings_quarter
    for name, seconds, start in (("lint", theirs, lint_start), ("audit", ours, audit_start)):
        bench.figures.show(f"{name}, later units", later / seconds.wall / CORES, "units/s and core")
        bench.figures.show(f"{name}, processors for each later unit", 1000 * seconds.cpu / later, "ms")
        bench.figures.show(f"{name}, one unit", start.wall, "s")
    bench.figures.at_least("throughput against lint's, wall", theirs.wall / ours.wall, LEAST_THROUGHPUT)
    whole = (lint - lint_start).wall / (audit - audit_start).wall
    bench.figures.show("the same over all units, but for the start of a run over one", whole, "x")
    if ours.cpu:
        bench.figures.at_least("throughput against lint's, processors", theirs.cpu / ours.cpu, LEAST_THROUGHPUT)
        whole = (lint - lint_start).cpu / (audit - audit_start).cpu
        bench.figures.show("the same over all units, but for the start of a run over one", whole, "x")
        bench.figures.show("processors, without the rows of `publications`", theirs.cpu / without.cpu, "x")


def since(bench: Bench) -> None:
    """A run in which nothing has changed, over a tenth of the repositories and over all of them."""
    for where in (bench.loud, bench.every):
        first, full = bench.audit(where)
        again = []
        for _ in range(bench.options.turns):
            summary, seconds = bench.audit(where, since=first.run)
            assert summary.metrics["units_carried"] == first.metrics["units"] - first.metrics["units_nothing_to_lint"]
            assert summary.rules == first.rules
            again.append(seconds)
        carried = Seconds.least(again)
        bench.figures.show(f"{first.metrics['units']:,.0f} units, all linted", full.wall, "s")
        bench.figures.show("nothing changed", carried.wall, "s")
        bench.figures.at_least("gain, wall", full.wall / carried.wall, LEAST_GAIN)
        if carried.cpu:
            bench.figures.show("gain, processors", full.cpu / carried.cpu, "x")


def executors(bench: Bench) -> None:
    """Two executors of one core against one, start-up apart."""
    where = bench.loud
    seconds: dict[int, Seconds] = {}
    for number in (1, 2):
        bench.start(f"local-cluster[{number},1,1024]")
        bench.audit(where)
        turns = [(bench.audit(where)[1], bench.audit(bench.one)[1]) for _ in range(bench.options.turns)]
        whole, start = map(Seconds.least, zip(*turns, strict=True))
        seconds[number] = whole - start
        bench.figures.show(f"{number} executors", seconds[number].wall, "s")
        bench.figures.show(f"{number} executors, processors", seconds[number].cpu, "s")
    bench.stop()
    bench.figures.at_least("two executors against one", seconds[1].wall / seconds[2].wall, LEAST_SPREAD)
