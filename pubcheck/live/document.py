"""The snapshot of a database's catalogs: a JSON document with one object a line.

Names refer to objects: ``app.orders``, ``"Mixed Case".t``; a name without a schema is one of pg_catalog. Part of a
name that is not made of lower-case letters, digits and underscores is in double quotes. Fields with their usual value
are left out. Oids give the order in which the server looks at objects; nothing refers to them.

``snapshot.schema.json`` is generated from these types (``schema``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from pubcheck.lazy_regex import lazy_compile
from pubcheck.live.server_facts import ServerFacts, Statistics

Oid = Annotated[int, Meta(ge=0, lt=1 << 32)]
Int4 = Annotated[int, Meta(ge=-(1 << 31), lt=1 << 31)]

FORMAT = 1
"""The version of the format, in the field ``pubcheck_snapshot``."""


class SnapshotObject(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="kind"):
    """An object of the database. Its ``kind`` is PostgreSQL's word for it."""

    name: str
    oid: Oid = 0

    @property
    def key(self) -> tuple[str, ...]:
        """The parts of the name by which objects of a kind are sorted."""
        return (self.name,)

    @property
    def address(self) -> str:
        """The kind and the name, as messages have them."""
        return f"{self.__struct_config__.tag} {'.'.join(self.key)}"


class InSchema(SnapshotObject, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="kind"):
    schema: str
    owner: str = ""
    extension: str = ""
    """The extension that it belongs to."""
    uses: tuple[str, ...] = ()
    """The relations, columns (as ``app.orders.id``) and functions that it depends on by its expression or its body."""

    @property
    def key(self) -> tuple[str, ...]:
        return self.schema, self.name


class OfRelation(SnapshotObject, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="kind"):
    """An object that belongs to a relation."""

    table: str
    uses: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, ...]:
        return self.table, self.name

    @property
    def address(self) -> str:
        return f"{self.__struct_config__.tag} {self.name} of {self.table}"


class Schema(SnapshotObject, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="schema"):
    """``grants`` are (role, "C" or "U"), with "" for PUBLIC and "*" after the letter for the grant option."""

    owner: str
    grants: tuple[tuple[str, str], ...] = ()


class Membership(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    role: str
    admin: bool = False
    inherit: bool = True
    set: bool = True


class Role(SnapshotObject, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="role"):
    superuser: bool = False
    inherit: bool = True
    create_role: bool = False
    create_db: bool = False
    member_of: tuple[Membership, ...] = ()


class DefaultSetting(SnapshotObject, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="default setting"):
    """The value with which later connections begin, by ALTER ROLE or ALTER DATABASE ... SET: of one role or, without
    ``role``, of all; ``database``: in this database only."""

    role: str = ""
    database: bool = False
    value: str

    @property
    def key(self) -> tuple[str, ...]:
        return self.name, self.role, "database" if self.database else ""

    @property
    def address(self) -> str:
        return f"setting {self.name} of {f'role {self.role}' if self.role else 'all roles'}"


class Check(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    name: str
    oid: Oid = 0
    expression: str = ""


class Type(InSchema, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="type"):
    """``type`` is typtype. ``base`` is a domain's base type, a range's subtype, or the range of a multirange."""

    type: str
    array: str = ""
    array_oid: Oid = 0
    element: str = ""
    base: str = ""
    typmod: Int4 = -1
    not_null: bool = False
    labels: tuple[str, ...] = ()
    category: str = "U"
    preferred: bool = False
    collation: str = ""
    subscript: str = ""
    multirange: str = ""
    range_collation: str = ""
    checks: tuple[Check, ...] = ()
    default: str = ""


class Function(InSchema, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="function"):
    """``type`` is prokind, ``arguments`` the types of the input arguments."""

    arguments: tuple[str, ...] = ()
    type: str = "f"
    returns: str = ""
    returns_set: bool = False
    language: str = ""
    volatility: str = "v"
    strict: bool = False
    definer: bool = False
    variadic: str = ""
    defaults: Int4 = 0
    modes: tuple[str, ...] = ()
    argument_names: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    definition: str = ""
    """The CREATE FUNCTION of a function whose calls may change more than rows."""

    @property
    def key(self) -> tuple[str, ...]:
        return self.schema, self.name, *self.arguments

    @property
    def address(self) -> str:
        return f"function {self.schema}.{self.name}({', '.join(self.arguments)})"


class Operator(InSchema, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="operator"):
    left: str = ""
    right: str = ""
    returns: str = ""
    function: str = ""
    negator: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        return self.schema, self.name, self.left, self.right


class Cast(SnapshotObject, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="cast"):
    source: str
    target: str
    function: str = ""
    context: str = "e"
    method: str = "f"


class Collation(InSchema, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="collation"):
    deterministic: bool = True


class OperatorClass(InSchema, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="operator class"):
    """A default operator class of btree or hash, with the operators and functions of its family ."""

    family: str
    method: str
    type: str
    operators: tuple[tuple[str, str, Int4, str], ...] = ()
    functions: tuple[tuple[str, str, str], ...] = ()


class NotNull(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """The NOT NULL constraint of a column; its name is left out where it is the usual one."""

    name: str = ""
    inherited: Int4 = 0
    local: bool = True
    no_inherit: bool = False
    validated: bool = True


class Column(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    name: str
    type: str = ""
    typmod: Int4 = -1
    not_null: bool = False
    constraint: NotNull | None = None
    identity: str = ""
    generated: str = ""
    default: str = ""
    collation: str = ""
    storage: str = ""
    inherited: Int4 = 0
    local: bool = True
    dropped: bool = False
    uses: tuple[str, ...] = ()


class Relation(InSchema, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="kind"):
    columns: tuple[Column, ...] = ()
    persistence: str = "p"
    identity: str = "d"
    partition_key: str = ""
    partition: bool = False
    bound: str = ""
    parents: tuple[str, ...] = ()
    of_type: str = ""
    row_security: bool = False
    force_row_security: bool = False


class Table(Relation, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="table"):
    """A table; it is partitioned if it has a ``partition_key``."""


class ForeignTable(Relation, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="foreign table"):
    pass


class View(Relation, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="view"):
    query: str = ""
    """The query of a view that can be updated."""


class MaterializedView(Relation, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="materialized view"):
    pass


class CompositeType(Relation, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="composite type"):
    """The attributes of a composite type."""


class Sequence(Relation, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="sequence"):
    owned_by: tuple[str, str] | None = None
    """The table and the column that own it."""
    identity_of: bool = False


class IndexConstraint(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    oid: Oid = 0
    type: str = "u"
    deferrable: bool = False
    inherited: Int4 = 0
    local: bool = True


class Index(InSchema, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="index"):
    """``keys`` are columns, None for an expression; ``expressions`` are those in one text, separated by commas."""

    table: str
    keys: tuple[str | None, ...] = ()
    included: tuple[str, ...] = ()
    unique: bool = False
    primary: bool = False
    exclusion: bool = False
    immediate: bool = True
    valid: bool = True
    identity: bool = False
    nulls_not_distinct: bool = False
    method: str = "btree"
    parent: str = ""
    expressions: str = ""
    predicate: str = ""
    constraint: IndexConstraint | None = None


class Constraint(OfRelation, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="constraint"):
    """A CHECK (``type`` c), a foreign key (f) or a constraint trigger (t)."""

    type: str
    keys: tuple[str, ...] = ()
    expression: str = ""
    references: str = ""
    referenced: tuple[str, ...] = ()
    index: str = ""
    on_delete: str = "a"
    on_update: str = "a"
    deferrable: bool = False
    inherited: Int4 = 0
    local: bool = True
    no_inherit: bool = False
    validated: bool = True
    enforced: bool = True
    parent: tuple[str, str] | None = None
    """The table and the name of the constraint of which it is the partition's."""


class Trigger(OfRelation, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="trigger"):
    function: str = ""
    enabled: str = "O"


class Rule(OfRelation, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="rule"):
    """``event`` is the operation of an unconditional DO INSTEAD rule: update or delete."""

    instead: str = ""
    enabled: str = "O"


class Policy(OfRelation, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="policy"):
    pass


class Extension(SnapshotObject, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="extension"):
    owner: str
    schema: str
    version: str


class EventTrigger(SnapshotObject, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="event trigger"):
    owner: str
    event: str
    function: str
    tags: tuple[str, ...] = ()
    enabled: str = "O"


class Publication(SnapshotObject, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="publication"):
    owner: str
    all_tables: bool = False
    insert: bool = True
    update: bool = True
    delete: bool = True
    truncate: bool = True
    via_root: bool = False
    generated: str = "n"
    all_sequences: bool = False


class PublicationTable(
    SnapshotObject, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="publication table"
):
    """A table of a publication, whose name is ``name``."""

    table: str
    columns: tuple[str, ...] | None = None
    filter: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        return self.name, self.table

    @property
    def address(self) -> str:
        return f"publication {self.name}, table {self.table}"


class PublicationExclusion(
    SnapshotObject, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="publication exclusion"
):
    """A table that a publication for all tables, whose name is ``name``, leaves out."""

    table: str

    @property
    def key(self) -> tuple[str, ...]:
        return self.name, self.table

    @property
    def address(self) -> str:
        return f"publication {self.name}, except table {self.table}"


class PublicationSchema(
    SnapshotObject, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="publication schema"
):
    """A schema of a publication, whose name is ``name``."""

    schema: str

    @property
    def key(self) -> tuple[str, ...]:
        return self.name, self.schema

    @property
    def address(self) -> str:
        return f"publication {self.name}, schema {self.schema}"


class Subscription(SnapshotObject, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="subscription"):
    """A subscription of this database, without its connection string."""

    owner: str
    publications: tuple[str, ...] = ()
    enabled: bool = True
    slot: str = ""
    binary: bool = False
    password_required: bool = True


class Setting(SnapshotObject, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="setting"):
    """A parameter of a running server; only findings point at it, and no snapshot in a file has it."""


class Slot(SnapshotObject, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag="slot"):
    """A logical slot of a running server; only findings point at it, and no snapshot in a file has it."""


AnyObject = (
    Schema
    | Role
    | DefaultSetting
    | Type
    | Function
    | Operator
    | Cast
    | Collation
    | OperatorClass
    | Extension
    | EventTrigger
    | CompositeType
    | Table
    | ForeignTable
    | View
    | MaterializedView
    | Sequence
    | Index
    | Constraint
    | Trigger
    | Rule
    | Policy
    | Publication
    | PublicationTable
    | PublicationExclusion
    | PublicationSchema
    | Subscription
    | Setting
    | Slot
)
"""The kinds of objects, in the order of the document."""


class Server(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The server and the database that were read."""

    postgres: int
    version: str
    database: str
    database_owner: str
    creators: tuple[str, ...] = ()
    """The roles with the right CREATE on the database, "" for PUBLIC."""
    encoding: str
    collate: str
    ctype: str
    wal_level: str
    collations: tuple[str, ...] = ()
    """The collations of pg_catalog, most of which depend on the machine."""
    search_path: str
    user_schema: str = ""
    """The schema that "$user" means in it for the role that read the server, if there is one."""
    settings: dict[str, str] = {}
    """Further settings with which a connection of that role begins."""


class Snapshot(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The document. ``pubcheck`` is the version that wrote it. ``facts`` are those of a running server, for as long as
    a command runs: no snapshot in a file has them. ``statistics`` are in a file if they were asked for."""

    pubcheck_snapshot: int
    pubcheck: str
    server: Server
    objects: tuple[AnyObject, ...]
    facts: ServerFacts | None = None
    statistics: Statistics | None = None


class _Head(Struct):
    pubcheck_snapshot: int
    pubcheck: str = ""


class BadSnapshot(ValueError):
    """A document that cannot be read; the message says why, without its name."""


class DanglingName(ValueError):
    """An object names another one that the document does not have."""


_ORDER = {kind.__struct_config__.tag: place for place, kind in enumerate(AnyObject.__args__)}
_encode = msgspec.json.Encoder().encode
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")


def sorted_objects(objects: Iterable[AnyObject]) -> tuple[AnyObject, ...]:
    """Return objects in the order of the document: by kind, then by name."""
    return tuple(sorted(objects, key=lambda one: (_ORDER[one.__struct_config__.tag], one.key)))


def encode(snapshot: Snapshot) -> bytes:
    """Return the document, one object a line."""
    head = _encode({"pubcheck_snapshot": snapshot.pubcheck_snapshot, "pubcheck": snapshot.pubcheck})
    lines = b",\n".join(map(_encode, snapshot.objects))
    more = b',\n"facts": %b' % _encode(snapshot.facts) if snapshot.facts is not None else b""
    if snapshot.statistics is not None:
        tables, shares = (
            b",\n".join(map(_encode, rows)) for rows in (snapshot.statistics.tables, snapshot.statistics.shares)
        )
        more += b',\n"statistics": {"tables": [\n%b\n],"shares": [\n%b\n]}' % (tables, shares)
    return b'%b,\n"server": %b,\n"objects": [\n%b\n]%b}\n' % (head[:-1], _encode(snapshot.server), lines, more)


def schema() -> bytes:
    """Return the JSON Schema of the document."""
    return msgspec.json.format(msgspec.json.encode(msgspec.json.schema(Snapshot))) + b"\n"


FIRST_OBJECT = 3
"""The lines before the first object."""


def decode(content: bytes) -> Snapshot:
    """Return the snapshot in a document. Raises BadSnapshot."""
    try:
        head = msgspec.json.decode(content, type=_Head)
        if head.pubcheck_snapshot != FORMAT:
            by = f" by pubcheck {head.pubcheck}" if head.pubcheck else ""
            raise BadSnapshot(
                f"this snapshot was written{by} in format {head.pubcheck_snapshot}, and this version reads format"
                f" {FORMAT}; take it again with `pubcheck snapshot`"
            )
        snapshot = msgspec.json.decode(content, type=Snapshot)
    except msgspec.DecodeError as error:
        raise BadSnapshot(f"this is not a whole snapshot: {_with_line(' '.join(str(error).split()))}") from None
    if not _has_one_object_a_line(content, len(snapshot.objects)):
        raise BadSnapshot(
            "this snapshot was formatted by another program, and does not have one object a line any more; take it"
            " again with `pubcheck snapshot`"
        )
    return snapshot


def _with_line(message: str) -> str:
    """Return a message of msgspec with the line of the object that it is about."""
    place = _PLACE.search(message)
    return message if place is None else f"line {int(place[1]) + FIRST_OBJECT + 1}: {message}"


def _has_one_object_a_line(content: bytes, objects: int) -> bool:
    """Return whether the objects are on the lines on which findings look for them."""
    lines = content.split(b"\n", FIRST_OBJECT + objects)[FIRST_OBJECT : FIRST_OBJECT + objects]
    return len(lines) == objects and all(map(_OBJECT.fullmatch, lines))


def is_snapshot(content: bytes) -> bool:
    """Return whether a file is a snapshot, also one that another program formatted, sorted or recoded."""
    opening = content[:OPENING].replace(b"\0", b"")
    if _JSON.match(opening) is None:
        return False
    return _OPENING.match(opening) is not None or b'"pubcheck_snapshot"' in content.replace(b"\0", b"")


OPENING = 100
"""The bytes by which a snapshot is usually recognized."""
_JSON = lazy_compile(rb"\W*[{\[]")
_OPENING = lazy_compile(rb'\W*"pubcheck_snapshot"\s*:')
_PLACE = lazy_compile(r"\$\.objects\[(\d+)\]")
_OBJECT = lazy_compile(rb"\{.*\},?\r?")


def quoted(name: str) -> str:
    """Return a name as references have it."""
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def reference(schema: str, name: str) -> str:
    """Return the reference to an object of a schema."""
    return quoted(name) if schema == "pg_catalog" else f"{quoted(schema)}.{quoted(name)}"
