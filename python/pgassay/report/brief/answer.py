"""What a run answers, line by line: verdicts, figures, caveats, why, findings, noise.

Enters: the context. Leaves: part → its lines. Never: says "because"; findings say how sure they
are.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.analysis.compare.accounting import Accounting, TimePart
from pgassay.analysis.measures.model import Importance
from pgassay.analysis.model import Comparison
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.answer.gates import gate_lines
from pgassay.findings.model import Finding, FindingKind
from pgassay.findings.wording import (
    milliseconds,
    plain_number,
    quantity,
    share_interval,
    signed_milliseconds,
    signed_percent,
)
from pgassay.report import headline
from pgassay.report.brief.fitting import texts
from pgassay.report.context import ReportContext
from pgassay.report.sections.record.method import caveats_of
from pgassay.report.tables.cells import ABSENT, change, evidence, interval_of, means, subject

_ARM_METRICS = {
    "tps": "tps", "latency_mean": "mean ms", "latency_p50": "p50 ms", "latency_p95": "p95 ms",
    "latency_p99": "p99 ms", "response_mean": "mean response ms", "response_p99": "p99 response ms",
    "failed_share": "failed %", "wal_bytes_per_tx": "WAL B/tx",
    "server_cpu_ms_per_tx": "server CPU ms/tx", "blocks_read_per_tx": "blocks read/tx",
    "checkpoints_per_min": "checkpoints/min",
}  # fmt: skip
_MOST_DIFFERENCES = 8
_MOST_EVIDENCE = 2
_LEAST_PART = 0.005
"""Of the whole: smaller parts of a transaction's time are not listed."""


def answer_parts(context: ReportContext) -> dict[str, list[str]]:
    """By name of `parts.toml`."""
    margin = f"{100 * context.analysis.smallest_effect:g} %"
    meaning = texts()["meaning"]["run"].strip()
    return {
        "question": [context.title],
        "answer": list(_answers(context)),
        "figures": list(_figures(context)),
        "gates": [f"{outcome}: {sentence}" for outcome, sentence in gate_lines(context.gates)],
        "meaning": [meaning.format(margin=margin, interval=headline.interval_words(context))],
        "caveats": list(_caveats(context)),
        "why": list(_why(context)),
        "findings": list(_findings(context)),
        "noise": list(_noise(context)),
        "arms": list(_arms(context)),
    }


def _answers(context: ReportContext) -> Iterator[str]:
    found = context.of_kind(FindingKind.VERDICT)
    if not found:
        yield from (f"{one.badge}: {one.text}" for one in headline.headlines(context))
    for one in found:
        if one.comparison is None or one.comparison.step is None:
            yield f"{one.title}: {one.text}"
    for kind in (FindingKind.INTERACTION, FindingKind.TREND, FindingKind.CALIBRATION):
        yield from (f"{kind} {one.title}: {one.text}" for one in context.of_kind(kind))


def _figures(context: ReportContext) -> Iterator[str]:
    """Every verdict with its endpoints: means, the change in both units, interval, evidence."""
    analysis = context.analysis
    for verdict in analysis.verdicts():
        yield f"{subject(verdict)} against {verdict.baseline}, {verdict.load}:"
        yield f"- {_figure(verdict)}; primary"
        yield from (f"- {_figure(one)}" for one, _ in analysis.beside(verdict))


def _figure(one: Comparison) -> str:
    metric = METRICS[one.metric]
    before, after = means(one)
    difference = one.level_mean - one.baseline_mean
    sign = "+" if difference > 0 else ""
    words = [
        f"{metric.title}: {before} -> {after}",
        f"{change(one)} ({_interval(one)})",
        f"{sign}{quantity(difference, metric)}",
        f"{one.blocks} blocks",
    ]
    if (proof := evidence(one)) != ABSENT:
        words.append(proof)
    return "; ".join([*words, one.verdict.value])


def _interval(one: Comparison) -> str:
    found = interval_of(one)
    return "no interval" if found == ABSENT else found


def _caveats(context: ReportContext) -> Iterator[str]:
    for importance, found in caveats_of(context).items():
        yield from (f"- {_IMPORTANCE[importance]}: {text}" for text in found)


_IMPORTANCE = {
    Importance.VERDICT: "could change the verdict",
    Importance.SIZE: "could change the size",
    Importance.DETAIL: "detail",
}


def _why(context: ReportContext) -> Iterator[str]:
    """The explanations in words, the costs that differ most, the parts of a transaction's time."""
    found = context.of_kind(FindingKind.EXPLANATION)
    yield from dict.fromkeys(f"- {one.text}" for one in found if one.comparison is None)
    costs = [one.comparison for one in found if one.comparison is not None]
    for one in costs[:_MOST_DIFFERENCES]:
        before, after = means(one)
        yield (
            f"- {subject(one)}: {METRICS[one.metric].title} {before} -> {after},"
            f" {change(one)} ({_interval(one)}), {_clear(one)}"
        )

    yield from (line for one in context.analysis.accounting for line in _parts(one))


def _parts(one: Accounting) -> Iterator[str]:
    """The whole, then its parts by how much they differ; they sum to it."""
    yield (
        f"Time of a transaction, {one.factor} = {one.level} against {one.baseline}:"
        f" {_part(one.whole)}. Its parts:"
    )
    least = _LEAST_PART * max(one.whole.baseline_ms, one.whole.level_ms)
    parts = [part for part in one.parts if max(part.baseline_ms, part.level_ms) >= least]
    parts.sort(key=lambda part: -abs(part.difference_ms))
    yield from (f"- {part.title}: {_part(part)}" for part in parts)


def _part(part: TimePart) -> str:
    sizes = f"{milliseconds(part.baseline_ms)} -> {milliseconds(part.level_ms)}"
    change = signed_milliseconds(part.difference_ms)
    if part.ci95_ms is None or not part.is_clear:
        return f"{sizes}, {change}, not clear"
    low, high = map(signed_milliseconds, part.ci95_ms)
    share = "" if part.share_pct is None else f", {part.share_pct:.0f} % of the change"
    return f"{sizes}, {change} (95 % CI {low} to {high}){share}{share_interval(part)}"


def _clear(one: Comparison) -> str:
    return "clear after correction" if one.clear else one.verdict.value


def _findings(context: ReportContext) -> Iterator[str]:
    for one in context.of_kind(FindingKind.DIAGNOSIS):
        yield f"- [{one.confidence or 'not rated'}] {one.title}: {one.text}"
        yield from _basis(one)
    for one in context.of_kind(FindingKind.OBSERVATION):
        yield f"- [described] {one.text}"


def _basis(one: Finding) -> Iterator[str]:
    """What a diagnosis rests on, and what would test it."""
    figures = [
        f"{each.metric} {each.figure}{f' ({each.arm})' if each.arm else ''}"
        for each in one.evidence
    ]
    more = len(figures) - _MOST_EVIDENCE
    if figures:
        listed = "; ".join(figures[:_MOST_EVIDENCE])
        yield f"  evidence: {listed}{f'; and {more} more figures' if more > 0 else ''}"
    if one.confirm:
        yield f"  confirm: {one.confirm}"
    if one.refute:
        yield f"  refute: {one.refute}"


def _noise(context: ReportContext) -> Iterator[str]:
    noise = context.analysis.noise
    if noise is None:
        return
    judged = {context.analysis.metric, *(one.metric for one in context.analysis.endpoints)}
    for one in noise.metrics:
        if one.metric not in judged:
            continue
        ends = one.trial_sd_ci95
        shown = tuple(plain_number(100 * end) for end in ends or ())
        interval = f" (95 % CI {' to '.join(shown)} %)" if shown else ""
        yield (
            f"{METRICS[one.metric].title}: trials of one arm differ by"
            f" {plain_number(100 * one.trial_sd)} %{interval} (standard deviation,"
            f" {one.trials} trials of {one.measured_s:g} s)"
        )
    if noise.turns is not None:
        turns = noise.turns
        yield (
            f"{METRICS[turns.metric].title}: the difference of two arms varies by"
            f" {plain_number(100 * turns.trial_sd)} % from trial to trial (standard deviation)"
        )


def _arms(context: ReportContext) -> Iterator[str]:
    """A row for each arm; the first has all baselines."""
    analysis = context.analysis
    metrics = [n for n in _ARM_METRICS if any(n in arm.means for arm in analysis.arms)]
    effects = {one.arm: one.estimate.effect_pct for one in analysis.arm_effects}
    against = [f"{analysis.metric} against the first"] if effects else []
    names = (_ARM_METRICS[name] for name in metrics)
    yield " | ".join(("arm", "levels", "trials", *names, *against))
    for arm in analysis.arms:
        means = (_mean(arm.means.get(name), name) for name in metrics)
        last = [signed_percent(effects[arm.id]) if arm.id in effects else "-"] if effects else []
        yield " | ".join((arm.id, arm.label, str(arm.trials), *means, *last))


def _mean(value: float | None, name: str) -> str:
    if value is None:
        return ""
    return f"{value:.{max(METRICS[name].digits, 1)}f}".removesuffix(".0")
