"""Compare random pairs of row filters: `python -m tests.filter_logic FIRST LAST [--usual] [--z3]`.

Each proof is tried on a grid of rows by the evaluator, and by an SMT solver where it can express the pair. Prints how
many answers of each kind there were, what was wrong, and the time for a pair.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import sys
import time
from collections import Counter

from pubcheck.filter_logic.questions import NoRow, Undecided, Witness
from pubcheck.postgres.errors import ServerError, Unknowable
from tests.filter_logic.random_filters import TABLE, Filters
from tests.filter_logic.random_tables import KINDS, table
from tests.filter_logic.world import World

_PAIRS_OF_A_TABLE = 20


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.filter_logic", description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--table", choices=KINDS, default="plain", help="what every row of the table meets")
    parser.add_argument("--usual", action="store_true", help="only comparisons, IN, NULL tests, AND, OR and NOT")
    parser.add_argument("--z3", action="store_true", help="ask the SMT solver too")
    parser.add_argument("--undecided", action="store_true", help="print the pairs with a question without an answer")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after this time")
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    world = World(TABLE)
    preferred = ("gs", "gb", "ge", "gf") if options.table == "generated" else ()
    counts: dict[str, Counter[str]] = {}
    times: list[float] = []
    wrong = 0
    refused = 0
    z3_pairs = 0
    undecided = 0
    for seed in range(options.first, options.last):
        if time.monotonic() > end:
            break
        if options.table != "plain" and (seed - options.first) % _PAIRS_OF_A_TABLE == 0:
            made = table(options.table, seed)
            world = World(made.schema, table=made)
        generator = Filters(seed, usual=options.usual, columns=preferred)
        texts = generator.pair()
        try:
            first, second = map(world.filter, texts)
        except (ServerError, Unknowable):
            refused += 1
            continue
        start = time.process_time()
        findings = world.compare(first, second)
        times.append(time.process_time() - start)
        for name, finding in findings.items():
            counts.setdefault(name, Counter())[type(finding).__name__] += 1
        open_questions = [name for name, finding in findings.items() if isinstance(finding, Undecided)]
        undecided += bool(open_questions)
        if open_questions and options.undecided:
            print(f"seed {seed}: {texts[0]!r} | {texts[1]!r}: undecided {', '.join(open_questions)}")
        problem = world.counterexample(findings, first, second, random.Random(seed))
        if problem is None and options.z3:
            from tests.filter_logic.z3_oracle import disagreement

            asked, problem = disagreement(world, findings, first, second)
            z3_pairs += asked
        if problem is not None:
            wrong += 1
            print(f"seed {seed}: {texts[0]!r} | {texts[1]!r}: {problem}")
    for name, kinds in counts.items():
        print(f"{name:12}", *(f"{kind.__name__} {kinds[kind.__name__]}" for kind in (NoRow, Witness, Undecided)))
    print(
        f"{len(times)} pairs, {refused} refused, {wrong} wrong, {undecided} with an undecided question, z3 {z3_pairs}"
    )
    print(f"time for a pair: median {statistics.median(times) * 1e3:.2f} ms, greatest {max(times) * 1e3:.1f} ms")
    return 1 if wrong else 0


sys.exit(main())
