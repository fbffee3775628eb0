"""DROP of objects and everything that depends on them (catalog/dependency.c).

Sub-objects are columns, as in pg_depend: objects that depend on column 2 of a table are visited when column 2 or the
whole table is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from pubcheck.postgres.catalog import (
    AUTO,
    CONSTRAINT,
    DEFAULT,
    EXTENSION,
    FIRST_NORMAL_OID,
    FIRST_UNPINNED,
    INTERNAL,
    NAMESPACE,
    NORMAL,
    OTHER,
    PARTITION,
    PROC,
    PUBLIC,
    PUBLICATION_EXCLUSION,
    PUBLICATION_REL,
    RELATION,
    TEMPORARY,
    TYPE,
    Object,
)
from pubcheck.postgres.ddl.object_descriptions import column_of_default, describe
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.session import Session

MAX_REPORTED = 100
"""MAX_REPORTED_DEPS: so many dependents are named to the client."""

# DEPFLAG_*: how an object was reached.
_ORIGINAL, _NORMAL, _AUTO, _INTERNAL, _PARTITION, _EXTENSION, _REVERSE, _IS_PART, _SUBOBJECT = (
    1 << bit for bit in range(9)
)
_FLAG_OF = {NORMAL: _NORMAL, AUTO: _AUTO, INTERNAL: _INTERNAL, PARTITION: _PARTITION, EXTENSION: _EXTENSION}
_WITHOUT_ASKING = _AUTO | _INTERNAL | _PARTITION | _EXTENSION

_IN_SCHEMA = "rpvmfS"
"""relkinds that depend on their schema themselves; indexes and composite types' relations do through another object."""


class _Entry:
    """An object on its way to deletion: how it was reached, and from where."""

    __slots__ = ("dependee", "flags", "target")

    def __init__(self, target: Object, flags: int, dependee: Object | None = None) -> None:
        self.target = target
        self.flags = flags
        self.dependee = dependee


class _Known:
    """Entries by whole object; answers object_address_present_add_flags and stack_address_present_add_flags."""

    __slots__ = ("entries",)

    def __init__(self) -> None:
        self.entries: dict[tuple[str, int], list[_Entry]] = {}

    def add(self, entry: _Entry) -> None:
        self.entries.setdefault(entry.target[:2], []).append(entry)

    def discard(self, entry: _Entry) -> None:
        self.entries[entry.target[:2]].remove(entry)

    def present(self, target: Object, flags: int) -> bool:
        """Return whether the object, or the whole that it is part of, is here; ``flags`` are added to the entries."""
        is_present = False
        for entry in self.entries.get(target[:2], ()):
            if entry.target[2] == target[2]:
                entry.flags |= flags
                is_present = True
            elif entry.target[2] == 0:
                is_present = True
            elif target[2] == 0 and flags:
                # A column went first and now its whole table goes: report the table only.
                entry.flags |= flags | _SUBOBJECT
        return is_present


class _Search:
    """findDependentObjects over one DROP; ``targets`` are the objects to drop, dependents first."""

    def __init__(self, session: Session, originals: Sequence[Object]) -> None:
        self.session = session
        self.catalog = session.catalog
        self.originals = originals
        self.pending = _Known()
        for target in originals:
            self.pending.add(_Entry(target, 0))
        self.targets: list[_Entry] = []
        self.found = _Known()
        self.stack: list[_Entry] = []
        self.on_stack = _Known()

    def run(self) -> list[_Entry]:
        for target in self.originals:
            # A chain of dependents may be as long as its author's patience, so the recursion is on a list.
            walks = [self._visit(target, _ORIGINAL)]
            while walks:
                request = next(walks[-1], None)
                if request is None:
                    walks.pop()
                else:
                    walks.append(self._visit(*request))
        return self.targets

    def _visit(self, target: Object, flags: int) -> Iterator[tuple[Object, int]]:
        """One call of findDependentObjects; yields the calls it makes."""
        if self.on_stack.present(target, flags) or self.found.present(target, flags):
            return
        if target[1] < FIRST_UNPINNED and target[:2] != (NAMESPACE, PUBLIC):
            description = describe(self.session, target)
            raise ServerError("2BP01", f"cannot drop {description} because it is required by the database system")

        owner: Object | None = None
        partition: Object | None = None
        for key, (dependent, number, kind) in self.catalog.dependencies.get(target[:2]):
            if target[2] and dependent[2] != target[2]:
                continue
            referenced = (*key, number)
            if key == target[:2] and not target[2]:
                continue
            if kind == PARTITION:
                flags |= _IS_PART
                partition = referenced
            elif kind in (INTERNAL, EXTENSION):
                if not self.stack:
                    if self.pending.present(referenced, 0):
                        return  # it goes with its owner, which is on the list too
                    if owner is None or kind == EXTENSION:
                        owner = referenced
                elif not self.on_stack.present(referenced, 0):
                    # What is internal to another object goes with that object, so that one is asked about.
                    yield referenced, _REVERSE
                    self.found.present(target, flags)
                    return
        if owner is not None:
            _refuse_part(self.session, target, partition or owner)

        entry = _Entry(target, flags)
        reached_from = self.stack[-1].target if self.stack else None
        dependents = self._dependents(target)
        if dependents:
            self.stack.append(entry)
            self.on_stack.add(entry)
            for dependent, kind in dependents:
                yield dependent, _FLAG_OF[kind]
            self.stack.pop()
            self.on_stack.discard(entry)
        entry.dependee = partition if entry.flags & _IS_PART and partition else reached_from
        self.targets.append(entry)
        self.found.add(entry)

    def _dependents(self, target: Object) -> list[tuple[Object, str]]:
        """Return the direct dependents of an object, newest first (object_address_comparator)."""
        whole = target[:2]
        dependents = [
            (dependent, kind)
            for dependent, number, kind in self.catalog.dependents.get(whole)
            if (not target[2] or number == target[2]) and (target[2] or dependent[:2] != whole)
        ]
        if target[0] == NAMESPACE:
            relations = self.catalog.relations
            dependents += [
                ((RELATION, oid, 0), NORMAL)
                for oid in self.catalog.relations_in.get(target[1])
                if relations[oid].kind in _IN_SCHEMA
            ]
        elif target[0] == RELATION and not target[2]:
            dependents += self._foreign_keys(target[1])
        if len(dependents) > 1:
            # The address of a generated column represents its default, which is newer than the table.
            defaults = {
                number: dependent[1]
                for dependent, number, _ in self.catalog.dependents.get(whole)
                if dependent[0] == DEFAULT
            }
            dependents.sort(
                key=lambda item: (
                    -(defaults.get(item[0][2], item[0][1]) if item[0][:2] == whole else item[0][1]),
                    item[0][0],
                    item[0][2],
                )
            )
        return dependents

    def _foreign_keys(self, relation: int) -> list[tuple[Object, str]]:
        """The foreign keys that point to a partition because they point to its root (CloneFkReferenced)."""
        catalog = self.catalog
        row = catalog.relations.get(relation)
        if row is None or not row.partition or row.kind not in "rp":
            return []
        return [
            (dependent, NORMAL)
            for ancestor in catalog.ancestors(relation)
            for dependent, _, _ in catalog.dependents.get((RELATION, ancestor))
            if dependent[0] == CONSTRAINT and catalog.constraints[dependent[1]].references == ancestor
        ]


def perform_deletion(session: Session, objects: Sequence[Object], cascade: bool) -> None:
    """Drop the objects and those that depend on them (performMultipleDeletions).

    The further objects are reported in session.notices. Raises ServerError 2BP01. It has a finding's key only if a
    publication's member is among the dependent objects.
    """
    targets = _Search(session, objects).run()
    _report(session, targets, objects, cascade)
    for entry in targets:
        _delete(session, entry.target)


def _refuse_part(session: Session, target: Object, owner: Object) -> None:
    whole = describe(session, owner)
    raise ServerError(
        "2BP01",
        f"cannot drop {describe(session, target)} because {whole} requires it",
        hint=f"You can drop {whole} instead.",
    )


_DEPENDED_ON = "cannot drop {dropped} because other objects depend on it"


def _report(session: Session, targets: list[_Entry], objects: Sequence[Object], cascade: bool) -> None:
    """reportDependentObjects: refuse under RESTRICT, tell what a CASCADE reaches."""
    going = {entry.target for entry in targets if not entry.target[2]}
    for entry in targets:
        if entry.flags & _IS_PART and not entry.flags & _PARTITION and not _table_of(session, entry.target) & going:
            _refuse_part(session, entry.target, entry.dependee or entry.target)
    cascaded = [entry for entry in reversed(targets) if not entry.flags & (_ORIGINAL | _SUBOBJECT | _WITHOUT_ASKING)]
    if not cascaded:
        return
    reported = cascaded[:MAX_REPORTED]
    unreported = len(cascaded) - len(reported)
    if cascade:
        lines = [f"drop cascades to {describe(session, entry.target)}" for entry in reported]
    else:
        lines = [
            f"{describe(session, entry.target)} depends on {describe(session, entry.dependee or entry.target)}"
            for entry in reported
        ]
    if unreported:
        lines.append(f"and {unreported} other object{'s' if unreported > 1 else ''} (see server log for list)")
    detail = "\n".join(lines)
    if cascade:
        many = f"drop cascades to {len(cascaded)} other objects DETAIL: {detail}"
        session.notices.append(lines[0] if len(cascaded) == 1 else many)
        return
    arguments: dict[str, str] = {}
    if len(objects) == 1:
        message, arguments["dropped"] = _DEPENDED_ON, describe(session, objects[0])
    else:
        message = "cannot drop desired object(s) because other objects depend on them"
    kept_tables = [
        session.catalog.relations.get(entry.target[1]) if entry.target[0] == RELATION else None for entry in cascaded
    ]
    if all(row is not None and not row.seen for row in kept_tables):
        session.rests_on(*filter(None, kept_tables))  # whatever depends on it is perhaps not there
    member = next((entry for entry in cascaded if entry.target[0] == PUBLICATION_REL), None)
    key = "object-in-publication"
    kind, oid, number = objects[0]
    if len(objects) == 1 and kind == RELATION and number:
        key, arguments["column"] = "column-in-publication", session.catalog.relations[oid].columns[number - 1].name
    error = ServerError(
        "2BP01",
        message,
        key=key if member is not None else None,
        detail=detail,
        hint="Use DROP ... CASCADE to drop the dependent objects too.",
        location=None,
        culprit=None,
        **arguments,
    )
    if member is not None:
        if all(entry.target[0] == PUBLICATION_REL for entry in cascaded):
            session.doubt_members(entry.target[1] for entry in cascaded)
        row = session.catalog.publication_rels[member.target[1]]
        error.publication = session.catalog.publications[row.publication].name
        relation = session.catalog.relations.get(row.relation)
        if relation is not None:
            error.relation = session.qualified(relation)
    raise error


def _table_of(session: Session, target: Object) -> set[Object]:
    """The table of a partition's index or constraint, which takes them along (PARTITION_SEC)."""
    kind, oid, _ = target
    if kind == RELATION:
        index = session.catalog.indexes.get(oid)
        return {(RELATION, index.table, 0)} if index is not None else set()
    if kind == CONSTRAINT:
        return {(RELATION, session.catalog.constraints[oid].relation, 0)}
    if kind == OTHER:
        return {(RELATION, session.catalog.others[oid].namespace, 0)}
    return set()


def _delete(session: Session, target: Object) -> None:
    """doDeletion: one object, whose dependents are gone already."""
    catalog = session.catalog
    kind, oid, number = target
    if kind == RELATION:
        row = catalog.relations.get(oid)
        if row is None:
            return
        if number:
            drop_column(session, oid, number)
            return
        # Drop constraints whose dependency on the relation was not recorded.
        for constraint in catalog.constraints_of.get(oid):
            catalog.remove(CONSTRAINT, constraint)
        for index in catalog.indexes_of.get(oid):
            catalog.remove(RELATION, index)
        for member in catalog.memberships.get(oid):
            catalog.remove(PUBLICATION_REL, member)
        for exclusion in catalog.excluded_from.get(oid):
            catalog.remove(PUBLICATION_EXCLUSION, exclusion)
        catalog.remove(RELATION, oid)
    elif kind == DEFAULT:
        column = column_of_default(session, oid)
        if column is not None:
            _drop_default(session, column)
        catalog.forget_dependencies((DEFAULT, oid))
    elif oid in catalog.rows_of(kind):
        catalog.remove(kind, oid)
        if kind == NAMESPACE:
            session.forget_path()


def drop_column(session: Session, relation: int, number: int) -> None:
    """RemoveAttributeById: the column keeps its number and loses everything else."""
    catalog = session.catalog
    row = catalog.relations[relation]
    columns = list(row.columns)
    columns[number - 1] = replace(
        columns[number - 1],
        name=f"........pg.dropped.{number}........",
        type=0,
        not_null=False,
        identity="",
        generated="",
        has_default=False,
        dropped=True,
        expression=(),
        tree=None,
    )
    catalog.relations.put(relation, replace(row, columns=tuple(columns)))
    catalog.forget_dependencies((RELATION, relation), number)


def _drop_default(session: Session, column: Object) -> None:
    """RemoveAttrDefaultById."""
    row = session.catalog.relations.get(column[1])
    if row is None:
        return
    columns = list(row.columns)
    position = column[2] - 1
    columns[position] = replace(columns[position], has_default=False, generated="", expression=(), tree=None)
    session.catalog.relations.put(row.oid, replace(row, columns=tuple(columns)))


def drop_at_commit(session: Session) -> None:
    """Drop the tables that were created ON COMMIT DROP, quietly."""
    catalog = session.catalog
    rows = [catalog.relations[oid] for oid in catalog.relations_in.get(TEMPORARY)]
    _drop_quietly(session, [(RELATION, row.oid, 0) for row in rows if row.on_commit_drop])


def drop_temporary(session: Session) -> None:
    """Drop all that is in the temporary schema, quietly."""
    catalog = session.catalog
    doomed: list[Object] = [
        (RELATION, oid, 0) for oid in catalog.relations_in.get(TEMPORARY) if catalog.relations[oid].kind in "rpvmfS"
    ]
    doomed += [
        (TYPE, oid, 0)
        for oid, row in catalog.types.items()
        if row.namespace == TEMPORARY and not row.relation and oid >= FIRST_NORMAL_OID
    ]
    doomed += [(PROC, oid, 0) for oid, proc in catalog.procs.items() if proc.namespace == TEMPORARY]
    _drop_quietly(session, doomed)


def _drop_quietly(session: Session, doomed: list[Object]) -> None:
    if doomed:
        notices = list(session.notices)
        perform_deletion(session, doomed, cascade=True)
        session.notices[:] = notices  # PERFORM_DELETION_QUIETLY
