"""Archives of ours are unpacked by every Python that is promised, and lead out of no folder."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from tools.archives import unpack

GOLDEN = Path(__file__).parents[2] / "golden"


@pytest.fixture(params=["with a filter", "without"])
def _python(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.11.2 knows no filter, and newer ones warn of one that is not named."""
    if request.param == "without":
        monkeypatch.delattr(tarfile, "data_filter", raising=False)
        trusted = staticmethod(lambda member, _: member)
        monkeypatch.setattr(tarfile.TarFile, "extraction_filter", trusted, raising=False)


@pytest.mark.usefixtures("_python")
def test_an_archive_is_unpacked_with_every_python(tmp_path: Path) -> None:
    unpack(GOLDEN / "recomputed-ramp.tar.xz", tmp_path)
    assert (tmp_path / "run" / "plan.json").is_file()


@pytest.mark.usefixtures("_python")
@pytest.mark.parametrize("name", ["../out", "link"])
def test_no_archive_leads_out_of_its_folder(tmp_path: Path, name: str) -> None:
    archive, inside = tmp_path / "bad.tar", tmp_path / "inside"
    with tarfile.open(archive, "w") as packed:
        member = tarfile.TarInfo(name)
        if name == "link":
            member.type, member.linkname = tarfile.SYMTYPE, "../out"
        packed.addfile(member)
    with pytest.raises((ValueError, tarfile.TarError)):
        unpack(archive, inside)
    assert not (tmp_path / "out").exists()
