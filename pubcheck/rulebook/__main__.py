"""`python -m pubcheck.rulebook compile`."""

import sys

from pubcheck.rulebook.compile import main

sys.exit(main(sys.argv[1:]))
