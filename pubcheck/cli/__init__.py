"""The command line: one module a command, each imported only when it is called."""

from __future__ import annotations

import sys


def main() -> None:
    """The console script: runs the command line and ends the process with its exit status."""
    from pubcheck.cli.app import run

    sys.exit(run())
