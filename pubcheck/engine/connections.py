"""What psql's commands mean to a unit: the databases in which its statements run, and the files that it includes."""

from __future__ import annotations

import itertools
import posixpath
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pubcheck.config import Config
from pubcheck.engine.replay import Replay
from pubcheck.source import Source
from pubcheck.statement_index import StatementText

if TYPE_CHECKING:
    from pubcheck.lexing.psql import Connection
    from pubcheck.postgres.catalog.tables import At


class Databases:
    """The replays of each database, one per major, and the current database."""

    def __init__(self, replays: list[Replay], name: str) -> None:
        """``replays`` belong to the first database, ``name``."""
        self.replays = replays
        self.current = "", name
        """The server ("" for the first one) and the name of the database."""
        self.home = name
        """The database to which a client connects that names none."""
        self._left: dict[tuple[str, str], list[Replay]] = {}
        self._others_exist = False
        """Whether the server has other databases that are not in the unit."""

    def loaded(self, name: str) -> None:
        """Record that the catalogs of a running server's database of this name were loaded into the current one."""
        self.home, self.current, self._others_exist = name, (self.current[0], name), True

    def all_replays(self) -> Iterator[Replay]:
        """Return the replays of every database."""
        self._left[self.current] = self.replays
        return itertools.chain.from_iterable(self._left.values())

    def unfollowed(self, text: str | None) -> None:
        """Record that something ran that is not followed, so missing names may exist.

        ``text`` is the known part of it, None if nothing is known.
        """
        for replay in self.replays:
            replay.session.note_unknown_effect(text)

    def set_place(self, place: At, unknown: str) -> None:
        """Set the current place, and ``unknown``, the reason why findings that rest on it are assumed."""
        for replay in self.replays:
            replay.catalog.reasons.at, replay.catalog.reasons.text = place, unknown

    def connect(self, source: int, before: StatementText, connection: Connection) -> None:
        """Change to the database that psql's \\connect names.

        ``before`` is the statement before the command, in source number ``source``.
        """
        server, name = self.current
        database = server if connection.server is None else connection.server, connection.database or name
        if database != self.current:
            self._left.pop(self.current, None)
            self._left[self.current] = self.replays
            known = self._left.get(database, [])
            new_replays = known or [replay.another_database(database[1]) for replay in self.replays]
            neighbours = self.replays
            if database[0] != server:
                # Databases of one server share roles and settings: take them from the database that was last current
                # there.
                of_server = [replays for (where, _), replays in self._left.items() if where == database[0]]
                neighbours = of_server[-1] if of_server else new_replays
            for replay, new_replay, sharing in zip(self.replays, new_replays, neighbours, strict=True):
                if sharing is not new_replay:
                    new_replay.share(sharing)
                # A variable, the default name, or another server may be a database that was seen before.
                unknown = database[1].startswith(":") or name == Config().database or database[0] != server
                unseen = not known if self._others_exist else unknown and replay.catalog.holds_something()
                new_replay.session.blind = new_replay.session.blind or unseen
            self.current, self.replays = database, new_replays
        for replay in self.replays:
            replay.connect(before, source, connection.user)


# The files of a unit that scripts of psql include: each runs where it is first included.


def may_include(source: Source) -> bool:
    """Return whether a source may include others."""
    return "\\i" in source.text


def included_source(path: str, label: str, sources: Sequence[Source]) -> int | None:
    """Return the number of the source that is probably meant by a path in the script of that label; None if there is
    none.

    A path starts from the folder in which psql was started (\\i) or from the script's (\\ir): any folder above the
    script may be the first one. If that leads nowhere, the file's name alone decides.
    """
    path, folder = path.replace("\\", "/"), posixpath.dirname(label.replace("\\", "/"))
    numbers = {posixpath.normpath(source.label.replace("\\", "/")): number for number, source in enumerate(sources)}
    while True:
        number = numbers.get(posixpath.normpath(posixpath.join(folder, path)))
        if number is not None or folder in ("", "/"):
            break
        folder = posixpath.dirname(folder)
    if number is not None:
        return number
    name = posixpath.basename(path)
    return next((number for label, number in numbers.items() if posixpath.basename(label) == name), None)
