"""Caveats are ranked by what they could change, and the material ones are found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pgassay.analysis.analyse import answer_of
from pgassay.analysis.curves.halves import effects_by_half, half_caveats
from pgassay.analysis.measures.asked import ArmAsked
from pgassay.analysis.measures.courses.trial_course import StepSpan, TrialCourse
from pgassay.analysis.measures.model import Caveat, TrialMeasures
from pgassay.analysis.model import Analysis, RunFacts
from pgassay.analysis.verdicts.checkpoint_cost import checkpoint_cost_caveats
from pgassay.findings.answer.caveats import find
from pgassay.language import in_language
from pgassay.notes import Importance, Note, Value
from pgassay.plan.model import Plan
from pgassay.server.hosts.local import LocalHost
from pgassay.server.knobs.host_knobs import without_effect
from pgassay.trials.load.caveats import CLIENT_LIMITED, generator_notes, load_notes
from support.notes import codes_in, values_in
from support.synthetic.analyses import changed
from support.synthetic.designs import plan_of_levels, plan_of_spec
from support.synthetic.environments import environment_of
from support.synthetic.trials import trials_of

DISTURBED = Caveat.of("trial", Note("trials/guards/foreign-cpu", {"percent": 5.0}))
MB = 2**20


def plan_of(setting: str = "max_wal_size", levels: tuple[str, ...] = ("32MB", "4GB")) -> Plan:
    return plan_of_levels(levels, setting=setting, least=8)


def disturbed(plan: Plan, *arms: str) -> Analysis:
    """An analysis in which all trials of these arms were disturbed."""
    trials = [
        replace(trial, warnings=(DISTURBED,)) if trial.arm in arms else trial
        for trial in trials_of(plan)
    ]
    return Analysis(answer_of("?", plan, trials))


def test_a_disturbance_that_hits_all_arms_alike_cannot_change_the_result() -> None:
    (found,) = find(disturbed(plan_of(), "a1", "a2"), RunFacts())
    assert found.importance is Importance.DETAIL
    assert "findings/answer/unequal" not in codes_in(found.claim)


def test_caveats_of_trials_that_differ_only_in_figures_are_one_in_every_language() -> None:
    few = Note("trials/load/too-few-for-p99")

    def unfinished(count: int) -> Note:
        values: dict[str, Value] = {"count": count, "percent": count / 10, "effect": few}
        return Note("trials/load/unfinished-few", values)

    plan = plan_of()
    trials = [
        replace(trial, warnings=(Caveat.of("trial", unfinished(trial.number)),))
        if trial.number in (2, 5)
        else trial
        for trial in trials_of(plan)
    ]
    (found,) = find(Analysis(answer_of("?", plan, trials)), RunFacts())
    whose = Note.of("analysis/verdicts/trials", n=2, numbers=(2, 5))
    of_first = Note.of("analysis/verdicts/figures-of-the-first", trials=whose)
    assert found.claim == Note.of(
        "analysis/verdicts/of-trials", trials=of_first, note=unfinished(2)
    )
    assert found.importance is Importance.DETAIL
    with in_language("zh"):
        assert "transactions" not in found.text


def test_a_disturbance_of_one_arm_alone_could_change_the_verdict() -> None:
    (found,) = find(disturbed(plan_of(), "a2"), RunFacts())
    assert found.importance is Importance.VERDICT
    assert values_in(found.claim)["findings/answer/unequal"]["by_arm"] == tuple(
        Note.of("findings/answer/trials-of-arm", count=hit, of=8, label=f"max_wal_size = {level}")
        for level, hit in (("32MB", 0), ("4GB", 8))
    )


def test_two_disturbed_trials_may_be_of_one_arm_by_chance() -> None:
    plan = plan_of()
    analysis = disturbed(plan)
    numbers = tuple(trial.number for trial in analysis.answer.trials if trial.arm == "a2")[:2]
    (found,) = find(changed(analysis, warnings=(replace(DISTURBED, trials=numbers),)), RunFacts())
    assert found.importance is Importance.DETAIL


GENERATOR = {"client_limited": True, "start_skew_ms": 0.0, "clock_error_ms": 0.0}


class NoSwap(LocalHost):
    """This machine without swap."""

    def read(self, path: Path, offset: int = 0) -> bytes:
        return b"Filename Type Size\n" if path.name == "swaps" else super().read(path, offset)


LOAD = {"lost_connections": 0, "failed": 0, "client_cpu_s": 0.0, "duration_s": 1.0}


@pytest.mark.parametrize(
    ("note", "importance"),
    [
        (CLIENT_LIMITED, Importance.VERDICT),
        *(
            (note, Importance.VERDICT)
            for names in (["lab1"], ["lab1", "lab2"])
            for note in generator_notes([{"name": name, **GENERATOR} for name in names])
        ),
        *(
            (note, Importance.VERDICT)
            for skipped in (1, 3)
            for note in load_notes({**LOAD, "skipped": skipped}, (), 1)
        ),
        *(
            (note, Importance.VERDICT)
            for note in without_effect(
                ["vm.swappiness"], NoSwap(), starts_server=True, limits_memory=True
            )
        ),
        (Note("trials/guards/reloads", {"percent": 1.0}), Importance.VERDICT),
        *(
            (Note(code, {"extension": "pgss", "said": "no", "error": "no"}), Importance.DETAIL)
            for code in (
                "trials/sampling/unreadable", "trials/sampling/evicts", "trials/sampling/was-reset",
                "trials/plans/unreadable", "trials/server_log/not-to-end",
            )
        ),
        *(
            (Note(f"trials/guards/{guard}", {"percent": 5.0, "limit": 1.0}), Importance.DETAIL)
            for guard in (
                "foreign-cpu", "steal", "foreign-sessions", "autovacuum", "throttled", "clock-step",
                "forced-checkpoint", "forced-checkpoint-perhaps-own", "asked-checkpoint", "disk",
            )
        ),
    ],
)  # fmt: skip
def test_what_a_trial_says_of_itself_is_ranked_by_what_it_could_change(
    note: Note, importance: Importance
) -> None:
    plan = plan_of()
    trials = [replace(t, warnings=(Caveat.of("trial", note),)) for t in trials_of(plan)]
    (found,) = find(Analysis(answer_of("?", plan, trials)), RunFacts())
    assert found.importance is importance


def test_those_that_could_change_the_verdict_come_first() -> None:
    analysis = changed(
        disturbed(plan_of()),
        warnings=(
            DISTURBED,
            Caveat.of("plan", Note("plan/short-steps", {"shortest": 5.0})),
            Caveat.of("failures", Note("analysis/verdicts/failures", {"by_arm": ()})),
        ),
    )
    found = find(analysis, RunFacts())
    assert [one.importance for one in found] == list(Importance)
    assert found[0].claim.code == "analysis/verdicts/failures"


def with_checkpoints(plan: Plan, per_minute: dict[str, float]) -> list[TrialMeasures]:
    """Every arm writes 10 MB of WAL a second."""
    found = []
    for trial in trials_of(plan):
        values = {
            "checkpoints_per_min": per_minute[trial.arm],
            "wal_bytes_per_tx": 10 * MB * 10 / trial.whole.transactions,
        }
        found.append(replace(trial, whole=replace(trial.whole, values=values)))
    return found


def test_trials_without_checkpoints_are_a_risk_only_while_none_are_counted() -> None:
    text = '[factors.postgres]\nmax_wal_size = ["32MB", "4GB"]\n'
    text += '[settings.postgres]\ncheckpoint_timeout = "1h"\n'
    text += "[design]\nseed = 1\nmin_blocks = 8\nmax_blocks = 8\n"
    plan = plan_of_spec(text)
    for rate, said in ((0.0, True), (2.0, False)):
        trials = with_checkpoints(plan, {"a1": rate, "a2": rate})
        codes = [one.note.code for one in Analysis(answer_of("?", plan, trials)).warnings]
        assert ("plan/no-checkpoints" in codes) is said


def test_an_arm_whose_checkpoints_come_after_its_trials_is_named_with_the_length_it_takes() -> None:
    plan = plan_of()
    trials = with_checkpoints(plan, {"a1": 90.0, "a2": 0.0})
    (caveat,) = checkpoint_cost_caveats(plan, trials, environment_of())
    assert caveat.importance is Importance.VERDICT
    text = caveat.note.values["text"]
    assert isinstance(text, Note)
    assert text.values["arms"] == "max_wal_size = 4GB"
    # 4 GB / 1.9 at 10 MB a second.
    assert caveat.note.values["cycle_s"] == pytest.approx(4096 / 1.9 / 10)


def test_arms_that_all_had_checkpoints_or_wrote_next_to_nothing_have_no_such_caveat() -> None:
    plan = plan_of()
    both = with_checkpoints(plan, {"a1": 90.0, "a2": 12.0})
    assert list(checkpoint_cost_caveats(plan, both, environment_of())) == []
    idle = [
        replace(t, whole=replace(t.whole, values={**t.whole.values, "wal_bytes_per_tx": 0.0}))
        for t in with_checkpoints(plan, {"a1": 0.0, "a2": 0.0})
    ]
    assert list(checkpoint_cost_caveats(plan, idle, environment_of())) == []


def test_several_arms_without_a_checkpoint_are_named_together() -> None:
    plan = plan_of(levels=("32MB", "4GB", "8GB"))
    trials = with_checkpoints(plan, {"a1": 90.0, "a2": 0.0, "a3": 0.0})
    (caveat,) = checkpoint_cost_caveats(plan, trials, environment_of())
    text = caveat.note.values["text"]
    assert isinstance(text, Note)
    assert text.code == "analysis/verdicts/arms-without-checkpoint"
    assert str(text.values["arms"]) == "max_wal_size = 4GB and max_wal_size = 8GB"


def test_the_cycle_of_a_checkpoint_is_that_of_the_settings_that_an_arm_was_run_with() -> None:
    plan = plan_of()
    trials = with_checkpoints(plan, {"a1": 90.0, "a2": 0.0})
    held = [ArmAsked("a2", {"max_wal_size": "4GB", "checkpoint_timeout": "30s"}, {})]
    (caveat,) = checkpoint_cost_caveats(plan, trials, environment_of(), held)
    assert caveat.note.values["cycle_s"] == 30.0


@pytest.mark.parametrize("stored", ["<b>4GB</b>", "-1", "9e99TB"])
def test_a_stored_setting_that_no_server_takes_counts_as_not_stored(stored: str) -> None:
    plan = plan_of()
    trials = with_checkpoints(plan, {"a1": 90.0, "a2": 0.0})
    names = ("max_wal_size", "checkpoint_timeout", "checkpoint_completion_target")
    held = [ArmAsked("a2", dict.fromkeys(names, stored), {})]
    (caveat,) = checkpoint_cost_caveats(plan, trials, environment_of(), held)
    # The defaults: 1 GB / 1.9 at 10 MB a second.
    assert caveat.note.values["cycle_s"] == pytest.approx(1024 / 1.9 / 10)


def test_where_no_arm_had_a_checkpoint_the_verdict_holds_between_checkpoints() -> None:
    plan = plan_of()
    (caveat,) = checkpoint_cost_caveats(
        plan, with_checkpoints(plan, {"a1": 0.0, "a2": 0.0}), environment_of()
    )
    assert caveat.importance is Importance.SIZE
    text = caveat.note.values["text"]
    assert isinstance(text, Note)
    assert text.code == "analysis/verdicts/no-arm-had-a-checkpoint"


def courses(plan: Plan, climb: dict[str, float]) -> list[TrialCourse]:
    """Ten seconds of each trial; the second half is faster by so much."""
    source = np.random.default_rng(3)
    found = []
    for trial in plan.trials:
        tps = 1000.0 * np.exp(0.01 * source.standard_normal(10))
        tps[5:] *= 1.0 + climb[trial.arm]
        empty = np.full(10, np.nan)
        found.append(
            TrialCourse(
                number=trial.number,
                block=trial.block,
                arm=trial.arm,
                open_loop=False,
                edges_s=np.arange(11.0),
                transactions=tps,
                latency_ms=empty,
                response_ms=empty,
                steps=(StepSpan(8.0, 0, 10),),
                checkpoints_s=np.empty(0),
                names=(),
                series=np.empty((0, 10)),
            )
        )
    return found


def half_caveats_of(plan: Plan, runs: list[TrialCourse]) -> list[Caveat]:
    trials = trials_of(plan, effect=0.1)
    verdicts = Analysis(answer_of("?", plan, trials)).answer.verdicts()
    return list(half_caveats(plan, runs, effects_by_half(plan, trials, runs, verdicts)))


@pytest.mark.parametrize(
    ("climb", "kinds"),
    [
        ({"a1": 0.0, "a2": 0.0}, []),
        ({"a1": 0.1, "a2": 0.1}, ["not-settled"]),
        ({"a1": 0.0, "a2": 0.2}, ["not-settled", "difference-changes"]),
    ],
)
def test_short_trials_that_climb_are_told_over_all_trials_of_an_arm(
    climb: dict[str, float], kinds: list[str]
) -> None:
    plan = plan_of()
    runs = courses(plan, climb)
    found = half_caveats_of(plan, runs)
    assert [one.kind for one in found] == kinds
    if "difference-changes" in kinds:
        first, second = (found[1].note.values[half] for half in ("first", "second"))
        assert isinstance(first, float)
        assert isinstance(second, float)
        assert second - first == pytest.approx(20.0, abs=5.0)


def test_names_of_levels_keep_their_hyphens_beside_true_minus_signs() -> None:
    plan = plan_of(setting="search_path", levels=("no-index", "with-index"))
    runs = courses(plan, {"a1": -0.1, "a2": 0.2})
    settled, changes = half_caveats_of(plan, runs)
    assert "no-index" in str(settled.note)
    assert "\u2212" in str(settled.note)
    assert changes.note.values["level"] == "with-index"


def test_a_difference_that_vanishes_within_trials_could_change_the_verdict() -> None:
    plan = plan_of()
    runs = courses(plan, {"a1": 0.2, "a2": 0.0})
    found = half_caveats_of(plan, runs)
    assert found[-1].kind == "difference-changes"
    assert found[-1].importance is Importance.VERDICT
