"""The command line: one module a command, each imported only when it is called."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """The console script: runs the command line and ends the process with its exit status."""
    # A run makes hundreds of thousands of rows that stay and hardly any cycle: at the default of 700 new objects the
    # collector looks at all of them again and again, for a tenth of the time of a large schema.
    gc.set_threshold(10_000, 20, 100)
    from pubcheck.cli.app import run

    sys.exit(run())
