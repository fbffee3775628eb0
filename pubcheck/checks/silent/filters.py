"""Effects of row filters that PostgreSQL does not report: rows that never match, transformed UPDATEs, lost values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pubcheck.checks.context import (
    Filtered,
    RuleContext,
    RuleFinding,
    by_publication,
    finds,
    first_places,
    listed,
    published_roots,
    quoted,
)
from pubcheck.checks.silent.three_valued_logic import NULL, TRUE, possible
from pubcheck.checks.tables import can_be_toasted, table_name
from pubcheck.postgres.catalog.rows import Filter, Place, Publication, Relation
from pubcheck.postgres.primnodes import Expr
from pubcheck.postgres.replication.publication_lookup import (
    ReplicaIdentity,
    partition_columns,
    replica_identity,
    sent_columns,
)
from pubcheck.postgres.tokens import identifier


def analysed(filtered: Filtered) -> Expr | None:
    """A filter as the server reads it; None where that is not known."""
    expr = filtered.entry.filter.expr if filtered.entry.filter is not None else None
    return expr if isinstance(expr, Expr) else None


def once_a_place(context: RuleContext) -> Iterator[Filtered]:
    """The filters in use; of one that children of its table have as well, the first."""
    seen: set[tuple[int, Place]] = set()
    for filtered in context.visit(context.filtered):
        key = (filtered.entry.publication, filtered.entry.place)
        if key not in seen:
            seen.add(key)
            yield filtered


@finds("PUB603")
def null_never_matches(context: RuleContext) -> Iterator[RuleFinding]:
    """Nullable columns whose NULLs make a filter NULL, which is as good as false; or a filter that is always NULL."""
    for filtered in once_a_place(context):
        expr = analysed(filtered)
        if expr is None or filtered.entry.filter is None:
            continue
        try:
            never, perhaps = _nulls(context, filtered, filtered.entry.filter, expr)
        except RecursionError:
            continue
        table, publication = context.name(filtered.relation), filtered.publication.name
        if never is None:
            message = f"the row filter on {table} is NULL for every row: no change of a row is published"
            advice = (
                "a filter that is NULL counts as false; write the intended condition, or drop the table from the "
                "publication"
            )
            yield _of_filter(context, filtered, message, advice)
            continue
        if never:
            message = f"rows of {table} whose {_either(filtered, never)} is NULL are not published: the row filter of "
            message += f'publication "{publication}" is then NULL, which counts as false'
            yield _of_filter(context, filtered, message, _ADVICE, never)
        if perhaps:
            message = (
                f"rows of {table} whose {_either(filtered, perhaps)} is NULL are not published where no other part of "
            )
            message += f'the row filter of publication "{publication}" is true: it is then NULL, which counts as false'
            yield _of_filter(context, filtered, message, _ADVICE, perhaps)


_ADVICE = (
    "decide about them: {0} IS NOT NULL AND ... excludes them, ... OR {0} IS NULL publishes them; or make "
    "the column NOT NULL"
)


def _nulls(
    context: RuleContext, filtered: Filtered, condition: Filter, expr: Expr
) -> tuple[list[int] | None, list[int]]:
    """Return the columns whose NULL always keeps a row from being published, and those whose NULL may do so.

    In the second case another part of the filter may still be true. The first is None if the filter is always NULL."""
    cache, relation = context.session.syscache, filtered.relation
    without = possible(cache, expr)
    if without == NULL:
        return None, []
    never: list[int] = []
    perhaps: list[int] = []
    for number in condition.columns:
        if not _can_be_null(context, relation, number) or _refused_anyway(context, filtered, number):
            continue
        outcomes = possible(cache, expr, number)
        if outcomes & NULL and outcomes != without:
            unsure = {number for number in condition.columns if not relation.columns[number - 1].not_null}
            (perhaps if possible(cache, expr, number, unsure) & TRUE else never).append(number)
    return never, perhaps


def _either(filtered: Filtered, columns: list[int]) -> str:
    return listed(quoted(filtered.relation.columns[number - 1].name for number in columns), last="or")


def _of_filter(
    context: RuleContext, filtered: Filtered, message: str, advice: str, columns: Sequence[int] = ()
) -> RuleFinding:
    """Report at the first of the columns; ``advice`` names it as {0}."""
    relation, condition, place = filtered.relation, filtered.entry.filter, filtered.entry.place
    if columns and condition is not None:
        advice = advice.format(identifier(relation.columns[columns[0] - 1].name))
        place = next((place for number, place in condition.places if number == columns[0]), place)
    return RuleFinding(
        rule="PUB603",
        message=message,
        help=advice,
        place=place,
        certain=filtered.certain,
        related=_table(relation, "the column can be NULL") if columns else (),
        object=context.session.qualified(relation),
        publications=(filtered.publication.name,),
        columns=tuple(relation.columns[number - 1].name for number in columns),
    )


def _refused_anyway(context: RuleContext, filtered: Filtered, number: int) -> bool:
    """Return whether UPDATE or DELETE is refused because the filter reads the column: that is to be fixed first."""
    publication = filtered.publication
    if not (publication.update or publication.delete):
        return False
    for leaf in context.leaves(filtered.relation)[:1]:
        identity = replica_identity(context.catalog, leaf)
        return not identity.full and not identity.columns.issuperset(
            partition_columns(filtered.relation, leaf, (number,))
        )
    return False


def _can_be_null(context: RuleContext, relation: Relation, number: int) -> bool:
    """Return whether a column, in any partition, can be NULL. A partition's own key makes it NOT NULL."""
    if not _nullable(context, relation, number):
        return False
    leaves = context.leaves(relation) if relation.kind == "p" else []
    mapped_to = [(leaf, partition_columns(relation, leaf, (number,))) for leaf in leaves]
    return not leaves or any(not numbers or _nullable(context, leaf, numbers[0]) for leaf, numbers in mapped_to)


def _nullable(context: RuleContext, relation: Relation, number: int) -> bool:
    """Return whether a column can certainly be NULL: no NOT NULL, domain or CHECK of the unit forbids it."""
    column = relation.columns[number - 1]
    if not relation.seen or not column.type or column.not_null or column.generated or column.identity:
        return False
    catalog, oid = context.catalog, column.type
    while oid in catalog.types and catalog.types[oid].kind == "d":
        if catalog.types[oid].not_null or catalog.types[oid].checked:
            return False
        oid = catalog.types[oid].base
    checks = (catalog.constraints[constraint] for constraint in catalog.constraints_of.get(relation.oid))
    return not any(number in row.not_null and row.validated for row in checks)


def _table(relation: Relation, message: str) -> tuple[tuple[Place, str], ...]:
    return () if relation.place is None else ((relation.place, message),)


@finds("PUB602")
def toast_lost(context: RuleContext) -> Iterator[RuleFinding]:
    """UPDATEs that bring a row into a filter are sent as INSERTs that lack unchanged values stored out of line."""
    for filtered in once_a_place(context):
        publication, relation = filtered.publication, filtered.relation
        if not publication.update or filtered.entry.filter is None or not filtered.entry.filter.columns:
            continue
        losing = ((leaf, _lost_rows(context, filtered, leaf)) for leaf in context.leaves(relation))
        lost_leaves = [(leaf, lost) for leaf, lost in losing if lost is not None]
        if lost_leaves:
            leaf, (names, identity) = lost_leaves[0]
            rows = f"a row of {listed(context.name(lost_leaf) for lost_leaf, _ in lost_leaves)}"
            values = "an unchanged long value" if len(names) == 1 else "unchanged long values"
            message = (
                f'an UPDATE that moves {rows} into the row filter of "{publication.name}" is published as an INSERT '
                f"without {values} of {listed(quoted(names))}: the subscriber stores NULL"
            )
            advice = (
                f"ALTER TABLE {table_name(context.session, leaf)} REPLICA IDENTITY FULL logs the old values, so that "
                "they are published (at the cost of every old row in WAL); or never change what the filter reads; "
                "or "
                "publish without a filter"
            )
            keys = [leaf.columns[number - 1].name for number in sorted(identity.columns)]
            yield RuleFinding(
                rule="PUB602",
                message=message,
                help=advice,
                place=filtered.entry.filter.places[0][1] if filtered.entry.filter.places else filtered.entry.place,
                certain=filtered.certain and leaf.seen,
                related=_table(leaf, f"the replica identity is ({', '.join(keys)}), without {listed(names)}"),
                object=context.session.qualified(leaf),
                publications=(publication.name,),
                columns=tuple(names),
                operation="update",
                also=context.qualified(leaf for leaf, _ in lost_leaves)[1:],
            )


def _lost_rows(context: RuleContext, filtered: Filtered, leaf: Relation) -> tuple[list[str], ReplicaIdentity] | None:
    """The columns whose values an INSERT made of an UPDATE can lack, and the identity that lacks them.

    None where there are none, where the UPDATE is refused anyway, or where what the filter reads is hardly ever
    changed: a key of one column, a number that is always generated.
    """
    catalog, relation = context.catalog, filtered.relation
    identity = replica_identity(catalog, leaf)
    if identity.full or not identity.exists or filtered.entry.filter is None or not leaf.seen:
        return None
    read = partition_columns(relation, leaf, filtered.entry.filter.columns)
    if not identity.columns.issuperset(read) or len(identity.columns) == 1:
        return None
    if all(leaf.columns[number - 1].identity == "a" for number in read):
        return None
    generated = filtered.publication.generated == "s"
    sent = partition_columns(relation, leaf, sent_columns(relation, filtered.entry.columns, generated))
    cache = context.session.syscache
    columns = [leaf.columns[number - 1] for number in sent if number not in identity.columns]
    names = [column.name for column in columns if can_be_toasted(cache, column)]
    return (names, identity) if names else None


@finds("PUB601")
def update_transformed(context: RuleContext) -> Iterator[RuleFinding]:
    """Filters on UPDATE: what comes into the filter is sent as INSERT, what leaves it as DELETE."""
    for publication, filters in by_publication(context):
        if not (publication.update or publication.insert):
            continue
        tables = listed(context.name(filtered.relation) for filtered in filters)
        if publication.update:
            message = (
                f'publication "{publication.name}" publishes an UPDATE that moves a row of {tables} into its row '
                "filter "
                "as INSERT, and one that moves it out as DELETE"
            )
            unpublished = [name for name in ("insert", "delete") if not getattr(publication, name)]
            if unpublished:
                message += f", although it does not publish {' and '.join(unpublished)}"
            advice = (
                "none is needed if the subscriber should have exactly the matching rows; `pubcheck explain` shows "
                "the table"
            )
        else:
            message = (
                f'publication "{publication.name}" does not publish updates: a row of {tables} that an UPDATE moves '
                "into its row filter never reaches the subscriber"
            )
            advice = "publish updates too, or filter on columns that never change"
        yield _of_filters(context, "PUB601", publication, filters, message, advice)


@finds("PUB604")
def truncate_ignores_filter(context: RuleContext) -> Iterator[RuleFinding]:
    """TRUNCATE is sent whole, whatever the filter says."""
    for publication, filters in by_publication(context):
        if publication.truncate:
            tables = listed(context.name(filtered.relation) for filtered in filters)
            message = (
                f"TRUNCATE of {tables} empties the subscriber's table, "
                f'also of rows that the row filter of "{publication.name}" never covered'
            )
            advice = "leave truncate out of publish: WITH (publish = 'insert, update, delete')"
            yield _of_filters(context, "PUB604", publication, filters, message, advice)
    yield from _leaf_truncates(context)


def _leaf_truncates(context: RuleContext) -> Iterator[RuleFinding]:
    """Under the root, TRUNCATE of one partition is not sent at all."""
    catalog = context.catalog
    for publication in context.visit(catalog.publications.values()):
        place = context.place_of(publication)
        if not (publication.truncate and publication.via_root) or place is None:
            continue
        roots = [root for root in published_roots(context, publication) if catalog.children.has(root.oid)]
        if roots:
            yield RuleFinding(
                rule="PUB604",
                message=f"TRUNCATE of a single partition of {listed(context.name(root) for root in roots)} is not "
                f'published: publication "{publication.name}" publishes the partitions as their root',
                help="TRUNCATE the root, or DELETE the partition's rows",
                place=place,
                certain=publication.seen and all(root.seen for root in roots),
                object=context.session.qualified(roots[0]),
                publications=(publication.name,),
                operation="truncate",
                also=context.qualified(roots)[1:],
            )


def _of_filters(
    context: RuleContext, rule: str, publication: Publication, filters: list[Filtered], message: str, advice: str
) -> RuleFinding:
    first, *rest = filters
    return RuleFinding(
        rule=rule,
        message=message,
        help=advice,
        place=first.entry.place,
        certain=all(filtered.certain for filtered in filters),
        related=first_places(
            [(filtered.entry.place, "here too") for filtered in rest if filtered.entry.place != first.entry.place]
        ),
        object=context.session.qualified(first.relation),
        publications=(publication.name,),
        also=context.qualified(filtered.relation for filtered in filters)[1:],
    )
