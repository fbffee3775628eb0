"""Refused changes of a publication's members, and rights, in plain words."""

from __future__ import annotations

from collections.abc import Mapping

from pubcheck.checks.messages.template import MessageTemplate

WORDS: Mapping[str, tuple[MessageTemplate, ...]] = {
    "already-member": (
        MessageTemplate(
            r'relation "(?P<relation>.*)" is already member of publication "(?P<name>.*)"',
            '"{relation}" is in publication "{name}" already',
            "leave it out; to change its row filter or column list, ALTER PUBLICATION {name:sql} SET with the whole "
            "list, or DROP TABLE and ADD TABLE in one transaction",
        ),
        MessageTemplate(
            r'schema "(?P<schema>.*)" is already member of publication "(?P<name>.*)"',
            'schema "{schema}" is in publication "{name}" already',
            "leave it out",
        ),
    ),
    "not-member": (
        MessageTemplate(
            r'relation "(?P<relation>.*)" is not part of the publication',
            '"{relation}" is not itself in {publication}, so it cannot be dropped from it',
            "leave it out; a table that is published through its schema or its partitioned table cannot be dropped by "
            "itself, and a child made after its parent was added is no member (write ONLY before the parent)",
        ),
        MessageTemplate(
            r'tables from schema "(?P<schema>.*)" are not part of the publication',
            'schema "{schema}" is not in {publication}, so it cannot be dropped from it',
            "leave it out; single tables of a schema are dropped with DROP TABLE",
        ),
    ),
    "drop-with-filter": (
        MessageTemplate(
            r"column list .*",
            "DROP takes a table out of {publication} whole, so it takes no column list",
            "write the table's name alone; to change the list, use SET, or DROP and ADD in one transaction",
        ),
        MessageTemplate(
            r"cannot use a WHERE clause .*",
            "DROP takes a table out of {publication} whole, so it takes no row filter",
            "write the table's name alone; to change the filter, use SET, or DROP and ADD in one transaction",
        ),
    ),
    "for-all-tables-fixed": (
        MessageTemplate(
            r'publication "(?P<name>.*)" is defined as FOR ALL TABLES\n(?P<what>Tables|Schemas) .*',
            'publication "{name}" is FOR ALL TABLES: its list cannot be changed',
            "DROP PUBLICATION {name:sql} and make it anew with a list (subscribers must then refresh)",
        ),
    ),
    "permission": (
        MessageTemplate(
            r"cannot execute (?P<command>.*) in a read-only transaction",
            "the transaction is read-only, and {command} is refused in it",
            "take it out of the transaction, or SET default_transaction_read_only = off before it",
        ),
        MessageTemplate(
            r"permission denied for database (?P<database>.*)",
            'the current role may not create in database "{database}"',
            "GRANT CREATE ON DATABASE {database:sql} to it",
        ),
        MessageTemplate(
            r"must be owner of publication (?P<name>.*)",
            'the current role does not own publication "{name}"',
            "run this as its owner, or ALTER PUBLICATION {name:sql} OWNER TO that role",
        ),
        MessageTemplate(
            r"must be owner of (?P<kind>table|view|materialized view|sequence|foreign table|index) (?P<relation>.*)",
            'the current role does not own the {kind} "{relation}"',
            "run this as the owner, or as a superuser",
        ),
        MessageTemplate(
            r"must be superuser to create FOR ALL TABLES publication",
            "only a superuser may make a publication FOR ALL TABLES",
            "run this as a superuser, or list the tables, which their owner may",
        ),
        MessageTemplate(
            r"must be superuser to (?:create FOR TABLES IN SCHEMA publication|add or set schemas)",
            "only a superuser may publish a schema",
            "run this as a superuser, or list the tables, which their owner may",
        ),
        MessageTemplate(
            r'permission denied to change owner of publication "(?P<name>.*)"',
            'publication "{name}" is FOR ALL TABLES or FOR TABLES IN SCHEMA, so its owner must be a superuser',
            "give it to a superuser, or change the owner as one",
        ),
        MessageTemplate(
            r'role "(?P<role>.*)" does not exist',
            'there is no role "{role}"',
            "CREATE ROLE first; PUBLIC is not a role",
        ),
        MessageTemplate(
            r'must be (?:able to SET ROLE|member of role) "(?P<role>.*)"',
            'the current role may not give anything to "{role}": it cannot become that role',
            "GRANT {role:sql} to it, or run this as a superuser",
        ),
    ),
}
