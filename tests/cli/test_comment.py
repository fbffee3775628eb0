"""`pubcheck comment` against servers that answer as GitHub's and GitLab's interfaces for comments are documented to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest

from tests.cli.conftest import Call

TABLE = "### pubcheck\n\nFound 1 error.\n\n| | rule |\n|---|---|\n| error | PUB301 |\n"
CLEAN = "### pubcheck\n\nNothing found.\n"


class Comments(BaseHTTPRequestHandler):
    """The comments of a request: of others, and those that are posted."""

    bodies: dict[int, str]
    calls: list[tuple[str, str]]
    status: int

    def _handle(self) -> None:
        path, _, query = self.path.partition("?")
        self.calls.append((self.command, path))
        answer: Any = {"id": 1}
        if self.command == "GET":
            (page,) = re.findall(r"page=(\d+)$", query)
            items = [{"id": number, "body": body} for number, body in self.bodies.items()]
            answer = items[100 * (int(page) - 1) : 100 * int(page)]
        else:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["body"]
            number = len(self.bodies) + 1 if self.command == "POST" else int(path.rpartition("/")[2])
            self.bodies[number] = body
        content = json.dumps(answer).encode()
        self.send_response(self.status if "token" in str(self.headers) else 401)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PATCH = do_PUT = _handle

    def log_message(self, format: str, *arguments: object) -> None:
        """Write nothing to stderr, which the tests read."""


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Comments]]:
    kind = type("_", (Comments,), {"bodies": dict.fromkeys(range(1, 121), "a review"), "calls": [], "status": 200})
    server = HTTPServer(("127.0.0.1", 0), kind)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.delenv("CI_PROJECT_ID", raising=False)
    for name, value in {
        "GITHUB_API_URL": address,
        "GITHUB_REPOSITORY": "shop/db",
        "GITHUB_REF": "refs/pull/7/merge",
        "GITHUB_TOKEN": "token",
        "CI_API_V4_URL": f"{address}/api/v4",
        "CI_MERGE_REQUEST_IID": "9",
        "GITLAB_TOKEN": "token",
    }.items():
        monkeypatch.setenv(name, value)
    yield kind
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("project", "address", "update"),
    [
        (None, "/repos/shop/db/issues/7/comments", ("PATCH", "/repos/shop/db/issues/comments/121")),
        ("3", "/api/v4/projects/3/merge_requests/9/notes", ("PUT", "/api/v4/projects/3/merge_requests/9/notes/121")),
    ],
    ids=["github", "gitlab"],
)
def test_a_comment_is_added_once_and_then_replaced(
    project: str | None,
    address: str,
    update: tuple[str, str],
    pubcheck: Call,
    host: type[Comments],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if project is not None:
        monkeypatch.setenv("CI_PROJECT_ID", project)
    assert pubcheck("comment", stdin=CLEAN.encode()).status == 0
    assert len(host.bodies) == 120  # nobody is told that nothing was found
    assert pubcheck("comment", stdin=TABLE.encode()).status == 0
    assert host.calls[-3:] == [("GET", address), ("GET", address), ("POST", address)]
    assert pubcheck("comment", stdin=CLEAN.encode()).status == 0
    assert host.calls[-1] == update
    assert len(host.bodies) == 121
    assert host.bodies[121].endswith(CLEAN)


def test_a_long_report_is_cut_at_a_line(pubcheck: Call, host: type[Comments]) -> None:
    row = "| error | PUB301 | " + "x" * 1000 + " |\n"
    assert pubcheck("comment", stdin=(TABLE + row * 80).encode()).status == 0
    body = host.bodies[121]
    assert 60_000 < len(body) <= 65_536
    assert body.endswith(" more lines do not fit into a comment.\n")


def test_a_failure_is_one_line(pubcheck: Call, host: type[Comments], monkeypatch: pytest.MonkeyPatch) -> None:
    host.status = 403
    called = pubcheck("comment", stdin=TABLE.encode())
    assert (called.status, called.out) == (2, "")
    assert re.fullmatch(r"pubcheck: GitHub answers 403 Forbidden to GET http://\S+\n", called.err)
    monkeypatch.setenv("GITHUB_REF", "refs/heads/main")
    assert "GITHUB_REF is not that of a pull request; give its --number" in pubcheck("comment").err
    monkeypatch.delenv("GITHUB_TOKEN")
    assert "the environment variable GITHUB_TOKEN is not set" in pubcheck("comment", "--number", "1").err
