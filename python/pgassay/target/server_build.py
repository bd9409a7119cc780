"""Whether a bin directory holds the very program that a server runs.

Enters: a bin directory, a server's process or the options of its last start. Leaves: a TargetError
that names the right one. Never: judges by versions: two builds may tell the same.

pg_ctl starts the program beside it, and restarts the one that postmaster.opts names.
"""

from __future__ import annotations

from pathlib import Path

from pgassay.errors import TargetError
from pgassay.target.host import Host, is_there
from pgassay.target.start_directory import last_program

GONE = " (deleted)"
"""What the kernel says of a running program whose file was replaced (proc(5), exe)."""


def running_program(host: Host, account: str, postmaster: int) -> Path | None:
    """The program of a process; None where that is not ours to see."""
    done = host.run(["readlink", f"/proc/{postmaster}/exe"], user=account)
    path = done.stdout.removesuffix("\n").removesuffix(GONE)
    return Path(path) if done.returncode == 0 and path.startswith("/") else None


def refuse_other_build(host: Host, bin_directory: Path, data: Path, seen: Path | None) -> None:
    """TargetError where the server would come up as another program than the one `seen` running, or
    than that of its last start."""
    own = bin_directory / "postgres"
    for program in (seen, last_program(host, data)):
        # What is not there any more, nobody can name; a server that runs from it is told elsewhere.
        if program is None or not is_there(host, program):
            continue
        if _real(host, program) != _real(host, own):
            how = "runs" if seen is not None else "was last started as"
            raise TargetError(
                f"target.bin: the server of {data} on {host.label} {how} {program}, which is"
                f" another program than {own}; bin = '{program.parent}', or start it once by hand"
                f" with {bin_directory / 'pg_ctl'}"
            )


def _real(host: Host, path: Path) -> Path:
    try:
        return host.resolve(path)
    except OSError:
        return path
