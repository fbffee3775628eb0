"""The PostgreSQL majors that pubcheck knows, as one table of data."""

from __future__ import annotations

from msgspec import Struct


class Major(Struct, frozen=True):
    """The differences between majors that matter for publications; grammar facts are those of their gram.y.

    ``virtual_columns``: VIRTUAL generated columns exist (18). ``stored_is_default``: GENERATED ... AS (expr) needs no
    keyword (18). ``publish_generated_columns``: the option exists, and stored generated columns may be listed (18).
    ``set_validates_columns``: ALTER PUBLICATION ... SET validates column lists before it drops members (18).
    ``partitions_inherit_identity``: an identity column is the partitions' too, with the root's sequence (17).
    ``exclusion_partitioned``: a partitioned table may have exclusion constraints (17).
    ``own_generation``: a child's generated column may have its own expression, and only where its parent's is
    generated (16).
    ``attaches_same_kind``: ATTACH PARTITION no longer accepts a unique constraint for a primary key (17).
    ``distinct_primary_keys``: a primary key cannot use an existing index with NULLS NOT DISTINCT (16).
    ``column_storage``: a new column may have a STORAGE clause (16).
    ``enforcement``: constraints may be [NOT] ENFORCED (18).
    ``opens_by_kind``: a relation that cannot be opened is reported with a DETAIL about its kind (16).
    """

    number: int
    virtual_columns: bool = False
    publish_generated_columns: bool = False
    set_validates_columns: bool = False
    opens_by_kind: bool = True
    set_role_option: bool = True
    named_not_null: bool = False
    unlogged_partitioned: bool = True
    partitions_inherit_identity: bool = True
    exclusion_partitioned: bool = True
    own_generation: bool = True
    attaches_same_kind: bool = True
    distinct_primary_keys: bool = True
    column_storage: bool = True
    enforcement: bool = False


_TABLE = (
    Major(
        15,
        opens_by_kind=False,
        set_role_option=False,
        partitions_inherit_identity=False,
        exclusion_partitioned=False,
        own_generation=False,
        attaches_same_kind=False,
        distinct_primary_keys=False,
        column_storage=False,
    ),
    Major(16, partitions_inherit_identity=False, exclusion_partitioned=False, attaches_same_kind=False),
    Major(17),
    Major(
        18,
        virtual_columns=True,
        publish_generated_columns=True,
        set_validates_columns=True,
        named_not_null=True,
        unlogged_partitioned=False,
        enforcement=True,
    ),
    Major(
        19,
        virtual_columns=True,
        publish_generated_columns=True,
        set_validates_columns=True,
        named_not_null=True,
        unlogged_partitioned=False,
        enforcement=True,
    ),
)

BY_NUMBER: dict[int, Major] = {major.number: major for major in _TABLE}
MAJORS: tuple[int, ...] = tuple(BY_NUMBER)
DEFAULT_MAJOR = 18
"""The latest major of which a released server was measured; 19 is known from its third beta."""


def nearest(number: int) -> int:
    """The supported major nearest to one that may not be; a dump of another major is checked as this one."""
    return min(MAJORS, key=lambda major: abs(major - number))
