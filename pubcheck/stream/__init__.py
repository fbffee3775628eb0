"""Logical replication messages, as pgoutput sends them: decode and encode versions 1 to 4 of the protocol.

>>> from pubcheck.stream import Decoder, encode
>>> decoder = Decoder()
>>> message = decoder.decode(bytes.fromhex("490000400a4e0001740000000131"))
>>> message
Insert(relation=16394, new=('1',), xid=None)
>>> encode(message).hex()
'490000400a4e0001740000000131'
"""

from __future__ import annotations

from pubcheck.stream.decode import Decoder as Decoder
from pubcheck.stream.encode import encode as encode
from pubcheck.stream.fields import Field as Field
from pubcheck.stream.fields import fields as fields
from pubcheck.stream.framing import FRAMINGS as FRAMINGS
from pubcheck.stream.framing import read as read
from pubcheck.stream.framing.rows import Frame as Frame
from pubcheck.stream.framing.rows import FramingError as FramingError
from pubcheck.stream.framing.rows import Place as Place
from pubcheck.stream.lsn import format_lsn as format_lsn
from pubcheck.stream.lsn import format_time as format_time
from pubcheck.stream.lsn import parse_lsn as parse_lsn
from pubcheck.stream.messages import UNCHANGED_TOAST as UNCHANGED_TOAST
from pubcheck.stream.messages import AnyMessage as AnyMessage
from pubcheck.stream.messages import Begin as Begin
from pubcheck.stream.messages import BeginPrepare as BeginPrepare
from pubcheck.stream.messages import Column as Column
from pubcheck.stream.messages import Commit as Commit
from pubcheck.stream.messages import CommitPrepared as CommitPrepared
from pubcheck.stream.messages import Delete as Delete
from pubcheck.stream.messages import Insert as Insert
from pubcheck.stream.messages import Malformed as Malformed
from pubcheck.stream.messages import Message as Message
from pubcheck.stream.messages import Origin as Origin
from pubcheck.stream.messages import Prepare as Prepare
from pubcheck.stream.messages import Relation as Relation
from pubcheck.stream.messages import RollbackPrepared as RollbackPrepared
from pubcheck.stream.messages import Row as Row
from pubcheck.stream.messages import StreamAbort as StreamAbort
from pubcheck.stream.messages import StreamCommit as StreamCommit
from pubcheck.stream.messages import StreamPrepare as StreamPrepare
from pubcheck.stream.messages import StreamStart as StreamStart
from pubcheck.stream.messages import StreamStop as StreamStop
from pubcheck.stream.messages import Truncate as Truncate
from pubcheck.stream.messages import Type as Type
from pubcheck.stream.messages import UnchangedToast as UnchangedToast
from pubcheck.stream.messages import Update as Update
from pubcheck.stream.messages import Value as Value
