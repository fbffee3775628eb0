"""Judging one filter after another over the tables of schema.sql."""

from __future__ import annotations

from functools import cache

from pubcheck.engine.replay import Replay
from pubcheck.lexing.items import Statement
from pubcheck.lexing.splitter import Splitter
from pubcheck.postgres import older_grammars
from pubcheck.postgres.analysis.row_filter import read_filter
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node, SyntaxRefused, parse
from pubcheck.postgres.session import Session
from pubcheck.postgres.versions import BY_NUMBER
from pubcheck.source import Source
from pubcheck.statement_index import StatementText
from tests.postgres.analysis.record import SCHEMA, Answer, publication


@cache
def session(major: int) -> Session:
    """A session over a database that is known whole and has the tables of schema.sql."""
    fold = Replay(major, complete=True, database="x")
    source = Source("schema.sql", SCHEMA)
    for item in Splitter(source):
        assert isinstance(item, Statement)
        parsed = parse(item.sql)
        assert parsed is not None
        fold.apply(StatementText(source, item.index, item.start, item.text), 0, *parsed)
    assert not fold.diagnostics
    return fold.session


def judge(major: int, table: str, filter_: str) -> Answer | str:
    """What the server is taken to say, in the form of the record; a string where it cannot be known."""
    statement, start = publication(table, filter_)
    catalog_session = session(major)
    catalog_session.begin_statement(0, 0, statement)
    try:
        parsed = parse(statement)
        older_grammars.check(BY_NUMBER[major], catalog_session.text)
        assert parsed is not None
        member: Node = parsed[1]["pubobjects"][0]["PublicationObjSpec"]["pubtable"]
        tree = read_filter(catalog_session, catalog_session.relation(member["relation"]), member["whereClause"])
    except ServerError as error:
        place = error.location
        where = len(catalog_session.text[:place].decode()) - start if place is not None else None
        return [error.sqlstate, error.message, error.detail, error.hint, where]
    except SyntaxRefused as refusal:
        return ["42601", refusal.message, None, None, refusal.location and refusal.location - start]
    return None if tree.analysed else f"cannot know: {tree.unknown}"
