"""The rows of a snapshot as rows of the catalog, one module for each subject."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pubcheck.live import document as doc
from pubcheck.live import records
from pubcheck.live.loading.expressions import Expressions
from pubcheck.live.loading.references import References
from pubcheck.postgres.catalog import EXTENSION, NAMESPACE, NORMAL, OTHER, PROC, SUPERUSER, Object
from pubcheck.postgres.catalog.rows import OtherObject, Place
from pubcheck.postgres.session import Session


class Loading:
    """A snapshot on its way into the catalog of a session. ``source`` is its number among the unit's sources; the
    object on each line is the statement of that number. ``checked``: a name that leads nowhere is an error."""

    def __init__(self, session: Session, snapshot: doc.Snapshot, source: int, *, checked: bool = False) -> None:
        self.session, self.catalog = session, session.catalog
        self.snapshot, self.source = snapshot, source
        self.refs = References(session, snapshot.objects, checked=checked)
        self.expressions = Expressions()
        self.number = 0
        """The number of the object that is being loaded."""

    def objects(self) -> Iterator[tuple[int, records.AnyObject]]:
        """Yield the objects with their numbers, each while it is being loaded."""
        for number, row in enumerate(self.snapshot.objects):
            self.number = number
            yield number, row

    def place(self, number: int) -> Place:
        """Return the place of the object of that number."""
        return Place(self.source, number, 0, 0)

    def enter(self, kind: str, row: records.InSchema) -> int:
        """Let an object depend on its schema and its extension, and return the schema."""
        namespace = self.refs.schemas[row.schema]
        self.catalog.depend((kind, row.oid, 0), (NAMESPACE, namespace, 0), NORMAL)
        if row.extension:
            self.catalog.depend((kind, row.oid, 0), (OTHER, self.refs.extensions[row.extension], 0), EXTENSION)
        return namespace

    def add_other(
        self, row: records.SnapshotObject, kind: str, namespace: int, owner: str = "", **fields: object
    ) -> Object:
        """Add an object that needs only a name, and return its address."""
        role = self.refs.role(owner) if owner else SUPERUSER
        self.catalog.add_other(OtherObject(row.oid, kind, row.name, namespace, role, **fields))  # type: ignore[arg-type]
        return OTHER, row.oid, 0

    def depend_on(self, dependent: Object, names: Iterable[str]) -> None:
        """Let an object depend on relations, columns and functions, which are named as ``uses`` has them."""
        for name in names:
            used = self.refs.used(name)
            if used is not None:
                self.catalog.depend(dependent, used, NORMAL)

    def calls(self, dependent: Object, function: str) -> int:
        """Let an object depend on a function, and return its oid."""
        oid = self.refs.function(function)
        self.catalog.depend(dependent, (PROC, oid, 0), NORMAL)
        return oid
