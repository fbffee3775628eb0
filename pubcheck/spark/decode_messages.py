"""`pubcheck decode` as a Spark job.

Two passes over the input. The first takes the few messages that say how others are to be read (`Timeline`): Relation
messages and those that begin and end streamed blocks. They are all that the driver holds. The second decodes every
batch by itself, wherever it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from pubcheck.stream.batches import CAPTURED, DECODED, decode_batch
from pubcheck.stream.decode import CONTROL, Streaming, Timeline


def decode_messages(messages: DataFrame, streaming: Streaming | None = None) -> DataFrame:
    """Return a row of `DECODED` for each message of `read_messages`. ``streaming`` is as for `Decoder`."""
    decode = partial(_decode, timelines=_timelines(messages, streaming), streaming=streaming)
    return messages.mapInArrow(decode, from_arrow_schema(DECODED))


def _timelines(messages: DataFrame, streaming: Streaming | None) -> dict[str, Timeline]:
    """Return what of each slot says how its messages are to be read."""
    letter = F.substring("data", 1, 1)
    control = messages.where(letter.isin(*(bytes([kind]) for kind in CONTROL))).select("slot", "ordinal", "data")
    # A server repeats a Relation message after each invalidation: only one that differs from that before it counts. An
    # OID follows its letter; within a block that is the transaction's ID, where fewer are left out. A streamed
    # transaction may have brought another one when it was committed.
    in_slot = Window.partitionBy("slot").orderBy("ordinal")
    commits = F.sum(letter.isin(b"c", b"p").cast("int")).over(in_slot)
    state = F.struct("data", "commits")
    of_relation = Window.partitionBy("slot", letter, F.substring("data", 2, 4)).orderBy("ordinal")
    repeated = (letter == F.lit(b"R")) & F.lag(state).over(of_relation).eqNullSafe(state)
    rows = control.withColumn("commits", commits).withColumn("repeated", repeated).where(~F.col("repeated"))
    by_slot: dict[str, list[tuple[int, bytes]]] = {}
    for slot, ordinal, data in rows.orderBy("slot", "ordinal").select("slot", "ordinal", "data").collect():
        by_slot.setdefault(slot, []).append((ordinal, bytes(data)))
    return {slot: Timeline(those, streaming) for slot, those in by_slot.items()}


def _decode(
    batches: Iterator[pa.RecordBatch], *, timelines: Mapping[str, Timeline], streaming: Streaming | None
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if batch.num_rows:
            yield from decode_batch(batch.cast(CAPTURED), timelines, streaming)
