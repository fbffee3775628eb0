"""`python -m tests.differential.evaluation --seed S --pairs N [--major M]... [--ports FILE]`

N random pairs of a row filter and a row for each major, answered by a server and by pubcheck's evaluator; with
`--forms`, N filters, each asked of a server beside its canonical form.
"""

from __future__ import annotations

import argparse
import sys

from tests.differential.evaluation.forms import compare
from tests.differential.evaluation.run import FILTERS, Difference, Run
from tests.support.servers import add_options, asked


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.differential.evaluation", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=20_000, help="pairs for each major")
    parser.add_argument("--first", type=int, default=0, metavar="BATCH", help=f"begin at this batch of {FILTERS}")
    add_options(parser)
    parser.add_argument("--show", type=int, default=20, metavar="N", help="differences to show, a filter once")
    parser.add_argument("--wide", action="store_true", help="filters of tests.differential.filters: any function")
    parser.add_argument("--forms", type=int, metavar="N", help="compare N filters with their canonical forms instead")
    options = parser.parse_args()
    failed = False
    with asked(options) as servers:
        for major in servers:
            with Run(servers[major], options.seed, wide=options.wide) as run:
                if options.forms:
                    failed = _forms(run, options.forms, options.first, options.show) or failed
                    continue
                figures, number = run.figures, options.first
                while figures.pairs < options.pairs:
                    run.batch(number)
                    number += 1
                    if sys.stderr.isatty():
                        print(f"\r{major}: {figures.pairs}", end="", file=sys.stderr, flush=True)
            unknown = sum(figures.unknown.values())
            print(
                f"{major}: {figures.pairs} pairs, {figures.trues} true, {figures.falses} false, {figures.nulls} null,"
                f" {figures.errors} errors; {len(figures.differences)} differ, {len(figures.wording)} in words only,"
                f" {unknown} unknown ({unknown / figures.pairs:.2%}); {figures.refused} filters refused;"
                f" {figures.pairs / figures.seconds:.0f} pairs/s"
            )
            for reason, count in figures.unknown.most_common(25):
                print(f"   {count:6} {reason}")
            for kind, differences in (("DIFFERENT", figures.differences), ("WORDS", figures.wording)):
                _show(kind, differences, options.show)
            failed = failed or bool(figures.differences)
    return 1 if failed else 0


def _forms(run: Run, filters: int, first: int, most: int) -> bool:
    forms = compare(run, -(-filters // FILTERS), first)
    print(
        f"{run.server.major}: {forms.filters} filters, {forms.rewritten} rewritten, {forms.without} without a form;"
        f" {len(forms.unequal)} select otherwise, {forms.errors} fail otherwise"
    )
    for form in forms.unequal[:most]:
        print(f"UNEQUAL {form.filter}\n   form {form.form}\n   {form.filtered} and {form.formed}: {form.row}")
    return bool(forms.unequal)


def _show(kind: str, differences: list[Difference], most: int) -> None:
    seen: set[str] = set()
    for difference in differences:
        if difference.filter in seen or len(seen) >= most:
            continue
        seen.add(difference.filter)
        print(f"{kind} {difference.filter}\n   server {difference.server}, pubcheck {difference.ours}")
        words = difference.filter.replace("(", " ").replace(")", " ").replace(",", " ").replace(":", " ").split()
        print("   " + ", ".join(f"{name}={value!r}" for name, value in difference.row.items() if name in words))


if __name__ == "__main__":
    sys.exit(main())
