"""A path that a server reports is believed only where it is the server's own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pgassay.samples.journal import FileJournal, open_changes
from pgassay.server.change import SettingChange
from pgassay.server.existing.requirements import account_of, own_directory
from pgassay.server.hosts.local import HERE

ME = os.geteuid()


def test_its_own_directory_is_taken(tmp_path: Path) -> None:
    assert own_directory(str(tmp_path), ME) == tmp_path.resolve()
    assert own_directory(str(tmp_path), ME + 1) is None
    assert own_directory(str(tmp_path), None) is None


@pytest.mark.parametrize(
    "reported", [None, "", "relative", "/nonexistent/path", "/etc/\n", "/dev/null", "\0"]
)
def test_what_is_relative_absent_or_no_directory_is_not(reported: str | None) -> None:
    assert own_directory(reported, ME) is None


def test_the_account_of_a_process_is_known_while_it_lives() -> None:
    assert account_of(os.getpid()) == ME
    assert account_of(2**22 + 1) is None


def test_links_that_go_round_and_names_that_are_no_text_are_no_faults_of_ours(
    tmp_path: Path,
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.symlink_to(other)
    other.symlink_to(one)
    with pytest.raises(OSError, match="symbolic links"):
        HERE.resolve(one)
    odd = Path(os.fsdecode(b"/data/\xff"))
    journal = FileJournal(tmp_path / "journal.jsonl")
    change = SettingChange(name="work_mem", value="8MB", found=None, data=str(odd))
    journal.record(change)
    (kept,) = open_changes(tmp_path / "journal.jsonl")
    assert kept == change
