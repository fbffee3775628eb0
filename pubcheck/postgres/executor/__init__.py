"""Row filters evaluated for a row as the server's executor does, in three-valued logic (executor/execExprInterp.c).

``prepare`` makes a filter's analysed expression ready once, ``evaluate`` gives its answer for one row.
"""

from __future__ import annotations

from pubcheck.postgres.executor.compile import Prepared, evaluate, prepare
from pubcheck.postgres.executor.functions import Context, Row

__all__ = ["Context", "Prepared", "Row", "evaluate", "prepare"]
