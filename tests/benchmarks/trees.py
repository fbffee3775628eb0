"""Trees of files: a repository of migrations, a folder of very many files, and a mixture as of many repositories. Each
is the same whenever it is made."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random


@contextmanager
def tree_of(grow: Callable[[Path, int], None], size: int) -> Iterator[Path]:
    """A folder in which ``grow`` has made so many files."""
    with tempfile.TemporaryDirectory() as folder:
        grow(Path(folder), size)
        yield Path(folder)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def supabase(folder: Path, migrations: int) -> None:
    """A repository with so many migrations of Supabase, watched over by git, and what else lies in such a one."""
    (folder / ".git").mkdir()
    _write(folder / ".gitignore", "node_modules/\n.env*\n*.log\n/dist\n.next/\n!.env.example\n")
    _write(folder / "supabase" / "seed.sql", "INSERT INTO public.items_0 (name) VALUES ('first');\n")
    for number in range(migrations):
        table = f"public.items_{number}"
        lines = [
            f"create table if not exists {table} (",
            "  id uuid primary key default gen_random_uuid(),",
            "  user_id uuid references auth.users (id) on delete cascade,",
            "  name text not null, created_at timestamptz not null default now(), data jsonb",
            ");",
            f"alter table {table} enable row level security;",
            f'create policy "own rows" on {table} for select using (auth.uid() = user_id);',
            f"create index items_{number}_user on {table} (user_id);",
            f"create or replace function public.touch_{number}() returns trigger language plpgsql as $$",
            "begin",
            "  new.created_at = now();",
            "  return new;",
            "end $$;",
            f"create trigger touch before update on {table} for each row execute function public.touch_{number}();",
        ]
        if number % 5 == 0:
            lines.append(f"alter publication supabase_realtime add table {table};")
        if number > 3:
            lines.append(f"alter table public.items_{number // 2} add column if not exists more_{number} text;")
        _write(folder / "supabase" / "migrations" / f"2024{number:010d}_items.sql", "\n".join(lines) + "\n")


def flat(folder: Path, files: int) -> None:
    """One folder of so many files that make a table each, and one more that publishes two of them."""
    for number in range(files - 1):
        (folder / f"t{number}.sql").write_text(f"CREATE TABLE t{number} (id int PRIMARY KEY);\n", encoding="utf-8")
    (folder / "publication.sql").write_text("CREATE PUBLICATION p FOR TABLE t1, t2;\n", encoding="utf-8")


def mixed(folder: Path, files: int) -> None:
    """Repositories of many kinds, with so many files together: migrations of tools, dumps, data, MySQL, queries,
    templates, programs; one repository in twenty publishes."""
    random = Random(20)
    made = number = 0
    while made < files:
        repository = folder / f"repository{number:05}"
        publishes = number % 20 == 0
        grown = _REPOSITORIES[number % len(_REPOSITORIES)](random, publishes)
        for name, text in grown[: files - made]:
            _write(repository / name, text)
        made += len(grown)
        number += 1


_Files = list[tuple[str, str]]


def _table(random: Random, name: str) -> str:
    columns = "".join(
        f",\n    {kind}_{index} {type}"
        for index, (kind, type) in enumerate(
            random.choices(
                [
                    ("name", "text NOT NULL DEFAULT ''"),
                    ("amount", "numeric(12, 2) CHECK (true)"),
                    ("made", "timestamptz NOT NULL DEFAULT now()"),
                    ("more", "jsonb"),
                    ("flag", "boolean NOT NULL DEFAULT false"),
                ],
                k=random.randrange(3, 15),
            )
        )
    )
    key = "id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
    return (
        f"-- The table {name}.\nCREATE TABLE {name} (\n    {key}{columns}\n);\n"
        f"CREATE INDEX {name}_id ON {name} (id);\nCOMMENT ON TABLE {name} IS 'What is kept of {name}.';\n"
    )


def _data(random: Random, name: str) -> str:
    rows = ",\n".join(f"    ({number}, 'value {random.random()}')" for number in range(random.randrange(5, 200)))
    return f"INSERT INTO {name} (id, name_0) VALUES\n{rows};\n"


def _migrations(random: Random, publishes: bool) -> _Files:
    names = [f"t{number}" for number in range(random.randrange(5, 40))]
    files = [(f"db/migrations/{index:04}_{name}.sql", _table(random, name)) for index, name in enumerate(names)]
    if publishes:
        files.append(("db/migrations/9999_publish.sql", f"CREATE PUBLICATION p FOR TABLE {', '.join(names[:5])};\n"))
    return files


def _flyway(random: Random, publishes: bool) -> _Files:
    return [
        (
            name.replace("db/migrations/", "src/main/resources/db/migration/V")
            .replace("_t", "__t")
            .replace("_p", "__p"),
            text,
        )
        for name, text in _migrations(random, publishes)
    ]


def _goose(random: Random, publishes: bool) -> _Files:
    return [
        (name, f"-- +goose Up\n{text}\n-- +goose Down\nDROP TABLE t{index};\n")
        for index, (name, text) in enumerate(_migrations(random, publishes))
    ]


def _scripts(random: Random, publishes: bool) -> _Files:
    files = [("sql/schema.sql", "".join(_table(random, f"t{number}") for number in range(12)))]
    files += [(f"sql/data/{number}.sql", _data(random, f"t{number}")) for number in range(12)]
    files += [
        (f"queries/q{number}.sql", f"-- name: Get{number} :one\nSELECT * FROM t{number} WHERE id = $1;\n")
        for number in range(12)
    ]
    if publishes:
        files.append(("ops/publication.sql", "CREATE PUBLICATION p FOR TABLE t1, t2 WHERE (id > 5);\n"))
    return files


def _mysql(random: Random, publishes: bool) -> _Files:
    table = "CREATE TABLE `t{}` (\n  `id` int(11) NOT NULL AUTO_INCREMENT,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB;\n"
    return [(f"mysql/{number}.sql", table.format(number) * 5) for number in range(random.randrange(2, 9))]


def _program(random: Random, publishes: bool) -> _Files:
    line = "export async function f{0}(sql) {{ return await sql`SELECT * FROM t{0} WHERE id = ${{id}}`; }}\n"
    files = [
        (f"src/f{number}.ts", "".join(line.format(n) for n in range(random.randrange(5, 60)))) for number in range(20)
    ]
    if publishes:
        files.append(("src/publish.ts", "await sql`CREATE PUBLICATION p FOR TABLE t1`;\n"))
    return files


_REPOSITORIES: tuple[Callable[[Random, bool], _Files], ...] = (
    _migrations,
    _scripts,
    _goose,
    _program,
    _migrations,
    _flyway,
    _scripts,
    _mysql,
    _goose,
)
