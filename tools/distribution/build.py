"""Build an sdist and manylinux wheels into dist/, the wheels from the sdist alone.

    python -m tools.distribution.build BIN

Enters: the files that git tracks; maturin and zig in the folder BIN. Leaves: dist/*.tar.gz and
dist/*.whl, with manual pages and completion scripts below share/, and dist/requirements.txt, which
pins what they need; said: how many messages have no translation. Never: builds from a file that is
not in the sdist, or fails because a target's standard library is not here: then it says so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import polib
from tools.archives import unpack
from tools.manual import pages

from pgassay.cli.completion import Shell, script
from pgassay.commit import WRITTEN, commit

ROOT = Path(__file__).parents[2]
WORK = ROOT / "target" / "dist"
OUT = ROOT / "dist"
TARGETS = ("x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu")
COMPATIBILITY = "manylinux2014"  # glibc 2.17, the least that Rust supports
DATA = "pgassay._core.data"
"""Where maturin looks for what a wheel installs outside of the package."""
COMPLETIONS = {
    Shell.BASH: "bash-completion/completions/pgassay",
    Shell.ZSH: "zsh/site-functions/_pgassay",
    Shell.FISH: "fish/vendor_completions.d/pgassay.fish",
}


def main(programs: Path) -> None:
    """Build all."""
    os.environ["PATH"] = f"{programs.resolve()}:{os.environ['PATH']}"
    for folder in (WORK, OUT):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    source = WORK / "source"
    copy_tracked(source)
    (source / "python" / "pgassay" / WRITTEN).write_text(commit(), "utf-8")
    add_shared(source / DATA / "data" / "share")
    shutil.copy2(ROOT / "requirements.txt", OUT)
    maturin("sdist", "--out", OUT, at=source)
    (sdist,) = OUT.glob("*.tar.gz")
    unpack(sdist, WORK / "sdist")
    (unpacked,) = (WORK / "sdist").iterdir()
    for target in TARGETS:
        if has_standard_library(target):
            options = ("--profile", "dist", "--locked", "--strip", "--zig", "--auditwheel", "check")
            where = ("--compatibility", COMPATIBILITY, "--target", target, "--out", OUT)
            maturin("build", *options, *where, at=unpacked)
        else:
            print(f"no wheel for {target}: run `rustup target add {target}` first", flush=True)
    for line in untranslated():
        print(line, flush=True)


def untranslated() -> list[str]:
    """A line for each catalogue with messages that the release shows in English."""
    folder = ROOT / "python" / "pgassay" / "languages"
    waiting = {file: polib.pofile(str(file)).untranslated_entries() for file in folder.glob("*.po")}
    return [
        f"{file.name}: {len(entries)} messages are shown in English; `make messages` lists them"
        for file, entries in waiting.items()
        if entries
    ]


def tracked_files(below: str = ".") -> list[str]:
    """The files of the repository that git tracks and that are there."""
    listed = subprocess.run(
        [program("git"), "ls-files", "-z", "--", below], cwd=ROOT, capture_output=True, check=True
    )
    return [name for name in listed.stdout.decode().split("\0") if (ROOT / name).is_file()]


def copy_tracked(source: Path) -> None:
    """A copy of the repository without anything that a checkout collects."""
    for name in tracked_files():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, source / name)
    (source / ".gitignore").unlink()  # it would hide what is made here


def add_shared(share: Path) -> None:
    """Manual pages and completion scripts, where programs look for them."""
    pages.main(share / "man" / "man1")
    for shell, place in COMPLETIONS.items():
        (share / place).parent.mkdir(parents=True, exist_ok=True)
        (share / place).write_text(f"{script(shell)}\n", "utf-8")


def maturin(*arguments: str | Path, at: Path) -> None:
    """Run maturin, in one target folder for all wheels."""
    target = os.environ.get("CARGO_TARGET_DIR") or str(WORK.parent / "dist-cargo")
    subprocess.run(
        [program("maturin"), *map(str, arguments)],
        cwd=at, env=os.environ | {"CARGO_TARGET_DIR": target}, check=True,
    )  # fmt: skip


def program(name: str) -> str:
    """The path of a program that has to be here."""
    found = shutil.which(name)
    if found is None:
        sys.exit(f"{name} is not on the PATH")
    return found


def has_standard_library(target: str) -> bool:
    """Whether this Rust can build for a target."""
    root = subprocess.run(
        [program("rustc"), "--print", "sysroot"], capture_output=True, text=True, check=True
    )
    return (Path(root.stdout.strip()) / "lib" / "rustlib" / target / "lib").is_dir()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
