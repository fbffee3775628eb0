"""Small inputs that cost a server, or a naive reader, without end; `python -m tests.support.bombs` shows their costs.

Each is linted and explained in a process with limited memory and CPU time. What a bomb's value is nobody
needs to know: what counts is that the run ends, keeps what it found elsewhere, and reports no error of its own.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence

from msgspec import Struct

from tests.support.loaded_pubcheck import LoadedPubcheck, loaded

TABLE = "CREATE TABLE t (id int PRIMARY KEY, c text, n numeric, a int[], j jsonb, b bytea, ts timestamptz);\n"
WITNESS = """
CREATE TABLE witness (id int PRIMARY KEY, c text);
CREATE PUBLICATION w FOR TABLE witness WHERE (c = 'x');
"""
"""Follows every bomb, and its UPDATE is refused for certain: PUB301."""


def condition(text: str) -> str:
    return f"{TABLE}CREATE PUBLICATION p FOR TABLE t WHERE ({text}) WITH (publish = 'insert');"


def block(text: str) -> str:
    variables = "s text := 'x'; i int := 0; n bigint := 2; items text[]"
    done = "EXECUTE 'CREATE PUBLICATION p FOR TABLE t WHERE (c <> ''' || left(s, 1) || ''')';"
    return f"{TABLE}DO $block$ DECLARE {variables}; BEGIN\n{text}\n{done} END $block$;"


def doubled(text: str, times: int) -> str:
    for _ in range(times):
        text = f"({text}||{text})"
    return text


def many(pattern: str, number: int, between: str = "") -> str:
    return between.join(pattern.format(index, index + 1) for index in range(number))


A = "a" * 40
FILTERS: Mapping[str, str] = {
    "repeat": "c = repeat('x', 2000000000)",
    "repeat in repeat": "c = repeat(repeat(repeat('x', 1000), 1000), 1000)",
    "lpad": "lpad(c, 2000000000) = 'x'",
    "rpad": "rpad(rpad(c, 1000000), 1000000, c) = 'x'",
    "replace": "replace(replace(replace(repeat('x', 1000), 'x', repeat('y', 1000)), 'y', repeat('z', 1000)),"
    " 'z', repeat('w', 1000)) = c",
    "replace of a column": "replace(replace(replace(c || 'xxxxxxxxxx', 'x', 'xxxxxxxxxx'), 'x', repeat('x', 100000)),"
    " 'x', repeat('x', 100000)) = 'q'",
    "concatenation": "length(" + "||".join(["repeat('x', 1000000)"] * 3000) + ") > id",
    "concatenation that doubles": doubled("c", 14) + " = 'x'",
    "overlay": "overlay(repeat('x', 1000000) placing repeat('y', 1000000) from 1) || c = 'x'",
    "translate": "translate(repeat('x', 1000000), repeat('xyz', 300000), 'y') = c",
    "power": "n = 10 ^ 100000 OR n > 9::numeric ^ 9::numeric ^ 9::numeric ^ 9::numeric",
    "powers multiplied": "power(n, 1000) * power(n, 1000) * power(n, 1000) > power(9.99, 131000)",
    "factorial": "n > factorial(100000)",
    "numeric literals": "n > 1e131071 AND n * 1e131071 * 1e-16000 > 5",
    "numeric product": "n > " + "*".join(["1e6000"] * 3000),
    "numeric quotients": "n / 1e131000 / 3e-16000 > 1 AND 1e131071 / 3 > n AND (1e131071 + 1) % 7 > n",
    "numeric roots": "sqrt(2e131000) > n AND exp(100000.0) > n AND ln(1e131000) > n AND log(3, 1e100000) > n",
    "round": "round(n, 2000000000) > 1 AND trunc(1.5, 16383) > n AND round(1e131000, -2000000000) > n",
    "shift": "id << 2000000000 > 1 AND (1::bigint << 63) > id",
    "bits": "(B'1'::bit(83886080) << 1)::text = c AND (B'1'::bit(83886080) || B'1'::bit(83886080))::text = c",
    "array with a subscript": "a = '[1:2000000000]={1}' OR a = '[-2147483648:2147483647]={1}'",
    "array of 100,000": "a = '{{{{{{1}}}}}}' OR a = ARRAY[" + ",".join(["1"] * 100_000) + "]",
    "array_fill": "a = array_fill(1, ARRAY[100000000])",
    "arrays joined": "a = " + "||".join(["a"] * 3000),
    "arrays of texts": "cardinality(string_to_array(repeat('x,', 500000), ',')"
    " || string_to_array(repeat('x,', 500000), ',')) > id",
    "arrays compared": "string_to_array(repeat('x,', 30000), ',') <@ string_to_array(repeat('y,', 30000) || c, ',')",
    "IN with 100,000": "id IN (" + ",".join(map(str, range(100_000))) + ")",
    "IN with 60,000 texts": "c IN ("
    + many("'{0}'", 30_000, ",")
    + ") AND c NOT IN ("
    + many("'y{0}'", 30_000, ",")
    + ")",
    "OR of 5,000": many("c = '{0}'", 5000, " OR "),
    "regex nested": f"c ~ '^(a+)+$' OR '{A}b' ~ '^(a+)+$' OR '{A}b' ~* '((a*)*)*c'",
    "regex alternatives": f"'{A}b' ~ '^(a|a|aa)*$' AND c ~ '(x+x+)+y'",
    "regex polynomial": "repeat('a', 5000) ~ 'a*a*a*a*a*a*a*b'",
    "regex bounds": "c ~ '((((a{255}){255}){255}){255}){255}' OR c ~ '(((a{0,255}){0,255}){0,255}){0,255}b'",
    "regex long text": "repeat('ab', 500000) ~ '(a|b)*c'",
    "regex deep": "c ~ '" + "(" * 3000 + "a" + ")" * 3000 + "'",
    "regex long": "c ~ '" + "(a|b)*" * 20_000 + "'",
    "SIMILAR TO": f"'{A}b' SIMILAR TO '((a|aa)+)+' OR c SIMILAR TO '(x%x%)+y'",
    "LIKE": "repeat('a', 100000) LIKE '%" + "a%" * 50 + "b' OR c LIKE '%a%a%a%a%a%a%a%b'",
    "LIKE with underscores": "repeat('a', 1000000) LIKE '%' || repeat('_a', 200000) || 'b'",
    "regexp_replace": f"regexp_replace('{A}c', '(a+)+b', repeat('x', 1000000), 'g') = c"
    f" OR regexp_like('{A}c', '(a+)+b')",
    "like_regex": f"j @? '$ ? (@ like_regex \"(a+)+b\")' OR '\"{A}c\"'::jsonb @? '$ ? (@ like_regex \"(a+)+b\")'",
    "JSON deep": "j = '" + "[" * 5000 + "]" * 5000 + "'",
    "JSON long": "j = '[" + ",".join(["1"] * 200_000) + "]'",
    "intervals": "ts > '2020-01-01'::timestamptz + interval '1' * 1e300"
    " AND make_interval(years => 2000000000) > '1 day' AND interval '" + "1 day " * 100_000 + "' > interval '1 day'",
    "formats": "to_char(ts, repeat('YYYY', 100000)) = c AND to_char(n, repeat('9', 100000)) = c",
    "ranges": f"int4range(1, 2000000000) @> id AND '{{{many('[{0}0,{0}3]', 30_000, ',')}}}'::int4multirange @> id",
    "bytes": "b = decode(repeat('ab', 600000), 'hex') || decode(repeat('ab', 600000), 'hex')"
    " AND encode(b || decode(repeat('ab', 500000), 'hex'), 'escape') = c",
    "hashes": "md5(repeat(c, 100000)) = 'x' AND sha256(repeat('x', 1000000)::bytea) = b",
    "quotes": "quote_literal(quote_literal(quote_literal(repeat('''', 300000)))) = c",
    "CASE deep": "CASE WHEN " * 400 + "id > 0" + " THEN true ELSE false END" * 400,
    "NOT deep": "NOT " * 20_000 + "true",
    "parentheses": "(" * 20_000 + "true" + ")" * 20_000,
    "casts": "id" + "::int" * 20_000 + " > 0",
    "sums": "id" + "+1" * 12_000 + " > 0",
    "digits": f"id * id * id > {'9' * 10_000} OR n = '{'9' * 200_000}' OR id = '{'9' * 200_000}'",
    "name of 5 MB": f'"{"a" * 5_000_000}" > 1',
    "text of 20 MB": f"c = '{'a' * 20_000_000}'",
    "other letters": "c = U&'" + "\\00e9" * 500_000 + "' AND lower(c) = upper('" + "ß" * 500_000 + "')",
    "LEAST of 20,000": f"least({many('{0}', 20_000, ',')}, id) > 0 AND coalesce({many('c', 20_000, ',')}) = 'x'",
}
BLOCKS: Mapping[str, str] = {
    "concatenation": "FOR i IN 1..60 LOOP s := s || s; END LOOP;",
    "repeat": "s := repeat('x', 2000000000);",
    "lpad": "s := lpad('x', 2000000000); s := rpad(s, 2000000000, 'ab');",
    "format width": "s := format('%1000000000s', 'x'); s := format('%-2000000000s', 'x');",
    "format": "FOR i IN 1..60 LOOP s := format('%s%s%s', s, s, s); END LOOP;",
    "replace": "FOR i IN 1..60 LOOP s := replace(s, 'x', 'xxxxxxxxxxxxxxxxxxxx'); END LOOP;",
    "replace of all": "s := lpad('', 1000000, 'x'); s := replace(s, 'x', s);",
    "regexp_replace": "s := lpad('', 1000000, 'x'); s := regexp_replace(s, 'x', s, 'g');",
    "quote_literal": "FOR i IN 1..100 LOOP s := quote_literal(s); END LOOP;",
    "EXECUTE that doubles": "s := 'SELECT 1'; FOR i IN 1..60 LOOP s := s || '; ' || s; EXECUTE s; END LOOP;",
    "DO in DO": "s := 'NULL'; FOR i IN 1..60 LOOP"
    " s := format('EXECUTE %L', 'DO ' || quote_literal('BEGIN ' || s || '; ' || s || '; END')); END LOOP; EXECUTE s;",
    "long EXECUTE": "FOR i IN 1..9999 LOOP EXECUTE 'SELECT ''' || lpad('', 900000, i::text) || ''''; END LOOP;",
    "endless loop": "LOOP i := i + 1; END LOOP;",
    "loops in loops": "FOR a IN 1..10000 LOOP FOR b IN 1..10000 LOOP FOR d IN 1..10000 LOOP i := i + 1;"
    " END LOOP; END LOOP; END LOOP;",
    "endless in endless": "WHILE true LOOP WHILE true LOOP i := i + 1; END LOOP; END LOOP;",
    "empty loops": "FOR a IN 1..9999 LOOP FOR b IN 1..9999 LOOP END LOOP; END LOOP;",
    "squares": "FOR i IN 1..100 LOOP n := n * n; END LOOP; s := n::text;",
    "digits": f"s := '{'9' * 10_000}'; n := s::bigint; i := {'9' * 10_000};"
    f" IF {'8' * 10_000} > 1 THEN s := 'y'; END IF;",
    "generate_series": "FOR i IN SELECT g FROM generate_series(1, 2000000000) g LOOP s := s || i; END LOOP;"
    " items := array(SELECT lpad('x', 1000000) || g FROM generate_series(1, 9999) g);",
    "cross join": "SELECT count(*) INTO i FROM generate_series(1, 9999) a, generate_series(1, 9999) b;",
    "loops of joins": "FOR i IN 1..9999 LOOP"
    " SELECT count(*) INTO n FROM generate_series(1, 999) a, generate_series(1, 99) b WHERE a = b; END LOOP;",
    "catalogs joined": "i := (SELECT count(*) FROM pg_class a, pg_class b, pg_class c, pg_attribute d);",
    "string_agg": "SELECT string_agg(lpad('x', 100000), lpad('y', 100000)) INTO s FROM generate_series(1, 9999);",
    "arrays joined": "items := ARRAY['x']; FOR i IN 1..60 LOOP items := items || items; END LOOP;",
    "array of long texts": "FOR i IN 1..9999 LOOP items := array_append(items, i || lpad('x', 100000)); END LOOP;",
    "array_append": "FOR i IN 1..9999 LOOP FOR k IN 1..9999 LOOP items := array_append(items, 'x');"
    " END LOOP; END LOOP;",
    "arrays of arrays": "FOR i IN 1..60 LOOP items := ARRAY[items, items]; END LOOP; s := items::text;",
    "rows of rows": "FOR r IN SELECT ROW(1, 1) AS x LOOP FOR i IN 1..60 LOOP r.x := ROW(r.x, r.x); END LOOP; END LOOP;",
    "array nested": "items := " + "ARRAY[" * 2000 + "'x'" + "]" * 2000 + ";",
    "array_to_string": "items := string_to_array(lpad('', 1000000, ','), ',');"
    " s := array_to_string(items, lpad('', 1000000, 'x')); s := concat_ws(lpad('', 1000000, 'x'), items, s, s);",
    "arrays of texts of arrays": "FOR i IN 1..30 LOOP items := ARRAY[items::text, items::text]; END LOOP;",
    "regex": f"IF '{A}b' ~ '^(a+)+$' OR '{A}b' SIMILAR TO '((a|aa)+)+' THEN s := 'y'; END IF;",
    "regex polynomial": "s := lpad('', 100000, 'a'); IF s ~ 'a*a*a*a*a*b' THEN s := 'y'; END IF;",
    "regexes": "FOR i IN 1..9999 LOOP IF lpad('', 2000, 'a') ~ '(a|b)*(a|b)*c' THEN s := 'y'; END IF; END LOOP;",
    "LIKE": "s := lpad('', 100000, 'a'); IF s LIKE '%a%a%a%a%a%a%a%b' THEN s := 'y'; END IF;",
    "RAISE": "FOR i IN 1..9999 LOOP RAISE NOTICE '%', lpad('x', 1000000); END LOOP;",
    "savepoints": "FOR i IN 1..9999 LOOP BEGIN EXECUTE 'CREATE TABLE z' || i || ' (id int)';"
    " EXCEPTION WHEN OTHERS THEN NULL; END; END LOOP;",
    "tables": "FOR i IN 1..9999 LOOP FOR k IN 1..9999 LOOP EXECUTE format('CREATE TABLE z_%s_%s (id int)', i, k);"
    " END LOOP; END LOOP;",
    "expression deep": "i := " + "(" * 3000 + "1" + ")" * 3000 + "; i := 1" + "+1" * 10_000 + ";",
    "PERFORM of 100,000": "PERFORM 1;\n" * 100_000,
    "blocks deep": "BEGIN " * 500 + "NULL;" + " END;" * 500,
    "IF deep": "IF true THEN " * 500 + "NULL;" + " END IF;" * 500,
    "CASE deep": "s := " + "CASE WHEN true THEN " * 1000 + "'x'" + " ELSE 'y' END" * 1000 + ";",
    "loops of unknown length": "WHILE random() > 0.5 LOOP " * 12 + "s := s || s;" + "END LOOP;" * 12,
    "conditions unknown": many("IF random() > 0.5 THEN s := s || '{0}'; END IF;", 3000),
    "recursive query": "WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r)"
    " SELECT count(*) INTO i FROM r;",
}
FUNCTION = "CREATE FUNCTION f({0}) RETURNS int LANGUAGE {1} AS $$ {2} $$;\n"
DOUBLING = "a0 = 'CREATE TABLE made (id int); '\n"
OTHERS: Mapping[str, str] = {
    "function that calls itself": TABLE
    + FUNCTION.format(
        "n int",
        "plpgsql",
        "BEGIN PERFORM f(n + 1); PERFORM f(n + 1); EXECUTE 'ALTER PUBLICATION q ADD TABLE t'; RETURN 1; END",
    )
    + "CREATE PUBLICATION q; SELECT f(1);",
    "function that executes itself": TABLE
    + FUNCTION.format(
        "s text",
        "plpgsql",
        "BEGIN EXECUTE 'SELECT f(' || quote_literal(s || s) || ')';"
        " EXECUTE 'CREATE PUBLICATION p FOR TABLE t'; RETURN 1; END",
    )
    + "SELECT f('x');",
    "Fibonacci": FUNCTION.format(
        "n int", "plpgsql", "BEGIN IF n < 2 THEN RETURN n; END IF; RETURN f(n - 1) + f(n - 2); END"
    )
    + block("i := f(30);"),
    "SQL function that calls itself": FUNCTION.format("n int", "sql", "SELECT f(n + 1) + f(n + 1)")
    + block("i := f(1);"),
    "\\set that doubles": "\\set a xxxxxxxxxxxxxxxx\n"
    + "\\set a :a:a\n" * 40
    + TABLE
    + "SELECT :'a';\nCREATE PUBLICATION p FOR TABLE t WHERE (c = :'a');",
    "\\set of many": f"\\set a {'x' * 100_000}\n\\set b {':a' * 5000}\n\\set c {':b' * 5000}\n"
    + TABLE
    + "CREATE PUBLICATION p FOR TABLE t WHERE (c = :'c');",
    "long variable in many statements": f"\\set a {'x' * 500_000}\n{TABLE}" + "SELECT :'a';\n" * 5000,
    "long variable in one statement": f"\\set a {'x' * 500_000}\n{TABLE}SELECT " + ",".join([":'a'"] * 5000) + ";",
    "statements in a variable": "\\set a 'SELECT 1;'\n" + "\\set a :a:a\n" * 40 + TABLE + ":a\n",
    "quotes in a variable": "\\set q ''''\n" + "\\set q :'q'\n" * 40 + TABLE + "SELECT :'q';",
    "defaults and checks": "CREATE TABLE t (id int PRIMARY KEY, c text DEFAULT repeat('x', 2000000000),"
    " d text GENERATED ALWAYS AS (repeat(repeat('x', 10000), 100000)) STORED,"
    f" CHECK (c <> lpad('x', 1000000000) AND '{A}' ~ '(a+)+b'), n numeric DEFAULT 10 ^ 100000);",
    "partition bounds": "CREATE TABLE t (id int, c text, PRIMARY KEY (id, c)) PARTITION BY LIST (c);"
    " CREATE TABLE t1 PARTITION OF t FOR VALUES IN (repeat('x', 2000000000));"
    " CREATE TABLE t2 PARTITION OF t FOR VALUES IN (repeat(repeat('x', 1000000), 1000));",
    "index": f"{TABLE}CREATE UNIQUE INDEX u ON t ((repeat('x', 2000000000))) WHERE '{A}c' ~ '(a+)+b';"
    "ALTER TABLE t REPLICA IDENTITY USING INDEX u;",
    "default in parentheses": f"CREATE TABLE t (id int DEFAULT {'(' * 50_000}1{')' * 50_000});",
    "queries in queries": f"{TABLE}CREATE VIEW v AS SELECT {'(SELECT ' * 3000}1{')' * 3000};",
    "UNION of 20,000": f"{TABLE}CREATE VIEW v AS {' UNION ALL '.join(['SELECT 1'] * 20_000)};",
    "JOIN of 2,000": f"{TABLE}CREATE TABLE v AS SELECT 1 FROM t {many('JOIN t t{0} ON true', 2000, ' ')};",
    "WITH that doubles": f"{TABLE}CREATE TABLE v AS WITH w0 AS (SELECT 1 AS a),"
    f" {many('w{1} AS (SELECT a.*, b.* FROM w{0} a, w{0} b)', 40, ',')} SELECT * FROM w40;",
    "views that double": f"{TABLE}CREATE VIEW v0 AS SELECT 1 AS a;"
    + many("CREATE VIEW v{1} AS SELECT a.*, b.* FROM v{0} a, v{0} b;", 40),
    "tables that double": f"{TABLE}CREATE TABLE v0 AS SELECT 1 AS a;"
    + many("CREATE TABLE v{1} AS SELECT a.*, b.* FROM v{0} a, v{0} b;", 40),
    "parents": "CREATE TABLE v0 (a int);" + many("CREATE TABLE v{1} () INHERITS (v{0});", 500),
    "parents twice": "CREATE TABLE v0a (a int); CREATE TABLE v0b (a int);"
    + many("CREATE TABLE v{1}a () INHERITS (v{0}a, v{0}b); CREATE TABLE v{1}b () INHERITS (v{0}a, v{0}b);", 30)
    + "CREATE PUBLICATION q FOR TABLE v0a WHERE (a > 1);",
    "domains": f"CREATE DOMAIN d0 AS int; {many('CREATE DOMAIN d{1} AS d{0};', 2000)}"
    "CREATE TABLE t (id d2000 PRIMARY KEY); CREATE PUBLICATION q FOR TABLE t WHERE (id > 5);",
    "row types": f"CREATE TYPE d0 AS (a int); {many('CREATE TYPE d{1} AS (a d{0}, b d{0});', 60)}"
    "CREATE TABLE t (id d60); CREATE PUBLICATION q FOR TABLE t WHERE (id IS NOT NULL);",
    "1,600 columns": f"CREATE TABLE t ({many('c{0} int', 1600, ',')}, PRIMARY KEY (c0));"
    f"CREATE PUBLICATION q FOR TABLE t ({many('c{0}', 1600, ',')}) WHERE (c5 > 5);",
    "names of 1 MB": f'CREATE TABLE "{"t" * 1_000_000}" (id int);'
    f'CREATE PUBLICATION "{"q" * 1_000_000}" FOR TABLE "{"t" * 1_000_000}";',
    "50,000 objects": f"CREATE TABLE t (id int); CREATE PUBLICATION q FOR TABLE {','.join(['t'] * 50_000)};",
    "comments": f"{TABLE}{'/*' * 100_000}{'*/' * 100_000}",
    "50,000 options": f"{TABLE}CREATE PUBLICATION q FOR TABLE t WITH ({many('o{0}=1', 50_000, ',')});",
    "list of 100,000": f"{TABLE}CREATE PUBLICATION q FOR TABLE t WITH (publish = '{'insert,' * 100_000}');",
    "m.py: text that doubles": DOUBLING
    + many("a{1} = a{0} + a{0}\n", 40)
    + "cur.execute(a40)\ncur.execute(\"CREATE PUBLICATION q FOR TABLE made\")\n",
    "m.py: f-strings that double": DOUBLING
    + many("a{1} = f'{{a{0}}}{{a{0}}}'\n", 40)
    + "cur.execute(f'{a40}')\ncur.execute(\"CREATE PUBLICATION q FOR TABLE made\")\n",
    "m.py: product": "cur.execute('CREATE TABLE made (id int); ' * 2000000000)\n"
    "cur.execute(\"CREATE PUBLICATION q FOR TABLE made\")\n",
    "m.sh: text that doubles": "#!/bin/bash\na='SELECT 1;'\n" + 'a="$a$a"\n' * 40 + 'psql -c "$a"\npsql <<EOF\n$a\n'
    "CREATE PUBLICATION q FOR TABLE t;\nEOF\n",
    "m.js: texts that double": "const a0 = 'CREATE TABLE made (id int); ';\n"
    + many("const a{1} = a{0} + a{0};\n", 40)
    + many("const b{1} = `${{a{0}}}${{a{0}}}`;\n", 40)
    + "client.query(a40); client.query(`${b40}`);\nclient.query('CREATE PUBLICATION q FOR TABLE made');\n",
}  # fmt: skip


class Bomb(Struct, frozen=True):
    """A file, and whether the witness stands behind it."""

    file: str
    text: str
    witnessed: bool = True


BOMBS: Mapping[str, Bomb] = {
    **{f"filter: {name}": Bomb("bomb.sql", condition(text) + WITNESS) for name, text in FILTERS.items()},
    **{f"block: {name}": Bomb("bomb.sql", block(text) + WITNESS) for name, text in BLOCKS.items()},
    **{
        name: Bomb(name.split(":")[0], text, witnessed=False)
        if name.startswith("m.")
        else Bomb("bomb.sql", text + WITNESS)
        for name, text in OTHERS.items()
    },
}


class Spent(Struct, frozen=True):
    """What came of a run: its exit status, the document and standard error, CPU seconds, and bytes of memory."""

    status: int
    out: str
    error: str
    seconds: float
    memory: int

    def rules(self) -> list[str]:
        document = json.loads(self.out)
        findings = document.get("diagnostics", [])
        for unit in document.get("units", ()):
            refused = [
                operation
                for row in unit["publications"]
                for answer in row["answers"]
                for operation in answer["refused"]
            ]
            findings = [*findings, *unit["findings"], *refused]
        return sorted({finding["rule"] for finding in findings})


def run(pubcheck: LoadedPubcheck, command: Sequence[str], folder: str) -> Spent:
    """`pubcheck` in a process with limits."""
    paths = [os.path.join(folder, name) for name in ("out", "error")]
    ended = pubcheck.run(command, *paths)
    texts = []
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as file:
            texts.append(file.read())
    out, error = texts
    return Spent(ended.status, out, error, ended.seconds, ended.memory)


def main(wanted: Sequence[str]) -> None:
    """A line for each bomb: CPU seconds and peak memory of `lint` and `explain`."""
    for name, bomb in BOMBS.items():
        if wanted and not any(word in name for word in wanted):
            continue
        with tempfile.TemporaryDirectory() as folder, loaded(WITNESS) as pubcheck:
            path = os.path.join(folder, bomb.file)
            with open(path, "w", encoding="utf-8") as file:
                file.write(bomb.text)
            line = f"{name:36}{len(bomb.text):>10,} B"
            for command in ("lint", "explain"):
                spent = run(pubcheck, [command, "--format", "json", path], folder)
                line += f"  {command} {spent.status:>3} {spent.seconds:6.2f} s {spent.memory >> 20:>5} MB"
                line += "" if spent.status in (0, 1) else f" {spent.error[:150].strip()}"
        print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
