"""The cause of a dip is claimed as surely as the run allows, with the experiment that tests it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pgassay.analysis.analyse import answer_of, behaviour_of
from pgassay.analysis.compare.model import Accounting, TimePart
from pgassay.analysis.measures.model import ArmSignals, TrialSignals
from pgassay.analysis.model import Analysis, RunFacts
from pgassay.findings.behaviour import checkpoint_causes, wal_locks
from pgassay.findings.model import Confidence, Evidence, Finding
from pgassay.findings.next_spec import next_spec
from pgassay.notes import Note
from pgassay.plan.design import make_plan
from pgassay.spec.parse import parse_spec
from support.notes import codes_in, values_in
from support.synthetic.analyses import changed
from support.synthetic.courses import trials_with
from support.synthetic.designs import plan_of_spec
from support.synthetic.dips import Cause, trials_of_plan
from support.synthetic.environments import environment_of

RULE = "findings/behaviour/checkpoint_causes"
LOAD = '[workload]\nuse = "payments-write"\n[load]\nclients = 8\nstep = "90s"\n'
DESIGN = "[design]\nseed = 1\nmin_blocks = 4\nmax_blocks = 4\n"
IMAGES = '[factors.postgres]\nfull_page_writes = ["on", "off"]\n'


def analysed(
    causes: Sequence[Cause], factor: str = "", target: str = "", design: str = DESIGN
) -> tuple[Analysis, RunFacts]:
    text = target + LOAD + factor + design
    plan = plan_of_spec(text)
    answer = answer_of("", plan, trials_with(plan))
    behaviour = behaviour_of(plan, answer, trials_of_plan(plan, causes))
    return Analysis(answer, behaviour), RunFacts(spec_text=text)


def found_in(analysed: tuple[Analysis, RunFacts]) -> dict[str, Finding]:
    return {codes_in(one.title)[0]: one for one in checkpoint_causes.find(*analysed)}


def evidence_of(figures: Sequence[Evidence], name: str) -> list[Evidence]:
    return [one for one in figures if codes_in(one.metric)[0] == f"{RULE}/evidence.{name}"]


def test_one_arm_with_all_signs_of_images_supports_them_and_offers_the_control_arm() -> None:
    (found,) = found_in(analysed(["images"])).values()
    assert found.title == Note(f"{RULE}/images.title")
    assert found.confidence is Confidence.SUPPORTED
    said = values_in(found.claim)[f"{RULE}/images.text"]
    assert [said["before"], said["peak"]] == pytest.approx([0.3, 5.2], abs=0.05)
    every = Note.of(f"{RULE}/evidence.seen", seen=4, trials=4)
    assert every in [one.figure for one in evidence_of(found.evidence, "sign")]
    assert f"{RULE}/images.care" in codes_in(found.confirm)
    spec = parse_spec(found.next_spec, source="next.toml", beside=Path())
    assert [arm.levels for arm in make_plan(spec).arms] == [
        {"full_page_writes": "on"},
        {"full_page_writes": "off"},
    ]


def test_the_arm_without_images_confirms_them() -> None:
    (found,) = found_in(analysed(["images", "none"], IMAGES)).values()
    assert found.confidence is Confidence.CONFIRMED
    said = values_in(found.claim)
    confirmed = said[f"{RULE}/images.confirmed"]
    assert (confirmed["factor"], confirmed["level"]) == ("full_page_writes", "off")
    assert said[f"{RULE}/less.lost"]["other"] == "on"
    assert said[f"{RULE}/less.own"]["level"] == "off"
    for name in ("contrast", "depth"):
        (one,) = evidence_of(found.evidence, name)
        assert codes_in(one.figure) == [f"{RULE}/evidence.{name}_figure"], "it is clear"
    assert "wal_compression" in found.next_spec


def test_in_a_run_that_may_end_early_the_interval_of_a_contrast_is_that_of_its_looks() -> None:
    (fixed,) = analysed(["images", "none"], IMAGES)[0].behaviour.checkpoint_contrasts
    early = DESIGN.replace("min_blocks = 4", "min_blocks = 2")
    (looked,) = analysed(["images", "none"], IMAGES, design=early)[0].behaviour.checkpoint_contrasts
    assert looked.blocks == fixed.blocks
    assert (looked.lost_transactions.low or 0.0) < (fixed.lost_transactions.low or 0.0)


def test_an_arm_without_images_that_dips_as_well_leaves_a_hypothesis() -> None:
    """The signs are those of images in one arm, but the arm without them loses as much."""
    factor = '[factors.postgres]\nwal_compression = ["off", "pglz"]\n'
    (found,) = found_in(analysed(["images", "images"], factor)).values()
    assert found.confidence is Confidence.HYPOTHESIS
    (contrast,) = evidence_of(found.not_for_it, "contrast")
    levels = {"level": "wal_compression = pglz", "other": "off"}
    assert contrast.metric == Note(f"{RULE}/evidence.contrast", levels)
    assert codes_in(contrast.figure) == [f"{RULE}/evidence.unclear"]


def test_without_an_experiment_file_the_text_says_what_to_compare() -> None:
    analysis, _ = analysed(["images"])
    (found,) = found_in((analysis, RunFacts(spec_text="["))).values()
    assert found.next_spec == ""
    asked = values_in(found.confirm)[f"{RULE}/test.by_hand"]
    assert asked == {"setting": "wal_compression", "other": "off", "level": "pglz"}


def test_a_factor_that_does_not_touch_the_cause_confirms_nothing() -> None:
    factor = '[factors.postgres]\nwork_mem = ["4MB", "8MB"]\n'
    (found,) = found_in(analysed(["images", "none"], factor)).values()
    assert found.confidence is Confidence.SUPPORTED


def test_waits_for_a_busy_disk_support_write_back() -> None:
    (found,) = found_in(analysed(["writeback"])).values()
    assert found.title == Note(f"{RULE}/writeback.title")
    assert found.confidence is Confidence.SUPPORTED
    assert values_in(found.claim)[f"{RULE}/writeback.text"]["sync"] == pytest.approx(0.5)
    spec = parse_spec(found.next_spec, source="next.toml", beside=Path())
    assert [factor.name for factor in make_plan(spec).factors] == ["checkpoint_flush_after"]


def test_a_factor_that_changes_how_checkpoints_write_confirms_write_back() -> None:
    factor = '[factors.postgres]\ncheckpoint_flush_after = ["0", "256kB"]\n'
    found = found_in(analysed(["writeback", "none"], factor))
    (confirmed,) = found.values()
    assert confirmed.confidence is Confidence.CONFIRMED


def test_two_causes_are_two_findings() -> None:
    assert len(found_in(analysed(["both"]))) == 2


def test_without_a_dip_nothing_is_claimed() -> None:
    assert found_in(analysed(["none"])) == {}
    assert found_in(analysed(["none", "none"], IMAGES)) == {}


def test_full_page_writes_are_never_turned_off_on_an_existing_server() -> None:
    target = '[target]\ndsn = "service=lab"\nallow_changes = true\n'
    (found,) = found_in(analysed(["images"], target=target)).values()
    assert 'wal_compression = ["off", "pglz"]' in found.next_spec
    assert "full_page_writes" not in found.next_spec


def test_the_next_experiment_holds_the_factors_of_this_one_at_the_levels_of_the_arm() -> None:
    text = (
        LOAD.replace('use = "payments-write"\n', "")
        + '[factors.workload]\nuse = ["payments", "payments-write"]\n'
        + '[factors.postgres]\nmax_wal_size = ["1GB", "2GB"]\n'
        + '[settings.postgres]\nfull_page_writes = "on"\n'
        + DESIGN
        + 'mode = "blocks"\n'
    )
    held = {"workload": "payments-write", "max_wal_size": "2GB"}
    written = next_spec(text, held, "Why?", {"postgres": {"full_page_writes": ["on", "off"]}})
    spec = parse_spec(written, source="next.toml", beside=Path())
    assert spec.file.workload.use == "payments-write"
    assert spec.file.settings.postgres == {"max_wal_size": "2GB"}
    assert spec.question == "Why?"
    assert (
        spec.file.load.clients == parse_spec(text, source="a.toml", beside=Path()).file.load.clients
    )


def test_a_factor_that_the_run_has_already_is_no_next_experiment() -> None:
    text = LOAD + '[factors.postgres]\nwal_compression = ["off", "pglz"]\n'
    assert next_spec(text, {}, "", {"postgres": {"wal_compression": ["off", "pglz"]}}) == ""


def with_sessions(events: dict[str, float], factor: str = "") -> tuple[Analysis, RunFacts]:
    """Trials of 8 sessions that are always in a transaction."""
    analysis, facts = analysed(["none", "none"] if factor else ["none"], factor)
    named = {("sessions", "", key.replace("_", ":", 1)): value for key, value in events.items()}
    numbers = [(trial.number, trial.arm) for trial in analysis.answer.trials]
    signals = tuple(
        ArmSignals(
            arm.id,
            tuple(
                TrialSignals(n, n, arm.id, 90.0, 90_000, named) for n, a in numbers if a == arm.id
            ),
        )
        for arm in analysis.answer.arms
    )
    trials = tuple(
        replace(one, whole=replace(one.whole, values={"latency_mean": 8.0}))
        for one in analysis.answer.trials
    )
    environment = environment_of(server={"every_setting": {"wal_buffers": {"value": "4 × 8kB"}}})
    facts = RunFacts(environment, spec_text=facts.spec_text)
    return changed(analysis, trials=trials, signals=signals), facts


@pytest.mark.parametrize(
    ("events", "fires"),
    [
        ({"LWLock_WALInsert": 3.0, "CPU": 2.0}, True),
        ({"LWLock_WALWrite": 2.0, "LWLock_WALBufMapping": 1.0, "CPU": 4.0}, True),
        # One session flushes for all others: commits wait for the disk, not for a lock.
        ({"LWLock_WALWrite": 6.0, "IO_WALSync": 0.9, "CPU": 0.5}, False),
        # Most of the sampled time, but a small part of the transactions' time.
        ({"LWLock_WALInsert": 1.5, "CPU": 0.1}, False),
    ],
)
def test_wal_locks_are_named_where_transactions_spend_their_time_in_them(
    events: dict[str, float], fires: bool
) -> None:
    found = wal_locks.find(*with_sessions(events))
    assert bool(found) is fires
    if fires:
        assert found[0].confidence is Confidence.SUPPORTED
        spec = parse_spec(found[0].next_spec, source="next.toml", beside=Path())
        (factor,) = make_plan(spec).factors
        assert (factor.name, factor.levels) == ("wal_buffers", ("32kB", "64MB"))


def test_wal_locks_of_two_trials_or_beside_a_factor_without_effect_are_a_hypothesis() -> None:
    analysis, facts = with_sessions({"LWLock_WALInsert": 4.0})
    signals = tuple(replace(arm, trials=arm.trials[:2]) for arm in analysis.explanation.signals)
    (few,) = wal_locks.find(changed(analysis, signals=signals), facts)
    whole = TimePart("whole", "", 8.0, 8.0, 0.0, (-1.0, 1.0), None, None)
    same = Accounting("wal_buffers", "32kB", "16MB", 4, whole, (whole,), (None, None))
    (varied,) = wal_locks.find(changed(analysis, accounting=(same,)), facts)
    assert few.confidence is varied.confidence is Confidence.HYPOTHESIS


def test_wal_locks_are_confirmed_by_a_factor_that_shortens_the_wait_and_the_transaction() -> None:
    analysis, facts = with_sessions(
        {"LWLock_WALInsert": 4.0}, '[factors.postgres]\nwal_buffers = ["32kB", "16MB"]\n'
    )

    def part(name: str, difference: float) -> TimePart:
        return TimePart(
            name, name, 8.0, 8.0 + difference, difference, (difference - 1.0, -0.5), None, None
        )

    proof = Accounting(
        "wal_buffers", "32kB", "16MB", 4, part("whole", -3.0), (part("wal", -3.5),), (None, None)
    )
    (found,) = wal_locks.find(changed(analysis, accounting=(proof,)), facts)
    assert found.confidence is Confidence.CONFIRMED
    said = values_in(found.claim)["findings/behaviour/wal_locks/confirmed"]
    assert {name: said[name] for name in ("factor", "level", "other", "wait", "whole")} == {
        "factor": "wal_buffers",
        "level": "16MB",
        "other": "32kB",
        "wait": 3.5,
        "whole": 3.0,
    }
    assert "synchronous_commit" in found.next_spec
