"""Why a server did not start, from the logs that it writes to.

Enters: the server's process before a start, its host. Leaves: what was added to its logs since, as
a reason of one line. Never: writes a log.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path

from pgassay.server.connection.answering import POLL_S
from pgassay.server.hosts.host import Host
from pgassay.server.hosts.server_process import ServerProcess, collected_log
from pgassay.server.owned.postmaster import failure
from pgassay.server.service.control import Control

COLLECTED_LIMIT_S = 3.0
"""A logging collector writes what it was given after its postmaster is gone."""
LOG_END = 1 << 16
"""As much of a log as is read where its size before the start is not known."""
# Every stop makes sessions say this; it is no reason for a failed start.
_STOPPING = re.compile(
    r"^.*FATAL:\s+(?:terminating |the database system is (?:starting up|shutting down)).*$",
    re.MULTILINE,
)


class StartLog:
    """What a server's logs say from the moment before a start."""

    def __init__(self, host: Host, control: Control, server: ServerProcess) -> None:
        self._host, self._control, self._server = host, control, server
        self._sizes = {path: self._size(path) for path in self._files()}
        said = host.run(["date", "+%s"]).stdout.strip()
        self._since_s = int(said) if said.isdigit() else 0

    def reason(self, said: Sequence[str]) -> tuple[str, str]:
        """Why the start failed, in a line, and all words of the log about it; `said` is the output
        of the command that started it."""
        around = [self._control.journal(self._host, self._since_s), *said]
        began = time.monotonic()
        while True:
            text = "\n".join([*(self._added(path) for path in self._files()), *around])
            reason, words = failure(_STOPPING.sub("", text))
            waited_s = time.monotonic() - began
            if reason or not self._server.collects or waited_s > COLLECTED_LIMIT_S:
                return reason, words
            time.sleep(POLL_S)

    def _files(self) -> list[Path]:
        output = [] if self._server.output is None else [self._server.output]
        collected = collected_log(self._host, self._server)
        return output if collected is None else [*output, collected]

    def _size(self, path: Path) -> int:
        try:
            return self._host.facts(path).size
        except OSError:
            return 0

    def _added(self, path: Path) -> str:
        size = self._sizes.get(path)
        try:
            offset = max(0, self._size(path) - LOG_END) if size is None else size
            return self._host.read(path, offset).decode("utf-8", "replace")
        except OSError:
            return ""
