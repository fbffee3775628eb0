"""Example rows of a filter: what becomes of an UPDATE whose old and new row match or do not (pgoutput_row_filter)."""

from __future__ import annotations

from msgspec import Struct

from pubcheck.explain.document import Change, Example, Outcome, Row


class Samples(Struct, frozen=True):
    """Rows for which a filter is true, false, null, or fails with an error, those first that differ least from rows
    of another kind. ``why``: why one that matches, or that does not, is not among them."""

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
    """The old/new-row table, filled in as far as rows were found."""
    made = []
    for (old, new), sent in _SENT.items():
        before = _pick(samples, old, 0)
        after = _pick(samples, new, 1 if old == new else 0)
        why = None
        if before is None or after is None:
            why = samples.why or "no such row was found"
        elif before == after:
            why = "another column changes"
        made.append(Change(old, new, sent, before, after, why))
    return tuple(made)


def _pick(samples: Samples, matches: bool, at: int) -> Row | None:
    """The ``at``-th row of a kind, or the last there is; NULL is not a match."""
    rows = samples.true if matches else samples.false + samples.null
    return rows[min(at, len(rows) - 1)] if rows else None


def examples_of(samples: Samples) -> tuple[Example, ...]:
    """One row of each kind."""
    made = [Example(row, "true") for row in samples.true[:1]]
    made += [Example(row, "false") for row in samples.false[:1]]
    made += [Example(row, "null") for row in samples.null[:1]]
    made += [Example(row, "error", error) for row, error in samples.errors[:1]]
    return tuple(made)
