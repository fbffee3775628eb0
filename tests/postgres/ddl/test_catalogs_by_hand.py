"""What is written into system catalogs by hand, or done by triggers, is not followed: it makes nothing certain."""

from __future__ import annotations

import pytest

from tests.support.linting import lint
from tests.support.servers import Servers, execute

TABLE = ("CREATE TABLE t (id int PRIMARY KEY, a int)", "CREATE PUBLICATION p FOR TABLE t WHERE (a > 1)")
CHANGES = (
    "UPDATE pg_class SET relreplident = 'f' WHERE relname = 't'",
    "UPDATE pg_catalog.pg_class SET relreplident = 'f' WHERE relname = 't'",
    "DELETE FROM pg_publication_rel WHERE prrelid = 't'::regclass",
    "DELETE FROM ONLY pg_catalog.pg_publication",
    "INSERT INTO pg_publication_namespace SELECT 1, oid, 11 FROM pg_publication WHERE false",
)
WRITE = "UPDATE t SET a = 2"
TRIGGERS = {
    "ALTER TABLE t REPLICA IDENTITY FULL": WRITE,
    "ALTER PUBLICATION p SET (publish = 'insert')": WRITE,
    "DROP PUBLICATION p": WRITE,
    "ALTER PUBLICATION p DROP TABLE t": "ALTER PUBLICATION p ADD TABLE t",
}


def certain(*statements: str) -> list[str]:
    findings = lint(";\n".join(statements), complete=True)
    return [
        finding.server.sqlstate for finding in findings if finding.server is not None and finding.certainty == "certain"
    ]


def by_trigger(action: str) -> tuple[str, ...]:
    body = f"BEGIN EXECUTE '{action.replace(chr(39), 2 * chr(39))}'; RETURN NEW; END"
    return (
        "CREATE TABLE u (a int)",
        f"CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $${body}$$",
        "CREATE TRIGGER fires AFTER INSERT ON u FOR EACH ROW EXECUTE FUNCTION f()",
        "INSERT INTO u VALUES (1)",
    )


MADE = by_trigger("CREATE PUBLICATION q FOR TABLE u")
OF_MADE = ("ALTER PUBLICATION q SET (publish = 'insert')", "DROP PUBLICATION q")


def test_without_them_it_is_certain() -> None:
    assert certain(*TABLE, WRITE) == ["42P10", "42P10"]
    assert certain(*TABLE, "UPDATE pg_stat_statements SET x = 1", WRITE) == ["42P10", "42P10"]


@pytest.mark.parametrize("change", CHANGES)
def test_after_a_catalog_was_changed_nothing_is_certain(change: str) -> None:
    assert certain(*TABLE, change, WRITE) == []


def test_an_ordinary_role_changes_no_catalog() -> None:
    assert certain("CREATE ROLE r", *TABLE, "SET ROLE r", CHANGES[0], "RESET ROLE", WRITE) == ["42P10", "42P10"]


@pytest.mark.parametrize(("action", "then"), TRIGGERS.items())
def test_what_a_trigger_may_have_done_is_not_denied(action: str, then: str) -> None:
    table, function, *trigger = by_trigger(action)
    assert certain(*TABLE, table, function, then) != []
    assert certain(*TABLE, table, function, *trigger, then) == []


def test_a_publication_that_a_trigger_may_have_made_is_not_denied() -> None:
    table, function, *trigger = MADE
    assert certain(table, function, *OF_MADE) == ["42704", "42704"]
    assert certain(table, function, *trigger, *OF_MADE) == []


@pytest.mark.server
def test_servers_accept_all_of_it(servers: Servers) -> None:
    # After the other changes the write is refused, once in other words: no publication has the number of a member's.
    scripts: list[tuple[str, ...]] = [(*TABLE, change, WRITE) for change in CHANGES[:3]]
    scripts += [(*TABLE, *by_trigger(action), then) for action, then in TRIGGERS.items()]
    scripts.append((*MADE, *OF_MADE))
    for server in servers.values():
        for script in scripts:
            with server.database() as name, server.connect(name) as connection:
                assert [sql for sql in script if not execute(connection, sql).ok] == []
