"""`python -m tests.differential.values --seed S --pairs N [--only WORD] [--major M]... [--ports FILE]`

N random pairs of an expression and a row for each major: the text of its value from a server and from pubcheck.
"""

from __future__ import annotations

import argparse
import sys

from tests.differential.values.run import Run
from tests.support.servers import add_options, asked


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.differential.values", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=10_000, help="pairs for each major")
    parser.add_argument("--only", default="", help="only expressions whose template holds this word")
    parser.add_argument("--show", type=int, default=30, metavar="N", help="differences to show, an expression once")
    add_options(parser)
    options = parser.parse_args()
    failed = False
    with asked(options) as servers:
        for major in servers:
            with Run(servers[major], options.seed, options.only) as run:
                figures, number = run.figures, 0
                while figures.pairs < options.pairs:
                    run.batch(number)
                    number += 1
            print(
                f"{major}: {figures.pairs} pairs, {figures.errors} errors; {len(figures.differences)} differ,"
                f" {figures.unknown.total()} unknown; {figures.refused} expressions refused"
            )
            for reason, count in figures.unknown.most_common(40):
                print(f"   {count:6} {reason}")
            shown: set[str] = set()
            for difference in figures.differences:
                if difference.expression in shown or len(shown) >= options.show:
                    continue
                shown.add(difference.expression)
                words = set("".join(c if c.isalnum() else " " for c in difference.expression).split())
                print(f"DIFFERENT {difference.expression}")
                print(f"   server   {difference.server!r}")
                print(f"   pubcheck {difference.pubcheck!r}")
                print("   " + ", ".join(f"{name}={value!r}" for name, value in difference.row.items() if name in words))
            failed = failed or bool(figures.differences)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
