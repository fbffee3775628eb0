"""`pubcheck consumers`, `--consumer`, and the option `consumer` of the configuration."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import jsonschema
import pytest

from pubcheck.consumers import FOLDER, NAMES
from pubcheck.consumers.profiles import schema_text
from tests.cli.conftest import Call
from tools.consumers.compile import index_source, read_all

SQL = (
    "CREATE TABLE orders (id bigint PRIMARY KEY);\nCREATE PUBLICATION app FOR TABLE orders WITH (publish = 'insert');\n"
)


def test_the_files_follow_their_schema() -> None:
    schema = json.loads((Path(FOLDER) / "schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for key in NAMES:
        validator.validate(tomllib.loads((Path(FOLDER) / f"{key}.toml").read_text(encoding="utf-8")))


def test_the_index_and_the_schema_are_compiled() -> None:
    folder = Path(FOLDER)
    assert (folder / "schema.json").read_text(encoding="utf-8") == schema_text(), "python -m tools.consumers.compile"
    compiled: dict[str, object] = {}
    exec(index_source(read_all()), compiled)  # the file itself is formatted
    present: dict[str, object] = {}
    exec((folder / "_index.py").read_text(encoding="utf-8"), present)
    for name in ("NAMES", "FIXED", "PREFIXES"):
        assert compiled[name] == present[name], "python -m tools.consumers.compile"


def test_a_claim_has_a_source_and_names_modes_that_there_are() -> None:
    for key, consumer in read_all().items():
        modes = {mode.id for mode in consumer.modes}
        for claim in consumer.claims:
            assert claim.id.startswith(f"{key}-")
            assert claim.sources[0].address.startswith("https://")
            assert set(claim.modes) <= modes, claim.id
            assert claim.says.endswith("."), claim.id
            assert not claim.breaks.endswith("."), claim.id


FILE = """name = "Example"
product = "Example"
category = "sync engine"
reads = "a publication"
plugin = "pgoutput"
modes = [{ id = "warehouse", says = "destination warehouse" }]

[[claims]]
id = "example-01"
says = "It must exist."
evidence = "enforced"
modes = ["warehouse"]
demands = [{ kind = "exists" }]
sources = [{ url = "https://example.com" }]
"""


@pytest.mark.parametrize(
    ("part", "changed", "problem"),
    [
        ('"enforced"', '"proven"', "11: claims[0].evidence: Invalid enum value 'proven'; there are enforced, observed"),
        ('"exists"', '"exist"', "13: claims[0].demands[0].kind: Invalid value 'exist'; there are publication-name"),
        ('"It must exist."', "4", "10: claims[0].says: Expected `str`, got `int`"),
        ("\nsays =", "\nsaid =", "10: claims[0].said: Object contains unknown field `said`"),
        ('modes = ["warehouse"]', 'modes = ["warehous"]', "12: claims[0].modes: example-01: there is no mode warehous"),
        ('"example-01"', '"zero-01"', "9: claims[0].id: zero-01 does not begin with example-, the name of the file"),
        ("[[claims]]", "[claims]", "8: claims: Expected `array`"),
        ("name =", "name", "1: Expected '=' after a key"),
    ],
)
def test_a_file_that_is_not_valid_is_named(tmp_path: Path, part: str, changed: str, problem: str) -> None:
    (tmp_path / "example.toml").write_text(FILE, encoding="utf-8")
    assert list(read_all(str(tmp_path))) == ["example"]
    (tmp_path / "example.toml").write_text(FILE.replace(part, changed), encoding="utf-8")
    path = str(tmp_path / "example.toml")
    with pytest.raises(ValueError, match=f"^{re.escape(f'{path}:{problem}')}"):
        read_all(str(tmp_path))


def test_a_consumer_of_the_user_is_a_file_that_the_configuration_names(pubcheck: Call, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    demand = '{ kind = "operations", published = ["delete"] }'
    (tmp_path / "example.toml").write_text(FILE.replace('{ kind = "exists" }', demand).replace("exist", "delete"))
    (tmp_path / "pubcheck.toml").write_text('[consumer]\napp = "example.toml:warehouse"\n')
    (tmp_path / "sub" / "schema.sql").write_text(SQL)
    out = pubcheck("lint", "sub/schema.sql").out
    assert 'error[PUB903]: publication "app" does not publish delete; Example' in out
    assert "claim: example-01 (enforced)" in out
    assert "example-01" not in pubcheck("lint", "--consumer", "example.toml", "sub/schema.sql").out  # not in this mode
    called = pubcheck("scaffold", "--consumer", "example.toml:warehouse", "--publication", "other", "sub/schema.sql")
    assert called.out == "CREATE PUBLICATION other FOR TABLE\n    public.orders;\n"
    assert "example-01  It must delete." in pubcheck("consumers", "example.toml").out
    document = json.loads(pubcheck("explain", "--format", "json", "sub/schema.sql").out)
    (reader,) = document["units"][0]["publications"][0]["consumers"]
    assert (reader["consumer"], [unmet["claim"] for unmet in reader["unmet"]]) == ("example", ["example-01"])
    for arguments in (("lint", "--consumer", "missing.toml", "sub/schema.sql"), ("consumers", "missing.toml")):
        called = pubcheck(*arguments)
        assert called.status == 2
        assert "missing.toml: cannot be read: No such file" in called.err


def test_the_list_has_a_line_for_every_consumer(pubcheck: Call) -> None:
    called = pubcheck("consumers")
    assert [line.split()[0] for line in called.out.splitlines()] == list(NAMES)


def test_a_page_says_what_a_consumer_demands_and_how_this_is_known(pubcheck: Call) -> None:
    out = pubcheck("consumers", "powersync").out
    assert "powersync-02  insert, update, delete and truncate must all be published." in out
    assert "      enforced\n" in out
    assert "https://github.com/powersync-ja/powersync-service/blob/" in out
    assert "X03" in out
    assert "supabase-etl:bigquery" in pubcheck("consumers", "supabase-etl").out
    assert json.loads(pubcheck("consumers", "--format", "json", "zero").out)["zero"]["name"] == "Zero"
    called = pubcheck("consumers", "powersink")
    assert (called.status, "did you mean powersync?" in called.err) == (2, True)


@pytest.mark.parametrize(
    ("option", "configuration", "comment"),
    [
        ("powersync", "", ""),
        ("app=powersync", "", ""),
        ("", 'consumer = "powersync"', ""),
        ("", '[consumer]\n"a*" = ["powersync"]', ""),
        ("", '[[consumer]]\nname = "powersync"\npublications = ["app"]', ""),
        ("", "", "-- pubcheck: consumer[powersync]\n"),
    ],
)
def test_a_consumer_can_be_named_everywhere(
    pubcheck: Call, tmp_path: Path, option: str, configuration: str, comment: str
) -> None:
    (tmp_path / "schema.sql").write_text(SQL.replace("CREATE PUB", f"{comment}CREATE PUB"))
    (tmp_path / "pubcheck.toml").write_text(configuration)
    called = pubcheck("lint", *(("--consumer", option) if option else ()), "--format", "json", "schema.sql")
    claims = {entry["consumer"]["claim"] for entry in json.loads(called.out)["diagnostics"] if "consumer" in entry}
    assert {"powersync-01", "powersync-02"} <= claims
    assert called.status == 1


def test_a_name_that_only_one_consumer_uses_is_assumed(pubcheck: Call, tmp_path: Path) -> None:
    (tmp_path / "schema.sql").write_text(SQL.replace("app", "powersync"))
    called = pubcheck("lint", "--format", "json", "schema.sql")
    (entry,) = (entry for entry in json.loads(called.out)["diagnostics"] if entry["rule"] == "PUB903")
    assert entry["certainty"] == "assumed"
    assert entry["assumptions"] == ['whether PowerSync reads publication "powersync", as its name suggests']
    assert entry["consumer"]["message"].startswith("Publication 'powersync' does not publish all changes.")
    assert called.status == 0


def test_a_publication_that_is_configured_and_missing_is_reported(pubcheck: Call, tmp_path: Path) -> None:
    (tmp_path / "schema.sql").write_text(SQL)
    called = pubcheck("lint", "--consumer", "stream=sequin", "--complete", "schema.sql")
    assert 'error[PUB901]: there is no publication "stream"; Sequin: ' in called.out
    assert "PUB901" not in pubcheck("lint", "--consumer", "app=sequin", "--complete", "schema.sql").out


def test_a_publication_that_another_unit_has_is_not_missing(pubcheck: Call, tmp_path: Path) -> None:
    (tmp_path / "pubcheck.toml").write_text('[consumer]\napp = "sequin"\n"stream*" = "peerdb"\nlost = "zero"\n')
    for folder, sql in (("one", SQL), ("two", SQL.replace("app", "stream_2"))):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "schema.sql").write_text(sql)
    findings = json.loads(pubcheck("lint", "--format", "json", ".").out)["diagnostics"]
    missing = [(entry["path"], entry["publication"]) for entry in findings if entry["rule"] == "PUB901"]
    assert missing == [("one/schema.sql", "lost"), ("two/schema.sql", "lost")]


@pytest.mark.parametrize(
    ("publication", "message"),
    [
        ("stream", 'there is no publication "stream", which PowerSync is configured to read'),
        ("st*", 'no publication matches "st*", which PowerSync is configured to read'),
    ],
)
def test_a_missing_publication_is_reported_without_a_claim_too(
    pubcheck: Call, tmp_path: Path, publication: str, message: str
) -> None:
    (tmp_path / "schema.sql").write_text(SQL)
    out = pubcheck("lint", "--consumer", f"{publication}=powersync", "--complete", "schema.sql").out
    assert f"warning[PUB901]: {message}" in out
    assert '("app" exists)' in out
    assert "PUB901" not in pubcheck("lint", "--consumer", "a*=powersync", "--complete", "schema.sql").out


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("powersink", "--consumer: there is no consumer 'powersink'; did you mean powersync?"),
        ("flink", "there is no consumer 'flink'; did you mean alibaba-flink or flink-cdc?"),
        ("xyzzy", "there is no consumer 'xyzzy'; `pubcheck consumers` lists all"),
        (
            "supabase-etl:bigquerry",
            "has no mode 'bigquerry'; its modes are bigquery, clickhouse",
        ),
        ("=sequin", "--consumer: '=sequin' names no publication: write sequin, or PUBLICATION=NAME"),
        ("app=", "--consumer: 'app=' names no consumer: write PUBLICATION=NAME"),
    ],
)
def test_an_unknown_name_exits_2_with_the_nearest(pubcheck: Call, tmp_path: Path, option: str, message: str) -> None:
    (tmp_path / "schema.sql").write_text(SQL)
    called = pubcheck("lint", "--consumer", option, "schema.sql")
    assert called.status == 2
    assert message in called.err


def test_a_comment_with_an_unknown_name_is_reported(pubcheck: Call, tmp_path: Path) -> None:
    (tmp_path / "schema.sql").write_text("-- pubcheck: consumer[powersink]\n" + SQL)
    out = pubcheck("lint", "schema.sql").out
    assert "PUB012" in out
    assert "there is no consumer 'powersink'; did you mean powersync?" in out


def test_a_comment_on_a_statement_that_is_about_no_publication_is_reported(pubcheck: Call, tmp_path: Path) -> None:
    (tmp_path / "schema.sql").write_text("-- pubcheck: consumer[powersync]\n" + SQL)
    out = pubcheck("lint", "schema.sql").out
    assert "warning[PUB012]: this comment names a consumer of a publication, and its statement is about none" in out
    (tmp_path / "schema.sql").write_text(SQL.replace("CREATE PUB", "-- pubcheck: consumer[powersync]\nCREATE PUB"))
    assert "PUB012" not in pubcheck("lint", "schema.sql").out


def test_explain_shows_what_a_consumer_does(pubcheck: Call, tmp_path: Path) -> None:
    (tmp_path / "schema.sql").write_text(SQL)
    out = pubcheck("explain", "--consumer", "debezium", "schema.sql").out
    assert "PUB919" in out
    assert "PUB919" not in pubcheck("explain", "schema.sql").out
    assert "read by         Debezium (all-tables): 9 of 9 demands met" in out
    pubcheck("explain", "--consumer", "debezium", "--format", "html", "-o", "page.html", "schema.sql")
    assert "Read by Debezium (all-tables):" in (tmp_path / "page.html").read_text()
    document = json.loads(pubcheck("explain", "--consumer", "debezium", "--format", "json", "schema.sql").out)
    (publication,) = document["units"][0]["publications"]
    assert publication["consumers"][0]["unmet"] == []


def test_a_finding_about_a_consumer_changes_no_answer_of_the_server(pubcheck: Call, tmp_path: Path) -> None:
    (tmp_path / "schema.sql").write_text("CREATE TABLE log (line text);\nCREATE PUBLICATION app FOR TABLE log;\n")
    plain = json.loads(pubcheck("lint", "--format", "json", "schema.sql").out)["diagnostics"]
    read = json.loads(pubcheck("lint", "--consumer", "powersync", "--format", "json", "schema.sql").out)["diagnostics"]
    assert [entry for entry in read if "consumer" not in entry] == plain
    assert all(entry["server"] is None for entry in read if "consumer" in entry)


def test_the_files_decode_strictly(tmp_path: Path) -> None:
    from pubcheck.consumers.profiles import ProfileError, read

    path = tmp_path / "mine.toml"
    path.write_text(
        'name = "Mine"\nproduct = "Mine"\ncategory = "x"\nreads = "x"\nplugin = "x"\nclaims = []\nextra = 1\n'
    )
    with pytest.raises(ProfileError, match=r"mine.toml:7: extra: "):
        read(str(path))
