"""Keeps a host sampled after its server restarted or the ssh connection was lost.

Enters: a running sampler, the server it reads, the files it reads of the host. Leaves: a
sampler that knows the server's processes and control group again, and a connection to the host.
Never: blocks the sampler, or asks an unreachable host or server more often than every few seconds.

Files of the host and of the server's processes are read by the sampler's own thread. What it
cannot do is find a server that was started anew, for its first process is another one then; and
over ssh, connect again. Both show in how old its readings are.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress

import psycopg

from pgassay import _core
from pgassay.errors import PgassayError
from pgassay.server.existing.observed import ObservedServer
from pgassay.server.hosts.host import Host
from pgassay.server.protocol import ServerFacts
from pgassay.trials.host.host_sources import HostSources, host_sources

PROCESSES = "processes"
_ANY_HOST = "stat"
_LOOK_EVERY_S = 1.0
_LATE_READINGS = 3
"""So many readings that did not come are no chance."""
_LONGEST_PAUSE_S = 30.0
"""Between two attempts; the first comes at once, each later one after twice as long."""
_REACH_LIMIT_S = 20.0
_STOP_LIMIT_S = 20.0


class HostFollower:
    """Looks for the server's host again in a thread, after a restart; `stop` ends the thread."""

    def __init__(
        self,
        sampler: _core.Sampler,
        server: ObservedServer,
        facts: ServerFacts,
        host: Host,
        sources: HostSources,
        every_s: float,
    ) -> None:
        """`every_s` is the time between two readings of the host."""
        self._sampler, self._server, self._facts = sampler, server, facts
        self._host, self._postmaster, self._every_s = host, sources.postmaster, every_s
        self._over = threading.Event()
        self._pause_s = self._rests_s = 0.0
        self._thread = threading.Thread(target=self._follow, name="pgassay-host", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread; waits for an attempt that is under way."""
        self._over.set()
        self._thread.join(_STOP_LIMIT_S)

    def _follow(self) -> None:
        while not self._over.wait(_LOOK_EVERY_S):
            attempt = self._wanted()
            if attempt is None:
                self._pause_s = self._rests_s = 0.0
                continue
            self._rests_s -= _LOOK_EVERY_S
            if self._rests_s > 0:
                continue
            # The sampler itself warns of what stays unreachable.
            with suppress(PgassayError, psycopg.Error, OSError):
                attempt()
            self._pause_s = min(max(2 * self._pause_s, _LOOK_EVERY_S), _LONGEST_PAUSE_S)
            self._rests_s = self._pause_s

    def _wanted(self) -> Callable[[], None] | None:
        """What repairs the readings; None where all of them arrive in time."""
        readings = json.loads(self._sampler.current([_ANY_HOST, PROCESSES]))["readings"]
        read_at = {source: reading["time_ns"] for source, reading in readings.items()}
        late_ns = round(_LATE_READINGS * self._every_s * 1e9)
        host_ns = read_at.get(_ANY_HOST, 0)
        if self._host.name and host_ns and _core.now_ns() - host_ns > late_ns:
            return self._reach_host
        if self._postmaster is not None and host_ns - read_at.get(PROCESSES, host_ns) > late_ns:
            return self._find_server
        return None

    def _reach_host(self) -> None:
        """Connects again where the connection was lost; the sampler then asks by itself."""
        self._host.run(["true"], limit_s=_REACH_LIMIT_S)

    def _find_server(self) -> None:
        """Its first process, and what is read by it: its processes, its control group."""
        with self._server.connect() as session:
            sources = host_sources(self._host, session, self._facts)
        if sources.postmaster not in (None, self._postmaster) and not self._over.is_set():
            self._sampler.read_host(json.dumps(sources.for_core(self._every_s)))
            self._postmaster = sources.postmaster
