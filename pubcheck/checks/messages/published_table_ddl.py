"""Texts for refused changes of published tables (PUB701 to PUB704, PUB714)."""

from __future__ import annotations

from pubcheck.checks.messages import UNEXPLAINED, Messages, MessageTemplate

_CHANGE_PUBLICATION = (
    "change the publication first ({alter_publication} SET with the whole list); CASCADE would drop the whole table "
    "from it"
)

MESSAGES: Messages = {
    "PUB701": {
        "column-in-publication": MessageTemplate(
            'column "{column}" is used by {the_publication}, in a row filter or a column list', _CHANGE_PUBLICATION
        ),
        "object-in-publication": MessageTemplate(
            "{the_publication} depends on the dropped object through a row filter or a column list of {table}",
            _CHANGE_PUBLICATION,
        ),
    },
    "PUB702": {
        "type-of-column-in-publication": MessageTemplate(
            'the type of column "{column}" cannot be changed: {the_publication} uses it in a row filter or a column '
            "list",
            "in one transaction drop {table} from the publication, change the type, and add it again",
        ),
        "type-of-column-in-expression": UNEXPLAINED,
    },
    "PUB703": {
        "set-unlogged-of-member": MessageTemplate(
            'table "{relation}" is in {the_publication}, so it must stay logged',
            "take it out of every publication first: {alter_publication} DROP TABLE {table_sql}",
        ),
        "set-unlogged-of-partitioned": MessageTemplate(
            'a partitioned table ("{relation}") cannot be made unlogged',
            "change its partitions one by one; changes of an unlogged partition are not published, even if its root is",
        ),
    },
    "PUB704": {
        "set-expression-in-publication": MessageTemplate(
            'the expression of "{column}" cannot be changed while "{relation}" is in a publication',
            "in one transaction drop the table from its publications, change the expression, and add it again",
        ),
    },
    "PUB714": {
        "attach-excluded": MessageTemplate(
            'table "{relation}" cannot become a partition: EXCEPT of {publications} names it',
            "take it out of EXCEPT first: {alter_publication} SET ALL TABLES with the other tables; as a partition it "
            "is left out only if EXCEPT names its partitioned table",
        ),
    },
}
