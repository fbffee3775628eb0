"""What the module in C has to return for usual changes, in Python.

`python -m tests.verify.usual_in_python NUMBER [SEED]` compares both on changes of which most are damaged.
"""

from __future__ import annotations

import random
import sys
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from pubcheck.stream import UNCHANGED_TOAST, Delete, Insert, Row, Update, Value, encode, whole
from pubcheck.stream.framing.rows import Frame, Place
from pubcheck.verify.usual_changes import ColumnForm, Form, Settler, automaton_of
from tests.messages.in_python import decoder_in_python
from tests.messages.mutate import damaged

PATTERNS = (r"-?\d{1,3}", "[tf]", r"(?:ab|c[^c]){0,2}x?")
TEXTS = ("1", "-20", "300", "t", "f", "", "ab", "abcdx", "é", "a\0", "\udcff")
TWO_ROWS = (b"UK", b"UO")
HEADS = (b"IN", b"UN", b"UK", b"UO", b"DK", b"DO")
_decoder = decoder_in_python()


def accepts(automaton: bytes, text: str) -> bool:
    """Walk along an automaton as `automaton_of` describes it."""
    classes, places = automaton[:256], array("H", automaton[256:])
    place = max(classes) + 1
    for byte in text.encode("utf-8", "surrogateescape"):
        place = places[place + classes[byte]] if place else 0
    return place != 0 and places[place] != 0


def _letter(value: Value) -> str:
    if isinstance(value, str):
        return "t"
    return "n" if value is None else "u" if value is UNCHANGED_TOAST else "b"


def _is_accepted(column: ColumnForm, value: Value) -> bool:
    if not isinstance(value, str) or (column.automaton is None and column.others is None):
        return True
    return column.automaton is not None and accepts(column.automaton, value)


def _is_usual_row(columns: Sequence[ColumnForm], row: Row) -> bool:
    return len(columns) == len(row) and all(
        _letter(value) in column.letters and (column.others is not None or _is_accepted(column, value))
        for column, value in zip(columns, row, strict=True)
    )


def _usual_rows(data: bytes, form: Form) -> Sequence[Row] | None:
    message = _decoder.peek(data)
    if not isinstance(message, Insert | Update | Delete):
        return None
    old, new = getattr(message, "old", None), getattr(message, "new", None)
    rows = [row for row in (old, new) if row is not None]
    if len(rows) != len(form) or not all(
        _is_usual_row(columns, row) for (columns, _), row in zip(form, rows, strict=True)
    ):
        return None
    return None if data[5:6] == b"K" and len(rows) > 1 and _has_same_key(*rows) else rows


def _has_same_key(old: Row, new: Row) -> bool:
    """Texts in an old row of a key are those of the key."""
    return all(before == after for before, after in zip(old, new, strict=False) if isinstance(before, str))


def _append(form: Form, rows: Sequence[Row], settlers: list[Settler]) -> None:
    for (columns, settler), row in zip(form, rows, strict=True):
        for column, value in zip(columns, row, strict=True):
            takers: list[list[Value] | list[str] | None] = [column.values]
            takers += [] if _is_accepted(column, value) else [column.others]
            for taker in takers:
                if taker is not None:
                    settlers += [] if taker else [settler]
                    taker.append(value)  # type: ignore[arg-type]


def count_usual(
    frames: Sequence[Frame],
    start: int,
    forms: Mapping[bytes, Form],
    xid: int,
    position: int,
    end: int,
    settlers: list[Settler],
) -> tuple[int, int]:
    """Return how many changes at the start of some frames have their forms, and the position of the last."""
    count = 0
    for lsn, frame_xid, data, _ in frames[start:]:
        form = forms.get(data[:6])
        rows = None if form is None else _usual_rows(data, form)
        if form is None or rows is None or (frame_xid and frame_xid != xid) or (lsn and not position <= lsn < end):
            break
        _append(form, rows, settlers)
        position, count = lsn or position, count + 1
    return count, position


def compare(number: int, seed: int) -> Counter[int]:
    """Count changes with both, and return how often they counted how many."""
    assert whole.COMPILED is not None
    read, count_in_c = whole.COMPILED.form, whole.COMPILED.count_usual
    chance, counts = random.Random(seed), Counter[int]()
    for _ in range(number):
        forms = _forms(chance)
        in_c = {head: read(form) for head, form in forms.items()}
        frames = [_frame(chance) for _ in range(chance.randrange(8))]
        place, window = chance.randrange(3), (chance.choice((0, 7)), chance.choice((0, 16)), chance.choice((19, 99)))
        settlers: tuple[list[Settler], list[Settler]] = [], []
        result = count_in_c(frames, place, in_c, *window, settlers[0])
        taken = _taken(forms)
        assert result == count_usual(frames, place, forms, *window, settlers[1]), (forms, frames)
        assert taken == _taken(forms), (forms, frames)
        assert list(map(id, settlers[0])) == list(map(id, settlers[1])), (forms, frames)
        counts[result[0]] += 1
    return counts


def _taken(forms: Mapping[bytes, Form]) -> list[list[Value]]:
    """Return what the lists took, and empty them."""
    columns = [column for form in forms.values() for columns, _ in form for column in columns]
    lists = [taker for column in columns for taker in (column.others, column.values) if taker is not None]
    taken = [[*taker] for taker in lists]
    for taker in lists:
        taker.clear()
    return taken


def _forms(chance: random.Random) -> Mapping[bytes, Form]:
    """Return forms of changes of the relation 1 with two columns."""
    return {
        head[:1] + b"\0\0\0\1" + head[1:]: tuple(
            ((_column(chance), _column(chance)), Settler((), (), None)) for _ in range(2 if head in TWO_ROWS else 1)
        )
        for head in HEADS
        if chance.random() < 0.9
    }


def _column(chance: random.Random) -> ColumnForm:
    values: list[Value] | None = [] if chance.random() < 0.2 else None
    letters = "tn" if values is not None or chance.random() < 0.7 else chance.choice(("t", "n", "tnu", "u", ""))
    automaton = automaton_of(chance.choice(PATTERNS)) if chance.random() < 0.3 else None
    return ColumnForm(letters, automaton, [] if chance.random() < 0.3 else None, values)


def _frame(chance: random.Random) -> Frame:
    old, new = (tuple(_value(chance) for _ in range(2 if chance.random() < 0.95 else 3)) for _ in range(2))
    kind: Literal["K", "O"] = chance.choice(("K", "O"))
    messages = (Insert(1, new), Update(1, new), Update(1, new, old, kind), Delete(1, old, kind))
    data = encode(chance.choice(messages))
    if chance.random() < 0.1:
        data = damaged(data, chance, data)
    return Frame(chance.choice((None, 0, 17, 18, 18, 19, 21)), chance.choice((None, 0, 7, 7, 7)), data, Place(1))


def _value(chance: random.Random) -> Value:
    return chance.choice(TEXTS) if chance.random() < 0.8 else chance.choice((None, None, UNCHANGED_TOAST, b"1"))


if __name__ == "__main__":
    for count, total in sorted(compare(int(sys.argv[1]), int((sys.argv[2:] or ["0"])[0])).items()):
        print(f"{total:9,} x {count} usual changes")
