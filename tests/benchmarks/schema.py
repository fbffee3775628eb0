"""A schema as pg_dump writes it, of any number of tables; the same text for the same number."""

from __future__ import annotations

from random import Random

_HEADER = """\
--
-- PostgreSQL database dump
--

-- Dumped from database version 18.4
-- Dumped by pg_dump version 18.4

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

CREATE SCHEMA app;
ALTER SCHEMA app OWNER TO app_owner;
SET default_tablespace = '';
SET default_table_access_method = heap;
"""

_TYPES = (
    "bigint",
    "boolean DEFAULT true NOT NULL",
    "character varying(100)",
    "date",
    "double precision",
    "integer DEFAULT 0 NOT NULL",
    "jsonb DEFAULT '{}'::jsonb NOT NULL",
    "numeric(12,2)",
    "text",
    "text NOT NULL",
    "timestamp with time zone DEFAULT now() NOT NULL",
    "timestamp without time zone",
    "uuid",
)

_FUNCTION = """
CREATE FUNCTION app.touch_{n}() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    NEW.updated_at := now(); -- what the row's readers order by; it's never NULL
    RETURN NEW;
END;
$$;"""


def dump(tables: int) -> str:
    """The text of a dump: some 8.4 statements a table, and publications of all and of some of the tables."""
    everything = "\nCREATE PUBLICATION everything FOR ALL TABLES WITH (publish = 'insert, update, delete');\n"
    parts = [_described("everything", "PUBLICATION", everything)]
    create = "\nCREATE PUBLICATION part WITH (publish = 'insert, update, delete');\n"
    parts.append(_described("part", "PUBLICATION", create))
    parts += [_member("part", n, " WHERE ((id > 1000))" if n % 200 else "") for n in range(0, tables, 100)]
    return "".join((_schema(tables), *parts, _FOOTER))


def published(tables: int, *, cut: bool = False) -> str:
    """The dump with 200 publications: 190 of ten tables, 40 of them with filters, 5 of the schema, 5 of all tables.

    ``cut``: without the publications.
    """
    parts = []
    for n in range(200):
        how = " FOR ALL TABLES" if n % 40 == 0 else ""
        create = f"\nCREATE PUBLICATION publication_{n}{how} WITH (publish = 'insert, update, delete, truncate');\n"
        parts.append(_described(f"publication_{n}", "PUBLICATION", create))
    for n in range(200):
        name = f"publication_{n}"
        if n % 40 == 20:
            added = f"\nALTER PUBLICATION {name} ADD TABLES IN SCHEMA app;\n"
            parts.append(_described(f"{name} app", "PUBLICATION TABLES IN SCHEMA", added))
        elif n % 40:
            where = f" WHERE (((id > {n}) AND (id IS NOT NULL)))" if n % 5 == 3 else ""
            parts += [_member(name, (n * 25 + number * 7) % tables, where) for number in range(10)]
    return "".join((_schema(tables), *(() if cut else parts), _FOOTER))


_FOOTER = "\n--\n-- PostgreSQL database dump complete\n--\n"


def _described(name: str, kind: str, text: str) -> str:
    return f"\n--\n-- Name: {name}; Type: {kind}; Schema: app; Owner: app_owner\n--\n{text}\n"


def _member(publication: str, table: int, where: str) -> str:
    added = f"\nALTER PUBLICATION {publication} ADD TABLE ONLY app.table_{table}{where};\n"
    return _described(f"{publication} table_{table}", "PUBLICATION TABLE", added)


def _schema(tables: int) -> str:
    random = Random(tables)
    parts = [_HEADER]

    def add(name: str, kind: str, text: str) -> None:
        parts.append(_described(name, kind, text))

    for n in range(0, tables, 25):
        add(f"touch_{n}()", "FUNCTION", _FUNCTION.format(n=n))
        parts.append(f"\nALTER FUNCTION app.touch_{n}() OWNER TO app_owner;\n")
    for n in range(tables):
        columns = "".join(f",\n    column_{k} {random.choice(_TYPES)}" for k in range(random.randint(6, 13)))
        body = f"    id bigint NOT NULL,\n    parent_id bigint{columns}"
        add(f"table_{n}", "TABLE", f"\nCREATE TABLE app.table_{n} (\n{body}\n);\n")
        parts.append(f"\nALTER TABLE app.table_{n} OWNER TO app_owner;\n")
        if n % 10 == 0:
            comment = f"\nCOMMENT ON TABLE app.table_{n} IS 'what the shop''s part {n} keeps';\n"
            add(f"TABLE table_{n}", "COMMENT", comment)
        add(
            f"table_{n}_id_seq",
            "SEQUENCE",
            f"\nCREATE SEQUENCE app.table_{n}_id_seq\n    START WITH 1\n    INCREMENT BY 1\n    NO MINVALUE\n"
            "    NO MAXVALUE\n    CACHE 1;\n",
        )
        parts.append(f"\nALTER SEQUENCE app.table_{n}_id_seq OWNER TO app_owner;\n")
        add(
            f"table_{n}_id_seq",
            "SEQUENCE OWNED BY",
            f"\nALTER SEQUENCE app.table_{n}_id_seq OWNED BY app.table_{n}.id;\n",
        )
    for n in range(tables):
        default = f"nextval('app.table_{n}_id_seq'::regclass)"
        add(f"table_{n} id", "DEFAULT", f"\nALTER TABLE ONLY app.table_{n} ALTER COLUMN id SET DEFAULT {default};\n")
    for n in range(tables):
        key = f"\nALTER TABLE ONLY app.table_{n}\n    ADD CONSTRAINT table_{n}_pkey PRIMARY KEY (id);\n"
        add(f"table_{n} table_{n}_pkey", "CONSTRAINT", key)
    for n in range(tables):
        if n % 4:
            where = " WHERE (column_0 IS NOT NULL)" if n % 4 == 1 else ""
            index = f"\nCREATE INDEX table_{n}_idx ON app.table_{n} USING btree (column_1, column_2){where};\n"
            add(f"table_{n}_idx", "INDEX", index)
    for n in range(1, tables, 2):
        reference = f"FOREIGN KEY (parent_id) REFERENCES app.table_{n - 1}(id) ON DELETE CASCADE"
        add(
            f"table_{n} table_{n}_fkey",
            "FK CONSTRAINT",
            f"\nALTER TABLE ONLY app.table_{n}\n    ADD CONSTRAINT table_{n}_fkey {reference};\n",
        )
    return "".join(parts)
