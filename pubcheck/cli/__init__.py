"""The command line: one module a command, each imported only when it is called."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """The console script: runs the command line and ends the process with its exit status."""
    # A run makes hundreds of thousands of rows that stay and hardly any cycle. The collector would look at them again
    # and again, for a tenth of the time of a large schema, and once more at the end, when all memory goes anyway.
    gc.set_threshold(500_000)
    from pubcheck.cli.app import run

    status = run()
    gc.freeze()
    sys.exit(status)
