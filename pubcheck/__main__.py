"""`python -m pubcheck` is the command line; so is this file as a script, which is what spark-submit takes."""

import os
import sys

if not __package__:
    # A script's folder comes first in the path, so pubcheck's modules would hide Python's own.
    _folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _folder]

from pubcheck.cli import main

if __name__ == "__main__":
    main()
