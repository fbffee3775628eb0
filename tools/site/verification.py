"""The page about how predictions are verified, with the figures of the last run of `python -m tests.verification`."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tools.rulebook.pages import read_pages
from tools.site.pages import Generated, table

_KINDS = {
    "scripts": "DDL on tables and publications",
    "trees": "partitions and inheritance",
    "later": "views, keys and columns that depend on filters",
    "wild": "long histories",
}
_Row = Mapping[str, Any]


def pages(root: Path) -> Iterator[Generated]:
    """Yield the one page."""
    figures = json.loads((root / "docs" / "verification.json").read_text())
    examples = read_pages(str(root / "rules"))
    pairs = tomllib.loads((root / "corpus" / "consumers" / "pairs.toml").read_text())["pair"]
    servers = ", ".join(figures["versions"].values())
    random = table(
        ("Scripts about", "PostgreSQL", "Scripts", "Statements", "Differences", "Writes", "Alike", "Invented refusals"),
        map(_random, figures["random"]),
    )
    recorded = table(
        ("PostgreSQL", "Cases", "Verdicts agree", "Texts agree", "Invented errors"), map(_recorded, figures["recorded"])
    )
    streams = table(
        ("PostgreSQL", "Scripts", "Messages", "Transactions", "Transactions agree"), map(_streams, figures["streams"])
    )
    text = f"""# How it is verified

Expected answers come from PostgreSQL servers, never from pubcheck's own output. `python -m tests.verification`
compares the two and writes the figures on this page. This run is of {figures["date"]}, with pubcheck
{figures["pubcheck"]} and PostgreSQL {servers}. The figures are also a [file](verification.json).

## Recorded answers

`corpus/cases/` holds statements with the recorded answers of each version. A verdict agrees if the statement is
accepted or refused as recorded, with the same SQLSTATE. Texts agree if message, detail, hint and position are also the
same. An invented error is one that no server raises.

{recorded}
## Random scripts

Generated statements run on a server and in pubcheck. Afterwards each table is written to, and the answers to these
writes are compared.

{random}
## Streams

Random transactions run on a server and in [`pubcheck simulate`](simulate.md), and the messages of their replication
slots are compared.

{streams}
## Examples

- The {sum(len(page.bad) for page in examples)} bad and {sum(len(page.good) for page in examples)} good examples on the
  [rule pages](rules/index.md) are linted and, unless a page says otherwise, run on servers.
- For {len(pairs)} claims about [consumers](consumers.md) there is SQL that breaks the claim and SQL that satisfies it.

[Contributing](contributing.md#how-predictions-are-verified) explains how to run these comparisons.
"""
    yield Generated("verification.md", text, "How it is verified")


def _recorded(row: _Row) -> tuple[str, ...]:
    cases = row["cases"]
    return (
        str(row["major"]),
        f"{cases:,}",
        _share(row["verdicts"], cases),
        _share(row["texts"], cases),
        str(row["invented"]),
    )


def _random(row: _Row) -> tuple[str, ...]:
    return (
        _KINDS[row["kind"]],
        str(row["major"]),
        f"{row['scripts']:,}",
        f"{row['statements']:,}",
        f"{row['differences']:,}",
        f"{row['writes']:,}",
        _share(row["writes_alike"], row["writes"]),
        str(row["invented"]),
    )


def _streams(row: _Row) -> tuple[str, ...]:
    transactions = row["transactions"]
    alike = _share(row["transactions_alike"], transactions)
    return str(row["major"]), f"{row['scripts']:,}", f"{row['messages']:,}", f"{transactions:,}", alike


def _share(part: int, whole: int) -> str:
    """Return a number as a share. It is 100 % only if nothing is missing."""
    if part == whole:
        return f"{part:,} (100 %)"
    return f"{part:,} ({min(100 * part / max(whole, 1), 99.99):.2f} %)"
