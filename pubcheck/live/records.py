"""The objects of a snapshot: a type for each kind, whose fields are those of the document.

``reference`` names an object; oids give the order in which the server looks at objects, and nothing refers to them.
"""

from __future__ import annotations

import re
from typing import Annotated

from msgspec import Meta, Struct

Oid = Annotated[int, Meta(ge=0, lt=1 << 32)]
Int4 = Annotated[int, Meta(ge=-(1 << 31), lt=1 << 31)]


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
    """The table and the name of the parent constraint, if this is the constraint of a partition."""


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


class DanglingName(ValueError):
    """An object names another one that the document does not have."""


_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")


def quoted(name: str) -> str:
    """Return a name as references have it."""
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'


def reference(schema: str, name: str) -> str:
    """Return the reference to an object of a schema."""
    return quoted(name) if schema == "pg_catalog" else f"{quoted(schema)}.{quoted(name)}"
