"""Sets of answers that a condition may give, as bits, and conditions over variables whose value may still be open."""

from __future__ import annotations

from collections.abc import Callable, Sequence

TRUE, FALSE, NULL, ERROR = 1, 2, 4, 8
"""The answers of three-valued logic, and that of a condition that fails."""
ANY = 15
NOT_TRUE = FALSE | NULL | ERROR
_ANSWERS = (TRUE, FALSE, NULL, ERROR)

Assignment = list[int]
"""The cell of each variable by its number; the last one of a table of answers, -1, while it is open."""
Condition = Callable[[Assignment], int]


def _both(left: int, right: int, ending: int) -> int:
    """Return the answer of AND (``ending`` is FALSE) or OR (TRUE), whose operands are evaluated from left to right."""
    if left in (ERROR, ending):
        return left
    if right in (ERROR, ending):
        return right
    return NULL if NULL in (left, right) else left


def _table(ending: int) -> list[int]:
    table = []
    for left in range(16):
        for right in range(16):
            answers = 0
            for first in _ANSWERS:
                for second in _ANSWERS:
                    if left & first and right & second:
                        answers |= _both(first, second, ending)
            table.append(answers)
    return table


_AND, _OR = _table(FALSE), _table(TRUE)
_NOT = [mask & ~3 | (mask & 1) << 1 | (mask & 2) >> 1 for mask in range(16)]


def all_of(parts: Sequence[Condition]) -> Condition:
    return _chain(parts, _AND, TRUE, FALSE)


def any_of(parts: Sequence[Condition]) -> Condition:
    return _chain(parts, _OR, FALSE, TRUE)


def _chain(parts: Sequence[Condition], table: list[int], start: int, ending: int) -> Condition:
    if len(parts) == 1:
        return parts[0]
    if len(parts) == 2:
        first, second = parts
        return lambda assignment: table[first(assignment) << 4 | second(assignment)]

    def run(assignment: Assignment) -> int:
        answers = start
        for part in parts:
            answers = table[answers << 4 | part(assignment)]
            if answers == ending:
                break
        return answers

    return run


def negated(part: Condition) -> Condition:
    return lambda assignment: _NOT[part(assignment)]


def mapped(part: Condition, answers: Sequence[int]) -> Condition:
    """Return a condition that gives ``answers``, one for each of TRUE, FALSE and NULL of another; an error stays."""
    table = [
        sum({answer for bit, answer in zip(_ANSWERS, (*answers, ERROR), strict=True) if mask & bit})
        for mask in range(16)
    ]
    return lambda assignment: table[part(assignment)]


def first_that_holds(branches: Sequence[tuple[Condition, Condition]], otherwise: Condition) -> Condition:
    """Return CASE: the answer of the first branch whose condition is TRUE."""

    def run(assignment: Assignment) -> int:
        answers = 0
        for condition, result in branches:
            holds = condition(assignment)
            if not holds:
                return 0
            answers |= holds & ERROR
            if holds & TRUE:
                answers |= result(assignment)
            if not holds & (FALSE | NULL):
                return answers
        return answers | otherwise(assignment)

    return run


def constant(answer: int) -> Condition:
    return lambda assignment: answer


def looked_up(numbers: Sequence[int], table: Sequence[object]) -> Condition:
    """Return a condition whose answers stand in a table by the cells of its variables; see ``Assignment``."""
    if len(numbers) == 1:
        (only,) = numbers
        masks: Sequence[int] = table  # type: ignore[assignment]
        return lambda assignment: masks[assignment[only]]
    if len(numbers) == 2:
        first, second = numbers
        rows: Sequence[Sequence[int]] = table  # type: ignore[assignment]
        return lambda assignment: rows[assignment[first]][assignment[second]]

    def run(assignment: Assignment) -> int:
        level: object = table
        for number in numbers:
            level = level[assignment[number]]  # type: ignore[index]
        return level  # type: ignore[return-value]

    return run
