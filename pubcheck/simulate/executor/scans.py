"""The rows of a relation that a statement sees, in the order of a sequential scan."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.tables import table_of
from pubcheck.simulate.executor.targets import members, refuse_row_security
from pubcheck.simulate.heap import Version
from pubcheck.simulate.not_followed import NotFollowed


def scan_relation(session: Backend, relation: Relation, *, inherited: bool = True) -> Iterator[Version]:
    """The visible rows of a table and of those below it, by the table's own column numbers."""
    if relation.oid < FIRST_NORMAL_OID:
        raise NotFollowed(f'the rows of "{relation.name}"')
    if relation.kind not in "rpm":
        raise NotFollowed(f'the rows of "{relation.name}", which is not a table')
    refuse_row_security(session, relation)
    snapshot = session.statement_snapshot()
    states, oldest = session.database.xids.states, session.oldest_xid()
    if relation.kind == "m":
        yield from filter(snapshot.sees, table_of(session, relation).storage.scan())
        return
    for table in list(members(session, relation, inherited=inherited)):
        numbers = conversion(relation, table.relation)
        virtual = table.virtual
        for version in table.storage.scan(states, oldest):
            if snapshot.sees(version):
                row = version if not virtual else table.with_virtual(version)
                yield row if numbers is None else convert(row, numbers)


def conversion(parent: Relation, child: Relation) -> list[tuple[int, int]] | None:
    """The parent's column numbers with those of a child's columns of the same names; None where all are the same."""
    pairs = []
    for column in parent.live():
        own = child.column(column.name)
        assert own is not None
        pairs.append((column.number, own.number))
    return None if all(number == other for number, other in pairs) else pairs


def convert(row: Version, numbers: list[tuple[int, int]]) -> Version:
    converted = Version({number: row[other] for number, other in numbers}, row.size, row.xmin, row.cmin)
    converted.base = row.base or row
    return converted
