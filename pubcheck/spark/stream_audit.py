"""`pubcheck audit --stream`: a table of files that grows, audited with Structured Streaming.

Each micro-batch is a run of its own. It tells which repositories have new rows; those are read whole from the table as
it is now, and everything else is carried over from the run before. The findings after the last batch are therefore
those of a batch run over the table, whatever the batches were. A batch that is repeated after a failure writes the run
of the same ID again.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from msgspec.structs import replace
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.utils import is_remote

from pubcheck.engine.linter import Linter
from pubcheck.spark.incremental import may_carry
from pubcheck.spark.inputs import BadInput
from pubcheck.spark.job import Options, audit, ruleset
from pubcheck.spark.sources import TableInput
from pubcheck.spark.steps import Progress, Silent
from pubcheck.spark.store import Store
from pubcheck.spark.summary import Summary


class GrowingTable(TableInput):
    """The repositories of a table that have new rows."""

    def __init__(self, table: TableInput, changed: DataFrame) -> None:
        super().__init__(table.source, table.format, table.columns, table.options)
        self._changed = changed

    def rows_of(self, table: DataFrame) -> DataFrame:
        return super().rows_of(table).join(self._changed, "repository", "left_semi")


def stream(
    spark: SparkSession,
    source: TableInput,
    store: Store,
    linter: Linter,
    options: Options,
    progress: Progress = Silent(),
    *,
    interval: str | None = None,
    on_run: Callable[[Summary], None] = lambda summary: None,
) -> Summary | None:
    """Audit a table as it grows, and return the summary of the last run, or None if there was nothing new. The names
    of runs begin with ``options.run``. Without an ``interval``, such as `1 minute`, only the present rows are audited.
    ``on_run`` is called when a run is committed. The position in the table is kept in DIR/stream. Raises BadInput."""
    if is_remote():
        raise BadInput("--stream does not run on Spark Connect")
    last: list[Summary] = []

    def on_batch(rows: DataFrame, number: int) -> None:
        # Spark gives the batch a session of its own, which knows no frame of another.
        session = rows.sparkSession
        changed = source.rows_of(rows).select("repository").distinct().persist()
        try:
            if changed.isEmpty():
                return
            run, batch_store = f"{options.run}-{number:09}", Store(session, store.where)
            since = batch_store.last_of(source.name, but=run)
            batch = replace(options, run=run, since=since)
            table = source
            if since is not None and may_carry(batch_store, since, ruleset(linter), options.largest):
                table, batch = GrowingTable(source, changed), replace(batch, partial=True)
            last.append(audit(session, table, batch_store, linter, batch, progress, progress.counters))
            del last[:-1]
            on_run(last[-1])
        finally:
            changed.unpersist()

    writer = source.growing(spark).writeStream.foreachBatch(on_batch)
    writer = writer.option("checkpointLocation", f"{store.where}/stream/{options.run}")
    if interval is None:
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=interval)
    query = writer.start()
    with ThreadPoolExecutor(1) as pool:
        try:
            # PySpark answers an interrupt by a call to Java, which the main thread must be free for.
            pool.submit(query.awaitTermination).result()
        finally:
            query.stop()
    return last[-1] if last else None
