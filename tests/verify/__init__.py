"""Verifying captured streams: recorded ones conform, and injected faults are found."""
