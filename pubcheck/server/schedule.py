"""When the open files of an editor are linted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

PAUSE = 0.05
"""Seconds without another change after which a file is linted."""


class Schedule:
    """Files that wait to be linted, each at most once. One unit is linted at a time: files that change meanwhile wait
    for its end, however often they change."""

    def __init__(self, lint: Callable[[str], Awaitable[None]], stop: Callable[[], None] = lambda: None) -> None:
        """``lint`` lints the unit of a file, and calls ``begin`` with the files that its findings are about. ``stop``
        is called if one of them changes meanwhile, so that ``lint`` need not go on."""
        self._lint = lint
        self._stop = stop
        self._due: dict[str, float] = {}
        """Files that wait, with the times at which they are linted."""
        self._changed: set[str] = set()
        """Those of them that are known to have changed."""
        self.current: frozenset[str] = frozenset()
        """The files that are being linted."""
        self._task: asyncio.Task[None] | None = None
        self._end_of_lint = asyncio.Event()

    def put(self, path: str, pause: float = PAUSE) -> None:
        """Lint the unit of a file that changed, after a pause in which the file does not change again."""
        self._changed.add(path)
        if path in self.current:
            self._stop()
        self._put(path, pause)

    def put_unchanged(self, path: str) -> None:
        """Lint the unit of a file of which nobody knows that it changed. A lint that is under way goes on."""
        if path not in self._due:
            self._put(path, 0)

    def _put(self, path: str, pause: float) -> None:
        self._due[path] = asyncio.get_running_loop().time() + pause
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def remove(self, path: str) -> None:
        """Forget a file that was closed."""
        self._due.pop(path, None)
        self._changed.discard(path)

    def begin(self, paths: Iterable[str]) -> None:
        """Take the files that are linted now from those that wait."""
        self.current = frozenset(paths)
        for path in self.current:
            self.remove(path)

    def waits(self, paths: Iterable[str]) -> bool:
        """Return whether one of these files changed since it was last linted."""
        return any(path in self._changed for path in paths)

    async def settled(self, path: str) -> None:
        """Wait until the findings of a file are those of its present text."""
        while path in self._due or path in self.current:
            await self._end_of_lint.wait()

    async def _run(self) -> None:
        while self._due:
            now = asyncio.get_running_loop().time()
            ready = [path for path, due in self._due.items() if due <= now]
            if not ready:
                await asyncio.sleep(min(self._due.values()) - now)
                continue
            # The file that somebody edits does not wait for all that are open, which a save looks at again.
            path = max(ready, key=self._due.__getitem__)
            self.begin([path])
            await self._lint(path)
            self.current = frozenset()
            self._end_of_lint.set()
            self._end_of_lint = asyncio.Event()
        self._task = None
