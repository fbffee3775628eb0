"""JSON lines and Parquet: rows whose columns have names."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from pubcheck.stream.framing.frame import (
    Frame,
    FramingError,
    Place,
    Report,
    frames_of,
    position,
    transaction,
    unwrapped,
)
from pubcheck.stream.framing.rows import bytes_of, text_lines

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

_FIRST_BYTES = frozenset(b"BMCORYIUDTSEcAbPKrpwk")


def read_jsonl(stream: BinaryIO, report: Report) -> Iterator[Frame]:
    """Yield the messages of JSON lines: objects with `data` and, where known, `lsn` and `xid`, or arrays of these.
    The data are hex, with or without `\\x`, or Base64."""
    lines = (numbered for numbered in enumerate(text_lines(stream), 1) if numbered[1].strip())
    rows = ((Place(number, line_number), line) for number, (line_number, line) in enumerate(lines, 1))
    yield from frames_of(rows, lambda line, place: _frame(_object(line), place), report)


def _object(line: str) -> Mapping[str, object]:
    try:
        row = msgspec.json.decode(line.encode("utf-8", "surrogateescape"))
    except RecursionError:
        raise ValueError("JSON is nested too deeply") from None
    if isinstance(row, list) and len(row) == 3:
        row = dict(zip(("lsn", "xid", "data"), row, strict=True))
    if not isinstance(row, dict) or "data" not in row:
        raise ValueError('expected an object with the key "data"')
    return row


def _frame(row: Mapping[str, object], place: Place) -> Frame | None:
    data = row["data"]
    content = data if isinstance(data, bytes) else _bytes(data)
    return unwrapped(position(row.get("lsn")), transaction(row.get("xid")), content, place)


def _bytes(data: object) -> bytes:
    """Return the bytes that a text means. Hex begins with the letter of a message, which Base64 of a message never
    does."""
    if isinstance(data, str):
        content = bytes_of(data)
        if content is not None and content[:1] and (data.startswith("\\") or content[0] in _FIRST_BYTES):
            return content
        try:
            return b64decode(data, validate=True)
        except NotBase64:
            pass
    raise ValueError("expected the data of a message as hex or Base64")


def read_parquet(stream: BinaryIO, report: Report) -> Iterator[Frame]:
    """Yield the messages of a Parquet file with a column `data` and, where known, `lsn` and `xid`. Raises FramingError
    for another file, and if pyarrow is not installed."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ModuleNotFoundError:
        raise FramingError("Parquet needs pyarrow: install pubcheck[spark]") from None
    if not stream.seekable():
        raise FramingError("Parquet is read from a file, not from a pipe")
    try:
        yield from _parquet_rows(ParquetFile(stream), report)
    except (ArrowException, OSError) as error:
        raise FramingError(f"not a readable Parquet file: {str(error).splitlines()[0]}") from None


def _parquet_rows(file: ParquetFile, report: Report) -> Iterator[Frame]:
    columns = [name for name in ("lsn", "xid", "data") if name in file.schema_arrow.names]
    if "data" not in columns:
        raise FramingError(f'expected a column "data"; there are {", ".join(file.schema_arrow.names)}')
    batches = file.iter_batches(batch_size=1024, columns=columns)
    rows = enumerate((row for batch in batches for row in batch.to_pylist()), 1)
    yield from frames_of(((Place(number), row) for number, row in rows), _frame, report)
