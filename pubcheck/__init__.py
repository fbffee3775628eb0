"""pubcheck says what PostgreSQL will do with a publication before PostgreSQL does it.

    >>> from pubcheck import Config, Linter, Source, Unit
    >>> result = Linter(Config(postgres=(18,))).lint(Unit((Source("schema.sql", text),)))
    >>> [diagnostic.rule for diagnostic in result.diagnostics]

Names are loaded when they are first asked for: `import pubcheck` costs next to nothing.
"""

from __future__ import annotations

import sys

__version__ = "0.1.0"

if sys.version_info < (3, 11, 5):  # what pip installs does not come so far
    raise ImportError(
        "pubcheck needs Python 3.11.5 or later: earlier versions have a regular-expression bug (gh-106052)"
    )

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from pubcheck.config import Config as Config
    from pubcheck.diagnostics import Diagnostic as Diagnostic
    from pubcheck.diagnostics import Edit as Edit
    from pubcheck.diagnostics import Fix as Fix
    from pubcheck.diagnostics import ServerAnswer as ServerAnswer
    from pubcheck.diagnostics import Span as Span
    from pubcheck.engine.linter import Linter as Linter
    from pubcheck.engine.unit import Result as Result
    from pubcheck.engine.unit import Unit as Unit
    from pubcheck.source import Source as Source

_HOMES = {
    "Config": "pubcheck.config",
    "Diagnostic": "pubcheck.diagnostics",
    "Edit": "pubcheck.diagnostics",
    "Fix": "pubcheck.diagnostics",
    "Linter": "pubcheck.engine.linter",
    "Result": "pubcheck.engine.linter",
    "ServerAnswer": "pubcheck.diagnostics",
    "Source": "pubcheck.source",
    "Span": "pubcheck.diagnostics",
    "Unit": "pubcheck.engine.linter",
}

__all__ = [  # noqa: RUF022 -- in the order in which one meets them
    "Linter",
    "Config",
    "Unit",
    "Source",
    "Result",
    "Diagnostic",
    "Span",
    "ServerAnswer",
    "Fix",
    "Edit",
    "__version__",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
