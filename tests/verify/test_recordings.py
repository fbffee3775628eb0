"""Recorded streams conform to their schemas, and faults put into them are found."""

from __future__ import annotations

import random

import pytest

from pubcheck.verify import Verifier, verify
from pubcheck.verify.report import headline
from tests.support.recorded_streams import FOLDER
from tests.verify.inject import FAULTS, LOCALE, WITH_SCRIPT, inject, samples
from tests.verify.recorded import Stream, streams

NAMED = "PUB859"


def about(stream: Stream) -> list[str]:
    """The findings about a stream, except for known faults of servers."""
    verifier = Verifier(stream.publisher, stream.options, LOCALE)
    findings = list(verifier.check_many(stream.frames))
    if stream.complete:
        findings += verifier.end()
    return [f"{stream.title}: {finding.number}: {finding.message}" for finding in findings if finding.rule != NAMED]


@pytest.mark.parametrize("major", [pytest.param(15), pytest.param(18)])
def test_recorded_streams_conform(major: int) -> None:
    texts = [text for stream in streams(FOLDER, f"live-pgoutput-{major}.jsonl.gz") for text in about(stream)]
    assert texts == []


@pytest.mark.slow
def test_all_recorded_streams_conform() -> None:
    checked = [(about(stream), len(stream.frames)) for stream in streams(FOLDER)]
    assert [text for texts, _ in checked for text in texts] == []
    assert sum(number for _, number in checked) > 100_000


def test_the_fault_of_18_is_named() -> None:
    findings = []
    for stream in streams(FOLDER, "pgoutput-18.jsonl.gz", "stray/"):
        verifier = Verifier(stream.publisher, stream.options, LOCALE)
        findings += [finding.rule for frame in stream.frames for finding in verifier.check(frame)]
    assert set(findings) == {NAMED}


def test_streams_of_any_bytes_give_findings_and_no_error() -> None:
    choice = random.Random(3)
    chosen = samples(FOLDER, "live-pgoutput-16.jsonl.gz")
    for _ in range(300):
        stream = choice.choice(chosen)
        frames = list(stream.frames)
        for _ in range(choice.randint(1, 5)):
            place = choice.randrange(len(frames))
            data = bytearray(choice.choice(choice.choice(chosen).frames).data)
            data[choice.randrange(len(data))] = choice.randrange(256)
            frames[place : place + choice.randint(0, 2)] = [frames[place]._replace(data=bytes(data))]
        verifier = Verifier(stream.publisher, stream.options, LOCALE)
        about = [finding for frame in frames for finding in verifier.check(frame)] + list(verifier.end())
        assert all(headline(finding) for finding in about)
        assert list(verify(stream.publisher, frames, stream.options, LOCALE)) == about


@pytest.mark.slow
def test_injected_faults_are_found() -> None:
    result = inject(samples(FOLDER, "pgoutput-17.jsonl.gz"), 4 * len((*FAULTS, *WITH_SCRIPT)), seed=7)
    assert result.missed == []
    assert result.not_clean == {}
    assert len(result.injected) >= 20
