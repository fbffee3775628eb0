"""Refused replica identities, in plain words."""

from __future__ import annotations

from collections.abc import Mapping

from pubcheck.checks.messages.template import MessageTemplate

_INDEX = "choose a unique index over NOT NULL columns that is neither partial, deferrable nor over an expression"

WORDS: Mapping[str, tuple[MessageTemplate, ...]] = {
    "replica-identity-ddl": (
        MessageTemplate(
            r'index "(?P<index>.*)" for table "(?P<relation>.*)" does not exist',
            'table "{relation}" has no index "{index}"',
            "make the index before this statement; its name stands without a schema",
        ),
        MessageTemplate(
            r'"(?P<index>.*)" is not an index for table "(?P<relation>.*)"',
            '"{index}" is an index of another table than "{relation}"',
            "name an index of this table",
        ),
        MessageTemplate(
            r'"(?P<index>.*)" is not an index', '"{index}" is not an index', "name a unique index of the table"
        ),
        MessageTemplate(
            r'cannot use non-unique index "(?P<index>.*)" as replica identity',
            'index "{index}" is not unique, so it cannot tell rows apart',
            _INDEX,
        ),
        MessageTemplate(
            r'cannot use non-immediate index "(?P<index>.*)" as replica identity',
            'index "{index}" is deferrable: for a while it can hold a key twice',
            "make its constraint NOT DEFERRABLE (drop it and add it anew), or choose another unique index",
        ),
        MessageTemplate(
            r'cannot use (?P<kind>expression|partial) index "(?P<index>.*)" as replica identity',
            'index "{index}" is {kind}: it does not identify every row by columns',
            _INDEX,
        ),
        MessageTemplate(
            r'index "(?P<index>.*)" cannot be used as replica identity because column "(?P<column>.*)" is nullable',
            'column "{column}" of index "{index}" may be NULL, so the index does not identify every row',
            "{alter_table} ALTER COLUMN {column:sql} SET NOT NULL first",
        ),
        MessageTemplate(
            r'index "(?P<index>.*)" cannot be used .*',
            'index "{index}" is over a system column',
            _INDEX,
        ),
        MessageTemplate(
            r'column "(?P<column>.*)" is in index used as replica identity',
            'column "{column}" is in the index that is the replica identity, so it must stay NOT NULL',
            "choose another replica identity first",
        ),
        MessageTemplate(
            r'ALTER action REPLICA IDENTITY cannot be performed on relation "(?P<relation>.*)"\n.*for (?P<kind>.*)s\.',
            '"{relation}" is a {kind}, and only tables have a replica identity',
            "name the table whose rows are changed",
        ),
        MessageTemplate(
            r'permission denied: "(?P<relation>.*)" is a system catalog',
            '"{relation}" is a system table, whose replica identity cannot be changed',
        ),
    ),
}
