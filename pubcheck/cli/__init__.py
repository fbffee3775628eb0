"""The command line: one module a command, each imported only when it is called."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress


def main() -> None:
    """The console script: runs the command line and ends the process with its exit status."""
    # A run makes hundreds of thousands of rows that stay and hardly any cycle. The collector would look at them again
    # and again, for a tenth of the time of a large schema.
    gc.set_threshold(500_000)
    from pubcheck.cli.app import run

    status = run()
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # there is none, or nobody takes what is left
            stream.flush()
    if "pyspark" in sys.modules:
        # The process may be one of Databricks', which runs a job in its own and fails when that dies; and on Windows
        # what PySpark has registered with atexit ends Java.
        sys.exit(status)
    # All memory goes with the process; to take apart first what it holds is a twentieth of a short run.
    os._exit(status)
