"""The file that a server's output goes to, which pg_ctl must open anew at a restart.

Enters: a located server, its host. Leaves: a TargetError where its own account could not open that
file again; the server would stay down. Never: writes a byte into it, or makes one.

What started the server may have opened it as somebody else (`su postgres -c postgres > mine.log`),
or it is a terminal, which another user's server may not open or which is gone by then.
"""

from __future__ import annotations

from pathlib import Path

from pgassay.errors import TargetError
from pgassay.target.account import last_line
from pgassay.target.host import Host
from pgassay.target.located import Located

_OPEN = ': >>"$1"'
"""Shell: opened for append without a byte, as pg_ctl's own shell does."""
_NOWHERE = Path("/dev/null")
_FIX = "; name its service or its cluster instead"


def refuse_unopenable(host: Host, server: Located) -> None:
    """TargetError where a restart could not give the server its output back. Changes nothing."""
    if server.output is None:
        if server.collects:
            return
        raise TargetError(
            "target.bin: the server writes its log to a pipe, which pg_ctl could not give back"
            f" after a restart{_FIX}"
        )
    why_not = _why_not(host, server, server.output)
    if why_not:
        raise TargetError(
            f"target.bin: the server writes its log to {server.output} of {host.label}, which"
            f" {server.account} could not open again at a restart ({why_not}); start it"
            f" once by hand with a file of its own (pg_ctl start -l FILE), or{_FIX[1:]}"
        )


def _why_not(host: Host, server: Located, output: Path) -> str:
    try:
        if output != _NOWHERE and not host.facts(output).is_file:
            return "it is no regular file"
    except OSError as error:
        return error.strerror or str(error)
    done = host.run(["sh", "-c", _OPEN, "sh", output], user=server.account)
    return last_line(done) if done.returncode else ""
