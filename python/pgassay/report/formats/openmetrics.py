"""The verdicts of a run as OpenMetrics: effects with their bounds, verdicts, means of the arms.

Enters: the context. Leaves: text in OpenMetrics' format that older readers of Prometheus' format
understand too. Never: uses a type that these refuse (info, stateset): every family is a gauge.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from prometheus_client.core import CollectorRegistry, GaugeMetricFamily
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.registry import Collector

from pgassay.analysis.gates.model import GateOutcome
from pgassay.analysis.model import Comparison, Verdict
from pgassay.analysis.reading.plain_text import visible
from pgassay.report.context import ReportContext
from pgassay.report.data_tables.trials import every_trial
from pgassay.report.environment import server_version

_COMPARED = ("run", "metric", "factor", "level", "baseline", "step")
_LATENCIES = {
    "latency": "latency of a transaction from its begin",
    "response": "time from when a transaction was due",
}
_STATISTICS = ("mean", "p50", "p95", "p99")
_WHICH_MEAN = (
    "It is arithmetic, over trials; an effect compares means over blocks, geometric where it is a"
    " ratio, so they differ a little."
)


def render_openmetrics(context: ReportContext) -> str:
    """Returns all families of metrics as OpenMetrics text, which ends with `# EOF`."""
    registry = CollectorRegistry()
    registry.register(_Families(tuple(_families(context))))
    found: bytes = generate_latest(registry)  # type: ignore[no-untyped-call]
    return found.decode()


class _Families(Collector):
    """What a registry asks for families."""

    def __init__(self, families: tuple[GaugeMetricFamily, ...]) -> None:
        self._families = families

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Return the metric families that have a sample."""
        return (one for one in self._families if one.samples)


def _families(context: ReportContext) -> Iterator[GaugeMetricFamily]:
    yield from _of_run(context)
    yield from _of_verdicts(context)
    yield from _of_arms(context)


def _of_run(context: ReportContext) -> Iterator[GaugeMetricFamily]:
    analysis, run = context.analysis, {"run": context.run_name}
    about = {
        **run,
        "question": context.question,
        "primary_metric": analysis.answer.metric,
        "server": server_version(context.environment),
        "pgassay": context.version,
    }
    yield family_of("pgassay_run_info", "The run; always 1.", [(about, 1.0)])
    blocks, trials = float(analysis.answer.blocks), float(len(analysis.answer.trials))
    yield family_of("pgassay_blocks", "Complete blocks.", [(run, blocks)])
    yield family_of("pgassay_trials", "Trials that count.", [(run, trials)])
    invalid = float(len(analysis.answer.invalid_trials))
    yield family_of("pgassay_invalid_trials", "Trials that do not count.", [(run, invalid)])
    margin = analysis.answer.smallest_effect
    yield family_of(
        "pgassay_smallest_effect_ratio",
        "Smallest effect that matters, as a share of the baseline.",
        [(run, margin)],
    )
    if every := every_trial(context):
        ended = max(one.whole.end_ns for one in every) / 1e9
        yield family_of(
            "pgassay_last_trial_timestamp_seconds", "End of the last trial.", [(run, ended)]
        )


def _of_verdicts(context: ReportContext) -> Iterator[GaugeMetricFamily]:
    analysis = context.analysis
    labels = [(_compared(context, one), one) for one, _ in analysis.answer.judged()]
    yield family_of(
        "pgassay_effect_ratio",
        "Change of the level from the baseline: 0.05 is 5 % more.",
        [(of, _share(one.effect_pct)) for of, one in labels],
    )
    for name, end in (("lower", 0), ("upper", 1)):
        yield family_of(
            f"pgassay_effect_{name}_ratio",
            f"{name.capitalize()} end of its 95 % interval.",
            [(of, _share((one.ci95_pct or (None, None))[end])) for of, one in labels],
        )
    yield family_of(
        "pgassay_verdict",
        "1 for the verdict that was reached, 0 for all others.",
        [
            ({**of, "verdict": verdict.value}, float(one.verdict is verdict))
            for of, one in labels
            for verdict in Verdict
        ],
    )
    yield family_of(
        "pgassay_effect_blocks",
        "Blocks that an effect rests on.",
        [(of, float(one.blocks)) for of, one in labels],
    )
    yield family_of(
        "pgassay_gate",
        "1 for the outcome of a gate, 0 for all others.",
        [
            (
                {
                    **_compared(context, check.comparison),
                    "gate": result.gate.text,
                    "outcome": outcome,
                },
                float(check.outcome is outcome),
            )
            for result in context.gates
            for check in result.checks
            for outcome in GateOutcome
        ],
    )


def _of_arms(context: ReportContext) -> Iterator[GaugeMetricFamily]:
    arms = [
        ({"run": context.run_name, "arm": arm.id, "levels": arm.label}, arm.means)
        for arm in context.analysis.answer.arms
    ]
    yield family_of(
        "pgassay_arm_transactions_per_second",
        f"Mean throughput of an arm's trials. {_WHICH_MEAN}",
        [(of, means.get("tps")) for of, means in arms],
    )
    for kind, words in _LATENCIES.items():
        yield family_of(
            f"pgassay_arm_{kind}_seconds",
            f"Mean of an arm's trials: {words}. {_WHICH_MEAN}",
            [
                ({**of, "statistic": name}, _seconds(means.get(f"{kind}_{name}")))
                for of, means in arms
                for name in _STATISTICS
            ],
        )


def family_of(
    name: str, text: str, samples: list[tuple[Mapping[str, str], float | None]]
) -> GaugeMetricFamily:
    """Returns a gauge with those samples whose value is known."""
    known = [(of, value) for of, value in samples if value is not None and math.isfinite(value)]
    labels = list(known[0][0]) if known else []
    family = GaugeMetricFamily(name, text, labels=labels)
    for of, value in known:
        family.add_metric([visible(of[label]) for label in labels], value)
    return family


def _compared(context: ReportContext, one: Comparison) -> dict[str, str]:
    step = "" if one.step is None else f"{one.step:g}"
    values = (context.run_name, one.metric, one.factor, one.level, one.baseline, step)
    return dict(zip(_COMPARED, values, strict=True))


def _share(percent: float | None) -> float | None:
    return None if percent is None else percent / 100.0


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000.0
