"""Values under the settings of the session that reads: the texts are those of recorded streams (type/setting_*)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.input import InputContext, read
from pubcheck.postgres.output import OutputContext, binary_send, text_output, to_client
from tests.postgres.input.fakes import Cache

TIMESTAMPTZ, INTERVAL, FLOAT8, BYTEA = 1184, 1186, 701, 17


def written(oid: int, text: str, **settings: str) -> str:
    cache = Cache(18)
    return text_output(OutputContext(18, cache, settings.get), oid, read(InputContext(18, cache), oid, text))


@pytest.mark.parametrize(
    ("zone", "text"),
    [("America/New_York", "2024-07-01 08:00:00-04"), ("Asia/Kolkata", "2024-07-01 17:30:00+05:30")],
)
def test_moments_are_written_in_the_time_zone(zone: str, text: str) -> None:
    assert written(TIMESTAMPTZ, "2024-07-01 12:00+00") == "2024-07-01 12:00:00+00"
    assert written(TIMESTAMPTZ, "2024-07-01 12:00+00", timezone=zone) == text


@pytest.mark.parametrize(
    ("style", "text"),
    [
        ("postgres", "1 year -2 days +03:04:05.6"),
        ("iso_8601", "P1Y-2DT3H4M5.6S"),
        ("sql_standard", "+1-0 -2 +3:04:05.6"),
        ("postgres_verbose", "@ 1 year -2 days 3 hours 4 mins 5.6 secs"),
    ],
)
def test_intervals_are_written_in_the_interval_style(style: str, text: str) -> None:
    assert written(INTERVAL, "1 year -2 days 03:04:05.6", intervalstyle=style) == text


@pytest.mark.parametrize(
    ("digits", "text"),
    [("-5", "0.3"), ("0", "0.3"), ("1", "0.30000000000000004"), ("3", "0.30000000000000004")],
)
def test_floats_have_the_digits_that_were_asked_for(digits: str, text: str) -> None:
    assert written(FLOAT8, "0.30000000000000004", extra_float_digits=digits) == text


def test_texts_are_in_the_clients_encoding() -> None:
    context = OutputContext(18, Cache(18), {"client_encoding": "LATIN1"}.get)
    assert to_client(context, "grüße") == binary_send(context, 25, "grüße") == b"gr\xfc\xdfe"


def test_a_label_that_was_renamed_is_not_guessed() -> None:
    context = OutputContext(18, Cache(18))
    assert text_output(context, 16400, "happy") == "happy"
    with pytest.raises(Unknowable):
        text_output(context, 16400, "cheerful")


def test_linting_a_usual_filter_does_not_load_the_output_functions(tmp_path: Path) -> None:
    schema = tmp_path / "schema.sql"
    schema.write_text(
        "CREATE TABLE t (id int PRIMARY KEY, n numeric, c text, a int[] DEFAULT '{1,2}');\n"
        "CREATE PUBLICATION p FOR TABLE t WHERE (id > 5 AND c = 'eu');\n"
    )
    command = [sys.executable, "-X", "importtime", "-m", "pubcheck", "lint", str(schema)]
    loaded = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    assert "pubcheck.postgres.session" in loaded
    assert "pubcheck.postgres.output" not in loaded


@pytest.mark.parametrize("name", ["latin1", "ISO-8859-1", "iso_8859_1"])
def test_an_encoding_may_lack_a_character(name: str) -> None:
    context = OutputContext(18, Cache(18), {"client_encoding": name}.get)
    message = 'character with byte sequence 0xc4 0x80 in encoding "UTF8" has no equivalent in encoding "LATIN1"'
    with pytest.raises(ServerError, match=message):
        to_client(context, "aĀ")


def test_an_encoding_that_is_not_followed_is_not_guessed() -> None:
    context = OutputContext(18, Cache(18), {"client_encoding": "SJIS"}.get)
    assert to_client(context, "a") == b"a"
    with pytest.raises(Unknowable):
        to_client(context, "日")


@pytest.mark.parametrize(
    ("text", "in_utf8", "in_latin1"),
    [
        ("<a>x</a>", "<a>x</a>", '<?xml version="1.0" encoding="LATIN1"?><a>x</a>'),
        ('<?xml version="1.0"?>\n<a/>', "<a/>", '<?xml version="1.0" encoding="LATIN1"?>\n<a/>'),
        (
            '<?xml version="1.0" encoding="utf-8" standalone="no"?><a/>',
            '<?xml version="1.0" standalone="no"?><a/>',
            '<?xml version="1.0" encoding="LATIN1" standalone="no"?><a/>',
        ),
    ],
)
def test_the_binary_form_of_xml_states_the_clients_encoding(text: str, in_utf8: str, in_latin1: str) -> None:
    """As xml_send() of PostgreSQL 15 and 18 answers."""
    value = read(InputContext(18, Cache(18)), 142, text)
    assert binary_send(OutputContext(18, Cache(18)), 142, value) == in_utf8.encode()
    latin1 = OutputContext(18, Cache(18), {"client_encoding": "latin1"}.get)
    assert binary_send(latin1, 142, value) == in_latin1.encode()
    assert text_output(latin1, 142, value) == in_utf8
