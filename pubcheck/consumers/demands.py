"""The closed vocabulary of demands: what a consumer can ask of a publication, of its tables and of the files.

A demand says in data what ``checks/consumers`` checks, so a consumer is added without code. The field ``kind`` of the
TOML table chooses the class. A field that is left out demands nothing.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Operation = Literal["insert", "update", "delete", "truncate"]
Scope = Literal["all tables", "schemas", "tables"]
IdentityKind = Literal["default", "index", "full", "nothing", "keyless", "lost index"]
"""``default``: the primary key; ``keyless``: DEFAULT on a table without one; ``lost index``: USING INDEX, and the index
is gone."""
KeyKind = Literal["primary key", "unique index", "identity index", "full"]
"""``unique index``: over NOT NULL columns, whole and immediate; ``identity index``: that of USING INDEX."""
TableKind = Literal[
    "partitioned", "child", "unlogged", "foreign", "hypertable", "hypertable alone", "columnar", "row security"
]
"""``hypertable alone``: one whose chunks, which have its rows, are not published."""
Level = Literal["leaves", "roots", "roots and leaves", "names"]
"""The tables that a demand is about: those with rows, the partitioned ones above them, both, or those under whose names
changes arrive."""


class Base(Struct, frozen=True, tag_field="kind", rename="kebab", forbid_unknown_fields=True):
    """What all demands share."""


class Name(Base, frozen=True, tag="publication-name"):
    """The name of the publication: exactly one, one that matches a regular expression, or a default that an option of
    the consumer replaces."""

    equals: str = ""
    pattern: str = ""
    default: str = ""


class Exists(Base, frozen=True, tag="exists"):
    """The publication for which the consumer is configured exists."""


class PublicationScope(Base, frozen=True, tag="scope"):
    """How the publication names its tables: the ways that are allowed."""

    allow: tuple[Scope, ...]


class Operations(Base, frozen=True, tag="operations"):
    """The publish option: operations that must be in it, and operations that must not."""

    published: tuple[Operation, ...] = ()
    unpublished: tuple[Operation, ...] = ()


class ViaRoot(Base, frozen=True, tag="via-root"):
    """publish_via_partition_root. ``always``: also where no member is partitioned."""

    value: bool
    always: bool = False


class RowFilter(Base, frozen=True, tag="row-filter"):
    """No row filter. ``mixed``: only none where another publication of the same consumer has the table unfiltered."""

    mixed: bool = False


class ColumnList(Base, frozen=True, tag="column-list"):
    """No column list, or one with certain columns.

    ``contains``: the list has these columns. ``without_full``: there is none on a table with REPLICA IDENTITY FULL.
    ``same``: all publications of the consumer publish the same columns of a table.
    """

    contains: Literal["", "primary key", "replica identity", "all columns"] = ""
    without_full: bool = False
    same: bool = False


class ReplicaIdentity(Base, frozen=True, tag="replica-identity"):
    """The kinds of replica identity that are allowed. ``operations``: only where one of them is published.
    ``toastable``: only of tables with columns whose values can be stored out of line. ``other_keys``: an identity index
    is allowed only if it is the only unique index."""

    allow: tuple[IdentityKind, ...]
    on: Level = "leaves"
    operations: tuple[Operation, ...] = ()
    toastable: bool = False
    other_keys: bool = True


class Key(Base, frozen=True, tag="key"):
    """What tells the rows of a table apart: any of these. ``single``: the primary key has one column."""

    accept: tuple[KeyKind, ...]
    on: Level = "names"
    single: bool = False


class Members(Base, frozen=True, tag="members"):
    """The tables of the publication.

    ``least``: their number at least. ``configured``: the tables that the configuration says the consumer reads are
    among them under their own names, which a partitioned table is only via the root. ``required``: tables (patterns)
    that must be among them, which the statements ``setup`` create; ``if_created``: only those that the files create.
    ``forbidden``: tables (patterns) that must not. ``root_or_leaf``: not a partitioned table together with one of its
    partitions. ``only_configured``: no other tables than the configured ones.
    """

    least: int = 0
    configured: bool = False
    required: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    if_created: bool = False
    forbidden: tuple[str, ...] = ()
    root_or_leaf: bool = False
    only_configured: bool = False


class Kinds(Base, frozen=True, tag="table-kind"):
    """The kinds of tables that the publication must not have."""

    forbid: tuple[TableKind, ...]


class GeneratedColumns(Base, frozen=True, tag="generated-columns"):
    """Generated columns: not among the published columns at all (``absent``), not in the primary key (``outside_key``),
    or published as stored ones (``published``, from PostgreSQL 18)."""

    absent: bool = False
    outside_key: bool = False
    published: bool = False


class Names(Base, frozen=True, tag="names"):
    """The names of tables and columns: regular expressions, reserved columns, and no two equal except for case."""

    tables: str = ""
    columns: str = ""
    reserved: tuple[str, ...] = ()
    distinct: tuple[Literal["tables", "columns"], ...] = ()


class Types(Base, frozen=True, tag="types"):
    """The names of the types that columns may have, as pg_type has them. ``arrays``: and arrays of them."""

    allow: tuple[str, ...]
    arrays: bool = False


class Order(Base, frozen=True, tag="order"):
    """What must not follow what in the files.

    ``slot``: a slot before its publication. ``members``: dropping a member and adding it again. ``columns``: a change
    of a member's columns. ``identity``: a change of a member's replica identity. ``comment``: an ALTER PUBLICATION
    without a COMMENT ON PUBLICATION after it.
    """

    forbid: tuple[Literal["slot", "members", "columns", "identity", "comment"], ...]


class Privileges(Base, frozen=True, tag="privileges"):
    """Who owns what: publication and tables have the same owner."""

    same_owner: bool = True


class Majors(Base, frozen=True, tag="majors"):
    """The PostgreSQL majors that the consumer reads from."""

    least: int = 0
    most: int = 0


class Alone(Base, frozen=True, tag="alone"):
    """The publication has no other consumer. ``rewrites``: the consumer sets the member list itself, so that row
    filters and column lists are lost too."""

    rewrites: bool = False


class SetsIdentity(Base, frozen=True, tag="sets-identity"):
    """The consumer alters the replica identity of tables with one of these kinds to another one. ``everywhere``: of all
    tables of the schema public, published or not."""

    to: IdentityKind
    of: tuple[IdentityKind, ...]
    everywhere: bool = False


class Unread(Base, frozen=True, tag="unread-publication"):
    """The consumer never looks at a publication: one with a row filter, a column list or fewer operations does nothing
    for it."""


Demand = (
    Name
    | Exists
    | PublicationScope
    | Operations
    | ViaRoot
    | RowFilter
    | ColumnList
    | ReplicaIdentity
    | Key
    | Members
    | Kinds
    | GeneratedColumns
    | Names
    | Types
    | Order
    | Privileges
    | Majors
    | Alone
    | SetsIdentity
    | Unread
)
