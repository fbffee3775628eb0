"""Refused row filters, in plain words, as far as the answer alone tells them."""

from __future__ import annotations

from collections.abc import Mapping

from pubcheck.checks.messages.template import MessageTemplate

_MAKE_ROOT = "WITH (publish_via_partition_root = true)"

WORDS: Mapping[str, tuple[MessageTemplate, ...]] = {
    "rf-name-resolution": (
        MessageTemplate(
            r'column (?:"(?P<column>.*)"|(?P<dotted>\S*)) does not exist',
            'the row filter reads a column that {table} does not have: "{column}{dotted}"',
            "check the spelling; texts stand in single quotes, and double quotes make a column's name",
        ),
        MessageTemplate(
            r'(?:missing|invalid reference to) FROM-clause entry for table "(?P<name>.*)"(?:\n.*)?',
            'the row filter speaks of "{name}", and only the columns of {table} can be read',
            "write the column without a table's name; there are neither aliases nor other tables in a row filter",
        ),
        MessageTemplate(
            r'schema "(?P<name>.*)" does not exist',
            'the row filter names the schema "{name}", which does not exist',
            "check the spelling, and that what makes it comes before this statement",
        ),
        MessageTemplate(
            r'(?P<kind>type|collation) "(?P<name>[^"]*)"(?P<encoding> for encoding "[^"]*")? does not exist',
            'the row filter names the {kind} "{name}", which does not exist{encoding}',
            "check the spelling, and that what makes it comes before this statement",
        ),
        MessageTemplate(
            r"(?:cross-database references are not implemented|improper qualified name .*?): (?P<name>.*)",
            "the row filter names a column in too many parts: {name}",
            "write the column without a table's name",
        ),
        MessageTemplate(
            r"operator does not exist: (?P<what>.*)",
            "the row filter compares or computes with types that have no such operator: {what}",
            "put a literal in quotes, so that it takes the column's type; of two columns, cast one to a type that "
            "filters can cast it to",
        ),
        MessageTemplate(
            r"function (?P<what>.*) does not exist",
            "the row filter calls a function that does not exist for these types: {what}",
            "check the spelling and the types of the arguments; a function in another schema needs the schema's name",
        ),
        MessageTemplate(
            r"(?P<kind>operator|function) (?:is not unique: )?(?P<what>.*?)(?: is not unique)?",
            "several of the {kind}s of that name fit equally well: {what}",
            "cast the literals to the types that are meant",
        ),
        MessageTemplate(
            r"cannot cast type (?P<source>.*) to (?P<target>.*)",
            "the row filter casts {source} to {target}, for which there is no cast",
            "compare in the type that the column has",
        ),
        MessageTemplate(
            r"(?P<what>.*) types (?P<one>.*) and (?P<other>.*) cannot be matched",
            "the branches of {what} have types that do not go together: {one} and {other}",
            "give all of them one type; a literal in quotes takes the type of the others",
        ),
        MessageTemplate(
            r"collation mismatch between .*",
            "the row filter compares texts of two collations: {message}",
            'write COLLATE "C", or another built-in collation, after one of them',
        ),
        MessageTemplate(
            r".*",
            "the types in the row filter do not fit: {message}",
            "compare like with like: a literal in quotes takes the type of the column",
        ),
    ),
    "rf-not-boolean": (
        MessageTemplate(
            r"argument of PUBLICATION WHERE must be type boolean, not type (?P<type>.*)",
            "the row filter is no condition, but a value of type {type}",
            "compare it with something, as in <> 0 or IS NOT NULL",
        ),
        MessageTemplate(
            r"argument of (?P<what>.*) must (?P<rest>.*)",
            "what {what} is given in the row filter must {rest}",
            "compare it with something, as in <> 0 or IS NOT NULL",
        ),
    ),
    "rf-literal": (
        MessageTemplate(
            r'invalid input syntax for type (?P<type>[^:]*): "(?P<text>.*)"(?:\n.*)?',
            'the literal "{text}" in the row filter is no {type}',
            "write a value of that type; the type is that of what the literal is compared with",
        ),
        MessageTemplate(
            r'date/time field value out of range: "(?P<text>.*)"',
            'the literal "{text}" in the row filter is no date that exists',
            "write dates as year-month-day, which does not depend on DateStyle",
        ),
        MessageTemplate(
            r'malformed array literal: "(?P<text>.*?)"(?:\n.*)?',
            'the literal "{text}" in the row filter is no array',
            "write the elements in braces: '{{a,b}}'; whether one value is in an array asks = ANY (...)",
        ),
        MessageTemplate(
            r".*",
            "a literal in the row filter is no value of the type that it meets: {message}",
            "write a value of that type",
        ),
    ),
    "rf-clause-kind": (
        MessageTemplate(
            r"(?P<what>aggregate functions|grouping operations|window functions) are not allowed in WHERE",
            "a row filter sees one row at a time, so {what} have no place in it",
            "keep what depends on other rows in a column of the table",
        ),
        MessageTemplate(
            r"set-returning functions are not allowed in WHERE",
            "a row filter says yes or no once for a row, so functions that return sets have no place in it",
            "to look into an array, write value = ANY (column)",
        ),
        MessageTemplate(
            r"there is no parameter (?P<name>.*)",
            "a row filter is stored, so it has no parameters: {name}",
            "write the value itself",
        ),
        MessageTemplate(
            r".*",
            "the row filter holds what has no meaning in it: {message}",
            "leave it out",
        ),
    ),
    # What the walk refuses is told part by part, in checks/filters.py; this is for where the part is not known.
    "rf-system-column": (
        MessageTemplate(r".*", "the row filter reads a system column", "filter on columns of the table"),
    ),
    "rf-mutable-function": (
        MessageTemplate(
            r".*",
            "the row filter calls a function that is not immutable, perhaps in an operator or a cast",
            "compare values of one type, and leave out what depends on the time, the session or its settings",
        ),
    ),
    "rf-user-function": (
        MessageTemplate(
            r".*",
            "the row filter calls a function that is not built in",
            "write what it does into the filter, or store what it gives in a generated column",
        ),
    ),
    "rf-user-operator": (
        MessageTemplate(
            r".*",
            "the row filter uses an operator that is not built in",
            "use an operator of pg_catalog, or a stored generated column of a built-in type",
        ),
    ),
    "rf-user-type": (
        MessageTemplate(
            r".*",
            "the row filter has to do with a type that is not built in",
            "filter on other columns, or on a stored generated column of a built-in type",
        ),
    ),
    "rf-user-collation": (
        MessageTemplate(
            r".*",
            "the row filter works with a collation that is not built in",
            'use a built-in collation, such as "C"',
        ),
    ),
    "rf-node-not-allowed": (
        MessageTemplate(
            r".*",
            "the row filter holds a construct that filters may not have",
            "compare columns with constants in the columns' own types",
        ),
    ),
    "inheritance-qualified-filter": (
        MessageTemplate(
            r'missing FROM-clause entry for table "(?P<name>.*)"',
            'the row filter says "{name}.", and it is read anew for each child table, which has another name',
            'write the columns without "{name}.", or ONLY before the table',
        ),
    ),
    "rf-partitioned-root": (
        MessageTemplate(
            r'cannot use publication WHERE clause for relation "(?P<relation>.*)"\n.*',
            '"{relation}" is partitioned and {publication} publishes its partitions as themselves, so its row filter '
            "would never be used",
            f"publish through the root, {_MAKE_ROOT}, or filter the partitions one by one",
        ),
    ),
    "viaroot-to-false": (
        MessageTemplate(
            r'.* for publication "(?P<name>.*)"\nThe publication contains a (?P<what>.*) for partitioned table '
            r'"(?P<relation>.*)", which .*',
            'partitioned table "{relation}" of publication "{name}" has a {what}, which needs '
            "publish_via_partition_root",
            "take it off first: ALTER PUBLICATION {name:sql} SET with the whole list anew",
        ),
    ),
}
