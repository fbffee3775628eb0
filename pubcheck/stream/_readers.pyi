from typing import Any

from pubcheck.stream.framing.rows import Frame
from pubcheck.stream.messages import AnyMessage

SOURCE_CHECKSUM: int

def read(data: bytes, /) -> AnyMessage | None: ...
def read_in_block(data: bytes, /) -> AnyMessage | None: ...
def cut_changes(
    offsets: Any, data: Any, places: Any, names: bytes, name_ends: Any, keys: bytes, in_block: bool, /
) -> tuple[bytearray, ...]: ...
def form(source: Any, /) -> object: ...
def count_usual(
    frames: list[Frame],
    start: int,
    forms: dict[bytes, Any],
    xid: int,
    position: int,
    end: int,
    settlers: list[Any],
    /,
) -> tuple[int, int]: ...
