"""The scripts of recorded streams, run by the simulator: `python -m tests.simulate.recorded FOLDER [FAMILY...]` prints
where its refusals are not the servers'."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pubcheck.postgres.errors import ServerError
from pubcheck.simulate.database import Database
from pubcheck.simulate.not_followed import NotFollowed
from tests.support.recorded_streams import Recording, Step, recordings


def scripts(folder: Path) -> Iterator[Recording]:
    """Each script of each major once."""
    seen: set[tuple[str, int]] = set()
    for recording in recordings(folder):
        key = recording.name, recording.major
        if key not in seen and recording.captures and recording.captures[0].plugin == "pgoutput":
            seen.add(key)
            yield recording


def run(script: Recording) -> tuple[list[dict[str, Any]], Database]:
    """Run a script. Return what was refused, in the recordings' form. Raises NotFollowed."""
    database = Database(script.major, clock=None)
    refused = []
    parts: tuple[tuple[str, list[Step]], ...] = (("setup", script.setup), ("step", script.steps))
    for part, steps in parts:
        for number, step in enumerate(steps):
            try:
                session = database.session(step.session)
                if step.data is None:
                    session.run(step.sql)
                else:
                    session.copy(step.sql, step.data)
            except ServerError as error:
                entry = {"at": f"{part} {number}", "step": step.sql}
                entry |= {"sqlstate": error.sqlstate, "message": error.message}
                if error.detail:
                    entry["detail"] = error.detail
                refused.append(entry)
    return refused, database


def main(folder: str, *families: str) -> None:
    agreement: Counter[str] = Counter()
    total: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for script in scripts(Path(folder)):
        family = script.family
        if families and not any(script.name.startswith(name) for name in families):
            continue
        total[family] += 1
        try:
            refused, _ = run(script)
        except NotFollowed as unknown:
            reasons[f"not followed: {unknown.reason}"] += 1
            if families:
                print(script.major, script.name, unknown)
            continue
        except Exception as error:  # every failure is counted
            reasons[f"{type(error).__name__}: {error}"] += 1
            if families:
                import traceback

                traceback.print_exc()
                print(script.major, script.name)
            continue
        expected = script.refused
        wanted = [{**e, "step": e["step"]} for e in expected]
        if [_plain(e) for e in refused] == [_plain(e) for e in wanted]:
            agreement[family] += 1
        else:
            reasons[f"other refusals: {script.name}"] += 1
            if families:
                print(script.major, script.name, "\n  ours  ", refused, "\n  server", expected)
    for family in total:
        print(f"{family:12} {agreement[family]:4} of {total[family]}")
    print("all", sum(agreement.values()), "of", sum(total.values()))
    for reason, count in reasons.most_common(60):
        print(f"{count:4} {reason[:200]}")


def _plain(entry: dict[str, Any]) -> tuple[Any, ...]:
    return entry["at"], entry["sqlstate"], entry["message"], entry.get("detail")


if __name__ == "__main__":
    main(*sys.argv[1:])
