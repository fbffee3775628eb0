"""Files of repositories as the rows of a table."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow
from pyspark.sql import DataFrame, SparkSession

from pubcheck.spark.sources import TableColumns

COLUMNS = TableColumns("repository", "path", "content")
ROWS = "repository STRING, path STRING, content BINARY"


def rows_of(spark: SparkSession, where: str, *, without: str = "") -> DataFrame:
    """Return the files of a folder of repositories, ``without`` one of them; the tasks read them."""
    names = [(name,) for name in sorted(os.listdir(where)) if name != without]
    repositories = spark.createDataFrame(names, "repository STRING").repartition(16)

    def read(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            paths = [
                (name, str(path))
                for name in batch.column("repository").to_pylist()
                for path in Path(where, name).rglob("*")
                if path.is_file()
            ]
            for name, path in paths:
                yield pyarrow.RecordBatch.from_pydict(
                    {"repository": [name], "path": [path], "content": [Path(path).read_bytes()]}
                )

    return repositories.mapInArrow(read, ROWS)
