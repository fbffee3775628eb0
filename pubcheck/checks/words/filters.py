"""Refused row filters, in plain words, as far as the answer alone tells them."""

from __future__ import annotations

from collections.abc import Mapping

from pubcheck.checks.words.shape import Words

_MAKE_ROOT = "WITH (publish_via_partition_root = true)"

WORDS: Mapping[str, tuple[Words, ...]] = {
    "rf-name-resolution": (
        Words(
            r'column (?:"(?P<column>.*)"|(?P<dotted>\S*)) does not exist',
            'the row filter reads a column that {table} does not have: "{column}{dotted}"',
            "check the spelling; texts stand in single quotes, and double quotes make a column's name",
        ),
        Words(
            r'missing FROM-clause entry for table "(?P<name>.*)"',
            'the row filter speaks of "{name}", and only the columns of {table} can be read',
            "write the column without a table's name; there are neither aliases nor other tables in a row filter",
        ),
    ),
    "inheritance-qualified-filter": (
        Words(
            r'missing FROM-clause entry for table "(?P<name>.*)"',
            'the row filter says "{name}.", and it is read anew for each child table, which has another name',
            'write the columns without "{name}.", or ONLY before the table',
        ),
    ),
    "rf-partitioned-root": (
        Words(
            r'cannot use publication WHERE clause for relation "(?P<relation>.*)"\n.*',
            '"{relation}" is partitioned and {publication} publishes its partitions as themselves, so its row filter '
            "would never be used",
            f"publish through the root, {_MAKE_ROOT}, or filter the partitions one by one",
        ),
    ),
    "viaroot-to-false": (
        Words(
            r'.* for publication "(?P<name>.*)"\nThe publication contains a (?P<what>.*) for partitioned table '
            r'"(?P<relation>.*)", which .*',
            'partitioned table "{relation}" of publication "{name}" has a {what}, which needs '
            "publish_via_partition_root",
            "take it off first: ALTER PUBLICATION {name:sql} SET with the whole list anew",
        ),
    ),
}
