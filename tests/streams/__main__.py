"""`python -m tests.streams compare FOLDER` simulates the scripts of recorded streams and prints the agreement;
`python -m tests.streams random FIRST LAST` compares random scripts with real servers, `python -m tests.streams scripts`
those of applications."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.streams.compare import compare


def main(arguments: list[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["random"]:
        from tests.streams import random_streams

        return random_streams.main(words[1:])
    if words[:1] == ["scripts"]:
        from tests.streams import applications

        return applications.main(words[1:])
    parser = argparse.ArgumentParser("python -m tests.streams", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("random", help="compare random scripts on real servers: random FIRST LAST [--major N]")
    commands.add_parser("scripts", help="compare the scripts of corpus/applications on real servers")
    comparing = commands.add_parser("compare", help="compare simulated streams with a folder of recordings")
    comparing.add_argument("folder", type=Path)
    comparing.add_argument("--least", type=float, default=0.99, help="the share of scripts that must agree (0.99)")
    comparing.add_argument("--major", type=int, action="append", help="only this major (repeatable)")
    comparing.add_argument("--family", help="only scripts of this family")
    comparing.add_argument("--script", help="only the script of this name")
    comparing.add_argument("--jobs", type=int, default=1, help="processes")
    comparing.add_argument("--exact", action="store_true", help="count blocks without changes too")
    options = parser.parse_args(words)
    majors = set(options.major) if options.major else None
    return compare(
        options.folder, options.least, majors, options.family, options.jobs, options.script, exact=options.exact
    )


if __name__ == "__main__":
    sys.exit(main())
