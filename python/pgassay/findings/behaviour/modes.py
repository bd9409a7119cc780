"""Which latencies have several modes, what goes with the slow ones, what the mean hides.

Enters: an Analysis. Leaves: findings. Never: calls a wait or a checkpoint the cause of a mode.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.analysis.curves.modes.model import LatencyMode, LatencyModes, ModeContrast
from pgassay.analysis.measures.courses.latencies import ALL
from pgassay.analysis.model import Analysis, RunFacts
from pgassay.findings.behaviour.mode_queues import confirmation, queued_pct, queued_sentence
from pgassay.findings.model import Confidence, Evidence, Finding, FindingKind
from pgassay.findings.wording import bounds, texts_of
from pgassay.language import colon, listed, tr
from pgassay.quantities import latency, plain_number

_TEXTS = texts_of(__name__)
_CLIENT = "Client:ClientRead"


def find(analysis: Analysis, _facts: RunFacts) -> list[Finding]:
    """A sentence for each scenario with a slow mode that matters, and for each level that changes
    the share of one; the scenario in which it matters most is a diagnosis."""
    searched = [
        one
        for one in analysis.behaviour.latency_modes
        if one.refused is None and one.scenario != ALL
    ]
    if not searched:
        return []
    told = _told(searched)
    labels = {arm.id: arm.label for arm in analysis.answer.arms}
    queued = {one.arm: queued_pct(analysis, one.arm) for one in told}
    queues = {
        arm: queued_sentence(searched, share, labels[arm])
        for arm, share in queued.items()
        if share is not None
    }
    texts = ["".join([_sentence(one, labels[one.arm]), *_with(one.modes[-1])]) for one in told]
    if all(len(one.modes) == 1 for one in searched):
        texts.append(_TEXTS["one"])
    changes = [one for one in analysis.behaviour.mode_contrasts if _matters(one)]
    texts += [_contrast(one) for one in changes]
    if queues:
        texts.append(queues[max(queues, key=lambda arm: queued[arm] or 0.0)].strip())
    found = [
        Finding(FindingKind.OBSERVATION, _TEXTS["title"], text, rule="modes") for text in texts
    ]
    hidden = [one for one in told if _mean_hides(one)]
    if hidden:
        worst = max(hidden, key=_slow_time)
        own = [change for change in changes if change.scenario == worst.scenario]
        found.append(_diagnosis(worst, labels[worst.arm], own, queues.get(worst.arm, "")))
    return found


def _told(searched: list[LatencyModes]) -> list[LatencyModes]:
    """Of each scenario the arm whose slow modes hold most of the time."""
    found = []
    for scenario in dict.fromkeys(one.scenario for one in searched):
        worst = max((one for one in searched if one.scenario == scenario), key=_slow_time)
        if _slow_time(worst) >= _TEXTS["least_time_pct"]:
            found.append(worst)
    return found


def _slow_time(one: LatencyModes) -> float:
    """Per cent of the time that is spent in other modes than the commonest and faster ones."""
    commonest = max(range(len(one.modes)), key=lambda at: one.modes[at].share_pct.value)
    return sum(mode.time_pct.value for mode in one.modes[commonest + 1 :])


def _mean_hides(one: LatencyModes) -> bool:
    return one.near_mean_pct.value < float(_TEXTS["most_near_mean_pct"])


def _sentence(one: LatencyModes, arm: str) -> str:
    text = str(_TEXTS["many"]).format(
        subject=str(_TEXTS["named"]).format(scenario=one.scenario, arm=arm),
        count=len(one.modes),
        trials=one.trials,
        modes=_listed([_mode(mode) for mode in one.modes]),
    )
    if _mean_hides(one):
        near = f"{plain_number(one.near_mean_pct.value)} %"
        text += str(_TEXTS["mean"]).format(mean=latency(one.mean_ms.value), near=near)
    return text


def _mode(mode: LatencyMode) -> str:
    low, high = bounds(mode.share_pct)
    return str(_TEXTS["fastest" if mode.above_ms is None else "slower"]).format(
        peak=latency(mode.peak_ms.value),
        above="" if mode.above_ms is None else latency(mode.above_ms.value),
        share=f"{plain_number(mode.share_pct.value)} %",
        interval=""
        if mode.share_pct.low is None
        else tr(", 95 % CI {low} to {high},", low=low, high=high),
        time=f"{plain_number(mode.time_pct.value)} %",
    )


def _listed(parts: list[str]) -> str:
    return (
        tr("{items} and {last}", items=listed(parts[:-1]), last=parts[-1])
        if len(parts) > 1
        else parts[0]
    )


def _with(mode: LatencyMode) -> Iterator[str]:
    """What goes with the slowest mode."""
    if mode.waits and mode.above_ms is not None:
        yield _waits(mode, latency(mode.above_ms.value))
    change = mode.at_checkpoints_points
    if change is not None and change.low is not None and change.low > 0.0:
        low, high = bounds(change)
        yield str(_TEXTS["checkpoint"]).format(
            points=plain_number(change.value), low=low, high=high
        )


def _waits(mode: LatencyMode, above: str) -> str:
    for wait in mode.waits:
        low, other = wait.share_pct.low, wait.otherwise_pct
        if low is not None and other is not None and low > other:
            text = str(_TEXTS["stands_out"])
            break
    else:
        wait, text = mode.waits[0], str(_TEXTS["no_wait"])
    low_text, high_text = bounds(wait.share_pct)
    return text.format(
        above=above,
        event=wait.event,
        share=f"{plain_number(wait.share_pct.value)} %",
        low=low_text,
        high=high_text,
        otherwise=f"{plain_number(wait.otherwise_pct or 0.0)} %",
    ) + (str(_TEXTS["client"]) if wait.event == _CLIENT else "")


def _matters(one: ModeContrast) -> bool:
    return one.is_clear and abs(one.points.value) >= float(_TEXTS["least_points"])


def _contrast(one: ModeContrast) -> str:
    low, high = bounds(one.points)
    return str(_TEXTS["contrast"]).format(
        subject=f"{one.factor} = {one.level}",
        scenario=one.scenario,
        level_pct=f"{plain_number(one.level_pct)} %",
        baseline=one.baseline,
        baseline_pct=f"{plain_number(one.baseline_pct)} %",
        above=latency(one.slower_than_ms),
        points=plain_number(one.points.value),
        low=low,
        high=high,
        blocks=one.blocks,
    )


def _diagnosis(one: LatencyModes, arm: str, changes: list[ModeContrast], queues: str) -> Finding:
    """That the level which changes the share of slow transactions most does so: levels were drawn
    at random; that there are modes, where none does. `queues`: what the scheduler may have to do
    with it."""
    texts = _TEXTS["diagnosis"]
    slowest = one.modes[-1]
    largest = sorted(changes, key=lambda change: -abs(change.points.value))[:1]
    title = "title"
    words: dict[str, str | int] = {
        "scenario": one.scenario,
        "count": len(one.modes),
        "above": latency(slowest.above_ms.value) if slowest.above_ms is not None else "",
        "share": f"{plain_number(slowest.share_pct.value)} %",
    }
    for change in largest:
        title = "changed"
        words["subject"] = f"{change.factor} = {change.level}"
        words["direction"] = tr("fewer") if change.points.value < 0.0 else tr("more")
        words["limit"] = latency(change.slower_than_ms)
    figures = [
        Evidence(tr("mean latency"), latency(one.mean_ms.value), arm),
        Evidence(
            tr("transactions within a tenth of the mean"),
            f"{plain_number(one.near_mean_pct.value)} %",
            arm,
        ),
        *(Evidence(tr("mode of latency"), _mode(mode), arm) for mode in one.modes),
        *(
            Evidence(
                tr(
                    "{event} in samples of transactions older than {above}",
                    event=wait.event,
                    above=words["above"],
                ),
                tr(
                    "{share} %, in others {others} %",
                    share=plain_number(wait.share_pct.value),
                    others=plain_number(wait.otherwise_pct or 0.0),
                ),
                arm,
            )
            for wait in slowest.waits
        ),
        *(
            Evidence(
                tr("transactions slower than {value}", value=latency(change.slower_than_ms)),
                f"{plain_number(change.baseline_pct)} % → {plain_number(change.level_pct)} %",
                f"{change.factor}{colon()}{change.baseline} → {change.level}",
            )
            for change in largest
        ),
    ]
    scope = [str(texts["scope"])] if largest else []
    return Finding(
        FindingKind.DIAGNOSIS,
        str(texts[title]).format(**words),
        " ".join([*map(_contrast, largest), *scope, _sentence(one, arm)]) + queues,
        rule="latency_modes",
        confidence=Confidence.CONFIRMED if largest else Confidence.SUPPORTED,
        evidence=tuple(figures),
        confirm=str(texts["confirm"]).format(**words) + (confirmation() if queues else ""),
        refute=str(texts["refute"]).format(**words),
    )
