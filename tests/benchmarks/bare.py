"""The least that reading a schema can cost: python -m tests.benchmarks.bare FILE|FOLDER.

Of a folder all .sql files are read and parsed, those that the parser refuses as far as it goes; others are only read.
"""

import json
import os
import sys

from pglast.parser import ParseError, parse_sql_json, split


def parse(path: str) -> None:
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".sql"):
        for statement in split(text, with_parser=True):
            json.loads(parse_sql_json(statement))


if os.path.isdir(sys.argv[1]):
    for folder, _, names in os.walk(sys.argv[1]):
        for name in names:
            try:
                parse(os.path.join(folder, name))
            except ParseError:
                continue
else:
    parse(sys.argv[1])
