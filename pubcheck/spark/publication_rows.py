"""The content of `pubcheck explain` as rows: one for each publication, table and operation.

A publication that publishes nothing also has one row, so that every publication is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.engine.linter import Followed
from pubcheck.explain.build import publications_of
from pubcheck.explain.document import Identity, Publication, Refused
from pubcheck.explain.filters_compared import Samples
from pubcheck.rulebook import RULES

WRITE_RULES = frozenset(code for code, rule in RULES.items() if rule.phase == "write" and rule.default)
"""The rules without which it is not known whether an operation is refused."""


class Published(Struct, frozen=True, array_like=True, kw_only=True):
    """A row of the table `publications`: its columns (`schema.PUBLISHED`), in their order."""

    publication: str
    table: str | None
    operation: str | None
    postgres: tuple[int, ...]
    verdict: str | None
    certainty: str
    how: str | None = None
    named: str | None = None
    arrives_as: str | None = None
    filter: str | None = None
    canonical_filter: str | None = None
    filter_columns: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None
    left_out: tuple[str, ...] = ()
    identity: str | None = None
    identity_columns: tuple[str, ...] = ()
    rule: str | None = None
    sqlstate: str | None = None
    message: str | None = None
    path: str | None = None
    line: int | None = None
    names: str
    publish: tuple[str, ...]
    via_root: bool
    generated_columns: str


def published(followed: Followed, *, refusals_known: bool) -> list[Published]:
    """Return the rows of a unit; those that are alike in several majors are one."""
    majors: dict[Published, tuple[int, ...]] = {}
    for major, replay in zip(followed.result.postgres, followed.replays, strict=True):
        diagnostics = [finding for finding in followed.findings if major in finding.postgres]
        publications, identities = publications_of(replay, followed.statements, diagnostics, lambda *_: Samples())
        rows: list[Published] = []
        for publication in publications:
            base = _base(publication, major)
            rows += list(_rows(publication, identities, base, refusals_known)) or [base]
        if len(followed.replays) == 1:
            return rows
        for row in rows:
            alike = replace(row, postgres=())
            majors[alike] = (*majors.get(alike, ()), major)
    return [replace(row, postgres=numbers) for row, numbers in majors.items()]


def _base(publication: Publication, major: int) -> Published:
    """Return the fields that all rows of a publication share; the only row of one that publishes nothing."""
    return Published(
        publication=publication.name,
        table=None,
        operation=None,
        postgres=(major,),
        verdict="empty",
        certainty=publication.certainty,
        names=publication.kind,
        publish=publication.operations,
        via_root=publication.via_root,
        generated_columns=publication.generated_columns,
        path=publication.path,
        line=publication.line,
    )


def _rows(
    publication: Publication, identities: Mapping[str, Identity], base: Published, refusals_known: bool
) -> Iterator[Published]:
    for answer in publication.answers:
        refused: dict[str, Refused] = {}
        for cause in sorted(answer.refused, key=lambda cause: publication.name not in cause.publications):
            refused.setdefault(cause.operation, cause)
        condition = answer.filter
        for operation in answer.operations:
            if operation == "truncate" and not answer.truncate:
                continue
            refusal = refused.get(operation)
            may_be_refused = operation in ("update", "delete")
            if refusal is not None:
                verdict = "refused"
            elif may_be_refused and not refusals_known:
                verdict = None
            else:
                verdict = "filtered" if condition is not None and operation != "truncate" else "sent"
            row = replace(
                base,
                operation=operation,
                verdict=verdict,
                certainty=refusal.certainty if refusal is not None else answer.certainty,
                how=answer.how,
                named=answer.named,
                arrives_as=answer.arrives_as,
                filter=condition.sql if condition is not None else None,
                canonical_filter=condition.canonical if condition is not None else None,
                filter_columns=condition.columns if condition is not None else (),
                columns=answer.columns,
                left_out=answer.left_out,
                identity=answer.identity.kind,
                rule=refusal.rule if refusal is not None else None,
                sqlstate=refusal.sqlstate if refusal is not None else None,
                message=refusal.message if refusal is not None else None,
            )
            for table in answer.tables:
                yield replace(row, table=table, identity_columns=identities[table].columns)
    for left in publication.not_sent:
        for table in left.tables:
            yield replace(base, table=table, verdict="not-sent", message=left.reason)
