"""Everything estimated from one run, in parts; analysis.json is these, written out, but for what
repeats trials or environment.json.

Enters: nothing. Leaves: `Analysis`, its parts, and the facts beside it. Never: computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field
from typing import TYPE_CHECKING, Any

from pgassay.analysis.compare.model import (
    Accounting,
    ArmEffect,
    ByServer,
    CarryOver,
    CarryOverTest,
    Comparison,
    Interaction,
    IntervalKind,
    RoundEffects,
    SimpleEffect,
    Subject,
    Trend,
    Verdict,
    Withdrawn,
)
from pgassay.analysis.compare.rule import Rule
from pgassay.analysis.compare.step_down import Reached
from pgassay.analysis.curves.checkpoints.model import CheckpointCauses, CheckpointRow
from pgassay.analysis.curves.model import (
    ArmLatencyCurve,
    Associations,
    CheckpointContrast,
    CheckpointEffect,
    EffectByHalf,
    EffectByLoad,
    LoadCurve,
    QuantileShift,
    StepSteadiness,
)
from pgassay.analysis.curves.modes.model import LatencyModes, ModeContrast
from pgassay.analysis.host.model import Figures, HostWindow
from pgassay.analysis.measures.asked import ArmAsked
from pgassay.analysis.measures.model import (
    ArmSignals,
    BufferCache,
    Caveat,
    LatencyCurve,
    SliceMeasures,
    StepMeasures,
    TrialMeasures,
    VariantMeasures,
    VariantSummary,
)
from pgassay.analysis.methods.model import MethodCell
from pgassay.analysis.noise.model import Calibration, NoiseFloor
from pgassay.analysis.profiles.model import Profiles
from pgassay.analysis.queries.model import QuerySet, SchemaPrice
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.sampled.model import HostFigure, LoadProfile, WaitEvent
from pgassay.analysis.statements.model import StatementPlans, StatementUse
from pgassay.analysis.trade_offs.model import TradeOff
from pgassay.analysis.verdicts.model import (
    ArmSummary,
    IdleTrials,
    Losses,
    UnseenCollapses,
    WhyUndecided,
)
from pgassay.plan.model import Endpoint
from pgassay.samples.forms.environment import EnvironmentFile

if TYPE_CHECKING:
    from pgassay.analysis.classic.model import ClassicView

__all__ = [
    "SCHEMA",
    "Analysis",
    "ArmSignals",
    "ArmSummary",
    "CarryOver",
    "CarryOverTest",
    "Caveat",
    "Comparison",
    "Figures",
    "HostWindow",
    "IdleTrials",
    "IntervalKind",
    "LatencyCurve",
    "RoundEffects",
    "SliceMeasures",
    "StepMeasures",
    "TrialMeasures",
    "VariantMeasures",
    "VariantSummary",
    "Verdict",
    "Withdrawn",
    "not_stored",
]

SCHEMA = "pgassay.analysis/1"
_STORED = "stored"


def not_stored(one: Field[Any]) -> bool:
    """Return whether a field is left out of analysis.json."""
    return not one.metadata.get(_STORED, True)


_LOOKS_WORSE = 0.05
Level = tuple[str, str]
"""A factor and one of its levels."""


@dataclass(frozen=True)
class Answer:
    """What the trials say of the question: the verdicts, and what else is estimated of effects.

    It is made of the trials' measures alone (`judge.py`, `analyse.answer_of`).
    """

    question: str
    metric: str
    smallest_effect: float
    interval: IntervalKind
    simultaneous: int
    """How many verdicts share the error, before any is reached (Holm)."""
    blocks: int
    arms: tuple[ArmSummary, ...]
    trials: tuple[TrialMeasures, ...]
    """Those that count, of all queries where the load is a set of them."""
    invalid_trials: tuple[TrialMeasures, ...]
    comparisons: tuple[Comparison, ...]
    partial_trials: tuple[TrialMeasures, ...] = ()
    """Those that count and executed the open queries of a set alone."""
    warnings: tuple[Caveat, ...] = ()
    """Caveats that rest on the trials' measures."""
    standstills: tuple[IdleTrials, ...] = ()
    losses: tuple[Losses, ...] = ()
    """Of verdicts whose better arm lost trials."""
    collapses: tuple[UnseenCollapses, ...] = ()
    """Of verdicts that are equivalent or negligible: how often a level may collapse unseen."""
    undecided: tuple[WhyUndecided, ...] = ()
    """Of verdicts that are undecided and not withdrawn: why."""
    variants: tuple[VariantSummary, ...] = ()
    """Described, not compared: nothing is said of how sure a difference is."""
    interactions: tuple[Interaction, ...] = ()
    simple_effects: tuple[SimpleEffect, ...] = ()
    trends: tuple[Trend, ...] = ()
    arm_effects: tuple[ArmEffect, ...] = ()
    by_server: tuple[ByServer, ...] = ()
    """Of a fleet: the effect of each verdict on each server."""
    carry_over: tuple[CarryOver, ...] = ()
    carry_over_suspected: bool = False
    """Carry-over is not found, and yet so likely that a run which can go on does."""
    round_effects: tuple[RoundEffects, ...] = ()
    endpoints: tuple[Endpoint, ...] = ()
    """The metrics beside the primary one that have their own verdict."""
    accounting: tuple[Accounting, ...] = ()
    """Where the time of a transaction goes, by level."""
    trade_offs: tuple[TradeOff, ...] = ()
    """The levels of each factor, weighed by several criteria."""
    queries: QuerySet | None = None
    """A verdict for every query; None where the load is no set of queries."""
    rule: Rule | None = field(default=None, metadata={_STORED: False})
    """By which verdicts are reached: its intervals hold at every look."""
    reached: Reached[Subject] = field(default_factory=Reached, metadata={_STORED: False})
    """The verdicts of the primary metric that were reached at some look, and under which rule."""

    def verdicts(self) -> tuple[Comparison, ...]:
        """The comparisons of the primary metric."""
        return tuple(c for c in self.comparisons if c.metric == self.metric)

    def beside(self, verdict: Comparison) -> tuple[tuple[Comparison, Endpoint], ...]:
        """The endpoints of the same level and load, with their margins, in the file's order; none
        of a level that is described."""
        if verdict.verdict is Verdict.DESCRIBED:
            return ()
        at = (verdict.factor, verdict.level, verdict.step)
        by_metric = {c.metric: c for c in self.comparisons if (c.factor, c.level, c.step) == at}
        return tuple(
            (by_metric[one.metric], one) for one in self.endpoints if one.metric in by_metric
        )

    def judged(self) -> tuple[tuple[Comparison, Endpoint | None], ...]:
        """Every verdict but of described levels, and beneath it the endpoints beside it with their
        margins."""
        given = (one for one in self.verdicts() if one.verdict is not Verdict.DESCRIBED)
        return tuple(pair for one in given for pair in ((one, None), *self.beside(one)))

    def decided(self) -> bool:
        """Whether every verdict over whole trials has been reached."""
        whole = [c for c in self.verdicts() if c.step is None]
        return bool(whole) and all(c.verdict is not Verdict.UNDECIDED for c in whole)

    def may_end(self) -> bool:
        """Whether more blocks would be of no use: every such verdict is reached, or cannot be."""
        return bool(self._settled()) and not self.open_levels() and not self.carry_over_suspected

    def open_levels(self) -> set[Level]:
        """Returns the levels that more blocks may settle."""
        return (self._asked() - self._settled()) | self._beside_a_worse_endpoint()

    def _settled(self) -> set[Level]:
        """Those whose verdict is reached, or cannot be."""
        never = {level for one in self.standstills if one.step is None for level in one.takes}
        return never | {
            (c.factor, c.level)
            for c in self.verdicts()
            if c.step is None and (c.verdict is not Verdict.UNDECIDED or c.withdrawn_for_good)
        }

    def _beside_a_worse_endpoint(self) -> set[Level]:
        """Those with an endpoint that looks worse, and has no verdict yet, where theirs is not.

        It looks so where a test with a fixed number of blocks would say so; a few more blocks
        decide.
        """
        return {
            (verdict.factor, verdict.level)
            for verdict in self.verdicts()
            if verdict.step is None
            and verdict.verdict in (Verdict.BETTER, Verdict.NEGLIGIBLE, Verdict.EQUIVALENT)
            for one, _ in self.beside(verdict)
            if one.verdict is Verdict.UNDECIDED
            and one.withdrawn is None
            and one.p_t is not None
            and one.p_t < _LOOKS_WORSE
            and (one.difference < 0.0) == (METRICS[one.metric].good == "higher")
        }

    def _asked(self) -> set[Level]:
        """Each that is held against its factor's baseline."""
        levels = [set(arm.levels.items()) for arm in self.arms]
        return set[Level]().union(*levels) - levels[0] if levels else set()


@dataclass(frozen=True)
class Behaviour:
    """What happened inside trials: courses over time, curves by quantile and by load, checkpoints.

    Nearly empty for a switchback or duet, whose trials are not of one arm.
    """

    quantile_shifts: tuple[QuantileShift, ...] = ()
    by_load: tuple[EffectByLoad, ...] = ()
    load_curves: tuple[LoadCurve, ...] = ()
    by_half: tuple[EffectByHalf, ...] = ()
    """Whether effects change within trials; empty for a percentile, and for slices."""
    courses: tuple[StepSteadiness, ...] = ()
    checkpoint_effects: tuple[CheckpointEffect, ...] = ()
    checkpoint_contrasts: tuple[CheckpointContrast, ...] = ()
    checkpoint_causes: tuple[CheckpointCauses, ...] = ()
    """What the time lost after checkpoints goes into, by arm."""
    checkpoint_rows: tuple[CheckpointRow, ...] = ()
    """Each checkpoint, as a description."""
    associations: Associations | None = None
    """None where the courses of the trials were not read."""
    latency_modes: tuple[LatencyModes, ...] = ()
    """By scenario and arm, all scenarios together last."""
    mode_contrasts: tuple[ModeContrast, ...] = ()
    latency_curves: tuple[ArmLatencyCurve, ...] = ()
    """By scenario and arm, all scenarios together first."""
    warnings: tuple[Caveat, ...] = ()


@dataclass(frozen=True)
class Explanation:
    """What was sampled of the server and its host, by arm, from which findings explain verdicts."""

    signals: tuple[ArmSignals, ...] = field(default=(), metadata={_STORED: False})
    """Everything sampled, as means of trials; the raw values are in the trials' Parquet files."""
    methods: tuple[MethodCell, ...] = ()
    """The USE, RED and LTES tables."""
    infrastructure: tuple[HostFigure, ...] = ()
    """The host's processors, memory and disks, by arm."""
    speed: tuple[HostFigure, ...] = ()
    """SPEED, WAITINGS and the types of waits, by arm."""
    load_profiles: tuple[LoadProfile, ...] = ()
    """Every arm at each load, where trials have several."""
    wait_events: tuple[WaitEvent, ...] = ()
    """Sessions of the load in each wait event, by arm."""
    buffer_cache: tuple[BufferCache, ...] = ()
    """What shared_buffers held, by arm."""
    statement_use: tuple[StatementUse, ...] = ()
    """What each statement of the load takes, by arm."""
    trace_statements: QuerySet | None = None
    """The statements of a trace that every trial replayed; None of another load."""
    schema_prices: tuple[SchemaPrice, ...] = ()
    """What levels of the schema cost in room, and in time to make them."""
    plans: tuple[StatementPlans, ...] = ()
    """The plans of the scenarios' statements, those that differ between arms first."""
    profiles: Profiles | None = None
    """Of trials beside the run's; None where none was asked for."""
    warnings: tuple[Caveat, ...] = ()


@dataclass(frozen=True)
class RunNoise:
    """How much trials of one arm differ."""

    floor: NoiseFloor | None = None
    """Of a block; None with too few trials."""
    calibration: Calibration | None = None
    """Of an A/A run."""
    warnings: tuple[Caveat, ...] = ()


@dataclass(frozen=True)
class RunFacts:
    """What is known of a run besides its measurements: its files, as findings and reports read
    them."""

    environment: EnvironmentFile = field(default_factory=EnvironmentFile)
    """environment.json: versions, settings, the host; any part of it may be missing."""
    spec_text: str = ""
    """spec.toml, from which findings make the next experiment file."""
    asked: tuple[ArmAsked, ...] = ()
    """The settings and scripts of each arm; spec.toml and workload.json have them."""
    statements: Mapping[str, str] = field(default_factory=dict)
    """queryid → text as pg_stat_statements keeps it, without secrets; of the 100 that took most in
    each trial, pgassay's own included. statements.json has them."""


@dataclass(frozen=True)
class Analysis:
    """Everything estimated from one run (`analyse.analyse`)."""

    answer: Answer
    behaviour: Behaviour = field(default_factory=Behaviour)
    noise: RunNoise = field(default_factory=RunNoise)
    explanation: Explanation = field(default_factory=Explanation)
    classic: ClassicView | None = None
    """pg_expecto's figures; None in a switchback or duet, whose trials are not of one arm."""

    @property
    def queries(self) -> QuerySet | None:
        """Returns what the answer says of each query; None where the load is no set of queries."""
        return self.answer.queries

    @property
    def warnings(self) -> tuple[Caveat, ...]:
        """Returns the caveats of all parts of the analysis."""
        parts = (self.answer, self.behaviour, self.noise, self.explanation)
        return tuple(one for part in parts for one in part.warnings)
