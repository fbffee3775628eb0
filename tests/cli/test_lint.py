"""`pubcheck lint` around the engine: options, exit status, streams, and what a user is told when something is wrong."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

import pubcheck as package
from tests.cli.conftest import Call

pytestmark = pytest.mark.usefixtures("marked")

CERTAIN_ERROR = "-- PUB301 error certain\n"
ASSUMED_ERROR = "-- PUB301 error assumed\n"
CERTAIN_WARNING = "-- PUB107 warning certain\n"
CERTAIN_NOTE = "-- PUB107 note certain\n"


def test_findings_that_are_less_severe_can_be_left_out(pubcheck: Call) -> None:
    Path("a.sql").write_text(CERTAIN_NOTE + CERTAIN_WARNING)
    called = pubcheck("lint", "--format", "concise", "--min-severity", "warning", "a.sql")
    first, last = called.out.splitlines()
    assert "warning[PUB107]" in first
    assert last.startswith("Found 1 warning in ")


@pytest.mark.parametrize(
    ("text", "options", "status"),
    [
        ("SELECT 1;", (), 0),
        (CERTAIN_ERROR, (), 1),
        (CERTAIN_WARNING, (), 1),
        (CERTAIN_NOTE, (), 0),
        (ASSUMED_ERROR, (), 0),
        (CERTAIN_WARNING, ("--fail-on", "error"), 0),
        (CERTAIN_NOTE, ("--fail-on", "note"), 1),
        (CERTAIN_NOTE, ("--fail-on", "note", "--min-severity", "warning"), 0),
        (CERTAIN_WARNING, ("--min-severity", "warning"), 1),
        (ASSUMED_ERROR, ("--fail-on-assumed",), 1),
        (ASSUMED_ERROR, ("--fail-on-assumed", "--certain-only"), 0),
        (CERTAIN_ERROR, ("--ignore", "PUB301"), 0),
        (CERTAIN_ERROR, ("--select", "PUB1,PUB0"), 0),
        (CERTAIN_ERROR + CERTAIN_WARNING, ("--ignore", "PUB301"), 1),
        (CERTAIN_ERROR, ("--format", "json"), 1),
    ],
)
def test_the_exit_status_is_1_when_something_certain_and_bad_enough_is_reported(
    pubcheck: Call, text: str, options: tuple[str, ...], status: int
) -> None:
    Path("a.sql").write_text(text)
    assert pubcheck("lint", *options, "a.sql").status == status


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("empty",), "no input: no .sql file under empty"),
        (("--postgres", "20", "a.sql"), "PostgreSQL 20 is not supported"),
        (("--postgres", "x", "a.sql"), "--postgres: a PostgreSQL major must be a number"),
        (("--select", "PUB31", "a.sql"), "--select: no rule has the code PUB31; did you mean PUB301?"),
        (("--ignore", "XYZ", "a.sql"), "--ignore: no rule has the code XYZ"),
        (("--config", "none.toml", "a.sql"), "none.toml: cannot be read"),
        (("--fail-on", "fatal", "a.sql"), "Invalid value for '--fail-on'"),
        (("--jobs", "-1", "a.sql"), "Invalid value for '--jobs'"),
        (("--nonsense", "a.sql"), "No such option"),
    ],
)
def test_a_wrong_call_exits_2_with_the_reason_on_stderr(
    pubcheck: Call, arguments: tuple[str, ...], reason: str
) -> None:
    Path("a.sql").write_text(CERTAIN_ERROR)
    Path("empty").mkdir()
    called = pubcheck("lint", *arguments)
    assert (called.status, called.out) == (2, "")
    assert reason in called.err


def test_a_wrong_configuration_exits_2_and_names_file_and_key(pubcheck: Call) -> None:
    Path("a.sql").write_text("")
    Path("pubcheck.toml").write_text("postgers = 16")
    called = pubcheck("lint", "a.sql")
    assert called.status == 2
    assert "pubcheck.toml: postgers: there is no such option; did you mean postgres?" in called.err


def test_the_command_line_stands_over_the_configuration(pubcheck: Call) -> None:
    Path("a.sql").write_text(CERTAIN_NOTE)
    Path("pubcheck.toml").write_text('postgres = 15\ncomplete = true\nfail-on = "note"')
    assert pubcheck("lint", "a.sql").status == 1
    called = pubcheck("lint", "--postgres", "18,16", "--no-complete", "--fail-on", "error", "a.sql")
    assert called.status == 0
    assert "complete=False" in called.out
    assert "(PostgreSQL 16, 18)" in called.out


def test_a_file_that_cannot_be_read_fails_the_run_and_the_rest_is_linted(pubcheck: Call) -> None:
    Path("a.sql").write_text(CERTAIN_WARNING)
    called = pubcheck("lint", "missing.sql", "a.sql")
    assert called.status == 1
    assert "error[PUB001]: this cannot be read: No such file or directory\n --> missing.sql:1:1\n" in called.out
    assert "warning[PUB107]" in called.out


def test_standard_input_is_linted_under_its_name(pubcheck: Call) -> None:
    called = pubcheck("lint", "-", stdin=CERTAIN_ERROR.encode())
    assert called.status == 1
    assert " --> <stdin>:1:1\n" in called.out
    assert (
        " --> shop.sql:1:1\n" in pubcheck("lint", "--stdin-filename", "shop.sql", "-", stdin=CERTAIN_ERROR.encode()).out
    )


def test_files_statements_and_findings_of_all_units_are_counted(pubcheck: Call) -> None:
    for name in ("one/a.sql", "one/b.sql", "two/c.sql"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("SELECT 1;\nSELECT 2;\n" + CERTAIN_NOTE)
    assert pubcheck("lint", ".").out.endswith("Found 3 notes in 6 statements of 3 files (PostgreSQL 18).\n")


def test_quiet_says_nothing_when_there_is_nothing(pubcheck: Call) -> None:
    Path("a.sql").write_text("SELECT 1;")
    assert pubcheck("lint", "-q", "a.sql").out == ""


def test_json_is_a_valid_document_of_all_units_in_order(pubcheck: Call) -> None:
    for name in ("b.sql", "a.sql"):
        Path(name).write_text("SELECT 1;\n" + CERTAIN_NOTE)
    report = json.loads(pubcheck("lint", "--format", "json", "b.sql", "a.sql").out)
    schema = Path(package.__file__).parent / "report" / "schema.json"
    jsonschema.validate(report, json.loads(schema.read_text()))
    assert [finding["path"] for finding in report["diagnostics"]] == ["b.sql", "a.sql"]
    assert (report["files"], report["statements"], report["postgres"]) == (2, 2, [18])


def test_an_internal_error_is_one_line_with_the_file_and_loses_nothing_else(pubcheck: Call) -> None:
    Path("bad.sql").write_text("-- crash")
    Path("good.sql").write_text(CERTAIN_ERROR)
    called = pubcheck("lint", "bad.sql", "good.sql")
    assert called.status == 2
    assert called.err == (
        "pubcheck: internal error in bad.sql: RuntimeError: the engine fell over; this is a bug in pubcheck, please"
        " report it with the statement that causes it (PUBCHECK_TRACEBACK=1 shows the traceback)\n"
    )
    assert "error[PUB301]" in called.out


def test_the_traceback_is_there_for_those_who_ask(pubcheck: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUBCHECK_TRACEBACK", "1")
    Path("bad.sql").write_text("-- crash")
    assert 'raise RuntimeError("the engine fell over' in pubcheck("lint", "bad.sql").err


def test_an_interruption_exits_130_without_a_word(pubcheck: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object, **options: object) -> object:
        raise KeyboardInterrupt

    Path("a.sql").write_text("")
    monkeypatch.setattr("pubcheck.cli.lint.discover", interrupted)
    called = pubcheck("lint", "a.sql")
    assert called.status == 130
    assert "Traceback" not in called.err


def test_a_full_disk_is_no_bug(pubcheck: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object, **options: object) -> object:
        raise OSError(errno.ENOSPC, "No space left on device")

    Path("a.sql").write_text("")
    monkeypatch.setattr("pubcheck.cli.app.emit", full)
    called = pubcheck("lint", "a.sql")
    assert (called.status, called.err) == (2, "pubcheck: cannot write: No space left on device\n")


@pytest.mark.parametrize("arguments", [("lint",), ("lint", "--none"), ("none",)])
def test_a_reason_that_cannot_be_told_is_the_same_failure(
    pubcheck: Call, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    class Full(io.StringIO):
        def write(self, text: str, /) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("sys.stderr", Full())
    assert pubcheck(*arguments).status == 2


def test_colour_is_for_terminals_and_those_who_ask(pubcheck: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.sql").write_text(CERTAIN_ERROR)
    assert "\x1b[" not in pubcheck("lint", "a.sql").out
    assert "\x1b[" in pubcheck("lint", "--color", "always", "a.sql").out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in pubcheck("lint", "a.sql").out
    assert "\x1b[" not in pubcheck("lint", "--color", "never", "a.sql").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in pubcheck("lint", "a.sql").out


def process(*arguments: str, cwd: Path, **options: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own; ``options`` are added to the environment."""
    root = Path(package.__file__).parent.parent
    return subprocess.run(
        [sys.executable, "-m", "pubcheck", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(root), **options},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(("loaded", "ended"), [((), False), (("pyspark",), True)])
def test_a_process_that_spark_may_share_ends_as_python_ends(loaded: tuple[str, ...], ended: bool) -> None:
    script = (
        "import atexit, sys; from pubcheck.cli import main; atexit.register(print, 'ended');"
        f" sys.modules.update(dict.fromkeys({loaded}, sys)); sys.argv[1:] = ['rules']; main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "PUB301" in done.stdout
    assert done.stdout.endswith("ended\n") == ended


@pytest.fixture
def archives(tmp_path: Path) -> Path:
    """Units that are judged without the engine: files that are no text."""
    for number in range(40):
        folder = tmp_path / f"db{number:02}"
        folder.mkdir()
        (folder / "dump.sql").write_bytes(b"PGDMP\0")
    return tmp_path


def test_several_processes_say_the_same_in_the_same_order(archives: Path) -> None:
    single, many = (process("lint", "--format", "json", "--jobs", jobs, ".", cwd=archives) for jobs in ("1", "3"))
    assert single.stdout.count("PUB002") == 40
    assert (many.returncode, many.stdout, many.stderr) == (single.returncode, single.stdout, single.stderr)


@pytest.mark.parametrize(("arguments", "status"), [(["lint", "."], 1), (["files"], 0), (["rules"], 0)])
def test_a_reader_that_goes_away_is_no_error(archives: Path, arguments: list[str], status: int) -> None:
    root = Path(package.__file__).parent.parent
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "pubcheck", *arguments],
        cwd=archives,
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=write,
        stderr=subprocess.PIPE,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (status, b"")


@pytest.mark.parametrize(("arguments", "status"), [("lint --nosuch", 2), ("lint --jobs 2 .", 1), ("rules", 0)])
def test_closed_streams_hide_what_they_would_show_and_nothing_else(archives: Path, arguments: str, status: int) -> None:
    def shell(streams: str) -> subprocess.CompletedProcess[str]:
        command = f'"{sys.executable}" -m pubcheck {arguments} {streams}'
        root = Path(package.__file__).parent.parent
        environment = {**os.environ, "PYTHONPATH": str(root)}
        return subprocess.run(command, shell=True, cwd=archives, env=environment, capture_output=True, text=True)

    usual, no_output, no_errors, nothing = map(shell, ("", ">&-", "2>&-", "<&- >&- 2>&-"))
    assert {done.returncode for done in (usual, no_output, no_errors, nothing)} == {status}
    assert (no_output.stdout, no_output.stderr) == ("", usual.stderr)
    assert (no_errors.stdout, no_errors.stderr) == (usual.stdout, "")
    assert (nothing.stdout, nothing.stderr) == ("", "")


def test_an_encoding_without_the_character_is_no_error(tmp_path: Path) -> None:
    done = process("lint", "größe.sql", cwd=tmp_path, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (done.returncode, done.stderr) == (1, "")
    assert "gr\\xf6\\xdfe.sql" in done.stdout
