"""Whether a captured stream conforms to a schema and its publications.

>>> from pubcheck.stream import read
>>> from pubcheck.verify import publisher_of, verify
>>> for finding in verify(publisher_of(schema_sql, ["eu"]), read("stream.txt")):
...     print(finding.rule, finding.number, finding.message)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.postgres.versions import DEFAULT_MAJOR
from pubcheck.source import Source
from pubcheck.stream.framing.rows import Frame
from pubcheck.verify.options import Options as Options
from pubcheck.verify.publisher import Publisher as Publisher
from pubcheck.verify.publisher import State as State
from pubcheck.verify.verifier import Checks as Checks
from pubcheck.verify.verifier import StreamFinding as StreamFinding
from pubcheck.verify.verifier import Verifier as Verifier


def publisher_of(schema: str, publications: Sequence[str], major: int = DEFAULT_MAJOR) -> Publisher:
    """Return the publisher that a schema creates. ``publications`` are the names that the stream was requested with."""
    followed = Linter(Config(postgres=(major,))).follow(Unit((Source("schema.sql", schema),)))
    return Publisher([State(followed.replays[-1].session, tuple(publications))])


def verify(
    publisher: Publisher,
    frames: Iterable[Frame],
    options: Options = Options(),
    locale: str | None = None,
) -> Iterator[StreamFinding]:
    """Yield the findings about a stream, in its order.

    ``options`` are those that the stream was requested with, as far as they are known. ``locale`` is the database's
    collation, such as "C.UTF-8"; without it, row filters that depend on it are not evaluated. The memory in use does
    not depend on the length of the stream, except for streamed transactions that have not ended.
    """
    verifier = Verifier(publisher, options, locale)
    yield from verifier.check_many(frames)
    yield from verifier.end()
