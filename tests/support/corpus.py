"""Replays the corpus on real servers: `python -m tests.support.corpus replay|record [--only GLOB] [--major N]...`.

`replay` compares with the recorded answers and exits 1 on any difference. `record` writes what the servers answer into
corpus/cases.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec
from msgspec import Struct

from tests.support.cases import Case, Recorded, load, write
from tests.support.playing import Quick, play
from tests.support.servers import MAJORS, Server, Servers, SetupFailed


class Difference(Struct, frozen=True):
    """A case that a server now answers otherwise, and in which fields; ``answer`` is None when the setup failed."""

    case: Case
    major: int
    recorded: Recorded | None
    answer: Recorded | None
    fields: tuple[str, ...]
    problem: str = ""

    def __str__(self) -> str:
        lines = [
            f"{self.case.rule}/{self.case.id} on PostgreSQL {self.major}: {self.problem or ', '.join(self.fields)}"
        ]
        for field in self.fields:
            if self.recorded:
                lines.append(f"  recorded {field}: {getattr(self.recorded, field)!r}")
            lines.append(f"  answer   {field}: {getattr(self.answer, field, None)!r}")
        return "\n".join(lines)


def played(
    servers: Mapping[int, Server],
    cases: Sequence[Case],
    progress: Callable[[], None] = lambda: None,
    quick: bool = False,
) -> dict[tuple[str, int], Recorded | SetupFailed]:
    """The servers' answers by case id and major; the majors side by side, the cases of one in order.

    With ``quick`` a transaction serves where it gives the recorded answer (see playing.Quick).
    """

    def of_major(major: int) -> list[tuple[tuple[str, int], Recorded | SetupFailed]]:
        answers: list[tuple[tuple[str, int], Recorded | SetupFailed]] = []
        server = servers[major]
        with contextlib.closing(Quick(server)) as transactions:
            for case in (case for case in cases if major in case.postgres):
                try:
                    answer: Recorded | SetupFailed = transactions.play(case) if quick else play(server, case)
                except SetupFailed as failure:
                    answer = failure
                answers.append(((case.id, major), answer))
                progress()
        return answers

    with ThreadPoolExecutor(len(servers)) as pool:
        return dict(answer for answers in pool.map(of_major, servers) for answer in answers)


def differences(cases: Iterable[Case], answers: Mapping[tuple[str, int], Recorded | SetupFailed]) -> list[Difference]:
    """Where the answers are not the recorded ones."""
    deviations: list[Difference] = []
    for case in cases:
        for major in case.postgres:
            answer, recorded = answers.get((case.id, major)), case.answers.get(major)
            if isinstance(answer, SetupFailed):
                deviations.append(Difference(case, major, recorded, None, (), f"setup: {answer}"))
            elif answer is not None and answer != recorded:
                before = recorded or Recorded(ok=True)
                names = Recorded.__struct_fields__
                fields = tuple(name for name in names if getattr(answer, name) != getattr(before, name))
                deviations.append(Difference(case, major, recorded, answer, fields))
    return deviations


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.support.corpus", description=__doc__)
    parser.add_argument("command", choices=["replay", "record"])
    parser.add_argument("--only", default="*", metavar="GLOB", help="cases by id, family or family/id")
    parser.add_argument("--major", type=int, action="append", choices=MAJORS, help="only this major; may be repeated")
    parser.add_argument("--quick", action="store_true", help="replay in transactions where they give the same answer")
    options = parser.parse_args()
    if options.quick and options.command == "record":
        parser.error("--quick is for replay: recorded answers come from a database of their own")
    everything = load()
    chosen = {case.id for case in load(options.only)}
    cases = [case for case in everything if case.id in chosen]
    if not cases:
        parser.error(f"no case matches {options.only}")
    with Servers(tuple(options.major or MAJORS)) as servers:
        total = sum(len(set(case.postgres) & set(servers)) for case in cases)
        answers = played(servers, cases, _counter(total), quick=options.quick)
    deviations = differences(cases, answers)
    for difference in deviations:
        print(difference)
    print(f"{len(answers)} answers of {len(cases)} cases, {len(deviations)} differ")
    if options.command == "replay":
        return 1 if deviations else 0
    families = {case.rule for case in cases}
    failed = [answer for answer in answers.values() if isinstance(answer, SetupFailed)]
    write(_with(case, answers) for case in everything if case.rule in families)
    return 1 if failed else 0


def _with(case: Case, answers: Mapping[tuple[str, int], Recorded | SetupFailed]) -> Case:
    """The case with the new answers; those that were not asked for, or whose setup failed, stay."""
    by_major = {major: answers.get((case.id, major)) for major in case.postgres}
    new = {major: answer for major, answer in by_major.items() if isinstance(answer, Recorded)}
    return msgspec.structs.replace(case, answers={**case.answers, **new})


def _counter(total: int) -> Callable[[], None]:
    """Shows how far it is, on a terminal only."""
    if not sys.stderr.isatty():
        return lambda: None
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        print(f"\r{done}/{total}", end="" if done < total else "\n", file=sys.stderr, flush=True)

    return count


if __name__ == "__main__":
    sys.exit(main())
