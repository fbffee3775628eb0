"""A unit, which the engine lints, and the result."""

from __future__ import annotations

from msgspec import Struct

from pubcheck.diagnostics import Diagnostic
from pubcheck.faults import Fault
from pubcheck.source import Source


class Unit(Struct, frozen=True):
    """The ordered sources that together build one database."""

    sources: tuple[Source, ...]
    postgres: tuple[int, ...] = ()
    """The majors to check it for, empty for those of the configuration."""
    convention: str = ""
    """The convention by which it was found, which may say what platform is below it: `supabase`."""
    remarks: tuple[Diagnostic, ...] = ()
    """What is to be said of reading its files; reported with what is found in them."""
    loose: bool = False
    """Whether its files were found together, or alone, without any sign that they are the whole of a database."""


class Result(Struct, frozen=True):
    """What was found in a unit: diagnostics in the order of design section 5, the majors judged, statements counted,
    these in each source, and pubcheck's own errors, which are among the diagnostics too."""

    diagnostics: tuple[Diagnostic, ...]
    postgres: tuple[int, ...]
    statements: int
    counts: tuple[int, ...] = ()
    faults: tuple[Fault, ...] = ()
