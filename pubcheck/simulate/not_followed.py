"""The error for what the simulator cannot follow exactly."""

from __future__ import annotations


class NotFollowed(Exception):
    """The server's answer to a statement cannot be worked out. It is never guessed.

    ``reason`` is a noun phrase or a sentence for the reader, ``location`` a byte offset into the statement or None,
    ``statement`` its text.
    """

    def __init__(self, reason: str, location: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.location = location
        self.statement = ""
        self.place = ""
        """The script and the line, where they are known."""

    def __str__(self) -> str:
        before = f"{self.place}: " if self.place else ""
        if not self.statement:
            return before + self.reason
        place = "" if self.location is None else f" (at byte {self.location})"
        statement = " ".join(self.statement.split())
        return f"{before}this statement cannot be followed: {self.reason}{place}: {statement}"
