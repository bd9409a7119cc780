"""What a report is made from.

Enters: nothing. Leaves: frozen values, one each for a run, an observation, a trace, runs made
apart, a history of runs, and two periods of observations.
Never: reads a run directory; the caller did.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pgassay.analysis.gates.model import GateResult
from pgassay.analysis.model import Analysis, RunFacts
from pgassay.findings.answer.ending import Ending, ending_of
from pgassay.findings.model import Finding, FindingKind
from pgassay.language import decimals, listed, tr
from pgassay.plan.model import Plan
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.samples.forms.observation import ObservationFile
from pgassay.samples.forms.trace import TraceFile

if TYPE_CHECKING:  # reports of runs need nothing of the rooms of others, a summary no tables
    from pgassay.analysis.apart.model import ApartAnalysis
    from pgassay.analysis.history.model import HistoryAnalysis
    from pgassay.analysis.measures.courses.chart_series import ChartSeries
    from pgassay.analysis.methods.model import ObservedCell
    from pgassay.analysis.observation.incidents.model import Incidents
    from pgassay.analysis.observation.model import ObservationSummary
    from pgassay.analysis.observation.periods.model import PeriodsAnalysis
    from pgassay.analysis.trace.model import TraceSummary


@dataclass(frozen=True)
class FlameGraph:
    """A drawing of a profile, or of how much two differ."""

    arm: str
    kind: str
    file: str
    """With a script for zooming; seen from the run's folder, or from the page's if that differs."""
    svg: str
    """Without a script; empty where it is too large for the page."""
    baseline: str = ""
    """Of a difference."""
    height: int = 0
    """In hundredths of its width."""


@dataclass(frozen=True)
class ReportContext:
    """One finished or interrupted run."""

    run_name: str
    question: str
    facts: RunFacts
    plan: Plan
    analysis: Analysis
    findings: tuple[Finding, ...]
    series: tuple[ChartSeries, ...]
    command: str
    """How to do the run again."""
    version: str
    """pgassay's own."""
    flame_graphs: tuple[FlameGraph, ...] = ()
    gates: tuple[GateResult, ...] = ()
    """The gates that were asked for when the report was made."""

    @property
    def environment(self) -> EnvironmentFile:
        """environment.json as it was stored; any part of it may be missing."""
        return self.facts.environment

    @property
    def spec_text(self) -> str:
        """Returns the text of spec.toml as it was stored."""
        return self.facts.spec_text

    @property
    def title(self) -> str:
        """The question; the run's name where none was asked."""
        return self.question.strip() or self.run_name

    @property
    def labels(self) -> dict[str, str]:
        """Arm → its name, in the order of the plan."""
        return {arm.id: arm.label for arm in self.plan.arms}

    @property
    def has_several_levels(self) -> bool:
        """Whether more than one level is compared with a baseline."""
        return len({(one.factor, one.level) for one in self.analysis.answer.verdicts()}) > 1

    @property
    def has_several_steps(self) -> bool:
        """Whether trials have more than one measured step."""
        return sum(step.measured for step in self.plan.steps) > 1

    @property
    def margin(self) -> str:
        """The smallest effect that matters, in per cent."""
        return decimals(100 * self.analysis.answer.smallest_effect, "g")

    @property
    def ending(self) -> Ending:
        """What the run says in three lines."""
        return ending_of(self.plan, self.analysis, self.findings)

    def of_kind(self, kind: FindingKind) -> tuple[Finding, ...]:
        """The findings of one kind, in their order."""
        return tuple(finding for finding in self.findings if finding.kind is kind)

    def sentences(self, *rules: str) -> tuple[str, ...]:
        """The texts of the findings that these rules made, rule by rule."""
        return tuple(f.text for rule in rules for f in self.findings if f.rule == rule)


@dataclass(frozen=True)
class ObservationContext:
    """One observation of a running server."""

    run_name: str
    described: ObservationFile
    observed: ObservationSummary
    environment: EnvironmentFile
    version: str
    texts: Mapping[str, str] = field(default_factory=dict)
    """queryid → text of its statements."""
    findings: tuple[Finding, ...] = ()
    methods: tuple[ObservedCell, ...] = ()
    incidents: Incidents | None = None
    """None where they were not looked for."""

    @property
    def title(self) -> str:
        """Returns the title of the report, which names the observed server."""
        return tr("Observation of {server}", server=self.described.server)


@dataclass(frozen=True)
class IncidentsContext:
    """The incidents of one observation."""

    run_name: str
    described: ObservationFile
    incidents: Incidents
    environment: EnvironmentFile
    version: str
    texts: Mapping[str, str] = field(default_factory=dict)
    """queryid → text of its statements."""

    @property
    def title(self) -> str:
        """Returns the title of the report, which names the observed server."""
        return tr("Incidents of {server}", server=self.described.server)


@dataclass(frozen=True)
class TraceContext:
    """One trace of a running server."""

    run_name: str
    described: TraceFile
    traced: TraceSummary
    version: str

    @property
    def title(self) -> str:
        """Returns the title of the report, which names the traced server."""
        return tr("Trace of {server}", server=self.described.server)


StoredContext = ReportContext | ObservationContext | TraceContext
"""What a report of one directory is made of."""


@dataclass(frozen=True)
class ApartContext:
    """Runs made apart, compared."""

    analysis: ApartAnalysis
    version: str

    @property
    def run_name(self) -> str:
        """Returns the names of all compared sides, joined by commas."""
        return ", ".join(side.name for side in self.analysis.sides)

    @property
    def title(self) -> str:
        """The names of the sides, the baseline last, such as `new against old`."""
        baseline, *others = (side.name for side in self.analysis.sides)
        return tr("{others} against {baseline}", others=listed(others), baseline=baseline)

    @property
    def gates(self) -> tuple[GateResult, ...]:
        """The gates that the comparison was asked to judge."""
        return self.analysis.gates


@dataclass(frozen=True)
class HistoryContext:
    """Runs of one experiment over weeks."""

    analysis: HistoryAnalysis
    version: str

    @property
    def run_name(self) -> str:
        """Returns the names of the first and the last run."""
        first, last = self.analysis.runs[0], self.analysis.runs[-1]
        return f"{first.name} … {last.name}"

    @property
    def title(self) -> str:
        """Returns the question of the last run; without one, what the page is."""
        return self.analysis.runs[-1].plan.question.strip() or tr("History of runs")

    @property
    def environment(self) -> EnvironmentFile:
        """Returns environment.json of the last run."""
        return self.analysis.runs[-1].environment

    @property
    def gates(self) -> tuple[GateResult, ...]:
        """The gates that the last runs were asked to pass."""
        judged = self.analysis.judged
        return () if judged is None else judged.gates


@dataclass(frozen=True)
class PeriodsContext:
    """Two periods of observations, compared."""

    analysis: PeriodsAnalysis
    environment: EnvironmentFile
    """Of the second period."""
    version: str

    @property
    def run_name(self) -> str:
        """Returns the names of both periods."""
        return ", ".join(one.label for one in self.analysis.periods)

    @property
    def title(self) -> str:
        """Names the periods, the baseline last."""
        baseline, other = (one.label for one in self.analysis.periods)
        return tr("{others} against {baseline}", others=other, baseline=baseline)


BriefContext = StoredContext | PeriodsContext | IncidentsContext | HistoryContext
"""What a brief is made of."""
AnyContext = BriefContext | ApartContext
"""What a report is made of."""
