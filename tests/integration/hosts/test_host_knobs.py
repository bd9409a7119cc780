"""Knobs of a real host are written, read back, and put back whatever happens to pgassay."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pgassay.errors import RestoreFailed, TargetError
from pgassay.samples.journal import FileJournal, open_changes
from pgassay.server.change import KnobChange
from pgassay.server.hosts.host import host_identity
from pgassay.server.hosts.local import HERE, lock_run
from pgassay.server.knobs.host_knobs import HostKnobs, recover_host
from pgassay.server.knobs.knob_files import find_knob, locked
from pgassay.server.undo.change_record import recorded
from pgassay.server.undo.killed_run import refuse_killed_run_on
from pgassay.server.undo.undo_sql import undo_text
from support.refusals import refused
from support.runs import forked
from support.runs.changes import knobs_in
from support.runs.command import pgassay
from support.runs.forked import begin
from support.servers.lab import SECRET, LabServer, RecordingJournal, wait_until

SWAP, PRESSURE = "vm.swappiness", "vm.vfs_cache_pressure"
RATIO, BYTES = "vm.dirty_ratio", "vm.dirty_bytes"
USED = (SWAP, PRESSURE, RATIO, BYTES)


def now(name: str) -> str:
    return find_knob(name, None).read()


@pytest.fixture(autouse=True)
def found(knobs_alone: None) -> Iterator[dict[str, str]]:
    """The knobs as the test found them; the test must leave them so."""
    before = {name: now(name) for name in USED}
    try:
        for name in USED:
            if before[name] != "0":
                find_knob(name, None).check(before[name])
        with locked():
            pass
    except TargetError as error:
        pytest.skip(f"knobs of this host cannot be set: {error}")
    yield before
    for name, value in before.items():
        if now(name) != value and value != "0":
            find_knob(name, None).write(value)
    assert {name: now(name) for name in USED} == before


def other(name: str) -> str:
    return str(int(now(name)) + 1)


def test_a_knob_is_journalled_before_it_is_written_and_put_back() -> None:
    journal = RecordingJournal(interrupt_at=1)
    before, wanted = now(SWAP), other(SWAP)
    knobs = HostKnobs(journal)
    knobs.check({SWAP: wanted}, None)
    assert now(SWAP) == before
    with pytest.raises(KeyboardInterrupt):
        knobs.apply({SWAP: wanted}, None)
    assert now(SWAP) == before
    journal.interrupt_at = None
    assert knobs.apply({SWAP: wanted}, None) == {SWAP: wanted}
    assert now(SWAP) == wanted
    assert undo_text(journal.changes[0]) == f"echo {before} > /proc/sys/vm/swappiness"
    assert knobs.found == {SWAP: before}
    knobs.restore()
    assert now(SWAP) == before
    assert journal.open == []
    knobs.restore()


def test_knobs_that_alternate_are_journalled_once_with_all_values() -> None:
    journal = RecordingJournal()
    knobs = HostKnobs(journal)
    before = now(SWAP)
    levels = [other(SWAP), str(int(before) + 2)]
    knobs.check({SWAP: levels[0]}, None)
    knobs.apply({SWAP: levels[0]}, None)
    knobs.announce({SWAP: levels}, None)
    known = len(journal.changes)
    values = {one.value for one in journal.changes if isinstance(one, KnobChange)}
    assert values == set(levels)
    assert knobs.alternate({SWAP: levels[1]}, None) == {SWAP: levels[0]}
    assert knobs.alternate({SWAP: levels[0]}, None) == {SWAP: levels[1]}
    assert len(journal.changes) == known, "nothing is journalled at an edge"
    knobs.restore()
    assert now(SWAP) == before
    assert journal.open == []


ALTERNATING = """
[target]
allow_host_changes = true
[workload]
use = "payments-read"
scale = 1
[factors.host]
"vm.vfs_cache_pressure" = [{levels}]
[load]
clients = 1
rate = 100
step = "8s"
warmup = "0.2s"
[reset]
level = "none"
[design]
mode = "switchback"
slice = "250ms"
min_blocks = 2
max_blocks = 2
"""


def test_a_knob_alternates_with_the_slices_of_a_trial(tmp_path: Path) -> None:
    before = now(PRESSURE)
    spec, run = tmp_path / "x.toml", tmp_path / "run"
    spec.write_text(ALTERNATING.format(levels=f"{other(PRESSURE)}, {int(before) + 2}"))
    done = pgassay("run", spec, "--out", run)
    assert done.returncode in (0, 1), done.stderr
    path = next(run.glob("trials/*/trial.json"))
    reloading = json.loads(path.read_text())["reloading"]
    assert reloading["settings"] == [PRESSURE]
    assert reloading["edges"] >= 15
    assert reloading["disturbed"] == 0
    assert reloading["in_force_ms"]["median"] >= reloading["asked_ms"]["median"] > 0
    assert now(PRESSURE) == before


@pytest.mark.parametrize("at_first", [RATIO, BYTES])
@pytest.mark.parametrize("wanted", [{RATIO: "33"}, {BYTES: "123457536"}])
def test_two_knobs_that_exclude_each_other_are_both_put_back(
    at_first: str, wanted: dict[str, str]
) -> None:
    find_knob(at_first, None).write("31" if at_first == RATIO else "99999744")
    before = {name: now(name) for name in (RATIO, BYTES)}
    journal = RecordingJournal()
    knobs = HostKnobs(journal)
    knobs.check(wanted, None)
    assert knobs.apply(wanted, None) == wanted
    knobs.restore()
    assert {name: now(name) for name in (RATIO, BYTES)} == before
    assert journal.open == []


def test_a_value_that_the_kernel_refuses_is_named_and_earlier_ones_are_put_back() -> None:
    knobs = HostKnobs(RecordingJournal())
    before = now(SWAP)
    wanted = {SWAP: other(SWAP), PRESSURE: "99999999999999999999"}
    knobs.check(wanted, None)
    with refused("knob-value-refused"):
        knobs.apply(wanted, None)
    knobs.restore()
    assert now(SWAP) == before


def test_a_later_change_by_another_program_is_reported_and_left() -> None:
    journal = RecordingJournal()
    knobs = HostKnobs(journal)
    before, wanted = now(SWAP), other(SWAP)
    knobs.check({SWAP: wanted}, None)
    knobs.apply({SWAP: wanted}, None)
    theirs = str(int(wanted) + 5)
    find_knob(SWAP, None).write(theirs)
    with pytest.raises(RestoreFailed, match=rf"vm\.swappiness is {theirs} now, which this run did"):
        knobs.restore()
    assert now(SWAP) == theirs
    find_knob(SWAP, None).write(before)
    knobs.restore()
    assert journal.open == []


KILLED = """
import os, signal, sys
from pathlib import Path
from pgassay.samples.journal import FileJournal, open_changes
from pgassay.server.knobs.host_knobs import HostKnobs
knobs = HostKnobs(FileJournal(Path(sys.argv[1])))
wanted = dict(word.split("=") for word in sys.argv[2:])
knobs.check(wanted, None)
knobs.apply(wanted, None)
os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_after_writing(journal: Path, **wanted: str) -> None:
    words = [f"vm.{name}={value}" for name, value in wanted.items()]
    done = forked.run(["-c", KILLED, str(journal), *words])
    assert done.returncode == -9, done.stderr


def test_the_next_run_refuses_a_host_that_a_killed_run_has_changed(
    tmp_path: Path, found: dict[str, str]
) -> None:
    journal = tmp_path / "journal.jsonl"
    killed_after_writing(journal, swappiness="47", dirty_bytes="123457536")
    assert (now(SWAP), now(BYTES), now(RATIO)) == ("47", "123457536", "0")
    killed = f"run {tmp_path} was killed while it had changed this host; `pgassay recover"
    with pytest.raises(TargetError, match=killed):
        refuse_killed_run_on(HERE)
    knobs = HostKnobs(RecordingJournal())
    with pytest.raises(TargetError, match=killed):
        knobs.check({PRESSURE: "77"}, None)
    knobs.restore()
    alive = lock_run(tmp_path)
    assert alive is not None
    refuse_killed_run_on(HERE)
    alive.release()
    recover_host(knobs_in(open_changes(journal)), FileJournal(journal))
    assert {name: now(name) for name in USED} == found
    refuse_killed_run_on(HERE)


def test_a_run_whose_directory_is_gone_is_named_with_the_commands(
    tmp_path: Path, found: dict[str, str]
) -> None:
    journal = tmp_path / "journal.jsonl"
    killed_after_writing(journal, swappiness="47")
    changes = knobs_in(open_changes(journal))
    text = journal.read_text()
    journal.unlink()
    undo = f"echo {found[SWAP]} > /proc/sys/vm/swappiness; then remove "
    with pytest.raises(TargetError, match=f"undo that yourself: {undo}"):
        refuse_killed_run_on(HERE)
    journal.write_text(text)
    recover_host(changes, FileJournal(journal))


def test_a_knob_that_was_written_after_a_killed_run_is_left(tmp_path: Path) -> None:
    before, journal = now(SWAP), tmp_path / "journal.jsonl"
    killed_after_writing(journal, swappiness="47", vfs_cache_pressure="77")
    find_knob(SWAP, None).write("48")
    (note,) = recover_host(knobs_in(open_changes(journal)), FileJournal(journal))
    assert note.startswith("vm.swappiness is 48 now, which this run did not write: left as it is")
    assert now(SWAP) == "48"
    assert now(PRESSURE) != "77"
    find_knob(SWAP, None).write(before)


def test_the_queue_of_the_data_disk_is_set_and_put_back(disk_path: Path) -> None:
    name = "block.read_ahead_kb"
    knobs = HostKnobs(RecordingJournal())
    try:
        before = find_knob(name, disk_path).read()
        wanted = {name: "64" if before != "64" else "128"}
        knobs.check(wanted, disk_path)
    except TargetError as error:
        pytest.skip(f"the tests' disk has no queue to set: {error}")
    try:
        assert knobs.apply(wanted, disk_path) == wanted
        with refused("knob-not-one-of", value="fastest", host="this host"):
            knobs.check({"block.scheduler": "fastest"}, disk_path)
    finally:
        knobs.restore()
    assert find_knob(name, disk_path).read() == before


def test_recover_puts_back_what_the_journal_of_a_killed_run_lists(
    tmp_path: Path, found: dict[str, str]
) -> None:
    path = tmp_path / "journal.jsonl"
    killed_after_writing(path, swappiness="47", dirty_bytes="123457536")
    journal = FileJournal(path)
    assert recover_host(knobs_in(open_changes(path)), journal) == []
    assert {name: now(name) for name in USED} == found
    assert open_changes(path) == []
    assert recorded(host_identity(HERE)) == []


SYNCHRONOUS_COMMIT = '[factors.postgres]\nsynchronous_commit = ["on", "off"]'
SPEC = """
[target]
allow_host_changes = true
[workload]
use = "payments-write"
{factors}
[factors.host]
"vm.swappiness" = [61, 41]
[settings.host]
"vm.vfs_cache_pressure" = 91
[reset]
level = "none"
[load]
clients = 2
rate = 100
step = "{step}"
warmup = "0.1s"
[design]
seed = 3
min_blocks = {blocks}
max_blocks = {blocks}
"""


@contextmanager
def running(spec: Path, run: Path) -> Iterator[None]:
    """Meanwhile `pgassay run` is at work; afterwards it is killed."""
    with begin(["-m", "pgassay", "run", str(spec), "--out", str(run)], session=True) as process:
        yield
        process.kill()
        process.wait(20)


@pytest.mark.usefixtures("own_base")
def test_an_experiment_varies_a_knob_and_puts_the_host_back(
    tmp_path: Path, found: dict[str, str]
) -> None:
    spec, run = tmp_path / "lab.toml", tmp_path / "run"
    text = SPEC.format(step="0.3s", blocks=2, factors=SYNCHRONOUS_COMMIT)
    spec.write_text(f'{text}combinations = "one-at-a-time"\n')
    done = pgassay("run", spec, "--out", run, "--json")
    assert done.returncode == 0, done.stderr
    factors = {verdict["factor"] for verdict in json.loads(done.stdout)["verdicts"]}
    assert factors == {"synchronous_commit", SWAP}
    assert {name: now(name) for name in USED} == found
    for path in (run / "trials").iterdir():
        trial = json.loads((path / "trial.json").read_text())
        assert trial["reset"]["host"] == {SWAP: trial["levels"][SWAP], PRESSURE: "91"}
        assert list(trial["reset"]["settings"]) == ["synchronous_commit"]
    environment = json.loads((run / "environment.json").read_text())
    assert environment["host"]["as found"] == {name: found[name] for name in (SWAP, PRESSURE)}
    assert "vm.swappiness = 41" in pgassay("show", run).stdout
    assert "vm.swappiness = 41" in pgassay("report", run, "--format", "md").stdout


@pytest.mark.usefixtures("own_base")
def test_recover_puts_back_a_killed_experiment_and_a_live_one_is_left_alone(
    tmp_path: Path, found: dict[str, str]
) -> None:
    spec, run = tmp_path / "lab.toml", tmp_path / "run"
    spec.write_text(SPEC.format(step="20s", blocks=2, factors=""))
    with running(spec, run):
        wait_until(lambda: now(SWAP) in ("61", "41"), "a knob that is written")
        refused = pgassay("run", spec, "--out", tmp_path / "second")
        assert refused.returncode == 1
        assert "another pgassay run is changing knobs of this host" in refused.stderr
        alive = pgassay("recover", run)
        assert alive.returncode != 0
        assert now(SWAP) in ("61", "41")
    recovered = pgassay("recover", run)
    assert recovered.returncode == 0, recovered.stderr
    assert "undone: vm.swappiness of this host" in recovered.stdout
    assert {name: now(name) for name in USED} == found
    assert "nothing to undo" in pgassay("recover", run).stdout


@pytest.mark.usefixtures("own_base")
def test_a_killed_experiment_that_is_resumed_puts_back_what_the_first_start_found(
    tmp_path: Path, found: dict[str, str]
) -> None:
    spec, run = tmp_path / "lab.toml", tmp_path / "run"
    spec.write_text(SPEC.format(step="0.3s", blocks=2, factors=""))
    with running(spec, run):
        wait_until(lambda: (run / "trials" / "0001" / "trial.json").is_file(), "a finished trial")
    assert now(PRESSURE) == "91"
    resumed = pgassay("run", "--resume", run, "--json")
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(resumed.stdout)["trials"] == 4
    assert {name: now(name) for name in USED} == found
    environment = json.loads((run / "environment.json").read_text())
    assert environment["host"]["as found"][PRESSURE] == found[PRESSURE]


def test_the_host_of_an_existing_server_is_varied_and_put_back(
    tmp_path: Path, lab_server: LabServer, found: dict[str, str]
) -> None:
    dsn = f"dsn = '{lab_server.place()}'\n"
    allowed = "allow_changes = true\nallow_host_changes = true"
    spec, run = tmp_path / "lab.toml", tmp_path / "run"
    text = SPEC.format(step="0.3s", blocks=2, factors="")
    spec.write_text(text.replace("allow_host_changes = true", dsn + allowed))
    done = pgassay("run", spec, "--out", run, "--json", PGPASSWORD=SECRET)
    assert done.returncode == 0, done.stderr
    assert {name: now(name) for name in USED} == found
    trial = json.loads((run / "trials" / "0001" / "trial.json").read_text())
    assert trial["reset"]["host"][SWAP] == trial["levels"][SWAP]


@pytest.mark.usefixtures("own_base")
@pytest.mark.parametrize(
    ("knob", "words"),
    [
        ("vm.no_such_knob", "vm.no_such_knob: this host has no /proc/sys/vm/no_such_knob"),
        ("kernel.version", "/proc/sys/kernel/version may not be written"),
    ],
)
def test_a_knob_that_cannot_be_set_ends_the_run_before_its_first_trial(
    tmp_path: Path, knob: str, words: str
) -> None:
    spec = tmp_path / "lab.toml"
    text = SPEC.format(step="0.3s", blocks=2, factors="")
    spec.write_text(text.replace('"vm.vfs_cache_pressure" = 91', f'"{knob}" = 1'))
    done = pgassay("run", spec, "--out", tmp_path / "run")
    assert done.returncode == 1
    assert words in done.stderr
    assert not (tmp_path / "run").exists()
