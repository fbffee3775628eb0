"""Check a scaffold by linting it after the schema, and leave out the tables that cannot satisfy the consumer."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.checks.consumers.readers import matches
from pubcheck.config import Config
from pubcheck.consumers.options import ConsumerUse
from pubcheck.diagnostics import Diagnostic
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.versions import DEFAULT_MAJOR
from pubcheck.scaffold.plan import Plan, Wishes
from pubcheck.source import Source

LABEL = "scaffold.sql"
_EFFECTS = "PUB919"


class Scaffold(Struct, frozen=True):
    """The statements, and why they are not more: tables that were left out, and what makes the whole impossible."""

    statements: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    problems: tuple[str, ...] = ()

    def sql(self) -> str:
        """Return the statements as a script, with a comment for each table that was left out."""
        comments = "".join(f"-- {name} is left out: {reason}\n" for name, reason in self.left_out)
        return comments + "".join(f"{statement};\n" for statement in self.statements)


def scaffold(unit: Unit, use: ConsumerUse, patterns: Sequence[str], config: Config, name: str = "") -> Scaffold:
    """Return the statements that publish these tables for a consumer, after the statements of the unit.

    Tables that a pattern with `*` matches and that cannot satisfy the consumer are left out; one that is named exactly
    is a problem instead, and so is a pattern that no table matches.
    """
    majors = unit.postgres or config.postgres or (DEFAULT_MAJOR,)
    config = replace(config, postgres=majors, consumers=(), select=("PUB",), ignore=(), severity=())
    wishes = Wishes(use, majors[-1])
    if not wishes.reads_publication:
        return Scaffold((), problems=(f"{wishes.consumer.name} does not read publications",))
    followed = Linter(config).follow(unit)
    plan = Plan(followed.replays[-1].session, wishes, name)
    use = replace(use, publications=(plan.name,))
    config = replace(config, consumers=(use,))
    known = {_identity(diagnostic) for diagnostic in followed.findings}
    tables = plan.candidates(patterns)
    problems = [plan.why_unmatched(pattern) for pattern in patterns if not plan.candidates([pattern])]
    if plan.name in plan.catalog.publication_names:
        advice = "drop it" if wishes.has_fixed_name else "choose another name with --publication, or drop it"
        problems.append(f'there is a publication "{plan.name}" already: {advice}')
    if problems:
        return Scaffold((), problems=tuple(problems))
    left_out: dict[str, str] = {}
    while tables:
        statements = plan.statements(tables)
        sources = (*unit.sources, Source(LABEL, "".join(f"{statement};\n" for statement in statements)))
        diagnostics = Linter(config).lint(replace(unit, sources=sources)).diagnostics
        wrong = [row for row in diagnostics if _identity(row) not in known and _counts(row, plan.name)]
        if not wrong:
            return _result(patterns, statements, left_out)
        refused = _tables_of(plan, wrong, tables)
        if not refused:
            return Scaffold((), tuple(left_out.items()), tuple(dict.fromkeys(row.message for row in wrong)))
        left_out.update({plan.session.qualified(row): reason for row, reason in refused})
        tables = [row for row in tables if all(row is not refused_row for refused_row, _ in refused)]
    problem = "no table is left" if left_out else "there are no tables"
    return Scaffold((), tuple(left_out.items()), (problem,))


def _result(patterns: Sequence[str], statements: Sequence[str], left_out: dict[str, str]) -> Scaffold:
    exact = [pattern for pattern in patterns if "*" not in pattern]
    problems = [f"{name}: {reason}" for name, reason in left_out.items() if matches(exact, name)]
    return Scaffold(() if problems else tuple(statements), tuple(left_out.items()), tuple(problems))


def _identity(diagnostic: Diagnostic) -> tuple[object, ...]:
    return diagnostic.rule, diagnostic.object, diagnostic.operation, diagnostic.message


def _counts(diagnostic: Diagnostic, publication: str) -> bool:
    """Return whether a finding speaks against the scaffold: PostgreSQL refuses something, or the consumer does."""
    if diagnostic.claim is not None:
        return diagnostic.rule != _EFFECTS and publication in diagnostic.publications
    if diagnostic.span.source.label == LABEL and diagnostic.phase == "ddl":
        return diagnostic.severity != "note"
    return diagnostic.phase == "write" and diagnostic.server is not None


def _tables_of(plan: Plan, wrong: Sequence[Diagnostic], tables: Sequence[Relation]) -> list[tuple[Relation, str]]:
    """Return the tables that findings name, or whose partitions they name, each with the first reason."""
    session, catalog = plan.session, plan.catalog
    reasons: dict[int, tuple[Relation, str]] = {}
    for diagnostic in wrong:
        names = {diagnostic.object, *diagnostic.also}
        for row in tables:
            family = [session.qualified(catalog.relations[oid]) for oid in catalog.descendants(row.oid)]
            concerned = [name for name in family if name in names]
            if concerned:
                reasons.setdefault(row.oid, (row, _reason(diagnostic, session.qualified(row), concerned)))
    return list(reasons.values())


def _reason(diagnostic: Diagnostic, table: str, concerned: Sequence[str]) -> str:
    """Return why a table is left out; ``concerned`` are the table itself or partitions and children of it."""
    if diagnostic.claim is None or not diagnostic.also:
        return diagnostic.message
    # The message names other tables too.
    prefix = "" if table in concerned else f"{concerned[0]}: "
    demand = diagnostic.claim.says.partition(". ")[0].removesuffix(".")
    return f"{prefix}{demand} ({diagnostic.claim.claim})"
