"""A database whose log the tests write by hand, and a plugin that notes its callbacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pubcheck.simulate.database import Database
from pubcheck.simulate.decoding.output_plugin import CALLBACKS, OutputPlugin
from pubcheck.simulate.server_state import Abort, Commit, LogicalMessage, Prepare, RowChange, Truncation, Tuple

TABLE = "CREATE TABLE t (id int PRIMARY KEY, v text)"


class HandWritten:
    """Appends records to the log of a database with the table ``t``."""

    def __init__(self, major: int = 18) -> None:
        self.database = Database(major, [TABLE])
        catalog = self.database.catalog
        self.table = next(oid for oid, row in catalog.relations.items() if row.name == "t")
        self._version = self.database.version()

    def insert(self, key: int, xid: int, top: int = 0, size: int = 50, **fields: Any) -> None:
        row = Tuple({1: key, 2: "v"}, size)
        fields = {"operation": "insert", "relation": self.table, "version": self._version, "new": row, **fields}
        self.database.append(RowChange, 40, xid=xid, top=top or xid, **fields)

    def many(self, count: int, xid: int, top: int = 0) -> None:
        """Insert rows of 1000 bytes: 60 of them are more than the least logical_decoding_work_mem."""
        for key in range(count):
            self.insert(key, xid, top, size=1000)

    def truncate(self, xid: int) -> None:
        self.database.append(
            Truncation,
            20,
            xid=xid,
            top=xid,
            relations=(self.table,),
            cascade=False,
            restart_identity=False,
            version=self._version,
        )

    def message(self, xid: int, transactional: bool = True) -> None:
        self.database.append(
            LogicalMessage,
            20,
            xid=xid,
            top=xid,
            transactional=transactional,
            prefix="p",
            content=b"hello",
            version=self._version,
        )

    def commit(self, xid: int, subtransactions: tuple[int, ...] = (), gid: str | None = None, origin: int = 0) -> None:
        self.database.append(
            Commit, 20, xid=xid, top=xid, time=1000 + xid, subtransactions=subtransactions, gid=gid, origin=origin
        )

    def abort(self, xid: int, top: int = 0, subtransactions: tuple[int, ...] = (), gid: str | None = None) -> None:
        self.database.append(
            Abort, 20, xid=xid, top=top or xid, time=1000 + xid, subtransactions=subtransactions, gid=gid
        )

    def prepare(self, xid: int, gid: str) -> None:
        self.database.append(Prepare, 20, xid=xid, top=xid, time=1000 + xid, gid=gid)


def noting(calls: list[str], without: Sequence[str] = (), **answers: Any) -> type[OutputPlugin]:
    """A plugin with all callbacks but some, which appends each call to a list. ``answers`` are what filters return."""

    def callback(name: str) -> Callable[..., Any]:
        def called(self: OutputPlugin, ctx: Any, *arguments: Any) -> Any:
            calls.append(" ".join([name, *filter(None, map(_shown, arguments))]))
            return answers.get(name)

        return called

    members = {name: callback(name) for name in CALLBACKS if name not in without}
    return type("Noting", (OutputPlugin,), members)


def _shown(argument: object) -> str:
    if hasattr(argument, "final_lsn"):
        return f"xid={argument.xid}"  # type: ignore[attr-defined]
    if hasattr(argument, "action"):
        return f"{argument.action} {dict((argument.new or argument.old).values)}"  # type: ignore[attr-defined]
    if hasattr(argument, "columns"):
        return f"{argument.namespace}.{argument.name}"  # type: ignore[attr-defined]
    if isinstance(argument, list):
        return " ".join(map(_shown, argument))
    return repr(argument) if isinstance(argument, str | bytes) else ""
