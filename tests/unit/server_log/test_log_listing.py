"""The log directory of a host is listed however many files there are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pgassay.server.hosts.local import HERE
from pgassay.trials.server_log.log_files import BackendProcess, HostFiles, LogUnreadable


def listing_of(directory: Path) -> HostFiles:
    return HostFiles(HERE, directory, os.geteuid(), lambda: None)


def test_more_names_than_a_command_line_holds_are_listed(tmp_path: Path) -> None:
    # 12 000 names of 200 bytes are more than the 2 MiB that Linux takes as arguments.
    for number in range(12_000):
        (tmp_path / f"{number:0>200}").touch()
    assert len(listing_of(tmp_path).listing()) == 12_000


def test_only_files_are_listed_with_size_and_time(tmp_path: Path) -> None:
    file = tmp_path / "-a b.log"
    file.write_text("12345")
    (tmp_path / ".hidden").touch()
    (tmp_path / "link").symlink_to(file)
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "pipe")
    found = listing_of(tmp_path).listing()
    assert set(found) == {"-a b.log", ".hidden"}
    assert (found["-a b.log"].size, found["-a b.log"].modified_ns) == (5, file.stat().st_mtime_ns)


def test_a_missing_log_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LogUnreadable, match="gone"):
        listing_of(tmp_path / "gone").listing()


ME = os.geteuid()


def own_file(reported: str | None, beside: Path, owner: int = ME) -> Path | None:
    return BackendProcess(HERE, os.getpid(), owner).own_file(reported, str(beside))


def test_the_servers_own_log_is_taken(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text("LOG\n")
    assert own_file("server.log", tmp_path) == log.resolve()
    assert own_file(str(log), tmp_path) == log.resolve()


@pytest.mark.parametrize("reported", [None, "", "absent", "/nonexistent", "/etc/\n", "/dev/null"])
def test_what_is_absent_or_no_file_is_no_log(tmp_path: Path, reported: str | None) -> None:
    assert own_file(reported, tmp_path) is None


def test_a_pipe_a_loop_and_a_directory_are_no_log(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in ("pipe", "loop", "."):
        assert own_file(name, tmp_path) is None


def test_another_accounts_file_is_never_taken_for_the_log(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    stranger = Path("/etc/passwd").stat().st_uid + 1
    (tmp_path / "plain").write_text("")
    assert own_file("plain", tmp_path, ME + 1) is None
    assert own_file("link", tmp_path, stranger) is None
    assert own_file("../../../../../../etc/passwd", tmp_path, stranger) is None
