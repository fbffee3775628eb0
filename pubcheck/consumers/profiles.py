"""The profile of a consumer: what its file declares."""

from __future__ import annotations

import os
from functools import cache
from typing import Literal

import msgspec
from msgspec import Struct

from pubcheck.consumers import FOLDER, NAMES
from pubcheck.consumers.demands import Demand
from pubcheck.diagnostics import Severity

Evidence = Literal["enforced", "observed", "documented", "reported"]
"""``enforced``: a check in the consumer's code refuses or warns; ``observed``: what its code does; ``documented``: its
documentation says so; ``reported``: an issue says so."""
Strength = Literal["must", "should", "effect"]
"""``must``: the consumer fails or loses data otherwise; ``should``: it recommends this; ``effect``: what happens, which
is often what its user wants."""


ENDLESS = 999
"""More than any PostgreSQL major."""


class Source(Struct, frozen=True, rename="kebab", forbid_unknown_fields=True):
    """Where a claim comes from: a file of a repository at a commit, or a page."""

    repo: str = ""
    path: str = ""
    commit: str = ""
    lines: str = ""
    url: str = ""

    @property
    def address(self) -> str:
        """The address of the page, or of the file at that commit."""
        if self.url:
            return self.url
        first = self.lines.replace(",", "-").split("-")[0].strip()
        line = f"#L{first}" if first.isdigit() else ""  # else it is the name of a function
        return f"https://github.com/{self.repo}/blob/{self.commit}/{self.path}{line}"


class Claim(Struct, frozen=True, rename="kebab", forbid_unknown_fields=True):
    """One fact about a consumer.

    ``says`` is the fact, a sentence; ``breaks`` what happens otherwise, a clause. ``message`` is what the consumer
    prints then. ``inferred``: the fact is a conclusion drawn from the code. ``modes``: it holds only in these.
    ``since`` and ``until`` are the first and the last PostgreSQL major that it is about, 0 for any. ``demands`` are its
    checks, empty if no file of SQL can answer it.
    """

    id: str
    says: str
    evidence: Evidence
    sources: tuple[Source, ...]
    breaks: str = ""
    message: str = ""
    inferred: bool = False
    strength: Strength = "must"
    modes: tuple[str, ...] = ()
    versions: str = ""
    since: int = 0
    until: int = 0
    demands: tuple[Demand, ...] = ()

    @property
    def severity(self) -> Severity:
        """The severity of a finding: by the evidence, and lower where the consumer only recommends."""
        if self.strength == "effect" or self.inferred or self.evidence == "reported":
            return "note"
        if self.strength == "should":
            return "warning" if self.evidence == "enforced" else "note"
        return "error" if self.evidence == "enforced" else "warning"

    def holds_in(self, modes: frozenset[str], major: int) -> bool:
        """Return whether the claim is about one of these modes, or about all, and about this major."""
        in_mode = not self.modes or not modes.isdisjoint(self.modes)
        return in_mode and major in range(self.since, (self.until or ENDLESS) + 1)


class Mode(Struct, frozen=True, rename="kebab", forbid_unknown_fields=True):
    """A setting, version or destination of a consumer on which claims depend. ``default``: what it is without
    configuration."""

    id: str
    says: str
    default: bool = False


class Consumer(Struct, frozen=True, rename="kebab", forbid_unknown_fields=True):
    """A reader of publications, as its file declares it.

    ``product`` is its full name; ``reads`` says which publication it reads. ``publication_names`` are names, or
    beginnings with `*`, that only this consumer uses.
    """

    name: str
    product: str
    category: str
    reads: str
    plugin: str
    claims: tuple[Claim, ...]
    publication_names: tuple[str, ...] = ()
    modes: tuple[Mode, ...] = ()

    @property
    def default_modes(self) -> frozenset[str]:
        """The modes of a consumer that is configured without any."""
        return frozenset(mode.id for mode in self.modes if mode.default)


@cache
def load(consumer: str) -> Consumer:
    """Return the consumer with this id. KeyError if there is none."""
    if consumer not in NAMES:
        raise KeyError(consumer)
    return read(os.path.join(FOLDER, f"{consumer}.toml"))


def read(path: str) -> Consumer:
    """Return the consumer that a file declares. Raises msgspec.ValidationError, or tomllib's error."""
    with open(path, "rb") as file:
        return msgspec.toml.decode(file.read(), type=Consumer)
