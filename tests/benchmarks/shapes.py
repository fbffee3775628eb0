"""Inputs of one extreme shape: ``SHAPES`` of any size, to see that time grows as size does, and ``HOSTILE`` ones."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

from tests.benchmarks.schema import dump


def _tables(number: int, columns: str = "id int PRIMARY KEY, v text") -> str:
    return "".join(f"CREATE TABLE t{n} ({columns});\n" for n in range(number))


def all_tables_first(size: int) -> str:
    return f"CREATE PUBLICATION p FOR ALL TABLES;\n{_tables(size)}"


def tables_without_key(size: int) -> str:
    """Each table is a finding of its own."""
    return f"CREATE PUBLICATION p FOR ALL TABLES;\n{_tables(size, 'v text')}"


def added_one_by_one(size: int) -> str:
    added = "".join(f"ALTER PUBLICATION p ADD TABLE t{n};\n" for n in range(size))
    return f"{_tables(size)}CREATE PUBLICATION p;\n{added}"


def a_publication_each(size: int) -> str:
    return _tables(size) + "".join(f"CREATE PUBLICATION p{n} FOR TABLE t{n} WHERE (id > {n});\n" for n in range(size))


def publications_of_one_table(size: int) -> str:
    made = "".join(f"CREATE PUBLICATION p{n} FOR TABLE t0 WHERE (id > {n});\n" for n in range(size))
    return _tables(1) + made


def publications_made_and_dropped(size: int) -> str:
    """Each refuses writes of the one table as long as it is there."""
    made = "".join(f"CREATE PUBLICATION p{n} FOR TABLE t0 WHERE (v > '{n}');\n" for n in range(size))
    return _tables(1) + made + "".join(f"DROP PUBLICATION p{n};\n" for n in range(size))


def one_list_of_all(size: int) -> str:
    return f"{_tables(size)}CREATE PUBLICATION p FOR TABLE {', '.join(f't{n}' for n in range(size))};\n"


def one_list_of_findings(size: int) -> str:
    """One statement, beyond ASCII, with a finding at each of its tables."""
    tables = "".join(f'CREATE TABLE "тест{n}" (id int PRIMARY KEY, v text);\n' for n in range(size))
    members = ", ".join(f"\"тест{n}\" WHERE (v > 'ж')" for n in range(size))
    return f"{tables}CREATE PUBLICATION p FOR TABLE {members};\n"


def one_list_of_strangers(size: int) -> str:
    """Tables that are made elsewhere."""
    return f"CREATE PUBLICATION p FOR TABLE {', '.join(f't{n}' for n in range(size))};\n"


def many_columns(size: int) -> str:
    """Tables as wide as the server allows."""
    columns = ", ".join(f"c{n} int NOT NULL" for n in range(1600))
    listed = ", ".join(f"c{n}" for n in range(1600))
    made = "".join(f"CREATE TABLE t{n} ({columns}, PRIMARY KEY (c0));\n" for n in range(size // 100))
    return made + "".join(f"CREATE PUBLICATION p{n} FOR TABLE t{n} ({listed});\n" for n in range(size // 100))


def columns_added(size: int) -> str:
    """Tables that get wider, a column at a time, to 500."""
    made = (
        f"CREATE TABLE t{n // 500} ();\n" if n % 500 == 0 else f"ALTER TABLE t{n // 500} ADD COLUMN c{n} int;\n"
        for n in range(size)
    )
    return "".join(made)


def subscriptions_to_one_table(size: int) -> str:
    """Publications of one table, subscribed to one by one, and all of them together."""
    made = "".join(f"CREATE PUBLICATION p{n} FOR TABLE t0 (id) WHERE (id > {n});\n" for n in range(size))
    read = "".join(f"CREATE SUBSCRIPTION s{n} CONNECTION '' PUBLICATION p{n};\n" for n in range(size))
    together = ", ".join(f"p{n}" for n in range(size))
    return f"{_tables(1)}{made}{read}CREATE SUBSCRIPTION s CONNECTION '' PUBLICATION {together};\n"


def partitions(size: int) -> str:
    parts = "".join(f"CREATE TABLE t{n} PARTITION OF root FOR VALUES FROM ({n}) TO ({n + 1});\n" for n in range(size))
    return (
        "CREATE TABLE root (id int PRIMARY KEY, v text) PARTITION BY RANGE (id);\n"
        f"{parts}CREATE PUBLICATION p FOR TABLE root WHERE (id > 5) WITH (publish_via_partition_root);\n"
    )


def partitions_published_first(size: int) -> str:
    parts = "".join(f"CREATE TABLE t{n} PARTITION OF root FOR VALUES FROM ({n}) TO ({n + 1});\n" for n in range(size))
    return (
        "CREATE TABLE root (id int PRIMARY KEY, v text) PARTITION BY RANGE (id);\n"
        f"CREATE PUBLICATION p FOR TABLE root WHERE (v > 'a') WITH (publish_via_partition_root);\n{parts}"
    )


def partitions_attached(size: int) -> str:
    parts = "".join(
        f"CREATE TABLE t{n} (id int NOT NULL, v text);\n"
        f"ALTER TABLE root ATTACH PARTITION t{n} FOR VALUES FROM ({n}) TO ({n + 1});\n"
        for n in range(size)
    )
    return f"CREATE TABLE root (id int NOT NULL, v text) PARTITION BY RANGE (id);\n{parts}"


def deep_inheritance(size: int) -> str:
    """Chains of inheritance, 50 deep."""
    return "".join(
        f"CREATE TABLE t{n} (id int);\n" if n % 50 == 0 else f"CREATE TABLE t{n} (c{n} int) INHERITS (t{n - 1});\n"
        for n in range(size)
    )


def schemas(size: int) -> str:
    made = "".join(f"CREATE SCHEMA s{n};\nCREATE TABLE s{n}.t (id int PRIMARY KEY);\n" for n in range(size))
    return f"{made}CREATE PUBLICATION p FOR TABLES IN SCHEMA {', '.join(f's{n}' for n in range(size))};\n"


def one_big_schema(size: int) -> str:
    """CREATE SCHEMA with its tables in the one statement."""
    made = "".join(f" CREATE TABLE t{n} (id int PRIMARY KEY)" for n in range(size))
    return f"CREATE SCHEMA s{made};\nCREATE PUBLICATION p FOR TABLES IN SCHEMA s;\n"


def in_one_transaction(size: int) -> str:
    return f"BEGIN;\nCREATE PUBLICATION p FOR ALL TABLES;\n{_tables(size)}COMMIT;\n"


def equal_names(size: int) -> str:
    """Indexes and constraints that the server must find names for."""
    return "CREATE TABLE t (id int, v text);\n" + "".join("CREATE INDEX ON t (v);\n" for _ in range(isqrt(size) * 10))


def dropped(size: int) -> str:
    gone = "".join(f"DROP TABLE t{n};\n" for n in range(size))
    return f"{_tables(size)}CREATE PUBLICATION p FOR ALL TABLES;\n{gone}"


def one_table_referred_to(size: int) -> str:
    """Foreign keys with actions, of tables that refuse them."""
    parent = "CREATE PUBLICATION p FOR ALL TABLES;\nCREATE TABLE parent (id int PRIMARY KEY);\n"
    return parent + _tables(size, "parent int REFERENCES parent ON DELETE CASCADE")


def referred_to_in_a_row(size: int) -> str:
    """Each table refers to the one before, and the last refuses what goes on to it."""
    rest = "".join(
        f"CREATE TABLE t{n} (id int PRIMARY KEY, before int REFERENCES t{n - 1} ON DELETE CASCADE);\n"
        for n in range(1, size)
    )
    last = f"CREATE TABLE last (before int REFERENCES t{size - 1} ON DELETE CASCADE);\n"
    return f"CREATE PUBLICATION p FOR ALL TABLES;\n{_tables(1)}{rest}{last}"


def made_anew(size: int) -> str:
    """A publication that loses a table each time it is made anew."""
    again = "DROP PUBLICATION p;\nCREATE PUBLICATION p;\n"
    anew = "".join(f"ALTER PUBLICATION p ADD TABLE t{n};\n{again}" for n in range(size))
    return f"{_tables(size)}CREATE PUBLICATION p;\n{anew}"


def not_sql(size: int) -> str:
    return "".join(f"CREATE TABEL t{n} (id int);\n" for n in range(size))


SHAPES: tuple[Callable[[int], str], ...] = (
    dump,
    all_tables_first,
    tables_without_key,
    added_one_by_one,
    a_publication_each,
    publications_of_one_table,
    publications_made_and_dropped,
    one_list_of_all,
    one_list_of_findings,
    one_list_of_strangers,
    many_columns,
    columns_added,
    subscriptions_to_one_table,
    partitions,
    partitions_published_first,
    partitions_attached,
    deep_inheritance,
    schemas,
    one_big_schema,
    in_one_transaction,
    equal_names,
    dropped,
    one_table_referred_to,
    referred_to_in_a_row,
    made_anew,
    not_sql,
)
"""What makes a text of a size; the sizes compared are one and ten times."""


def one_insert() -> str:
    return f"INSERT INTO t VALUES {','.join(f'({n}, 1)' for n in range(1_000_000))};\n"


def one_create_table() -> str:
    columns = ", ".join(f"a_column_with_a_long_name_{n} character varying(100) NOT NULL" for n in range(180_000))
    return f"CREATE TABLE t ({columns});\n"


def deep_row_filter() -> str:
    return f"CREATE TABLE t (id int);\nCREATE PUBLICATION p FOR TABLE t WHERE (id > {'1+' * 100_000}1);\n"


def deep_check() -> str:
    return f"CREATE TABLE t (id int, CHECK (id > {'1+' * 100_000}1));\nCREATE PUBLICATION p FOR TABLE t;\n"


def deep_view() -> str:
    return f"CREATE VIEW v AS SELECT {'1+' * 100_000}1;\n"


def as_deep_as_the_parser_goes() -> str:
    return f"CREATE TABLE t (id int);\nCREATE PUBLICATION p FOR TABLE t WHERE (id > {'1+' * 15_000}1);\n"


def parentheses() -> str:
    return f"CREATE TABLE t (id int);\nCREATE PUBLICATION p FOR TABLE t WHERE ({'(' * 100_000}true{')' * 100_000});\n"


def beyond_ascii() -> str:
    filtered = f"WHERE (а > '{'ж' * 60}')"
    return "".join(f'CREATE PUBLICATION "ю{n}" FOR TABLE "нет{n}" {filtered};\n' for n in range(5_000))


def one_statement_beyond_ascii() -> str:
    return f"CREATE TABLE t (v text);\nCREATE PUBLICATION p FOR TABLE t WHERE (v > '{'ж' * 1_000_000}' OR нет > 1);\n"


def stray_quotes() -> str:
    return "CREATE PUBLICATION p FOR TABLE t 'x;\n" * 20_000


def unclosed_comments() -> str:
    return "/*" * 500_000


def semicolons() -> str:
    return ";" * 3_000_000


def huge_name() -> str:
    return f"CREATE PUBLICATION {'x' * 5_000_000} FOR ALL TABLES;\n"


def huge_file() -> str:
    return "INSERT INTO t VALUES (1, 'a text that is neither long nor short');\n" * 1_500_000


HOSTILE: tuple[Callable[[], str], ...] = (
    one_insert,
    one_create_table,
    deep_row_filter,
    deep_check,
    deep_view,
    as_deep_as_the_parser_goes,
    parentheses,
    beyond_ascii,
    one_statement_beyond_ascii,
    stray_quotes,
    unclosed_comments,
    semicolons,
    huge_name,
    huge_file,
)
