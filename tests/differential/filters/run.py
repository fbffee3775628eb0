"""A run of filters on one server: batch by batch made, asked, judged and counted."""

from __future__ import annotations

import contextlib
import time
from types import TracebackType
from typing import Any

import psycopg

from tests.differential.filters.answers import Said, Told, asked, compared, told
from tests.differential.filters.batches import BATCH, Deck, make_batch
from tests.differential.filters.catalog import Catalog
from tests.differential.filters.report import Outcome, Totals
from tests.support.servers import Server


class Run:
    """Filters of a seed on a server, in a database of its own that nothing is left in."""

    def __init__(self, server: Server, seed: int, *, server_only: bool = False) -> None:
        self.server, self.seed, self.server_only = server, seed, server_only
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Run:
        self.database = self._stack.enter_context(self.server.database())
        self.conn: psycopg.Connection[Any] = self._stack.enter_context(self.server.connect(self.database))
        # A server's zone and texts are its machine's; what a script does not say is what pubcheck takes for given.
        self.catalog = Catalog(self.conn)
        self.deck = Deck(self.catalog, self.seed)
        self.totals = Totals(self.catalog)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def batch(self, number: int, count: int = BATCH) -> list[Outcome]:
        """Make and judge a batch, add it to the totals."""
        began = time.perf_counter()
        self.conn.execute("BEGIN")
        try:
            batch = make_batch(self.conn, self.catalog, self.deck, self.seed, number, count)
            statements = [filter_.statement for filter_ in batch.filters]
            made = time.perf_counter()
            server = asked(self.conn, statements)
        finally:
            self.conn.execute("ROLLBACK")
        self.totals.making_seconds += made - began
        self.totals.server_seconds += time.perf_counter() - made
        if self.server_only:
            answers = Told(tuple(Said(answer) for answer in server), (), 0.0)
        else:
            answers = told(batch.major, self.database, batch.world.setup, statements)
        self.totals.pubcheck_seconds += answers.seconds
        self.totals.setup_left_out.update(answers.left_out)
        outcomes = [
            Outcome(batch, filter_, answer, ours, compared(answer, ours))
            for filter_, answer, ours in zip(batch.filters, server, answers.ours, strict=True)
        ]
        for outcome in outcomes:
            self.totals.add(outcome)
        return outcomes
