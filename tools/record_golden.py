"""Run an experiment and keep it as a recorded run of tests/golden.

    .venv/bin/python tools/record_golden.py tests/support/diagnosis/lock-queue.toml lock-queue-18

`--bin DIR` takes another PostgreSQL, `--run DIR` packs a run that is there. What the run must show
is written by hand into `expected.toml` beside `run.tar.xz`, for
tests/unit/diagnosis/test_golden_runs.py.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "tests" / "golden"
_MADE_ANEW = {"analysis.json", "report.html"}


def main() -> None:
    """Run, then pack."""
    options = argparse.ArgumentParser()
    options.add_argument("experiment", type=Path)
    options.add_argument("case")
    options.add_argument("--bin")
    options.add_argument("--run", type=Path)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as aside:
        run = given.run or _measured(given.experiment, given.bin, Path(aside) / "run")
        size = pack(run, GOLDEN / given.case)
    print(f"{GOLDEN / given.case}: {size / 1000:.0f} kB")


def _measured(experiment: Path, bin_dir: str | None, run: Path) -> Path:
    """The run, of a copy of the experiment's folder: its paths are stored in the run."""
    folder = run.parent / "experiments"
    shutil.copytree(experiment.parent, folder)
    copy = folder / experiment.name
    if bin_dir:
        with copy.open("a", encoding="utf-8") as file:
            file.write(f'\n[target]\nbin = "{bin_dir}"\n')
    command = [sys.executable, "-m", "pgassay", "run", str(copy), "--out", str(run)]
    subprocess.run(command, check=True)
    return run


def pack(run: Path, case: Path) -> int:
    """The bytes of the archive: everything of the run that is not made anew by `pgassay report`."""
    case.mkdir(parents=True, exist_ok=True)
    archive = case / "run.tar.xz"
    with tarfile.open(archive, "w:xz", preset=9) as packed:
        for file in sorted(run.rglob("*")):
            if file.is_file() and file.name not in _MADE_ANEW:
                packed.add(file, file.relative_to(run), filter=_without_owner)
    return archive.stat().st_size


def _without_owner(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o644
    return entry


if __name__ == "__main__":
    main()
