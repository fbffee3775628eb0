"""The values that a shell completes on the command line; loaded only when a shell asks."""

from __future__ import annotations

from collections.abc import Iterator

from click.shell_completion import CompletionItem

from pubcheck.report import FORMATS
from pubcheck.rulebook import RULES


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
