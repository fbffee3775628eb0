"""Small tables in folders of this machine, read and written without a job of Spark.

A job takes Spark about a tenth of a second, however little it has to do. The files are as Spark's: compressed with
Snappy, times as INT96.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pubcheck.spark.schema import Column, arrow


def read_rows(folder: str, columns: tuple[Column, ...]) -> list[dict[str, Any]]:
    """Return the rows of a table in a folder and in the folders in it; a column that it was written without is None."""
    rows: list[dict[str, Any]] = []
    schema = arrow(columns)
    for path in Path(folder).rglob("[!._]*.parquet"):
        if any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts):  # not committed
            continue
        table = pq.read_table(path, partitioning=None)
        found = {
            field.name: table.column(field.name).cast(field.type)
            for field in schema
            if field.name in table.schema.names
        }
        rows += [dict.fromkeys(schema.names) | row for row in pa.table(found).to_pylist()]
    return rows


def write_rows(folder: str, columns: tuple[Column, ...], values: Mapping[str, Sequence[Any]]) -> None:
    """Write a table of one file, which appears at once."""
    table = pa.table(dict(values), arrow(columns))
    with _new_file(folder, table.schema) as writer:
        writer.write_table(table)


def copy_marked(before: str, folder: str, reasons: Collection[str]) -> bool:
    """Write the table `units` of a folder to another one, with `carried` as ``Earlier.ended`` says; ``reasons`` are
    those of a quarantine that lasts. Return whether it has that column."""
    for path in sorted(Path(before).glob("[!._]*.parquet")):
        with pq.ParquetFile(path) as units:
            schema = units.schema_arrow
            place = schema.get_field_index("carried")
            if place < 0:
                return False
            with _new_file(folder, schema) as writer:
                for number in range(units.num_row_groups):
                    rows = units.read_row_group(number)
                    lasting = pc.is_in(rows["reason"], pa.array(reasons, pa.string()))
                    ended = pc.fill_null(pc.or_kleene(pc.equal(rows["status"], "linted"), lasting), False)
                    writer.write_table(rows.set_column(place, schema.field(place), ended))
    return True


@contextmanager
def _new_file(folder: str, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """Write a Parquet file of a folder. It gets its name when it is whole."""
    os.makedirs(folder, exist_ok=True)
    name = f"part-00000-{token_hex(16)}.snappy.parquet"
    unfinished = os.path.join(folder, f".{name}")
    with pq.ParquetWriter(unfinished, schema, compression="snappy", use_deprecated_int96_timestamps=True) as writer:
        yield writer
    os.rename(unfinished, os.path.join(folder, name))
