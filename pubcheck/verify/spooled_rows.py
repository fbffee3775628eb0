"""The rows of a slot in a temporary file: those of a long script do not fit into memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct as Layout
from tempfile import SpooledTemporaryFile
from weakref import finalize

from pubcheck.simulate.decoding.slot import Row

_IN_MEMORY = 1 << 22
_head = Layout(">QIQ")
"""The position, the transaction id and the number of bytes of a row."""


class SpooledRows:
    """Rows that are written once, and read in their order."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 -- its owner closes it
        finalize(self, self._file.close)
        self._end = 0

    def extend(self, rows: Iterable[Row]) -> None:
        self._file.seek(self._end)
        for lsn, xid, data in rows:
            self._file.write(_head.pack(lsn, xid, len(data)))
            self._file.write(data)
        self._end = self._file.tell()

    def __iter__(self) -> Iterator[Row]:
        offset = 0
        while offset < self._end:
            self._file.seek(offset)
            lsn, xid, size = _head.unpack(self._file.read(_head.size))
            data = self._file.read(size)
            offset += _head.size + size
            yield lsn, xid, data
