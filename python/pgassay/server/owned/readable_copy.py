"""Programs that the server's account can run.

Enters: an `Installation` and an `Account`. Leaves: the same installation, or, where the account
cannot run it (a checkout under /root), a copy under a directory that only root can write.
Never: copies when the original works, never trusts a cache that another user could have made.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
from dataclasses import replace
from pathlib import Path

from pgassay.refusals.refusal import SetupRefused
from pgassay.server.hosts.account import Account, last_line
from pgassay.server.owned.installation import PROGRAMS, VERSION_LIMIT_S, Installation

CACHE = Path("/var/cache/pgassay")
PARTS = ("bin", "lib", "lib64", "share")


def runnable_by(
    installation: Installation, account: Account, cache: Path | None = None
) -> Installation:
    """Returns an installation whose programs the account can run: this one, or a copy of it."""
    problem = _refusal(installation, account)
    if problem is None:
        return installation
    if not account.switches:
        raise SetupRefused("programs-do-not-run", problem=problem)
    _may_switch(account)
    copy = _copied(installation, cache or CACHE)
    problem = _refusal(copy, account)
    if problem is not None:
        raise SetupRefused(
            "programs-closed",
            directory=installation.bin_directory,
            account=account.name,
            problem=problem,
        )
    return copy


def _refusal(installation: Installation, account: Account) -> str | None:
    for name in PROGRAMS:
        result = account.run(
            [installation.program(name), "--version"],
            limit_s=VERSION_LIMIT_S,
            libraries=installation.libraries,
        )
        if result.returncode != 0:
            return last_line(result)
    return None


def _may_switch(account: Account) -> None:
    if account.run(["true"], limit_s=VERSION_LIMIT_S).returncode != 0:
        raise SetupRefused("account-not-allowed", account=account.name)


def _copied(installation: Installation, cache: Path) -> Installation:
    prefix = installation.bin_directory.parent
    # The whole relative layout: PostgreSQL finds lib and share from its own path, and a wheel's
    # programs look for $ORIGIN/../../../PACKAGE.libs.
    package, site = prefix.parent, prefix.parent.parent
    sources = [prefix / part for part in PARTS if (prefix / part).is_dir()]
    bundled = site / f"{package.name}.libs"
    if bundled.is_dir():
        sources.append(bundled)
    final = _own(cache) / f"postgresql-{installation.version}-{_fingerprint(sources)}"
    if not final.exists():
        _copy_aside(sources, site, final)
    if final.lstat().st_uid != os.geteuid() or not final.is_dir():
        raise SetupRefused("copy-not-ours", folder=final)
    moved = final / installation.bin_directory.relative_to(site)
    return replace(installation, bin_directory=moved, libraries=moved.parent / "lib")


def _own(cache: Path) -> Path:
    with contextlib.suppress(FileExistsError):
        try:
            cache.mkdir(mode=0o755, parents=True)
            cache.chmod(0o755)
        except PermissionError as error:
            raise SetupRefused("cache-not-made", folder=cache, why=error.strerror) from None
    found = cache.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise SetupRefused("cache-open", folder=cache)
    return cache


def _fingerprint(sources: list[Path]) -> str:
    digest = hashlib.sha256()
    for source in sources:
        for file in sorted(source.rglob("*")):
            with contextlib.suppress(FileNotFoundError):
                found = file.stat()
                digest.update(f"{file}\0{found.st_size}\0{found.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


def _copy_aside(sources: list[Path], site: Path, final: Path) -> None:
    aside = Path(tempfile.mkdtemp(prefix=".aside-", dir=final.parent))
    try:
        for source in sources:
            # Links are followed: a package manager may link every file into a closed cache.
            shutil.copytree(source, aside / source.relative_to(site), ignore_dangling_symlinks=True)
        _open_to_all(aside)
        # If another run was quicker, its copy is as good; this one is removed below.
        with contextlib.suppress(FileExistsError, OSError):
            aside.rename(final)
    finally:
        if aside.exists():
            shutil.rmtree(aside, ignore_errors=True)
    if not final.exists():
        raise SetupRefused("copy-of-programs-not-made", folder=final, parent=final.parent)


def _open_to_all(root: Path) -> None:
    root.chmod(0o755)
    for path in root.rglob("*"):
        mode = path.stat().st_mode
        path.chmod(0o755 if stat.S_ISDIR(mode) or mode & 0o100 else 0o644)
