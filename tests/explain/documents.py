"""Documents of SQL texts, made as the command makes them."""

from __future__ import annotations

from pubcheck import __version__
from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.explain.build import Selection, build_unit
from pubcheck.explain.document import SCHEMA_VERSION, Answer, Explanation, Publication, UnitExplained
from pubcheck.explain.filters_compared import sampler
from pubcheck.source import Source


def explain(
    text: str,
    *,
    path: str = "a.sql",
    postgres: int = 18,
    publications: tuple[str, ...] = (),
    together: tuple[tuple[str, ...], ...] = (),
) -> UnitExplained:
    """One text as one unit."""
    config = Config(postgres=(postgres,), select=("PUB",))
    followed = Linter(config).follow(Unit((Source(path, text),)))
    fold = followed.replays[0]
    wanted = Selection(publications, (), together)
    return build_unit(fold, followed.statements, followed.result.diagnostics, [path], wanted, sampler(fold))


def document(*units: UnitExplained, postgres: int = 18) -> Explanation:
    return Explanation(__version__, SCHEMA_VERSION, postgres, len(units), 1, units)


def publication(unit: UnitExplained, name: str) -> Publication:
    return next(row for row in unit.publications if row.name == name)


def answer(unit: UnitExplained, name: str, table: str) -> Answer:
    """What a publication's subscriber sees of a table."""
    return next(table_answer for table_answer in publication(unit, name).answers if table in table_answer.tables)
