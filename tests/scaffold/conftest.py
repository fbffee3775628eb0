"""A command line to call."""

from tests.cli.conftest import pubcheck

__all__ = ["pubcheck"]
