"""Example rows of a filter: the result of an UPDATE by whether its old and new row match (pgoutput_row_filter)."""

from __future__ import annotations

from msgspec import Struct

from pubcheck.explain.document import Change, Example, Outcome, Row


class Samples(Struct, frozen=True):
    """Rows for which a filter is true, false, null, or fails with an error. Rows that differ least from rows of another
    kind come first.

    ``why``: why no matching row, or no other row, was found.
    """

    true: tuple[Row, ...] = ()
    false: tuple[Row, ...] = ()
    null: tuple[Row, ...] = ()
    errors: tuple[tuple[Row, str], ...] = ()
    why: str | None = None


_SENT: dict[tuple[bool, bool], Outcome] = {
    (False, False): "nothing",
    (False, True): "INSERT",
    (True, False): "DELETE",
    (True, True): "UPDATE",
}


def changes_of(samples: Samples) -> tuple[Change, ...]:
    """Return the table of old and new rows, as far as rows were found."""
    changes = []
    for (old, new), sent in _SENT.items():
        before = _pick(samples, old, 0)
        after = _pick(samples, new, 1 if old == new else 0)
        why = None
        if before is None or after is None:
            why = samples.why or "no such row was found"
        elif before == after:
            why = "another column changes"
        changes.append(Change(old, new, sent, before, after, why))
    return tuple(changes)


def _pick(samples: Samples, matches: bool, index: int) -> Row | None:
    """Return the row of a kind at ``index``, or the last one. NULL is not a match."""
    rows = samples.true if matches else samples.false + samples.null
    return rows[min(index, len(rows) - 1)] if rows else None


def examples_of(samples: Samples) -> tuple[Example, ...]:
    """Return one row of each kind."""
    examples = [Example(row, "true") for row in samples.true[:1]]
    examples += [Example(row, "false") for row in samples.false[:1]]
    examples += [Example(row, "null") for row in samples.null[:1]]
    examples += [Example(row, "error", error) for row, error in samples.errors[:1]]
    return tuple(examples)
