"""Servers for scaffolds, and a command line to call."""

from tests.cli.conftest import pubcheck
from tests.rules.conftest import scripts

__all__ = ["pubcheck", "scripts"]
