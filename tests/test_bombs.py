"""Bombs: every run ends within its limits, reports no error of its own, and finds what is behind the bomb."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pubcheck.postgres.budget import Budget
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.linear_matching import like
from pubcheck.postgres.executor.patterns import search
from tests.support.bombs import BOMBS, WITNESS, run
from tests.support.linting import answers, lint
from tests.support.loaded_pubcheck import LoadedPubcheck, loaded


@pytest.fixture(scope="module")
def pubcheck() -> Iterator[LoadedPubcheck]:
    with loaded(WITNESS) as process:
        yield process


@pytest.mark.slow
@pytest.mark.parametrize("command", ["lint", "explain"])
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_costs_its_own_answer_alone(name: str, command: str, tmp_path: Path, pubcheck: LoadedPubcheck) -> None:
    bomb = BOMBS[name]
    path = tmp_path / bomb.file
    path.write_text(bomb.text)
    spent = run(pubcheck, [command, "--format", "json", str(path)], str(tmp_path))
    assert spent.status in (0, 1), spent.error[:500]
    assert "PUB000" not in spent.rules()
    assert json.loads(spent.out)["files"] == 1
    if bomb.witnessed:
        assert "PUB301" in spent.rules()


def test_what_is_not_evaluated_is_unknown_and_not_refused() -> None:
    findings = lint(
        "CREATE TABLE t (id int PRIMARY KEY);"
        "DO $$ DECLARE s text := lpad('x', 2000000); BEGIN FOR i IN 1..40 LOOP s := s || s; END LOOP;"
        " EXECUTE s; CREATE PUBLICATION p FOR TABLE t; END $$;"
    )
    assert answers(findings) == []


def test_regular_expressions_match_what_they_matched() -> None:
    chosen = random.Random(5)

    def pattern(depth: int) -> str:
        parts = []
        for _ in range(chosen.randint(1, 3)):
            atom = chosen.choice(["a", "b", "c", ".", "[ab]", "[^a]"])
            if depth and chosen.random() < 0.4:
                atom = f"({pattern(depth - 1)})"
            parts.append(atom + chosen.choice(["", "", "", "*", "+", "?", "{2}", "{1,2}", "{2,}"]))
        expression = "".join(parts)
        return f"{expression}|{pattern(depth - 1)}" if depth and chosen.random() < 0.2 else expression

    for _ in range(3000):
        regex = chosen.choice(["", "^"]) + pattern(2) + chosen.choice(["", "$"])
        text = "".join(chosen.choice("abc") for _ in range(chosen.randint(0, 7)))
        expected = re.search(regex.replace("$", r"\Z"), text, re.DOTALL) is not None
        assert search(regex, False, text, Budget()) is expected, (regex, text)


def test_like_matches_what_it_matched() -> None:
    chosen = random.Random(5)
    for _ in range(5000):
        like_pattern = "".join(chosen.choice("ab%_%\\") for _ in range(chosen.randint(0, 7)))
        like_pattern = (
            re.sub(r"\\(?=$|[^%_\\])", "a", like_pattern)
            if (len(like_pattern) - len(like_pattern.rstrip("\\"))) % 2
            else like_pattern
        )
        text = "".join(chosen.choice("ab%_") for _ in range(chosen.randint(0, 7)))
        parts = re.findall(r"\\.|.", like_pattern)
        regex = "".join(".*" if part == "%" else "." if part == "_" else re.escape(part[-1]) for part in parts)
        expected = re.fullmatch(regex, text, re.DOTALL) is not None
        assert like(text, like_pattern, Budget()) is expected, (like_pattern, text)


def test_a_budget_ends() -> None:
    with pytest.raises(Unknowable):
        search("(a|b)*c", False, "ab" * 10_000, Budget(10_000))
