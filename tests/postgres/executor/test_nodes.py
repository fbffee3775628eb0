"""What the recorded answers do not show: what is not known is said so, and a filter is prepared once."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor import Context, evaluate, prepare
from tests.differential.evaluation.rows import COLUMNS
from tests.differential.evaluation.run import Evaluator


@cache
def _evaluator(major: int = 18) -> Evaluator:
    return Evaluator(major)


def _row(**texts: str) -> dict[int, Any]:
    return _evaluator().read(0, {name: texts.get(name) for name in COLUMNS})


def _answer(filter_: str, locale: str | None = None, **texts: str) -> bool | None:
    expr = _evaluator().analysed(filter_)
    assert expr is not None
    return evaluate(expr, _row(**texts), Context(_evaluator().inputs(), locale))


def test_the_order_of_texts_rests_on_the_databases_collation() -> None:
    with pytest.raises(Unknowable, match="collation"):
        _answer("t > 'B'", t="a")
    assert _answer("t > 'B'", "C.UTF-8", t="a") is True
    assert _answer("t = 'B'", t="a") is False
    assert _answer("t COLLATE \"C\" > 'B'", t="a") is True
    assert _answer("t > '2024'", t="2023") is False


def test_letters_beyond_ascii_have_case_where_the_locale_says_so() -> None:
    with pytest.raises(Unknowable, match="case"):
        _answer("lower(t) = 'ä'", t="Ä")
    assert _answer("lower(t) = 'ä'", "C.UTF-8", t="Ä") is True
    assert _answer("lower(t) = 'ä'", "C", t="Ä") is False


@pytest.mark.parametrize("pattern", ["(a)\\1", "^(?=a)", "(?i)a", "***=a", "a**", "\\ma", "[[.a.]]"])
def test_patterns_that_mean_something_else_here_are_unknown(pattern: str) -> None:
    with pytest.raises(Unknowable, match="regular expression"):
        _answer(f"t ~ '{pattern}'", t="a")


def test_functions_that_are_not_followed_are_unknown_but_for_null() -> None:
    with pytest.raises(Unknowable, match="jsonpath"):
        _answer("jb @@ '$.a'", jb="{}")
    with pytest.raises(Unknowable, match="normalize"):
        _answer("normalize(t) = 'a'", t="a")
    assert _answer("normalize(t) = 'a'") is None


def test_a_constant_that_fails_fails_for_every_row() -> None:
    expr = _evaluator().analysed("a = 1 OR 1/0 = 1")
    assert expr is not None
    run = prepare(expr, Context(_evaluator().inputs()))
    assert isinstance(run.failure, ServerError)
    for text in ("1", "2"):
        with pytest.raises(ServerError) as raised:
            run(_row(a=text))
        assert raised.value.sqlstate == "22012"


def test_an_error_of_a_row_leaves_the_others_alone() -> None:
    expr = _evaluator().analysed("10 / a > 1")
    assert expr is not None
    run = prepare(expr, Context(_evaluator().inputs()))
    assert run.failure is None
    with pytest.raises(ServerError, match="division by zero"):
        run(_row(a="0"))
    assert run(_row(a="5")) is True
    assert run(_row()) is None


@pytest.mark.parametrize("filter_", ["NOT (" * 3000 + "p" + ")" * 3000, "a = " + " + ".join(["1"] * 3000)])
def test_depth_is_no_failure(filter_: str) -> None:
    with pytest.raises(Unknowable, match="deeply"):
        _answer(filter_, p="t", a="3000")


def test_long_lists_are_no_depth() -> None:
    assert _answer(" AND ".join(["a <> 1"] * 3000), a="2") is True
    assert _answer(f"a IN ({', '.join(map(str, range(3000)))})", a="2999") is True
