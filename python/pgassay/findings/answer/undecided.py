"""Why a verdict is undecided, what is excluded, and the shortest way to a verdict, in sentences.

Enters: a verdict and its Analysis. Leaves: notes behind its sentence. Never: decides any of it.
"""

from __future__ import annotations

from typing import Any

from pgassay.analysis.model import Analysis, Comparison
from pgassay.analysis.reading.metrics import METRICS
from pgassay.analysis.verdicts.model import Reason, WhyUndecided
from pgassay.findings.wording import more_blocks
from pgassay.notes import Note, Term
from pgassay.quantities import is_multiple
from pgassay.trials.guards.noted_programs import named

_RULE = "findings/answer/undecided"


def reason_of(verdict: Comparison, analysis: Analysis) -> WhyUndecided | None:
    """Returns why a verdict is undecided; None of one that is decided or withdrawn."""
    at = (verdict.factor, verdict.level, verdict.step)
    found = analysis.answer.undecided
    return next((one for one in found if (one.factor, one.level, one.step) == at), None)


def why(verdict: Comparison, analysis: Analysis) -> list[Note]:
    """Returns the reason, what is excluded, and the shortest way, a sentence each; nothing of a
    single load, whose verdict is beside that of the whole trials."""
    found = reason_of(verdict, analysis)
    if found is None or found.step is not None:
        return []
    notes = [reason_note(found, analysis.answer.smallest_effect)]
    low, high = found.excludes_below_pct, found.excludes_above_pct
    if low is not None and high is not None:
        notes.append(_excluded(verdict, low, high))
    return [*notes, way_note(found)]


def reason_note(found: WhyUndecided, margin: float) -> Note:
    """Returns the reason as one sentence; `margin` is the smallest effect, a share."""
    if found.reason is Reason.NOISE and found.noise_pct is None:
        return Note(f"{_RULE}/reason.unknown-noise")
    # Values that the sentence does not show would make one reason of two levels two sentences.
    values: dict[Reason, dict[str, Any]] = {
        Reason.OTHER_PROGRAMS: {"share": found.others_pct or 0.0, "named": named(found.programs)},
        Reason.NEAR_MARGIN: {"margin": 100.0 * margin},
        Reason.NOISE: {"noise": found.noise_pct},
    }
    return Note.of(f"{_RULE}/reason.{found.reason.value}", **values.get(found.reason, {}))


def way_note(found: WhyUndecided) -> Note:
    """Returns the shortest way to a verdict as one sentence."""
    of_few = found.reason is Reason.FEW_BLOCKS
    form = "for-an-interval" if of_few else found.way.value
    more = found.blocks or 0
    return Note.of(f"{_RULE}/way.{form}", more=more_blocks(more), total=found.of + more)


def _excluded(verdict: Comparison, low: float, high: float) -> Note:
    metric = METRICS[verdict.metric]
    form = "throughput" if metric.name == "tps" else "other"
    form = f"{form}-multiple" if is_multiple(high) else form
    return Note.of(
        f"{_RULE}/excluded.{form}",
        metric=Term(metric.title),
        below=max(0.0, -low),
        above=max(0.0, high),
    )
