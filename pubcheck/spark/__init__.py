"""The audit: the linter over a corpus of repositories, as a Spark job (`pubcheck audit`, extra `pubcheck[spark]`).

`job` is the whole of it as DataFrames; `inputs` says where files come from, `worker` what happens to them in Spark's
Python workers, `process` and `child` how a unit that kills, fills or holds its process harms no other, `tables` what
is written and `runs` where. Nothing here knows PostgreSQL, and nothing outside of here knows Spark.
"""
