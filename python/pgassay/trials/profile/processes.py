"""Who the processes of a server are.

Enters: a session of the server, on this host. Leaves: their numbers; number → kind and name.
Never: guesses: a process that was never seen is told by its stacks.
"""

from __future__ import annotations

from pgassay.errors import SetupError, TargetError
from pgassay.notes import Note
from pgassay.server.connection.session import as_target_error
from pgassay.server.hosts.host import Host
from pgassay.server.hosts.server_process import children_of, postmaster_of
from pgassay.server.protocol import Connection
from pgassay.server.statements import statement

ELSEWHERE = Note("trials/profile/elsewhere")
_CLIENT = "client backend"
_OWN = "pgassay's own session"


class Processes:
    """The processes of one server, as they come and go."""

    def __init__(self, session: Connection, host: Host | None) -> None:
        """The session stays the caller's. Raises SetupError where the server is elsewhere."""
        if host is None or host.name:
            raise SetupError(ELSEWHERE)
        self._session = session
        with as_target_error("looking for the server's processes"):
            self.postmaster = postmaster_of(session, session.info.backend_pid, host)
        self.known: dict[int, tuple[str, str]] = {}
        self.look()

    def look(self) -> None:
        """Lists the processes of the server now; those seen before stay known."""
        with as_target_error("looking at the server's processes"):
            rows = self._session.execute(statement("trials/processes"), prepare=False).fetchall()
        for pid, kind, application in rows:
            # A parallel worker has its leader's application name, and says nothing by it.
            named = kind == _CLIENT and bool(application)
            self.known[pid] = (kind, f"application {application}" if named else "")
        self.known[self.postmaster] = ("postmaster", "")
        self.known[self._session.info.backend_pid] = (_OWN, "")

    def pids(self) -> list[int]:
        """Returns the ids of the postmaster and of the processes that it has started."""
        found = [self.postmaster, *children_of(self.postmaster)]
        if len(found) == 1:
            raise TargetError(
                "the server's processes cannot be seen: run pgassay outside of the"
                " container, or in the server's"
            )
        return sorted(found)
