"""Answers about units, from the analyses of the units asked about last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

from pubcheck.config import Config
from pubcheck.discovery.file_types import DiscoveredUnit
from pubcheck.findings import EditEntry, Entry
from pubcheck.server.analysis import Analysis, HoverText, Located
from pubcheck.server.completion import Completion

_KEPT = 4
"""Analyses that are kept; each holds the catalog of its unit."""


class Analyst:
    """Lints units and answers questions about them. A unit with the same files and texts is not linted again.

    A file of which only the path is known counts as unchanged.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, Analysis] = OrderedDict()

    def findings(self, unit: DiscoveredUnit, config: Config) -> list[Entry]:
        return self._analysis(unit, config).entries

    def hover(self, unit: DiscoveredUnit, config: Config, path: str, offset: int) -> HoverText | None:
        return self._analysis(unit, config).hover(path, offset)

    def definition(self, unit: DiscoveredUnit, config: Config, path: str, offset: int) -> list[Located]:
        return self._analysis(unit, config).definition(path, offset)

    def references(self, unit: DiscoveredUnit, config: Config, path: str, offset: int) -> list[Located]:
        return self._analysis(unit, config).references(path, offset)

    def complete(self, unit: DiscoveredUnit, config: Config, path: str, offset: int) -> list[Completion]:
        return self._analysis(unit, config).complete(path, offset)

    def ignoring(self, unit: DiscoveredUnit, config: Config, entry: Entry) -> list[EditEntry]:
        return self._analysis(unit, config).ignoring(entry)

    def forget(self) -> None:
        """Read files again that are not open."""
        self._kept.clear()

    def _analysis(self, unit: DiscoveredUnit, config: Config) -> Analysis:
        key = (tuple((file.path, file.cached_content, file.context) for file in unit.files), config)
        analysis = self._kept.get(key)
        if analysis is None:
            analysis = self._kept[key] = Analysis(unit, config)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return analysis
