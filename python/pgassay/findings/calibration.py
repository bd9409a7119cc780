"""What an A/A run found, in sentences, and whether the host is fit.

Enters: a Calibration. Leaves: findings. Never: estimates; limits and texts are in calibration.toml.
"""

from __future__ import annotations

import math
import tomllib
from enum import StrEnum
from importlib.resources import files

from pgassay.analysis.calibration_model import (
    LENGTHS_FROM,
    Advice,
    Calibration,
    Expected,
    Outlook,
    RunTrend,
)
from pgassay.analysis.experience import Expectation
from pgassay.analysis.metrics import METRICS
from pgassay.findings.model import Finding, FindingKind
from pgassay.plan.model import Plan

_RULES = tomllib.loads((files(__package__) / "calibration.toml").read_text("utf-8"))


class Fitness(StrEnum):
    """Of a host, for measurements like these."""

    FIT = "fit"
    DOUBTFUL = "doubtful"
    UNFIT = "unfit"


def calibration_findings(found: Calibration, smallest_effect: float) -> list[Finding]:
    """The noise floor, what can be found, when, how best; then fitness, check by check."""
    checks = _checks(found, smallest_effect)
    worst = max((state for state, _, _ in checks), key=list(Fitness).index, default=Fitness.FIT)
    reasons = "; ".join(text for state, _, text in checks if state is worst)
    form = "instead" if found.in_blocks_instead else "own"
    told = [
        (_RULES["noise"]["title"], _noise(found)),
        (
            _RULES["detectable"]["title"],
            detectable_sentence(found.outlook, found.least_blocks, found.most_blocks, form),
        ),
        (
            _RULES["expected"]["title"],
            expected_sentence(found.outlook, found.most_blocks, found.block_s),
        ),
        (_RULES["advice"]["title"], _advice(found, smallest_effect)),
        (f"Fitness: {worst}", _RULES["fitness"][worst].format(reasons=reasons)),
        *((f"{title}: {state}", f"{text[0].upper()}{text[1:]}.") for state, title, text in checks),
    ]
    return [Finding(FindingKind.CALIBRATION, title, text) for title, text in told]


def fitness_of(found: Calibration, smallest_effect: float) -> Fitness:
    """The worst of all checks."""
    states = (state for state, _, _ in _checks(found, smallest_effect))
    return max(states, key=list(Fitness).index, default=Fitness.FIT)


def detectable_sentence(outlook: Outlook, least: int, most: int, form: str = "own") -> str:
    """The least effect that is found in nine of ten runs of the file's own design, or instead."""
    texts = _RULES["detectable"]
    design = str(texts[form]).format(blocks=blocks_words(least, most))
    if outlook.detectable is None:
        return str(texts["none"]).format(design=design)
    return str(texts["text"]).format(design=design, detectable=_percent(outlook.detectable))


def expected_sentence(outlook: Outlook, most_blocks: int, block_s: float) -> str:
    """How many blocks, and how long, with the smallest effect and without any."""
    texts = _RULES["expected"]
    several = str(texts["several"]).format(verdicts=outlook.verdicts)
    return str(texts["text"]).format(
        several=several if outlook.verdicts > 1 else "",
        margin=_percent(outlook.if_different.effect),
        different=_decided(outlook.if_different, most_blocks, block_s),
        same=_decided(outlook.if_same, most_blocks, block_s),
    )


def expectation_lines(found: Expectation | None, plan: Plan) -> list[tuple[str, str]]:
    """(label, sentence) of what a plan can expect, case by case; none without a comparison."""
    if found is None:
        return [("expect", str(_RULES["before"]["duet"]))] if plan.side_by_side else []
    form = found.known_from.replace(" ", "_")
    if form == "this_load" and found.runs == 1:
        form = "one_run"
    noise = " to ".join(_percent(case.trial_sd) for case in found.cases)
    what = str(_RULES["before"]["differences" if plan.alternates else "trials"])
    lines = [("noise", str(_RULES["before"][form]).format(what=what, noise=noise, runs=found.runs))]
    least, most = plan.min_blocks, plan.last_block
    for case in found.cases:
        at = f"At {_percent(case.trial_sd)} %: " if len(found.cases) > 1 else ""
        told = detectable_sentence(case.outlook, least, most)
        expected = expected_sentence(case.outlook, most, found.block_s)
        for label, text in (("finds", told), ("expect", expected)):
            lines.append((label, f"{at}{text[0].lower()}{text[1:]}" if at else text))
    return lines


def duration(seconds: float) -> str:
    """Such as `45 s`, `12 min` or `3 h 05 min`."""
    if seconds < 90:
        return f"{seconds:.3g} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"


def _decided(expected: Expected, most: int, block_s: float) -> str:
    texts = _RULES["expected"]
    share = f"{100 * expected.decided:.0f}"
    if expected.blocks is None:
        return str(texts["open"]).format(share=share, most=most)
    time = duration(expected.blocks * block_s)
    return str(texts["decided"]).format(blocks=expected.blocks, time=time, share=share, most=most)


def _noise(found: Calibration) -> str:
    noise, texts = found.noise, _RULES["noise"]
    parts = texts["no_parts"]
    if noise.start_sd is not None and noise.second_sd is not None:
        parts = str(texts["parts"]).format(
            start=_percent(noise.start_sd),
            second=_percent(noise.second_sd / noise.measured_s**0.5),
            correlation=f"{noise.autocorrelation or 0.0:.2f}".replace("-", "\u2212"),
            interval=duration(noise.interval_s or 0.0),
        )
    turns = found.turns
    drift = str(texts["drift"]).format(drift=_percent(noise.drift_sd)) if noise.drift_sd else ""
    if turns is not None:
        start_sd = turns.start_sd or 0.0
        rounds_sd = math.sqrt(turns.trial_sd**2 - start_sd**2)
        starts = str(texts["starts" if start_sd else "no_starts"])
        return str(texts["duet" if found.side_by_side else "turns"]).format(
            metric=METRICS[noise.metric].title,
            round=_percent(turns.round_sd),
            rounds=turns.rounds,
            trials=turns.trials,
            mean=_percent(turns.trial_sd),
            start=starts.format(start=_percent(start_sd), second=_percent(rounds_sd)),
            trial=_percent(noise.trial_sd),
            measured=duration(noise.measured_s),
            mean_interval=_interval("interval_aside", turns.trial_sd_ci95),
            trial_interval=_interval("interval_aside", noise.trial_sd_ci95),
        )
    return str(texts["text"]).format(
        metric=METRICS[noise.metric].title,
        trial=_percent(noise.trial_sd),
        measured=duration(noise.measured_s),
        trials=noise.trials,
        parts=parts,
        drift=drift,
        trial_interval=_interval("interval", noise.trial_sd_ci95),
    )


def _interval(form: str, ends: tuple[float, float] | None) -> str:
    """Of a standard deviation."""
    if ends is None:
        return ""
    low, high = map(_percent, ends)
    return str(_RULES["noise"][form]).format(low=low, high=high)


def _advice(found: Calibration, smallest_effect: float) -> str:
    texts, advice = _RULES["advice"], found.advice
    margin = _percent(smallest_effect)
    if found.side_by_side:
        return _advised_duet(found, margin)
    if found.turns is not None:
        return _advised_turns(found, margin)
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
    return str(_RULES["advice"]["optimum"]).format(seconds=duration(advice.optimum_s))


def _advised_duet(found: Calibration, margin: str) -> str:
    """Its trials; of blocks instead, trials of two servers at once do not tell."""
    texts, advice = _RULES["advice_of_duet"], found.advice_in_turns
    if advice is None:
        form = "none" if found.turns is not None and found.turns.tells_lengths else "none_of_this"
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


def _advised_turns(found: Calibration, margin: str) -> str:
    """A switchback's trials beside blocks, and which of the two is quicker here."""
    texts, turns, blocks = _RULES["advice_of_turns"], found.advice_in_turns, found.advice
    own = (
        str(texts["none"]).format(most=found.advised_within)
        if turns is None
        else str(texts["turns"]).format(trials=turns.blocks, time=duration(turns.total_s))
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
        turns=own,
        blocks=other,
        which=texts[which],
        overhead=duration(found.overhead_s),
    )


def _checks(found: Calibration, smallest_effect: float) -> list[tuple[Fitness, str, str]]:
    """(state, title, sentence) of each check that could be made."""
    host, effect = found.host, 100.0 * smallest_effect
    reach = None if found.ci95_pct is None else max(abs(end) for end in found.ci95_pct) / effect
    detectable = found.outlook.detectable
    values: dict[str, float | None] = {
        # What whole trials differ by cancels in a switchback.
        "spread": 100.0 * found.noise.trial_sd if found.turns is None else None,
        "detectable": None if detectable is None else detectable / smallest_effect,
        "interval": reach,
        "trend": None if found.trend is None else abs(found.trend.pct),
        "steal": host.worst_steal_pct,
        "others": host.others_pct,
        "frequency": host.frequency_spread_pct,
        "throttled": host.throttled,
    }
    checks = []
    for name in _RULES["order"]["names"]:
        value, rule = values[name], _RULES["check"][name]
        if value is None and "none" in rule:
            checks.append((Fitness.UNFIT, rule["title"], rule["none"]))
        elif value is not None:
            text = str(rule["text"]).format(value=f"{value:.2g}" if value < 10 else f"{value:.0f}")
            state = _state(value, rule["doubt"], rule["unfit"])
            if name == "trend" and found.trend is not None:
                # Drift that the scatter of trials explains is no reason to doubt the host.
                state = state if found.trend.is_sure else Fitness.FIT
                text += _trend_interval(found.trend)
            checks.append((state, rule["title"], text))
    return checks


def _trend_interval(trend: RunTrend) -> str:
    low, high = (f"{end:.2g}".replace("-", "\u2212") for end in trend.ci95_pct)
    texts = _RULES["check"]["trend"]
    return str(texts["sure" if trend.is_sure else "chance"]).format(low=low, high=high)


def _state(value: float, doubt: float, unfit: float) -> Fitness:
    if value >= unfit:
        return Fitness.UNFIT
    return Fitness.DOUBTFUL if value >= doubt else Fitness.FIT


def blocks_words(least: int, most: int) -> str:
    """Such as `6 to 24 blocks`."""
    return f"{least} blocks" if least == most else f"{least} to {most} blocks"


def _percent(share: float) -> str:
    return f"{100 * share:.2g}" if share < 0.1 else f"{100 * share:.0f}"
