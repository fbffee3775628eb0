"""Generated from rules/*.md by `python -m pubcheck.rulebook compile`; edit the pages."""

from typing import Any

# code, name, phase, severity, postgres, sqlstate, spec, fix, default
ROWS: tuple[tuple[Any, ...], ...] = (
    ('PUB001', 'unreadable-file', 'ddl', 'error', (15, 16, 17, 18), (), (), False, True),
    ('PUB002', 'not-text', 'ddl', 'error', (15, 16, 17, 18), (), (), False, True),
    ('PUB003', 'read-as-windows-1252', 'ddl', 'note', (15, 16, 17, 18), (), (), False, True),
    ('PUB107', 'relation-missing', 'ddl', 'error', (15, 16, 17, 18), ('42P01', '3F000', '0A000', '42601'), ('relation-missing',), False, True),
    ('PUB120', 'option-unknown', 'ddl', 'error', (15, 16, 17, 18), ('42601',), ('option-unknown',), False, True),
    ('PUB301', 'filter-column-outside-replica-identity', 'write', 'error', (15, 16, 17, 18), ('42P10',), ('ri-filter-column',), False, True),
)
