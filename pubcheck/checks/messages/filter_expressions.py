"""Texts for refused row filters (PUB201 to PUB213, PUB501, PUB503)."""

from __future__ import annotations

from pubcheck.checks.messages import MAKE_ROOT, UNEXPLAINED, Messages, MessageTemplate

_ORDER = "check the spelling, and that the object is created before this statement"
_TYPES = MessageTemplate(
    "the types in the row filter do not match: {message}",
    "compare values of the same type: a literal in quotes takes the type of the column",
)
_AMBIGUOUS = "cast the literals to the intended types"

MESSAGES: Messages = {
    "PUB201": {
        "no-column": MessageTemplate(
            'the row filter reads a column that {table} does not have: "{column}"',
            "check the spelling; strings are in single quotes; double quotes mark a column name",
        ),
        "column-out-of-reach": MessageTemplate(
            'the row filter reads "{column}" where it cannot be referenced', "filter on the columns of {table} alone"
        ),
        "no-table-of-name": MessageTemplate(
            'the row filter refers to "{name}", but only the columns of {table} can be read',
            "write the column without a table's name; there are neither aliases nor other tables in a row filter",
        ),
        "no-schema-of-expression": MessageTemplate(
            'the row filter names the schema "{schema}", which does not exist', _ORDER
        ),
        "no-type": MessageTemplate('the row filter names the type "{name}", which does not exist', _ORDER),
        "no-collation": MessageTemplate(
            'the row filter names the collation "{name}", which does not exist for encoding "UTF8"', _ORDER
        ),
        "improper-name": MessageTemplate(
            "the row filter names a column in too many parts: {name}", "write the column without a table's name"
        ),
        "expression": _TYPES,
    },
    "PUB202": {
        "no-table-of-child": MessageTemplate(
            'the row filter qualifies columns with "{name}.", but it is parsed again for each child table, which '
            "has another name",
            'write the columns without "{name}.", or ONLY before the table',
        ),
    },
    "PUB203": {
        "no-operator": MessageTemplate(
            "the row filter compares or computes with types that have no such operator: {signature}",
            "put a literal in quotes, so that it takes the column's type; of two columns, cast one to a type that "
            "filters can cast it to",
        ),
        "no-function": MessageTemplate(
            "the row filter calls a function that does not exist for these types: {signature}",
            "check the spelling and the types of the arguments; a function in another schema needs the schema's name",
        ),
        "operator-ambiguous": MessageTemplate(
            "several of the operators of that name fit equally well: {signature}", _AMBIGUOUS
        ),
        "function-ambiguous": MessageTemplate(
            "several of the functions of that name fit equally well: {signature}", _AMBIGUOUS
        ),
        "no-cast": MessageTemplate(
            "the row filter casts {source} to {target}, for which there is no cast",
            "compare in the column's own type",
        ),
        "types-unmatched": MessageTemplate(
            "the branches of {what} have types that cannot be combined: {one} and {other}",
            "give all of them one type; a literal in quotes takes the type of the others",
        ),
        "collation-mismatch": MessageTemplate(
            "the row filter compares texts of two collations: {message}",
            'write COLLATE "C", or another built-in collation, after one of them',
        ),
        "expression": _TYPES,
    },
    "PUB204": {
        "argument-type": (
            MessageTemplate(
                "the row filter is not a condition but a value of type {type}",
                "compare it with something, as in <> 0 or IS NOT NULL",
                where={"what": ("PUBLICATION WHERE",)},
            ),
            MessageTemplate(
                "the argument of {what} in the row filter must be of type {target}, not {type}",
                "compare it with something, as in <> 0 or IS NOT NULL",
            ),
        ),
    },
    "PUB205": {
        "literal-syntax": MessageTemplate(
            'the literal "{text}" in the row filter is not a valid {type}',
            "write a value of that type; the literal is compared with a value of that type",
        ),
        "literal-date-out-of-range": MessageTemplate(
            'the literal "{text}" in the row filter is not an existing date',
            "write dates as year-month-day, which does not depend on DateStyle",
        ),
        "literal-malformed": (
            MessageTemplate(
                'the literal "{text}" in the row filter is not an array',
                "write the elements in braces: '{{a,b}}'; to test whether an array contains a value, write = ANY (...)",
                where={"kind": ("array",)},
            ),
            MessageTemplate(
                "invalid literal for the type it is compared with: {message}",
                "write a value of that type",
            ),
        ),
        "literal": MessageTemplate(
            "invalid literal for the type it is compared with: {message}",
            "write a value of that type",
        ),
    },
    "PUB206": {
        "out-of-place": (
            MessageTemplate(
                "a row filter sees one row at a time, so {what} are not allowed in it",
                "store a value that depends on other rows in a column of the table",
                where={"clause": ("WHERE",)},
            ),
            MessageTemplate("the row filter contains something that is not allowed in it: {message}", "leave it out"),
        ),
        "set-out-of-place": (
            MessageTemplate(
                "a row filter returns one truth value per row, so functions that return sets are not allowed in it",
                "to search an array, write value = ANY (column)",
                where={"clause": ("WHERE",)},
            ),
            MessageTemplate("the row filter contains something that is not allowed in it: {message}", "leave it out"),
        ),
        "no-parameter": MessageTemplate(
            "a row filter is stored, so it has no parameters: {name}", "write the value itself"
        ),
        "construct-out-of-place": MessageTemplate(
            "the row filter contains something that is not allowed in it: {message}", "leave it out"
        ),
    },
    # What check_simple refuses is explained in row_filters.py; these are for a filter whose types are not known.
    "PUB207": {
        "filter-construct": MessageTemplate(
            "the row filter contains a construct that is not allowed",
            "compare columns with constants in the columns' own types",
        ),
    },
    "PUB208": {
        "filter-system-column": MessageTemplate(
            "the row filter reads a system column", "filter on columns of the table"
        ),
    },
    "PUB209": {
        "filter-mutable-function": MessageTemplate(
            "the row filter calls a function that is not immutable, perhaps in an operator or a cast",
            "compare values of one type, and leave out what depends on the time, the session or its settings",
        ),
    },
    "PUB210": {
        "filter-user-function": MessageTemplate(
            "the row filter calls a function that is not built in",
            "write the function's expression into the filter, or store its result in a generated column",
        ),
    },
    "PUB211": {
        "filter-user-operator": MessageTemplate(
            "the row filter uses an operator that is not built in",
            "use an operator of pg_catalog, or a stored generated column of a built-in type",
        ),
    },
    "PUB212": {
        "filter-user-type": MessageTemplate(
            "the row filter uses a type that is not built in",
            "filter on other columns, or on a stored generated column of a built-in type",
        ),
    },
    "PUB213": {
        "filter-user-collation": MessageTemplate(
            "the row filter uses a collation that is not built in",
            'use a built-in collation, such as "C"',
        ),
    },
    "PUB501": {
        "filter-on-partitioned-root": MessageTemplate(
            '"{relation}" is partitioned and {the_publication} publishes its partitions as themselves, so its row '
            "filter would never be used",
            f"publish through the root, {MAKE_ROOT}, or filter the partitions one by one",
        ),
    },
    "PUB503": {
        "via-root-needed": MessageTemplate(
            'partitioned table "{relation}" of publication "{publication}" has a {what}, which needs '
            "publish_via_partition_root",
            "remove it first: ALTER PUBLICATION {publication:sql} SET with the whole list",
        ),
    },
    "PUB605": {"row-error": UNEXPLAINED},
}
