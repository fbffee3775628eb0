"""What every framing gives: the bytes of a message, with its position and transaction where the capture holds them. And
framings whose rows have columns: tables of psql, CSV, COPY's text, hex, JSON lines and Parquet."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as NotBase64
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from io import BufferedReader, RawIOBase, TextIOWrapper
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeAlias, TypeVar, cast

import msgspec
from msgspec import Struct

from pubcheck.stream.lsn import parse_lsn

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile


class Place(Struct, frozen=True, gc=False):
    """Where a message is in a capture: its number, counted from 1, and its line (counted from 1) or its first byte
    (counted from 0)."""

    number: int
    line: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        if self.line is not None:
            return f"message {self.number}, line {self.line}"
        if self.offset is not None:
            return f"message {self.number}, at byte {self.offset}"
        return f"message {self.number}"


class Frame(NamedTuple):
    """One message of a capture. ``lsn`` and ``xid`` are those of its row or of XLogData's header, and None where the
    capture has none. A walsender gives LSN 0 to messages that are not the last of a change."""

    lsn: int | None
    xid: int | None
    data: bytes
    place: Place


class FramingError(ValueError):
    """A part of a capture that is not in its framing. ``place`` is None if that is the whole capture."""

    def __init__(self, problem: str, place: Place | None = None) -> None:
        super().__init__(problem if place is None else f"{place}: {problem}")
        self.problem = problem
        self.place = place


Report: TypeAlias = Callable[[FramingError], None]
"""Takes the error of a row that cannot be read; reading goes on if it returns."""

Reader: TypeAlias = Callable[[BinaryIO, Report], Iterator[Frame]]

_WRAPPED = (b"w", b"k")
"""XLogData, and the keepalives between them."""

HEADER = 25
"""Bytes of XLogData before its payload: the letter, the start and the end of the WAL, and the time of sending."""


def unwrapped(lsn: int | None, xid: int | None, data: bytes, place: Place) -> Frame | None:
    """Return the frame of a message that may be wrapped in XLogData; None for a keepalive."""
    if data[:1] in _WRAPPED:
        if data[:1] == b"w" and len(data) >= HEADER:
            return Frame(int.from_bytes(data[1:9], "big"), xid, data[HEADER:], place)
        if data[:1] == b"k" and len(data) == 18:
            return None
    return Frame(lsn, xid, data, place)


T = TypeVar("T")


def frames_of(
    rows: Iterable[tuple[Place, T]], frame_of: Callable[[T, Place], Frame | None], report: Report
) -> Iterator[Frame]:
    """Yield the frames of rows, except for keepalives; a row that ``frame_of`` refuses with ValueError is reported."""
    for place, row in rows:
        try:
            frame = frame_of(row, place)
        except ValueError as error:
            report(FramingError(str(error), place))
            continue
        if frame is not None:
            yield frame


def position(value: object) -> int | None:
    """Return the LSN that a cell of a table holds, as a text or a number. Raises ValueError."""
    if value is None:
        return None
    lsn = value if isinstance(value, int) else parse_lsn(str(value))
    if not 0 <= lsn < 1 << 64:
        raise ValueError(f"{lsn} is not an LSN")
    return lsn


def transaction(value: object) -> int | None:
    """Return the transaction ID that a cell of a table holds. Raises ValueError."""
    if value is None:
        return None
    xid = int(str(value))
    if not 0 <= xid < 1 << 32:
        raise ValueError(f"{xid} is not a transaction ID")
    return xid


class Dialect(Struct, frozen=True):
    """How the cells of a row are separated, and whether backslashes in them are doubled."""

    separators: str
    doubled: bool = False


DIALECTS = {
    "psql": Dialect("|│"),
    "copy": Dialect("\t", doubled=True),
    "csv": Dialect(",;"),
    "hex": Dialect(""),
}
_NAMES = frozenset({"lsn", "xid", "data", "encode"})
"""Columns of pg_logical_slot_get_binary_changes, and of `encode(data, 'hex')`."""

_LSN = re.compile(r"[0-9A-Fa-f]{1,8}/[0-9A-Fa-f]{1,8}")
_NUMBER = re.compile(r"[0-9]{1,10}")
_WORD = re.compile(r"[A-Za-z_]+")
_RULE = re.compile(r"[-+|─│┼├┤┌┐└┘┬┴ ]+")
_NOISE = re.compile(
    r"\([0-9]+ [^|]*\)|[^|]* [0-9.,]+ ms|\\\."  # the number of rows, the time, the end of COPY
    r"|[-+─┌├*]*\[ [^|]* [0-9]+ \][-+─┬┐├┤┼]*"  # the start of a record in psql's expanded form
    r"|SET|BEGIN|COMMIT|ROLLBACK|(?:COPY|SELECT) [0-9]+|Timing is on\."
)
_ESCAPED = re.compile(r"(?:[^\\]|\\\\|\\[0-3][0-7]{2})*")
_ESCAPE = re.compile(rb"\\(\\|[0-3][0-7]{2})")


def text_lines(stream: BinaryIO) -> Iterator[str]:
    """Yield the lines of a stream in UTF-8 or, if it begins with a byte order mark of it, UTF-16."""
    buffered = stream if isinstance(stream, BufferedReader) else BufferedReader(cast(RawIOBase, stream))
    encoding = "utf-16" if buffered.peek(2)[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8-sig"
    text = TextIOWrapper(buffered, encoding=encoding, errors="surrogateescape", newline="\n")
    try:
        yield from text
    finally:
        with suppress(ValueError):  # the stream is closed already
            text.detach()  # it would close the stream


def read_rows(stream: BinaryIO, report: Report, dialect: Dialect) -> Iterator[Frame]:
    """Yield the messages in the rows of a table. Headers, rules and footers are skipped."""
    common = _common_row(dialect)
    number = 0
    records: dict[str, str] = {}
    header: Sequence[str] = ()
    for line_number, line in enumerate(text_lines(stream), 1):
        match = common.fullmatch(line)
        if match is not None and len(match[4]) % 2 == 0:
            number += 1
            frame = _common_frame(match, Place(number, line_number))
        else:
            text = line.rstrip("\r\n")
            cells = cells_of(text, dialect, header)
            if is_header(cells):
                header = [cell.rstrip(" ") for cell in cells]
                continue
            if is_noise(text):
                records = {}
                continue
            if is_expanded(cells):
                records[cells[0]] = cells[1]
                if cells[0] not in ("data", "encode"):
                    continue
                cells = list(records.values())
                records = {}
            number += 1
            place = Place(number, line_number)
            try:
                frame = _frame(cells, place, header)
            except ValueError as error:
                report(FramingError(str(error), place))
                continue
        if frame is not None:
            yield frame


def _common_row(dialect: Dialect) -> re.Pattern[str]:
    """Return a pattern of the usual row: LSN, transaction and hex; or hex alone."""
    separator = rf"\s*[{dialect.separators}]\s*"
    start = rf"\s*([0-9A-F]+)/([0-9A-F]+){separator}([0-9]+){separator}" if dialect.separators else r"\s*()()()"
    return re.compile(start + r"(?:\\{1,2}x)?([0-9A-Fa-f]+)\s*")


def _common_frame(match: re.Match[str], place: Place) -> Frame | None:
    high, low, xid, data = match.groups()
    lsn = int(high, 16) << 32 | int(low, 16) if high else None
    return unwrapped(lsn, int(xid) if xid else None, bytes.fromhex(data), place)


def cells_of(line: str, dialect: Dialect, header: Sequence[str] = ()) -> list[str]:
    """Return the cells of a line. The last one holds whatever follows the number of columns of the header, or the first
    two cells if they are position and transaction."""
    if not dialect.separators:
        return [line.lstrip(" ")]
    text = line.lstrip(" ")
    bordered = text.rstrip(" ")
    if len(bordered) > 1 and bordered[0] == bordered[-1] and bordered[0] in "|│":  # psql's border=2 pads all cells
        text = bordered[1:-1].rstrip(" ")
    separator = next((candidate for candidate in dialect.separators if candidate in text), dialect.separators[0])
    cells = text.split(separator)
    columns = len(header) or 3
    if len(cells) > columns and (header or is_row(cells)):
        cells = text.split(separator, columns - 1)
    # The last cell is not padded: a space at its end belongs to a message in bytea's escape format.
    last = cells[-1].lstrip(" ")
    cells = [_unquoted(cell, dialect) for cell in (*(cell.strip(" ") for cell in cells[:-1]), last)]
    return cells[:-1] if len(cells) > 1 and not cells[-1] else cells


def _unquoted(cell: str, dialect: Dialect) -> str:
    if len(cell) > 1 and cell[0] == cell[-1] == '"':
        cell = cell[1:-1].replace('""', '"')
    return cell.replace("\\\\", "\\") if dialect.doubled else cell


def is_expanded(cells: Sequence[str]) -> bool:
    """Whether this is a line of psql's expanded form: a column's name and value."""
    return len(cells) == 2 and cells[0] in _NAMES


def is_row(cells: Sequence[str]) -> bool:
    """Whether the first cells are a position and a transaction, and there are more."""
    return len(cells) > 2 and _LSN.fullmatch(cells[0].strip(" ")) is not None and cells[1].strip(" ").isdigit()


def is_header(cells: Sequence[str]) -> bool:
    """Whether these are names of columns, of which pubcheck knows at least one."""
    names = [cell.rstrip(" ") for cell in cells]
    return not _NAMES.isdisjoint(names) and all(map(_WORD.fullmatch, names))


def is_noise(line: str) -> bool:
    """Whether a line belongs to the form of a table: blank, a rule, the footer with the number of rows."""
    return not line.strip() or _RULE.fullmatch(line) is not None or _NOISE.fullmatch(line.strip()) is not None


def _frame(cells: Sequence[str], place: Place, header: Sequence[str]) -> Frame | None:
    names = dict(zip(header, cells, strict=False))
    text = names.get("data") or names.get("encode") or cells[-1]
    lsn = next((cell for cell in cells if _LSN.fullmatch(cell)), None)
    others = [cell for cell in cells[:-1] if _NUMBER.fullmatch(cell)]
    xid = names.get("xid") or (others[0] if others else None)
    data = bytes_of(text)
    if data is None:
        shown = text if len(text) <= 40 else text[:40] + "…"
        raise ValueError(f"expected the hex of a message, got {shown!r}")
    return unwrapped(parse_lsn(lsn) if lsn else None, int(xid) if xid and _NUMBER.fullmatch(xid) else None, data, place)


def bytes_of(text: str) -> bytes | None:
    """Return the bytes that a text means in bytea's hex or escape format, or in plain hex; None if in none of them."""
    with suppress(ValueError):
        digits = text.rstrip(" ").removeprefix("\\x")
        if text and " " not in digits:
            return bytes.fromhex(digits)
    if text == "E" or ("\\" in text and not text.startswith("\\x") and _ESCAPED.fullmatch(text)):
        content = text.encode("utf-8", "surrogateescape")
        return _ESCAPE.sub(lambda match: b"\\" if match[1] == b"\\" else bytes([int(match[1], 8)]), content)
    return None


_FIRST_BYTES = frozenset(b"BMCORYIUDTSEcAbPKrpwk")


def read_jsonl(stream: BinaryIO, report: Report) -> Iterator[Frame]:
    """Yield the messages of JSON lines: objects with `data` and, where known, `lsn` and `xid`, or arrays of these.
    The data are hex, with or without `\\x`, or Base64."""
    lines = (numbered for numbered in enumerate(text_lines(stream), 1) if numbered[1].strip())
    rows = ((Place(number, line_number), line) for number, (line_number, line) in enumerate(lines, 1))
    yield from frames_of(rows, lambda line, place: _frame_of_row(_object(line), place), report)


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


def _frame_of_row(row: Mapping[str, object], place: Place) -> Frame | None:
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
    yield from frames_of(((Place(number), row) for number, row in rows), _frame_of_row, report)
