"""The live view fits narrow terminals and shows what was measured."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

from pgassay.cli.run import progress
from pgassay.cli.run.progress import RunProgress
from pgassay.cli.terminal import live_view
from pgassay.cli.terminal.console import silenced
from pgassay.cli.terminal.live_view import LoadRates, figures_line, figures_table
from pgassay.notes import Note
from pgassay.trials.sampling.live_view import (
    LiveFigures,
    Snapshot,
    figures_between,
    whole_readings,
)
from support.synthetic.designs import plan_of_spec

S = 1_000_000_000
BUSY = LiveFigures(
    answers=True,
    sessions={
        "LWLock:WALWrite": 11.5, "CPU": 2.25, "IO:WALSync": 1.0, "Lock:transactionid": 0.5,
        "LWLock:ParallelHashJoinAndSomeMore": 0.25, "IO:DataFileRead": 0.2, "IPC:BufferIO": 0.1,
    },
    checkpoint=True,
    tps=12345.6,
    rollbacks=3.0,
    processors={"busy": 83.0, "iowait": 9.0, "steal": 1.0},
    read_bytes_s=12.5e6,
    written_bytes_s=250e6,
)  # fmt: skip
HIDDEN = LiveFigures(
    answers=True, sessions={}, checkpoint=False, tps=None, rollbacks=None, processors=None,
    read_bytes_s=None, written_bytes_s=None,
)  # fmt: skip
SPEC = """
question = "Which of these two rather long values of a setting is the better one?"
[factors.postgres]
default_text_search_config = ["pg_catalog.english", "pg_catalog.norwegian"]
"""


def drawn(what: Any, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, no_color=True)
    with console.capture() as capture:
        console.print(what)
    return [Text.from_ansi(line).plain for line in capture.get().splitlines()]


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_table_fits_its_terminal(width: int) -> None:
    lines = drawn(figures_table(BUSY, width), width)
    text = "\n".join(lines)
    for word in ("12 346", "15.8 active", "checkpoint running", "LWLock:WALWrite"):
        assert word in " ".join(text.split())
    assert all(len(line) <= width for line in lines)
    assert len(lines) <= 12


def test_the_largest_other_programs_stand_beside_their_share() -> None:
    shared = replace(BUSY, processors={"busy": 90.0, "iowait": 0.0, "steal": 0.0, "others": 62.0})
    table = "".join(drawn(figures_table(shared, 200, others=("cc1", "ba\x1bsh")), 200))
    assert "62 % (cc1, ba sh)" in table


def test_what_is_not_measured_is_not_shown() -> None:
    assert figures_line(HIDDEN) == "0.0 active"
    assert "CPU" not in "".join(drawn(figures_table(HIDDEN, 60), 60))


def test_a_server_cannot_steer_the_terminal_by_the_name_of_an_event() -> None:
    hostile = replace(BUSY, sessions={"Extension:a\x1b]0;owned\x07[red]b\nc": 2.0})
    assert "\x1b" not in figures_line(hostile)
    assert "\n" not in figures_line(hostile)
    table = "\n".join(drawn(figures_table(hostile, 100), 100))
    assert "\x1b" not in table
    assert "\x07" not in table
    assert "[red]b c" in table


def test_a_server_that_does_not_answer_is_reported() -> None:
    gone = LiveFigures(**{**vars(HIDDEN), "answers": False})
    assert "no samples lately" in figures_line(gone)
    assert "no samples lately" in "".join(drawn(figures_table(gone, 60), 60))


def progress_at(elapsed_s: float, transactions: int, failed: int = 0) -> Mapping[str, Any]:
    return {
        "elapsed_s": elapsed_s, "transactions": transactions, "failed": failed, "measured": True,
        "latency_ms": transactions * 2.0, "clients": 8, "tps": 100.0,
    }  # fmt: skip


def test_rates_cover_the_last_seconds_only() -> None:
    rates = LoadRates()
    for second in range(10):
        line = rates.add(progress_at(second, 1000 if second < 5 else 1000 + 100 * (second - 4)))
    assert line.plain == "100 tps  2.00 ms mean latency"
    assert "5 failed" in rates.add(progress_at(11, 1700, failed=5)).plain


def test_a_load_command_has_no_latency_and_its_counts_begin_anew_in_each_step() -> None:
    rates = LoadRates()
    for second, transactions in ((0, 0), (1, 50), (2, 0), (3, 10)):
        line = rates.add({"elapsed_s": second, "transactions": transactions, "failed": 0})
    assert line.plain == "10.0 tps"


@pytest.mark.parametrize("width", [60, 120])
def test_a_run_fits_its_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, no_color=True)
    for module in (progress, live_view):
        monkeypatch.setattr(module, "err", console)
    plan = plan_of_spec(SPEC)
    view = RunProgress()
    view.planned(plan)
    trial = plan.trials[0]
    view.trial_began(trial, plan.arm(trial.arm).label)
    view.loading(progress_at(1, 100), BUSY)
    view.loading(progress_at(2, 200), BUSY)
    lines = drawn(view.drawing(), width)
    assert all(len(line) <= width for line in lines)
    text = "\n".join(lines)
    for word in ("trial 1", "100 tps", "LWLock:WALWrite", "iowait", "8 clients", "min left"):
        assert word in text


def glance(at_s: int, **values: Any) -> Snapshot:
    given: dict[str, Any] = {
        "at_ns": at_s * S, "ticks": 10 * at_s, "checkpointing": 0, "busy": {}, "readings": {},
        "own_transactions": 0,
    }  # fmt: skip
    return Snapshot(**{**given, **values})


def reading(at_s: int, **objects: Mapping[str, float]) -> Mapping[str, Any]:
    return {"time_ns": at_s * S, "objects": {name.strip("_"): v for name, v in objects.items()}}


def test_figures_leave_out_the_work_of_the_sampler() -> None:
    before = glance(
        10,
        busy={"CPU": 5, "IO:WALSync": 1},
        readings={
            "cluster": reading(10, _={"xact_commit": 1000.0, "xact_rollback": 5.0}),
            "stat": reading(10, cpu={"user": 10.0, "idle": 80.0, "iowait": 5.0, "steal": 0.0}),
            "diskstats": reading(
                10,
                sda={"sectors_read": 0.0, "sectors_written": 0.0},
                sda1={"sectors_read": 0.0, "sectors_written": 0.0},
            ),
        },
    )
    now = glance(
        12,
        busy={"CPU": 25, "IO:WALSync": 1},
        checkpointing=3,
        own_transactions=40,
        readings={
            "cluster": reading(12, _={"xact_commit": 1240.0, "xact_rollback": 1.0}),
            "stat": reading(12, cpu={"user": 60.0, "idle": 120.0, "iowait": 15.0, "steal": 0.0}),
            "diskstats": reading(
                12,
                sda={"sectors_read": 0.0, "sectors_written": 2000.0},
                sda1={"sectors_read": 0.0, "sectors_written": 2000.0},
            ),
        },
    )
    seen = figures_between(before, now)
    assert seen.sessions == {"CPU": 1.0}
    assert seen.checkpoint
    assert seen.tps == pytest.approx(100.0)
    assert seen.rollbacks is None, "it went backwards"
    assert seen.processors == {"busy": 50.0, "iowait": 10.0, "steal": 0.0}
    assert seen.written_bytes_s == pytest.approx(512_000)
    assert seen.read_bytes_s == 0


def test_the_share_of_other_programs_is_without_the_server_and_the_load() -> None:
    def look(at_s: int, user: float, walwriter: float, own_s: float) -> Snapshot:
        cpu = {"user": user, "nice": 0.0, "idle": 300.0 - user, "iowait": 0.0, "steal": 0.0}
        kinds = {"client": {"user_ticks": 40.0}, "walwriter": {"user_ticks": walwriter}}
        readings = {"stat": reading(at_s, cpu=cpu), "processes": reading(at_s, **kinds)}
        return glance(at_s, readings=readings, client_user_s=own_s)

    before, now = look(10, 0.0, 0.0, 1.0), look(12, 100.0, 20.0, 1.3)
    now = replace(now, readings={**now.readings, "stat": reading(12, cpu={
        "user": 100.0, "nice": 0.0, "idle": 400.0, "iowait": 0.0, "steal": 0.0,
    })})  # fmt: skip
    found = figures_between(before, now).processors
    assert found is not None
    assert found["others"] == pytest.approx(25.0)
    unknown = figures_between(before, replace(now, client_user_s=None)).processors
    assert unknown is not None
    assert "others" not in unknown


def test_without_a_tick_the_server_does_not_answer() -> None:
    assert not figures_between(glance(1, ticks=5), glance(3, ticks=5)).answers


def test_a_value_that_a_reading_leaves_out_has_not_changed() -> None:
    values: dict[str, dict[str, dict[str, float]]] = {}
    first = whole_readings(values, {"stat": reading(1, cpu={"idle": 7.0, "user": 1.0})})
    second = whole_readings(values, {"stat": reading(2, cpu={"user": 9.0})})
    assert first["stat"]["objects"] == {"cpu": {"idle": 7.0, "user": 1.0}}
    assert second["stat"] == {"time_ns": 2 * S, "objects": {"cpu": {"idle": 7.0, "user": 9.0}}}


def test_before_a_disk_has_been_read_twice_nothing_is_known_of_it() -> None:
    sda = {"sectors_read": 0.0, "sectors_written": 2000.0}
    seen = figures_between(glance(1), glance(2, readings={"diskstats": reading(2, sda=sda)}))
    assert seen.written_bytes_s is None


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What a run prints where there is no terminal."""
    text = io.StringIO()
    console = Console(file=text, width=200)
    for module in (progress, live_view):
        monkeypatch.setattr(module, "err", console)
    return text


def test_without_a_terminal_a_line_per_trial_says_how_long_the_rest_takes(
    printed: io.StringIO,
) -> None:
    plan = plan_of_spec(SPEC)
    view, (first, *_) = RunProgress(), plan.trials
    view.planned(plan)
    view.trial_began(first, plan.arm(first.arm).label)
    view.trial_ended(first, 1234.5)
    line = printed.getvalue().splitlines()[-1]
    assert "1\u202f234 tps" in line
    assert re.search(r" left \(to block \d+ at least, \d+ at most\)\)$", line)


def test_a_run_begins_with_one_line(printed: io.StringIO) -> None:
    found = Note.of("findings/noise/forecast/detectable.brief", detectable=3.2)
    plan = replace(plan_of_spec(SPEC), notes=())
    RunProgress(forecast=lambda plan: (replace(plan, trial_s=150.0, outside_s=0.0), found)).planned(
        plan
    )
    (line,) = printed.getvalue().splitlines()
    assert line.startswith("Which of these two rather long values")
    assert re.search(
        r"2 arms, 6 to 24 blocks, about 30 min to 2 h 00 min, finds 3.2 % or more$", line
    )


def test_of_the_notes_of_a_plan_a_run_shows_those_that_change_its_question_and_counts_the_others(
    printed: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    warned: list[str] = []
    monkeypatch.setattr(RunProgress, "warned", lambda _, text: warned.append(text))
    others = [Note.of("plan/short-steps", shortest=2.0), Note.of("plan/few-trials", least=4)]
    urgent = Note.of("plan/no-verdict", max_blocks=2, enough=6)
    plan = replace(plan_of_spec(SPEC), notes=(others[0], urgent, others[1]))
    RunProgress(notes_in="pgassay plan wal.toml").planned(plan)
    _, counted = printed.getvalue().splitlines()
    assert warned == [str(urgent)]
    assert counted.startswith("2 notes ")
    assert counted.endswith(": pgassay plan wal.toml")


def test_what_is_rare_has_three_digits(printed: io.StringIO) -> None:
    plan = plan_of_spec(SPEC)
    view = RunProgress()
    view.planned(plan)
    view.trial_began(plan.trials[0], "an arm")
    view.trial_ended(plan.trials[0], 2.346)
    assert "  2.35 tps  " in printed.getvalue().splitlines()[-1]


def test_the_time_left_is_that_of_the_arms_without_a_verdict(printed: io.StringIO) -> None:
    spec = 'factors.postgres.work_mem = ["4MB", "8MB", "16MB", "32MB"]\nload.step = "50s"\n'
    spec += 'load.warmup = "10s"\ndesign.min_blocks = 4\ndesign.max_blocks = 12'
    plan = plan_of_spec(spec)
    view = RunProgress()
    view.planned(plan)
    following = replace(plan, dropped={"a2": 6, "a3": 6})
    view.replanned(following)
    for trial in following.block(12):
        view.trial_began(trial, "an arm")
        view.trial_ended(trial, 1000.0)
    before_the_last, after = printed.getvalue().splitlines()[-2:]
    assert re.search(r"\(0 to \d\d s left\)$", before_the_last), "one trial"
    assert after.endswith("(0 s left)")


def test_what_is_to_be_quiet_prints_nothing_until_it_is_over() -> None:
    text = io.StringIO()
    console = Console(file=text, width=80, force_terminal=True)
    with silenced(True, console):
        console.print("progress")
    with silenced(False, console):
        console.print("result")
    with pytest.raises(ValueError, match="x"), silenced(True, console):
        raise ValueError("x")
    console.print("what is kept")
    assert text.getvalue() == "result\nwhat is kept\n"


def test_no_color_takes_the_colours_and_leaves_the_words() -> None:
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, _environ={"NO_COLOR": "1"})
    console.print(figures_table(BUSY, 80))
    assert "LWLock:WALWrite" in text.getvalue()
    assert not re.search(r"\x1b\[[\d;]*3\d", text.getvalue())
