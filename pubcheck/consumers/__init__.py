"""Consumers: what the readers of publications demand, one TOML file each.

``profiles`` reads the files. This module opens none: ``_index.py``, which `python -m tools.consumers.compile` writes
from them, has the names of the consumers and of the publications that only one of them uses.
"""

from __future__ import annotations

import os

from pubcheck.consumers import _index

FOLDER = os.path.dirname(os.path.abspath(__file__))
NAMES = _index.NAMES
"""The name of every consumer by its id."""
NAMES_OF_ONE = _index.FIXED
"""The ids of consumers by the names of publications that only they use."""
NAME_PREFIXES = _index.PREFIXES
"""Beginnings of such names, each with the id of its consumer."""


def implied_by(publication: str) -> str | None:
    """Return the consumer that alone uses publications of this name."""
    consumer = NAMES_OF_ONE.get(publication)
    if consumer is None:
        return next((owner for prefix, owner in NAME_PREFIXES if publication.startswith(prefix)), None)
    return consumer
