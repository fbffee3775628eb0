"""Read the catalogs of a server into a snapshot."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from pubcheck.live import queries
from pubcheck.live.connect import Connection
from pubcheck.live.document import FORMAT, Server, Snapshot, sorted_objects
from pubcheck.live.read_facts import read_facts
from pubcheck.live.records import AnyObject, Setting, Slot
from pubcheck.live.server_facts import Settings
from pubcheck.postgres.versions import BY_NUMBER


def read_snapshot(connection: Connection, version: str) -> Snapshot:
    """Return the snapshot of the connection's database; ``version`` is that of pubcheck. Raises LiveError."""
    ((server,),) = connection.rows(queries.server(connection.major))
    return Snapshot(
        pubcheck_snapshot=FORMAT,
        pubcheck=version,
        server=msgspec.json.decode(server, type=Server),
        objects=sorted_objects(_objects(connection)),
    )


def with_facts(connection: Connection, snapshot: Snapshot) -> Snapshot:
    """Return a snapshot with the facts of the server and the objects that they are about. Raises LiveError."""
    facts = read_facts(connection)
    settings = (Setting(name=name) for name in Settings.__struct_fields__)
    slots = (Slot(name=slot.name) for slot in facts.slots)
    return replace(snapshot, objects=sorted_objects((*snapshot.objects, *settings, *slots)), facts=facts)


def _objects(connection: Connection) -> Iterator[AnyObject]:
    decode = msgspec.json.Decoder(AnyObject).decode
    major = BY_NUMBER[connection.major]
    for query in queries.OBJECTS:
        for (text,) in connection.rows(query(major)):
            yield decode(text)
