"""The rows of the system catalogs, named and shaped after PostgreSQL's, as far as publications depend on them, and what
orders the values of a unit's own types: the labels of enums, and default operator classes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Any

from msgspec import Struct


class EnumLabels(Collection[str]):
    """The distinct labels of an enum, in order; immutable.

    What ``appended`` returns shares the storage of these labels, so that adding one takes constant time.
    """

    __slots__ = ("_count", "_numbers")

    def __init__(self, labels: Iterable[str] = ()) -> None:
        self._numbers = {label: number for number, label in enumerate(labels)}
        self._count = len(self._numbers)

    def appended(self, label: str) -> EnumLabels:
        """These labels and another one after them."""
        # Somebody else may have appended to the same storage: a statement that was undone.
        longer = EnumLabels(self if len(self._numbers) > self._count else ())
        if len(self._numbers) == self._count:
            longer._numbers = self._numbers
        longer._numbers[label] = self._count
        longer._count = self._count + 1
        return longer

    def index(self, label: str) -> int:
        """The number of a label that is among them, from 0."""
        return self._numbers[label]

    def __contains__(self, label: object) -> bool:
        return isinstance(label, str) and self._numbers.get(label, self._count) < self._count

    def __iter__(self) -> Iterator[str]:
        return islice(self._numbers, self._count)

    def __len__(self) -> int:
        return self._count

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EnumLabels) and (self is other or tuple(self) == tuple(other))

    def __hash__(self) -> int:
        return hash(tuple(self))


class OperatorClass(Struct, frozen=True, gc=False):
    """A default operator class that the unit created, with all members of its family.

    ``family`` is the family's oid, ``method`` b(tree), h(ash), gin or gist, ``type`` the class's input type.
    ``operators`` and ``functions`` are as in ``builtins.objects.FamilyRow``.
    """

    family: int
    method: str
    type: int
    operators: tuple[tuple[int, int, int, int], ...]
    functions: tuple[tuple[int, int, int], ...]


OPERATOR_CLASSES = "operator classes"
"""The setting of the catalog that holds the unit's OperatorClass rows."""


# gc=False: rows refer to no row, so that they can be in no cycle, and the collector need not look at 100,000 of them.


EMBEDDED = 1 << 32
"""A statement inside another one, as a DO block has them, is numbered from (the other one's number + 1) times this."""


class Place(Struct, frozen=True, gc=False):
    """A place in the text: source and statement (both by number within the unit), byte offsets in the latter."""

    source: int
    statement: int
    start: int
    end: int


class Namespace(Struct, frozen=True, gc=False):
    """pg_namespace. ``seen`` is False for a schema that the unit only refers to.

    ``acl`` are (grantee, right), grantee 0 for PUBLIC, right "C"(REATE) or "U"(SAGE), with "*" the grant option.
    """

    oid: int
    name: str
    owner: int
    seen: bool
    acl: tuple[tuple[int, str], ...] = ()


class NotNull(Struct, frozen=True, gc=False):
    """A NOT NULL constraint of 18; before, NOT NULL is a flag only. ``name`` is empty until it is chosen."""

    name: str = ""
    inherited: int = 0
    local: bool = True
    no_inherit: bool = False
    validated: bool = True


class Column(Struct, frozen=True, gc=False):
    """pg_attribute. ``generated`` is '' | 's' | 'v', ``identity`` '' | 'a' | 'd'; a dropped column keeps its number.

    ``type`` is a pg_type oid, 0 if it is unknown, ``typmod`` atttypmod; ``expression`` are the columns a
    generated column reads, ``tree`` the parse tree of its expression.
    """

    number: int
    name: str
    type: int = 0
    not_null: bool = False
    identity: str = ""
    generated: str = ""
    has_default: bool = False
    inherited: int = 0
    local: bool = True
    dropped: bool = False
    collation: int = 0
    expression: tuple[str, ...] = ()
    constraint: NotNull | None = None
    """The NOT NULL constraint of a column that is ``not_null``, where the major has such constraints."""
    typmod: int = -1
    tree: object = None
    default_type: int = 0
    """The type that the default has by itself, 0 where that does not show."""
    storage: str = ""
    """attstorage in words (plain, external, extended, main) where the unit says it; else it is the type's."""

    def __hash__(self) -> int:
        return hash((self.number, self.name))  # a parse tree has no hash


class Relation(Struct, frozen=True, gc=False):
    """pg_class. ``kind`` and ``persistence`` and ``identity`` (relreplident) are the server's letters.

    ``seen`` is False for a relation that the unit refers to and did not create: it exists by assumption, may have any
    columns, and findings that depend on it are assumed. ``parents`` are direct inheritance parents or the partitioned
    table.
    """

    oid: int
    name: str
    namespace: int
    kind: str
    owner: int
    seen: bool
    columns: tuple[Column, ...] = ()
    persistence: str = "p"
    identity: str = "d"
    partition: bool = False
    parents: tuple[int, ...] = ()
    of_type: int = 0
    partition_key: tuple[int, ...] = ()
    """Key columns of a partitioned table, 0 for an expression."""
    partition_reads: tuple[int, ...] = ()
    """Columns that expressions of the partition key read."""
    strategy: str = ""
    """partstrat of a partitioned table: l(ist), r(ange), h(ash)."""
    bound: tuple[object, ...] | None = None
    """The partition bound, as ``ddl.partition_bounds`` writes it; None if it is unknown."""
    usual_order: bool = True
    """Whether values of the partition key are equal, and ordered, as those of its columns are: it has no operator class
    of a user, nor a collation of its own or a nondeterministic one."""
    on_commit_drop: bool = False
    row_security: bool = False
    force_row_security: bool = False
    noted: bool = False
    place: Place | None = None

    def __hash__(self) -> int:
        return self.oid  # columns may hold parse trees, which have no hash

    def column(self, name: str) -> Column | None:
        for column in self.columns:
            if column.name == name and not column.dropped:
                return column
        return None

    def live(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if not column.dropped)


class Index(Struct, frozen=True, gc=False):
    """pg_index. ``keys`` are attribute numbers of the key columns, 0 for an expression; INCLUDE columns stand apart."""

    oid: int
    table: int
    keys: tuple[int, ...]
    included: tuple[int, ...] = ()
    unique: bool = False
    primary: bool = False
    exclusion: bool = False
    immediate: bool = True
    valid: bool = True
    identity: bool = False
    nulls_not_distinct: bool = False
    method: str = "btree"
    parent: int = 0
    only: bool = False
    expressions: tuple[dict[str, Any], ...] = ()
    """The expressions among its columns, with the names that their columns have."""
    predicate: dict[str, Any] | None = None
    """indpred, as ``expressions``."""
    always: bool | None = False
    """Whether its predicate is TRUE after constant folding (RelationGetIndexPredicate then finds none); None if
    unknown."""
    unsorted: int = 0
    """The first of its columns, from 1, without the default sorting; 0 if all have it."""
    operators: tuple[tuple[str, ...], ...] = ()
    """The names of the operators of an exclusion constraint (conexclop), each with its schema if it was written; none
    of another index, and of one whose operators are unknown."""

    @property
    def partial(self) -> bool:
        """Whether pg_index has a predicate; foreign keys, CLUSTER and the relation cache check this."""
        return self.predicate is not None

    @property
    def trees(self) -> tuple[object, ...]:
        return self.expressions if self.predicate is None else (*self.expressions, self.predicate)


class Constraint(Struct, frozen=True, gc=False):
    """pg_constraint. ``kind`` is c(heck), f(oreign), n(ot null), p(rimary), u(nique), x(exclusion), t(rigger)."""

    oid: int
    name: str
    relation: int
    kind: str
    keys: tuple[int, ...] = ()
    index: int = 0
    references: int = 0
    referenced_keys: tuple[int, ...] = ()
    """confkey; empty where it is not known."""
    on_delete: str = "a"
    on_update: str = "a"
    deferrable: bool = False
    deferred: bool = False
    """condeferred: whether it is checked at the end of transactions, unless SET CONSTRAINTS says otherwise."""
    inherited: int = 0
    local: bool = True
    no_inherit: bool = False
    validated: bool = True
    parent: int = 0
    not_null: tuple[int, ...] = ()
    """The columns that a CHECK makes NOT NULL."""
    tree: object = None
    """The condition of a CHECK, with the names of its columns."""
    enforced: bool = True
    """conenforced (18): a foreign key that is not has no triggers, so that its actions never happen."""


class Type(Struct, frozen=True, gc=False):
    """pg_type. ``kind`` is b(ase), c(omposite), d(omain), e(num), m(ultirange), p(seudo; also a shell), r(ange).

    ``base`` is a domain's base type, a range's subtype, a multirange's range; ``labels`` are an enum's, in order.
    ``typmod`` is typtypmod; ``subscript`` says what subscripts do: a (true array), f(ixed-length array, as point), j
    (jsonb), u (another handler) or nothing. ``element`` is set for fixed-length arrays too. ``multirange`` is
    that of a range, ``bounds`` its rngcollation (``collation`` is typcollation, which ranges have none of).
    ``checked``: a domain with a CHECK constraint, its own or its base's; ``not_null`` is its own only.
    """

    oid: int
    name: str
    namespace: int
    owner: int
    kind: str
    seen: bool
    relation: int = 0
    array: int = 0
    element: int = 0
    base: int = 0
    not_null: bool = False
    labels: EnumLabels = EnumLabels()
    category: str = "U"
    preferred: bool = False
    collation: int = 0
    typmod: int = -1
    subscript: str = ""
    multirange: int = 0
    checked: bool = False
    bounds: int = 0

    @property
    def shell(self) -> bool:
        """Whether the unit has only declared the type's name so far (typisdefined is false)."""
        return self.kind == "p"


class Shown(Struct, frozen=True, gc=False):
    """The query of a view that may be automatically updatable (rewriteHandler.c: view_query_is_auto_updatable).

    ``table`` is the one relation that it reads, ``only`` without its descendants; ``columns`` the numbers in it of the
    view's columns, 0 for an expression. ``conditions``: it has a WHERE. ``calls`` are the functions in its columns,
    by their names' parts: with an aggregate or a set-returning function among them the view is not updatable.
    """

    table: int
    columns: tuple[int, ...]
    only: bool = False
    conditions: bool = False
    calls: tuple[tuple[str, ...], ...] = ()


class Proc(Struct, frozen=True, gc=False):
    """pg_proc, by name and argument types; ``kind`` f(unction), p(rocedure), a(ggregate), w(indow function).

    ``arguments`` are the input arguments' types (0: unknown), ``variadic`` the element type of the last one,
    ``defaults`` how many of the last have one; ``modes`` (i, o, b, v, t) and ``argument_names`` cover all parameters,
    as ``parameters`` do where there are any but input ones (proallargtypes; () for built-in functions). A built-in
    function that the unit altered is in the catalog under its own oid, without an entry among the names unless
    it was renamed. ``effect`` says what a call may change: c(atalogs), i (replica identities and keys too),
    t (members of publications as well). ``definer``: SECURITY DEFINER. ``raises``: a function
    of event triggers that may raise an error. ``inlined``: LANGUAGE sql, so that the planner may put the body in the
    place of a call.
    """

    oid: int
    name: str
    namespace: int
    owner: int
    kind: str
    arguments: tuple[int, ...]
    returns: int = 0
    volatility: str = "v"
    variadic: int = 0
    defaults: int = 0
    returns_set: bool = False
    strict: bool = False
    modes: tuple[str, ...] = ()
    argument_names: tuple[str, ...] = ()
    parameters: tuple[int, ...] = ()
    effect: str = ""
    definer: bool = False
    raises: bool = False
    inlined: bool = False


class Operator(Struct, frozen=True, gc=False):
    """pg_operator; ``left`` is 0 for a prefix operator.

    ``function`` is 0 if it is unknown: then ``procedure`` is its name as written. ``returns`` is the result
    type, 0 if it is unknown or the operator is only a shell, which has no ``procedure`` either. ``negator`` is
    oprnegate, of the unit's operators only.
    """

    oid: int
    name: str
    namespace: int
    owner: int
    left: int
    right: int
    function: int = 0
    procedure: tuple[str, ...] = ()
    returns: int = 0
    negator: int = 0

    @property
    def shell(self) -> bool:
        """Made as another one's commutator or negator, and not defined yet: it has a name and nothing to call."""
        return not self.function and not self.procedure


class Cast(Struct, frozen=True, gc=False):
    """pg_cast; ``function`` 0 with ``method`` b(inary) or i(nout)."""

    oid: int
    source: int
    target: int
    function: int
    context: str
    method: str


class Collation(Struct, frozen=True, gc=False):
    """pg_collation."""

    oid: int
    name: str
    namespace: int
    owner: int
    deterministic: bool = True


class OtherObject(Struct, frozen=True, gc=False):
    """An object that only needs a name, an owner and dependencies here (extension, server, rule, policy...).

    ``kind`` is the server's word for it; ``namespace`` is the relation's oid for a trigger, rule or policy, the type's
    for a domain's constraint, and 0 for an object without a schema.
    """

    oid: int
    kind: str
    name: str
    namespace: int
    owner: int
    instead: str = ""
    """The operation of its table that an unconditional rule DO INSTEAD replaces: "update" or "delete"."""
    enabled: bool = True


class Role(Struct, frozen=True, gc=False):
    """pg_authid with pg_auth_members folded in: ``member_of`` are direct memberships. ``seen``: created by the unit.

    ``without_inherit`` and ``without_set`` are the memberships WITH INHERIT FALSE or SET FALSE (16 and later),
    ``admin_of`` those WITH ADMIN OPTION. ``has_members`` stays True after the last member is removed.
    """

    oid: int
    name: str
    seen: bool
    superuser: bool = False
    inherit: bool = True
    create_role: bool = False
    create_db: bool = False
    member_of: tuple[int, ...] = ()
    without_inherit: tuple[int, ...] = ()
    without_set: tuple[int, ...] = ()
    admin_of: tuple[int, ...] = ()
    has_members: bool = False


class Publication(Struct, frozen=True, gc=False):
    """pg_publication. ``generated`` is pubgencols: 'n' | 's'.

    ``all_tables`` and ``all_sequences`` are its kinds that are not lists (19 has the second).
    ``creator`` is the role that created it if its rights are unknown, or else 0.
    """

    oid: int
    name: str
    owner: int
    seen: bool
    all_tables: bool = False
    insert: bool = True
    update: bool = True
    delete: bool = True
    truncate: bool = True
    via_root: bool = False
    generated: str = "n"
    place: Place | None = None
    creator: int = 0
    all_sequences: bool = False

    @property
    def scope(self) -> str:
        """Its kinds that are not lists, as the server writes them; "" for a list."""
        return ", ".join(("ALL TABLES",) * self.all_tables + ("ALL SEQUENCES",) * self.all_sequences)


class Filter(Struct, frozen=True, gc=False):
    """A row filter: its parse tree as written and the columns it reads, by attribute number of its relation.

    ``places`` says where each column is mentioned. ``analysed`` is False where the server's answer depends on an
    unknown object; ``unknown`` says on which. ``frozen`` are literals whose value was fixed when the filter was read,
    and by what: "now", "zone", "datestyle". ``expr`` is the analysed filter (expressions.nodes.Expr), if there is one.
    """

    tree: object
    columns: tuple[int, ...]
    places: tuple[tuple[int, Place], ...] = ()
    analysed: bool = True
    unknown: str = ""
    frozen: tuple[tuple[Place, tuple[str, ...]], ...] = ()
    expr: object = None


class PublicationRel(Struct, frozen=True, gc=False):
    """pg_publication_rel: ``columns`` is prattrs (None without a list), ``filter`` prqual."""

    oid: int
    publication: int
    relation: int
    filter: Filter | None
    columns: tuple[int, ...] | None
    place: Place
    column_places: tuple[tuple[int, Place], ...] = ()


class PublicationExclusion(Struct, frozen=True, gc=False):
    """pg_publication_rel with prexcept: a table that a publication for all tables leaves out (EXCEPT, 19)."""

    oid: int
    publication: int
    relation: int
    place: Place


class PublicationNamespace(Struct, frozen=True, gc=False):
    oid: int
    publication: int
    namespace: int
    place: Place


class Subscription(Struct, frozen=True, gc=False):
    """pg_subscription. The publications are another database's, named one by one, and where each was named."""

    name: str
    publications: tuple[tuple[str, Place], ...]
    place: Place
    seen: bool
    """Whether all of this is certain."""
    enabled: bool | None = True
    slot: bool | None = True
    """Whether it has the name of a slot. For an unknown subscription neither is known."""
    connected: bool = True
    """Whether it exists only if the publisher could be reached when it was created."""
    owner: int = 0
    password_required: bool = True
    binary: bool = False


ASSUMABLE = frozenset((Namespace, Publication, Relation, Role, Subscription, Type))
"""The kinds of rows that may be assumed: those that have ``seen``."""
