"""Refused changes of published tables, and refused subscriptions, in plain words."""

from __future__ import annotations

from collections.abc import Mapping

from pubcheck.checks.messages.template import MessageTemplate

WORDS: Mapping[str, tuple[MessageTemplate, ...]] = {
    "publication-missing-subscribe": (
        MessageTemplate(
            r'publication name "(?P<name>.*)" used more than once',
            'publication "{name}" is named twice in one subscription',
            "name it once",
        ),
        MessageTemplate(
            r'publication "(?P<name>.*)" is already in subscription "(?P<subscription>.*)"',
            'subscription "{subscription}" has publication "{name}" already',
            "leave it out; SET PUBLICATION takes the whole list",
        ),
    ),
    "ddl-drop-column": (
        MessageTemplate(
            r"cannot drop column (?P<column>.*) of table (?P<relation>.*) because other objects depend on it\n.*",
            'column "{column}" is used by {publication}, in a row filter or a column list',
            "change the publication first ({alter_publication} SET with the whole list); CASCADE would take the whole "
            "table out of it",
        ),
        MessageTemplate(
            r"cannot drop (?P<what>.*) because other objects depend on (?:it|them)\n.*",
            "{publication} depends on what is dropped, by a row filter or a column list of {table}",
            "change the publication first ({alter_publication} SET with the whole list); CASCADE would take the whole "
            "table out of it",
        ),
    ),
    "ddl-alter-type": (
        MessageTemplate(
            r'.*\n.* depends on column "(?P<column>.*)"',
            'the type of column "{column}" is fixed: {publication} uses it in a row filter or a column list',
            "in one transaction take {table} out of the publication, change the type, and put it back",
        ),
    ),
    "ddl-set-unlogged": (
        MessageTemplate(
            r'cannot change table "(?P<relation>.*)" to unlogged .*',
            'table "{relation}" is in {publication}, so it must stay logged',
            "take it out of every publication first: {alter_publication} DROP TABLE {table_sql}",
        ),
        MessageTemplate(
            r'ALTER action SET UNLOGGED cannot be performed on relation "(?P<relation>.*)"\n.*',
            'a partitioned table ("{relation}") cannot be made unlogged',
            "change its partitions one by one; of a published root nothing of an unlogged partition is sent",
        ),
    ),
    "ddl-set-expression": (
        MessageTemplate(
            r'.*\nColumn "(?P<column>.*)" of relation "(?P<relation>.*)" is .*',
            'the expression of "{column}" is fixed as long as "{relation}" is in a publication',
            "in one transaction take the table out of its publications, change the expression, and put it back",
        ),
    ),
}
