"""The audit: the Spark job, and the process that units are linted in."""
