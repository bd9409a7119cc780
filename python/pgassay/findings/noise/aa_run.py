"""What an A/A run found: noise, what can be detected, when, and how best.

Enters: an Analysis. Leaves: findings. Never: estimates.
"""

from __future__ import annotations

import math

from pgassay.analysis.model import Analysis, RunFacts
from pgassay.analysis.noise.model import LENGTHS_FROM, Advice, Calibration
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.model import FITNESS, Finding, FindingKind
from pgassay.findings.noise.fitness import Fitness, checks
from pgassay.findings.noise.forecast import detectable_sentence, expected_sentence
from pgassay.notes import Note, Term

_RULE = "findings/noise/aa_run"


def find(analysis: Analysis, _facts: RunFacts) -> list[Finding]:
    """Returns what an A/A run says about the host; nothing of any other run."""
    if analysis.noise.calibration is None:
        return []
    return calibration_findings(analysis.noise.calibration, analysis.answer.smallest_effect)


def calibration_findings(found: Calibration, smallest_effect: float) -> list[Finding]:
    """Noise, detectable effect, time to decide, advice; then fitness, check by check."""
    checked = checks(found, smallest_effect)
    worst = max((state for state, _, _ in checked), key=list(Fitness).index, default=Fitness.FIT)
    reasons = tuple(clause for state, _, clause in checked if state is worst)
    form = "instead" if found.in_blocks_instead else "own"
    claims = [
        (Note(f"{_RULE}/noise.title"), _noise(found)),
        (
            Note("findings/noise/forecast/detectable.title"),
            detectable_sentence(found.outlook, found.least_blocks, found.most_blocks, form),
        ),
        (
            Note("findings/noise/forecast/expected.title"),
            expected_sentence(found.outlook, found.most_blocks, found.block_s),
        ),
        (Note(f"{_RULE}/advice.title"), _advice(found, 100.0 * smallest_effect)),
        (
            Note.of(FITNESS, worst=Term(worst)),
            Note.of(f"{_RULE}/fitness.{worst}", reasons=reasons),
        ),
        *(
            (
                Note.of(f"{_RULE}/titles.check", title=title, state=Term(state)),
                Note.of("findings/sentence", clause=clause),
            )
            for state, title, clause in checked
        ),
    ]
    return [Finding(FindingKind.CALIBRATION, title, claim) for title, claim in claims]


def _noise(found: Calibration) -> Note:
    noise, turns = found.noise, found.turns
    if turns is not None:
        start_sd = turns.start_sd or 0.0
        rounds_sd = math.sqrt(turns.trial_sd**2 - start_sd**2)
        return Note.of(
            f"{_RULE}/noise.{'duet' if found.side_by_side else 'switchback'}",
            metric=Term(METRICS[noise.metric].title),
            round=100.0 * turns.round_sd,
            rounds=turns.rounds,
            trials=turns.trials,
            mean=100.0 * turns.trial_sd,
            start=Note.of(
                f"{_RULE}/noise.{'starts' if start_sd else 'no_starts'}",
                start=100.0 * start_sd,
                second=100.0 * rounds_sd,
            ),
            trial=100.0 * noise.trial_sd,
            measured=noise.measured_s,
            mean_interval=_interval("interval_aside", turns.trial_sd_ci95),
            trial_interval=_interval("interval_aside", noise.trial_sd_ci95),
        )
    parts = Note(f"{_RULE}/noise.no_parts")
    if noise.start_sd is not None and noise.second_sd is not None:
        parts = Note.of(
            f"{_RULE}/noise.parts",
            start=100.0 * noise.start_sd,
            second=100.0 * noise.second_sd / noise.measured_s**0.5,
            correlation=noise.autocorrelation or 0.0,
            interval=noise.interval_s or 0.0,
        )
    drift = Note.of(f"{_RULE}/noise.drift", drift=100.0 * (noise.drift_sd or 0.0))
    return Note.of(
        f"{_RULE}/noise.text",
        metric=Term(METRICS[noise.metric].title),
        trial=100.0 * noise.trial_sd,
        measured=noise.measured_s,
        trials=noise.trials,
        parts=parts,
        drift=drift if noise.drift_sd else "",
        trial_interval=_interval("interval", noise.trial_sd_ci95),
    )


def _interval(form: str, ends: tuple[float, float] | None) -> Note | str:
    """The 95 % interval of a standard deviation."""
    if ends is None:
        return ""
    return Note.of(f"{_RULE}/noise.{form}", low=100.0 * ends[0], high=100.0 * ends[1])


def _advice(found: Calibration, margin: float) -> Note:
    """How many trials of which length decide; `margin` is the smallest effect (%)."""
    if found.side_by_side:
        return _advised_duet(found, margin)
    if found.turns is not None:
        return _advised_switchback(found, margin)
    if found.advice is None:
        form = "none" if found.noise.second_sd is not None else "none_of_this"
        return _no_advice(f"advice.{form}", found, margin)
    form = "kept" if found.advice.trial_s == found.noise.measured_s else "text"
    if found.noise.second_sd is None:
        form = "short"
    return _advised(f"advice.{form}", found.advice, found, margin)


def _advised(form: str, advice: Advice, found: Calibration, margin: float) -> Note:
    optimum = Note.of(f"{_RULE}/advice.optimum", seconds=advice.optimum_s or 0.0)
    return Note.of(
        f"{_RULE}/{form}",
        length=advice.trial_s,
        blocks=advice.blocks,
        time=advice.total_s,
        margin=margin,
        optimum="" if advice.optimum_s is None else optimum,
        overhead=found.overhead_s,
    )


def _no_advice(form: str, found: Calibration, margin: float) -> Note:
    return Note.of(
        f"{_RULE}/{form}",
        margin=margin,
        most=found.advised_within,
        length=found.noise.measured_s,
        enough=LENGTHS_FROM,
    )


def _advised_duet(found: Calibration, margin: float) -> Note:
    """How many trials a duet takes; a duet says nothing about blocks."""
    if found.advice_in_turns is None:
        form = "none" if found.turns is not None and found.turns.advises_lengths else "none_of_this"
        return _no_advice(f"advice_of_duet.{form}", found, margin)
    return _advised("advice_of_duet.text", found.advice_in_turns, found, margin)


def _advised_switchback(found: Calibration, margin: float) -> Note:
    """How many trials a switchback takes, how many blocks without it, and which is faster."""
    turns, blocks = found.advice_in_turns, found.advice
    if turns is None and blocks is None:
        which = "neither"
    elif blocks is None or (turns is not None and turns.total_s <= blocks.total_s):
        which = "switchback"
    else:
        which = "better_blocks"
    return Note.of(
        f"{_RULE}/advice_of_switchback.text",
        margin=margin,
        measured=found.noise.measured_s,
        own=_taking("own", turns, "none", found),
        blocks=_taking("blocks", blocks, "no_blocks", found),
        which=Note(f"{_RULE}/advice_of_switchback.{which}"),
        overhead=found.overhead_s,
    )


def _taking(form: str, advice: Advice | None, without: str, found: Calibration) -> Note:
    """How many trials or blocks one design takes, or within how many it decides nothing."""
    if advice is None:
        return Note.of(f"{_RULE}/advice_of_switchback.{without}", most=found.advised_within)
    return Note.of(
        f"{_RULE}/advice_of_switchback.{form}", number=advice.blocks, time=advice.total_s
    )
