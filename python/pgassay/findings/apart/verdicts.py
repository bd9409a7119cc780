"""The verdicts on runs made apart in words.

Enters: a comparison of runs. Leaves: badges and sentences. Never: decides a verdict.
"""

from __future__ import annotations

from pgassay.analysis.apart.model import ApartAnalysis, RunDifference, RunSpread
from pgassay.analysis.gates.judge import why_withdrawn
from pgassay.analysis.model import Comparison, Verdict
from pgassay.analysis.reading.metrics import METRICS
from pgassay.findings.wording import as_sentences, aside, percent
from pgassay.notes import Note, Term, Value
from pgassay.quantities import IntervalForm, beyond, interval_form, is_multiple

_RULE = "findings/apart/verdicts"


def badge_of(found: RunDifference, *, forced: bool) -> Note:
    """Return a verdict with its limit: `worse, not randomised`; if forced, `not comparable`."""
    verdict = Term(found.comparison.verdict.value)
    return Note.of(f"{_RULE}/{'forced_badge' if forced else 'badge'}", verdict=verdict)


def sentence_of(found: RunDifference, analysis: ApartAnalysis) -> Note:
    """The claim, with its interval where there is one."""
    one = found.comparison
    sides: dict[str, Value] = {
        "metric": Term(METRICS[one.metric].title),
        "side": found.side,
        "baseline": one.baseline,
    }
    if one.withdrawn is not None:
        reason = why_withdrawn(one.withdrawn)
        claim = Note(f"{_RULE}/sentence.withdrawn", {**sides, "reason": reason})
        return Note.of("findings/sentence", clause=_with_arm(claim, found))
    values: dict[str, Value] = {
        **sides,
        "size": abs(one.effect_pct or 0.0),
        "effect": one.effect_pct or 0.0,
        "way": Term("higher") if one.difference > 0.0 else Term("lower"),
        "change": percent(one.effect_pct),
        "margin": 100.0 * analysis.smallest_effect,
    }
    is_large = one.verdict in (Verdict.BETTER, Verdict.WORSE) and is_multiple(one.effect_pct)
    form = "multiple" if is_large else one.verdict.value
    claim = Note(f"{_RULE}/sentence.{form}", values)
    interval = aside(interval_words(found, analysis.smallest_effect))
    return Note.of(f"{_RULE}/answer", claim=_with_arm(claim, found), interval=interval)


def _with_arm(claim: Note, found: RunDifference) -> Note:
    return Note.of(f"{_RULE}/with_arm", arm=found.arm, claim=claim) if found.arm else claim


def limit_of(found: RunDifference) -> Note | None:
    """How often trials may collapse although the sides are alike; None where they are not."""
    limit = found.collapses
    if limit is None:
        return None
    return Note.of(
        f"{_RULE}/collapses.{'seen' if limit.seen else 'unseen'}",
        side=found.side,
        trials=limit.trials,
        seen=limit.seen,
        most=limit.most_pct,
    )


_FORMS = {
    IntervalForm.PER_CENT: "some",
    IntervalForm.TO_MULTIPLE: "to_multiple",
    IntervalForm.MULTIPLES: "multiples",
}


def interval_words(found: RunDifference, margin: float) -> Note:
    """Return an interval with its trials: `95 % CI −14.2 to +3.1 %, 8 and 8 trials in 2 runs`."""
    runs = Note.of(f"{_RULE}/interval.runs", number=sum(found.runs))
    if found.sessions is not None:
        runs = Note.of(f"{_RULE}/interval.sessions", runs=runs, number=sum(found.sessions))
    interval = Note(f"{_RULE}/interval.none")
    if found.comparison.ci95_pct is not None:
        low, high = (beyond(end, 100.0 * margin) for end in found.comparison.ci95_pct)
        form = _FORMS[interval_form(low, high, found.comparison.effect_pct)]
        interval = Note.of(f"{_RULE}/interval.{form}", low=low, high=high)
    first, second = found.trials
    return Note.of(
        f"{_RULE}/interval.trials", interval=interval, first=first, second=second, runs=runs
    )


def spread_sentence(found: RunDifference) -> Note | None:
    """Where the spread between runs is known from; None where nothing varies."""
    if found.spread is None:
        return None
    spread = found.spread
    sentence = Note.of(
        f"{_RULE}/spread.{spread.source.value.replace(' ', '-')}",
        sd=spread_of(spread, found.comparison),
        degrees=float(spread.degrees),
    )
    if found.sessions is None:
        return sentence
    return as_sentences(Note(f"{_RULE}/sessions.unit"), sentence)


def spread_of(spread: RunSpread, of: Comparison) -> Note:
    """The standard deviation as a share of the baseline; in its unit where that is zero."""
    metric, mean = METRICS[of.metric], max(abs(of.baseline_mean), abs(of.level_mean))
    if metric.scale != "ratio" and not mean:
        return Note.of(f"{_RULE}/sd.amount", sd=spread.sd, unit=metric.unit)
    whole = 1.0 if metric.scale == "ratio" else mean
    return Note.of(f"{_RULE}/sd.share", pct=100.0 * spread.sd / whole)


def limits() -> tuple[Note, ...]:
    """Returns the notes of what a comparison of runs made apart cannot show."""
    parts = ("randomised", "why", "inside", "instead")
    return tuple(Note(f"{_RULE}/never.{part}") for part in parts)


def forced(analysis: ApartAnalysis) -> tuple[Note, ...]:
    """Returns why a comparison is meaningless, where it was forced."""
    return tuple(Note.of(f"{_RULE}/caveats.forced", why=why) for why in analysis.forced)


def caveats(analysis: ApartAnalysis) -> tuple[Note, ...]:
    """Returns what makes a comparison of runs made apart doubtful, the worst first."""
    of_runs = (Note.of(f"{_RULE}/caveats.of_runs", text=note) for note in analysis.caveats)
    arms = (Note.of(f"{_RULE}/caveats.left_out", label=label) for label in analysis.left_out)
    return (*forced(analysis), *of_runs, *arms)
