"""`python -m tests.live {scripts|trees|later|wild} FIRST LAST [--major N]... [--ports FILE]`

Random scripts build databases; where their catalogs and the scripts give different findings, and where a write verdict
is not the server's.
"""

from __future__ import annotations

import argparse
import sys

from tests.differential.__main__ import KINDS
from tests.live.compare import compare_live
from tests.support.servers import add_options, asked


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.live", description=__doc__)
    parser.add_argument("kind", choices=tuple(KINDS))
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    add_options(parser)
    options = parser.parse_args()
    total = 0
    with asked(options) as servers:
        for major in servers:
            schemas = findings = writes = differences = 0
            for seed in range(options.first, options.last):
                compared = compare_live(servers[major], KINDS[options.kind](seed).statements)
                schemas, findings, writes = schemas + 1, findings + compared.findings, writes + compared.writes
                lines = [f"missing {finding}" for finding in compared.missing]
                lines += [f"added {finding}" for finding in compared.added]
                lines += compared.wrong
                differences += len(lines)
                for line in lines:
                    print(f"[{seed}/{major}] {line}", flush=True)
            total += differences
            counts = f"{schemas:,} schemas, {findings:,} findings, {writes:,} writes, {differences:,} differences"
            print(f"PostgreSQL {major}: {counts}", flush=True)
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
