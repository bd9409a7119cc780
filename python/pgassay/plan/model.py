"""The values of a plan: factors, arms, trials.

Enters: nothing. Leaves: frozen dataclasses that plan.json is made of.
Never: draws, measures or reads anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pgassay.language import Message
from pgassay.notes import Note
from pgassay.plan.steps import Step, shuffled
from pgassay.plan.whole_loads import QuerySet, Replayed
from pgassay.quantities import LoadUnit
from pgassay.spec.factors.kinds import KINDS, SESSION, Applied
from pgassay.spec.stopping import sequential_looks, stopping_of


@dataclass(frozen=True)
class Factor:
    """What the experiment varies; `levels[0]` is the baseline."""

    name: str
    kind: str
    """A name in `spec.factors.kinds.KINDS`."""
    levels: tuple[str, ...]
    describes: bool = False
    """Whether its levels are described side by side, and get no verdict."""

    @property
    def baseline(self) -> str:
        return self.levels[0]


@dataclass(frozen=True)
class Arm:
    """One combination of levels, by the names of the factors."""

    id: str
    levels: Mapping[str, str]
    kinds: Mapping[str, str] = field(default_factory=dict)
    """Factor → its kind; plan.json has them with the factors."""
    alternating: bool = False
    """Whether it stands for a trial in which all arms alternate; it begins at these levels."""

    @property
    def settings(self) -> dict[str, str]:
        """The settings of the server that this arm sets, by name."""
        return self._levels_at(Applied.SETTING)

    @property
    def knobs(self) -> dict[str, str]:
        """The knobs of the server's host that this arm sets, by name."""
        return self._levels_at(Applied.KNOB)

    @property
    def session_settings(self) -> dict[str, str]:
        """The settings that the sessions of the load begin with in this arm, by name."""
        return self.by_kind.get(SESSION.name, {})

    @property
    def server(self) -> str:
        """The version or build of PostgreSQL that this arm runs; empty where none is varied."""
        return next(iter(self._levels_at(Applied.SERVER).values()), "")

    @property
    def by_kind(self) -> dict[str, dict[str, str]]:
        """The levels of this arm by kind of factor, then by factor."""
        found: dict[str, dict[str, str]] = {}
        for name, level in self.levels.items():
            found.setdefault(self.kinds[name], {})[name] = level
        return found

    def _levels_at(self, place: Applied) -> dict[str, str]:
        kinds = {name: KINDS[kind] for name, kind in self.kinds.items()}
        return {name: x for name, x in self.levels.items() if kinds[name].applied is place}

    @property
    def label(self) -> str:
        """The name of this arm, such as `max_wal_size = 32MB`."""
        if self.alternating:
            return Message("all arms alternating")
        return ", ".join(f"{name} = {level}" for name, level in self.levels.items()) or Message(
            "only arm"
        )


ALL_ARMS = "all"
"""The arm id of a trial in which all arms alternate."""


@dataclass(frozen=True)
class PlannedTrial:
    """One run of one arm; numbers, blocks and positions in a block count from 1."""

    number: int
    block: int
    position: int
    arm: str
    repeats: int | None = None
    """The number of an invalid trial that is run again."""
    whole_plot: int | None = None
    """In split plots: the number of its whole plot in the block, from 1."""
    slice_s: float | None = None
    """The length of its slices, if arms alternate in it."""
    directories: Mapping[str, int] = field(default_factory=dict, hash=False)
    """In a duet: arm → number of the data directory that its server runs in; directory 1 was made
    for the first arm. Empty where every arm keeps its own."""
    queries: Mapping[str, int] = field(default_factory=dict, hash=False)
    """Query → executions that count, of a trial that is about to be run; empty for all queries,
    equally often."""


@dataclass(frozen=True)
class Endpoint:
    """A metric that has its own verdict beside the primary one."""

    metric: str
    margin: float
    """The smallest difference that matters: a share of the baseline, or of all transactions where
    the metric is in per cent."""


@dataclass(frozen=True)
class Gate:
    """A limit on the change of a metric from the baseline."""

    text: str
    """As it was given."""
    metrics: tuple[str, ...]
    """Names in metrics.toml: of these the first that a run has is gated."""
    above: bool
    """Whether the change must be above the limit, or below it."""
    limit: float
    """In per cent of the baseline; in percentage points of a metric that is in per cent."""


@dataclass(frozen=True)
class Plan:
    """The whole design of an experiment, up to the last block that may be needed."""

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
    notes: tuple[Note, ...]
    """The risks, most serious first."""
    order: str = "ordered"
    """Of the steps: "ordered" as in the file, or "shuffled" anew for every block."""
    combinations: str = "full"
    """Which combinations are arms: "full", "fraction" or "one-at-a-time"."""
    resolution: int | None = None
    """Of a fraction."""
    plots: str = "complete"
    """How a block is randomised: "complete", or "split" into whole plots."""
    hard: tuple[str, ...] = ()
    """Factors that take a restart to change; in split plots they change between whole plots."""
    plots_reason: Note | None = None
    stopping: str = ""
    """ "fixed", "sequential" or "group-sequential"; empty in plans of old versions."""
    looks: tuple[int, ...] = ()
    """Blocks after which the run may stop, where that is not every one."""
    calibrates: bool = False
    """An A/A run: two labels of one arm, `min_blocks` blocks."""
    held: tuple[Factor, ...] = ()
    """Of an A/A run: the experiment's own factors, all at their baselines."""
    held_arms: tuple[Arm, ...] = ()
    """Of an A/A run: the experiment's own arms."""
    held_combinations: str = "full"
    held_mode: str = "blocks"
    """Of an A/A run: the experiment's own mode; "blocks" in plans of old versions."""
    mode: str = "blocks"
    """"blocks": one arm per trial; "switchback": all arms alternate in every trial, or of a query
    set from execution to execution; "duet": the same as the former, with one server per arm."""
    mode_reason: Note | None = None
    modes_refused: Mapping[str, Note] = field(default_factory=dict)
    """Mode → why it is not valid for this experiment."""

    endpoints: tuple[Endpoint, ...] = ()
    """Those beside the primary metric."""
    gates: tuple[Gate, ...] = ()
    """The run goes on until each of them is decided, too."""
    gates_only: bool = False
    """Whether it ends when they are, though a verdict may be open."""
    outside_s: float | None = None
    """Seconds of the run outside its trials: set-up before them, report after them; None where no
    prior run of this load on this host says."""
    dropped: Mapping[str, int] = field(default_factory=dict)
    """Arm → the last block that has it: its verdicts were reached while others were open."""
    replay: Replayed | None = None
    queries: QuerySet | None = None

    @property
    def stops(self) -> str:
        """The name of the stopping rule in force."""
        return stopping_of(self.stopping, self.min_blocks, self.max_blocks)

    @cached_property
    def all_looks(self) -> tuple[int, ...]:
        """The numbers of blocks after which the error of verdicts is spent.

        A long run of an older version has no looks and may stop after every block; one between
        these looks counts as one more.
        """
        return self.looks or sequential_looks(self.min_blocks, self.max_blocks)

    def may_stop_after(self, block: int) -> bool:
        """Returns whether the run may end with this block if every verdict is decided."""
        if self.calibrates or not self.looks:
            return block >= self.min_blocks
        return block in self.looks

    @property
    def last_block(self) -> int:
        """The last block that may be needed; `min_blocks` for a single arm and for an A/A run."""
        return self.max_blocks if self.factors and not self.calibrates else self.min_blocks

    def experiment(self) -> Plan:
        """Returns the plan of the experiment that an A/A run prepares, with the trials of the A/A
        run."""
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

    @property
    def alternates(self) -> bool:
        """Whether arms alternate within a trial."""
        return self.mode in ("switchback", "duet") and self.queries is None

    @property
    def together(self) -> bool:
        """Whether the trials of a block are carried out at once: each query is executed in all
        arms, by one session, before the next."""
        return self.mode == "switchback" and self.queries is not None

    @property
    def drops_arms(self) -> bool:
        """Whether an arm that no open verdict needs has no further trials.

        Every arm stays while a gate waits, in a whole plot, which is one start of the server for
        all of its arms, and where every trial has all arms.
        """
        return not self.alternates and self.plots == "complete" and not self.gates

    @property
    def side_by_side(self) -> bool:
        """Whether each arm has its own server, all of them running in every trial."""
        return self.mode == "duet"

    @property
    def exchanges_directories(self) -> bool:
        """Whether the servers of a duet exchange their data directories from block to block."""
        return any(trial.directories for trial in self.trials)

    @property
    def measured_s(self) -> float:
        """How many seconds of each trial are measured."""
        return sum(step.duration_s for step in self.steps if step.measured)

    def arm(self, arm_id: str) -> Arm:
        """Returns the arm with this id."""
        if arm_id == ALL_ARMS:
            return replace(self.arms[0], id=ALL_ARMS, alternating=True)
        return next(arm for arm in self.arms if arm.id == arm_id)

    def block(self, number: int) -> tuple[PlannedTrial, ...]:
        """Returns the trials of one block, in their order."""
        queries = {} if self.queries is None else self.queries.executed_in(number)
        return tuple(
            replace(trial, queries=queries)
            for trial in self.trials
            if trial.block == number and number <= self.dropped.get(trial.arm, number)
        )

    def executes_all(self, block: int) -> bool:
        """Whether trials of this block run the whole load: each query of a set, not the open ones
        alone."""
        return self.queries is None or self.queries.is_whole(block)

    @cached_property
    def worked_out(self) -> dict[Hashable, Any]:
        """What was made of the design, which never changes."""
        return {}

    @cached_property
    def sizes(self) -> Mapping[int, int]:
        """The number of trials of each block, without repeats."""
        return Counter(
            trial.block
            for trial in self.trials
            if trial.block <= self.dropped.get(trial.arm, trial.block)
        )

    def whole_plots(self, block: int) -> tuple[tuple[PlannedTrial, ...], ...]:
        """Returns the trials of one block grouped by whole plot; without split plots each trial is
        a group."""
        plots: dict[int, list[PlannedTrial]] = {}
        for trial in self.block(block):
            plots.setdefault(trial.whole_plot or trial.position, []).append(trial)
        return tuple(tuple(plot) for plot in plots.values())

    def begins_plot(self, trial: PlannedTrial) -> bool:
        """Returns whether a whole plot begins with this trial; without split plots every trial
        does."""
        plot = [t for t in self.block(trial.block) if t.whole_plot == trial.whole_plot]
        return trial.whole_plot is None or trial.position == min(t.position for t in plot)

    def again(self, trial: PlannedTrial, position: int) -> PlannedTrial:
        """Returns a trial that repeats an invalid one, at this position of the block.

        Its number follows from the first's and is higher than all planned ones. It is in no whole
        plot, because the server has changed since.
        """
        number = self.trials[-1].number + trial.number
        return replace(
            trial, number=number, position=position, repeats=trial.number, whole_plot=None
        )

    @property
    def has_rate(self) -> bool:
        """Whether the load has a rate; it sets the throughput wherever the server can follow."""
        return any(step.rate is not None for step in self.steps)

    @property
    def step_unit(self) -> LoadUnit:
        """The unit of `step_levels`: clients, or transactions per second."""
        rates = {step.rate for step in self.steps if step.measured}
        return LoadUnit.RATE if len(rates) > 1 else LoadUnit.CLIENTS

    @property
    def describes(self) -> bool:
        """Whether every factor is described, so that the run gives no verdict."""
        return bool(self.factors) and all(factor.describes for factor in self.factors)

    @property
    def compared_levels(self) -> int:
        """How many levels get a verdict against a baseline, over all factors."""
        return sum(len(factor.levels) - 1 for factor in self.factors if not factor.describes)

    def step_levels(self) -> tuple[float, ...]:
        """Returns the number of clients, or the rate, of each measured step, in the order of the
        file."""
        by_rate = self.step_unit is LoadUnit.RATE
        measured = [step for step in self.steps if step.measured]
        return tuple((step.rate or 0.0) if by_rate else step.clients for step in measured)

    def steps_in(self, block: int) -> tuple[Step, ...]:
        """Returns the steps of the load in the order in which the trials of a block run them."""
        if self.order == "ordered":
            return self.steps
        return shuffled(self.steps, self.trial_seed(block))

    def trial_seed(self, block: int) -> int:
        """Returns the seed of the load's random numbers, which all arms of a block share.

        Arms of a block then draw the same keys, which removes a source of noise from their
        difference.
        """
        return (self.seed * 1_000_003 + block) % 2**63
