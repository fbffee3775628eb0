"""Tests of pubcheck; `tests/support` holds what they share."""
