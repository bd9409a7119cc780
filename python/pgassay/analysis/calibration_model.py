"""What an A/A run says, as values.

Enters: nothing. Leaves: frozen dataclasses. Never: computes more than a sum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Noise:
    """Of one metric, as shares of its mean (standard deviations of logarithms)."""

    metric: str
    trials: int
    degrees: int
    """Of freedom, behind `trial_sd`."""
    measured_s: float
    """Of each of these trials."""
    trial_sd: float
    """Between trials of one arm in one block."""
    second_sd: float | None
    """What one second adds to a trial's mean, its inertia counted: that of a trial of T seconds
    is this ÷ √T. None where a trial has too few intervals, or the metric has no course."""
    start_sd: float | None
    """What is left of `trial_sd` without the seconds: the luck of a start. 0 where nothing is."""
    autocorrelation: float | None
    """Of neighbouring intervals inside a trial."""
    interval_s: float | None
    drift_sd: float | None
    """Between blocks, beyond what their trials explain; None below three blocks."""
    trial_sd_ci95: tuple[float, float] | None = None
    """The chi-square interval of `trial_sd`; runs of before have none."""

    def trial_sd_at(self, measured_s: float) -> float:
        """That of trials of another length; the same where the parts are not known."""
        if self.second_sd is None or self.start_sd is None:
            return self.trial_sd
        return math.hypot(self.start_sd, self.second_sd / math.sqrt(measured_s))


@dataclass(frozen=True)
class TurnFloor:
    """Of a run in which two arms took turns, as shares of its metric."""

    mode: str
    metric: str
    slice_s: float
    """That was asked for; other trials have another length."""
    measured_s: float
    """Of each trial."""
    trials: int
    trial_sd: float
    """Of a trial's mean of the differences of two arms."""
    rounds_sd: float
    """The part of it that its rounds explain, which is less in longer trials."""
    units: float
    """Independent differences that a trial is worth; one in a duet: each start has its luck."""


@dataclass(frozen=True)
class NoiseFloor:
    """Of one run: what later ones can expect on this host."""

    metrics: tuple[Noise, ...]
    """Of trials of an arm each; none where arms take turns inside them."""
    overhead_s: float
    """Of each trial: its reset, its warm-up, what surrounds them."""
    turns: TurnFloor | None = None


@dataclass(frozen=True)
class Expected:
    """Runs in which the truth is `effect`, a share of the baseline."""

    effect: float
    decided: float
    """Share of runs that reach a verdict within the blocks."""
    blocks: int | None
    """By which half of all runs have a verdict; None where fewer than half ever do."""


@dataclass(frozen=True)
class Outlook:
    """Of one level against its baseline."""

    difference_sd: float
    """Of one block, in logarithms."""
    verdicts: int
    """How many such verdicts the run waits for, this one among them."""
    detectable: float | None
    """The least effect that is called different in 90 % of runs; None where there is none."""
    if_different: Expected
    """Where the truth is the smallest effect that matters."""
    if_same: Expected
    """Where there is no difference."""


@dataclass(frozen=True)
class HostSteadiness:
    """Of all trials together."""

    steal_pct: float | None
    """Of all processors' time: what the hypervisor gave to others."""
    worst_steal_pct: float | None
    """The same, of the worst trial."""
    others_pct: float | None
    """User time of processes that are neither the server's nor pgassay's."""
    frequency_spread_pct: float | None
    """Standard deviation of the processors' speed between looks, of its mean."""
    throttled: int | None
    """How often processors were slowed for heat."""


@dataclass(frozen=True)
class Advice:
    """The length of trial that decides soonest; one that is no worse than 10 % is kept."""

    trial_s: float
    blocks: int
    """By which 90 % of runs have a verdict, whether there is the smallest effect or none."""
    total_s: float
    """Of all arms, resets and warm-ups in it."""
    optimum_s: float | None
    """Kalibera and Jones' own; None where starts add nothing that can be seen."""


LENGTHS_FROM = 12
"""Trials of a duet: fewer do not tell starts from seconds."""


@dataclass(frozen=True)
class TurnNoise:
    """Of rounds of slices, as shares of the metric (standard deviations of logarithms)."""

    rounds: int
    trials: int
    """That these are of."""
    round_sd: float
    """Of a round's difference between two labels of one arm, within its trial."""
    trial_sd: float
    """Of a trial's mean of such differences, the rounds' memory counted."""
    units: float
    """Independent differences that a trial is worth; one in a duet."""
    trial_sd_ci95: tuple[float, float] | None = None
    """As of `Noise`."""
    start_sd: float | None = None
    """Of a duet: the part of `trial_sd` that rounds do not explain, the luck of two starts."""

    @property
    def tells_lengths(self) -> bool:
        """Whether starts are told from seconds well enough to advise another length of trial."""
        return self.start_sd is not None and self.trials >= LENGTHS_FROM

    def trial_sd_at(self, measured_s: float, of_s: float) -> float:
        """That of trials of another length than `of_s`; the same where the parts are not known."""
        if self.start_sd is None:
            return self.trial_sd
        rounds = max(0.0, self.trial_sd**2 - self.start_sd**2)
        return math.sqrt(self.start_sd**2 + rounds * of_s / measured_s)


@dataclass(frozen=True)
class RunTrend:
    """From the first trial to the last, of all trials in their order."""

    pct: float
    ci95_pct: tuple[float, float]

    @property
    def is_sure(self) -> bool:
        """Whether it is more than the trials' own scatter."""
        return self.ci95_pct[0] > 0.0 or self.ci95_pct[1] < 0.0


@dataclass(frozen=True)
class Calibration:
    """The noise floor of a host, under one load."""

    noise: Noise
    """Of trials; where labels take turns of whole ones, neighbours against each other."""
    effect_pct: float
    """Of one label against the other, where the truth is nothing."""
    ci95_pct: tuple[float, float] | None
    p_sign_flip: float | None
    outlook: Outlook
    """Of the experiment as the file designs it, in its own mode."""
    arms: int
    """The experiment's own."""
    least_blocks: int
    most_blocks: int
    in_blocks_instead: bool
    """Whether this run had an arm per trial, and the file's own lets arms take turns."""
    overhead_s: float
    """Of each trial of the experiment: its reset, its warm-up, what surrounds them."""
    advice: Advice | None
    """Of blocks of an arm per trial; None where no length would decide within `advised_within`, and
    of a duet, whose trials do not tell."""
    advised_within: int
    """Blocks: up to the last look of a group-sequential run, else 200."""
    host: HostSteadiness
    trend_pct: float | None
    """From the first trial to the last, of all trials in their order; None of fewer than five."""
    turns: TurnNoise | None = None
    """Where both labels took turns."""
    trend: RunTrend | None = None
    """The same with its interval."""
    advice_in_turns: Advice | None = None
    """Of trials in which all arms take turns, as long as they were; None where too many."""

    side_by_side: bool = False
    """Whether each label had a server of its own."""

    @property
    def block_s(self) -> float:
        """Seconds of a block of the experiment, resets and warm-ups in it."""
        trials = self.arms if self.turns is None else 1
        return trials * (self.noise.measured_s + self.overhead_s)
