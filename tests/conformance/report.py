"""Every disagreement with the recorded answers, for the people who mend them.

`python -m tests.conformance.report [--only GLOB] [--major N]... [--later] [--wording] [--brief]`. Exit status 1 when
anything was printed. The pattern matches a case's id, its family or `family/id`.
"""

from __future__ import annotations

import argparse
import sys

from pubcheck.diagnostics import Diagnostic, ServerAnswer
from pubcheck.postgres.versions import MAJORS
from tests.conformance.judging import Judgement, Status, judge
from tests.conformance.totals import families, totals
from tests.support.cases import Case, Recorded, load


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.report", description=__doc__)
    parser.add_argument("--only", default="*", metavar="GLOB", help="cases by id, family or family/id")
    parser.add_argument("--major", type=int, action="append", choices=MAJORS, help="only this major; may be repeated")
    parser.add_argument("--later", action="store_true", help="show what need not agree yet, too")
    parser.add_argument("--wording", action="store_true", help="show only agreed verdicts with other words")
    parser.add_argument("--families", action="store_true", help="a table of the families, and no cases")
    parser.add_argument("--brief", action="store_true", help="one line for each disagreement")
    options = parser.parse_args()
    majors = tuple(options.major or MAJORS)
    cases = load(options.only)
    if not cases:
        parser.error(f"no case matches {options.only}")
    by_case: dict[str, list[Judgement]] = {}
    lines: list[str] = []
    for major in majors:
        judged = [judge(case, major) for case in cases if major in case.answers]
        if options.families:
            lines += families(major, judged)
        lines.append(totals(major, judged).line())
        for judgement in judged:
            if not options.families and _shown(judgement, options.later, options.wording):
                by_case.setdefault(judgement.case.id, []).append(judgement)
    for judgements in by_case.values():
        print("\n".join(_brief(judgements) if options.brief else _full(judgements)))
    print("\n".join(lines))
    return 1 if by_case else 0


def _shown(judgement: Judgement, later: bool, wording: bool) -> bool:
    if judgement.status is Status.UNMAPPED:
        return False
    if judgement.status is Status.OTHER:
        return bool(judgement.invented)
    if wording:
        return bool(judgement.differences)
    if judgement.status is Status.LATER and not later:
        return bool(judgement.invented)
    return not judgement.worded


def _brief(judgements: list[Judgement]) -> list[str]:
    case = judgements[0].case
    return [f"{case.rule}/{case.id} {judgement.major}: {_what(judgement)}" for judgement in judgements]


def _full(judgements: list[Judgement]) -> list[str]:
    """A case once, then what was expected and found, majors with the same outcome together."""
    case = judgements[0].case
    lines = [f"== {case.rule}/{case.id}  ({case.phase})" + (f"  {case.note}" if case.note else "")]
    lines += [f"   {statement};" for statement in case.setup]
    lines += [f"-> {case.statement}"]
    outcomes: dict[tuple[str, ...], list[int]] = {}
    for judgement in judgements:
        outcomes.setdefault(tuple(_outcome(case, judgement)), []).append(judgement.major)
    for outcome, majors in outcomes.items():
        lines.append(f"   [{', '.join(map(str, majors))}] {outcome[0]}")
        lines += [f"      {line}" for line in outcome[1:]]
    return [*lines, ""]


def _outcome(case: Case, judgement: Judgement) -> list[str]:
    lines = [_what(judgement), "expected " + _expected(case.answers[judgement.major])]
    lines += ["got      " + _got(diagnostic) for diagnostic in judgement.got]
    if not judgement.got and not judgement.problem:
        lines.append("got      nothing")
    return lines


def _what(judgement: Judgement) -> str:
    if judgement.problem:
        return judgement.problem
    if judgement.invented:
        return "invented error"
    if judgement.differences:
        return "words differ: " + ", ".join(judgement.differences)
    return "verdict differs"


def _expected(answer: Recorded) -> str:
    return "ok" if answer.ok else _error(answer)


def _got(diagnostic: Diagnostic) -> str:
    words = _error(diagnostic.server) if diagnostic.server else diagnostic.message
    index = f"statement {diagnostic.statement.index}" if diagnostic.statement else "no statement"
    return f"{words}  <{diagnostic.rule} {diagnostic.phase} {diagnostic.operation or ''} {index}>"


def _error(error: Recorded | ServerAnswer) -> str:
    parts = [f"{error.sqlstate} {error.message}"]
    rest = (("detail", error.detail), ("hint", error.hint), ("at", error.position))
    parts += [f"{name}: {value}" for name, value in rest if value]
    return " | ".join(parts)


if __name__ == "__main__":
    sys.exit(main())
