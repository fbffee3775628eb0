"""`python -m tests.differential.filters --seed S --count N [--major M]... [--ports FILE] [--minimise] [--json OUT]`

N random filters for each major, judged by a server and by pubcheck: where they differ and how often.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from pathlib import Path

from tests.differential.filters.answers import Kind, Said
from tests.differential.filters.batches import BATCH
from tests.differential.filters.minimise import Smaller, case, differing, minimised
from tests.differential.filters.report import Outcome, spread, table
from tests.differential.filters.run import Run
from tests.support.servers import add_options, asked


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.differential.filters", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2000, help="filters for each major")
    parser.add_argument("--first", type=int, default=0, metavar="BATCH", help=f"begin at this batch of {BATCH}")
    add_options(parser)
    parser.add_argument("--only", metavar="CONSTRUCT", help="show disagreements of filters with this construct")
    parser.add_argument("--kind", action="append", choices=[kind.value for kind in Kind], help="show this kind only")
    parser.add_argument(
        "--show", type=int, default=40, metavar="N", help="disagreements to show, each unlike the others"
    )
    parser.add_argument("--minimise", action="store_true", help="make what is shown smaller, and print it as cases")
    parser.add_argument("--server-only", action="store_true", help="ask pubcheck nothing: what the generator makes")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures and the disagreements")
    options = parser.parse_args()
    runs: list[Run] = []
    shown: list[dict[str, object]] = []
    bad: list[Outcome] = []
    with asked(options) as servers, contextlib.ExitStack() as stack:
        for major in servers:
            run = stack.enter_context(Run(servers[major], options.seed, server_only=options.server_only))
            runs.append(run)
            batches = -(-options.count // BATCH)
            for number in range(options.first, options.first + batches):
                count = min(BATCH, options.count - (number - options.first) * BATCH)
                bad += [outcome for outcome in run.batch(number, count) if outcome.kind is not Kind.AGREE]
                if sys.stderr.isatty():
                    print(f"\r{major}: {run.totals.whole.all}", end="", file=sys.stderr, flush=True)
        wanted = [
            outcome
            for outcome in bad
            if (options.kind is None or outcome.kind.value in options.kind)
            and (options.only is None or options.only in outcome.filter.tags)
        ]
        by_major = {run.totals.major: run for run in runs}
        for outcome in spread(wanted, options.show):
            run = by_major[outcome.batch.major]
            if options.minimise:
                outcome = minimised(run.conn, run.database, outcome)
            shown.append(_written(outcome))
            print("\n".join(_lines(outcome)), flush=True)
    print("\n".join(table(run.totals for run in runs)))
    for run in runs:
        print("\n".join(run.totals.lines()))
    if options.json:
        figures = {"seed": options.seed, "count": options.count, "first": options.first, "at": int(time.time())}
        document = {**figures, "majors": [run.totals.numbers() for run in runs], "disagreements": shown}
        options.json.write_text(json.dumps(document, indent=1, ensure_ascii=False))
    return 1 if bad else 0


def _lines(outcome: Outcome) -> list[str]:
    batch = outcome.batch
    lines = [
        f"== {outcome.kind.value} [{batch.major}, seed {batch.seed}, batch {batch.number}]"
        f" {', '.join(outcome.filter.tags)}"
    ]
    lines.append(f"   {outcome.filter.statement}")
    lines.append(f"   server   {_words(outcome.server)}")
    lines.append(f"   pubcheck {_words(outcome.ours)}")
    if outcome.kind is Kind.WORDING:
        lines.append(f"   differ   {', '.join(differing(outcome.server, outcome.ours.answer))}")
    if isinstance(outcome, Smaller):
        lines.append(case(outcome, f"filter-{batch.major}-{batch.seed}-{batch.number}"))
    return lines


def _words(answer: object) -> str:
    if isinstance(answer, Said):
        if answer.raised is not None:
            return f"raised {answer.raised}"
        return f"does not know: {answer.assumed}" if answer.assumed is not None else _words(answer.answer)
    fields = ("sqlstate", "message", "detail", "hint", "position")
    return " | ".join(str(getattr(answer, name)) for name in fields if getattr(answer, name) is not None)


def _written(outcome: Outcome) -> dict[str, object]:
    setup = outcome.setup if isinstance(outcome, Smaller) else outcome.batch.world.setup
    return {
        "kind": outcome.kind.value,
        "major": outcome.batch.major,
        "seed": outcome.batch.seed,
        "batch": outcome.batch.number,
        "constructs": list(outcome.filter.tags),
        "setup": [definition.text for definition in setup],
        "statement": outcome.filter.statement,
        "server": _words(outcome.server),
        "pubcheck": _words(outcome.ours),
    }


if __name__ == "__main__":
    sys.exit(main())
