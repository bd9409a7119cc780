"""Files that are written whole, also where a write is killed."""

from __future__ import annotations

import os
from pathlib import Path

from pgassay.durable import write_atomically
from support.runs import forked

# Dies as by SIGKILL when all is written and nothing is renamed.
DYING = """
import os, signal, sys
from pathlib import Path
from pgassay.durable import write_atomically
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
write_atomically(Path(sys.argv[1]), b"half")
"""


def test_what_a_killed_write_has_left_goes_with_the_next(tmp_path: Path) -> None:
    path, other = tmp_path / "kept.json", tmp_path / "another.json"
    for one in (path, other):
        assert forked.run(["-c", DYING, str(one)]).returncode == -9
    left, theirs = sorted(tmp_path.iterdir(), key=lambda half: "another" in half.name)
    assert left.name.startswith(".kept.json.")
    living = tmp_path / f".kept.json.{os.getppid()}.part"
    living.touch()
    write_atomically(path, b"whole")
    assert path.read_bytes() == b"whole"
    assert set(tmp_path.iterdir()) == {path, theirs, living}
