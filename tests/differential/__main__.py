"""`python -m tests.differential {scripts|trees|later|wild} FIRST LAST [--major N]... [--ports FILE] [--quiet]`

Where servers and pubcheck differ, in how many statements, and of how many writes of what kind they were both asked.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from tests.differential.compare import Compared, Probe, compare
from tests.differential.later import Later
from tests.differential.scripts import Script
from tests.differential.trees import Trees
from tests.differential.wild import Wild
from tests.support.servers import add_options, asked

KINDS: dict[str, type[Script | Wild]] = {"scripts": Script, "trees": Trees, "later": Later, "wild": Wild}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("kind", choices=tuple(KINDS))
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--quiet", action="store_true", help="say only how many differences there are")
    add_options(parser)
    options = parser.parse_args()
    total = 0
    with asked(options) as servers:
        shown: dict[int, list[Compared]] = {major: [] for major in servers}
        for seed in range(options.first, options.last):
            merged: dict[tuple[str, str, str], list[int]] = {}
            for major in servers:
                compared = compare(servers[major], KINDS[options.kind](seed).statements)
                shown[major].append(compared)
                told = [
                    (difference.statement, difference.server, difference.pubcheck)
                    for difference in compared.differences
                ]
                wrong = (probe for probe in compared.probes if not probe.agrees)
                told += [(probe.statement, probe.server, probe.pubcheck) for probe in wrong]
                for row in told:
                    merged.setdefault(row, []).append(major)
            for (statement, theirs, ours), where in merged.items():
                total += 1
                if options.quiet:
                    continue
                print(f"[{seed}/{','.join(map(str, where))}] {statement}")
                print(f"    server   {theirs}")
                print(f"    pubcheck {ours}", flush=True)
    for major, comparisons in shown.items():
        print(f"PostgreSQL {major}: {statements(comparisons)}")
        print(f"PostgreSQL {major}: {summary([probe for compared in comparisons for probe in compared.probes])}")
    print(f"{total} differences")
    return 1 if total else 0


def statements(comparisons: list[Compared]) -> str:
    """How many statements there were, and how many answers differ in what way."""
    differences = [difference for compared in comparisons for difference in compared.differences]
    parts = []
    for words, number in (
        ("about publications", sum(compared.judged for compared in comparisons)),
        ("others", sum(compared.followed for compared in comparisons)),
    ):
        of_others = words == "others"
        kinds = Counter(
            difference.kind for difference in differences if difference.statement.startswith("(") is of_others
        )
        shares = ", ".join(f"{many} {kind} ({many / max(number, 1):.2%})" for kind, many in kinds.most_common())
        parts.append(f"{number:,} {words}: {shares or 'no difference'}")
    return "; ".join(parts)


def summary(probes: list[Probe]) -> str:
    """How many writes were asked for, of what, and how often both sides gave the same answer."""
    number = len(probes) or 1
    parts = sum(probe.part for probe in probes) / number
    refused = sum(probe.refused for probe in probes) / number
    invented = sum(not probe.refused and not probe.agrees for probe in probes)
    agreed = sum(probe.agrees for probe in probes) / number
    kinds = Counter(_reason(probe.server) for probe in probes if probe.refused)
    reasons = ", ".join(f"{many} {kind}" for kind, many in kinds.most_common())
    return (
        f"{len(probes):,} probes, {parts:.1%} of partitions or children, {refused:.1%} refused ({reasons}); "
        f"{agreed:.3%} agree, {invented} refusals invented"
    )


_REASONS = {
    "publication WHERE expression": "filters",
    "Column list": "column lists",
    "generated columns": "generated columns",
    "does not have a replica identity": "no identity",
}


def _reason(answer: str) -> str:
    return next((reason for words, reason in _REASONS.items() if words in answer), answer)


if __name__ == "__main__":
    sys.exit(main())
