"""What refusals say to people: the server's answer in plain words, and an action.

The server's own words stand beside these in every report, so a headline repeats them only where they are plain enough.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from pubcheck.checks.messages import WORDS
from pubcheck.diagnostics import Severity
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.identifiers import identifier, qualified


class _Name(str):
    """A name out of an answer; formatted with ``sql`` it is quoted where SQL needs it."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return identifier(self) if spec == "sql" else str(self)


def explain(error: ServerError) -> tuple[str, str | None]:
    """Headline and help for a refusal. An answer that has no words of its own is told in the server's."""
    # The tables of words are only needed where something is refused.

    answer = error.message if error.detail is None else f"{error.message}\n{error.detail}"
    for words in WORDS.get(error.rule or "", ()):
        match = re.fullmatch(words.answer, answer, re.DOTALL)
        if match is not None:
            fields = _fields(error)
            fields.update((key, _Name(value or "")) for key, value in match.groupdict().items())
            if error.relation is None and "relation" in fields:
                # The server's messages leave the schema out.
                fields["table_sql"] = identifier(fields["relation"])
            return words.headline.format_map(fields), words.help and words.help.format_map(fields)
    return f"PostgreSQL refuses this statement: {error.message}", None


def _fields(error: ServerError) -> dict[str, str]:
    """What every text may use: with names where the error knows them, in general terms where it does not."""
    publication, relation = error.publication, error.relation
    return {
        "message": error.message,
        "publication": "the publication" if publication is None else f'publication "{publication}"',
        "table": "the table" if relation is None else f'"{relation}"',
        "alter_publication": f"ALTER PUBLICATION {'...' if publication is None else identifier(publication)}",
        "table_sql": "..." if relation is None else qualified(relation.removeprefix("public.")),
        "alter_table": f"ALTER TABLE {'...' if relation is None else qualified(relation)}",
    }


# --- What these files do not show ---------------------------------------------------------------------------------

_MISSING = r'(?P<kind>relation|schema|publication) "(?P<name>.*)" does not exist'
_KINDS = {"relation": "table", "schema": "schema", "publication": "publication"}
_UNSEEN_HELP = (
    "if it is made elsewhere, lint the files that make it together with these, or name it in the configuration where a "
    "platform makes it; with --complete, which says that they are the whole database, this is an error"
)


def explain_unseen(error: ServerError, others: Sequence[str]) -> tuple[str, str | None]:
    """Headline and help for a name that the unit neither makes nor drops, so that it may exist all the same.

    ``others``: the server's messages for the further such names of the statement, in the order of the text.
    """
    headline = f"{missing_name(error.message)} is not created in these files"
    if others:
        rest = [missing_name(message) for message in others[:2]]
        more = len(others) - len(rest)
        listed = ", ".join(rest) + (f" and {more} more" if more else "")
        headline += f", nor {'is' if len(others) == 1 else 'are'} {listed}"
    return headline, _UNSEEN_HELP


def missing_name(message: str) -> str:
    """The kind and the name of what the server says does not exist; its whole message where that says neither."""
    match = re.fullmatch(_MISSING, message, re.DOTALL)
    return message if match is None else f'{_KINDS[match["kind"]]} "{match["name"]}"'


# --- Filters that are accepted ------------------------------------------------------------------------------------

_FROZEN: tuple[tuple[str, Severity, str, str], ...] = (
    (
        "now",
        "warning",
        "{literal} is read once, when the publication is made, and the filter keeps that moment for good",
        "write the moment that is meant; a filter cannot move with the time",
    ),
    (
        "zone",
        "note",
        "{literal} has no time zone: it is read in that of the session that makes the publication",
        "write an offset, as in '2024-01-01 00:00:00+00', or SET timezone before this statement",
    ),
    (
        "datestyle",
        "note",
        "which day {literal} is depends on the DateStyle of the session that makes the publication",
        "write dates as year-month-day",
    ),
)


def frozen_words(literal: str, kinds: Collection[str]) -> tuple[Severity, str, str]:
    """Severity, headline and help for a literal whose value the making of the publication fixes."""
    for kind, severity, headline, help_text in _FROZEN:
        if kind in kinds:
            return severity, headline.format(literal=literal), help_text
    raise ValueError(f"nothing is known of {kinds}")


def unjudged_words(unknown: str) -> tuple[str, str]:
    """Headline and help for a filter whose verdict rests on what is not visible, which ``unknown`` names."""
    return (
        f"whether PostgreSQL accepts this row filter cannot be known: {unknown or 'something'} is not visible here",
        "lint the files that make it together with these, or ask a server",
    )
