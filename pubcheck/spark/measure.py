"""Counts, over a table's data, what its publications would send of it: one Spark job a table."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from itertools import combinations

from msgspec import Struct
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from pubcheck.config import suggestion
from pubcheck.measure.plan import Measurable
from pubcheck.measure.spark_types import SparkType
from pubcheck.report.measure import Nulls, Overlap, PublicationRows, TableRows
from pubcheck.spark.schema import quoted
from pubcheck.spark.session import settings
from pubcheck.spark.sources import lake_name, lake_table, open_path

FORMATS: Mapping[str, str] = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}
CATALOG = "table:"
"""The prefix of the name of a catalog table."""
_BAD = "pubcheck: not "
_PAIRS = 12
"""Publications of a table up to which they are compared two by two."""


class BadData(ValueError):
    """The data cannot be measured: it is not there, lacks a column, or holds what the column's type does not."""


class Data(Struct, frozen=True):
    """The location of a table's rows: a path, or `table:` and the name of a catalog table."""

    table: str
    condition: str


EXACT = {"spark.sql.caseSensitive": "true", "spark.sql.ansi.enabled": "true"}
"""As in the server, names differ by case, and what does not fit is an error instead of a NULL."""


def measure(spark: SparkSession, data: Data, table: Measurable) -> TableRows:
    """Count the rows. Raises BadData, and what Spark raises."""
    with settings(spark, EXACT):
        return _measure(spark, data, table)


def _measure(spark: SparkSession, data: Data, table: Measurable) -> TableRows:
    counted = [counted_sending for counted_sending in table.sendings if counted_sending.reason is None]
    needed: dict[str, SparkType] = {}
    for sending in counted:
        for name, kind in sending.spark.columns.items() if sending.spark is not None else ():
            if needed.get(name, kind).name in ("ANY", kind.name):
                needed[name] = kind
    frame, doubtful = typed(read(spark, data), needed, f"{table.name} in {data.condition}")
    sends = [
        F.expr(counted_sending.spark.sql) if counted_sending.spark is not None else F.lit(True)
        for counted_sending in counted
    ]
    marked = frame.select("*", *(sent.alias(f"pubcheck: sent {number}") for number, sent in enumerate(sends)))
    sent = [F.coalesce(F.col(f"`pubcheck: sent {number}`"), F.lit(False)) for number in range(len(counted))]
    times = sum((counted_sending.cast("int") for counted_sending in sent), F.lit(0))
    pairs = list(combinations(range(len(counted)), 2)) if len(counted) <= _PAIRS else []
    row = marked.agg(
        F.count("*"),
        F.count_if(times == 0),
        F.count_if(times > 1),
        F.array(*(F.count_if(counted_sending) for counted_sending in sent)),
        F.array(*(F.count_if(F.col(f"`pubcheck: sent {number}`").isNull()) for number in range(len(counted)))),
        F.array(*(F.count_if(sent[first] & sent[second]) for first, second in pairs)),
        F.array(*(F.count_if(F.col(quoted(name)).isNull()) for name in needed)),
        F.array(*(F.count_if(F.col(quoted(name)).isNotNull()) for name in doubtful)),
        F.array(*(F.min(quoted(name)) for name in doubtful)),
    ).collect()[0]
    for name, bad, example in zip(doubtful, row[7], row[8], strict=True):
        if bad:
            column = name.removeprefix(_BAD)
            raise BadData(
                f"column {column} of {data.condition}: {bad:,} values are not valid for its type in {table.name},"
                f" such as {example[:60]!r} (in Spark {needed[column].sql})"
            )
    every = len(counted) == len(table.sendings) > 0
    numbers = {id(sending): number for number, sending in enumerate(counted)}
    publications = []
    for sending in table.sendings:
        number = numbers.get(id(sending))
        copied = row[3][number] if number is not None else None
        publications.append(
            PublicationRows(
                sending.publication,
                sending.filter,
                sending.spark.sql if sending.spark is not None else None,
                sending.operations,
                "certain" if sending.certain else "assumed",
                copied,
                copied if "insert" in sending.operations or copied is None else 0,
                row[4][number] if number is not None else None,
                sending.reason,
            )
        )
    return TableRows(
        table.name,
        data.condition,
        row[0],
        tuple(Nulls(name, count) for name, count in zip(needed, row[6], strict=True)),
        tuple(publications),
        row[1] if every else None,
        row[2] if every else None,
        tuple(
            Overlap((counted[first].publication, counted[second].publication), count)
            for (first, second), count in zip(pairs, row[5], strict=True)
        ),
    )


def read(spark: SparkSession, data: Data) -> DataFrame:
    """Return the rows as they are, in a session that is ``EXACT``. Raises BadData."""
    try:
        if data.condition.startswith(CATALOG):
            return spark.read.table(data.condition.removeprefix(CATALOG))
        return _read(spark, data.condition)
    except AnalysisException as error:
        raise BadData(f"{data.condition} cannot be read: {str(error).splitlines()[0]}") from None


def _read(spark: SparkSession, where: str) -> DataFrame:
    bare = where.rstrip("/").removesuffix(".gz").removesuffix(".bz2").removesuffix(".zst")
    kind = FORMATS.get(os.path.splitext(bare)[1].lower(), "parquet")
    if kind in ("csv", "tsv"):
        return _read_csv(spark, where, "\t" if kind == "tsv" else ",")
    if kind == "json":
        return open_path(spark, where, "json", {"primitivesAsString": "true", "mode": "FAILFAST"})
    lake = lake_table(spark, where)
    if lake is not None:
        raise BadData(
            f"{where} is a table of {lake_name(lake)}, whose files also hold deleted rows: use {CATALOG}NAME, with its"
            " name in the catalog"
        )
    return open_path(spark, where, "parquet")


_EMPTY = "\ue000pubcheck: empty\ue000"
"""Represents an empty text until it has been distinguished from NULL: Spark takes its nullValue for NULL."""


def _read_csv(spark: SparkSession, where: str, separator: str) -> DataFrame:
    """Read CSV as COPY writes it: quotes are doubled, nothing is trimmed, and an empty unquoted field is NULL."""
    options = {"header": "true", "quote": '"', "escape": '"', "multiLine": "true", "nullValue": "", "sep": separator}
    options |= {"ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false", "mode": "FAILFAST"}
    rows = open_path(spark, where, "csv", {**options, "emptyValue": _EMPTY})
    columns = ((F.col(quoted(name)), name) for name in rows.columns)
    return rows.select(*(F.when(column == _EMPTY, "").otherwise(column).alias(name) for column, name in columns))


# --- Types ------------------------------------------------------------------------------------------------------------


def typed(rows: DataFrame, needed: Mapping[str, SparkType], where: str) -> tuple[DataFrame, list[str]]:
    """Return the columns that are needed, of their types, and names of columns that hold, as text, what is not of them.

    Raises BadData for a column that is missing or of a type that holds other values.
    """
    fields = {field.name: field.dataType for field in rows.schema.fields}
    columns: list[Column] = []
    doubtful: list[str] = []
    for name, kind in needed.items():
        if name not in fields:
            names = sorted(fields)
            raise BadData(f"{where}: there is no column {name}{suggestion(name, names) if names else ''}")
        value = F.col(quoted(name))
        if kind.name == "ANY":
            columns.append(value.alias(name))
            continue
        converted = _converted(value, fields[name], kind)
        if converted is None:
            raise BadData(
                f"{where}: column {name} is of type {fields[name].simpleString()}, where {kind.sql} is needed"
            )
        columns.append(converted.alias(name))
        if not isinstance(fields[name], T.StringType) or kind.name != "STRING":
            doubtful.append(_BAD + name)
            columns.append(F.when(converted.isNull(), value.cast("string")).alias(_BAD + name))
    return rows.select(*columns, F.lit(0).alias("pubcheck: row")), doubtful


def _converted(value: Column, of: T.DataType, kind: SparkType) -> Column | None:
    """Return a column as one of another type, NULL where a value is none of that; None where types have little in
    common."""
    if isinstance(of, T.StringType):
        return _read_text(value, kind) if of.simpleString() == "string" else None
    if kind.name in ("SMALLINT", "INT", "BIGINT"):
        if isinstance(of, (T.ByteType, T.ShortType, T.IntegerType, T.LongType)):
            return value.try_cast(kind.sql)
        return value.try_cast(kind.sql) if isinstance(of, T.DecimalType) and of.scale == 0 else None
    if kind.name == "DECIMAL":
        if not isinstance(of, (T.DecimalType, T.ByteType, T.ShortType, T.IntegerType, T.LongType)):
            return None
        converted = value.try_cast(kind.sql)
        return F.when(converted.try_cast(of) == value, converted)  # a scale that is too small would round
    if kind.name == "DOUBLE" and isinstance(of, T.FloatType):
        return value.cast("double")
    same_kind: Mapping[str, type[T.DataType]] = {
        "BOOLEAN": T.BooleanType,
        "FLOAT": T.FloatType,
        "DOUBLE": T.DoubleType,
        "DATE": T.DateType,
        "TIMESTAMP_NTZ": T.TimestampNTZType,
        "TIMESTAMP": T.TimestampType,
    }
    return value if kind.name in same_kind and isinstance(of, same_kind[kind.name]) else None


_DAY, _TIME = r"\d{4}-\d\d-\d\d", r"\d\d:\d\d:\d\d(\.\d{1,6})?"
_FORMS: Mapping[str, str] = {
    "SMALLINT": r"[-+]?\d+",
    "INT": r"[-+]?\d+",
    "BIGINT": r"[-+]?\d+",
    "FLOAT": r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|NaN|-?Infinity",
    "DOUBLE": r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|NaN|-?Infinity",
    "DATE": _DAY,
    "TIMESTAMP_NTZ": f"{_DAY}[ T]{_TIME}",
    "TIMESTAMP": rf"{_DAY}[ T]{_TIME}(Z|[-+]\d\d(:\d\d)?)",
    "UUID": r"(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
}
"""The formats in which the server and other programs write values of these types."""
_TRUE, _FALSE = ("t", "true", "yes", "y", "on", "1"), ("f", "false", "no", "n", "off", "0")


def _read_text(value: Column, kind: SparkType) -> Column:
    """Return a text as a value, NULL where it is not surely one. What Spark itself takes for a number or a moment is
    more."""
    if kind.name == "STRING":
        return value
    if kind.name == "BOOLEAN":
        word = F.lower(value)
        return F.when(word.isin(*_TRUE), F.lit(True)).when(word.isin(*_FALSE), F.lit(False))
    if kind.name == "DECIMAL":
        form = rf"[-+]?\d+(\.\d{{0,{kind.scale}}}0*)?"
    else:
        form = _FORMS[kind.name]
    reader: Callable[[Column], Column] = _READERS.get(kind.name, lambda text: text.try_cast(kind.sql))
    return F.when(value.rlike(rf"\A(?:{form})\z"), reader(value))


_READERS: Mapping[str, Callable[[Column], Column]] = {
    "UUID": F.lower,
    # Spark knows no zone of hours alone.
    "TIMESTAMP": lambda text: F.regexp_replace(text, r"([-+]\d\d)$", "$1:00").try_cast("timestamp"),
}
