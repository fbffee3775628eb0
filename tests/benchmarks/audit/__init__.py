"""Benchmarks of `pubcheck audit`."""
