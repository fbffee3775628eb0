"""Prisma's models are the tables that Prisma creates of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pubcheck import extract
from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.source import Source
from tests.frameworks.catalogs import answered, facts, followed, identifying, sources, statements
from tests.support.servers import Servers

HERE = Path(__file__).parents[2] / "corpus" / "frameworks" / "prisma"
RECORDED = Source("recorded.sql", (HERE / "recorded.sql").read_text())


def test_models_make_the_catalog_that_the_sql_of_prisma_makes() -> None:
    unit = sources(HERE, ("schema.prisma",), "prisma")
    assert identifying(facts(followed(unit))) == identifying(facts(followed((RECORDED,))))


@pytest.mark.server
def test_a_server_makes_the_same_of_them(servers: Servers) -> None:
    unit = sources(HERE, ("schema.prisma",), "prisma")
    recorded = identifying(answered(servers[18], statements((RECORDED,))))
    assert identifying(answered(servers[18], statements(unit))) == recorded
    assert identifying(facts(followed(unit))) == recorded


SCHEMA = 'datasource db {{\n  provider = "{}"\n}}\nmodel T {{\n  a Int @unique // {{\n  b String?\n}}\n'


def test_a_model_without_a_key_has_no_identity_and_its_place_is_its_name() -> None:
    source = extract.source("schema.prisma", SCHEMA.format("postgresql"), "prisma")
    publish = Source("p.sql", 'CREATE PUBLICATION p FOR TABLE "T";')
    findings = Linter(Config(postgres=(18,))).lint(Unit((source, publish))).diagnostics
    assert {(finding.rule, finding.certainty) for finding in findings} == {("PUB302", "certain")}
    assert {span.source.shown[span.start : span.end] for finding in findings for span in finding.related} == {"T"}


def test_a_schema_of_another_database_is_none() -> None:
    assert statements([extract.source("schema.prisma", SCHEMA.format("mysql"), "prisma")]) == []
    assert statements([extract.source("schema.prisma", "model T {\n  a Int @id\n", "prisma")]) == []


def test_models_without_an_end_take_no_longer_than_their_length() -> None:
    text = SCHEMA.format("postgresql") + "model T {\n" * 50_000
    assert len(statements([extract.source("schema.prisma", text, "prisma")])) == 2
