"""Completion in shells, and manual pages."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pubcheck.cli.app import COMPLETION, cli, run
from pubcheck.cli.completing import BashInWords
from pubcheck.report import FORMATS
from tests.cli.conftest import Call


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("lin", ["lint"]),
        ("lint --select PUB85", [f"PUB85{number}" for number in range(10)]),
        ("lint --ignore PUB301,no-rep", ["PUB301,no-replica-identity"]),
        ("rule relation-mis", ["relation-missing"]),
        ("lint --consumer app=supabase-etl:big", ["app=supabase-etl:bigquery"]),
        ("consumers powers", ["powersync"]),
        ("lint -o sar", ["sar", "sarif:"]),  # in bash a file drops the values before it
        ("lint --output sarif:db", ["sarif:db"]),
        ("lint --format git", ["github", "gitlab"]),
        ("lint db", ["db"]),  # a file, which the shell completes
        ("lint --show", ["--show-settings"]),
        ("man sna", ["snapshot"]),
    ],
)
def test_a_shell_completes(
    line: str, expected: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_PUBCHECK_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", f"pubcheck {line}")
    monkeypatch.setenv("COMP_CWORD", str(len(line.split())))
    with pytest.raises(SystemExit):
        run([])
    assert [answer.partition(",")[2] for answer in capsys.readouterr().out.splitlines()] == expected


@pytest.mark.parametrize(
    ("line", "words", "expected"),
    [
        ("lint --format=js", ("lint", "--format", "=", "js"), ["json", "jsonl"]),
        ("lint --format=", ("lint", "--format", "="), list(FORMATS)),
        ("lint --fail-on=note --format js", ("lint", "--fail-on", "=", "note", "--format", "js"), ["json", "jsonl"]),
        (
            "lint --consumer app=supabase-etl:big",
            ("lint", "--consumer", "app", "=", "supabase-etl", ":", "big"),
            ["bigquery"],
        ),
        (
            "lint --consumer=supabase-etl:",
            ("lint", "--consumer", "=", "supabase-etl", ":"),
            ["bigquery", "clickhouse", "snowflake", "iceberg", "ducklake"],
        ),
        ("lint --sel", ("lint", "--sel"), ["--select"]),
        ("lint --format ", ("lint", "--format", ""), list(FORMATS)),
    ],
)
def test_bash_completes_the_part_of_a_word_that_it_sees(
    line: str, words: tuple[str, ...], expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words are those that bash makes of the line: `=` and `:` end one."""
    program = tmp_path / "pubcheck"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m pubcheck "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    call = f"""
        COMP_LINE={shlex.quote(f"pubcheck {line}")} COMP_POINT=1000 COMP_CWORD={len(words)}
        COMP_WORDS=(pubcheck {" ".join(map(shlex.quote, words))})
        _pubcheck_completion pubcheck
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    script = BashInWords(cli, {}, "pubcheck", COMPLETION).source()
    done = subprocess.run(["bash", "-c", script + call], capture_output=True, text=True)
    assert (done.stdout.split(), done.stderr) == (expected, "")


@pytest.mark.parametrize("shell", ["fish", "zsh"])
def test_fish_and_zsh_complete_whole_words(
    shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    word = "--format=gi"
    monkeypatch.setenv("_PUBCHECK_COMPLETE", f"{shell}_complete")
    monkeypatch.setenv("COMP_WORDS", "pubcheck lint" if shell == "fish" else f"pubcheck lint {word}")
    monkeypatch.setenv("COMP_CWORD", word if shell == "fish" else "2")
    with pytest.raises(SystemExit):
        run([])
    printed = capsys.readouterr().out
    values = re.findall(r"--format=\w+", printed)
    assert values == ["--format=github", "--format=gitlab"]
    assert printed.count("plain") == len(values)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_valid(pubcheck: Call, shell: str) -> None:
    called = pubcheck("completion", shell)
    assert called.status == 0
    assert f"_PUBCHECK_COMPLETE={shell}_complete" in called.out
    program = shutil.which(shell)
    if program is not None:
        Path("script").write_text(called.out)
        subprocess.run([program, "-n", "script"], check=True)


def test_every_command_has_a_manual_page(pubcheck: Call) -> None:
    Path("pages").mkdir()
    assert pubcheck("man", "-o", "pages").status == 0
    names = {page.stem for page in Path("pages").iterdir()}
    assert names == {"pubcheck", *(f"pubcheck-{name}" for name in cli.list_commands(None))}  # type: ignore[arg-type]
    page = Path("pages/pubcheck-lint.1").read_text()
    assert re.findall(r"^\.SH (.*)", page, re.MULTILINE) == [
        *("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS")
    ]
    assert ".B \\-\\-fail\\-on [note|warning|error]\n" in page
    assert pubcheck("man", "lint").out == page
    assert "there is no command 'lnt'" in pubcheck("man", "lnt").err
