"""Names that are missing and near to one that the files create."""

from __future__ import annotations

import pytest

from pubcheck.checks import misspelt_names
from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.source import Source

MADE = """\
CREATE SCHEMA app;
CREATE SCHEMA warehouse;
CREATE TABLE public.profiles (id int PRIMARY KEY);
CREATE TABLE app.customers (id int PRIMARY KEY);
CREATE TABLE app.boxes (id int PRIMARY KEY);
CREATE TABLE orders_de (id int PRIMARY KEY);
CREATE TABLE events_2024 (id int PRIMARY KEY);
CREATE TABLE roles (id int PRIMARY KEY);
CREATE TABLE internal_events (id int PRIMARY KEY);
CREATE TABLE user_messages (id int PRIMARY KEY);
CREATE TABLE tenant_a.invoices (id int);
CREATE PUBLICATION feed FOR TABLE profiles;
"""


def finding_of(statement: str, convention: str = "", made: str = MADE) -> Diagnostic:
    result = Linter(Config()).lint(Unit((Source("a.sql", made + statement),), convention=convention))
    (finding,) = [diagnostic for diagnostic in result.diagnostics if diagnostic.rule in ("PUB106", "PUB107")]
    return finding


@pytest.mark.parametrize(
    ("statement", "meant"),
    [
        ("CREATE PUBLICATION p FOR TABLE public.profile", '"public.profiles"'),
        ("CREATE PUBLICATION p FOR TABLE profile", '"profiles"'),
        ("CREATE PUBLICATION p FOR TABLE porfiles", '"profiles"'),
        ("CREATE PUBLICATION p FOR TABLE prfoiles", '"profiles"'),
        ("CREATE PUBLICATION p FOR TABLE profilees", '"profiles"'),
        ("CREATE PUBLICATION p FOR TABLE profixes", '"profiles"'),
        ("CREATE PUBLICATION p FOR TABLE app.box", '"app.boxes"'),
        ("CREATE PUBLICATION p FOR TABLE customers", '"app.customers"'),
        ("CREATE PUBLICATION p FOR TABLE public.customers", '"app.customers"'),
        ("CREATE PUBLICATION p FOR TABLE warehous.customers", None),
        ("CREATE PUBLICATION p FOR TABLE auth.customers", None),
        ('CREATE PUBLICATION p FOR TABLE "UserMessages"', '"user_messages"'),
        ("CREATE PUBLICATION p FOR TABLE users_messages", '"user_messages"'),
        ("CREATE PUBLICATION p FOR TABLES IN SCHEMA warehuose", '"warehouse"'),
        ("CREATE PUBLICATION p FOR TABLE orders_dk", None),
        ("CREATE PUBLICATION p FOR TABLE events_2025", None),
        ("CREATE PUBLICATION p FOR TABLE rules", None),
        ("CREATE PUBLICATION p FOR TABLE external_events", None),
        ("ALTER PUBLICATION feeds ADD TABLE app.customers", '"feed"'),
        ("DROP PUBLICATION fed", None),
        ("CREATE PUBLICATION p FOR TABLE profiles, app.customer, unheard_of", '"app.customers"'),
        ("CREATE PUBLICATION p FOR TABLE profile, unheard_of", '"profiles"'),
        ("CREATE PUBLICATION p FOR TABLE unheard_of, app.customer", '"app.customers" instead of table "app.customer"'),
    ],
)
def test_one_slip_is_a_warning_that_says_what_may_be_meant(statement: str, meant: str | None) -> None:
    finding = finding_of(statement)
    assert finding.certainty == "assumed"
    if meant is None:
        assert (finding.severity, "did you mean" in finding.message) == ("note", False)
    else:
        assert finding.severity == "warning"
        assert finding.message.endswith(f"; did you mean {meant}?")


@pytest.mark.parametrize(
    ("statement", "new"),
    [
        ("CREATE PUBLICATION p FOR TABLE public.profile;", "CREATE PUBLICATION p FOR TABLE public.profiles;"),
        (
            "CREATE PUBLICATION p FOR TABLE ONLY customers (id);",
            "CREATE PUBLICATION p FOR TABLE ONLY app.customers (id);",
        ),
        ('CREATE PUBLICATION p FOR TABLE public . "Profiles";', "CREATE PUBLICATION p FOR TABLE public.profiles;"),
        (
            "CREATE PUBLICATION p FOR TABLES IN SCHEMA warehuose;",
            "CREATE PUBLICATION p FOR TABLES IN SCHEMA warehouse;",
        ),
        ("ALTER PUBLICATION feeds ADD TABLE app.customers;", "ALTER PUBLICATION feed ADD TABLE app.customers;"),
    ],
)
def test_the_fix_writes_the_name_that_may_be_meant(statement: str, new: str) -> None:
    (fix,) = finding_of(statement).fixes
    (edit,) = fix.edits
    text = MADE + statement
    assert fix.applicability == "unsafe"
    assert text[: edit.span.start] + edit.text + text[edit.span.end :] == MADE + new


def test_a_table_in_a_misspelt_schema() -> None:
    finding = finding_of(
        "CREATE PUBLICATION p FOR TABLE warehuose.customers;", made=MADE + "CREATE TABLE warehouse.customers ();"
    )
    assert finding.message.endswith('; did you mean "warehouse.customers"?')
    assert [span.message for span in finding.related] == ["created here"]


def test_names_of_a_series_are_not_offered() -> None:
    made = "".join(
        f"CREATE SCHEMA t{number}; CREATE TABLE t{number}.orders (id int PRIMARY KEY);\n" for number in range(5)
    )
    assert finding_of("CREATE PUBLICATION p FOR TABLE orders", made=made).severity == "note"


def test_a_table_that_is_created_later_is_said_to_be_as_before() -> None:
    finding = finding_of("CREATE PUBLICATION p FOR TABLE profile; CREATE TABLE profile (id int PRIMARY KEY);")
    assert finding.message == 'table "profile" is created later'
    assert finding.help == "move its creation, on line 13, before this statement"


def test_where_something_is_not_followed_it_stays_a_note() -> None:
    finding = finding_of("\\i other.sql\nCREATE PUBLICATION p FOR TABLE profile;")
    assert (finding.severity, finding.message.endswith('did you mean "profiles"?')) == ("note", True)


def test_the_publication_of_a_platform_may_be_meant() -> None:
    finding = finding_of("ALTER PUBLICATION supabase_realtim ADD TABLE profiles", convention="supabase")
    assert finding.message.endswith('did you mean "supabase_realtime"?')


def test_names_are_not_compared_each_with_each(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    original = misspelt_names.is_slip

    def counting(first: str, second: str) -> bool:
        nonlocal compared
        compared += 1
        return original(first, second)

    monkeypatch.setattr(misspelt_names, "is_slip", counting)
    letters = "abcdefghijklmnopqrst"
    words = [f"{a}{b}{c}" for a in letters for b in letters for c in letters]
    known = [(f"table_of_{word * 3}_parts", word) for word in words]
    missing = {("r", 0, f"table_of_{word * 3}x_parts"): f"table_of_{word * 3}x_parts" for word in words}
    matched = misspelt_names._near(missing, known)
    assert len(matched) == len(words)
    assert compared < 20 * len(words)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("CREATE PUBLICATION p FOR TABLE profile", 'there is no table "profile"; did you mean "profiles"?'),
        ("CREATE PUBLICATION p FOR TABLE public.profile", '"public.profile"; did you mean "public.profiles"?'),
        ("CREATE PUBLICATION p FOR TABLE customers", 'there is no table "customers"; did you mean "app.customers"?'),
        ("CREATE PUBLICATION p FOR TABLES IN SCHEMA warehuose", 'no schema "warehuose"; did you mean "warehouse"?'),
        ("ALTER PUBLICATION feeds ADD TABLE orders_de", 'no publication "feeds"; did you mean "feed"?'),
        ("CREATE PUBLICATION p FOR TABLE unheard_of", 'there is no table "unheard_of"'),
    ],
)
def test_in_a_complete_dump_a_missing_name_is_an_error_that_offers_the_near_one(statement: str, message: str) -> None:
    made = MADE.replace("CREATE TABLE tenant_a.invoices (id int);\n", "")
    result = Linter(Config(complete=True)).lint(Unit((Source("a.sql", made + statement),)))
    (finding,) = [diagnostic for diagnostic in result.diagnostics if diagnostic.rule in ("PUB106", "PUB107")]
    assert (finding.severity, finding.certainty) == ("error", "certain")
    assert finding.message.endswith(message)


@pytest.mark.parametrize(
    ("statements", "rule", "reported"),
    [
        ("CREATE PUBLICATION p FOR TABLE {0}; ALTER PUBLICATION p ADD TABLE {0};", "PUB130", "elsewhere"),
        ("CREATE PUBLICATION p FOR TABLE {0}; DROP PUBLICATION p; CREATE PUBLICATION p;", "PUB710", "elsewhere"),
    ],
)
def test_nothing_rests_on_a_table_whose_name_is_misspelt(statements: str, rule: str, reported: str) -> None:
    """If public.profile does not exist, PostgreSQL 15 to 18 refuse each statement that names it (42P01)."""
    for table, expected in (("profile", []), (reported, [rule])):
        unit = Unit((Source("a.sql", MADE + statements.format(table)),))
        assert [finding.rule for finding in Linter(Config()).lint(unit).diagnostics if finding.rule == rule] == expected


@pytest.mark.parametrize(
    "script",
    [
        "ALTER PUBLICATION p SET (publish = 'insert'); CREATE PUBLICATION p;",
        "CREATE PUBLICATION p FOR TABLE t; CREATE TABLE t (a int);",
        "CREATE PUBLICATION p FOR TABLES IN SCHEMA s; CREATE SCHEMA s;",
    ],
)
def test_a_name_that_is_created_later_is_not_misspelt(script: str) -> None:
    result = Linter(Config(complete=True)).lint(Unit((Source("a.sql", script),)))
    assert not [finding for finding in result.diagnostics if "did you mean" in finding.message]
