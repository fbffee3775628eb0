"""Refusals in plain words: every answer that can be raised has them, they name names, and help is an action."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

import pubcheck
from pubcheck.checks.messages import WORDS
from pubcheck.checks.messages.refusals import explain, explain_unseen
from pubcheck.checks.messages.template import MessageTemplate
from pubcheck.diagnostics import ServerAnswer
from pubcheck.postgres.errors import ServerError
from pubcheck.rulebook import RULES, rule_for_spec
from pubcheck.rulebook.pages import read_pages

PACKAGE = Path(pubcheck.__file__).parent
SPECS = {spec for rule in RULES.values() for spec in rule.spec}
FALLBACK = "PostgreSQL refuses this statement: "


def raised() -> set[str]:
    """Every rule of the specification that is named in the source of pubcheck/postgres/ddl and expressions."""
    named: set[str] = set()
    for path in (path for part in ("ddl", "analysis") for path in (PACKAGE / "postgres" / part).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                named.add(node.value)
    return named & SPECS - {"truncate"}  # there the operation of that name


def answers() -> Iterator[tuple[str, ServerAnswer]]:
    """(rule of the specification, a server's answer) from the rule pages of the ddl phase."""
    for page in read_pages(str(PACKAGE.parent / "rules")):
        for spec in page.rule.spec if page.rule.phase == "ddl" else ():
            for answer in dict.fromkeys(
                answer for example in page.bad for answer in example.answers.values() if answer
            ):
                yield spec, answer


def refusal(rule: str, message: str, detail: str | None = None) -> ServerError:
    error = ServerError("XX000", message, rule=rule, detail=detail)
    error.publication, error.relation = "shop", "public.orders"
    return error


def test_what_the_catalog_can_raise_has_words() -> None:
    assert raised() <= WORDS.keys()
    assert len(raised()) > 30  # the search has found something


def test_words_stand_for_rules_about_statements() -> None:
    phases = {spec: rule_for_spec(spec).phase for spec in WORDS}
    assert {spec for spec, phase in phases.items() if phase != "ddl"} == {"publication-missing-subscribe"}


@pytest.mark.parametrize(("spec", "words"), [(spec, words) for spec in WORDS for words in WORDS[spec]])
def test_words_use_names_that_they_have(spec: str, words: MessageTemplate) -> None:
    known = {"message", "publication", "table", "table_sql", "alter_publication", "alter_table"}
    known |= re.compile(words.answer).groupindex.keys()
    used = {field for text in (words.headline, words.help or "") for _, field, _, _ in string.Formatter().parse(text)}
    assert used - {None} <= known


@pytest.mark.parametrize(("spec", "answer"), list(answers()))
def test_what_servers_answer_on_the_pages_has_words_of_its_own(spec: str, answer: ServerAnswer) -> None:
    headline, help_text = explain(refusal(spec, answer.message, answer.detail))
    assert not headline.startswith(FALLBACK)
    assert help_text or spec == "syntax-error"  # for which there is syntax_help
    names = set(re.findall(r'"([^"]+)"', answer.message)) - {"publish", "publish_via_partition_root"}
    if spec not in ("syntax-error", "publish-list-syntax"):
        assert all(name in headline for name in names)


@pytest.mark.parametrize(
    ("rule", "message", "detail", "headline", "action"),
    [
        (
            "relation-missing",
            "improper qualified name (too many dotted names): a.b.c.d",
            None,
            '"a.b.c.d" has too many parts',
            "write schema.table",
        ),
        (
            "relation-kind",
            'cannot add relation "far" to publication',
            "This operation is not supported for foreign tables.",
            '"far" is a foreign table',
            "ONLY before the parent",
        ),
        (
            "relation-kind",
            'cannot add relation "pg_toast_1262" to publication',
            "This operation is not supported for TOAST tables.",
            '"pg_toast_1262" is a TOAST table,',
            "name the table that it belongs to",
        ),
        (
            "schema-not-allowed",
            'cannot add schema "pg_temp_0" to publication',
            "Temporary schemas cannot be replicated.",
            '"pg_temp_0" holds temporary tables',
            "schema of ordinary tables",
        ),
        ("option-unknown", 'unrecognized publication parameter: "copy_data"', None, "subscriptions", "SUBSCRIPTION"),
        ("option-unknown", 'unrecognized publication parameter: "pubilsh"', None, '"pubilsh"', "the options are"),
        ("permission", "permission denied for database shop", None, 'database "shop"', "GRANT CREATE ON DATABASE shop"),
        ("permission", "must be superuser to create FOR ALL TABLES publication", None, "superuser", "list the tables"),
        ("permission", "must be owner of foreign table far", None, 'own the foreign table "far"', "as the owner"),
        ("permission", 'role "clerk" does not exist', None, '"clerk"', "CREATE ROLE"),
        ("permission", 'must be able to SET ROLE "clerk"', None, '"clerk"', "GRANT clerk"),
        (
            "permission",
            'permission denied to change owner of publication "shop"',
            None,
            "must be a superuser",
            "give it to a superuser",
        ),
        ("rf-name-resolution", "column o.id does not exist", None, '"o.id"', "check the spelling"),
        ("replica-identity-ddl", 'index "i" for table "t" does not exist', None, 'table "t" has no index "i"', "make"),
        ("replica-identity-ddl", '"i" is not an index for table "t"', None, "another table", "index of this table"),
        ("replica-identity-ddl", '"i" is not an index', None, '"i" is not an index', "unique index"),
        (
            "replica-identity-ddl",
            'ALTER action REPLICA IDENTITY cannot be performed on relation "v"',
            "This operation is not supported for views.",
            '"v" is a view',
            "name the table",
        ),
        (
            "replica-identity-ddl",
            'cannot use expression index "i" as replica identity',
            None,
            'index "i" is expression',
            "choose a unique index",
        ),
        ("cl-system-column", "negative bitmapset member not allowed", None, '"public.orders"', "leave it out"),
        (
            "cl-generated-column",
            'cannot use virtual generated column "vat" in publication column list',
            None,
            '"vat"',
            "STORED",
        ),
        ("for-all-tables-fixed", 'publication "shop" is defined as FOR ALL TABLES', "Tables ...", '"shop"', "anew"),
        ("not-member", 'tables from schema "s" are not part of the publication', None, 'schema "s"', "leave it out"),
        (
            "ddl-drop-column",
            "cannot drop desired object(s) because other objects depend on them",
            "publication of table t in publication shop depends on column a of table t",
            'publication "shop" depends on what is dropped',
            "ALTER PUBLICATION shop SET",
        ),
    ],
)
def test_refusals_are_told_in_plain_words(
    rule: str, message: str, detail: str | None, headline: str, action: str
) -> None:
    told, help_text = explain(refusal(rule, message, detail))
    assert headline in told
    assert action in (help_text or "")


def test_without_names_the_words_stay_general() -> None:
    detail = 'publication of table t in publication shop depends on column "a"'
    error = ServerError("0A000", "cannot alter type of a column ...", rule="ddl-alter-type", detail=detail)
    headline, help_text = explain(error)
    assert headline == 'the type of column "a" is fixed: the publication uses it in a row filter or a column list'
    assert help_text is not None
    assert "None" not in headline + help_text


def test_names_in_sql_are_quoted_where_they_must_be() -> None:
    said = explain(refusal("publication-exists", 'publication "Shop" already exists'))[1] or ""
    assert 'DROP PUBLICATION "Shop"' in said
    said = explain(refusal("publication-exists", 'publication "all" already exists'))[1] or ""
    assert 'DROP PUBLICATION "all"' in said


@pytest.mark.parametrize("name", ['a "quoted" name', "{braces}", "line\nfeed", "%s"])
def test_any_name_can_be_told(name: str) -> None:
    assert name in explain(refusal("relation-missing", f'relation "{name}" does not exist'))[0]


def test_an_answer_without_words_is_told_in_the_servers() -> None:
    assert explain(refusal("relation-kind", "something new")) == (f"{FALLBACK}something new", None)
    assert explain(refusal("rf-of-tomorrow", "something new")) == (f"{FALLBACK}something new", None)
    assert explain(ServerError("XX000", "something new")) == (f"{FALLBACK}something new", None)


# --- What these files do not show ---------------------------------------------------------------------------------


def test_an_unseen_name_is_not_called_missing() -> None:
    error = refusal("publication-undefined", 'publication "supabase_realtime" does not exist')
    headline, help_text = explain_unseen(error, [])
    assert headline == 'publication "supabase_realtime" is not created in these files'
    assert "--complete" in (help_text or "")


def test_more_unseen_names_are_listed_and_counted() -> None:
    error = refusal("relation-missing", 'relation "a" does not exist')
    others = [f'relation "{name}" does not exist' for name in "bcde"]
    assert explain_unseen(error, others[:1])[0] == 'table "a" is not created in these files, nor is table "b"'
    assert explain_unseen(error, others)[0] == (
        'table "a" is not created in these files, nor are table "b", table "c" and 2 more'
    )
