"""Refused column lists, in plain words."""

from __future__ import annotations

from collections.abc import Mapping

from pubcheck.checks.messages.template import MessageTemplate

_LIST = r'cannot use column list for relation "(?P<relation>.*)" in publication "(?P<name>.*)"\n'

_MAKE_ROOT = "WITH (publish_via_partition_root = true)"

WORDS: Mapping[str, tuple[MessageTemplate, ...]] = {
    "cl-unknown-column": (
        MessageTemplate(
            r'column "(?P<column>.*)" of relation "(?P<relation>.*)" does not exist',
            'the column list names "{column}", which "{relation}" does not have',
            "check the spelling; a parent's list can name the parent's columns only",
        ),
    ),
    "cl-system-column": (
        MessageTemplate(
            r'cannot use system column "(?P<column>.*)" in publication column list',
            'the column list names "{column}", which the server keeps for itself',
            "leave it out",
        ),
        MessageTemplate(
            r"negative bitmapset member not allowed",
            "the column list of {table} names a system column (this major answers with an internal error)",
            "leave it out",
        ),
    ),
    "cl-duplicate-column": (
        MessageTemplate(
            r'duplicate column "(?P<column>.*)" in publication column list',
            'the column list names "{column}" twice',
            "keep one of the two",
        ),
    ),
    "cl-generated-column": (
        MessageTemplate(
            r'cannot use virtual generated column "(?P<column>.*)" in publication column list',
            'the column list names "{column}", a virtual generated column, which is not stored and cannot be sent',
            "leave it out and let the subscriber's table generate it, or make it STORED",
        ),
        MessageTemplate(
            r'cannot use generated column "(?P<column>.*)" in publication column list',
            'the column list names "{column}", a generated column, which is not sent before PostgreSQL 18',
            "leave it out and let the subscriber's table generate it",
        ),
    ),
    "cl-with-schema": (
        MessageTemplate(
            rf"{_LIST}.*",
            'publication "{name}" cannot hold both a column list ("{relation}") and TABLES IN SCHEMA',
            "publish the tables with column lists in a publication of their own; a subscription can name both",
        ),
        MessageTemplate(
            r'cannot add schema to publication "(?P<name>.*)"\n.*',
            'a table of publication "{name}" has a column list, so no schema can be added',
            "publish the schema in a publication of its own; a subscription can name both",
        ),
    ),
    "cl-partitioned-root": (
        MessageTemplate(
            rf"{_LIST}.*",
            '"{relation}" is partitioned and publication "{name}" publishes its partitions as themselves, so its '
            "column list would never be used",
            f"publish through the root, {_MAKE_ROOT}, or give the partitions lists one by one",
        ),
    ),
}
