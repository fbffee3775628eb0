from __future__ import annotations

from tests.messages.conftest import compiled as compiled
