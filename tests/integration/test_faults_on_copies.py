"""A copy that is of no use any more: the server gets its own directory all the same, and what
others have written to a copy is not thrown away."""

from __future__ import annotations

import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pgassay.target.recover import recover
from support.broken_runs import assert_kept, in_the_second_trial, watched
from support.command import last_line, pgassay
from support.data_copies import BESIDE, build, let_go, on_copies, own_rows
from support.existing_runs import COPIES, as_found
from support.servers import RecordingJournal
from support.services import DebianServer
from support.targets import ACCESS, existing


@pytest.mark.parametrize("kind", [f"pg_ctl{COPIES}", f"pg_ctlcluster{COPIES}"])
def test_a_copy_that_cannot_start_ends_the_run_in_the_servers_words(
    kind: str, debian: DebianServer, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    run = tmp_path / "run"
    with as_found(kind, debian, request, step="2s") as spec:
        with watched(run, spec) as tool:
            kept = in_the_second_trial(tool)
            (frozen,) = debian.data.parent.glob(f"{BESIDE}-frozen")
            (frozen / "recovery.signal").touch()
            assert tool.end() == 2, tool.text
        said = " ".join(tool.text.split())
        assert "the server did not start: must specify restore_command when standby" in said
        assert_kept(run, kept)


def test_a_setting_that_keeps_a_copy_down_ends_the_run_in_the_servers_words(
    debian: DebianServer, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    factor = 'huge_pages = ["off", "on"]'
    with as_found(f"pg_ctlcluster{COPIES}", debian, request, factor=factor) as spec:
        done = pgassay("run", spec, "--out", tmp_path / "run")
        assert done.returncode == 2, done.stderr
        last = last_line(done.stderr)
        assert "huge_pages = on: the server did not start: could not map anonymous" in last
        assert (tmp_path / "run" / "journal.jsonl").exists()
        assert pgassay("recover", tmp_path / "run").stdout == "nothing to undo\n"


def written_after_a_boot(debian: DebianServer) -> int:
    """What somebody does on a copy that the host's unit has started; that copy's inode."""
    debian.ctl("restart")
    with debian.admin() as session:
        session.execute("INSERT INTO public.own VALUES (4)")
    return debian.data.stat().st_ino


def assert_kept_beside(debian: DebianServer, note: str, written: int) -> None:
    """The copy is whole, and told; whoever has looked there removes it."""
    (kept,) = debian.data.parent.glob(BESIDE)
    assert kept.name.endswith("-kept")
    assert kept.stat().st_ino == written
    assert f"what others wrote to it since is kept in {kept}; look there, then remove it" in note
    own = debian.data.with_name("own")
    debian.ctl("stop")
    debian.data.rename(own)
    kept.rename(debian.data)
    debian.ctl("start")
    assert own_rows(debian) == [(1,), (2,), (3,), (4,)]
    debian.ctl("stop")
    shutil.rmtree(debian.data)
    own.rename(debian.data)
    debian.ctl("start")


# A boot cannot be had here: what the run wrote down of its host's is another one's.
BOOTED = "f6c0ffee-0000-4000-8000-000000000000"


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("kind", ["pg_ctlcluster", "ssh"])
def test_what_others_wrote_to_a_copy_after_a_boot_is_kept_by_recovery(
    kind: str, debian: DebianServer, journal: RecordingJournal, request: pytest.FixtureRequest
) -> None:
    let_go(on_copies(debian, journal, request, kind))
    written = written_after_a_boot(debian)
    changes = [replace(one, boot=BOOTED) if one.copy else one for one in journal.open]
    (note,) = recover(debian.dsn(), changes, journal, ACCESS[kind])
    assert journal.open == []
    assert_kept_beside(debian, note, written)


@pytest.mark.usefixtures("untouched")
def test_what_others_wrote_to_a_copy_after_a_boot_is_kept_by_the_next_run(
    debian: DebianServer,
    journal: RecordingJournal,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    let_go(on_copies(debian, journal, request))
    written = written_after_a_boot(debian)
    (memory,) = (tmp_path / "state" / "pgassay" / "servers").glob("*.json")
    (boot,) = {one.boot for one in journal.open if one.copy}
    memory.write_text(memory.read_text().replace(boot, BOOTED))
    with closing(existing("pg_ctlcluster", debian, RecordingJournal(), request)) as target:
        target.open()
        target.prepare(build, {})
        (note,) = target.reset({}).notes
    assert_kept_beside(debian, note, written)
