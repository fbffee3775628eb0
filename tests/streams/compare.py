"""The agreement of simulated streams with recorded ones."""

from __future__ import annotations

import re
import sys
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from msgspec import Struct, field

from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.stream import parse_lsn
from tests.streams.normalise import Row, normalised_pgoutput, normalised_test_decoding, without_empty_blocks
from tests.streams.simulated import Stream, simulate
from tests.support.recorded_streams import Capture, Recording, recordings

_ESCAPED = re.compile(r"(?<!['\\])\\x([89a-f][0-9a-f])")


class Difference(Struct, frozen=True):
    """A capture that differs: the script, the capture, the first difference. ``not_followed``: the reason for none."""

    script: str
    capture: str
    text: str
    not_followed: bool = False


class Outcome(Struct):
    """One recording: how many of its captures agree."""

    plugin: str
    family: str
    kind: str
    major: int
    captures: int = 0
    equal: int = 0
    only_empty_blocks: int = 0
    differences: list[Difference] = field(default_factory=list)


def compared(recording: Recording, *, exact: bool = False) -> Outcome:
    """Simulate a recording's script and compare each capture; with ``exact`` also its empty blocks."""
    outcome = Outcome(
        recording.captures[0].plugin if recording.captures else "",
        recording.family,
        recording.kind,
        recording.major,
        len(recording.captures),
    )
    script = f"{recording.name} [{recording.major} {recording.kind}]"
    try:
        streams = simulate(recording)
    except NotFollowed as reason:
        outcome.differences.append(Difference(script, "all", f"not followed: {reason}", not_followed=True))
        return outcome
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        text = f"internal error: {type(error).__name__}: {error} ({frame.filename}:{frame.lineno})"
        outcome.differences.append(Difference(script, "all", text))
        return outcome
    for capture, stream in zip(recording.captures, streams, strict=True):
        verdict = difference(capture, stream, recording.kind)
        if verdict.text is None and exact and not verdict.exact:
            outcome.differences.append(Difference(script, capture.title, "the number of empty blocks differs"))
        elif verdict.text is None:
            outcome.equal += 1
            outcome.only_empty_blocks += not verdict.exact
        else:
            outcome.differences.append(Difference(script, capture.title, verdict.text))
    return outcome


class Verdict(Struct, frozen=True):
    """The first difference of a capture or None; ``exact``: blocks without changes agree too."""

    text: str | None
    exact: bool = False


def _as_it_is(text: str) -> str:
    return text


def difference(capture: Capture, stream: Stream, kind: str, *, masked: Callable[[str], str] = _as_it_is) -> Verdict:
    """Compare a capture with the simulated stream. ``masked`` replaces what differs between runs in a line.

    With debug_logical_replication_streaming = immediate, changes of system catalogs give blocks without changes. Their
    number depends on how a major writes its catalogs, so they are not compared.
    """
    if stream.error != capture.error:
        return Verdict(f"recorded error {capture.error}, simulated {stream.error}")
    notices = [notice.partition(" DETAIL")[0] for notice in capture.notices]
    if kind == "functions" and notices != stream.notices:
        return Verdict(f"recorded notices {notices}, simulated {stream.notices}")
    rows = recorded_rows(capture, kind)
    text = _first_difference(capture, rows, stream.rows, masked)
    if text is None or "immediate" not in capture.settings.values():
        return Verdict(text, text is None)
    kept = without_empty_blocks(rows), without_empty_blocks(stream.rows)
    return Verdict(_first_difference(capture, *kept, masked))


def recorded_rows(capture: Capture, kind: str) -> list[Row]:
    """Return the rows of a capture in the form of simulated ones."""
    return [_row(row, capture.plugin, kind) for row in capture.rows]


def _row(row: list[object], plugin: str, kind: str) -> Row:
    if kind == "live":
        step, lsn, data = row
        return int(str(step)), _lsn(lsn), 0, bytes.fromhex(str(data))
    lsn, xid, data = row
    if plugin == "test_decoding":
        content = _ESCAPED.sub(lambda match: chr(0xDC00 + int(match[1], 16)), str(data))
        return 0, _lsn(lsn), int(str(xid)), content.encode("utf-8", "surrogateescape")
    return 0, _lsn(lsn), int(str(xid)), bytes.fromhex(str(data))


def _lsn(value: object) -> int:
    return parse_lsn(value) if isinstance(value, str) else int(str(value))


def normaliser(capture: Capture) -> Callable[[Iterable[Row]], list[str]]:
    """Return the function that replaces what differs between two runs of a server."""
    if capture.plugin == "pgoutput":
        return partial(normalised_pgoutput, parallel=capture.options.get("streaming", "").lower() == "parallel")
    return normalised_test_decoding


def _first_difference(
    capture: Capture, recorded: list[Row], simulated: list[Row], masked: Callable[[str], str]
) -> str | None:
    normalise = normaliser(capture)
    theirs, ours = (list(map(masked, normalise(rows))) for rows in (recorded, simulated))
    if theirs == ours:
        return None
    length = min(len(theirs), len(ours))
    place = next((place for place in range(length) if theirs[place] != ours[place]), length)
    sides = [lines[place][:400] if place < len(lines) else "(end)" for lines in (theirs, ours)]
    return f"message {place} of {len(theirs)} and {len(ours)}:\n    recorded  {sides[0]}\n    simulated {sides[1]}"


def compare(
    folder: Path,
    least: float = 0.99,
    majors: set[int] | None = None,
    family: str | None = None,
    jobs: int = 1,
    script: str | None = None,
    *,
    exact: bool = False,
) -> int:
    """Compare a folder and print the agreement. Returns the exit status: 1 below ``least``."""
    chosen = (item for item in recordings(folder, majors, family) if script is None or item.name == script)
    if jobs > 1:
        with ProcessPoolExecutor(jobs) as pool:
            outcomes = list(pool.map(partial(compared, exact=exact), chosen, chunksize=8))
    else:
        outcomes = [compared(recording, exact=exact) for recording in chosen]
    if not outcomes:
        print(f"{folder} has no recordings", file=sys.stderr)
        return 2
    for outcome in outcomes:
        for item in outcome.differences:
            print(f"{item.script} {item.capture}: {item.text}")
    return 0 if _report(outcomes, least) else 1


def _report(outcomes: list[Outcome], least: float) -> bool:
    groups: dict[tuple[str, str, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.plugin, outcome.kind, outcome.family].append(outcome)
    print(f"\n{'plugin':<14} {'kind':<10} {'family':<12} {'scripts':>15} {'captures':>15}")
    for (plugin, kind, family), group in sorted(groups.items()):
        print(f"{plugin:<14} {kind:<10} {family:<12} {_share(group)}")
    enough = True
    for plugin, kind in sorted({(plugin, kind) for plugin, kind, _ in groups}):
        for major in sorted({outcome.major for outcome in outcomes}):
            group = [item for item in outcomes if (item.plugin, item.kind, item.major) == (plugin, kind, major)]
            if group:
                print(f"{plugin:<14} {kind:<10} {f'all, {major}':<12} {_share(group)}")
                enough = enough and _equal_scripts(group) >= least * len(group)
    ignored = sum(outcome.only_empty_blocks for outcome in outcomes)
    if ignored:
        print(f"{ignored} captures differ only in the number of empty blocks of changes to system catalogs.")
    return enough


def _equal_scripts(outcomes: list[Outcome]) -> int:
    return sum(outcome.equal == outcome.captures for outcome in outcomes)


def _share(outcomes: list[Outcome]) -> str:
    captures, equal = sum(item.captures for item in outcomes), sum(item.equal for item in outcomes)
    scripts = f"{_equal_scripts(outcomes)}/{len(outcomes)}"
    share = f"{equal / captures:.1%}" if captures else ""
    return f"{scripts:>15} {f'{equal}/{captures}':>15} {share}"
