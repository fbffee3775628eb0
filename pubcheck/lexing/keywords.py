"""Keywords of PostgreSQL's grammar that are not plain names (src/include/parser/kwlist.h)."""

from __future__ import annotations

_RESERVED = """
    all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation
    column concurrently constraint create cross current_catalog current_date current_role current_schema
    current_time current_timestamp current_user default deferrable desc distinct do else end except false fetch for
    foreign freeze from full grant group having ilike in initially inner intersect into is isnull join lateral
    leading left like limit localtime localtimestamp natural not notnull null offset on only or order outer overlaps
    placing primary references returning right select session_user similar some symmetric system_user table
    tablesample then to trailing true union unique user using variadic verbose when where window with
"""
_COLUMN_NAMES = """
    between bigint bit boolean char character coalesce dec decimal exists extract float greatest grouping inout int
    integer interval least national nchar none normalize nullif numeric out overlay position precision real row
    setof smallint substring time timestamp treat trim values varchar xmlattributes xmlconcat xmlelement xmlexists
    xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable
"""
LATER = {
    16: "json_array json_arrayagg json_object json_objectagg system_user",
    17: "json json_exists json_query json_scalar json_serialize json_table json_value merge_action",
}

RESERVED = frozenset(_RESERVED.split())
"""Words that name no table, column or role unless they are quoted (RESERVED_KEYWORD and TYPE_FUNC_NAME_KEYWORD of
PostgreSQL 18)."""
QUOTED_SINCE = {
    **dict.fromkeys((*RESERVED, *_COLUMN_NAMES.split()), 15),
    **{word: major for major, words in LATER.items() for word in words.split()},
}
"""The words that quote_identifier quotes, RESERVED and COL_NAME_KEYWORD, with the first major that does (15 for any
earlier one)."""
