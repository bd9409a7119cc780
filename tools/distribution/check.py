"""Check what was built, and use it: the wheel in an empty environment, outside of the checkout.

    python -m tools.distribution.check [COMMAND…]

Enters: dist/; the command to try, by default `demo`. Leaves: one line per check, or an error that
says what is missing. Never: uses the checkout's package, environment or folder for the trial.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import zipfile
from collections.abc import Collection, Iterable
from pathlib import Path

from packaging.metadata import Metadata
from tools.distribution.build import COMPLETIONS, OUT, tracked_files
from tools.manual.pages import page_of

from pgassay.cli.commands import COMMANDS

PACKAGE = "python/pgassay/"
SHARED = (
    "man/man1/pgassay.1",
    *(f"man/man1/{page_of(name)}.1" for name in COMMANDS),
    *COMPLETIONS.values(),
)


def main(command: list[str]) -> None:
    """Check all archives, then try the wheel of this machine."""
    (sdist,) = OUT.glob("*.tar.gz")
    check_sdist(sdist)
    wheels = sorted(OUT.glob("*.whl"))
    for wheel in wheels:
        check_wheel(wheel)
    ours = [wheel for wheel in wheels if wheel.stem.endswith(platform.machine())]
    if not ours:
        sys.exit(f"no wheel for this machine ({platform.machine()}) in {OUT}")
    try_wheel(ours[0], command)


def missing_from(names: Collection[str], prefix: str) -> list[str]:
    """Tracked files of the package that an archive lacks; `prefix` is where the package is."""
    tracked = (name.removeprefix(PACKAGE) for name in tracked_files(PACKAGE))
    return [name for name in tracked if prefix + name not in names]


def check_sdist(sdist: Path) -> None:
    """Its metadata, and every file of the package."""
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers()}
        info = archive.extractfile(f"{sdist.name.removesuffix('.tar.gz')}/PKG-INFO")
        Metadata.from_email(info.read() if info else b"", validate=True)
    refuse(sdist, missing_from(names, PACKAGE))
    said(sdist, f"{len(names)} files, metadata valid")


def check_wheel(wheel: Path) -> None:
    """Its name, metadata, every file of the package, the native module, and what share/ gets."""
    if "-abi3-manylinux" not in wheel.name or "manylinux_2_17" not in wheel.name:
        sys.exit(f"{wheel.name}: not an abi3 wheel for manylinux_2_17")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (info,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        Metadata.from_email(archive.read(info), validate=True)
    (data,) = {name.partition("/")[0] for name in names if ".data/data/" in name} or {""}
    wanted = ["pgassay/_core.abi3.so", *(f"{data}/data/share/{name}" for name in SHARED)]
    refuse(wheel, [*missing_from(names, "pgassay/"), *(w for w in wanted if w not in names)])
    said(wheel, f"{len(names)} files, metadata valid")


def try_wheel(wheel: Path, command: list[str]) -> None:
    """Install it with the pinned dependencies, and run a command in an empty folder."""
    with tempfile.TemporaryDirectory(prefix="pgassay-dist-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # the account of an embedded server reads its programs
        venv.create(folder / "venv", with_pip=True)
        programs = folder / "venv" / "bin"
        install = (programs / "python", "-m", "pip", "install", "--quiet")
        run([*install, "--require-hashes", "-r", OUT / "requirements.txt"], folder)
        run([*install, "--no-deps", wheel], folder)
        run([programs / "python", "-m", "pip", "check"], folder)
        shared = [one for one in SHARED if not (folder / "venv" / "share" / one).is_file()]
        refuse(wheel, [f"installed share/{one}" for one in shared])
        empty = folder / "empty"
        empty.mkdir()
        shown = run([programs / "pgassay", "--version"], empty).strip()
        began = time.monotonic()
        result = json.loads(run([programs / "pgassay", *command, "--json"], empty))
        seconds = time.monotonic() - began
        verdicts = ", ".join(
            f"{one['level']} {one['verdict']} {one['effect_pct']:.1f} %"
            for one in result["verdicts"]
        )
        said(wheel, f"{shown}: `pgassay {' '.join(command)}` in {seconds:.0f} s: {verdicts}")


def run(command: Iterable[str | Path], at: Path) -> str:
    """Run a program without the checkout in its environment; its stdout."""
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=at, env=clean, check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return done.stdout


def refuse(archive: Path, missing: Collection[str]) -> None:
    """End where something is missing."""
    if missing:
        sys.exit(f"{archive.name} lacks {', '.join(sorted(missing))}")


def said(archive: Path, text: str) -> None:
    """A line on an archive."""
    print(f"{archive.name} ({archive.stat().st_size / 2**20:.1f} MB): {text}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["demo"])
