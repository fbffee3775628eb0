"""State shared by the migrations of a unit."""

from __future__ import annotations

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing

if TYPE_CHECKING:
    from pubcheck.extract.frameworks.django_state import State


class Project:
    """State shared by the migrations of a unit, filled in while its files are read in order."""

    def __init__(self) -> None:
        self.app = ""
        """Django's application of the migration that is read."""
        self.app_known = True
        """Whether tables are named after the application; otherwise `apps.py` computes another name."""
        self.django: State | None = None
        """The models that Django's migrations made."""
        self.indexes: dict[str, dict[str, tuple[str, ...]]] = {}
        """The indexes of a Rails table with their columns, by table."""
        self.parts: set[tuple[str, str]] = set()
        """The (table, name) of constraints and indexes that operations made: only such a one is known to be there.
        Types have no table."""

    def begin(self, path: str, app: str | None = None) -> None:
        """The next file is read: Django's migrations lie in ``<application>/migrations``, unless its `apps.py` gives it
        the label ``app``, or computes one, which is ""."""
        folders = path.replace("\\", "/").split("/")[:-1]
        self.app = app or (folders[-2] if len(folders) > 1 and folders[-1] == "migrations" else "")
        self.app_known = app != ""
