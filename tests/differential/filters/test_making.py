"""The generator, the comparison and the minimiser themselves."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from pubcheck.diagnostics import ServerAnswer
from tests.differential.filters import minimise
from tests.differential.filters.answers import ACCEPTED, Kind, Said, Told, compared, told
from tests.differential.filters.batches import Batch, Filter
from tests.differential.filters.catalog import Type
from tests.differential.filters.constructs import CONSTRUCTS
from tests.differential.filters.literals import literal_text, plain_text
from tests.differential.filters.report import Outcome
from tests.differential.filters.run import Run
from tests.differential.filters.schemas import FEATURES, Definition
from tests.differential.filters.trees import Tree, joined, smaller, sql
from tests.support.servers import Servers

REFUSED = ServerAnswer("42703", 'column "b" does not exist', position=41)
WIDE = Definition("CREATE TABLE w (", ("id int", "t text"), ")")


@pytest.mark.parametrize(
    ("server", "ours", "kind"),
    [
        (ACCEPTED, Said(), Kind.AGREE),
        (REFUSED, Said(REFUSED), Kind.AGREE),
        (ACCEPTED, Said(REFUSED), Kind.INVENTED),
        (REFUSED, Said(), Kind.MISSED),
        (ACCEPTED, Said(raised="KeyError()"), Kind.RAISED),
        (REFUSED, Said(REFUSED, assumed="a type"), Kind.ASSUMED),
        (REFUSED, Said(ServerAnswer("42883", REFUSED.message, position=41)), Kind.SQLSTATE),
        (REFUSED, Said(ServerAnswer("42703", REFUSED.message, position=42)), Kind.WORDING),
    ],
)
def test_answers_compare(server: ServerAnswer, ours: Said, kind: Kind) -> None:
    assert compared(server, ours) is kind


def test_each_statement_of_a_script_gets_its_own_answer() -> None:
    filters = ["id > 1", "b > 1", "t = 'a'", "id > 1 AND b"]
    answers = told(18, "db", [WIDE], [f"CREATE PUBLICATION p FOR TABLE w WHERE ({text})" for text in filters])
    assert [answer.answer.sqlstate for answer in answers.ours] == ["00000", "42703", "00000", "42703"]
    assert answers.ours[1].answer == REFUSED
    assert answers.left_out == ()


def test_what_pubcheck_leaves_out_of_a_setup_is_told() -> None:
    # A script that speaks of no publication would merely be read.
    answers = told(18, "db", [WIDE, WIDE], ["CREATE PUBLICATION p FOR TABLE w"])
    assert answers.left_out == (f'{WIDE.text}  -- 42P07 relation "w" already exists',)


def test_smaller_trees_have_the_parts_of_the_whole() -> None:
    inner = sql("lower({})", sql("t", type="text"), type="text", tag="function")
    tree = sql("({} = {})", inner, sql("'{}'", type="text"), type="boolean")
    texts = [less.text for less in smaller(tree)]
    assert {"t", "lower(t)", "'{}'", "(t = '{}')", "(lower(t) = 'a')"} <= set(texts)
    assert tree.text == "(lower(t) = '{}')"
    assert tree.tags() == {"function"}


def test_items_of_a_list_can_be_left_out() -> None:
    tree = Tree(joined(", ", [sql("a"), sql("b"), sql("c")], "f(", ")"))
    assert {"f(a, b)", "f(a, c)", "f(b, c)"} <= {less.text for less in smaller(tree)}


def test_texts_of_literals_are_the_same_for_a_seed() -> None:
    types = {
        "integer": Type("integer", "b", "N", array="integer[]"),
        "integer[]": Type("integer[]", "b", "A", element="integer"),
        "int4range": Type("int4range", "r", "R", subtype="integer"),
    }
    for name in (*types, "date", "interval", "jsonb"):
        made = [[literal_text(Random(seed), types, name, 0.5) for seed in range(50)] for _ in range(2)]
        assert made[0] == made[1]
        assert len(set(made[0])) > 10
        assert plain_text(Random(1), types, name) is not None


@pytest.mark.server
def test_a_batch_is_the_same_for_a_seed(servers: Servers) -> None:
    with Run(servers[18], 5, server_only=True) as run:
        once, again = ([outcome.filter.statement for outcome in run.batch(3, 40)] for _ in range(2))
        assert once == again
    with Run(servers[18], 6, server_only=True) as run:
        assert once != [outcome.filter.statement for outcome in run.batch(3, 40)]


@pytest.mark.server
def test_every_construct_and_feature_is_made(servers: Servers) -> None:
    with Run(servers[18], 2, server_only=True) as run:
        for number in range(60):
            run.batch(number, 100)
        assert set(run.totals.constructs) >= set(CONSTRUCTS)
        assert {name.removeprefix("with ") for name in run.totals.features} >= set(FEATURES)


@pytest.mark.server
def test_a_disagreement_is_made_smaller(servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge that is wrong about lower(): nothing else of the filter and of the database is left."""

    def wrong(major: int, database: str, setup: Sequence[Definition], statements: Sequence[str]) -> Told:
        return Told(tuple(Said(REFUSED if "lower(" in text else ACCEPTED) for text in statements), (), 0.0)

    monkeypatch.setattr(minimise, "told", wrong)
    with Run(servers[18], 1, server_only=True) as run:
        world = run.batch(0, 1)[0].batch.world
        lower = sql("(lower({}) = {})", sql("t", type="text"), sql("'a'", type="text"), type="boolean")
        tree = sql("(({} AND {}) OR {})", sql("(id > 5)", type="boolean"), lower, sql("b", type="boolean"),
            type="boolean")  # fmt: skip
        filter_ = Filter(
            "CREATE PUBLICATION p FOR TABLE ONLY public.w (id) WHERE (", tree, ") WITH (publish = 'insert')"
        )
        outcome = Outcome(Batch(1, 18, 0, world, (filter_,)), filter_, ACCEPTED, Said(REFUSED), Kind.INVENTED)
        minimised = minimise.minimised(run.conn, run.database, outcome)
    assert minimised.filter.statement == "CREATE PUBLICATION p FOR TABLE public.w WHERE ((lower(t) = 'a'))"
    assert [definition.items for definition in minimised.setup] == [("t text",)]
    assert minimised.kind is Kind.INVENTED
    assert "lower(t)" in minimise.case(minimised, "lower")
