"""The audit: the linter over a corpus of repositories, as a Spark job (`pubcheck audit`, extra `pubcheck[spark]`).

`job` is the whole of it as DataFrames. `inputs` says where files come from, `worker` what happens to them in Spark's
Python workers, `lint_process` and `process_client` how a unit that kills, fills or holds its process harms no other,
`schema` what is written and `store` where. A unit is a `DiscoveredUnit` when it is found, a `LintedUnit` when it is
linted, and in between and afterwards a `UnitRow`.
"""
