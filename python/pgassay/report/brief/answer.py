"""What a run answers, line by line: verdicts, figures, caveats, why, findings, noise.

Enters: the context. Leaves: part → its lines. Never: says "because"; findings say how sure they
are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pgassay.analysis.compare.accounting import Accounting, TimePart
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
from pgassay.language import Message, clauses, colon, decimals, language, listed, tr
from pgassay.notes import Importance
from pgassay.report.brief.fitting import texts
from pgassay.report.context import ReportContext
from pgassay.report.summaries import headline
from pgassay.report.summaries.caveats import caveats_of
from pgassay.report.tables.cells import (
    ABSENT,
    change,
    evidence,
    interval_of,
    looks_decided,
    means,
    subject,
    with_interval,
)
from pgassay.report.tables.time_parts import FOLDED, folded

_ARM_METRICS = {
    "tps": Message("tps"),
    "latency_mean": Message("mean ms"),
    "latency_p50": Message("p50 ms"),
    "latency_p95": Message("p95 ms"),
    "latency_p99": Message("p99 ms"),
    "response_mean": Message("mean response ms"),
    "response_p99": Message("p99 response ms"),
    "failed_share": Message("failed %"),
    "wal_bytes_per_tx": Message("WAL B/tx"),
    "server_cpu_ms_per_tx": Message("server CPU ms/tx"),
    "blocks_read_per_tx": Message("blocks read/tx"),
    "checkpoints_per_min": Message("checkpoints/min"),
}
_MOST_DIFFERENCES = 8
_MOST_EVIDENCE = 2


def answer_parts(context: ReportContext) -> dict[str, list[str]]:
    """By name of `parts.toml`."""
    margin = f"{decimals(100 * context.analysis.smallest_effect, 'g')} %"
    meaning = texts()["meaning"]["run" if context.plan.factors else "single"].strip()
    return {
        "question": [context.title],
        "answer": list(_answers(context)),
        "figures": list(_figures(context)),
        "gates": [f"{line.outcome}{colon()}{line.sentence}" for line in gate_lines(context.gates)],
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
        yield from (f"{one.badge}{colon()}{one.text}" for one in headline.headlines(context))
    for one in found:
        if one.comparison is None or one.comparison.step is None:
            yield f"{one.title}{colon()}{one.text}"
    for kind in _KINDS:
        yield from (f"{_KINDS[kind]}{colon()}{one.text}" for one in context.of_kind(kind))


_KINDS = {
    FindingKind.INTERACTION: Message("interaction"),
    FindingKind.TREND: Message("trend"),
    FindingKind.CALIBRATION: Message("calibration"),
}


def _figures(context: ReportContext) -> Iterator[str]:
    """Every verdict with its endpoints: means, the change in both units, interval, evidence."""
    analysis = context.analysis
    for verdict in analysis.verdicts():
        yield tr(
            "{subject} against {baseline}, {load}:",
            subject=subject(verdict),
            baseline=verdict.baseline,
            load=verdict.load,
        )
        yield tr("- {value}; primary", value=_figure(verdict))
        yield from (f"- {_figure(one)}" for one, _ in analysis.beside(verdict))
    for found in analysis.by_server:
        yield tr("{factor} = {level} by server, {load}:", **vars(found), load=found.load)
        for effect in found.servers:
            blocks = tr("{blocks} blocks", blocks=effect.blocks)
            figures = with_interval(effect.effect_pct, effect.ci95_pct)
            yield f"- {effect.server}{colon()}{clauses([figures, blocks])}"


def _figure(one: Comparison) -> str:
    metric = METRICS[one.metric]
    before, after = means(one)
    difference = one.level_mean - one.baseline_mean
    sign = "+" if difference > 0 else ""
    words = [
        f"{metric.title}{colon()}{before} -> {after}",
        f"{change(one)} ({_interval(one)})",
        f"{sign}{quantity(difference, metric)}",
        tr("{blocks} blocks", blocks=one.blocks),
    ]
    if (proof := evidence(one)) != ABSENT:
        words.append(
            tr("{proof} of this comparison alone", proof=proof) if looks_decided(one) else proof
        )
    return clauses([*words, tr(one.verdict.value)])


def _interval(one: Comparison) -> str:
    found = interval_of(one)
    return tr("no interval") if found == ABSENT else found


def _caveats(context: ReportContext) -> Iterator[str]:
    for importance, found in caveats_of(context).items():
        yield from (f"- {_IMPORTANCE[importance]}{colon()}{text}" for text in found)


_IMPORTANCE = {
    Importance.VERDICT: Message("could change the verdict"),
    Importance.SIZE: Message("could change the size"),
    Importance.DETAIL: Message("detail"),
}


def _why(context: ReportContext) -> Iterator[str]:
    """The explanations in words, the costs that differ most, the parts of a transaction's time."""
    found = context.of_kind(FindingKind.EXPLANATION)
    yield from dict.fromkeys(f"- {one.text}" for one in found if one.comparison is None)
    costs = [one.comparison for one in found if one.comparison is not None]
    for one in costs[:_MOST_DIFFERENCES]:
        before, after = means(one)
        figures = (f"{before} -> {after}", f"{change(one)} ({_interval(one)})", _clear(one))
        yield f"- {subject(one)}{colon()}{METRICS[one.metric].title} {listed(figures)}"

    yield from (line for one in context.analysis.accounting for line in _parts(one))


def _parts(one: Accounting) -> Iterator[str]:
    """The whole, then its parts by how much they differ; they sum to it."""
    yield (
        tr(
            "Time of a transaction, {factor} = {level} against {baseline}: {part}. Its parts:",
            factor=one.factor,
            level=one.level,
            baseline=one.baseline,
            part=_part(one.whole),
        )
    )
    shown, small = folded(one)
    parts = sorted([*shown, one.parts[-1]], key=lambda part: -abs(part.difference_ms))
    yield from (f"- {part.title}{colon()}{_part(part)}" for part in parts)
    if small:
        baseline, level = (sum(getattr(p, n) for p in small) for n in ("baseline_ms", "level_ms"))
        yield f"- {FOLDED}{colon()}{_sizes(baseline, level)}"


def _sizes(baseline: float, level: float) -> str:
    change = signed_milliseconds(level - baseline)
    return f"{milliseconds(baseline)} -> {milliseconds(level)}, {change}"


def _part(part: TimePart) -> str:
    sizes = _sizes(part.baseline_ms, part.level_ms)
    if part.ci95_ms is None or not part.is_clear:
        return tr("{sizes}, not clear", sizes=sizes)
    low, high = map(signed_milliseconds, part.ci95_ms)
    share = (
        ""
        if part.share_pct is None
        else tr(", {share_pct} % of the change", share_pct=decimals(part.share_pct, ".0f"))
    )
    return tr(
        "{sizes} (95 % CI {low} to {high}){share}{share_interval}",
        sizes=sizes,
        low=low,
        high=high,
        share=share,
        share_interval=share_interval(part),
    )


def _clear(one: Comparison) -> str:
    return tr("clear after correction") if one.clear else tr(one.verdict.value)


def _findings(context: ReportContext) -> Iterator[str]:
    said: set[str] = set()
    for one in context.of_kind(FindingKind.DIAGNOSIS):
        text = _not_yet(one.text, said)
        yield f"- [{tr(one.confidence or 'not rated')}] {one.title}{colon()}{text}"
        yield from _basis(one)
    for one in context.of_kind(FindingKind.OBSERVATION):
        if text := _not_yet(one.text, said):
            yield tr("- [described] {one}", one=text)


_SENTENCE_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=\u3002)")


def _not_yet(text: str, said: set[str]) -> str:
    """Its sentences that no finding before has said; they are added to those said."""
    found = [one for one in _SENTENCE_ENDS.split(text) if one and one not in said]
    said.update(found)
    return ("" if language() == "zh" else " ").join(found)


def _basis(one: Finding) -> Iterator[str]:
    """What a diagnosis rests on, and what would test it."""
    figures = [
        f"{each.metric} {each.figure}{f' ({each.arm})' if each.arm else ''}"
        for each in one.evidence
    ]
    more = len(figures) - _MOST_EVIDENCE
    if figures:
        yield tr(
            "  evidence: {listed}{more}",
            listed=clauses(figures[:_MOST_EVIDENCE]),
            more=tr("; and {more} more figures", more=more) if more > 0 else "",
        )
    if one.confirm:
        yield tr("  confirm: {confirm}", confirm=one.confirm)
    if one.refute:
        yield tr("  refute: {refute}", refute=one.refute)


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
        interval = tr(" (95 % CI {low} to {high} %)", low=shown[0], high=shown[1]) if shown else ""
        yield (
            tr(
                "{title}: trials of one arm differ by {value} %{interval} (standard deviation, "
                "{trials} trials of {measured_s} s)",
                title=METRICS[one.metric].title,
                value=plain_number(100 * one.trial_sd),
                interval=interval,
                trials=one.trials,
                measured_s=decimals(one.measured_s, "g"),
            )
        )
    if noise.turns is not None:
        turns = noise.turns
        yield (
            tr(
                "{title}: the difference of two arms varies by {value} % from trial to trial "
                "(standard deviation)",
                title=METRICS[turns.metric].title,
                value=plain_number(100 * turns.trial_sd),
            )
        )


def _arms(context: ReportContext) -> Iterator[str]:
    """A row for each arm; the first has all baselines."""
    analysis = context.analysis
    metrics = [n for n in _ARM_METRICS if any(n in arm.means for arm in analysis.arms)]
    effects = {one.arm: one.estimate.effect_pct for one in analysis.arm_effects}
    against = [tr("{metric} against the first", metric=analysis.metric)] if effects else []
    names = (_ARM_METRICS[name] for name in metrics)
    yield " | ".join((tr("arm"), tr("levels"), tr("trials"), *map(str, names), *against))
    for arm in analysis.arms:
        means = (_mean(arm.means.get(name), name) for name in metrics)
        last = [signed_percent(effects[arm.id]) if arm.id in effects else "-"] if effects else []
        yield " | ".join((arm.id, str(arm.label), str(arm.trials), *means, *last))


def _mean(value: float | None, name: str) -> str:
    if value is None:
        return ""
    text = f"{value:.{max(METRICS[name].digits, 1)}f}".removesuffix(".0")
    return decimals(float(text), f".{len(text.partition('.')[2])}f")
