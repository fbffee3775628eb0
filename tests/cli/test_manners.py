"""What a user of the command line runs into: empty pipes, patterns that are not valid, folders that are gone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from pubcheck.config import from_options, load
from tests.cli.conftest import Call

TABLE = "CREATE TABLE t (id int PRIMARY KEY, r text NOT NULL);\n"
PUBLICATION = "CREATE PUBLICATION p FOR TABLE t WHERE (r = 'x');\n"
EMPTY = "pubcheck: no input: standard input is empty or closed; did the command before the pipe fail?\n"
COMMANDS = (("lint",), ("lint", "--complete"), ("explain",), ("files",), ("measure", "--data", "t=t.csv"))


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("content", [b"", b"\n", b"\xef\xbb\xbf \r\n"])
def test_an_empty_standard_input_is_not_green(pubcheck: Call, command: tuple[str, ...], content: bytes) -> None:
    called = pubcheck(*command, "-", stdin=content)
    assert (called.status, called.out, called.err) == (2, "", EMPTY)


def test_files_given_with_an_empty_standard_input_do_not_hide_it(pubcheck: Call) -> None:
    Path("a.sql").write_text(TABLE)
    assert pubcheck("lint", "a.sql", "-").status == 2
    assert pubcheck("lint", "--schema", "-", "a.sql").status == 2


def test_a_closed_standard_input_is_an_empty_one(tmp_path: Path) -> None:
    command = f"{sys.executable} -m pubcheck lint - <&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=tmp_path, env=environment())
    assert (done.returncode, done.stdout, done.stderr) == (2, "", EMPTY)


def test_a_standard_input_that_cannot_be_read_is_said_in_one_line(tmp_path: Path) -> None:
    command = f"{sys.executable} -m pubcheck lint - 0> written"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=tmp_path, env=environment())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("pubcheck: no input: standard input cannot be read: ")


def test_a_comment_and_an_empty_file_are_input(pubcheck: Call) -> None:
    Path("a.sql").write_text("")
    assert pubcheck("lint", "-", stdin=b"-- nothing yet\n").status == 0
    assert pubcheck("lint", "a.sql").status == 0


def test_an_empty_pipe_given_by_name_cannot_be_read(pubcheck: Call) -> None:
    reading, writing = os.pipe()
    os.close(writing)
    called = pubcheck("lint", f"/dev/fd/{reading}")
    os.close(reading)
    assert called.status == 1
    assert "error[PUB001]: this cannot be read: this pipe is empty; did the command" in called.out


def test_standard_input_may_be_the_schema(pubcheck: Call) -> None:
    Path("b.sql").write_text(PUBLICATION)
    called = pubcheck("lint", "--schema", "-", "--format", "concise", "b.sql", stdin=TABLE.encode())
    assert called.status == 1
    assert called.out.startswith("b.sql:1:41: error[PUB301]: ")
    assert pubcheck("lint", "--schema", "-", "-", stdin=TABLE.encode()).status == 2


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('exclude = ["[a"]', "exclude: '[a' is not a valid pattern: its bracket is not closed"),
        ('include = ["x/[!b/*.ddl"]', "include: 'x/[!b/*.ddl' is not a valid pattern: its bracket is not closed"),
        ('exclude = ["[z-a]"]', "exclude: '[z-a]' is not a valid pattern: bad character range z-a"),
        (
            'exclude = ["a\\\\"]',
            "exclude: 'a\\\\' is not a valid pattern: a backslash must be followed by the character",
        ),
        ('exclude = ["!"]', "exclude: '!' is not a valid pattern: it matches nothing"),
        ('[per-file-ignores]\n"[a" = "PUB1"', "per-file-ignores: '[a' is not a valid pattern: its bracket"),
        ('[[unit]]\nfiles = ["a.sql"]', "unit 1: name: is missing: every [[unit]] needs one"),
    ],
)
def test_a_value_that_means_nothing_is_one_clear_line(pubcheck: Call, content: str, complaint: str) -> None:
    Path("a.sql").write_text(TABLE)
    Path("pubcheck.toml").write_text(content)
    called = pubcheck("lint", ".")
    assert (called.status, called.out, called.err.count("\n")) == (2, "", 1)
    assert f"pubcheck.toml: {complaint}" in called.err


def test_valid_patterns_with_brackets_and_escapes_are_taken(pubcheck: Call) -> None:
    Path("a.sql").write_text(TABLE)
    Path("pubcheck.toml").write_text(r'exclude = ["[]a].sql", "[!]]", "\\[b", "\\!x", "/c/[0-9]"]')
    assert pubcheck("files").out.endswith("0 files in 0 units\n")


def test_a_pyproject_that_does_not_parse_is_one_clear_line(pubcheck: Call) -> None:
    Path("a.sql").write_text(TABLE)
    Path("pyproject.toml").write_text("[tool.pubcheck\ncomplete = true")
    called = pubcheck("lint", ".")
    assert (called.status, called.out, called.err.count("\n")) == (2, "", 1)
    assert "pyproject.toml: not valid TOML: " in called.err


def test_a_line_of_gitignore_that_is_not_valid_matches_nothing_as_for_git(pubcheck: Call) -> None:
    Path(".git").mkdir()
    Path(".gitignore").write_text("[z-a]\nb.sql\nb\\\n")
    for name in "ab":
        Path(f"{name}.sql").write_text(TABLE)
    assert pubcheck("files").out == ".  folder: the only file of its folder\n  1  a.sql\n1 file in 1 unit\n"


@pytest.mark.parametrize("arguments", [("lint", "."), ("lint", "{file}"), ("files",), ("explain", "{file}")])
def test_a_folder_that_is_gone_is_one_clear_line(pubcheck: Call, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    Path("a.sql").write_text(TABLE)
    Path("gone").mkdir()
    os.chdir("gone")
    Path("../gone").rmdir()
    called = pubcheck(*(argument.format(file=tmp_path / "a.sql") for argument in arguments))
    os.chdir(tmp_path)
    assert (called.status, called.out) == (2, "")
    assert called.err == "pubcheck: the current folder no longer exists; change to another one\n"


def test_output_with_a_hyphen_goes_to_standard_output(pubcheck: Call) -> None:
    Path("a.sql").write_text(TABLE + PUBLICATION)
    called = pubcheck("lint", "--output", "json:-", "--output", "concise:b.txt", "a.sql")
    assert [finding["rule"] for finding in json.loads(called.out)["diagnostics"]] == ["PUB301", "PUB301"]
    assert Path("b.txt").read_text().startswith("a.sql:2:")
    assert not Path("-").exists()
    refused = pubcheck("lint", "--output", "json:-", "--format", "text", "a.sql")
    assert (refused.status, refused.out) == (2, "")
    assert "only one report can go to standard output" in refused.err
    assert pubcheck("explain", "-o", "-", "a.sql").out.startswith("Publication p")


@pytest.mark.parametrize("path", [".", "./", "./a.sql", "././/a.sql", "a.sql"])
def test_paths_begin_without_the_current_folder(pubcheck: Call, path: str) -> None:
    Path("a.sql").write_text(TABLE + PUBLICATION)
    for name in ("concise", "github", "gitlab", "json", "jsonl", "sarif", "checkstyle", "junit", "text", "markdown"):
        called = pubcheck("lint", path, "--format", name)
        assert "a.sql" in called.out
        assert "/a.sql" not in called.out


@pytest.mark.parametrize(
    "text",
    [
        "select * from {{ ref('orders') }} where {% if x %} a {% endif %};\n",
        "CREATE TABLE `orders` (id INT AUTO_INCREMENT) ENGINE=InnoDB;\n",
        "CREATE TABLE t (id UInt64) ENGINE = MergeTree ORDER BY id;\nOPTIMIZE TABLE t FINAL;\n",
        "INSERT INTO notes VALUES ('it's fine');\nCREATE TABLE u (id int);\n",
        "-- Dumped from database version 9.6\nSELECT 1;\n",
        "CREATE TABLE caf\xe9 (id int);\n",
        "SELECT " + "1 + " * 30000 + "1;\n",
    ],
)
def test_a_repository_without_publications_is_silence(pubcheck: Call, text: str) -> None:
    Path("a.sql").write_bytes(text.encode("latin-1"))
    called = pubcheck("lint", ".")
    assert (called.status, called.err) == (0, "")
    assert called.out.startswith("Nothing found in ")
    assert called.out.count("\n") == 1


def test_notes_of_one_file_and_cause_are_one(pubcheck: Call) -> None:
    lines = [f"ALTER PUBLICATION p ADD TABLE {name};\n" for name in ("ka", "lb", "mc", "nd")]
    Path("a.sql").write_text("CREATE PUBLICATION p;\nfoo;\nbar;\n" + "".join(lines))
    Path("b.sql").write_text("CREATE PUBLICATION q FOR TABLE ka;\n")
    same = "; the same is true of"
    findings = json.loads(pubcheck("lint", "--together", "a.sql", "b.sql", "--format", "json").out)["diagnostics"]
    assert [(finding["rule"], finding["line"], finding["message"]) for finding in findings] == [
        ("PUB004", 2, f"this statement is not PostgreSQL and was skipped{same} 1 more statement of this file"),
        ("PUB107", 4, f'table "ka" is not created in these files{same} 3 more statements of this file'),
    ]
    assert [(place["line"], place["message"]) for place in findings[1]["related"]] == [
        (line, f'table "{name}" is not created in these files') for line, name in ((5, "lb"), (6, "mc"), (7, "nd"))
    ]
    Path("known.json").write_text("")
    assert pubcheck("lint", "--write-baseline", "known.json", "a.sql").status == 0
    Path("a.sql").write_text(Path("a.sql").read_text() + "ALTER PUBLICATION p ADD TABLE oe;\n")
    again = pubcheck("lint", "--baseline", "known.json", "--format", "concise", "a.sql").out
    assert again.startswith(
        'a.sql:8:31: note[PUB107] (assumed): table "oe" is not created in these files\nFound 1 note'
    )


def test_help_is_a_word_too(pubcheck: Call) -> None:
    assert pubcheck("help") == pubcheck("--help")
    assert pubcheck("help", "lint") == pubcheck("lint", "--help")
    assert pubcheck("help").status == 0


@pytest.mark.parametrize(
    "command", [(), ("lint",), ("explain",), ("files",), ("measure",), ("decode",), ("audit",), ("rule",)]
)
def test_help_fits_a_terminal(pubcheck: Call, command: tuple[str, ...]) -> None:
    assert [line for line in pubcheck(*command, "--help").out.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("a.sql",), "there is no command 'a.sql'; did you mean `pubcheck lint a.sql`?"),
        (("lint", ""), "a PATH is empty; is a shell variable not set?"),
        (("explain", "a.sql", ""), "a PATH is empty"),
        (("rule", "PUB30"), "PUB30 matches several rules: PUB301, PUB302, PUB303"),
        (("explain", "--publication", "x", "a.sql"), "there is no publication x: the input creates none"),
    ],
)
def test_a_wrong_call_says_what_to_write(pubcheck: Call, arguments: tuple[str, ...], reason: str) -> None:
    Path("a.sql").write_text(TABLE)
    called = pubcheck(*arguments)
    assert (called.status, called.out) == (2, "")
    assert reason in called.err


def test_a_rule_may_be_given_by_its_number(pubcheck: Call) -> None:
    assert pubcheck("rule", "301") == pubcheck("rule", "PUB301")


@pytest.mark.parametrize("arguments", [("lint", "--format", "json"), ("lint", "--format", "junit"), ("lint", "--diff")])
@pytest.mark.parametrize("locale", ["utf-8", "ascii", "cp1252"])
def test_what_programs_read_is_utf_8_whatever_the_locale(
    tmp_path: Path, locale: str, arguments: tuple[str, ...]
) -> None:
    text = (
        'CREATE TABLE "日本" (id int PRIMARY KEY, r text);\nCREATE PUBLICATION p FOR TABLE "日本" WHERE (r = \'é\');\n'
    )
    (tmp_path / "a.sql").write_text(text + 'CREATE PUBLICATION q FOR TABLES "日本";\n')
    done = subprocess.run(
        [sys.executable, "-m", "pubcheck", *arguments, "a.sql"],
        capture_output=True,
        cwd=tmp_path,
        env={**environment(), "PYTHONIOENCODING": locale},
    )
    assert "日本" in done.stdout.decode()
    assert b"\\x" not in done.stdout
    people = subprocess.run(
        [sys.executable, "-m", "pubcheck", "lint", "a.sql"],
        capture_output=True,
        cwd=tmp_path,
        env={**environment(), "PYTHONIOENCODING": "ascii"},
    )
    assert people.stdout.isascii()


def environment() -> dict[str, str]:
    """That of the tests, with the package where it is in them."""
    import pubcheck

    return {**os.environ, "PYTHONPATH": str(Path(pubcheck.__file__).parents[1])}


@pytest.mark.parametrize(
    "options",
    [(), ("--diff",), ("--select", "PUB3"), ("--ignore", "PUB0"), ("--schema", "none.sql", "there.sql")],
    ids=lambda options: " ".join(options) or "plain",
)
def test_a_file_that_is_not_there_fails_the_run_whatever_is_selected(pubcheck: Call, options: tuple[str, ...]) -> None:
    Path("there.sql").write_text("SELECT 1;")
    called = pubcheck("lint", *options, *(() if "none.sql" in options else ("none.sql",)))
    assert called.status == 1
    assert "--diff" in options or "PUB001" in called.out


def test_a_baseline_records_no_file_that_was_not_linted(pubcheck: Call) -> None:
    pubcheck("lint", "--write-baseline", "known.json", "none.sql")
    assert pubcheck("lint", "--baseline", "known.json", "none.sql").status == 1


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("lint", "--nosuch"), "--nosuch"),
        (("lint", "--fail-on", "x", "a.sql"), "Invalid value for '--fail-on'"),
        (("lint", "--stdin-filename", "b.sql", "a.sql"), "--stdin-filename names standard input: give - as PATH"),
        (("explain", "--stdin-filename", "b.sql", "a.sql"), "--stdin-filename names standard input: give - as PATH"),
        (("lint", "--select", ",", "a.sql"), "--select: names no rule; `pubcheck rules` lists them"),
        (("lint", "--select", "PU", "a.sql"), "no rule has the code PU"),
        (("rule", ""), "missing rule code or name; `pubcheck rules` lists them"),
        (("rule", "PUB3"), "PUB3 matches several rules"),
        (("nosuch",), "there is no command 'nosuch'"),
    ],
)
def test_wrong_arguments_are_explained_in_one_line(pubcheck: Call, arguments: tuple[str, ...], reason: str) -> None:
    Path("a.sql").write_text(TABLE)
    called = pubcheck(*arguments)
    assert (called.status, called.out, called.err.count("\n")) == (2, "", 1)
    assert called.err.startswith("pubcheck: ")
    assert reason in called.err


def test_a_variable_that_no_file_names_is_reported(pubcheck: Call) -> None:
    Path("a.sql").write_text("CREATE TABLE :schema.t (id int); SELECT :'x', :\"y\", :{?z};")
    arguments = [part for name in ("schema", "x", "y", "z", "schem") for part in ("-v", f"{name}=1")]
    called = pubcheck("lint", *arguments, "a.sql")
    assert called.out.endswith("\nNot used: -v schem; no file names :schem.\n")
    assert called.out.count("Not used") == 1


def test_without_a_path_the_current_folder_is_linted(pubcheck: Call) -> None:
    Path("a.sql").write_text(TABLE + PUBLICATION)
    assert pubcheck("lint") == pubcheck("lint", ".")
    assert pubcheck("lint").status == 1
    assert pubcheck("explain").out == pubcheck("explain", "a.sql").out


def test_rules_may_be_named_wherever_codes_are_expected(pubcheck: Call) -> None:
    Path("a.sql").write_text(TABLE + PUBLICATION)
    name = "filter-column-outside-replica-identity"
    assert "error[PUB301]" in pubcheck("lint", "--select", name).out
    assert pubcheck("lint", "--ignore", name.upper()).status == 0
    Path("pubcheck.toml").write_text(f'per-file-ignores = {{"a.sql" = "{name}"}}\n')
    assert pubcheck("lint").status == 0
    Path("pubcheck.toml").write_text(f'severity = {{{name} = "note"}}\n')
    assert "note[PUB301]" in pubcheck("lint").out
    assert "did you mean relation-missing?" in pubcheck("lint", "--ignore", "relations-missing").err


@pytest.mark.parametrize(
    ("environment", "options", "colored"),
    [
        ({}, (), False),
        ({"FORCE_COLOR": "1"}, (), True),
        ({"FORCE_COLOR": ""}, (), False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, (), False),
        ({"FORCE_COLOR": "1"}, ("--color", "never"), False),
        ({"FORCE_COLOR": "1"}, ("-o", "report.txt"), False),
        ({"NO_COLOR": "1"}, ("--color", "always"), True),
    ],
)
def test_color_is_forced_and_forbidden(
    pubcheck: Call,
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    options: tuple[str, ...],
    colored: bool,
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    Path("a.sql").write_text(TABLE + PUBLICATION)
    printed = pubcheck("lint", *options).out
    assert ("\x1b[" in (printed or Path("report.txt").read_text())) == colored


@pytest.mark.parametrize("command", ["lint", "explain"])
def test_output_without_a_format_replaces_standard_output(pubcheck: Call, command: str) -> None:
    Path("a.sql").write_text(TABLE + PUBLICATION)
    usual = pubcheck(command, "--format", "json", "a.sql")
    written = pubcheck(command, "--format", "json", "-o", "report.json", "a.sql")
    assert (written.status, written.out) == (usual.status, "")
    assert Path("report.json").read_text() == usual.out
    assert "one file only" in pubcheck("lint", "-o", "a", "-o", "b").err


def test_isolated_reads_no_configuration(pubcheck: Call) -> None:
    Path("a.sql").write_text(TABLE + PUBLICATION)
    Path("pubcheck.toml").write_text("selct = 1\n")
    assert pubcheck("lint").status == 2
    assert "error[PUB301]" in pubcheck("lint", "--isolated").out
    assert pubcheck("files", "--isolated").status == 0


def test_settings_are_shown_as_a_configuration(pubcheck: Call) -> None:
    Path("pubcheck.toml").write_text(
        'postgres = 16\nexclude = "old"\n[severity]\nPUB603 = "error"\n[per-file-ignores]\n"a/**" = ["PUB1"]\n'
        '[[consumer]]\nname = "supabase-etl"\nmodes = "bigquery"\n[variables]\n"schéma" = "a\\"b"\n'
    )
    shown = pubcheck("lint", "--show-settings", "--ignore", "PUB3")
    assert shown.status == 0
    assert shown.out.startswith(f"# from {Path.cwd() / 'pubcheck.toml'} and the command line\npostgres = [16]\n")
    written = from_options(tomllib.loads(shown.out))
    assert written == replace(load(), ignore=("PUB3",), root="", file="")


def test_findings_are_in_the_order_of_the_run(pubcheck: Call) -> None:
    folder = Path("db/migrations")
    folder.mkdir(parents=True)
    for version in (1, 2, 10):
        (folder / f"V{version}__a.sql").write_text(f"CREATE PUBLICATION p{version} FOR TABLE a.b WHERE (now() > x);\n")
    out = pubcheck("lint", "--format", "concise").out
    assert [line.partition(":")[0][14:] for line in out.splitlines() if "PUB2" in line] == [
        "V1__a.sql",
        "V2__a.sql",
        "V10__a.sql",
    ]


def test_one_finding_is_short_and_verbose_has_all_remedies(pubcheck: Call) -> None:
    Path("a.sql").write_text(TABLE + PUBLICATION)
    short, long = pubcheck("lint", "a.sql").out, pubcheck("lint", "--verbose", "a.sql").out
    block = short.partition("\n\n")[0].splitlines()
    assert sum(len(textwrap.wrap(line, 80)) or 1 for line in block) <= 12
    assert "(4 more with --verbose)" in short
    assert short.count("server:") == 1
    assert long.count("          - ") == 6  # one of the excerpt and five remedies
    assert "cannot delete from table" in long
    assert "--verbose" not in long


def test_an_annotation_per_cause(pubcheck: Call) -> None:
    Path("a.sql").write_text("CREATE TABLE t1 (i int); CREATE TABLE t2 (i int); CREATE PUBLICATION p FOR ALL TABLES;\n")
    (annotation,) = pubcheck("lint", "--format", "github", "--select", "PUB302", "a.sql").out.splitlines()
    assert "UPDATE of t1 and DELETE from t1 will fail" in annotation
    assert "%0AThe same is true of public.t2%0A" in annotation


def test_watching_lints_again_what_changed(pubcheck: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.sql").write_text(TABLE + PUBLICATION)
    table = "CREATE TABLE t (i int);\n"
    Path("b.sql").write_text(table)
    edits: list[Callable[[], object]] = [
        lambda: Path("a.sql").write_text(TABLE + PUBLICATION.replace("r = 'x'", "id > 10")),
        # A file changes too: it is not seen as changed again and again.
        lambda: [Path(name).write_text(text) for name, text in (("pubcheck.toml", "="), ("b.sql", table + "\n"))],
        lambda: Path("pubcheck.toml").write_text("postgres = 14\n"),
        lambda: Path("pubcheck.toml").unlink(),
        lambda: Path("c.sql").write_text("CREATE PUBLICATION p FOR TABLE t;"),
    ]

    def edit(_seconds: float) -> None:
        if not edits:
            raise KeyboardInterrupt
        edits.pop(0)()

    monkeypatch.setattr("pubcheck.cli.watch.time.sleep", edit)
    called = pubcheck("lint", "--watch", "--format", "concise", "--postgres", "18", ".")
    assert called.status == 0  # that of the last run
    first, *_, last = called.out.split("Found ")[0], called.out
    assert "PUB301" in first
    assert called.out.count("PUB301") == 1
    assert last.endswith("in 4 statements of 3 files (PostgreSQL 18).\n")
    assert called.err.count("Watching 2 files; Ctrl-C ends.") == 5
    assert "PostgreSQL 14 is not supported" in called.err
    assert pubcheck("lint", "--watch", "--fix").status == 2


def test_watching_knows_settings_that_the_command_line_names(pubcheck: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("sql").mkdir()
    Path("sql/a.sql").write_text(TABLE + PUBLICATION)
    Path("options.toml").write_text('ignore = ["PUB301"]\n')
    pubcheck("lint", "--write-baseline", "known.json", "sql")
    known = Path("known.json").read_text()
    Path("known.json").write_text('{"pubcheck_baseline": 1, "findings": []}')
    edits: list[Callable[[], object]] = [
        lambda: Path("options.toml").write_text('baseline = "known.json"\n'),
        lambda: Path("known.json").write_text(known),
    ]

    def edit(_seconds: float) -> None:
        if not edits:
            raise KeyboardInterrupt
        edits.pop(0)()

    monkeypatch.setattr("pubcheck.cli.watch.time.sleep", edit)
    called = pubcheck("lint", "--watch", "--config", "options.toml", "--format", "concise", "sql")
    assert called.out.count("PUB301") == 1
    assert (called.err.count("Watching 1 file;"), called.status) == (3, 0)


def test_watching_needs_files_that_exist(pubcheck: Call) -> None:
    assert "there is no nosuch.sql" in pubcheck("lint", "--watch", "nosuch.sql").err
