"""Skip the files of a folder that Git ignores and those that the configuration excludes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from pubcheck.lazy_regex import lazy_compile

GITIGNORE = ".gitignore"

_CUT = lazy_compile(r"\[.*?\]|[*?\\/]+")


class Patterns:
    """Lines of a .gitignore, or alike, and the folder that they are relative to.

    Most patterns can match nothing that is walked. What matches them is loaded, which takes 30 ms, where the letters of
    one of them occur in a path.
    """

    def __init__(self, base: str, lines: Sequence[str]) -> None:
        self._beginning = base if base.endswith(os.sep) else base + os.sep
        self._lines = [line for line in lines if line.strip() and not line.startswith("#")]
        self._letters = [_letters(line) for line in self._lines if not line.startswith("!")]
        self._exceptions = [_letters(line[1:]) for line in self._lines if line.startswith("!")]
        self._decide: Callable[[str], bool | None] | None = None

    def __bool__(self) -> bool:
        return bool(self._lines)

    def occurs(self, text: str) -> bool:
        """Return whether one of the patterns may match a path whose parts all are in the text; of those with `!`
        only what another one matches is taken out."""
        return any(all(piece in text for piece in pieces) for pieces in self._letters)

    def decide(self, path: str, *, folder: bool) -> bool | None:
        """Return whether the last pattern that fits a path ignores it; None if no pattern fits."""
        if not path.startswith(self._beginning):
            return None
        if not any(all(piece in path for piece in pieces) for pieces in (*self._letters, *self._exceptions)):
            return None
        if self._decide is None:
            from pathspec import GitIgnoreSpec

            try:
                check = GitIgnoreSpec.from_lines(self._lines).check_file
            except (ValueError, re.error):
                # Git matches nothing by a line that is not valid. The configuration's were checked.
                check = GitIgnoreSpec.from_lines(line for line in self._lines if not problem_of(line)).check_file
            self._decide = lambda relative: check(relative).include
        relative = path[len(self._beginning) :].replace(os.sep, "/")
        return self._decide(relative + "/" if folder else relative)


_COMPLETE = lazy_compile(r"\\.|\[[!^]?\]?[^\]]*\]", re.DOTALL)
"""An escaped character, or a pair of brackets with its content."""


def problem_of(pattern: str) -> str | None:
    """Return why a pattern of .gitignore is invalid, or cannot match anything; None for a valid one."""
    from pathspec import GitIgnoreSpec

    if not pattern.strip("!/ "):
        return "it matches nothing"
    if "[" in _COMPLETE.sub("", pattern):
        return "its bracket is not closed"
    try:
        GitIgnoreSpec.from_lines([pattern])
    except re.error as error:
        return error.msg
    except ValueError:
        return "a backslash must be followed by the character that it escapes"
    return None


def _letters(pattern: str) -> tuple[str, ...]:
    """Return the literal pieces of a pattern. Every path that it matches contains all of them."""
    return tuple(piece for piece in _CUT.split(pattern.rstrip()) if piece)


class Ignoring(Struct, frozen=True):
    """The files skipped in a folder, an absolute path: later ``patterns`` override earlier ones,
    and nothing overrides ``excluded``."""

    patterns: tuple[Patterns, ...] = ()
    excluded: Patterns | None = None

    def below(self, folder: str, names: Sequence[str]) -> Ignoring:
        """Return the rules with the .gitignore of a subfolder added, if it is among ``names``."""
        if GITIGNORE not in names:
            return self
        patterns = _read(folder, GITIGNORE)
        return Ignoring((*self.patterns, patterns), self.excluded) if patterns else self

    def without_ignored(self, folder: str, names: Sequence[str], *, folders: bool) -> list[str]:
        """Return the names in a folder that are not skipped."""
        every = (*self.patterns, self.excluded) if self.excluded is not None else self.patterns
        if every and names:
            text = "\n".join((folder, *names))
            if any(pattern.occurs(text) for pattern in every):
                return [name for name in names if not self.skips(os.path.join(folder, name), folder=folders)]
        return list(names)

    def skips(self, path: str, *, folder: bool) -> bool:
        if self.excluded is not None and self.excluded.decide(path, folder=folder):
            return True
        for patterns in reversed(self.patterns):
            decided = patterns.decide(path, folder=folder)
            if decided is not None:
                return decided
        return False


def above(
    folder: str, exclude: Sequence[str], root: str, *, gitignore: bool, tops: dict[str, str | None] | None = None
) -> Ignoring:
    """Return the rules for a folder that come from the folders above it, up to the root of its Git repository.

    ``exclude`` are patterns relative to ``root``; ``tops`` as in ``top_of``. A folder that is itself skipped, but given
    by name, obeys no rules from above.
    """
    excluded = Patterns(os.path.abspath(root), exclude) if exclude else None
    top = top_of(folder, tops) if gitignore else None
    if top is None:
        return Ignoring((), excluded)
    pattern_lists = [_read(top, os.path.join(".git", "info", "exclude"))]
    path = top
    for part in os.path.relpath(folder, top).split(os.sep):
        pattern_lists.append(_read(path, GITIGNORE))
        path = os.path.join(path, part)
        ignoring = Ignoring(tuple(patterns for patterns in pattern_lists if patterns), excluded)
        if part != os.curdir and ignoring.skips(path, folder=True):
            return Ignoring((), excluded)
    # The folder's own .gitignore is read when it is walked.
    return ignoring if folder != top else Ignoring(tuple(lines for lines in pattern_lists[:1] if lines), excluded)


def reason_skipped(path: str, exclude: Sequence[str], root: str, *, gitignore: bool) -> str | None:
    """Return why a walk from above would skip a file or folder, given as an absolute path; None if it would not."""
    if exclude:
        base = os.path.abspath(root)
        excluded = Ignoring((), Patterns(base, exclude))
        if any(excluded.skips(current, folder=folder) for current, folder in _down(base, path)):
            return "the configuration excludes it"
    top = top_of(os.path.dirname(path)) if gitignore else None
    if top is not None:
        ignoring = Ignoring((_read(top, os.path.join(".git", "info", "exclude")),))
        for current, folder in _down(top, path):
            ignoring = ignoring.below(os.path.dirname(current), (GITIGNORE,))
            if ignoring.skips(current, folder=folder):
                return "git ignores it"
    return None


def _down(base: str, path: str) -> Iterator[tuple[str, bool]]:
    """Yield each step from a folder to a path in it, and whether it is a folder."""
    below = os.path.relpath(path, base).split(os.sep)
    if os.pardir not in below[:1] and path != base:
        current = base
        for part in below:
            current = os.path.join(current, part)
            yield current, current != path or os.path.isdir(path)


def top_of(path: str, known: dict[str, str | None] | None = None) -> str | None:
    """Return the folder at or above an absolute path that git watches over. ``known`` are answers for folders, to which
    that for the one above is added: of many side by side only the first one asks further up."""
    if known is not None and not os.path.exists(os.path.join(path, ".git")):
        above = os.path.dirname(path)
        if above not in known:
            known[above] = top_of(above)
        return known[above]
    while not os.path.exists(os.path.join(path, ".git")):
        path, before = os.path.dirname(path), path
        if path == before:
            return None
    return path


def _read(folder: str, name: str) -> Patterns:
    try:
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as stream:
            return Patterns(folder, stream.read().splitlines())
    except OSError:
        return Patterns(folder, ())
