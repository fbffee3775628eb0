"""Filters and their canonical forms, asked of a server over random rows: both must select the same."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from msgspec import Struct

from pubcheck.measure.canonical import canonical
from tests.differential.evaluation.filters import Maker
from tests.differential.evaluation.rows import make_row
from tests.differential.evaluation.run import FILTERS, ROWS, Run, Said


class Unequal(Struct, frozen=True):
    """A row that one of the two selects, or a form that the server does not take."""

    filter: str
    form: str
    row: dict[str, str | None]
    filtered: Said
    formed: Said


class Forms(Struct):
    """Counts of filters. ``errors`` are those of which a row fails in one form and not, or otherwise, in the other:
    the server promises no order of evaluation."""

    filters: int = 0
    rewritten: int = 0
    """Those whose form is another text."""
    without: int = 0
    """Those that sqlglot does not read."""
    errors: int = 0
    unequal: list[Unequal] = []


def compare(run: Run, batches: int, first: int = 0) -> Forms:
    """Batches of filters and rows of a run's seed."""
    forms = Forms()
    for number in range(first, first + batches):
        random = Random(f"{run.seed}/forms/{number}")
        rows = [make_row(random, run.columns) for _ in range(ROWS)]
        run.insert(rows)
        filters = _filters(run, random, number)
        for text in filters:
            if run.evaluator.analysed(text) is not None:
                _judge(run, forms, text, rows)
    return forms


def _filters(run: Run, random: Random, number: int) -> Iterator[str]:
    """Those of the evaluation, and of each two joined, which is what there is to rewrite."""
    if run.wide:
        yield from run.filters(random, number)
        return
    maker = Maker(random)
    for _ in range(FILTERS // 2):
        first, second, third = (maker.condition(random.randint(0, 1)) for _ in range(3))
        yield random.choice(
            (
                f"{first} AND ({second} OR NOT {third})",
                f"NOT ({first} OR {second}) AND {third}",
                f"({first} AND {second}) OR ({first} AND {third})",
                f"{first} OR NOT ({second} AND {third}) OR {first}",
                f"({first}) IS NOT TRUE AND {second}",
                f"NOT (NOT ({first}) AND NOT ({second}))",
            )
        )
        yield first


def _judge(run: Run, forms: Forms, text: str, rows: list[dict[str, str | None]]) -> None:
    form = canonical(text)
    forms.filters += 1
    if form is None:
        forms.without += 1
        return
    if form == text:
        return
    forms.rewritten += 1
    try:
        theirs, ours = run.asked(text), run.asked(form)
    except UnicodeDecodeError:
        return  # a message that holds half a character
    for row, answer, other in zip(rows, theirs, ours, strict=True):
        if isinstance(answer, tuple) and isinstance(other, tuple):
            continue
        if isinstance(answer, tuple) or isinstance(other, tuple):
            refused = isinstance(other, tuple) and other[0].startswith("42")
            if not refused:
                forms.errors += 1
                return
        if (answer is True) != (other is True):
            forms.unequal.append(Unequal(text, form, row, answer, other))
            return
