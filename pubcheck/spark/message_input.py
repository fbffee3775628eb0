"""Captured messages in tables and Parquet folders: the slot, the position, and the data of each."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from pubcheck.spark.inputs import BadInput
from pubcheck.spark.schema import quoted
from pubcheck.spark.sources import load

_SHOWN = 20
"""Columns that an error names."""
_FILE_BITS = 40
"""Bits of an ordinal that number the rows of a file; those above number the files."""
_XLOG_DATA = 25
"""Bytes of XLogData before the message."""


class MessageColumns(Struct, frozen=True):
    """The columns of a table of messages. ``order`` sorts the messages of a slot. Only ``data`` must be there; Parquet
    files without ``order`` are taken in the order of their names, and their rows as they come."""

    slot: str = "slot"
    order: str = "ordinal"
    lsn: str = "lsn"
    xid: str = "xid"
    data: str = "data"


def read_messages(
    spark: SparkSession, source: str, format: str, columns: MessageColumns, options: Mapping[str, str] | None = None
) -> DataFrame:
    """Return the messages of a catalog table (``format`` is `table`) or of one of Spark's data sources, with the
    columns of `CAPTURED`. Data are binary, or hex with or without `\\x`; XLogData is unwrapped. Raises BadInput."""
    table = load(spark, source, format, options, option="--from")
    types = {field.name.lower(): field.dataType for field in table.schema}
    existing = f"it has {', '.join(table.columns[:_SHOWN])}" if table.columns else "it has none"
    if columns.data.lower() not in types:
        raise BadInput(f"{source} has no column {columns.data}, {existing}: use --data-column")
    data = F.col(quoted(columns.data))
    if isinstance(types[columns.data.lower()], T.StringType):
        data = F.unhex(F.regexp_replace(F.trim(data), r"^\\+x", ""))
    elif not isinstance(types[columns.data.lower()], T.BinaryType):
        raise BadInput(f"{source}: column {columns.data} must be binary or string")

    def column(name: str) -> Column:
        return F.col(quoted(name)) if name.lower() in types else F.lit(None)

    if columns.order.lower() in types:
        ordinal = column(columns.order).cast("bigint")
    elif format.lower() == "parquet":
        table = _with_files(spark, table)
        ordinal = F.col("_file") * (1 << _FILE_BITS) + F.col("_metadata.row_index")
    else:
        raise BadInput(f"{source} has no column {columns.order} to order messages by, {existing}: use --order-column")
    letter = F.substring(data, 1, 1)
    return table.select(
        F.coalesce(column(columns.slot).cast("string"), F.lit("")).alias("slot"),
        ordinal.alias("ordinal"),
        column(columns.lsn).cast("string").alias("lsn"),
        column(columns.xid).cast("bigint").alias("xid"),
        F.when(letter == F.lit(b"w"), F.substr(data, F.lit(_XLOG_DATA + 1))).otherwise(data).alias("data"),
    ).where(F.col("data").isNull() | (F.substring("data", 1, 1) != F.lit(b"k")))


def _with_files(spark: SparkSession, table: DataFrame) -> DataFrame:
    """Add the number of each row's file, in the order of their names."""
    path = F.col("_metadata.file_path")
    paths = sorted(row[0] for row in table.select(path).distinct().collect())
    numbers = spark.createDataFrame(list(zip(paths, range(len(paths)), strict=True)), "_path STRING, _file BIGINT")
    return table.join(F.broadcast(numbers), path == F.col("_path"))
