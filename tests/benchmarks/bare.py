"""The least that reading a schema can cost: python -m tests.benchmarks.bare FILE."""

import json
import sys

from pglast.parser import parse_sql_json, split

with open(sys.argv[1], encoding="utf-8") as file:
    for statement in split(file.read(), with_parser=True):
        json.loads(parse_sql_json(statement))
