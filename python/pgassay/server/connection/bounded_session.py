"""A session that ends by our own clock, whatever has become of the server.

Enters: what psycopg connects with, the longest the session may last. Leaves: a connection whose
socket is shut down then, so that a pending query fails. Never: asks the server.

statement_timeout is the server's: a backend that is stopped, waits for a disk that does not answer
or lies behind a cut network never looks at it, and TCP goes on acknowledging.
"""

from __future__ import annotations

import os
import socket
import threading
from contextlib import suppress
from typing import Any

import psycopg


class BoundedSession(psycopg.Connection[tuple[Any, ...]]):
    """Closed as any other; cut where that does not come in time."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._cutting = threading.Lock()
        self._timer: threading.Timer | None = None

    def bound(self, limit_s: float) -> None:
        """End the session `limit_s` seconds from now if it is still open then."""
        self._timer = threading.Timer(limit_s, self._cut)
        self._timer.daemon = True
        self._timer.start()

    def close(self) -> None:
        """Close it, and cancel the cut."""
        # Between a look at the socket and its end the number must not become another's.
        with self._cutting:
            if self._timer is not None:
                self._timer.cancel()
            super().close()

    def _cut(self) -> None:
        with self._cutting, suppress(OSError, psycopg.Error):
            if not self.closed:
                with socket.socket(fileno=os.dup(self.fileno())) as same:
                    same.shutdown(socket.SHUT_RDWR)
