"""The action and the job are valid, and the script lints as they say."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ORDERS = "CREATE TABLE orders (id bigint PRIMARY KEY, region text NOT NULL);\n"
EU = "CREATE PUBLICATION eu FOR TABLE orders WHERE (region = 'EU');\n"


def validate(schema: str, file: Path, *options: str) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *options, str(file)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_action_follows_its_schema() -> None:
    validate("vendor.github-actions", ROOT / "action.yml")


@pytest.mark.parametrize("path", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda path: path.stem)
def test_files_for_github_follow_their_schemas(path: Path) -> None:
    if path.parent.name == "workflows":
        validate("vendor.github-workflows", path)
        validate("custom.github-workflows-require-timeout", path)
    else:
        validate(f"vendor.github-issue-{'config' if path.stem == 'config' else 'forms'}", path)


def test_actions_are_pinned() -> None:
    """A tag of an action can be moved; the hash of a commit cannot."""
    for path in (*(ROOT / ".github" / "workflows").glob("*.yml"), ROOT / "action.yml"):
        uses = re.findall(r"uses: *(\S+)(.*)", path.read_text())
        assert uses
        for name, comment in uses:
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", name), f"{path}: {name}"
            assert re.fullmatch(r" # v[\d.]+", comment), f"{path}: the version of {name}"


def test_programs_of_the_workflows_exist() -> None:
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        for name in re.findall(r"\.ci/\w+", path.read_text()):
            assert os.access(ROOT / name, os.X_OK), f"{path}: {name}"


def test_the_job_for_gitlab_follows_its_schema(tmp_path: Path) -> None:
    head, job = (ROOT / "ci" / "gitlab.yml").read_text().split("\n---\n")
    assert set(re.findall(r"inputs\.(\w+)", job)) == yaml.safe_load(head)["spec"]["inputs"].keys()
    file = tmp_path / "job.yml"
    file.write_text(job)
    validate("vendor.gitlab-ci", file, "--data-transform", "gitlab-ci")


def test_the_action_uses_every_input() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    text = (ROOT / "action.yml").read_text()
    for name in action["inputs"]:
        assert re.search(rf"\binputs\.{name}\b[^-]", text)
    script = (ROOT / "ci" / "lint.sh").read_text()
    (environment,) = (step["env"] for step in action["runs"]["steps"] if "env" in step)
    of_pubcheck = {"GITHUB_TOKEN"}  # `pubcheck comment` reads it
    assert all(re.search(rf"\${{?{name}\b", script) for name in environment.keys() - of_pubcheck)


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with two migrations; the second one has a finding, and a later commit changes only the third."""
    folder = tmp_path / "repository" / "db" / "migrations"
    folder.mkdir(parents=True)
    (folder / "V1__orders.sql").write_text(ORDERS)
    (folder / "V2__eu.sql").write_text(EU)
    git(tmp_path / "repository", "init", "-q")
    git(tmp_path / "repository", "add", "-A")
    git(tmp_path / "repository", "commit", "-qm", "first")
    return tmp_path / "repository"


def lint(repository: Path, **environment: str) -> tuple[int, str, str]:
    """Run the script; the status, standard output and the job's summary."""
    summary = repository.parent / "summary.md"
    summary.write_text("before\n")
    bin_folder = repository.parent / "bin"
    bin_folder.mkdir(exist_ok=True)
    program = bin_folder / "pubcheck"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m pubcheck "$@"\n')
    program.chmod(0o755)
    done = subprocess.run(
        ["bash", str(ROOT / "ci" / "lint.sh")],
        cwd=repository,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PATH": f"{bin_folder}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "GITHUB_STEP_SUMMARY": str(summary),
            **environment,
        },
    )
    return done.returncode, done.stdout + done.stderr, summary.read_text()


def test_annotations_summary_and_sarif(repository: Path) -> None:
    status, printed, summary = lint(repository, PATHS="db", SARIF="a.sarif")
    assert status == 1
    assert "::error file=db/migrations/V2__eu.sql,line=1" in printed
    assert summary.startswith("before\n### pubcheck\n")
    assert "| 🔴 error | PUB301 " in summary
    assert "PUB301" in (repository / "a.sarif").read_text()


def test_a_comment_is_written_where_it_is_asked_for(repository: Path) -> None:
    host = {"GITHUB_API_URL": "http://127.0.0.1:1", "GITHUB_REPOSITORY": "shop/db", "GITHUB_TOKEN": "token"}
    status, printed, summary = lint(repository, PATHS="db", COMMENT="true", GITHUB_REF="refs/pull/7/merge", **host)
    assert status == 2
    assert "pubcheck: GitHub: no answer to GET http://127.0.0.1:1/repos/shop/db/issues/7/comments" in printed
    assert "PUB301" in summary


class Comments(BaseHTTPRequestHandler):
    """A pull request of GitHub with the comment of an earlier run."""

    body = "<!-- pubcheck -->\n| finding |"

    def do_GET(self) -> None:
        self._answer([{"id": 1, "body": Comments.body}])

    def do_PATCH(self) -> None:
        Comments.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]
        self._answer({})

    def _answer(self, answer: object) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def log_message(self, format: str, *arguments: object) -> None:
        """Write nothing to stderr."""


def test_a_comment_is_replaced_when_no_file_is_changed_but_not_from_a_fork(repository: Path) -> None:
    server = HTTPServer(("127.0.0.1", 0), Comments)
    Thread(target=server.serve_forever, daemon=True).start()
    environment = {
        "GITHUB_API_URL": f"http://127.0.0.1:{server.server_port}",
        "GITHUB_REPOSITORY": "shop/db",
        "GITHUB_REF": "refs/pull/7/merge",
        "GITHUB_TOKEN": "token",
        "COMMENT": "true",
        "PATHS": "db",
        "CHANGED_ONLY": "true",
        "BASE": git(repository, "rev-parse", "HEAD"),
    }
    status, printed, _ = lint(repository, **environment, FORK="true")
    assert (status, Comments.body.endswith("| finding |")) == (0, True)
    assert "a request from a fork gets no comment" in printed
    status, printed, _ = lint(repository, **environment)
    assert (status, "Replaced the comment" in printed) == (0, True)
    assert Comments.body == "<!-- pubcheck -->\n### pubcheck\n\nNo file that pubcheck reads is changed.\n"
    server.shutdown()
    server.server_close()


def test_changes_that_cannot_be_known_are_a_failure(repository: Path) -> None:
    base = git(repository, "rev-parse", "HEAD")
    status, printed, _ = lint(repository, PATHS="db", CHANGED_ONLY="true", BASE="1" * 40)
    assert (status, "check out with fetch-depth: 0" in printed) == (2, True)
    (repository / "pubcheck.toml").write_text("postgres = [")
    status, printed, _ = lint(repository, PATHS="db", CHANGED_ONLY="true", BASE=base)
    assert (status, "pubcheck.toml: not valid TOML" in printed) == (2, True)


def test_a_whole_clone_stays_whole(repository: Path) -> None:
    base = git(repository, "rev-parse", "HEAD")
    (repository / "db" / "migrations" / "V3__us.sql").write_text("SELECT 1;\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "second")
    git(repository.parent, "clone", "-q", f"file://{repository}", "clone")
    second = git(repository, "rev-parse", "HEAD")
    status, _, _ = lint(repository.parent / "clone", PATHS="db", CHANGED_ONLY="true", BASE=second)
    assert (status, git(repository.parent / "clone", "rev-list", "--count", "HEAD")) == (0, "2")
    assert git(repository.parent / "clone", "rev-parse", "HEAD~1") == base


def test_paths_and_options_may_have_lines_of_their_own(repository: Path) -> None:
    (repository / "other.sql").write_text(ORDERS + EU)
    status, printed, _ = lint(repository, PATHS="db\nother.sql\n", ARGS="--postgres 17\n--ignore PUB301\n")
    assert (status, "PUB301" in printed) == (0, False)
    _, printed, _ = lint(repository, PATHS="db\nother.sql\n", ARGS="--postgres 17\n")
    assert "other.sql" in printed


def test_only_changed_files_are_reported_in_their_history(repository: Path) -> None:
    base = git(repository, "rev-parse", "HEAD")
    changed = repository / "db" / "migrations" / "V3__us.sql"
    changed.write_text(EU.replace("eu", "us").replace("EU", "US"))
    (repository / "db" / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "second")
    status, printed, _ = lint(repository, PATHS="db", CHANGED_ONLY="true", BASE=base)
    assert status == 1
    assert "V3__us.sql" in printed
    assert "file=db/migrations/V2__eu.sql" not in printed
    assert "picture.png" not in printed


def test_nothing_changed_is_a_success(repository: Path) -> None:
    base = git(repository, "rev-parse", "HEAD")
    status, printed, summary = lint(repository, PATHS="db", CHANGED_ONLY="true", BASE=base, SARIF="a.sarif")
    assert (status, summary) == (0, "before\n")
    assert "no file was changed" in printed
    (result,) = json.loads((repository / "a.sarif").read_text())["runs"]  # a later step uploads it
    assert result["results"] == []


def test_the_image_has_what_the_package_needs() -> None:
    copied = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert all((ROOT / name).exists() for name in copied)
    assert {"pubcheck", "rules", "hatch_build.py", "pyproject.toml", "README.md", "LICENSE"} <= copied
