"""Servers for the SQL of pairs."""

from tests.rules.conftest import scripts

__all__ = ["scripts"]
