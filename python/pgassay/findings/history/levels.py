"""The levels of a history of runs in words.

Enters: a history. Leaves: sentences. Never: decides where a level changed.
"""

from __future__ import annotations

from collections.abc import Iterator

from pgassay.analysis.apart.model import ApartRun
from pgassay.analysis.history.levels import FEWEST_RUNS
from pgassay.analysis.history.model import Change, HistoryAnalysis, Series
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.wording import measured, percent
from pgassay.notes import Note, Term, Value
from pgassay.quantities import beyond, day, interval_form

_RULE = "findings/history/levels"
_NOTABLE_INERTIA = 0.3
"""A correlation of neighbours from which on a reader should know of it."""


def sentence_of(one: Series, analysis: HistoryAnalysis) -> Note:
    """Returns the present level of a metric, and how it differs from the one before."""
    metric = METRICS[one.metric]
    known: dict[str, Value] = {
        "metric": Term(metric.title),
        "level": measured(one.means[-1], metric),
        "runs": len(one.runs),
    }
    if len(one.runs) < FEWEST_RUNS:
        claim = Note(f"{_RULE}/level.short", known)
    elif not one.changes:
        claim = Note(f"{_RULE}/level.steady", {**known, "sd": _spread(one)})
    else:
        last = one.changes[-1]
        earlier = len(one.changes) - 1
        form = "none" if not earlier else "one" if earlier == 1 else "some"
        values: dict[str, Value] = {
            **known,
            "first": analysis.runs[last.first].name,
            "began": place_of(last, analysis),
            "change": size_of(last),
            "interval": interval_of(last, analysis),
            "earlier": Note.of(f"{_RULE}/earlier.{form}", number=earlier),
        }
        claim = Note(f"{_RULE}/level.changed", values)
    if one.arm:
        claim = Note.of(f"{_RULE}/with_arm", arm=one.arm, claim=claim)
    return Note.of("findings/sentence", clause=claim)


def size_of(change: Change) -> Note | Term:
    """Returns a change in per cent, or in the metric's unit where the level may be zero."""
    if change.is_percent:
        return percent(change.change.value)
    return measured(change.change.value, METRICS[change.metric])


def interval_of(change: Change, analysis: HistoryAnalysis) -> Note:
    """Returns the 95 % interval of a change, in per cent or in the metric's unit."""
    metric, ends = METRICS[change.metric], (change.change.low or 0.0, change.change.high or 0.0)
    if change.is_percent:
        low, high = (beyond(end, 100.0 * analysis.smallest_effect) for end in ends)
        form = interval_form(low, high, change.change.value)
        return Note.of(f"{_RULE}/change.{form.value}", low=low, high=high)
    first, last = (measured(end, metric) for end in ends)
    return Note.of(f"{_RULE}/change.amounts", low=first, high=last)


def place_of(change: Change, analysis: HistoryAnalysis) -> Note:
    """Returns the day of the run with which a level begins, and which other runs it may be."""
    at, earliest, latest = (
        begun_on(analysis.runs[place]) for place in (change.first, change.earliest, change.latest)
    )
    form = "exact" if earliest == latest else "between"
    return Note.of(f"{_RULE}/place.{form}", at=at, earliest=earliest, latest=latest)


def begun_on(run: ApartRun) -> str:
    """Returns the day (UTC) on which the first trial of a run began, such as 2026-11-27."""
    return day(run.trials[0].whole.start_ns)


def _spread(one: Series) -> Note:
    metric = METRICS[one.metric]
    if metric.scale == "ratio":
        return Note.of(f"{_RULE}/change.sd_share", pct=100.0 * one.levels.sd)
    return measured(one.levels.sd, metric)


def limits() -> tuple[Note, ...]:
    """Returns what no history of runs can show."""
    return tuple(Note(f"{_RULE}/never.{part}") for part in ("randomised", "chosen", "settle"))


def caveats(analysis: HistoryAnalysis) -> Iterator[Note]:
    """Yields what makes this history weaker than it looks."""
    if len(analysis.runs) < FEWEST_RUNS:
        yield Note.of(f"{_RULE}/caveats.few", runs=len(analysis.runs), fewest=FEWEST_RUNS)
    for one in analysis.main:
        if one.levels.inertia >= _NOTABLE_INERTIA and len(one.runs) >= FEWEST_RUNS:
            title, inertia = Term(METRICS[one.metric].title), one.levels.inertia
            yield Note.of(f"{_RULE}/caveats.unsteady", metric=title, inertia=inertia)
    for run in analysis.left_out:
        yield Note.of(f"{_RULE}/caveats.left_out", name=run.name, why=run.why)


def judged_sentence(analysis: HistoryAnalysis) -> Note | None:
    """Returns which runs the gates judged; None without gates."""
    judged = analysis.judged
    if judged is None:
        return None
    spans = (
        " … ".join(dict.fromkeys((own[0], own[-1]))) for own in (judged.latest, judged.against)
    )
    latest, against = spans
    return Note.of(f"{_RULE}/latest.judged", latest=latest, against=against)
