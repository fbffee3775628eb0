"""What the consumers of a publication see of it: which of their demands it meets, and what they do with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pubcheck.diagnostics import Diagnostic
from pubcheck.engine.replay import Replay
from pubcheck.explain.document import ConsumerView, Unmet


def consumers_of(replay: Replay, diagnostics: Iterable[Diagnostic]) -> Mapping[int, tuple[ConsumerView, ...]]:
    """Return the consumers of each publication, by its oid."""
    outcome = replay.outcome
    if outcome is None or outcome.history is None:
        return {}
    from pubcheck.checks.registry import has_readers

    context = outcome.context(outcome.history)
    if not has_readers(context):
        return {}
    from pubcheck.checks.consumers.demand_rules import EFFECTS
    from pubcheck.checks.consumers.readers import subjects
    from pubcheck.consumers.profiles import id_of

    claims: dict[tuple[str, str], list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        if diagnostic.claim is not None:
            for name in diagnostic.publications:
                claims.setdefault((name, diagnostic.claim.consumer), []).append(diagnostic)
    views: dict[int, list[ConsumerView]] = {}
    for subject in subjects(context):
        findings = claims.get((subject.publication.name, id_of(subject.reader.id)), ())
        demands = [
            claim
            for claim in subject.reader.claims(context.catalog.major.number)
            if claim.demands and claim.strength != "effect"
        ]
        known = {claim.id: claim for claim in subject.reader.consumer.claims}
        unmet: dict[str, Unmet] = {}
        effects: dict[str, str] = {}
        for finding in findings:
            assert finding.claim is not None
            tables = tuple(name for name in (finding.object, *finding.also) if name is not None)
            if finding.rule == EFFECTS:
                effects[finding.claim.claim] = finding.claim.says
            else:
                for claim in (known[key] for key in (finding.claim.claim, *finding.claim.also)):
                    before = unmet[claim.id].tables if claim.id in unmet else ()
                    all_tables = tuple(dict.fromkeys((*before, *tables)))
                    unmet[claim.id] = Unmet(claim.id, claim.severity, claim.says, all_tables)
        view = ConsumerView(
            id_of(subject.reader.id),
            subject.consumer,
            "assumed" if subject.reader.reason else "certain",
            tuple(sorted(subject.reader.modes)),
            len(demands),
            tuple(unmet.values()),
            tuple(effects.values()),
        )
        views.setdefault(subject.publication.oid, []).append(view)
    return {oid: tuple(of_publication) for oid, of_publication in views.items()}
