"""With the world open, what rests on names that are not visible is nothing certain."""

from __future__ import annotations

import pytest

from tests.linting import answers, lint


@pytest.mark.parametrize(
    "made",
    [
        "CREATE PUBLICATION p FOR TABLE x, y;",
        "CREATE PUBLICATION q FOR TABLE s.x; CREATE PUBLICATION p FOR TABLES IN SCHEMA s;",
        "SET search_path = s; CREATE PUBLICATION p FOR TABLES IN SCHEMA CURRENT_SCHEMA;",
    ],
)
def test_a_publication_over_what_is_not_visible_is_perhaps_not_there(made: str) -> None:
    assert not [one for one in answers(lint(made + "CREATE PUBLICATION p;")) if one[2] == "certain"]


@pytest.mark.parametrize(
    ("before", "certainty"), [("DROP PUBLICATION p, x;", "assumed"), ("DROP PUBLICATION p;", "certain")]
)
def test_what_was_to_be_dropped_with_what_is_not_visible_is_perhaps_still_there(before: str, certainty: str) -> None:
    found = answers(lint("CREATE PUBLICATION p;" + before + "DROP PUBLICATION p;"))
    assert found[-1] == ("42704", 'publication "p" does not exist', certainty)
