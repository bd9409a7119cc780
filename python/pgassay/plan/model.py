"""The plan's values.

Enters: nothing. Leaves: frozen dataclasses that plan.json is made of.
Never: draws, measures or reads anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pgassay.plan.steps import Step, shuffled
from pgassay.spec.stopping import stopping_of


@dataclass(frozen=True)
class Factor:
    """What is varied; `levels[0]` is the baseline."""

    name: str
    kind: str
    levels: tuple[str, ...]

    @property
    def baseline(self) -> str:
        return self.levels[0]


@dataclass(frozen=True)
class Arm:
    """One combination of levels, by factor name."""

    id: str
    levels: Mapping[str, str]
    kinds: Mapping[str, str]
    """The kind of each of these factors, as `Factor.kind`."""
    alternating: bool = False
    """Whether it stands for a trial in which all arms take turns; it begins at these levels."""

    def levels_of(self, kind: str) -> dict[str, str]:
        """The levels of one kind of factor."""
        return {name: level for name, level in self.levels.items() if self.kinds[name] == kind}

    @property
    def by_kind(self) -> dict[str, dict[str, str]]:
        """Kind → factor → level."""
        return {kind: self.levels_of(kind) for kind in dict.fromkeys(self.kinds.values())}

    @property
    def label(self) -> str:
        """Such as `max_wal_size = 32MB`."""
        if self.alternating:
            return "all arms in turn"
        return ", ".join(f"{name} = {level}" for name, level in self.levels.items()) or "only arm"


ALL_ARMS = "all"
"""The arm of a trial in which all of them take turns."""


@dataclass(frozen=True)
class PlannedTrial:
    """One run of one arm; `number` and `block` count from 1, `position` is its place in it."""

    number: int
    block: int
    position: int
    arm: str
    repeats: int | None = None
    """The number of an invalid trial that is run again."""
    whole_plot: int | None = None
    """Where plots are split: the stretch of its block, from 1, in which the hard factors stay."""
    slice_s: float | None = None
    """Of an alternating trial: the length of each turn."""


@dataclass(frozen=True)
class Plan:
    """Everything that will be done, up to the last block that may be needed."""

    question: str
    seed: int
    factors: tuple[Factor, ...]
    arms: tuple[Arm, ...]
    steps: tuple[Step, ...]
    trials: tuple[PlannedTrial, ...]
    min_blocks: int
    max_blocks: int
    smallest_effect: float
    metric: str
    trial_s: float
    warnings: tuple[str, ...]
    order: str = "ordered"
    """Of the steps: as they stand, or "shuffled" anew for every block."""
    combinations: str = "full"
    """Which combinations are arms: "full", "fraction" or "one-at-a-time"."""
    resolution: int | None = None
    """Of a fraction."""
    plots: str = "complete"
    """How a block is randomised: "complete", or "split" into whole plots."""
    hard: tuple[str, ...] = ()
    """Factors that take a restart or more to change; the whole plots', where plots are split."""
    plots_reason: str = ""
    stopping: str = ""
    """ "fixed", "sequential" or "group-sequential"; empty in plans of before it could be chosen."""
    looks: tuple[int, ...] = ()
    """Blocks after which a group-sequential run may stop."""
    calibrates: bool = False
    """An A/A run: two labels of one arm, `min_blocks` blocks."""
    held: tuple[Factor, ...] = ()
    """Of an A/A run: the experiment's own factors, all at their baselines."""
    held_arms: tuple[Arm, ...] = ()
    """Of an A/A run: the experiment's own arms."""
    held_combinations: str = "full"
    held_mode: str = "blocks"
    """Of an A/A run: the experiment's own mode. Runs of before had blocks whatever it was."""

    @property
    def stops(self) -> str:
        """The stopping rule, by name."""
        return stopping_of(self.stopping, self.min_blocks, self.max_blocks)

    def may_stop_after(self, block: int) -> bool:
        """Whether the run may end with this block, were everything decided."""
        if self.calibrates:
            return block >= self.min_blocks
        return block in self.looks if self.looks else block >= self.min_blocks

    @property
    def last_block(self) -> int:
        """The last that may be needed; a run of a single arm, and an A/A run, end where others
        may end first."""
        return self.max_blocks if self.factors and not self.calibrates else self.min_blocks

    def experiment(self) -> Plan:
        """Of an A/A run: the experiment that it is for; the trials are still the A/A run's own."""
        if not self.held or not self.held_arms:
            return replace(self, calibrates=False, held=())
        return replace(
            self,
            calibrates=False,
            factors=self.held,
            arms=self.held_arms,
            combinations=self.held_combinations,
            held=(),
            held_arms=(),
        )

    mode: str = "blocks"
    """"blocks": an arm per trial; "switchback": all arms take turns in every trial; "duet": the
    same, each on a server of its own."""
    mode_reason: str = ""
    modes_refused: Mapping[str, str] = field(default_factory=dict)
    """Mode → why it is not valid here."""

    @property
    def alternates(self) -> bool:
        """Whether arms take turns inside a trial."""
        return self.mode in ("switchback", "duet")

    @property
    def side_by_side(self) -> bool:
        """Whether each arm has a server of its own, all of them up in every trial."""
        return self.mode == "duet"

    @property
    def measured_s(self) -> float:
        """Seconds of each trial that count."""
        return sum(step.duration_s for step in self.steps if step.measured)

    def arm(self, arm_id: str) -> Arm:
        """The arm of that id."""
        if arm_id == ALL_ARMS:
            return replace(self.arms[0], id=ALL_ARMS, alternating=True)
        return next(arm for arm in self.arms if arm.id == arm_id)

    def block(self, number: int) -> tuple[PlannedTrial, ...]:
        """The trials of one block, in their order."""
        return tuple(trial for trial in self.trials if trial.block == number)

    def whole_plots(self, block: int) -> tuple[tuple[PlannedTrial, ...], ...]:
        """The trials of one block by whole plot; each its own where plots are not split."""
        plots: dict[int, list[PlannedTrial]] = {}
        for trial in self.block(block):
            plots.setdefault(trial.whole_plot or trial.position, []).append(trial)
        return tuple(tuple(plot) for plot in plots.values())

    def begins_plot(self, trial: PlannedTrial) -> bool:
        """Whether the server begins afresh with it; each trial does where plots are not split."""
        plot = [t for t in self.block(trial.block) if t.whole_plot == trial.whole_plot]
        return trial.whole_plot is None or trial.position == min(t.position for t in plot)

    def again(self, trial: PlannedTrial, position: int) -> PlannedTrial:
        """The same trial once more, at this position of its block.

        Its number lies beyond all planned ones and follows from the first's alone. It is in no
        whole plot: the server has gone on since.
        """
        number = self.trials[-1].number + trial.number
        return replace(
            trial, number=number, position=position, repeats=trial.number, whole_plot=None
        )

    @property
    def step_unit(self) -> str:
        """What the number that tells the steps apart counts."""
        rates = {step.rate for step in self.steps if step.measured}
        return "tps asked" if len(rates) > 1 else "clients"

    @property
    def compared_levels(self) -> int:
        """How many levels are held against a baseline, over all factors."""
        return sum(len(factor.levels) - 1 for factor in self.factors)

    def step_levels(self) -> tuple[float, ...]:
        """The number that tells each measured step from the others, as they stand."""
        by_rate = self.step_unit != "clients"
        measured = [step for step in self.steps if step.measured]
        return tuple((step.rate or 0.0) if by_rate else step.clients for step in measured)

    def steps_in(self, block: int) -> tuple[Step, ...]:
        """The steps in the order they have in every trial of a block."""
        if self.order == "ordered":
            return self.steps
        return shuffled(self.steps, self.trial_seed(block))

    def trial_seed(self, block: int) -> int:
        """The load's seed: the same for every arm of a block, another for every block.

        Arms of a block then draw the same keys, which takes one source of noise out of their
        difference.
        """
        return (self.seed * 1_000_003 + block) % 2**63
