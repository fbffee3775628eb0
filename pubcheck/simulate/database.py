"""A PostgreSQL server in memory: one database of one major, its sessions, and the log that decoding reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pubcheck.simulate.decoding.slot import PluginFactory, Slot
from pubcheck.simulate.script import Step, statements
from pubcheck.simulate.server_state import ServerState
from pubcheck.simulate.session import ServerSession


class Database(ServerState):
    """A database of one major. ``setup`` is run first, in session "a"; a refused statement raises ServerError.

    ``log`` has the records in their order, ``listeners`` are called with each as it is appended. ``clock`` gives the
    time in microseconds since 2000-01-01; without one, commits have made-up times, and statements that ask for the
    time cannot be followed. ``seed`` makes up the values of random() and gen_random_uuid(); without one, statements
    that ask for them cannot be followed.
    """

    def __init__(
        self,
        major: int,
        setup: str | Sequence[str] = "",
        *,
        clock: Callable[[], int] | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(major, clock, seed)
        for text in statements(setup):
            self.session("a").run(text)

    def session(self, name: str = "a") -> ServerSession:
        """The session of that name, which is connected when it is first asked for."""
        if name not in self.sessions:
            self.sessions[name] = ServerSession(self, name)
        session: ServerSession = self.sessions[name]
        return session

    def disconnect(self) -> None:
        """End all sessions, rolling back their open transactions: further statements come from new ones."""
        for session in list(self.sessions.values()):
            if session.transaction is not None:
                session.run("ROLLBACK")
            self.close(session)

    def run(self, step: Step) -> None:
        """Run a statement of a script in its session. Raises ServerError and NotFollowed."""
        session = self.session(step.session)
        if step.data is None:
            session.run(step.sql)
        else:
            session.copy(step.sql, step.data)

    def slot(self, plugin: str | PluginFactory, *, two_phase: bool = False) -> Slot:
        """Create a replication slot at the current end of the log, for pgoutput, test_decoding or a plugin's class."""
        return Slot(self, plugin, two_phase=two_phase)
