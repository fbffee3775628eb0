"""Writes a corpus: `python -m corpus.generate FOLDER [--repositories N] [--seed S] ...`."""

from __future__ import annotations

import argparse

from corpus.generate import Shape, repositories, write


def main() -> None:
    default = Shape()
    parser = argparse.ArgumentParser(prog="python -m corpus.generate", description=__doc__)
    parser.add_argument("folder", help="where the repositories are written; the manifest is FOLDER.jsonl")
    parser.add_argument("--repositories", type=int, default=1000, metavar="N")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--tables", type=float, default=default.tables, help="median of the tables of a repository")
    parser.add_argument("--spread", type=float, default=default.spread, help="of it, on a logarithmic scale")
    parser.add_argument("--quiet", type=float, default=default.quiet, help="share that holds no publication")
    parser.add_argument("--faulty", type=float, default=default.faulty, help="share of the others that has faults")
    parser.add_argument("--plain", action="store_true", help="one file a repository")
    given = parser.parse_args()
    shape = Shape(given.tables, given.spread, given.quiet, given.faulty, given.plain)
    made = write(repositories(given.seed, given.repositories, shape), given.folder.rstrip("/"))
    print(
        f"{made.repositories:,} repositories, {made.holding:,} with publications; {made.files:,} files,"
        f" {made.bytes:,} bytes; {made.planted:,} findings planted"
    )


if __name__ == "__main__":
    main()
