"""The order in which the server meets the causes for which it refuses a write.

RelationBuildPublicationDesc (relcache.c) looks at the publications of a table in turn and notes which checks fail;
CheckCmdReplicaIdentity (execReplication.c) reports the first of these checks. When the cause of that is gone, the next
one comes to light. A missing replica identity is only looked for where all checks pass.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain, product

from pubcheck.checks.write.identity_causes import COLUMN_LIST, GENERATED, NO_IDENTITY, WRITES, Cause, Write
from pubcheck.postgres.catalog.rows import Publication

_ACTIONS = ("insert", "update", "delete", "truncate")
_CHECKED = range(NO_IDENTITY)

_MOST = 1000
"""The number of failing publications up to which each one that overwrites another's result is followed."""


class Line:
    """The causes of one table. ``publications`` in the server's order, with the ``causes`` of each."""

    def __init__(
        self, publications: Sequence[Publication], causes: Sequence[tuple[Cause, ...]], *, overwrites: bool
    ) -> None:
        """``overwrites``: whether a publication whose column list or generated columns fail decides alone which of the
        two the server reports, so that the last one wins (18 and later)."""
        self._publications, self._causes = publications, causes
        self._all_published = _all_published(publications)
        checks = {cause.check for cause in chain.from_iterable(causes)}
        at_fault = sum(map(bool, causes))
        self._overwrites = overwrites and checks.issuperset((COLUMN_LIST, GENERATED)) and at_fault <= _MOST

    def of(self, write: Write) -> Iterator[Cause]:
        """The causes of one write in the order in which the server meets them."""
        by_check = self._overwriting(write) if self._overwrites else self._in_turn(write)
        for number, check in by_check:
            yield next(cause for cause in self._causes[number] if cause.check == check)
        for publication, causes in zip(self._publications, self._causes, strict=True):
            if getattr(publication, write):
                yield from (cause for cause in causes if cause.check == NO_IDENTITY)

    def _waiting(self) -> dict[tuple[Write, int], deque[int]]:
        """Return the publications for which each check fails, by write and check."""
        keys = product(WRITES, _CHECKED)
        waiting: dict[tuple[Write, int], deque[int]] = {key: deque() for key in keys}
        for number, causes in enumerate(self._causes):
            for cause in causes:
                for write in WRITES:
                    if cause.check != NO_IDENTITY and getattr(cause.publication, write):
                        waiting[write, cause.check].append(number)
        return waiting

    def _in_turn(self, write: Write) -> Iterator[tuple[int, int]]:
        """The server looks no further once all four operations are published and one check has failed for both writes:
        what fails in a later publication is then not found, though its check would be reported first."""
        waiting, gone = self._waiting(), set[tuple[int, int]]()
        end = len(self._causes)
        while True:
            for (_, check), numbers in waiting.items():
                while numbers and (numbers[0], check) in gone:
                    numbers.popleft()
            first = {key: numbers[0] if numbers else end for key, numbers in waiting.items()}
            last = min(max(first["update", check], first["delete", check], self._all_published) for check in _CHECKED)
            check_name = next((check for check in _CHECKED if first[write, check] <= min(last, end - 1)), None)
            if check_name is None:
                return
            gone.add((first[write, check_name], check_name))
            yield first[write, check_name], check_name

    def _overwriting(self, write: Write) -> Iterator[tuple[int, int]]:
        """Like ``_in_turn``, but a failing column list or generated column replaces the earlier ones."""
        checks_of = ({cause.check for cause in causes}.intersection(_CHECKED) for causes in self._causes)
        failing = {number: checks for number, checks in enumerate(checks_of) if checks}
        while (reported := self._reported(failing, write)) is not None:
            number = next(
                number
                for number, checks in failing.items()
                if reported in checks and getattr(self._publications[number], write)
            )
            yield number, reported
            failing[number].discard(reported)
            if not failing[number]:
                del failing[number]

    def _reported(self, failing: dict[int, set[int]], write: Write) -> int | None:
        """The check whose failure is reported for a write."""
        noted: dict[Write, set[int]] = {operation: set() for operation in WRITES}
        for number, checks in failing.items():
            if number > self._all_published and noted["update"] & noted["delete"]:
                break
            for operation in WRITES:
                if getattr(self._publications[number], operation):
                    checks_seen = noted[operation] & {0} if checks - {0} else noted[operation]
                    noted[operation] = checks_seen | checks
            if number >= self._all_published and noted["update"] & noted["delete"]:
                break
        return min(noted[write], default=None)


def _all_published(publications: Sequence[Publication]) -> int:
    """The publication with which all four operations are published; the number of publications where none is."""
    published: set[str] = set()
    for number, publication in enumerate(publications):
        published.update(action for action in _ACTIONS if getattr(publication, action))
        if len(published) == len(_ACTIONS):
            return number
    return len(publications)
