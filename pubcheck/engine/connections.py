"""The databases that the statements of a unit work in: one, unless psql is told to connect to others."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pubcheck.config import Config
from pubcheck.engine.replay import Replay
from pubcheck.statement_index import StatementText

if TYPE_CHECKING:
    from pubcheck.lexing.psql import Connection
    from pubcheck.postgres.catalog.reasons import At


class Databases:
    """One fold a major for each database, and which of them is at hand."""

    def __init__(self, folds: list[Replay], name: str) -> None:
        """``folds`` are those of the database that everything begins with, which is called ``name``."""
        self.folds = folds
        self.at_hand = "", name
        """The server ("" for that which everything begins with) and the name of the database."""
        self._left: dict[tuple[str, str], list[Replay]] = {}

    def all(self) -> Iterator[Replay]:
        """The folds of every database."""
        self._left[self.at_hand] = self.folds
        return itertools.chain.from_iterable(self._left.values())

    def unfollowed(self, text: str | None) -> None:
        """What was run is not followed: missing names may exist; ``text`` is what is known of it, None for nothing."""
        for fold in self.folds:
            fold.session.note_unknown_effect(text)

    def at(self, place: At, unknown: str) -> None:
        """A statement is at hand, or something else, of which something is ``unknown``: for what is said of doubts that
        it brings."""
        for fold in self.folds:
            fold.catalog.reasons.at, fold.catalog.reasons.text = place, unknown

    def connect(self, source: int, before: StatementText, wanted: Connection) -> None:
        """psql's \\connect: the database that it names is at hand from here on; ``before`` it stood, in that source."""
        server, name = self.at_hand
        database = server if wanted.server is None else wanted.server, wanted.database or name
        if database != self.at_hand:
            self._left.pop(self.at_hand, None)
            self._left[self.at_hand] = self.folds
            others = self._left.get(database) or [fold.in_other_database(database[1]) for fold in self.folds]
            beside = self.folds
            if database[0] != server:
                # What databases of a server share is that of the one that was there last.
                of_server = [folds for (where, _), folds in self._left.items() if where == database[0]]
                beside = of_server[-1] if of_server else others
            for fold, other, sharing in zip(self.folds, others, beside, strict=True):
                if sharing is not other:
                    other.share(sharing)
                # A variable, the first name that is said, or another server may be what was met before.
                unknown = database[1].startswith(":") or name == Config().database or database[0] != server
                other.session.blind = other.session.blind or (unknown and fold.catalog.holds_something())
            self.at_hand, self.folds = database, others
        for fold in self.folds:
            fold.connect(before, source, wanted.user)
