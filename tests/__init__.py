"""The tests.

They start hundreds of processes, each of which would compile pubcheck again where Python may keep no byte code.
"""

import os
import sys

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
