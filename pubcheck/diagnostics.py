"""The one diagnostic type that every rule yields and every report renders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from pubcheck.source import Source

Phase = Literal["ddl", "write", "subscribe", "silent", "stream"]
Severity = Literal["note", "warning", "error"]
Certainty = Literal["certain", "assumed"]
Operation = Literal["insert", "update", "delete", "truncate"]
Applicability = Literal["safe", "unsafe", "display"]

_OPERATIONS: tuple[Operation, ...] = ("insert", "update", "delete", "truncate")
SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")


class Span(Struct, frozen=True):
    """A stretch of a source with a label: offsets in code points, ``end`` exclusive."""

    source: Source
    start: int
    end: int
    message: str = ""

    def is_within(self, other: Span) -> bool:
        return self.source is other.source and other.start <= self.start and self.end <= other.end


class ServerAnswer(Struct, frozen=True):
    """The ERROR that a server raises, field by field as libpq reports it.

    ``position`` is a 1-based character offset from the statement's first token.
    """

    sqlstate: str
    message: str
    detail: str | None = None
    hint: str | None = None
    position: int | None = None


class ConsumerClaim(Struct, frozen=True):
    """The claim about a consumer that a finding is based on.

    ``consumer`` is the consumer's id and ``claim`` that of the claim; ``says`` is the fact, ``evidence`` how it is
    known (enforced, observed, documented, reported), ``inferred`` whether it is concluded from the consumer's code.
    ``message`` is what the consumer prints, ``source`` the address of the evidence. ``also`` are the ids of other
    claims of the consumer that the same fact goes against.
    """

    consumer: str
    claim: str
    says: str
    evidence: str
    inferred: bool
    message: str | None
    source: str
    also: tuple[str, ...] = ()


class Edit(Struct, frozen=True):
    """Replace what ``span`` covers by ``text``; an empty span inserts."""

    span: Span
    text: str


class Fix(Struct, frozen=True):
    """A change that pubcheck can apply or show.

    - ``whole``: it changes a table and so ends all causes for which its writes are refused. No other fix for these
      causes is applied with it.
    - ``statements``: the statements that it adds; ``appends``: whether they are added at the end
    """

    title: str
    applicability: Applicability
    edits: tuple[Edit, ...] = ()
    whole: bool = False
    statements: tuple[str, ...] = ()
    appends: bool = False


class RemedyText(Struct, frozen=True):
    """A line of a help: the SQL of a remedy, and its price."""

    statements: str
    cost: str

    @property
    def line(self) -> str:
        return f"- {self.statements}  ({self.cost})"


class RefusedWriteText(Struct, frozen=True):
    """The texts about a refused write in their parts, which reports put together in their own ways.

    ``statement`` will fail, such as "UPDATE of orders", for a ``reason``. ``goal`` is the first line of the help,
    ``remedies`` are the ways to it, the best first, and ``notes`` further lines. ``applied`` is the number of the
    remedy that the diagnostic's fix applies; the fix ``appends`` it to the unit or changes the text elsewhere.
    """

    statement: str
    reason: str
    goal: str = ""
    remedies: tuple[RemedyText, ...] = ()
    notes: tuple[str, ...] = ()
    applied: int | None = None
    appends: bool = False

    @property
    def message(self) -> str:
        return f"{self.statement} will fail: {self.reason}"

    @property
    def help(self) -> str:
        return "\n".join([self.goal, *(remedy.line for remedy in self.remedies), *self.notes])


class StatementRef(Struct, frozen=True):
    """The statement of a diagnostic: ``index`` counts a source's statements from 0, ``start`` is its first token."""

    source: Source
    index: int
    start: int
    embedded: tuple[int, ...] = ()


class Earlier(Struct, frozen=True):
    """A cause that the server meets before another one: whose, and the code of the rule that reports it."""

    publication: str
    rule: str


Assumption = Span | str
"""An assumption of a finding, in words; a span also has the place of its origin."""


if TYPE_CHECKING:
    from typing import TypedDict

    class Details(TypedDict, total=False):
        """The optional fields of a diagnostic."""

        help: str | None
        related: tuple[Span, ...]
        statement: StatementRef | None
        object: str | None
        publications: tuple[str, ...]
        operation: Operation | None
        server: ServerAnswer | None
        notices: tuple[str, ...]
        fixes: tuple[Fix, ...]
        also: tuple[str, ...]
        mentions: tuple[str, ...]
        after: tuple[Earlier, ...]
        after_count: int
        assumptions: tuple[Assumption, ...]
        claim: ConsumerClaim | None
        write: RefusedWriteText | None


class Diagnostic(Struct, frozen=True, kw_only=True):
    """One finding.

    - ``certainty`` has no default on purpose: a rule must say whether it saw everything that the finding depends on.
    - ``postgres``: the majors for which it holds, ascending
    - ``object``: the qualified name of the relation that the server names; ``also``: further relations to which the
      finding applies
    - ``publications``: the culprits in the server's order; ``publication``: the first of them. A refused write has one
      finding for each.
    - ``mentions``: the names in the message and in the server's; reports know both only from the message
    - ``after``: for a refused write, the first of the ``after_count`` causes that the server meets before this one. It
      gives the answer ``server`` once those are gone.
    - ``assumptions``: the first few facts that an assumed finding depends on; empty if the message names them
    - ``claim``: the claim of a finding about a consumer
    - ``write``: the parts of message and help of a refused write
    """

    rule: str
    name: str
    phase: Phase
    severity: Severity
    certainty: Certainty
    postgres: tuple[int, ...]
    message: str
    help: str | None = None
    span: Span
    related: tuple[Span, ...] = ()
    statement: StatementRef | None = None
    object: str | None = None
    publications: tuple[str, ...] = ()
    operation: Operation | None = None
    server: ServerAnswer | None = None
    notices: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    also: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    after: tuple[Earlier, ...] = ()
    after_count: int = 0
    assumptions: tuple[Assumption, ...] = ()
    claim: ConsumerClaim | None = None
    write: RefusedWriteText | None = None

    @property
    def publication(self) -> str | None:
        return self.publications[0] if self.publications else None

    @property
    def refused(self) -> bool:
        """Whether the server certainly refuses the statement."""
        return self.phase == "ddl" and self.server is not None and self.certainty == "certain"

    def sort_key(self) -> tuple[Any, ...]:
        operation = _OPERATIONS.index(self.operation) if self.operation else -1
        return (self.span.source.label, self.span.start, self.rule, self.object or "", operation)
