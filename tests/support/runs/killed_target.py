"""A target of an existing server whose process kills itself at a chosen call.

Enters: a kind of target, a server, a journal file, a phase. Leaves: what the killed process left on
the server and in its journal. Never: recovers anything.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path

from support.runs import forked
from support.servers.debian import DebianServer

# Kills itself by SIGKILL at the n-th call of a function: before it, after it, or, for a restart,
# once the server is down.
_PROGRAM = """
import os, signal, subprocess, sys
from importlib import import_module
from pathlib import Path
from pgassay.samples.journal import FileJournal
from pgassay.server.existing.target import ExistingTarget
from support.runs.targets import ACCESS
from support.servers.accounts import build_few_accounts

dsn, journal, kind, place, when, number = sys.argv[1:]
module, _, path = place.partition(":")
owner = import_module(module)
*between, name = path.split(".")
for part in between:
    owner = getattr(owner, part)
plain, left = getattr(owner, name), int(number)

def kill_at_call(*words, **options):
    global left
    left -= 1
    if left == 0 and when == "half-way":
        subprocess.run(["pg_ctlcluster", "15", "lab", "stop", "-m", "fast"], check=True)
    if left == 0 and when != "after":
        os.kill(os.getpid(), signal.SIGKILL)
    found = plain(*words, **options)
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return found

setattr(owner, name, kill_at_call)
target = ExistingTarget(
    dsn, FileJournal(Path(journal)), allow_changes=True, accept=["commits", "sessions"],
    access=ACCESS[kind],
)
target.open()
target.prepare(build_few_accounts, {"maintenance_work_mem": "32MB"})
setting = "shared_buffers" if ACCESS[kind].allow_restart else "work_mem"
for value in ("16MB", "24MB"):
    target.reset({setting: value})
target.close()
"""


@dataclass(frozen=True)
class Phase:
    """The call at which the process kills itself."""

    place: str
    """Its module and, behind a colon, its name there."""
    when: str = "before"
    number: int = 1


def killed_in(phase: Phase, kind: str, server: DebianServer, journal: Path) -> None:
    """A run of this kind that was killed in this phase; its server may be down."""
    journal.parent.mkdir(exist_ok=True)
    words = ["-c", _PROGRAM, server.dsn(), str(journal), kind]
    ended = forked.run([*words, phase.place, phase.when, str(phase.number)])
    assert ended.returncode == -signal.SIGKILL, ended.stderr
