"""Compares random values with servers: python -m tests.differential.output [BATCHES [SEED [TYPE]]]."""

from __future__ import annotations

import sys

from tests.differential.output.run import Run
from tests.support.servers import Servers

SIZE = 500


def main(batches: int, seed: int, type_name: str) -> int:
    """Print the counts, what is not followed and what differs; 1 where something differs."""
    failed = 0
    with Servers() as servers:
        for major, server in servers.items():
            with server.database() as name, server.connect(name) as conn:
                run = Run(conn, seed, type_name)
                for _ in range(batches):
                    run.batch(SIZE)
            figures = run.figures
            failed |= bool(figures.differences)
            same, refused, unknown = figures.same.total(), figures.refused.total(), figures.unknown.total()
            print(f"{major}: {same} same, {refused} refused, {unknown} unknown, {len(figures.differences)} different")
            for reason, count in figures.unknown.most_common(10):
                print(f"  unknown {count} {reason}")
            for difference in figures.differences[:20]:
                print(f"  {difference}")
    return failed


if __name__ == "__main__":
    arguments = dict(enumerate(sys.argv))
    sys.exit(main(int(arguments.get(1, "20")), int(arguments.get(2, "1")), arguments.get(3, "")))
