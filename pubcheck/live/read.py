"""Read the catalogs of a server into a snapshot."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from pubcheck.live import queries
from pubcheck.live.connect import Connection
from pubcheck.live.document import FORMAT, AnyObject, Server, Snapshot, sorted_objects


def read_snapshot(connection: Connection, version: str) -> Snapshot:
    """Return the snapshot of the connection's database; ``version`` is that of pubcheck. Raises LiveError."""
    ((server,),) = connection.rows(queries.server(connection.major))
    return Snapshot(
        pubcheck_snapshot=FORMAT,
        pubcheck=version,
        server=msgspec.json.decode(server, type=Server),
        objects=sorted_objects(_objects(connection)),
    )


def _objects(connection: Connection) -> Iterator[AnyObject]:
    decode = msgspec.json.Decoder(AnyObject).decode
    for query in queries.OBJECTS:
        for (text,) in connection.rows(query(connection.major)):
            yield decode(text)
