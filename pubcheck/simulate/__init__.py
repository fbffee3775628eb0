"""A PostgreSQL server in memory: it runs a schema and a script, and its slots give what logical decoding would send.

``executor`` runs statements over rows and appends to the log; ``decoding`` reads the log as a server's slot does and
drives an output plugin.

>>> from pubcheck.simulate import Database
>>> database = Database(18, "CREATE TABLE t (id int); CREATE PUBLICATION p FOR TABLE t")
>>> slot = database.slot("pgoutput")
>>> database.session().run("INSERT INTO t VALUES (1)")
>>> for lsn, xid, data in slot.peek(proto_version="1", publication_names="p"):
...     print(data.hex())
"""

from __future__ import annotations

from pubcheck.postgres.errors import ServerError as ServerError
from pubcheck.simulate.database import Database as Database
from pubcheck.simulate.decoding.output_plugin import OutputPlugin as OutputPlugin
from pubcheck.simulate.decoding.slot import Slot as Slot
from pubcheck.simulate.not_followed import NotFollowed as NotFollowed
from pubcheck.simulate.server_state import UNCHANGED as UNCHANGED
