"""Places in a statement's text that the parse tree does not give."""

from __future__ import annotations

import pytest

from pubcheck.postgres.tokens import place_of_name


@pytest.mark.parametrize(
    ("marked", "name"),
    [
        ("ALTER TABLE orders DROP COLUMN |email", "email"),
        ("ALTER TABLE region DROP COLUMN |region", "region"),
        ("ALTER TABLE IF EXISTS ONLY app.region ALTER |Region TYPE text USING region::text", "region"),
        ('ALTER TABLE "Orders" DROP COLUMN |"a""b"', 'a"b'),
        ("ALTER PUBLICATION shop RENAME TO |shop", "shop"),
        ("DROP PUBLICATION IF EXISTS |Shop", "shop"),
        ("DROP PUBLICATION a, |b", "b"),
        ("ALTER TABLE app.|carts SET UNLOGGED", "carts"),
        ("/* orders */ ALTER TABLE |orders SET UNLOGGED", "orders"),
    ],
)
def test_the_name_that_an_error_is_about_is_found(marked: str, name: str) -> None:
    assert place_of_name(marked.replace("|", "").encode(), name) == marked.index("|")


def test_a_name_that_is_not_written_has_no_place() -> None:
    assert place_of_name(b"ALTER TABLE orders DROP COLUMN email", "region") is None
    assert place_of_name(b"DROP", "region") is None
