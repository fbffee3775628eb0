"""A report of an audit in which everything occurs, and names that try to leave their place."""

from __future__ import annotations

from pubcheck.report.audit_html import (
    Audit,
    Change,
    Ends,
    Features,
    Finding,
    Past,
    Quarantined,
    Repository,
    Rule,
    RuleChange,
    Slow,
    Usage,
)

HOSTILE = '"><script>alert(1)</script>$x^2$\x00\x1b[31m\u202e#010101</text>日本'


def audit() -> Audit:
    """Totals that a reader can add up."""
    rules = [
        ("PUB301", "filter-column-outside-replica-identity", "write", "error", 1200, 34, 300),
        ("PUB209", "filter-mutable-function", "ddl", "error", 10, 0, 9),
        ("PUB603", "null-never-matches", "silent", "warning", 7, 0, 7),
        ("PUB107", "relation-missing", "ddl", "note", 0, 60, 40),
        ("PUB999", "of-another-version", "ddl", "note", 1, 0, 1),
    ]
    worst = [Repository(f"shop-{n}", 2, 40 - n, n, 1, {"PUB301": 39 - n, "PUB209": 1}) for n in range(29)]
    return Audit(
        run="r3",
        pubcheck="0.1.0",
        spark="4.0.0",
        input=f"corpus {HOSTILE}",
        started="2026-01-02 03:04 UTC",
        seconds=12.5,
        since="r2",
        postgres=(15, 18),
        repositories=1000,
        units=Ends(1500, 1400, 90, 10),
        files=Ends(3000, 2800, 180, 20),
        carried=1,
        statements=123456,
        bytes=7_654_321,
        severities={"error": 1244, "warning": 7, "note": 61},
        rules=tuple(Rule(*row, f"a/{HOSTILE}.sql", 3, f"about {HOSTILE}") for row in rules),
        findings=tuple(
            Finding(code, severity, certainty, f"shop-{number}/{HOSTILE}.sql", number, f"{name} of {HOSTILE}")
            for code, name, _, severity, *_ in rules
            for number, certainty in ((1, "certain"), (2, "assumed"))
        ),
        worst=(Repository(HOSTILE, 3, 50, 2, 0, {"PUB301": 50, "PUB603": 2}), *worst),
        spread={"none": 600, "1": 300, "2 to 9": 90, "10 to 99": 10, "100 and more": 0},
        features=Features(
            800,
            500,
            2500,
            {"row filter": Usage(200, 150), "FOR ALL TABLES": Usage(300, 290), "no member": Usage(0, 0)},
            {
                "insert": {"sent": 90, "filtered": 10},
                "update": {"sent": 50, "filtered": 5, "refused": 45},
                "delete": {"sent": 50, "refused": 45, "unknown": 5},
                "truncate": {"sent": 100},
            },
        ),
        quarantine=(
            Quarantined("crashed", 6, 0, f"corpus/{HOSTILE}", "the process that linted it died of SIGSEGV"),
            Quarantined("not-text", 4, 9, "corpus/x.sql", HOSTILE),
        ),
        slowest=(Slow(f"corpus/{HOSTILE}", 3.25, 999, 123_000), Slow("corpus/b", 0.5, 10, 900)),
        change=Change(
            "r2",
            "2026-01-01 03:04 UTC",
            False,
            (RuleChange("PUB209", 0, 0, 10), RuleChange("PUB301", 34, 5, 1200), RuleChange("PUB603", 0, 2, 7)),
            12,
            3,
        ),
        history=(Past("r1", 1400, 1300, 9, 60), Past("r2", 1450, 1215, 9, 61), Past("r3", 1500, 1244, 7, 61)),
    )


def nothing() -> Audit:
    """A corpus without a publication."""
    return Audit(
        run="r1",
        pubcheck="0.1.0",
        spark="4.0.0",
        input="corpus",
        started="2026-01-02 03:04 UTC",
        seconds=1.0,
        since=None,
        postgres=(),
        repositories=1,
        units=Ends(1, 0, 1, 0),
        files=Ends(1, 0, 1, 0),
        carried=0,
        statements=0,
        bytes=10,
        severities={"error": 0, "warning": 0, "note": 0},
        rules=(),
        findings=(),
        worst=(),
        spread={"none": 1},
        features=Features(0, 0, 0, {}, {}),
        quarantine=(),
        slowest=(),
        change=None,
        history=(Past("r1", 1, 0, 0, 0),),
    )
