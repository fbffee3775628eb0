"""Screenshots of the pages that pubcheck writes: `python -m tests.support.screenshots FOLDER [NAME ...]`.

Each page is taken at the widths of a desktop and a phone, light and dark, as `NAME-WIDTH-SCHEME.png`: of its first
screen, or as high as `--height` says. The documentation shows some of them, and people look at the others after a
change of a style sheet.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from msgspec.structs import replace
from playwright.sync_api import Browser

from pubcheck.explain import render_html
from pubcheck.report import audit_html
from pubcheck.report.audit_html import Audit, Finding
from tests.explain.documents import document, explain
from tests.report.audits import audit
from tests.support.browser import browser

WIDTHS = {1400: 900, 390: 844}
"""Widths of windows, and their heights."""
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SHOP = Path(__file__).parents[2] / "corpus" / "samples" / "shop.sql"


def large_schema() -> str:
    """Return 60 tables in three schemas, two of them partitioned, and publications with filters and column lists."""
    lines = [f"CREATE SCHEMA {schema};" for schema in ("sales", "stock", "people")]
    for number in range(48):
        schema = ("sales", "stock", "people")[number % 3]
        key = "id bigint PRIMARY KEY" if number % 12 else "id bigint"
        lines.append(
            f"CREATE TABLE {schema}.t{number:02} ({key}, region text NOT NULL, amount numeric(10, 2), note text);"
        )
    for root in ("sales.orders", "stock.moves"):
        lines.append(
            f"CREATE TABLE {root} (id bigint, placed date, region text NOT NULL, PRIMARY KEY (id, placed, region))"
            " PARTITION BY RANGE (placed);"
        )
        lines += [
            f"CREATE TABLE {root}_{year} PARTITION OF {root} FOR VALUES FROM ('{year}-01-01') TO ('{year + 1}-01-01');"
            for year in range(2021, 2026)
        ]
    regions = ("eu", "us", "asia", "africa")
    for number, region in enumerate(regions):
        tables = ", ".join(f"sales.t{n:02} WHERE (region = '{region}')" for n in range(3 * number, 3 * number + 9, 3))
        lines.append(
            f"CREATE PUBLICATION {region} FOR TABLE {tables}, sales.orders WHERE (region = '{region}')"
            " WITH (publish_via_partition_root = true);"
        )
    lines += [
        "CREATE PUBLICATION stocks FOR TABLES IN SCHEMA stock;",
        "CREATE PUBLICATION narrow FOR TABLE people.t02 (id, region), people.t05 (id, amount), people.t08 (id);",
        "CREATE PUBLICATION additions FOR TABLE sales.t03, sales.t06 WHERE (amount > 100 AND region <> 'us')"
        " WITH (publish = 'insert');",
        "CREATE PUBLICATION warehouse FOR ALL TABLES WITH (publish = 'insert, update, delete');",
        "CREATE PUBLICATION nothing;",
    ]
    return "\n".join(lines)


def odd_schema() -> str:
    """Return names and a filter that are as long as the server allows, and names that HTML might read."""
    long = "a_table_with_a_name_that_is_as_long_as_the_server_allows_" + "x" * 6
    columns = ", ".join(f"a_column_with_a_rather_long_name_number_{number:02} text" for number in range(24))
    values = ", ".join(f"'a rather long value number {number}'" for number in range(12))
    quoted = "\"<b>Größe & 'Preis'</b> 日本語\""
    return f"""
CREATE SCHEMA a_schema_with_a_name_that_is_as_long_as_the_server_allows_xxxxx;
CREATE TABLE a_schema_with_a_name_that_is_as_long_as_the_server_allows_xxxxx.{long} (id bigint PRIMARY KEY, {columns});
CREATE TABLE {quoted} ("the key" text PRIMARY KEY, "price in €" numeric);
CREATE TABLE t (id int PRIMARY KEY, a text);
CREATE TABLE "UPPER" (id int PRIMARY KEY, a text);
CREATE PUBLICATION a_publication_with_a_name_that_is_as_long_as_the_server_allows FOR TABLE
    a_schema_with_a_name_that_is_as_long_as_the_server_allows_xxxxx.{long}
    WHERE (a_column_with_a_rather_long_name_number_00 IN ({values}) AND id > 1000000), {quoted} WHERE ("the key" > 'ä');
CREATE PUBLICATION p FOR TABLE t WHERE (id > 0 AND id / 0 = 1), "UPPER" (id, a);
CREATE PUBLICATION q FOR TABLE t WHERE (id > 10);
"""


def shown_audit() -> Audit:
    """Return the report of an audit with usual names."""
    document = audit()
    path = "checkout/db/migrate/20240301_publications.sql"
    rules = tuple(
        replace(
            rule,
            path=f"shop-{number}/{path}",
            line=12 + number,
            message=f'publication "eu": {rule.name.replace("-", " ")}, so that changes of "orders" do not arrive',
        )
        for number, rule in enumerate(document.rules[:4])
    )
    findings = [
        Finding(rule.code, rule.severity, certainty, f"shop-{number}/{path}", number * 7, rule.message)
        for rule in rules
        for number in range(1, 4)
        for certainty in ("certain", "assumed")
    ]
    return replace(
        document,
        input="mirror/*/*",
        rules=rules,
        findings=tuple(findings),
        worst=document.worst[1:],
        quarantine=tuple(
            replace(group, example=f"mirror/{path}", detail="the process ended by SIGSEGV")
            for group in document.quarantine
        ),
        slowest=tuple(replace(unit, unit=f"mirror/shop-{number}") for number, unit in enumerate(document.slowest)),
    )


def _explanation(text: str, path: str) -> str:
    return "".join(render_html.render(document(explain(text, path=path))))


PAGES: Mapping[str, Callable[[], str]] = {
    "explain": lambda: _explanation(SHOP.read_text(), "shop.sql"),
    "explain-large": lambda: _explanation(large_schema(), "db/schema.sql"),
    "explain-odd": lambda: _explanation(odd_schema(), "odd.sql"),
    "audit": lambda: "".join(audit_html.render(shown_audit())),
    "audit-odd": lambda: "".join(audit_html.render(audit())),
}


def take(running: Browser, name: str, folder: Path, *, most: int = 0, scroll: int = 0) -> None:
    """Write the screenshots of one page into a folder: ``most`` pixels high instead of its first screen."""
    page_file = folder / f"{name}.html"
    page_file.write_text(PAGES[name](), encoding="utf-8")
    for width, height in WIDTHS.items():
        for scheme in SCHEMES:
            context = running.new_context(viewport={"width": width, "height": most or height}, color_scheme=scheme)
            page = context.new_page()
            page.goto(page_file.as_uri())
            page.evaluate(f"scrollTo(0, {scroll})")
            page.screenshot(path=folder / f"{name}-{width}-{scheme}.png")
            context.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="Take screenshots of the pages that pubcheck writes.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=list(PAGES), help=f"Among {', '.join(PAGES)}.")
    parser.add_argument("--height", type=int, default=0, help="Pixels, if not the first screen.")
    parser.add_argument("--scroll", type=int, default=0, help="Pixels above the screenshot.")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    with browser() as running:
        for name in arguments.names:
            take(running, name, arguments.folder, most=arguments.height, scroll=arguments.scroll)


if __name__ == "__main__":
    main()
