"""What an A/A run found: noise, what can be detected, when, and how best.

Enters: an Analysis. Leaves: findings. Never: estimates.
"""

from __future__ import annotations

import math

from pgassay.analysis.model import Analysis, RunFacts
from pgassay.analysis.noise.model import LENGTHS_FROM, Advice, Calibration
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.noise.fitness import Fitness, checks
from pgassay.findings.noise.forecast import (
    detectable_sentence,
    duration,
    expected_sentence,
    percent,
    title_of,
)
from pgassay.findings.wording import texts_of
from pgassay.language import clauses, decimals, tr

_TEXTS = texts_of(__name__)


def find(analysis: Analysis, _facts: RunFacts) -> list[Finding]:
    """What the run says about the host; nothing for a run that is not A/A."""
    if analysis.noise.calibration is None:
        return []
    return calibration_findings(analysis.noise.calibration, analysis.answer.smallest_effect)


def calibration_findings(found: Calibration, smallest_effect: float) -> list[Finding]:
    """Noise, detectable effect, time to decide, advice; then fitness, check by check."""
    checked = checks(found, smallest_effect)
    worst = max((state for state, _, _ in checked), key=list(Fitness).index, default=Fitness.FIT)
    reasons = clauses(str(text) for state, _, text in checked if state is worst)
    form = "instead" if found.in_blocks_instead else "own"
    texts = [
        (_TEXTS["noise"]["title"], _noise(found)),
        (
            title_of("detectable"),
            detectable_sentence(found.outlook, found.least_blocks, found.most_blocks, form),
        ),
        (title_of("expected"), expected_sentence(found.outlook, found.most_blocks, found.block_s)),
        (_TEXTS["advice"]["title"], _advice(found, smallest_effect)),
        (tr("Fitness: {worst}", worst=tr(worst)), _TEXTS["fitness"][worst].format(reasons=reasons)),
        *(
            (tr("{title}: {state}", title=title, state=tr(state)), _sentence(str(text)))
            for state, title, text in checked
        ),
    ]
    return [Finding(FindingKind.CALIBRATION, title, text) for title, text in texts]


def _sentence(text: str) -> str:
    return tr("{text}.", text=text[0].upper() + text[1:])


def _noise(found: Calibration) -> str:
    noise, texts = found.noise, _TEXTS["noise"]
    parts = texts["no_parts"]
    if noise.start_sd is not None and noise.second_sd is not None:
        parts = str(texts["parts"]).format(
            start=percent(noise.start_sd),
            second=percent(noise.second_sd / noise.measured_s**0.5),
            correlation=decimals(noise.autocorrelation or 0.0, ".2f").replace("-", "\u2212"),
            interval=duration(noise.interval_s or 0.0),
        )
    turns = found.turns
    drift = str(texts["drift"]).format(drift=percent(noise.drift_sd)) if noise.drift_sd else ""
    if turns is not None:
        start_sd = turns.start_sd or 0.0
        rounds_sd = math.sqrt(turns.trial_sd**2 - start_sd**2)
        starts = str(texts["starts" if start_sd else "no_starts"])
        return str(texts["duet" if found.side_by_side else "switchback"]).format(
            metric=METRICS[noise.metric].title,
            round=percent(turns.round_sd),
            rounds=turns.rounds,
            trials=turns.trials,
            mean=percent(turns.trial_sd),
            start=starts.format(start=percent(start_sd), second=percent(rounds_sd)),
            trial=percent(noise.trial_sd),
            measured=duration(noise.measured_s),
            mean_interval=_interval("interval_aside", turns.trial_sd_ci95),
            trial_interval=_interval("interval_aside", noise.trial_sd_ci95),
        )
    return str(texts["text"]).format(
        metric=METRICS[noise.metric].title,
        trial=percent(noise.trial_sd),
        measured=duration(noise.measured_s),
        trials=noise.trials,
        parts=parts,
        drift=drift,
        trial_interval=_interval("interval", noise.trial_sd_ci95),
    )


def _interval(form: str, ends: tuple[float, float] | None) -> str:
    """The 95 % interval of a standard deviation."""
    if ends is None:
        return ""
    low, high = map(percent, ends)
    return str(_TEXTS["noise"][form]).format(low=low, high=high)


def _advice(found: Calibration, smallest_effect: float) -> str:
    texts, advice = _TEXTS["advice"], found.advice
    margin = percent(smallest_effect)
    if found.side_by_side:
        return _advised_duet(found, margin)
    if found.turns is not None:
        return _advised_switchback(found, margin)
    if advice is None:
        form = "none" if found.noise.second_sd is not None else "none_of_this"
        length = duration(found.noise.measured_s)
        return str(texts[form]).format(margin=margin, most=found.advised_within, length=length)
    form = "kept" if advice.trial_s == found.noise.measured_s else "text"
    if found.noise.second_sd is None:
        form = "short"
    return str(texts[form]).format(
        length=duration(advice.trial_s),
        blocks=advice.blocks,
        time=duration(advice.total_s),
        margin=margin,
        optimum=_optimum(advice),
        overhead=duration(found.overhead_s),
    )


def _optimum(advice: Advice) -> str:
    if advice.optimum_s is None:
        return ""
    return str(_TEXTS["advice"]["optimum"]).format(seconds=duration(advice.optimum_s))


def _advised_duet(found: Calibration, margin: str) -> str:
    """How many trials a duet takes; a duet says nothing about blocks."""
    texts, advice = _TEXTS["advice_of_duet"], found.advice_in_turns
    if advice is None:
        form = "none" if found.turns is not None and found.turns.advises_lengths else "none_of_this"
        return str(texts[form]).format(
            margin=margin,
            most=found.advised_within,
            length=duration(found.noise.measured_s),
            enough=LENGTHS_FROM,
        )
    return str(texts["text"]).format(
        trials=advice.blocks,
        length=duration(advice.trial_s),
        time=duration(advice.total_s),
        margin=margin,
        optimum=_optimum(advice),
        overhead=duration(found.overhead_s),
    )


def _advised_switchback(found: Calibration, margin: str) -> str:
    """How many trials a switchback takes, how many blocks without it, and which is faster."""
    texts, turns, blocks = _TEXTS["advice_of_switchback"], found.advice_in_turns, found.advice
    own = (
        str(texts["none"]).format(most=found.advised_within)
        if turns is None
        else str(texts["own"]).format(trials=turns.blocks, time=duration(turns.total_s))
    )
    other = (
        str(texts["no_blocks"]).format(most=found.advised_within)
        if blocks is None
        else str(texts["blocks"]).format(blocks=blocks.blocks, time=duration(blocks.total_s))
    )
    if turns is None and blocks is None:
        which = "neither"
    elif blocks is None or (turns is not None and turns.total_s <= blocks.total_s):
        which = "switchback"
    else:
        which = "better_blocks"
    return str(texts["text"]).format(
        margin=margin,
        measured=duration(found.noise.measured_s),
        own=own,
        blocks=other,
        which=texts[which],
        overhead=duration(found.overhead_s),
    )
