"""Records the runs that tests analyse anew: `python -m bench.checkpoints.record [NAME…]`.

Enters: names of experiments of this folder; without any, all. Leaves: an archive of each run in
tests/golden, and its findings on stdout. Never: changes what was measured; the folder of the
experiment on this machine, and what is computed from a run, are left out.
"""

from __future__ import annotations

import json
import sys
import tarfile
import tempfile
from pathlib import Path

from bench.checkpoints.provoke import LIMITS_BYTES_PER_S, provoke
from pgassay.findings.model import FindingKind

GOLDEN = Path(__file__).parents[2] / "tests" / "golden"
_COMPUTED = ("analysis.json", "report.html")


def pack(run: Path, name: str) -> Path:
    """One archive of a run directory, without names of users."""
    GOLDEN.mkdir(exist_ok=True)
    workload = run / "workload.json"
    stored = json.loads(workload.read_text("utf-8"))
    workload.write_text(json.dumps({**stored, "folder": "."}, indent=1), "utf-8")
    path = GOLDEN / f"checkpoints-{name}.tar.xz"
    with tarfile.open(path, "w:xz", preset=9) as archive:
        archive.add(run, arcname=name, filter=_kept)
    return path


def _kept(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    if Path(entry.name).name in _COMPUTED:
        return None
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def main(names: list[str]) -> None:
    """Record each."""
    for name in names or list(LIMITS_BYTES_PER_S):
        with tempfile.TemporaryDirectory() as folder:
            context = provoke(name, Path(folder) / name)
            path = pack(Path(folder) / name, name)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
        for finding in context.of_kind(FindingKind.DIAGNOSIS):
            print(f"- {finding.title} ({finding.confidence}): {finding.text}")


if __name__ == "__main__":
    main(sys.argv[1:])
