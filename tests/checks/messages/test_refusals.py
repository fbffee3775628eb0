"""Errors in plain words: every error that can be raised has a text that names names, with an action as help."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import pubcheck
from pubcheck import Config, Linter, Source, Unit
from pubcheck.checks.messages import MessageTemplate
from pubcheck.checks.messages.refusals import BY_KEY, MESSAGES, explain, explain_unseen, rule_of
from pubcheck.postgres.errors import ServerError
from pubcheck.rulebook import RULES
from tools.rulebook.pages import read_pages

POSTGRES = Path(pubcheck.__file__).parent / "postgres"
FALLBACK = "PostgreSQL refuses this statement: "
GENERAL = {"message", "the_publication", "table", "table_sql", "alter_publication", "alter_table"}
"""What every text may use."""
OF_ERRORS = {"key", "detail", "hint", "location", "culprit"}
"""The parameters of ServerError that are not arguments of its message."""


@cache
def modules() -> list[tuple[ast.Module, set[object]]]:
    """The modules of the server, and the constants of each."""
    trees = [ast.parse(path.read_text()) for path in sorted(POSTGRES.rglob("*.py"))]
    return [(tree, {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}) for tree in trees]


def modules_with(key: str) -> list[ast.Module]:
    """The modules of the server that name a key."""
    return [tree for tree, constants in modules() if key in constants]


def templates() -> Iterator[tuple[str, str, MessageTemplate]]:
    for key, codes in BY_KEY.items():
        for code, choices in codes.items():
            for template in choices:
                yield code, key, template


def fields(text: str) -> set[str]:
    """The names in braces."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def error(key: str, message: str = "", sqlstate: str = "XX000", **arguments: str) -> ServerError:
    raised = ServerError(sqlstate, message, key=key, detail=None, hint=None, location=None, culprit=None, **arguments)
    raised.publication, raised.relation = "shop", "public.orders"
    return raised


def test_every_key_with_a_text_can_be_raised() -> None:
    assert [key for key in BY_KEY if not modules_with(key)] == []


def test_every_key_that_is_raised_has_a_text() -> None:
    named = {
        word.value.value
        for tree, _ in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for word in node.keywords
        if word.arg == "key" and isinstance(word.value, ast.Constant) and isinstance(word.value.value, str)
    }
    assert len(named) > 50  # the search has found something
    assert named <= BY_KEY.keys()


def test_texts_are_of_rules_about_statements() -> None:
    other = {code for code in MESSAGES if RULES[code].phase != "ddl"}
    assert other == {"PUB605", "PUB810"}  # an error in a filter, and a publication that a subscription names twice


def test_a_message_with_arguments_is_a_template() -> None:
    """An f-string would be formatted twice: a brace in somebody's name would break it."""
    for tree, _ in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ServerError" and len(node.args) > 1:
                arguments = [word.arg for word in node.keywords if word.arg not in OF_ERRORS]
                assert not arguments or not isinstance(node.args[1], ast.JoinedStr), ast.unparse(node)


def test_every_argument_of_an_error_is_used() -> None:
    """A misspelt keyword would be taken for an argument that nobody asks for."""
    package = POSTGRES.parent
    read = re.compile(r'arguments(?:\.get\(|\[)"(\w+)"')
    used = {name for path in package.rglob("*.py") for name in read.findall(path.read_text())}
    for _, _, template in templates():
        used |= fields(template.headline) | fields(template.help or "") | template.where.keys()
    for tree, _ in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ServerError":
                arguments = {word.arg for word in node.keywords if word.arg is not None} - OF_ERRORS
                match node.args[1:2]:
                    case [ast.Constant(value=str(message))]:
                        assert arguments <= used | fields(message), ast.unparse(node)


@pytest.mark.parametrize(("code", "key", "template"), list(templates()))
def test_texts_use_arguments_that_the_error_has(code: str, key: str, template: MessageTemplate) -> None:
    used = fields(template.headline) | fields(template.help or "")
    calls = [node for tree in modules_with(key) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    keywords = {word.arg for call in calls for word in call.keywords} | {"kind", "relation", "column"}  # from helpers
    assert used - GENERAL <= keywords
    assert template.where.keys() <= keywords


PAGES = [
    pytest.param(code, sql, id=f"{code}-{number}")
    for page in read_pages(str(POSTGRES.parents[1] / "rules"))
    for code in [page.rule.code]
    if code in MESSAGES and page.rule.phase == "ddl"
    for number, sql in enumerate(dict.fromkeys(bad.sql for bad in page.bad if any(bad.answers.values())))
]


@pytest.mark.parametrize(("code", "sql"), PAGES)
def test_errors_on_the_pages_have_a_text_of_their_own(code: str, sql: str) -> None:
    config = Config(postgres=RULES[code].postgres, complete=True, select=(code,))
    findings = Linter(config).lint(Unit((Source("example.sql", sql),))).diagnostics
    assert findings
    for diagnostic in findings:
        assert not diagnostic.message.startswith(FALLBACK)
        assert diagnostic.help or code == "PUB101"  # for syntax errors there is syntax_help


@pytest.mark.parametrize(
    ("key", "arguments", "headline", "action"),
    [
        ("kind-not-publishable", {"relation": "far", "kind": "a foreign table"}, '"far" is a foreign table', "ONLY"),
        (
            "kind-not-publishable",
            {"relation": "pg_toast_1262", "kind": "a TOAST table"},
            '"pg_toast_1262" is a TOAST table,',
            "name the table that it belongs to",
        ),
        (
            "temporary-schema",
            {"schema": "pg_temp_0"},
            '"pg_temp_0" contains temporary tables',
            "schema of ordinary tables",
        ),
        ("publication-option", {"option": "copy_data"}, "subscriptions", "SUBSCRIPTION"),
        ("publication-option", {"option": "pubilsh"}, '"pubilsh"', "the options are"),
        ("create-in-database", {"database": "shop"}, 'database "shop"', "GRANT CREATE ON DATABASE shop"),
        ("all-tables-of-superuser", {}, "superuser", "list the tables"),
        ("relation-owner", {"kind": "foreign table", "relation": "far"}, 'own the foreign table "far"', "as the owner"),
        ("no-role", {"role": "clerk"}, '"clerk"', "CREATE ROLE"),
        ("set-role", {"role": "clerk"}, '"clerk"', "GRANT clerk"),
        ("owner-not-superuser", {"publication": "shop"}, "must be a superuser", "choose a superuser"),
        ("no-column", {"column": "o.id"}, '"o.id"', "check the spelling"),
        ("no-identity-index", {"index": "i", "relation": "t"}, 'table "t" has no index "i"', "create"),
        ("identity-index-elsewhere", {"index": "i", "relation": "t"}, "another table", "index of this table"),
        ("identity-not-an-index", {"index": "i"}, '"i" is not an index', "unique index"),
        ("kind-without-identity", {"relation": "v", "kind": "a view"}, '"v" is a view', "name the table"),
        ("identity-index-expression", {"index": "i"}, 'index "i" contains an expression', "choose a unique index"),
        ("system-column-kept", {}, '"public.orders"', "remove the system column"),
        ("virtual-column-listed", {"column": "vat"}, '"vat"', "STORED"),
        ("all-tables-fixed", {"publication": "shop", "scope": "ALL TABLES"}, '"shop"', "create it again"),
        (
            "exclusive-options",
            {"one": "connect = false", "other": "enabled = true"},
            "cannot be combined",
            "remove enabled = true",
        ),
        (
            "exclusive-options",
            {"one": "slot_name = NONE", "other": "enabled = true"},
            "cannot be combined",
            "set the option to false",
        ),
        ("subscription-option", {"option": "copy_data"}, '"copy_data"', "DROP and REFRESH PUBLICATION"),
        ("schema-not-member", {"schema": "s"}, 'schema "s"', 'remove "s"'),
        ("object-in-publication", {}, 'publication "shop" depends on the dropped object', "ALTER PUBLICATION shop SET"),
    ],
)
def test_errors_are_explained_in_plain_words(key: str, arguments: dict[str, str], headline: str, action: str) -> None:
    text, help_text = explain(error(key, **arguments))
    assert headline in text
    assert action in (help_text or "")


def test_without_names_the_text_stays_general() -> None:
    raised = ServerError("0A000", "cannot alter type ...", key="type-of-column-in-publication", column="a")
    headline, help_text = explain(raised)
    assert (
        headline == 'the type of column "a" cannot be changed: the publication uses it in a row filter or a column list'
    )
    assert help_text is not None
    assert "None" not in headline + help_text


@pytest.mark.parametrize(("name", "written"), [("Shop", '"Shop"'), ("all", '"all"'), ("shop", "shop")])
def test_names_in_sql_are_quoted_where_they_must_be(name: str, written: str) -> None:
    help_text = explain(error("publication-exists", publication=name))[1] or ""
    assert f"DROP PUBLICATION {written} first" in help_text


@pytest.mark.parametrize("name", ['a "quoted" name', "{braces}", "line\nfeed", "%s"])
def test_any_name_can_be_reported(name: str) -> None:
    raised = ServerError("42P01", 'relation "{relation}" does not exist', key="no-relation", relation=name)
    assert raised.message == f'relation "{name}" does not exist'
    assert name in explain(raised)[0]


def test_an_error_that_is_plain_enough_is_reported_in_the_servers_words() -> None:
    assert explain(error("subscription", "something new")) == (f"{FALLBACK}something new", None)


@pytest.mark.parametrize(("sqlstate", "code"), [("42703", "PUB201"), ("42883", "PUB203"), ("XX000", "PUB203")])
def test_an_error_of_several_rules_is_of_the_one_that_declares_its_sqlstate(sqlstate: str, code: str) -> None:
    assert rule_of(error("expression", sqlstate=sqlstate)) is RULES[code]


# --- What these files do not show ---------------------------------------------------------------------------------


def no_relation(name: str) -> ServerError:
    return ServerError("42P01", 'relation "{relation}" does not exist', key="no-relation", relation=name)


def test_an_unseen_name_is_not_called_missing() -> None:
    headline, help_text = explain_unseen([error("no-publication", publication="supabase_realtime")])
    assert headline == 'publication "supabase_realtime" is not created in these files'
    assert "--complete" in (help_text or "")


def test_more_unseen_names_are_listed_and_counted() -> None:
    errors = [no_relation(name) for name in "abcde"]
    assert explain_unseen(errors[:2])[0] == 'table "a" is not created in these files, nor is table "b"'
    assert explain_unseen(errors)[0] == (
        'table "a" is not created in these files, nor are table "b", table "c" and 2 more'
    )


@pytest.mark.parametrize("complete", [False, True])
def test_an_unseen_collation_is_of_the_rule_about_names(complete: bool) -> None:
    """Servers answer 42704, which only PUB201 declares."""
    sql = 'CREATE TABLE t (id int PRIMARY KEY, a text); CREATE PUBLICATION p FOR TABLE t WHERE (a COLLATE "de_DE" > b);'
    result = Linter(Config(postgres=(18,), complete=complete)).lint(Unit((Source("a.sql", sql.replace("> b", "> a")),)))
    (note,) = (
        finding for finding in result.diagnostics if finding.server is not None and finding.server.sqlstate == "42704"
    )
    assert (note.rule, note.message) == ("PUB201", 'collation "de_DE" is not created in these files')


def test_an_option_that_a_called_function_sets_wrongly_is_no_syntax_error() -> None:
    """The body of the server's answer is 42601, as for a syntax error, but the statement can be read."""
    sql = (
        "CREATE FUNCTION f(kind text) RETURNS void LANGUAGE plpgsql AS $$ BEGIN\n"
        "  EXECUTE format('CREATE PUBLICATION p WITH (publish = %L)', kind);\nEND $$;\nSELECT f('nonsense');"
    )
    findings = Linter(Config(postgres=(18,))).lint(Unit((Source("a.sql", sql),))).diagnostics
    assert [finding.rule for finding in findings if finding.phase == "ddl" and finding.severity == "error"] == [
        "PUB123"
    ]
