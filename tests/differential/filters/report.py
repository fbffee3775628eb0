"""Totals of a run: agreement as a whole and per construct, and how much of the catalog it has seen."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from msgspec import Struct

from pubcheck.diagnostics import ServerAnswer
from tests.differential.filters.answers import ACCEPTED, Kind, Said
from tests.differential.filters.batches import Batch, Filter
from tests.differential.filters.catalog import Catalog
from tests.differential.filters.expressions import FIRST_NORMAL_OID

NOT_RESOLVED = frozenset({Kind.INVENTED, Kind.RAISED, Kind.MISSED})


class Outcome(Struct, frozen=True):
    """One filter with both answers."""

    batch: Batch
    filter: Filter
    server: ServerAnswer
    ours: Said
    kind: Kind


class Count:
    """How often which kind of agreement, of filters that have something in common."""

    def __init__(self) -> None:
        self.kinds: Counter[Kind] = Counter()
        self.refused = 0

    @property
    def all(self) -> int:
        return self.kinds.total()

    def add(self, kind: Kind, refused: bool) -> None:
        self.kinds[kind] += 1
        self.refused += refused

    def share(self, number: int) -> float:
        return number / self.all if self.all else 1.0

    @property
    def verdict(self) -> float:
        """The share of right verdicts; an assumed answer is none."""
        wrong = (Kind.INVENTED, Kind.RAISED, Kind.MISSED, Kind.ASSUMED)
        return 1 - self.share(sum(self.kinds[kind] for kind in wrong))

    @property
    def sqlstate(self) -> float:
        return self.verdict - self.share(self.kinds[Kind.SQLSTATE])

    @property
    def wording(self) -> float:
        return self.sqlstate - self.share(self.kinds[Kind.WORDING])

    def numbers(self) -> dict[str, object]:
        return {
            "filters": self.all,
            "refused": round(self.share(self.refused), 4),
            "verdict": round(self.verdict, 5),
            "sqlstate": round(self.sqlstate, 5),
            "wording": round(self.wording, 5),
            "kinds": {kind.value: self.kinds[kind] for kind in Kind},
        }

    def line(self) -> str:
        kinds = ", ".join(
            f"{kind.value} {self.kinds[kind]}" for kind in Kind if self.kinds[kind] and kind is not Kind.AGREE
        )
        return (
            f"{self.all:6} {self.share(self.refused):6.1%} refused  verdict {self.verdict:8.3%}"
            f"  SQLSTATE {self.sqlstate:8.3%}  all {self.wording:8.3%}" + (f"   {kinds}" if kinds else "")
        )


class Totals:
    """What one major's run comes to."""

    def __init__(self, catalog: Catalog) -> None:
        self.major = catalog.major
        self.usable_functions = {proc.oid for proc in catalog.functions}
        self.usable_operators = {operator.oid for operator in catalog.operators}
        self.whole = Count()
        self.constructs: defaultdict[str, Count] = defaultdict(Count)
        self.features: defaultdict[str, Count] = defaultdict(Count)
        self.sqlstates: Counter[str] = Counter()
        self.seen: set[int] = set()
        self.resolved: set[int] = set()
        self.setup_left_out: Counter[str] = Counter()
        self.server_seconds = self.pubcheck_seconds = self.making_seconds = 0.0

    def add(self, outcome: Outcome) -> None:
        refused = outcome.server is not ACCEPTED
        self.whole.add(outcome.kind, refused)
        for tag in outcome.filter.tags:
            self.constructs[tag].add(outcome.kind, refused)
        for feature in outcome.batch.world.features or ("nothing",):
            self.features[f"with {feature}"].add(outcome.kind, refused)
        self.sqlstates[outcome.server.sqlstate] += 1
        used = {oid for oid in outcome.filter.tree.used() if oid < FIRST_NORMAL_OID}
        self.seen |= used
        if not refused or outcome.server.message == "invalid publication WHERE expression":
            self.resolved |= used

    def coverage(self) -> dict[str, list[int]]:
        """Functions and operators: drawn, drawn in a filter that was analysed to its end, usable at all."""
        return {
            name: [len(usable & self.seen), len(usable & self.resolved), len(usable)]
            for name, usable in (("functions", self.usable_functions), ("operators", self.usable_operators))
        }

    def numbers(self) -> dict[str, object]:
        return {
            "major": self.major,
            **self.whole.numbers(),
            "constructs": {name: count.numbers() for name, count in sorted(self.constructs.items())},
            "features": {name: count.numbers() for name, count in sorted(self.features.items())},
            "sqlstates": dict(self.sqlstates.most_common()),
            "coverage": self.coverage(),
            "seconds": {
                "making": round(self.making_seconds, 2),
                "server": round(self.server_seconds, 2),
                "pubcheck": round(self.pubcheck_seconds, 2),
            },
        }

    def lines(self) -> list[str]:
        scale = 1000 / max(1, self.whole.all)
        lines = [f"PostgreSQL {self.major}: {self.whole.line()}"]
        for name, (seen, resolved, usable) in self.coverage().items():
            lines.append(
                f"  {name} seen {seen} of {usable} usable ({seen / usable:.1%}), in filters analysed to the end"
                f" {resolved}"
            )
        lines.append(
            f"  a filter: making {self.making_seconds * scale:.2f} ms, server {self.server_seconds * scale:.2f} ms, "
            f"pubcheck {self.pubcheck_seconds * scale:.2f} ms"
        )
        lines.append("  SQLSTATEs " + ", ".join(f"{name} {number}" for name, number in self.sqlstates.most_common()))
        lines += [
            f"  not followed in a setup ({number}x): {text}" for text, number in self.setup_left_out.most_common(20)
        ]
        return lines


def table(totals: Iterable[Totals]) -> list[str]:
    """Agreement per construct and per feature over all majors, the worst first."""
    merged: defaultdict[str, Count] = defaultdict(Count)
    for total in totals:
        for counts in (total.constructs, total.features):
            for name, count in counts.items():
                merged[name].kinds += count.kinds
                merged[name].refused += count.refused
    order = sorted(merged.items(), key=lambda item: (item[1].verdict, item[1].sqlstate, item[1].wording, item[0]))
    return [f"{name:42} {count.line()}" for name, count in order]


def spread(outcomes: Iterable[Outcome], most: int) -> list[Outcome]:
    """Some of the disagreements, the worst kinds first, no two alike as long as there are others."""
    groups: Mapping[tuple[object, ...], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[alike(outcome)].append(outcome)
    order = list(Kind)
    ordered = sorted(groups.values(), key=lambda group: (order.index(group[0].kind), -len(group)))
    examples = [group[0] for group in ordered]
    return examples[:most]


def alike(outcome: Outcome) -> tuple[object, ...]:
    """What two disagreements of one cause most likely share."""
    answer = outcome.ours.answer
    reason = outcome.ours.assumed or outcome.ours.raised or _plain(answer.message)
    return outcome.kind, outcome.server.sqlstate, _plain(outcome.server.message), answer.sqlstate, _plain(reason)


def _plain(text: str) -> str:
    """A message without what stands in quotes and after a colon."""
    kept = text.split(": ", 1)[0].split('"')[::2]
    return '""'.join(kept)
