"""Tests of what the server would say."""
