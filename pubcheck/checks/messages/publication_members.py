"""Texts for refused changes of a publication's members, and for missing privileges (PUB130 to PUB136)."""

from __future__ import annotations

from pubcheck.checks.messages import UNEXPLAINED, Messages, MessageTemplate

MESSAGES: Messages = {
    "PUB130": {
        "table-already-member": MessageTemplate(
            '"{relation}" is in publication "{publication}" already',
            'remove "{relation}" from the statement; to change its row filter or column list, use ALTER PUBLICATION '
            "{publication:sql} SET with the whole list, or DROP TABLE and ADD TABLE in one transaction",
        ),
        "schema-already-member": MessageTemplate(
            'schema "{schema}" is in publication "{publication}" already', 'remove "{schema}" from the list'
        ),
    },
    "PUB131": {
        "table-not-member": MessageTemplate(
            '"{relation}" is not itself in {the_publication}, so it cannot be dropped from it',
            'remove "{relation}" from the list; a table that is published through its schema or its partitioned table '
            "cannot be dropped by itself, and a child that was created after its parent was added is not a member "
            "(write ONLY before the parent)",
        ),
        "schema-not-member": MessageTemplate(
            'schema "{schema}" is not in {the_publication}, so it cannot be dropped from it',
            'remove "{schema}" from the list; drop single tables of a schema with DROP TABLE',
        ),
    },
    "PUB132": {
        "drop-with-column-list": MessageTemplate(
            "DROP removes a table from {the_publication} completely, so it takes no column list",
            "write the table's name alone; to change the list, use SET, or DROP and ADD in one transaction",
        ),
        "drop-with-filter": MessageTemplate(
            "DROP removes a table from {the_publication} completely, so it takes no row filter",
            "write the table's name alone; to change the filter, use SET, or DROP and ADD in one transaction",
        ),
    },
    "PUB133": {
        "all-tables-fixed": MessageTemplate(
            'publication "{publication}" is FOR {scope}: its list cannot be changed',
            "DROP PUBLICATION {publication:sql} and create it again with a list (subscribers must then refresh)",
        ),
        "set-all-of-list": MessageTemplate(
            'publication "{publication}" has a list of tables or schemas, so it cannot become FOR ALL {kind}',
            "DROP its tables and schemas from it first, or DROP PUBLICATION {publication:sql} and create it again",
        ),
    },
    "PUB134": {
        "create-in-database": MessageTemplate(
            'the current role may not create in database "{database}"',
            "GRANT CREATE ON DATABASE {database:sql} to it",
        ),
        "publication-owner": MessageTemplate(
            'the current role does not own publication "{publication}"',
            "run this as its owner, or ALTER PUBLICATION {publication:sql} OWNER TO that role",
        ),
        "relation-owner": MessageTemplate(
            'the current role does not own the {kind} "{relation}"', "run this as the owner, or as a superuser"
        ),
        "all-tables-of-superuser": MessageTemplate(
            "only a superuser may create a publication FOR ALL TABLES or ALL SEQUENCES",
            "run this as a superuser, or list the tables instead: their owner may publish them",
        ),
        "set-all-of-superuser": MessageTemplate(
            "only a superuser may use SET ALL {kind}, also for a publication that is FOR ALL {kind} already",
            "run this as a superuser",
        ),
        "schemas-of-superuser": MessageTemplate(
            "only a superuser may publish a schema",
            "run this as a superuser, or list the tables instead: their owner may publish them",
        ),
        "owner-not-superuser": MessageTemplate(
            'publication "{publication}" is FOR ALL TABLES or FOR TABLES IN SCHEMA, so its owner must be a superuser',
            "choose a superuser as the owner, or run this as a superuser",
        ),
        "no-role": MessageTemplate('there is no role "{role}"', "CREATE ROLE first; PUBLIC is not a role"),
        "set-role": MessageTemplate(
            'the current role may not make "{role}" an owner: it cannot SET ROLE to it',
            "GRANT {role:sql} to it, or run this as a superuser",
        ),
        "permission": UNEXPLAINED,
    },
    "PUB136": {
        "read-only-transaction": MessageTemplate(
            "the transaction is read-only, and {command} is refused in it",
            "run it outside the transaction, or SET default_transaction_read_only = off before it",
        ),
    },
}
