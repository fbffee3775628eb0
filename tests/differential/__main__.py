"""`python -m tests.differential FIRST LAST [--major N]... [--ports FILE]`: where servers and pubcheck differ."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path

from tests.differential.compare import Difference, compare
from tests.differential.scripts import Script
from tests.support.servers import PACKAGES, Server, Servers


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--major", type=int, action="append", choices=tuple(PACKAGES))
    parser.add_argument("--ports", type=Path, help="servers that run already: what `tests.support.servers run` wrote")
    options = parser.parse_args()
    majors = tuple(options.major or PACKAGES)
    total = 0
    with contextlib.ExitStack() as stack:
        if options.ports:
            ports = json.loads(options.ports.read_text())
            servers = {major: Server(major, ports[str(major)]) for major in majors}
        else:
            servers = dict(stack.enter_context(Servers(majors)))
        for seed in range(options.first, options.last):
            merged: dict[Difference, list[int]] = {}
            for major in majors:
                for difference in compare(servers[major], Script(seed).statements):
                    merged.setdefault(difference, []).append(major)
            for difference, where in merged.items():
                total += 1
                print(f"[{seed}/{','.join(map(str, where))}] {difference.statement}")
                print(f"    server   {difference.server}")
                print(f"    pubcheck {difference.pubcheck}", flush=True)
    print(f"{total} differences")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
