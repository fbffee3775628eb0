"""The corpus' cases of what happens after CREATE PUBLICATION: which rules speak of which case, on every major.

A case is linted as one database: its publisher's statements, then a subscription to the publications that it decodes
for, then what it does while a slot reads. Rules that hold for every filter or publication (off by default) are held to
the cases that the specification names for them; all others to the whole list.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from pubcheck import Config, Diagnostic, Linter, Source, Unit
from pubcheck.rulebook import RULES
from tests.conformance.judging import DATABASE, ROLES
from tests.support.cases import Case, load

pytestmark = pytest.mark.slow

OF_19 = "v19-"
"""The prefix of cases with forms of PostgreSQL 19 that are not followed yet."""

PHASES = ("silent", "decode", "subscribe")
CASES = {case.id: case for case in load() if case.phase in PHASES and not case.id.startswith(OF_19)}

FIRES: dict[str, str] = {
    "PUB504": "dec-cl-part-leaf-ignored dec-levels-leaf-and-everything dec-levels-leaf-and-top "
    "dec-levels-mid dec-levels-mid-and-everything dec-levels-mid-and-top dec-part-leaf-filter-ignored-viaroot "
    "dec-part-leaf-filter-two-publications-or dec-part-schema-root-viaroot dec-part-two-pubs-root-wins "
    "sub-column-list-leaf-and-root sub-copy-root-leaf-filter-viaroot",
    "PUB505": "dec-part-cross-move-publish-update",
    "PUB506": "dec-foreign-partition dec-part-unlogged-leaf dec-set-unlogged-member "
    "dec-truncate-branch-without-leaves-viaroot kind-unlogged-partition",
    "PUB507": "ddl-inherit",
    "PUB508": "dec-by-operation-p1-p2-p3 dec-by-operation-p2-p5 dec-levels-leaf-and-everything "
    "dec-levels-mid dec-levels-mid-and-top dec-or-alltables-wins dec-or-no-filter-wins dec-or-per-action "
    "dec-or-schema-same-pub dec-or-schema-wins dec-part-two-pubs-root-no-viaroot "
    "kind-schema-and-its-table-filter sub-copy-or-alltables sub-copy-or-none sub-copy-schema-and-filter",
    "PUB509": "dec-cl-all-then-add-column dec-cl-and-alltables dec-cl-and-none dec-cl-and-schema "
    "dec-cl-different dec-cl-different-actions sub-column-list-and-alltables sub-column-list-and-none "
    "sub-column-list-later-conflict-refresh sub-different-column-lists",
    "PUB510": "dec-gen-conflict dec-gen-conflict-virtual sub-gencols-conflict",
    "PUB605": "dec-error-after-fix dec-error-const-div-zero dec-error-div-zero dec-error-int-overflow "
    "dec-error-jsonb-cast dec-error-part-coalesce-const dec-error-part-coalesce-nullable "
    "dec-error-part-const-and-false dec-error-part-null-and dec-gen-filter-virtual "
    "dec-virtual-dropped-filter-stays sub-copy-filter-runtime-error "
    "sub-copy-filter-runtime-error-18",
    "PUB705": "chain-schema-made-anew dec-schema-moved-out dec-set-unlogged-member ddl-drop-and-recreate "
    "ddl-set-schema-leaves-schema-pub",
    "PUB706": "",
    "PUB707": "ddl-add-column-list dec-cl-all-then-add-column",
    "PUB708": "dec-part-attach-with-data ddl-detach-partition",
    "PUB709": "alter-set-drops-filter alter-set-schema-removes-tables alter-set-table-removes-schemas "
    "dec-error-after-fix",
    "PUB710": "chain-made-anew-lost",
    "PUB711": "chain-identity-index-anew",
    "PUB813": "",
    "PUB802": "dec-publish-empty sub-copy-ignores-publish-empty",
    "PUB803": "dec-cl-different-actions dec-or-insert-filter-both dec-or-per-action "
    "dec-part-cross-move-publish-update dec-publish-update-only dec-update-to-delete-but-publish-update-only "
    "dec-update-to-insert-but-publish-update-only sub-apply-publish-update-only-inserts "
    "sub-apply-update-of-unknown-row sub-copy-filter-of-update-pub sub-copy-ignores-publish-update sub-copy-or-none",
    "PUB804": "chain-schema-made-anew dec-no-tables dec-schema-moved-out ddl-drop-and-recreate "
    "ddl-drop-table ddl-set-schema-leaves-schema-pub sub-empty-publication sub-missing-publications",
    "PUB805": "dec-information-schema",
    "PUB806": "dec-unlogged-alltables kind-all-tables-skips kind-schema-skips",
    "PUB807": "dec-fk-order dec-matview-refresh dec-sequence dec-truncate-cascade kind-all-tables-skips "
    "kind-schema-skips",
    "PUB809": "dec-gen-full-15 dec-identity-full dec-null-in-both-filters "
    "dec-toast-filter-full dec-toast-filter-insert-transform "
    "dec-toast-full dec-update-full-in dec-update-full-out dec-update-set-null-key-filter "
    "dec-update-transform-two-publications",
    "PUB810": "dec-publication-created-after-change-in-wal dec-publication-created-later "
    "dec-publication-missing dec-publication-no-change-missing "
    "sub-duplicate-publication sub-missing-publication sub-missing-publications",
    "PUB811": "chain-made-anew-lost dec-publication-created-after-change-in-wal "
    "dec-publication-created-later dec-publication-dropped-later dec-publication-renamed",
}
"""Rule -> all cases in which it speaks."""

ON_15 = "sub-copy-root-and-leaf-publications sub-copy-schema-root-and-leaf-publications"

NAMED: dict[str, tuple[str, str]] = {
    "PUB601": (
        "dec-update-nomatch-match dec-update-match-nomatch dec-update-into-filter-publish-insert-only "
        "dec-update-set-null-key-filter dec-update-transform-two-publications sub-apply-update-transform",
        "dec-update-key-change-nofilter dec-publish-update-only",
    ),
    "PUB602": (
        "dec-toast-default-insert-transform sub-apply-toast-insert-transform",
        "dec-toast-filter-insert-transform dec-toast-full dec-toast-unchanged dec-toast-filter-full",
    ),
    "PUB603": (
        "dec-insert-filter dec-filter-not-null-trap dec-filter-null-const dec-update-set-null-key-filter",
        "dec-constant-filter-false dec-constant-filter-true dec-delete-filter dec-or-two-publications",
    ),
    "PUB604": (
        "dec-truncate-ignores-filter dec-truncate-false-filter sub-apply-truncate-ignores-filter "
        "dec-truncate-leaf-viaroot",
        "dec-truncate-not-published dec-truncate-root dec-truncate-leaf dec-truncate-two-tables-one-published "
        "dec-truncate-inherited",
    ),
    "PUB801": (
        "sub-copy-ignores-publish-update sub-copy-ignores-publish-empty sub-copy-column-list",
        "sub-copy-generated-none dec-publication-created-later",
    ),
    "PUB808": (
        "dec-cl-generated-unpublished dec-gen-virtual sub-copy-generated-none",
        "dec-gen-stored dec-gen-listed sub-copy-generated-stored dec-gen-list-without-option-stored",
    ),
}
"""Rules that speak of much: the specification's cases in which they must, and in which they must not."""

OF_THE_SUBSCRIBER = frozenset(("42P01", "3F000", "42809"))
"""Answers that rest on the subscriber's own schema."""


def texts(case: Case) -> Iterator[str]:
    """The case without and with what is done while a slot reads."""
    setup = [*ROLES, *case.setup, *([] if case.decode else [case.statement])]
    after: tuple[str, ...] = case.sub.pub_sql if case.sub else ()
    if case.decode:
        setup.append(f"CREATE SUBSCRIPTION sb CONNECTION '' PUBLICATION {case.decode.publications}")
        after = case.decode.sql
    for statements in (setup, [*setup, *after]) if after else (setup,):
        yield ";\n".join(statements).replace("@@PORT@@", "5432").replace("@@DB@@", DATABASE)


@cache
def findings_of(case_id: str, major: int) -> tuple[Diagnostic, ...]:
    config = Config(postgres=(major,), complete=True, database=DATABASE, select=("PUB",))
    return tuple(
        diagnostic
        for text in texts(CASES[case_id])
        for diagnostic in Linter(config).lint(Unit((Source("case.sql", text),))).diagnostics
        if diagnostic.phase in ("silent", "subscribe")
    )


def speaking(rule: str) -> dict[str, tuple[int, ...]]:
    """The cases in which a rule speaks, and on which of their majors."""
    spoken = {
        case.id: tuple(
            major for major in case.answers if any(finding.rule == rule for finding in findings_of(case.id, major))
        )
        for case in CASES.values()
    }
    return {case: majors for case, majors in spoken.items() if majors}


@pytest.mark.parametrize("rule", FIRES)
def test_a_rule_speaks_of_its_cases_and_no_others_on_every_major(rule: str) -> None:
    assert speaking(rule) == {case: tuple(CASES[case].answers) for case in FIRES[rule].split()}


def test_rows_are_copied_twice_by_15() -> None:
    assert set(speaking("PUB812").values()) == {(15,)}
    assert set(ON_15.split()) <= speaking("PUB812").keys()


@pytest.mark.parametrize("rule", NAMED)
def test_a_rule_that_speaks_of_much_speaks_where_the_specification_says(rule: str) -> None:
    does, does_not = (words.split() for words in NAMED[rule])
    spoken = speaking(rule)
    assert {case: spoken.get(case) for case in does} == {case: tuple(CASES[case].answers) for case in does}
    assert not spoken.keys() & set(does_not)


def test_every_rule_about_the_time_after_is_held_to_cases() -> None:
    later = {rule.code for rule in RULES.values() if rule.phase in ("silent", "subscribe") and rule.spec}
    about_statements = {"PUB104", "PUB214"}
    assert later - about_statements == {name for name in FIRES.keys() | NAMED.keys() if RULES[name].spec}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_fails_for_a_subscriber_is_told_with_its_sqlstate(case: Case) -> None:
    for major, answer in case.answers.items():
        told = [
            finding
            for finding in findings_of(case.id, major)
            if finding.phase == "subscribe" and finding.certainty == "certain"
        ]
        states = {finding.server.sqlstate for finding in told if finding.server is not None}
        refused = case.answers[major].alter or answer
        if not refused.ok and refused.sqlstate not in OF_THE_SUBSCRIBER:
            assert refused.sqlstate in states, (major, told)
        elif refused.ok:
            assert [finding.message for finding in told if finding.severity == "error"] == [], major


def test_plain_filters_and_publications_give_no_warning() -> None:
    named = "dec-inh-child dec-part-leaf-names dec-part-root-names dec-gen-stored dec-identity-default dec-ddl"
    warned = [
        finding.message
        for case in (*named.split(), "dec-or-two-publications", "dec-filter-added-later", "dec-cl-same")
        for finding in findings_of(case, 18)
        if finding.severity != "note" and RULES[finding.rule].default
    ]
    assert warned == []
