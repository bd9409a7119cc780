"""The value of every cell in every trial.

Enters: signals by arm, measures of trials, environment.json. Leaves: `CellValues`.
Never: compares arms, or takes a series that was not read for zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pgassay.analysis.compare.many import Measured, Place
from pgassay.analysis.measures.model import ArmSignals, ScenarioMeasures, TrialMeasures
from pgassay.analysis.methods.model import CELLS, WHY_MISSING, CellDefinition, MethodCell, Pattern
from pgassay.analysis.reading.metrics import METRICS
from pgassay.notes import Note, Term
from pgassay.plan.model import Arm
from pgassay.samples.forms.environment import EnvironmentFile
from pgassay.trials.host.disk_names import whole_disks

_ONLY_WHERE_SEEN = {"sessions", "state"}
"""Sources of which a series exists only where it was not zero."""
_FAILED = "analysis/methods/failed"
_DURATIONS = {
    "latency": {
        "mean": Term("Mean latency"),
        "p50": Term("Median latency"),
        "p95": Term("95th percentile of latency"),
        "p99": Term("99th percentile of latency"),
    },
    "response": {
        "mean": Term("Mean response time"),
        "p50": Term("Median response time"),
        "p95": Term("95th percentile of response time"),
        "p99": Term("99th percentile of response time"),
    },
}


_LIMITS = (("cgroup", "memory.max"), ("cgroup", "memory.limit_in_bytes"))
"""The source and object of a control group's limit, in version 2 and 1."""


@dataclass(frozen=True)
class CellValues:
    """A cell without its figures, and its value in each trial."""

    cell: MethodCell
    measured: Measured


def cell_values(
    arms: Sequence[Arm],
    trials: Sequence[TrialMeasures],
    signals: Sequence[ArmSignals],
    environment: EnvironmentFile,
) -> list[CellValues]:
    """USE, then RED, then LTES, in the order of a table."""
    reader = _Reader(arms, trials, signals, environment)
    limited = any((source, of) in _LIMITS for arm in signals for source, of, _ in arm.keys)
    memory = ("", "group" if limited else "host")
    cells = [one for one in CELLS if one.method == "use" and one.memory in memory]
    use = [made for one in cells for made in reader.cells(one)]
    ltes = [made for one in CELLS if one.method == "ltes" for made in reader.cells(one)]
    # The cells of a resource stand together, in the order in which it is first named.
    order = list(dict.fromkeys(made.cell.of for made in use))
    use.sort(key=lambda made: order.index(made.cell.of))
    return [*use, *_red(trials), *ltes]


@dataclass(frozen=True)
class _Reader:
    arms: Sequence[Arm]
    trials: Sequence[TrialMeasures]
    signals: Sequence[ArmSignals]
    environment: EnvironmentFile

    def cells(self, defined: CellDefinition) -> Iterator[CellValues]:
        """Yields one cell, or one for each disk."""
        if not defined.each:
            yield self._cell(defined)
            return
        found = {o for arm in self.signals for source, o, _ in arm.keys if source == "diskstats"}
        if not found:
            yield _values(defined, {}, WHY_MISSING["diskstats"])
        for disk in whole_disks(found):
            named = [
                tuple(text.format(disk) for text in part) for part in (defined.signals, defined.per)
            ]
            of = Note("analysis/methods/disk", {"disk": disk})
            yield self._cell(replace(defined, of=of, signals=named[0], per=named[1]))

    def _cell(self, defined: CellDefinition) -> CellValues:
        if defined.metric:
            return self._metric(defined)
        if not defined.signals:
            return _values(defined, {}, defined.missing)
        top, missing = self._sums(defined.signals)
        missing = defined.missing or missing
        if defined.per:
            below, also_missing = self._sums(defined.per)
            missing = also_missing if top else missing
            both = top.keys() & below.keys()
            top = {at: top[at] / below[at] for at in sorted(both) if below[at]}
            if both and not top:
                missing = WHY_MISSING["nothing"]
        values = {at: value * defined.times for at, value in top.items()}
        return _values(defined, values, missing)

    def _metric(self, defined: CellDefinition) -> CellValues:
        known = {name for trial in self.trials for name in trial.whole.values}
        name = next((one for one in defined.metric if one in known), defined.metric[-1])
        metric = METRICS[name]
        values = {
            (t.block, t.arm): t.whole.values[name] for t in self.trials if name in t.whole.values
        }
        filled = replace(
            defined,
            title=defined.title or metric.title,
            unit=metric.unit,
            digits=metric.digits,
            good=metric.good,
        )
        made = _values(filled, values, defined.missing or WHY_MISSING["metric"])
        measured = replace(made.measured, scale=metric.scale, metric=name)
        return replace(made, measured=measured)

    def _sums(self, texts: Sequence[str]) -> tuple[dict[Place, float], str]:
        """The sum of some series in each trial; why a trial has none."""
        if texts[0] in _NUMBERS:
            return self._numbers(texts[0]), WHY_MISSING[texts[0]]
        patterns = [Pattern.of(text) for text in texts]
        found: dict[Place, float] = {}
        for arm in self.signals:
            columns = [arm.total(one.source, one.thing, one.name) for one in patterns]
            for at, trial in enumerate(arm.trials):
                sources = {key[0] for key in trial.values}
                parts = [
                    _known(column[at], one, sources)
                    for column, one in zip(columns, patterns, strict=True)
                ]
                known = [part for part in parts if part is not None]
                if any(
                    part is not None and one.sign > 0
                    for part, one in zip(parts, patterns, strict=True)
                ):
                    found[trial.block, arm.arm] = sum(known)
        return found, WHY_MISSING[patterns[0].source]

    def _numbers(self, name: str) -> dict[Place, float]:
        by_arm = {arm.id: _NUMBERS[name](self.environment, arm) for arm in self.arms}
        return {
            (t.block, t.arm): number for t in self.trials if (number := by_arm[t.arm]) is not None
        }


def _known(total: float | None, pattern: Pattern, sources: set[str]) -> float | None:
    if total is None and pattern.source in _ONLY_WHERE_SEEN and pattern.source in sources:
        return 0.0
    return None if total is None else pattern.sign * total


def _processors(environment: EnvironmentFile, _: Arm) -> float | None:
    return environment.host.cpus or None


def _max_connections(environment: EnvironmentFile, arm: Arm) -> float | None:
    stored = environment.server.value_of("max_connections")
    text = arm.settings.get("max_connections") or stored or ""
    return float(text) if text.isdecimal() and int(text) else None


_NUMBERS: Mapping[str, Callable[[EnvironmentFile, Arm], float | None]] = {
    "processors": _processors,
    "max_connections": _max_connections,
}


def _values(defined: CellDefinition, values: Mapping[Place, float], missing: str) -> CellValues:
    cell = MethodCell(
        defined.method,
        defined.of,
        defined.kind,
        defined.title,
        defined.unit,
        defined.digits,
        defined.good,
        (),
        "" if values else missing,
        defined.figure,
    )
    floor = 10.0**-defined.digits if defined.floor is None else defined.floor
    return CellValues(cell, Measured(values, floor=floor))


def _red(trials: Sequence[TrialMeasures]) -> Iterator[CellValues]:
    """Rate, errors and duration of each scenario.

    Those of the only one are metrics of the trial, which have a comparison of their own.
    """
    found = {(t.block, t.arm): {s.scenario: s for s in t.scenarios} for t in trials}
    names = sorted({scenario for own in found.values() for scenario in own})
    for name in names:
        own = {at: scenarios[name] for at, scenarios in found.items() if name in scenarios}
        for one in _of_scenario(name, own):
            metric = one.measured.metric if len(names) == 1 else ""
            values = {
                (t.block, t.arm): t.whole.values[metric] for t in trials if metric in t.whole.values
            }
            measured = replace(one.measured, metric=metric if values else "")
            yield replace(one, measured=replace(measured, values=values or measured.values))


def _of_scenario(name: str, own: Mapping[Place, ScenarioMeasures]) -> Iterator[CellValues]:
    """`metric` of each: what it is of the whole load."""

    def cell(
        kind: Literal["rate", "errors", "duration"],
        title: str | Note,
        unit: str,
        digits: int,
        values: Mapping[Place, float],
        metric: str = "",
    ) -> CellValues:
        good: Literal["higher", "lower"] = "higher" if kind == "rate" else "lower"
        missing = "" if values else WHY_MISSING["nothing"]
        made = MethodCell("red", name, kind, title, unit, digits, good, (), missing)
        scale: Literal["ratio", "difference"] = "difference" if kind == "errors" else "ratio"
        return CellValues(made, Measured(values, scale, 10.0**-digits, metric))

    yield cell(
        "rate", Term("Transactions"), Term("/s"), 1, {at: s.tps for at, s in own.items()}, "tps"
    )
    tried = {at: one.transactions + one.failed for at, one in own.items()}
    yield cell(
        "errors",
        Term("Failed transactions"),
        "%",
        3,
        {at: 100.0 * one.failed / tried[at] for at, one in own.items() if tried[at]},
        "failed_share",
    )
    for state in sorted({state for one in own.values() for state in one.errors}):
        yield cell(
            "errors",
            Note("analysis/methods/sqlstate" if len(state) == 5 else _FAILED, {"state": state}),
            "%",
            3,
            {
                at: 100.0 * one.errors.get(state, 0) / tried[at]
                for at, one in own.items()
                if tried[at]
            },
        )
    of = "response" if any(one.of == "response" for one in own.values()) else "latency"
    for share, title in _DURATIONS[of].items():
        yield cell(
            "duration",
            title,
            "ms",
            3,
            {
                at: value
                for at, one in own.items()
                if math.isfinite(value := one.quantiles_ms.get(share, math.nan))
            },
            f"{of}_{share}",
        )
