"""Noise, outlook and calibration, as values.

Enters: nothing. Leaves: frozen dataclasses. Never: computes more than a sum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Noise:
    """The noise of one metric, as standard deviations of logarithms."""

    metric: str
    trials: int
    degrees: int
    """Degrees of freedom of `trial_sd`."""
    measured_s: float
    """Measured seconds of each trial."""
    trial_sd: float
    """Between trials of one arm in one block."""
    second_sd: float | None
    """What one second adds to a trial's mean, with autocorrelation; T seconds add this ÷ √T. None
    where trials have too few intervals, or the metric is not measured by interval."""
    start_sd: float | None
    """The rest of `trial_sd`: differences between starts; 0 where there is no rest."""
    autocorrelation: float | None
    """Lag-one, of the intervals inside a trial."""
    interval_s: float | None
    drift_sd: float | None
    """Differences between blocks beyond what their trials explain; None below three blocks."""
    trial_sd_ci95: tuple[float, float] | None = None
    """The chi-square interval of `trial_sd`; not in records of early versions."""

    def trial_sd_at(self, measured_s: float) -> float:
        """The noise of trials of another length; unchanged where its parts are unknown."""
        if self.second_sd is None or self.start_sd is None:
            return self.trial_sd
        return math.hypot(self.start_sd, self.second_sd / math.sqrt(measured_s))


@dataclass(frozen=True)
class SwitchbackFloor:
    """The noise of a switchback or duet of two arms, as standard deviations of logarithms."""

    mode: str
    metric: str
    slice_s: float
    """The planned length of slices; half of the trials have shorter ones."""
    measured_s: float
    """Measured seconds of each trial."""
    trials: int
    trial_sd: float
    """Of a trial's mean difference of two arms."""
    rounds_sd: float
    """The part that its rounds explain, which shrinks with longer trials."""
    units: float
    """How many independent differences a trial is worth; one in a duet."""


@dataclass(frozen=True)
class NoiseFloor:
    """The noise of one run: what later ones can expect on this host."""

    metrics: tuple[Noise, ...]
    """For trials of a single arm; empty in a switchback or duet."""
    overhead_s: float
    """Seconds of a trial that are not measured: reset, warm-up and the rest."""
    turns: SwitchbackFloor | None = None


@dataclass(frozen=True)
class Expected:
    """Runs whose true effect is `effect`, a share of the baseline."""

    effect: float
    decided: float
    """Share of runs that reach a verdict within the blocks."""
    blocks: int | None
    """Blocks by which half of all runs have a verdict; None where fewer than half ever do."""


@dataclass(frozen=True)
class Outlook:
    """The expectation of one level against its baseline."""

    difference_sd: float
    """Of one block, in logarithms."""
    verdicts: int
    """How many verdicts the run waits for, this one included."""
    detectable: float | None
    """The least effect that is called different in 90 % of runs; None where there is none."""
    if_different: Expected
    """If the true effect is the smallest that matters."""
    if_same: Expected
    """If there is no difference."""


@dataclass(frozen=True)
class HostSteadiness:
    """Disturbances of the host, over all trials."""

    steal_pct: float | None
    """Stolen time, of all processors' time."""
    worst_steal_pct: float | None
    """The same in the worst trial."""
    others_pct: float | None
    """User time of processes other than the server's and pgassay's."""
    frequency_spread_pct: float | None
    """Standard deviation of the processors' speed between readings, of its mean."""
    throttled: int | None
    """How often processors were throttled for heat."""


@dataclass(frozen=True)
class Advice:
    """The length of trial that decides soonest; the present one if within 10 % of that."""

    trial_s: float
    blocks: int
    """Blocks by which 90 % of runs have a verdict, both with the smallest effect and without."""
    total_s: float
    """Of all arms, with resets and warm-ups."""
    optimum_s: float | None
    """Kalibera and Jones' optimum; None where starts add no measurable noise."""


LENGTHS_FROM = 12
"""Fewest trials of a duet that separate starts from seconds."""


@dataclass(frozen=True)
class SwitchbackNoise:
    """The noise of an A/A switchback or duet, as standard deviations of logarithms."""

    rounds: int
    trials: int
    round_sd: float
    """Of a round's difference between the two labels, within its trial."""
    trial_sd: float
    """Of a trial's mean difference, with the rounds' autocorrelation."""
    units: float
    """How many independent differences a trial is worth; one in a duet."""
    trial_sd_ci95: tuple[float, float] | None = None
    """As of `Noise`."""
    start_sd: float | None = None
    """Of a duet: the part of `trial_sd` that rounds do not explain, from the two starts."""

    @property
    def advises_lengths(self) -> bool:
        """Whether starts and seconds are separated well enough to advise another length."""
        return self.start_sd is not None and self.trials >= LENGTHS_FROM

    def trial_sd_at(self, measured_s: float, of_s: float) -> float:
        """The noise of trials of another length than `of_s`; unchanged without its parts."""
        if self.start_sd is None:
            return self.trial_sd
        rounds = max(0.0, self.trial_sd**2 - self.start_sd**2)
        return math.sqrt(self.start_sd**2 + rounds * of_s / measured_s)


@dataclass(frozen=True)
class RunTrend:
    """The drift from the first trial to the last, over all trials in their order."""

    pct: float
    ci95_pct: tuple[float, float]

    @property
    def is_sure(self) -> bool:
        """Returns whether the interval of the trend excludes zero."""
        return self.ci95_pct[0] > 0.0 or self.ci95_pct[1] < 0.0


@dataclass(frozen=True)
class Calibration:
    """The noise floor of a host, under one load."""

    noise: Noise
    """Of whole trials; in a switchback from neighbouring trials."""
    effect_pct: float
    """One label against the other; the true effect is zero."""
    ci95_pct: tuple[float, float] | None
    p_sign_flip: float | None
    outlook: Outlook
    """What the experiment, as designed in its file, can be expected to find."""
    arms: int
    """Arms of the experiment."""
    least_blocks: int
    most_blocks: int
    in_blocks_instead: bool
    """Whether this run used blocks although the file's mode is a switchback or duet."""
    overhead_s: float
    """Seconds of each trial of the experiment that are not measured."""
    advice: Advice | None
    """For blocks; None where no length decides within `advised_within`, and after a duet, whose
    trials do not show it."""
    advised_within: int
    """Most blocks considered: up to the last look of a group-sequential run, else 200."""
    host: HostSteadiness
    trend_pct: float | None
    """The drift over all trials in their order; None with fewer than five."""
    turns: SwitchbackNoise | None = None
    """Of a switchback or duet."""
    trend: RunTrend | None = None
    """The same with its interval."""
    advice_in_turns: Advice | None = None
    """For the switchback or duet; None where too many trials would be needed."""

    side_by_side: bool = False
    """Whether each label had its own server (a duet)."""

    @property
    def block_s(self) -> float:
        """Seconds of a block of the experiment, with resets and warm-ups."""
        trials = self.arms if self.turns is None else 1
        return trials * (self.noise.measured_s + self.overhead_s)
