"""A data directory and the copies beside it, on a real file system, without a server."""

from __future__ import annotations

import os
import pwd
from pathlib import Path
from typing import Any

import pytest

from pgassay.errors import RestoreFailed, TargetError
from pgassay.target import data_place
from pgassay.target.copy_room import room_for
from pgassay.target.data_copy import LeftOver, give_back
from pgassay.target.data_place import MARK, DataPlace
from pgassay.target.host import Finished
from pgassay.target.local_host import HERE


class _Server:
    account = pwd.getpwuid(os.geteuid()).pw_name


class _Service:
    """A service that only says what it was told."""

    server = _Server()

    def __init__(self) -> None:
        self.told: list[str] = []

    def stop(self) -> None:
        self.told.append("stop")

    def start(self) -> None:
        self.told.append("start")


@pytest.fixture
def place(tmp_path: Path) -> DataPlace:
    """On a path that is a pattern, were it taken for one; the server is on a copy."""
    folder = tmp_path / "o'[a-z]*? $x"
    folder.mkdir()
    service: Any = _Service()
    found = DataPlace(HERE, service, folder / "data.pgassay-1a2b")
    found.beside("found").mkdir()
    (found.beside("found") / "own").touch()
    marked(found, found.data)
    return found


def told_to(place: DataPlace) -> list[str]:
    service: Any = place.service
    assert isinstance(service, _Service)
    return service.told


def marked(place: DataPlace, directory: Path) -> None:
    directory.mkdir()
    (directory / "base").mkdir()
    (directory / "base" / "1").touch()
    (directory / MARK).write_text(place.prefix.name)


def test_the_mark_goes_last(place: DataPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    run, seen = place.try_run, []

    def watched(*words: str | Path) -> Finished:
        done = run(*words)
        seen.append(sorted(path.name for path in place.data.glob("*")))
        return done

    monkeypatch.setattr(place, "try_run", watched)
    place.remove(place.data)
    assert seen == [[MARK], []]
    assert not place.data.exists()


def test_what_has_no_mark_is_not_removed(place: DataPlace) -> None:
    with pytest.raises(TargetError, match="is not a copy that this run made; left as it is"):
        place.remove(place.beside("found"))
    assert (place.beside("found") / "own").exists()


def test_the_server_gets_its_own_also_where_a_copy_cannot_be_removed(
    place: DataPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove = place.remove

    def broken(directory: Path) -> None:
        if directory == place.beside("work"):
            raise TargetError("Input/output error")
        remove(directory)

    monkeypatch.setattr(place, "remove", broken)
    with pytest.raises(LeftOver, match="Input/output error"):
        give_back(place)
    assert [path.name for path in place.data.iterdir()] == ["own"]
    assert told_to(place) == ["stop", "start"]
    monkeypatch.undo()
    assert not give_back(place), "it was on its own already"
    assert [path.name for path in place.data.parent.iterdir()] == ["data"]


def test_where_no_name_is_free_the_copy_stays_and_is_named(
    place: DataPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_place, "_PAUSE_S", 0.0)
    for path in place.spent():
        path.mkdir()
    with pytest.raises(TargetError, match=r"9 copies .* remove .*-spent\* by hand"):
        place.set_aside()
    assert place.is_ours


def test_a_server_on_what_somebody_has_put_there_is_not_stopped(place: DataPlace) -> None:
    (place.data / MARK).unlink()
    with pytest.raises(RestoreFailed, match="is not the copy that this run made"):
        give_back(place)
    assert told_to(place) == []
    assert (place.beside("found") / "own").exists()


def test_a_file_that_goes_while_sizes_are_taken_is_no_error(
    place: DataPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = place.try_run

    def complaining(*words: str | Path) -> Finished:
        done = run(*words)
        if words[0] == "du":
            done.returncode = 1
        return done

    monkeypatch.setattr(place, "try_run", complaining)
    assert room_for(place).taken > 0
