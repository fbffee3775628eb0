"""The values that a shell completes on the command line; loaded only when a shell asks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

from pubcheck.report import FORMATS
from pubcheck.rulebook import RULES


class BashInWords(BashComplete):
    """Completion in bash, which takes `=` and `:` for the ends of words: of `--format=js` it completes only `js`."""

    source_template = BashComplete.source_template.replace("env ", 'env COMP_LINE="${COMP_LINE:0:COMP_POINT}" ', 1)

    def get_completion_args(self) -> tuple[list[str], str]:
        words, incomplete = super().get_completion_args()
        self._before = ""
        """The part of the value that bash leaves as it is."""
        line = os.environ.get("COMP_LINE")
        if line is None:
            return words, incomplete
        words = split_arg_string(line)[1:]
        whole = words.pop() if words and not line[-1].isspace() else ""
        value = whole.partition("=")[2] if whole.startswith("-") and "=" in whole else whole
        self._before = value.removesuffix("" if incomplete in ("=", ":") else incomplete)
        return words, whole

    def format_completion(self, item: CompletionItem[Any]) -> str:
        return f"{item.type},{item.value.removeprefix(self._before)}"


class _InWholeWords(ShellComplete):
    """Completion in a shell that replaces the whole word, `--format=js`, also where only its value is completed."""

    def get_completion_args(self) -> tuple[list[str], str]:
        words, incomplete = super().get_completion_args()
        self._option = incomplete[: incomplete.find("=") + 1] if incomplete.startswith("-") else ""
        return words, incomplete

    def format_completion(self, item: CompletionItem[Any]) -> str:
        if item.type == "plain":
            item = CompletionItem(self._option + item.value, help=item.help)
        return super().format_completion(item)


class FishInWholeWords(_InWholeWords, FishComplete):
    """Completion in fish."""


class ZshInWholeWords(_InWholeWords, ZshComplete):
    """Completion in zsh."""


add_completion_class(BashInWords)
add_completion_class(FishInWholeWords)
add_completion_class(ZshInWholeWords)


def files(incomplete: str) -> list[CompletionItem]:
    """The shell itself completes the names of files."""
    return [CompletionItem(incomplete, type="file")]


def folders(incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type="dir")]


def reports(incomplete: str) -> list[CompletionItem]:
    """A file, or a format and a file. Files come first: in bash they drop the values before them."""
    formats = () if ":" in incomplete else FORMATS
    return [*files(incomplete), *(CompletionItem(f"{name}:") for name in formats if name.startswith(incomplete))]


def codes(incomplete: str) -> list[CompletionItem]:
    """Codes of rules, or the names of rules where a name is begun, after those before the last comma."""
    before, comma, last = incomplete.rpartition(",")
    return [CompletionItem(before + comma + text, help=help) for text, help in _rules(last)]


def _rules(last: str) -> Iterator[tuple[str, str]]:
    for rule in RULES.values():
        if rule.code.startswith(last.upper()):
            yield rule.code, rule.name
        elif last and rule.name.startswith(last.lower()):
            yield rule.name, rule.code


def consumers(incomplete: str) -> list[CompletionItem]:
    """Consumers, with the modes of the one that is written before a colon; a publication may come before."""
    from pubcheck.consumers import NAMES
    from pubcheck.consumers.profiles import load

    publication, equals, written = incomplete.rpartition("=")
    name, colon, _ = written.rpartition(":")
    consumer = name.partition(":")[0]
    if colon and consumer in NAMES:
        choices = [f"{name}:{mode.id}" for mode in load(consumer).modes]
    else:
        choices = list(NAMES)
    return [CompletionItem(publication + equals + choice) for choice in choices if choice.startswith(written)]
