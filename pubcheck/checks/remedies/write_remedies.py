"""Remedies for a refused write: SQL that a person can run, with what it costs, in the order of preference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from pubcheck.checks.remedies.identity_remedies import IdentityRemedies
from pubcheck.checks.remedies.publication_remedies import PublicationRemedies, Written
from pubcheck.checks.remedies.remedy import Keys, Remedy
from pubcheck.checks.write.published_table import PublishedTable
from pubcheck.checks.write.replica_identity import Refusal
from pubcheck.postgres.session import Session
from pubcheck.rulebook import fixer

_MOST = 12
"""Statements that are still read: many columns can need a NOT NULL."""


class Remedies:
    """The remedies for the causes of one table. A change of the table ends all of them; no remedy adds a cause.

    The remedies that all causes share are computed once: a table can have tens of thousands of causes.
    """

    def __init__(self, session: Session, relation: int, written: Written, keys: Keys) -> None:
        """``keys`` caches the results for other tables; it is empty at first."""
        self.relation, self._written = relation, written
        self._table = table = PublishedTable(session, relation)
        identity = IdentityRemedies(table, keys)
        seen = table.row.seen
        self._existing = _without_columns(identity.existing_key()) if seen else []
        self._new_index = _without_columns(identity.new_index()) if seen else []
        self._new_key = _without_columns(identity.new_key()) if seen else []
        self._full = _without_columns(identity.full())
        self._wider_key = _without_columns(identity.wider_primary_key()) if seen else []
        changes = self._existing or self._new_index or self._full
        self.lists_first = not changes or table.identity.columns.issuperset(identity.needed)
        """Whether a wider column list is better than another identity: no filter needs one, or the table has none."""

    @fixer("PUB301", "PUB302", "PUB303", "PUB304", "PUB406")
    def of(self, refusal: Refusal) -> list[Remedy]:
        """Return the remedies that end a cause, the best first; if there are none, ``unpublished``."""
        of_publication = PublicationRemedies(self._table, refusal, self._written)
        seen = self._table.row.seen
        lists = _without_columns(of_publication.wider_list()) if seen else []
        remedies = chain(
            self._existing,
            lists if self.lists_first else (),
            self._new_index,
            _without_columns(of_publication.generated_columns_sent()) if seen else (),
            self._new_key,
            self._full,
            () if self.lists_first else lists,
            _without_columns(of_publication.inserts_only()),
            self._wider_key,
            _without_columns(of_publication.less_filter()),
            _without_columns(of_publication.no_list()),
        )
        return list(remedies) or _without_columns(of_publication.unpublished())


def _without_columns(remedies: Iterable[Remedy] | Iterator[Remedy]) -> list[Remedy]:
    return [remedy for remedy in remedies if len(remedy.statements) <= _MOST]
