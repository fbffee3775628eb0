"""`pubcheck comment`: a Markdown report as a comment on a pull request or a merge request."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import click
from msgspec import Struct

from pubcheck.cli.app import Command, completes

MARK = "<!-- pubcheck -->"
"""The beginning of the comment, which readers do not see."""
_PAGE = 100
"""Comments in an answer; both hosts give no more."""
_TIMEOUT = 30
"""Seconds."""


class Host(Struct, frozen=True):
    """A code host. ``comments`` is the address of the comments of this request, ``comment`` that of one of them."""

    name: str
    comments: str
    comment: str
    headers: Mapping[str, str]
    update: str
    longest: int
    """Characters of a comment."""

    def call(self, method: str, address: str, body: str | None = None) -> Any:
        """Return the answer to a request. Raises ClickException."""
        # They load ssl and http, which `pubcheck --help` does not need.
        from urllib.error import HTTPError, URLError
        from urllib.request import Request, urlopen

        content = None if body is None else json.dumps({"body": body}).encode()
        request = Request(address, content, {**self.headers, "Content-Type": "application/json"}, method=method)
        try:
            with urlopen(request, timeout=_TIMEOUT) as answer:
                return json.load(answer)
        except HTTPError as error:
            reason = f"{error.code} {error.reason}"
            raise click.ClickException(f"{self.name} answers {reason} to {method} {address}") from None
        except (URLError, TimeoutError, ValueError) as error:
            raise click.ClickException(f"{self.name}: no answer to {method} {address}: {error}") from None

    def own_comment(self) -> str | None:
        """Return the address of the comment of an earlier run."""
        return next((self.comment.format(comment["id"]) for comment in self._all() if _is_own(comment)), None)

    def _all(self) -> Iterator[Mapping[str, Any]]:
        page: list[Mapping[str, Any]] = [{}] * _PAGE
        number = 0
        while len(page) == _PAGE:
            number += 1
            page = self.call("GET", f"{self.comments}?per_page={_PAGE}&page={number}")
            yield from page


def _is_own(comment: Mapping[str, Any]) -> bool:
    return str(comment.get("body", "")).startswith(MARK)


@click.command(
    cls=Command,
    short_help="Write a Markdown report as a comment on a pull request.",
    epilog="""\b
Examples:
  pubcheck lint --output markdown:report.md db/
  pubcheck comment report.md
  pubcheck lint --format markdown db/ | pubcheck comment --number 42

\b
Exit status: 0 the comment is written, or there is nothing to write; 2 bad
arguments, a variable that is not set, or a host that refuses.""",
)
@click.argument("path", default="-", metavar="[FILE]", shell_complete=completes("files"))
@click.option("--number", type=click.IntRange(min=1), help="Number of the request.  [default: that of the job]")
def command(path: str, number: int | None) -> int:
    """Write a report of `lint --format markdown` as a comment on a GitHub pull request or a GitLab merge request.

    A later run replaces the comment. Without findings a comment is only replaced, never added. The variables of the
    job say which request it is; the token is in GITHUB_TOKEN, which may write pull requests, or GITLAB_TOKEN.
    """
    host = _gitlab(number) if "CI_PROJECT_ID" in os.environ else _github(number)
    report = _read(path)
    address = host.own_comment()
    if address is not None:
        host.call(host.update, address, _body(report, host.longest))
    elif "\n|" in report:
        host.call("POST", host.comments, _body(report, host.longest))
    else:
        click.echo("No finding, and no earlier comment: nothing is written.", err=True)
        return 0
    click.echo(f"{'Wrote' if address is None else 'Replaced'} the comment on {host.name}.", err=True)
    return 0


def _read(path: str) -> str:
    try:
        if path == "-":
            return sys.stdin.read()
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise click.ClickException(f"{path}: cannot be read: {error}") from None


def _body(report: str, longest: int) -> str:
    """Return the text of the comment; rows that do not fit are counted."""
    head, rows = f"{MARK}\n", report.splitlines(keepends=True)
    size = len(head)
    for place, row in enumerate(rows):
        size += len(row)
        if size > longest - 100:
            return f"{head}{''.join(rows[:place])}\n{len(rows) - place:,} more lines do not fit into a comment.\n"
    return head + report


def _github(number: int | None) -> Host:
    request = re.fullmatch(r"refs/pull/(\d+)/\w+", os.environ.get("GITHUB_REF", ""))
    if number is None and request is None:
        raise click.UsageError("GITHUB_REF is not that of a pull request; give its --number")
    repository = f"{os.environ.get('GITHUB_API_URL', 'https://api.github.com')}/repos/{_variable('GITHUB_REPOSITORY')}"
    return Host(
        name="GitHub",
        comments=f"{repository}/issues/{number or (request and request[1])}/comments",
        comment=f"{repository}/issues/comments/{{}}",
        headers={"Authorization": f"Bearer {_variable('GITHUB_TOKEN')}", "Accept": "application/vnd.github+json"},
        update="PATCH",
        longest=65_536,
    )


def _gitlab(number: int | None) -> Host:
    request = number or _variable("CI_MERGE_REQUEST_IID")
    project = f"{_variable('CI_API_V4_URL')}/projects/{_variable('CI_PROJECT_ID')}"
    comments = f"{project}/merge_requests/{request}/notes"
    headers = {"PRIVATE-TOKEN": _variable("GITLAB_TOKEN")}
    return Host("GitLab", comments, f"{comments}/{{}}", headers, update="PUT", longest=1_000_000)


def _variable(name: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        raise click.UsageError(f"the environment variable {name} is not set")
    return value
