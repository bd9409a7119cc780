"""The relabelling of real trials, on made-up ones."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
import pytest
from bench.real import effect as real_effect
from bench.real.aa import Trial, rows_of, store, stored, write_page
from bench.real.aa_rounds import Task, as_row, count, design, relabelled, turn_of
from bench.real.aa_rounds import stored as stored_turns
from bench.real.job import periodic_job
from bench.real.runs import in_order
from bench.validate.alternating.switchback_errors import World, make_trials

from pgassay.notes import legacy
from pgassay.samples.forms.trial import TrialFile
from pgassay.trials.model.record import Validity
from support.synthetic.stored_trials import trial_file

pytestmark = pytest.mark.slow


def noisy_trials(count: int = 60) -> list[Trial]:
    """With a start's luck and a slow drift, as a shared machine has them."""
    source = np.random.default_rng(1)
    found = []
    for at in range(count):
        level = 7000.0 * math.exp(0.02 * source.standard_normal() + 0.005 * at)
        seconds = level * np.exp(0.02 * source.standard_normal(8))
        found.append(Trial(float(seconds.mean()), seconds))
    return found


def shares(rows: list[str]) -> dict[str, float]:
    found = {}
    for row in rows:
        _, name, share, _ = row.split("|")
        if number := re.match(r"\s*([\d.]+) %", share):
            found[name.strip()] = float(number[1])
    return found


def test_blocks_keep_their_error_rate_where_single_trials_do_not() -> None:
    found = shares(rows_of(noisy_trials(), 100))
    assert found["pgassay: 8 blocks"] <= 10.0
    assert found["pgassay: 6 to 24 blocks, sequential"] <= 7.0
    assert found["two single trials, medians more than 1 % apart"] >= 30.0
    assert found["8 trials, then 8 others, Welch's t on trials"] >= 30.0


def test_rules_that_need_more_trials_get_no_row() -> None:
    found = shares(rows_of(noisy_trials(16), 20))
    assert "pgassay: 8 blocks" in found
    assert "pgassay: 6 to 24 blocks, sequential" not in found


@dataclass
class Finished:
    """As much of a stored trial as its order takes."""

    number: int
    started_ns: int
    counts: bool = True

    def validity(self) -> Validity:
        return Validity() if self.counts else Validity((legacy("a neighbour compiled"),))

    def summary(self) -> TrialFile:
        return trial_file(started_ns=self.started_ns)


def test_invalid_trials_are_left_out_and_repeats_stand_where_they_ran() -> None:
    trials = [Finished(1, 10), Finished(2, 20, counts=False), Finished(3, 40), Finished(7, 30)]
    assert [t.number for t in in_order(trials)] == [1, 7, 3]


def test_stored_figures_are_read_back_unchanged(tmp_path: Path) -> None:
    trials = noisy_trials(4)
    store(trials, tmp_path / "figures.csv")
    for before, after in zip(trials, stored(tmp_path / "figures.csv"), strict=True):
        assert abs(after.tps - before.tps) < 0.01
        assert np.allclose(after.seconds, before.seconds, atol=0.5)
    write_page({"Quiet": trials, "Beside a job": noisy_trials(6)}, 5, tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text("utf-8")
    assert page.index("## Quiet\n\n4 trials") < page.index("## Beside a job\n\n6 trials")


def test_a_periodic_job_ends_with_its_context() -> None:
    before = set(psutil.Process().children())
    with periodic_job(0.05, 0.01):
        (job,) = set(psutil.Process().children()) - before
        assert job.status() != psutil.STATUS_ZOMBIE
    assert not job.is_running()


def test_relabelled_slices_are_called_different_at_the_stated_rate(
    tmp_path: Path,
) -> None:
    source = np.random.default_rng(2)
    switchback = design("switchback", 16.0, 4, 4, 1)
    series = [
        [as_row(turn) for turn in trial.turns]
        for trial in make_trials(switchback, World("remembers", memory=0.9), source)
    ]
    path = tmp_path / "turns.json"
    path.write_text(json.dumps({"switchback": {"seconds": 16.0, "trials": series}}))
    found = stored_turns(path)["switchback"]["trials"]
    counted = count(Task("switchback", 16.0, found, 4, 4, range(60)))
    assert sum(different for different, *_ in counted) <= 8  # of 60, where 3 are to be expected
    assert {blocks for *_, blocks, _ in counted} == {4}
    labels = {
        tuple(t.arm for t in relabelled(one, 3)[1][0].turns)
        for one in (
            Task("switchback", 16.0, found, 4, 4, range(1)),
            Task("duet", 16.0, found, 4, 4, range(1)),
        )
    }
    assert len(labels) == 2, "slices are relabelled one by one, servers trial by trial"


def test_the_page_of_a_real_difference_follows_from_its_stored_figures(tmp_path: Path) -> None:
    found = json.loads(real_effect.FIGURES.read_text("utf-8"))
    series = [[turn_of(*turn) for turn in turns] for turns in found["trials"]]
    real_effect.write_page(series, found["seconds"], tmp_path / "page.md")
    assert (tmp_path / "page.md").read_text("utf-8").splitlines()[4:] == (
        real_effect.OUTPUT.read_text("utf-8").splitlines()[4:]
    )
