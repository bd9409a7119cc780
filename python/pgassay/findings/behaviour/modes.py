"""Which latencies have several modes, what goes with the slow ones, what the mean hides.

Enters: an Analysis. Leaves: findings. Never: calls a wait or a checkpoint the cause of a mode.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.analysis.curves.modes.model import LatencyMode, LatencyModes, ModeContrast, ModeWait
from pgassay.analysis.measures.courses.latencies import ALL
from pgassay.analysis.model import Analysis, RunFacts
from pgassay.findings.behaviour.mode_queues import confirmation, queued_pct, queued_sentence
from pgassay.findings.model import Confidence, Evidence, Finding, FindingKind
from pgassay.findings.wording import as_sentences, ends, texts_of, time_of
from pgassay.notes import Note, Term, Value

_TEXTS = texts_of(__name__)
_RULE = "findings/behaviour/modes"
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
    named = _worst_arms(searched)
    labels = {arm.id: arm.label for arm in analysis.answer.arms}
    queued = {one.arm: queued_pct(analysis, one.arm) for one in named}
    queues = {
        arm: queued_sentence(searched, share, labels[arm])
        for arm, share in queued.items()
        if share is not None
    }
    claims = [
        as_sentences(*_sentences(one, labels[one.arm]), *_beside_it(one.modes[-1])) for one in named
    ]
    if all(len(one.modes) == 1 for one in searched):
        claims.append(Note(f"{_RULE}/one"))
    changes = [one for one in analysis.behaviour.mode_contrasts if _matters(one)]
    claims += [_contrast(one) for one in changes]
    if queues:
        claims.append(queues[max(queues, key=lambda arm: queued[arm] or 0.0)])
    found = [
        Finding(FindingKind.OBSERVATION, Note(f"{_RULE}/title"), claim, rule="modes")
        for claim in claims
    ]
    hidden = [one for one in named if _mean_hides(one)]
    if hidden:
        worst = max(hidden, key=_slow_time)
        own = [change for change in changes if change.scenario == worst.scenario]
        found.append(_diagnosis(worst, labels[worst.arm], own, queues.get(worst.arm)))
    return found


def _worst_arms(searched: list[LatencyModes]) -> list[LatencyModes]:
    """Returns, for each scenario, the arm whose slow modes hold most of the time."""
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


def _sentences(one: LatencyModes, arm: str) -> list[Note]:
    found = [
        Note.of(
            f"{_RULE}/many",
            subject=Note.of(f"{_RULE}/named", scenario=one.scenario, arm=arm),
            count=len(one.modes),
            trials=one.trials,
            modes=tuple(map(_mode, one.modes)),
        )
    ]
    if _mean_hides(one):
        mean, near = time_of(one.mean_ms.value), one.near_mean_pct.value
        found.append(Note.of(f"{_RULE}/mean", mean=mean, near=near))
    return found


def _mode(mode: LatencyMode) -> Note:
    values: dict[str, Value] = {
        "peak": time_of(mode.peak_ms.value),
        "share": mode.share_pct.value,
        "time": mode.time_pct.value,
    }
    if mode.above_ms is None:
        return Note(f"{_RULE}/fastest", values)
    low, high = ends(mode.share_pct)
    known = mode.share_pct.low is not None
    interval = Note.of(f"{_RULE}/interval", low=low, high=high) if known else ""
    above = time_of(mode.above_ms.value)
    return Note(f"{_RULE}/slower", {**values, "above": above, "interval": interval})


def _beside_it(mode: LatencyMode) -> Iterator[Note]:
    """Says what was seen with the slowest mode: waits, checkpoints."""
    if mode.waits and mode.above_ms is not None:
        yield from _waits(mode, time_of(mode.above_ms.value))
    change = mode.at_checkpoints_points
    if change is not None and change.low is not None and change.low > 0.0:
        low, high = ends(change)
        yield Note.of(f"{_RULE}/checkpoint", points=change.value, low=low, high=high)


def _waits(mode: LatencyMode, above: Note) -> Iterator[Note]:
    for wait in mode.waits:
        low, other = wait.share_pct.low, wait.otherwise_pct
        if low is not None and other is not None and low > other:
            form = "stands_out"
            break
    else:
        wait, form = mode.waits[0], "no_wait"
    lowest, highest = ends(wait.share_pct)
    yield Note.of(
        f"{_RULE}/{form}",
        above=above,
        event=wait.event,
        share=wait.share_pct.value,
        low=lowest,
        high=highest,
        otherwise=wait.otherwise_pct or 0.0,
    )
    if wait.event == _CLIENT:
        yield Note(f"{_RULE}/client")


def _matters(one: ModeContrast) -> bool:
    return one.is_clear and abs(one.points.value) >= float(_TEXTS["least_points"])


def _contrast(one: ModeContrast) -> Note:
    low, high = ends(one.points)
    return Note.of(
        f"{_RULE}/contrast",
        subject=f"{one.factor} = {one.level}",
        scenario=one.scenario,
        level_pct=one.level_pct,
        baseline=one.baseline,
        baseline_pct=one.baseline_pct,
        above=time_of(one.slower_than_ms),
        points=one.points.value,
        low=low,
        high=high,
        blocks=one.blocks,
    )


def _diagnosis(
    one: LatencyModes, arm: str, changes: list[ModeContrast], queues: Note | None
) -> Finding:
    """That the level which changes the share of slow transactions most does so: levels were drawn
    at random; that there are modes, where none does. `queues`: what the scheduler may have to do
    with it."""
    slowest = one.modes[-1]
    above = "" if slowest.above_ms is None else time_of(slowest.above_ms.value)
    largest = sorted(changes, key=lambda change: -abs(change.points.value))[:1]
    title = Note.of(f"{_RULE}/diagnosis.title", scenario=one.scenario, count=len(one.modes))
    for change in largest:
        title = Note.of(
            f"{_RULE}/diagnosis.changed",
            subject=f"{change.factor} = {change.level}",
            direction=Term("fewer") if change.points.value < 0.0 else Term("more"),
            scenario=one.scenario,
            limit=time_of(change.slower_than_ms),
        )
    return Finding(
        FindingKind.DIAGNOSIS,
        title,
        as_sentences(
            *map(_contrast, largest),
            Note(f"{_RULE}/diagnosis.scope") if largest else None,
            *_sentences(one, arm),
            queues,
        ),
        rule="latency_modes",
        confidence=Confidence.CONFIRMED if largest else Confidence.SUPPORTED,
        evidence=(
            _figure("mean", arm, time_of(one.mean_ms.value)),
            _figure("near_mean", arm, Note.of("findings/share", pct=one.near_mean_pct.value)),
            *(_figure("mode", arm, _mode(mode)) for mode in one.modes),
            *(_of_wait(wait, above, arm) for wait in slowest.waits),
            *map(_of_change, largest),
        ),
        confirm=as_sentences(
            Note.of(
                f"{_RULE}/diagnosis.confirm",
                share=slowest.share_pct.value,
                scenario=one.scenario,
                above=above,
            ),
            confirmation() if queues else None,
        ),
        refute=Note(f"{_RULE}/diagnosis.refute"),
    )


def _figure(name: str, arm: Note | str, figure: Note, **values: Value) -> Evidence:
    return Evidence(Note(f"{_RULE}/evidence.{name}", values), figure, arm)


def _of_wait(wait: ModeWait, above: Note | str, arm: str) -> Evidence:
    share, others = wait.share_pct.value, wait.otherwise_pct or 0.0
    figure = Note.of(f"{_RULE}/evidence.shares", share=share, others=others)
    return _figure("wait", arm, figure, event=wait.event, above=above)


def _of_change(change: ModeContrast) -> Evidence:
    pair, shares = (
        Note.of(f"{_RULE}/evidence.{name}", factor=change.factor, before=before, after=after)
        for name, before, after in (
            ("levels", change.baseline, change.level),
            ("change", change.baseline_pct, change.level_pct),
        )
    )
    return _figure("slower", pair, shares, value=time_of(change.slower_than_ms))
