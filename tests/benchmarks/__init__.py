"""Benchmarks, run by hand: `python -m tests.benchmarks`. They time whole processes and compare within one run."""
