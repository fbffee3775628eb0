"""The assumptions of a finding: the first few unknowns that it depends on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from pubcheck.diagnostics import Assumption, Span
from pubcheck.postgres.catalog.rows import Namespace, Publication, Relation, Role
from pubcheck.postgres.catalog.tables import Reason
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.statement_context import Basis
from pubcheck.statement_index import Statements

if TYPE_CHECKING:
    from pubcheck.checks.context import RuleFinding
    from pubcheck.checks.write.replica_identity import Refusal

_Row = Relation | Publication | Namespace | Role

MOST = 3
"""The number of assumptions that a finding lists."""


class Grounds:
    """Collects the assumptions of the findings of one major."""

    def __init__(self, session: Session, statements: Statements) -> None:
        self.session, self._statements = session, statements

    def assumptions_of(self, basis: Basis, publication: str | None) -> tuple[Assumption, ...]:
        """Record the server's answer to the current statement, which may be about a publication."""
        session, catalog = self.session, self.session.catalog
        oid = catalog.publication_names.get(publication) if publication is not None else None
        reasons = [
            *([] if basis.conditional is None else [basis.conditional]),
            *basis.reasons,
            *self._of_rows(catalog.relations.get(oid) for oid in session.mentions),
            *self._of_rows(map(self._row, basis.rows)),
            *self._of_rows([catalog.publications.get(oid)] if oid is not None else ()),
        ]
        return self._shown(reasons or list(self._in_general()))

    def of(
        self,
        relations: Iterable[Relation | None],
        publications: Iterable[Publication | None],
        flags: Iterable[str] = (),
        unknown: str = "",
        *,
        general: bool = True,
    ) -> tuple[Assumption, ...]:
        """Return the unknowns that may have changed these relations and publications, and those of a filter
        (``unknown``).

        ``general``: if there are none, return the unknowns of the session.
        """
        reasons = [*self._of_rows(relations), *self._of_rows(publications), *self._of_flags(flags)]
        reasons += [Reason(unknown)] if unknown else []
        return self._shown(reasons or (list(self._in_general()) if general else []))

    def of_finding(self, finding: RuleFinding) -> tuple[Assumption, ...]:
        """Return the assumptions of a finding about the final state."""
        catalog = self.session.catalog
        relations = [self._relation(name) for name in (finding.object, *finding.also) if name is not None]
        publications = [
            catalog.publications[oid]
            for name in finding.publications
            if (oid := catalog.publication_names.get(name)) is not None
        ]
        return (*finding.assumptions, *self.of(relations, publications, general=not finding.assumptions))[:MOST]

    def of_refusal(self, refusal: Refusal) -> tuple[Assumption, ...]:
        """Return the assumptions of a write that is refused in the final state."""
        catalog = self.session.catalog
        oids = [refusal.relation, *catalog.ancestors(refusal.relation)]
        entry = refusal.entry
        unknown = entry.filter.unknown if entry is not None and entry.filter is not None else ""
        return self.of(
            [catalog.relations[oid] for oid in oids],
            [catalog.publications[refusal.publication]],
            ("healed",),
            unknown,
        )

    def _relation(self, qualified: str) -> Relation | None:
        schema, _, name = qualified.partition(".")
        catalog = self.session.catalog
        oid = catalog.relation_names.get((catalog.namespace_names.get(schema, 0), name))
        return catalog.relations[oid] if oid is not None else None

    def _row(self, oid: int) -> _Row | None:
        catalog = self.session.catalog
        heaps = (catalog.relations, catalog.publications, catalog.namespaces, catalog.roles)
        return next((row for heap in heaps if (row := heap.get(oid)) is not None), None)

    def _of_rows(self, rows: Iterable[_Row | None]) -> Iterator[Reason]:
        known = self.session.catalog.reasons.rows
        for row in rows:
            if row is not None and not row.seen:
                yield known.get(row.oid) or Reason(f"{self._named(row)}, which these files do not create")

    def _named(self, row: _Row) -> str:
        if isinstance(row, Relation):
            return f"table {self.session.qualified(row)}"
        kind = {Publication: "publication", Namespace: "schema", Role: "role"}[type(row)]
        return f'{kind} "{row.name}"'

    def _of_flags(self, flags: Iterable[str]) -> Iterator[Reason]:
        known = self.session.catalog.reasons.flags
        for flag in flags:
            if getattr(self.session, flag) and flag in known:
                yield known[flag]

    def _in_general(self) -> Iterator[Reason]:
        """Return the unknowns of the session: what was not followed."""
        return self._of_flags(("blind", "healed", "joined", "restless"))

    def _shown(self, reasons: Iterable[Reason]) -> tuple[Assumption, ...]:
        # Of one statement the first thing is enough.
        first = list({reason.place or reason.text: reason for reason in reversed([*reasons])}.values())[::-1][:MOST]
        return tuple(map(self._placed, first))

    def _placed(self, reason: Reason) -> Assumption:
        place = reason.place
        if isinstance(place, Span):
            return replace(place, message=reason.text)
        return reason.text if place is None else self._statements[place].span(0, message=reason.text)
