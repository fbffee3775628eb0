"""The PostgreSQL majors that pubcheck knows. Each is a row: the features of its predecessor and what it changes."""

from __future__ import annotations

from functools import cache

from msgspec import Struct
from msgspec.structs import replace


class Major(Struct, frozen=True, kw_only=True):
    """The facts in which majors differ. A feature is False in 15 if nothing else is written, and each is named once
    more below, in the row of the major that changed it. Other code asks for a feature and never compares the number.

    ``newer_grammar``: statements that the parser refuses may be those of a newer grammar (the package of that name).

    Publications and what is sent of them.

    ``publishes_sequences``: a publication may publish all sequences, and leave tables out of all tables.
    ``publish_generated_columns``: the option exists, and stored generated columns may be listed.
    ``set_validates_columns``: ALTER PUBLICATION ... SET validates column lists before it drops members.
    ``skips_missing_publications``: decoding skips a publication that does not exist, and does not stop at it.
    ``copy_combines_publications``: the initial copy reads the publications of a subscription together, so it copies a
    partition once. ``lists_count_generated``: a column list counts as none if it has as many columns as the table,
    generated and dropped ones included. ``apply_uses_any_index``: the subscriber of a table with REPLICA IDENTITY FULL
    looks for rows by any usable index. ``origin_filter``: origins can be filtered, and "any" and "none" name none.
    ``parallel_streaming``: streaming may be parallel. ``requires_plugin_options``: pgoutput names the option that is
    missing. ``protocol_refused_by_server``: the words in which pgoutput refuses a version of the protocol.
    ``schema_change_invalidates``: a connected reader learns that a schema was renamed.
    ``membership_change_is_local``: a table that joins or leaves a publication invalidates only its own entry.
    ``skips_aborted``: decoding drops the changes of transactions that it finds aborted, and sends Stream Abort even
    if it sent nothing of the transaction.
    ``messages_open_block``: test_decoding writes BEGIN before a transaction's first message.

    Subscriptions.

    ``subscription_rights``: pg_create_subscription, password_required, and CREATE on the database.
    ``enabled_refusal_names_option``: an option that an enabled subscription does not take is refused by its name.
    ``subscription_options``: the options that 15 does not have. ``alters_two_phase``: two_phase can be altered.

    A running server.

    ``slots_on_standbys``: a standby may have logical slots, which its primary does not show.
    ``slot_invalidation``: pg_replication_slots says since when a slot is inactive, and why it was invalidated.
    ``replica_level_decodes``: wal_level = replica is enough; the first logical slot makes the server write more.
    ``conflict_counts``: pg_stat_subscription_stats counts conflicts. ``sync_errors_by_kind``: it counts failed
    synchronizations of tables and of sequences apart.

    Tables, types and other objects.

    ``virtual_columns``: VIRTUAL generated columns. ``own_generation``: a child's generated column may have its own
    expression, and only where its parent's is generated. ``set_expression``: ALTER COLUMN ... SET EXPRESSION.
    ``column_storage``: a new column may have a STORAGE clause. ``distinct_primary_keys``: a primary key cannot use an
    existing index with NULLS NOT DISTINCT. ``named_not_null``: NOT NULL constraints of tables are rows with names.
    ``domain_not_null``: those of domains are. ``enforcement``: constraints may be [NOT] ENFORCED.
    ``alters_check_enforcement``: ALTER CONSTRAINT does that to CHECK constraints too. ``gist_inet``: inet has a default
    operator class in gist. ``schema_elements_in_order``: CREATE SCHEMA runs its elements as they are written, foreign
    keys last. ``standard_strings_only``: standard_conforming_strings is always on.
    ``partitions_inherit_identity``: an identity column is the partitions' too, with the root's sequence.
    ``exclusion_partitioned``: a partitioned table may have exclusion constraints. ``attaches_same_kind``: ATTACH
    PARTITION no longer accepts a unique constraint for a primary key. ``unlogged_partitioned``: a partitioned table may
    be unlogged. ``partitioned_access_methods``: it may have an access method. ``default_access_method``: SET ACCESS
    METHOD DEFAULT. ``refuses_partitioned_storage``: storage parameters of a partitioned table have a message of their
    own. ``alter_type_position``: a refused ALTER COLUMN ... TYPE points to its place. ``opens_by_kind``: a relation
    that cannot be opened is reported with a DETAIL about its kind. ``select_rules_of_views_only``: an ON SELECT rule no
    longer makes a view of a table. ``set_role_option``: memberships have a SET option.
    ``numbered_array_names``: a second array type of a name gets a number. ``new_enum_values_usable``: values of an enum
    that the transaction created may be used in it. ``ranges_not_binary_compatible``: no cast WITHOUT FUNCTION of
    ranges. ``matviews_filled_by_refresh``: CREATE MATERIALIZED VIEW fills the view as REFRESH does.
    ``identity_needs_valid_not_null``: REPLICA IDENTITY USING INDEX refuses a NOT NULL constraint that is NOT VALID.
    ``dependency_in_sentences``: the DETAIL of a refused ALTER COLUMN ... TYPE ends with a full stop.
    ``restrict_violation``: ON DELETE RESTRICT has an SQLSTATE of its own. ``maintain_privilege``: MAINTAIN.
    ``event_triggers_setting``: the setting event_triggers.

    Queries.

    ``generic_plan``: EXPLAIN (GENERIC_PLAN). ``merge_returning``: MERGE has RETURNING and NOT MATCHED BY SOURCE, and
    may be a query in WITH. ``merge_into_views``: it writes to views. ``returning_old_new``: RETURNING WITH (OLD AS o).
    ``anti_joins_hash_either_side``: the rows of NOT EXISTS may come in either side's order.
    ``sql_json_constructors``: JSON_OBJECT, JSON_ARRAY, IS JSON. ``sql_json_functions``: JSON, JSON_SCALAR,
    JSON_SERIALIZE, JSON_EXISTS, JSON_QUERY, JSON_VALUE. ``json_refuses_pseudo_types``: no RETURNING of a pseudo-type.
    ``json_coerces_to_length``: a constructor RETURNING a type with a length is coerced implicitly, through text.
    ``json_coerces_by_assignment``: any constructor is, by assignment. ``system_functions_qualified``: SYSTEM_USER and
    its like are pg_catalog's whatever the search_path. ``reach_in_detail``: why a name is out of reach is in DETAIL.
    ``lookup_failure_details``: so is why no function or operator fits.
    ``internal_not_callable``: no call takes or gives the type internal. ``json_predicate_position``: IS JSON of another
    type has a position. ``quoted_settings``: messages quote the names of settings. ``settings_in_case``: they write
    DateStyle. ``range_containment_simplified``: the planner takes containment in a constant range apart.
    ``bound_cursors_unnamed``: the variable of a bound cursor is NULL until it is opened.
    ``type_references_parsed``: %TYPE of a missing column is refused by its name.

    Values.

    ``nondecimal_integers``: 0x1F, 0o17, 0b11 and 1_000. ``checked_transaction_ids``: junk in an xid is refused.
    ``greatest_exponent``: a numeric may have the greatest exponent. ``real_error_names_number``: a real out of range is
    reported without the text after it. ``power_of_significant_digits``: power() rounds to significant digits, not to
    decimal places. ``strict_dates``: date words that nothing follows are refused. ``strict_run_together_dates``: junk
    after run-together digits is. ``strict_intervals``: an interval's unit without a number, or AGO before its end, is.
    ``infinite_intervals``: intervals have infinities. ``interval_rounding_checked``: rounding may be out of range.
    ``timestamp_difference_checked``: so may the difference of timestamps. ``infinite_fields_checked``: date_trunc
    checks the unit for an infinity too. ``interval_weeks``: intervals have weeks to extract.
    ``negative_quarters``: quarters of negative intervals are counted backwards. ``session_abbreviations``:
    abbreviations of the session's time zone come first. ``strict_arrays``: array_in was rewritten.
    ``json_lone_surrogates_refused``: a high surrogate before a raw character is refused. ``jsonb_null_casts``: a null
    of jsonb is cast to NULL. ``null_key_sqlstate``: a NULL key of json_build_object has an SQLSTATE of its own.
    ``jsonpath_methods``: .bigint(), .string() etc. ``jsonpath_text_methods``: .lower(), .split_part() etc.
    ``jsonpath_words``: wording of jsonpath's syntax errors.
    ``hstore_words``: wording of hstore's. ``long_ltree_labels``: labels have up to 1000 letters, hyphens among them.
    ``input_refused_by_name``: a type without input is refused as "cannot accept a value of type ...".
    ``schemas_looked_up_softly``: regclass in a missing schema is a missing relation.

    Values of other types.

    ``text_search_languages``: the languages, in addition to those of 15, with a configuration and a dictionary.
    """

    number: int
    text_search_languages: frozenset[str] = frozenset()
    subscription_options: frozenset[str] = frozenset()

    newer_grammar: bool = False

    publishes_sequences: bool = False
    publish_generated_columns: bool = False
    set_validates_columns: bool = False
    skips_missing_publications: bool = False
    copy_combines_publications: bool = False
    lists_count_generated: bool = False
    apply_uses_any_index: bool = False
    origin_filter: bool = False
    parallel_streaming: bool = False
    requires_plugin_options: bool = False
    protocol_refused_by_server: bool = False
    schema_change_invalidates: bool = False
    membership_change_is_local: bool = False
    skips_aborted: bool = False
    messages_open_block: bool = False

    subscription_rights: bool = False
    enabled_refusal_names_option: bool = False
    alters_two_phase: bool = False

    slots_on_standbys: bool = False
    slot_invalidation: bool = False
    replica_level_decodes: bool = False
    conflict_counts: bool = False
    sync_errors_by_kind: bool = False

    virtual_columns: bool = False
    own_generation: bool = False
    set_expression: bool = False
    column_storage: bool = False
    distinct_primary_keys: bool = False
    named_not_null: bool = False
    domain_not_null: bool = False
    enforcement: bool = False
    alters_check_enforcement: bool = False
    gist_inet: bool = False
    schema_elements_in_order: bool = False
    standard_strings_only: bool = False
    partitions_inherit_identity: bool = False
    exclusion_partitioned: bool = False
    attaches_same_kind: bool = False
    unlogged_partitioned: bool = False
    partitioned_access_methods: bool = False
    default_access_method: bool = False
    refuses_partitioned_storage: bool = False
    alter_type_position: bool = False
    opens_by_kind: bool = False
    select_rules_of_views_only: bool = False
    set_role_option: bool = False
    numbered_array_names: bool = False
    new_enum_values_usable: bool = False
    ranges_not_binary_compatible: bool = False
    matviews_filled_by_refresh: bool = False
    identity_needs_valid_not_null: bool = False
    dependency_in_sentences: bool = False
    restrict_violation: bool = False
    maintain_privilege: bool = False
    event_triggers_setting: bool = False

    generic_plan: bool = False
    merge_returning: bool = False
    merge_into_views: bool = False
    returning_old_new: bool = False
    anti_joins_hash_either_side: bool = False
    sql_json_constructors: bool = False
    sql_json_functions: bool = False
    json_refuses_pseudo_types: bool = False
    json_coerces_to_length: bool = False
    json_coerces_by_assignment: bool = False
    system_functions_qualified: bool = False
    reach_in_detail: bool = False
    lookup_failure_details: bool = False
    internal_not_callable: bool = False
    json_predicate_position: bool = False
    quoted_settings: bool = False
    settings_in_case: bool = False
    range_containment_simplified: bool = False
    bound_cursors_unnamed: bool = False
    type_references_parsed: bool = False

    nondecimal_integers: bool = False
    checked_transaction_ids: bool = False
    greatest_exponent: bool = False
    real_error_names_number: bool = False
    power_of_significant_digits: bool = False
    strict_dates: bool = False
    strict_run_together_dates: bool = False
    strict_intervals: bool = False
    infinite_intervals: bool = False
    interval_rounding_checked: bool = False
    timestamp_difference_checked: bool = False
    infinite_fields_checked: bool = False
    interval_weeks: bool = False
    negative_quarters: bool = False
    session_abbreviations: bool = False
    strict_arrays: bool = False
    json_lone_surrogates_refused: bool = False
    jsonb_null_casts: bool = False
    null_key_sqlstate: bool = False
    jsonpath_methods: bool = False
    jsonpath_text_methods: bool = False
    jsonpath_words: bool = False
    hstore_words: bool = False
    long_ltree_labels: bool = False
    input_refused_by_name: bool = False
    schemas_looked_up_softly: bool = False

    def includes(self, first: int) -> bool:
        """Return whether something that came with a major, as a table of data says, is in this one."""
        return self.number >= first


_15 = Major(number=15, lists_count_generated=True, unlogged_partitioned=True)
_16 = replace(
    _15,
    number=16,
    subscription_options=frozenset(("origin", "password_required", "run_as_owner")),
    lists_count_generated=False,
    copy_combines_publications=True,
    apply_uses_any_index=True,
    origin_filter=True,
    parallel_streaming=True,
    protocol_refused_by_server=True,
    schema_change_invalidates=True,
    subscription_rights=True,
    own_generation=True,
    column_storage=True,
    distinct_primary_keys=True,
    refuses_partitioned_storage=True,
    opens_by_kind=True,
    select_rules_of_views_only=True,
    set_role_option=True,
    numbered_array_names=True,
    generic_plan=True,
    anti_joins_hash_either_side=True,
    sql_json_constructors=True,
    system_functions_qualified=True,
    reach_in_detail=True,
    bound_cursors_unnamed=True,
    nondecimal_integers=True,
    checked_transaction_ids=True,
    greatest_exponent=True,
    real_error_names_number=True,
    power_of_significant_digits=True,
    strict_dates=True,
    timestamp_difference_checked=True,
    json_lone_surrogates_refused=True,
    null_key_sqlstate=True,
    jsonpath_words=True,
    hstore_words=True,
    long_ltree_labels=True,
    input_refused_by_name=True,
    schemas_looked_up_softly=True,
    slots_on_standbys=True,
)
_17 = replace(
    _16,
    number=17,
    subscription_options=_16.subscription_options | {"failover"},
    requires_plugin_options=True,
    messages_open_block=True,
    slot_invalidation=True,
    set_expression=True,
    domain_not_null=True,
    partitions_inherit_identity=True,
    exclusion_partitioned=True,
    attaches_same_kind=True,
    partitioned_access_methods=True,
    default_access_method=True,
    new_enum_values_usable=True,
    ranges_not_binary_compatible=True,
    matviews_filled_by_refresh=True,
    maintain_privilege=True,
    event_triggers_setting=True,
    merge_returning=True,
    merge_into_views=True,
    sql_json_functions=True,
    json_refuses_pseudo_types=True,
    json_coerces_to_length=True,
    quoted_settings=True,
    range_containment_simplified=True,
    type_references_parsed=True,
    strict_intervals=True,
    infinite_intervals=True,
    interval_rounding_checked=True,
    strict_arrays=True,
    jsonpath_methods=True,
)
_18 = replace(
    _17,
    number=18,
    alters_two_phase=True,
    publish_generated_columns=True,
    set_validates_columns=True,
    skips_missing_publications=True,
    membership_change_is_local=True,
    skips_aborted=True,
    enabled_refusal_names_option=True,
    conflict_counts=True,
    virtual_columns=True,
    named_not_null=True,
    enforcement=True,
    unlogged_partitioned=False,
    alter_type_position=True,
    restrict_violation=True,
    returning_old_new=True,
    json_coerces_by_assignment=True,
    settings_in_case=True,
    strict_run_together_dates=True,
    infinite_fields_checked=True,
    interval_weeks=True,
    negative_quarters=True,
    session_abbreviations=True,
    jsonb_null_casts=True,
    text_search_languages=frozenset(("estonian",)),
)
_19 = replace(
    _18,
    number=19,
    newer_grammar=True,
    subscription_options=_18.subscription_options
    | {"max_retention_duration", "retain_dead_tuples", "wal_receiver_timeout"},
    publishes_sequences=True,
    identity_needs_valid_not_null=True,
    dependency_in_sentences=True,
    replica_level_decodes=True,
    sync_errors_by_kind=True,
    alters_check_enforcement=True,
    gist_inet=True,
    schema_elements_in_order=True,
    standard_strings_only=True,
    lookup_failure_details=True,
    internal_not_callable=True,
    json_predicate_position=True,
    jsonpath_text_methods=True,
    text_search_languages=frozenset(("esperanto", "estonian", "polish")),
)

BY_NUMBER: dict[int, Major] = {major.number: major for major in (_15, _16, _17, _18, _19)}
MAJORS: tuple[int, ...] = tuple(BY_NUMBER)
DEFAULT_MAJOR = 18
"""The latest major that was measured on a released server; 19 was measured on its third beta."""

NEWER_GRAMMAR = next(number for number, major in BY_NUMBER.items() if major.newer_grammar)
"""The major that messages name where only its grammar accepts a statement."""


@cache
def span(text: str) -> tuple[int, ...]:
    """The majors of "15", "15-17", "18-" (from 18 on), "15, 17-" or "" (all). Raises ValueError."""
    chosen: set[int] = set()
    for part in text.replace(",", " ").split():
        first, open_end, last = part.partition("-")
        until = int(last) if last else MAJORS[-1] if open_end else int(first)
        chosen.update(major for major in MAJORS if int(first) <= major <= until)
    return tuple(sorted(chosen)) if text else MAJORS


def nearest(number: int) -> int:
    """The supported major nearest to one that may not be; a dump of another major is checked as this one."""
    return min(MAJORS, key=lambda major: abs(major - number))
