"""`python -m pubcheck.consumers compile`."""

import sys

from pubcheck.consumers.compile import main

sys.exit(main(sys.argv[1:]))
