"""`python -m tests.streams compare FOLDER` simulates the scripts of recorded streams and prints the agreement."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.streams.compare import compare


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m tests.streams", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    comparing = commands.add_parser("compare", help="compare simulated streams with a folder of recordings")
    comparing.add_argument("folder", type=Path)
    comparing.add_argument("--least", type=float, default=0.99, help="the share of scripts that must agree (0.99)")
    comparing.add_argument("--major", type=int, action="append", help="only this major (repeatable)")
    comparing.add_argument("--family", help="only scripts of this family")
    comparing.add_argument("--script", help="only the script of this name")
    comparing.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args(arguments)
    majors = set(options.major) if options.major else None
    return compare(options.folder, options.least, majors, options.family, options.jobs, options.script)


if __name__ == "__main__":
    sys.exit(main())
