"""All checks of the final state: a run imports only the modules that it needs."""

from __future__ import annotations

from pubcheck.checks import registry

registry.load_all()

CHECKS = registry.CHECKS
