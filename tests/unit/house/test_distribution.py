"""What is distributed is whole: an sdist has every file of the package, and a check finds a gap."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from tools.distribution import check
from tools.distribution.build import ROOT, tracked_files

MATURIN = Path(sys.executable).parent / "maturin"


@pytest.mark.skipif(shutil.which("cargo") is None or not MATURIN.exists(), reason="no maturin here")
def test_an_sdist_has_every_file_of_the_package_and_the_crates(tmp_path: Path) -> None:
    subprocess.run(
        [MATURIN, "sdist", "--out", tmp_path],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=300,
    )
    (sdist,) = tmp_path.iterdir()
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers()}
    assert check.missing_from(names, check.PACKAGE) == []
    sources = [name for name in tracked_files("crates") if "/tests/" not in name]
    assert [name for name in sources if name not in names] == []
    assert {"Cargo.lock", "LICENSE", "README.md", "pyproject.toml"} <= names


def wheel_without(missing: str, folder: Path) -> Path:
    """A wheel of every tracked file but one, without any contents."""
    wheel = folder / "pgassay-0.1.0-cp311-abi3-manylinux_2_17_x86_64.whl"
    package = [name.removeprefix("python/") for name in tracked_files(check.PACKAGE)]
    shared = [f"pgassay-0.1.0.data/data/share/{name}" for name in check.SHARED]
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in {*package, *shared, "pgassay/_core.abi3.so"} - {missing}:
            archive.writestr(name, "")
        archive.writestr(
            "pgassay-0.1.0.dist-info/METADATA",
            "Metadata-Version: 2.4\nName: pgassay\nVersion: 0.1.0\n",
        )
    return wheel


@pytest.mark.parametrize(
    "missing",
    [
        "pgassay/_core.abi3.so",
        "pgassay/cli/new/experiment.toml.j2",
        "pgassay/workloads/payments/schema.sql",
        "pgassay-0.1.0.data/data/share/man/man1/pgassay-run.1",
    ],
)
def test_a_wheel_that_lacks_a_file_is_refused_by_name(missing: str, tmp_path: Path) -> None:
    check.check_wheel(wheel_without("nothing", tmp_path))
    with pytest.raises(SystemExit, match=Path(missing).name):
        check.check_wheel(wheel_without(missing, tmp_path))


def test_the_image_is_made_of_what_was_built_and_runs_the_command_without_rights() -> None:
    lines = (ROOT / "Containerfile").read_text().splitlines()
    copied = [line.split()[1:-1] for line in lines if re.match(r"COPY (?!--from)", line)]
    allowed = (ROOT / ".containerignore").read_text().splitlines()
    assert copied
    assert all(f"!{name}" in allowed for names in copied for name in names)
    assert [line for line in lines if line.startswith("USER")] == ["USER pgassay"]
    assert 'ENTRYPOINT ["pgassay"]' in lines
