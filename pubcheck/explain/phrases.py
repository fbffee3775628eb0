"""The words of `pubcheck explain`, for plain text and HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import UNSET, Struct

from pubcheck.explain.document import (
    Answer,
    Estimate,
    Explanation,
    FiltersCompared,
    FullCost,
    InitialCopy,
    Publication,
    Refused,
    Region,
    Row,
    Together,
    UnitExplained,
)
from pubcheck.findings import Entry
from pubcheck.report import count
from pubcheck.words import count_text, size_text

NAMED = 3
"""The number of tables that a group names before it counts the rest."""


def summary(explanation: Explanation) -> str:
    """Return one sentence that summarises the input."""
    among = f"{count(explanation.statements, explanation.noun)} of {count(explanation.files, explanation.container)}"
    publications = sum(len(unit.publications) for unit in explanation.units)
    if not publications:
        return f"No publication found in {among} (PostgreSQL {explanation.postgres})."
    tables = sum(len(published_tables(unit)) for unit in explanation.units)
    return (
        f"{count(publications, 'publication')} of {count(tables, 'table')}, from {among}"
        f" (PostgreSQL {explanation.postgres})."
    )


def published_tables(unit: UnitExplained) -> set[str]:
    """Return the tables that at least one publication publishes."""
    return {name for publication in unit.publications for answer in publication.answers for name in answer.tables}


def members(publication: Publication) -> str:
    """Return the members of a publication in words."""
    sequences = " and all sequences" if publication.sequences is not None else ""
    if publication.kind == "all tables":
        but = f" except {tables_of(publication.excluded)}" if publication.excluded else ""
        return f"all tables{but}{sequences} of the database, including future ones"
    if publication.kind == "all sequences":
        return "all sequences of the database, including future ones; no tables"
    if publication.kind == "empty":
        return "nothing: it has no members"
    parts = []
    if publication.schemas:
        parts.append(f"all tables of schema {', '.join(publication.schemas)}, including future ones")
    if "tables" in publication.kind.split():
        parts.append("tables by name")
    return " and ".join(parts)


def options(publication: Publication) -> str:
    """Return the publish option in words."""
    upper = [operation.upper() for operation in publication.operations]
    missing = [name for name in ("INSERT", "UPDATE", "DELETE", "TRUNCATE") if name not in upper]
    text = ", ".join(upper) if upper else "nothing at all"
    if missing and upper:
        text += f" (not {', '.join(missing)})"
    return text


def sequences(publication: Publication) -> str:
    """Return the sequences of a publication in words."""
    names = publication.sequences or ()
    values = "their values are copied by CREATE SUBSCRIPTION and REFRESH SEQUENCES only, and are not in the stream"
    return f"{tables_of(names)}: {values}" if names else "none yet"


def tables_of(names: Sequence[str], most: int = NAMED) -> str:
    """Return the first names, and the number of the others."""
    shown = ", ".join(names[:most])
    rest = len(names) - most
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def shortened(sql: str, most: int = 400) -> str:
    """Return SQL, cut if it is long."""
    return sql if len(sql) <= most else f"{sql[:most]}… ({len(sql):,} characters)"


def rows_seen(answer: Answer) -> str:
    """Return which rows a subscriber sees."""
    if answer.filter is None:
        return "all rows"
    return f"only rows for which this is true: {shortened(answer.filter.sql)}"


def columns_seen(answer: Answer, columns: Mapping[str, tuple[str, ...]]) -> str:
    """Return which columns a subscriber sees. ``columns`` has the columns of each table."""
    if answer.columns is None:
        all_but = f"all but the generated {', '.join(answer.left_out)}" if answer.left_out else "all"
        if len(answer.tables) > 1:
            return all_but
        return f"{all_but}: {', '.join(name for name in columns[answer.tables[0]] if name not in answer.left_out)}"
    text = ", ".join(answer.columns)
    return f"{text} (not {', '.join(answer.left_out)})" if answer.left_out else text


def identity_of(answer: Answer) -> str:
    """Return the replica identity in words."""
    identity = answer.identity
    columns = f" ({', '.join(identity.columns)})" if identity.columns else ""
    return {
        "primary key": f"the primary key{columns}",
        "index": f"the chosen index{columns}",
        "full": "FULL: every column of the old row is logged",
        "nothing": "NOTHING: old rows cannot be identified",
        "none": "none: the table has no key",
        "not visible": "unknown: not in these files",
    }.get(identity.kind, identity.kind)


def full_cost(cost: FullCost) -> str:
    """Return the cost of REPLICA IDENTITY FULL in words."""
    return (
        f"about {count_text(cost.changes_a_day)} UPDATEs and DELETEs a day log an old row of about "
        f"{size_text(cost.row_size)}; a subscriber without a key searches about {count_text(cost.rows)} rows for each "
        "(estimates)"
    )


def estimated_rows(estimate: Estimate) -> str:
    """Return the share of rows that a filter publishes in words."""
    low, high = f"{estimate.low:.0%}", f"{estimate.high:.0%}"
    share = f"about {low}" if low == high else f"between {low} and {high}"
    return f"{share} of the table's rows, of which there are about {count_text(estimate.rows)}, by its statistics"


def slot_texts(publication: Publication) -> Iterator[str]:
    """Yield the slots that read a publication, or may do so."""
    for slot in publication.slots or ():
        asks = {
            "certain": "asks for it",
            "assumed": f"asks for it if it is that of subscription {slot.subscription}",
            "unknown": "unknown what its reader asks for",
        }[slot.asks]
        state = "active" if slot.active else "inactive"
        behind = f", {size_text(slot.behind)} behind" if slot.behind is not None and slot.wal_status != "lost" else ""
        yield f"{slot.slot}: {asks}; {'lost' if slot.wal_status == 'lost' else state}{behind}"


def by_origin(findings: Sequence[Entry]) -> tuple[list[Entry], list[Entry]]:
    """Return the findings about a database, which point at objects, and those about files."""
    about_files = [row for row in findings if row.database_object is UNSET]
    return [row for row in findings if row.database_object is not UNSET], about_files


def arrives(answer: Answer) -> str:
    """Return the table name under which changes arrive at the subscriber."""
    if answer.arrives_as is not None:
        return answer.arrives_as
    return "its own name" if len(answer.tables) == 1 else "their own names"


def operation_results(answer: Answer) -> Iterator[tuple[str, str]]:
    """Yield each operation and its result. A filtered UPDATE that the publisher accepts has its own table."""
    filtered = answer.filter is not None
    refused = {refusal.operation for refusal in answer.refused if refusal.certainty == "certain"}
    doubted = {refusal.operation for refusal in answer.refused} - refused
    if "insert" in answer.operations:
        yield "INSERT", "published if the new row matches" if filtered else "published"
    if "update" in answer.operations and "update" in refused:
        yield "UPDATE", _NEVER_SENT
    elif "update" in answer.operations and not filtered:
        yield "UPDATE", f"published{_UNLESS_REFUSED if 'update' in doubted else ''}"
    if "delete" in answer.operations and "delete" in refused:
        yield "DELETE", _NEVER_SENT
    elif "delete" in answer.operations:
        sent = "published if the old row matches" if filtered else "published"
        yield "DELETE", f"{sent}{_UNLESS_REFUSED if 'delete' in doubted else ''}"
    if "truncate" in answer.operations:
        if answer.truncate:
            yield "TRUNCATE", "always published: no filter applies to it" if filtered else "published"
        else:
            yield "TRUNCATE", f"published if {answer.arrives_as} is truncated, not for the partition alone"


def copied_rows(copy: InitialCopy | None, filter_: str | None) -> str:
    """Return which rows the initial copy contains. ``filter_`` is the row filter, which is already shown."""
    if copy is None:
        return "nothing: the subscriber requests no table of that name"
    if copy.filter is None:
        text = "all rows"
    elif copy.filter == filter_:
        text = "the rows that match"
    else:
        text = f"rows for which this is true: {shortened(copy.filter)}"
    if copy.table is not None:
        text += f", as those of {copy.table}"
    return text


def refusals(answer: Answer, publication: str) -> Iterator[tuple[str, str, str]]:
    """Yield what the publisher refuses, the error's detail or hint, and the rule. UPDATE and DELETE with the same cause
    are together."""
    by_cause: dict[object, list[Refused]] = {}
    for refused in answer.refused:
        key = (refused.rule, refused.publications, refused.certainty)
        by_cause.setdefault(key, []).append(refused)
    for causes in by_cause.values():
        first = causes[0]
        verbs = " and ".join(refused.operation.upper() for refused in causes)
        assumed = " (assumed)" if first.certainty == "assumed" else ""
        because = "" if first.publications == (publication,) else f", because of {tables_of(first.publications)}"
        why = first.detail or first.hint or ""
        yield f"{verbs}, by the publisher{because}{assumed}", f"ERROR {first.sqlstate}: {why}", first.rule


class HelpLine(Struct, frozen=True):
    """A line of a help text: a sentence, or SQL with its cost as ``text``."""

    text: str
    sql: str = ""


def help_lines(text: str) -> Iterator[HelpLine]:
    """Yield the lines of a help text. Those of remedies are `- SQL  (cost)`."""
    for line in text.split("\n"):
        statements, separator, cost = line.rpartition("  (")
        if line.startswith("- ") and separator and cost.endswith(")"):
            yield HelpLine(cost[:-1], f"{statements[2:]};")
        else:
            yield HelpLine(line)


def sent_as(outcome: str) -> str:
    return {"nothing": "nothing", "INSERT": "an INSERT", "UPDATE": "an UPDATE", "DELETE": "a DELETE"}[outcome]


def row_text(row: Row) -> str:
    """Return an example row: ``a = 6, c = 'NSW'``. Long values are cut."""
    return ", ".join(f"{value.column} = {shortened_value(value.sql)}" for value in row)


def shortened_value(sql: str, most: int = 42) -> str:
    return sql if len(sql) <= most else f"{sql[: most - 2]}…{sql[-1]}"


def filter_pairs(filters: FiltersCompared) -> Iterator[str]:
    """Yield how the filters of each two publications relate."""
    for pair in filters.pairs:
        text = _PAIRS[pair.kind].format(pair.first, pair.second)
        yield f"{text}, as {row_text(pair.both)}" if pair.both else text


_PAIRS = {
    "equivalent": "{0} and {1} publish the same rows",
    "narrower": "every row of {0} is also published by {1}",
    "wider": "every row of {1} is also published by {0}",
    "disjoint": "no row is published by both {0} and {1}",
    "overlapping": "some rows are published by both {0} and {1}",
    "unknown": "whether {0} and {1} publish the same rows is not decided",
}


def rows_in_none(filters: FiltersCompared) -> str:
    """Return the reason why no publication publishes some rows, if it is NULL."""
    columns = " or ".join(filters.nulls)
    return f"only rows whose {columns} is NULL are published by none of them"


def drawn_regions(filters: FiltersCompared) -> list[Region]:
    """Return the regions so ordered that the rows of a publication are next to each other if possible. Rows that no
    publication publishes are last."""
    left = list(filters.regions or ())
    left.sort(key=lambda region: (len(region.publications), *map(filters.publications.index, region.publications)))
    ordered: list[Region] = []
    before: set[str] = set(filters.publications[:1])
    while left:
        last = before
        region = min(left, key=lambda region: (not region.publications, len(last ^ set(region.publications))))
        left.remove(region)
        ordered.append(region)
        before = set(region.publications)
    return ordered


def region_title(region: Region, filters: FiltersCompared) -> str:
    """Return which publications publish the rows of a region."""
    names = region.publications
    if len(names) < 2:
        return f"only {names[0]}" if names else "none of them"
    if len(names) == len(filters.publications):
        return "both" if len(names) == 2 else "all of them"
    return f"{', '.join(names[:-1])} and {names[-1]}"


def empty_regions(filters: FiltersCompared) -> Iterator[str]:
    """Yield which regions of interest have no rows: overlaps and the gap."""
    if filters.regions is None:
        yield "The filters divide the rows in more than 16 ways, too many to list."
        return
    if all(len(region.publications) < 2 for region in filters.regions):
        yield "No row is published twice."
    if all(region.publications for region in filters.regions):
        yield "Every row is published by at least one of them."


def region_text(region: Region) -> str:
    """Return whether there are rows in a region, with one of them."""
    if region.rows == "some":
        return f"such as {row_text(region.example)}" if region.example else "some"
    return "whether there are such rows is not decided"


def same_filters(answer: Answer) -> Iterator[str]:
    """Yield the publications with the same filter, and those whose filter means the same."""
    for identical, relation in ((True, "the same filter"), (False, "a filter that means the same")):
        names = [same.publication for same in answer.same_filter if same.identical == identical]
        if names:
            noun = "publication" if len(names) == 1 else "publications"
            yield f"{noun} {tables_of(names)} {'has' if len(names) == 1 else 'have'} {relation}"


def widening_publications(answer: Answer) -> Iterator[str]:
    """Yield the publications that publish more rows: together those without filter, and the first others."""
    open_ = [widening.publication for widening in answer.widened_by if widening.filter is None]
    if open_:
        have = "has" if len(open_) == 1 else "have"
        yield f"{tables_of(open_)}, which {have} no filter: subscribed together, all rows are published"
    filtered = [widening for widening in answer.widened_by if widening.filter is not None]
    for widening in filtered[:NAMED]:
        rows = shortened(widening.filter or "")
        yield f"{widening.publication}: subscribed together, rows for which {rows} are published too"
    rest = [widening.publication for widening in filtered[NAMED:]]
    if rest:
        yield f"{tables_of(rest)}, which {'has a filter of its' if len(rest) == 1 else 'have filters of their'} own"


def filters_together(together: Together) -> dict[str, list[str]]:
    """Return the conditions under which rows are published, with their operations."""
    operations: dict[str, list[str]] = {}
    for sending in together.operations:
        if sending.operation != "truncate":
            text = (
                " OR ".join(f"({shortened(part.sql)})" for part in sending.filters) if sending.filters else "all rows"
            )
            operations.setdefault(text, []).append(sending.operation.upper())
    return operations


def joined_filters(together: Together) -> str | None:
    """Return the filters as one condition, written as for the initial copy; None if the operations differ."""
    if len(filters_together(together)) != 1:
        return None
    parts = next((sending.filters for sending in together.operations if sending.filters), ())
    return parts[0].sql if len(parts) == 1 else " OR ".join(f"({part.sql})" for part in parts) or None


_NEVER_SENT = "refused by the publisher, so none is published"

_UNLESS_REFUSED = ", unless the publisher refuses it"
