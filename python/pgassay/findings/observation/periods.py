"""Two periods of observations in words.

Enters: a comparison of periods. Leaves: sentences. Never: names a cause.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pgassay.analysis.observation.periods.model import Difference, Figure, PeriodsAnalysis
from pgassay.analysis.reading.plain_text import one_line
from pgassay.findings.wording import percent
from pgassay.notes import Note, Term, Value
from pgassay.quantities import digits_of

RULE = "findings/observation/periods"
ALWAYS = ("tps", "speed", "session-ms-per-tx")
"""Figures that are told in any case."""
_WIDTH = 70
_MOST_DIGITS = 3
_WHOLE_FROM = 10.0
_MOST_TIMES = 1000.0
_READ = 0.95
"""A share of a period that was read, below which a reader should know it."""


def value_of(value: float, figure: Figure) -> Note:
    """Returns a value of a figure with its unit."""
    if figure.unit in ("B", "B/s"):
        size = Note.of("findings/bytes", value=value)
        return size if figure.unit == "B" else Note.of("findings/bytes-a-second", value=value)
    digits = digits_of(value, _MOST_DIGITS)
    if not figure.unit:
        return Note.of("findings/quantity", value=value, digits=digits)
    unit = Term(figure.unit)
    return Note.of("findings/quantity-with-unit", value=value, digits=digits, unit=unit)


def change_of(one: Difference) -> Note | Term:
    """Returns a change in per cent or as a multiple; in words where there was next to nothing."""
    pct = one.change_pct
    return Note(f"{RULE}/change.new") if pct is None else percent(pct)


def times_of(one: Difference) -> Note | Term:
    """Returns a change in multiples of what is usual."""
    if one.times_usual is None:
        return Term("n/a")
    times = min(abs(one.times_usual), _MOST_TIMES)
    return Note.of(f"{RULE}/times.{'short' if times < _WHOLE_FROM else 'long'}", times=times)


def title_of(figure: Figure, analysis: PeriodsAnalysis) -> Note:
    """Returns the name of a figure with the statement, event or table that it is of."""
    if not figure.thing:
        return Note.of(f"{RULE}/figure.of_server", title=figure.title)
    thing = thing_of(figure, analysis)
    return Note.of(f"{RULE}/figure.of_thing", title=figure.title, thing=thing)


def thing_of(figure: Figure, analysis: PeriodsAnalysis) -> str:
    """Returns the text of a statement in one line, where it is known; else what a figure is of."""
    text = analysis.texts.get(figure.thing) if figure.group == "statements" else None
    return one_line(text, _WIDTH) if text else figure.thing


def sentence_of(one: Difference, analysis: PeriodsAnalysis) -> Note:
    """Returns how a figure of both periods differs, against what is usual."""
    form = form_of(one)
    values = _values(one, analysis)
    if form == "changed":
        values["times"] = times_of(one)
    return _as_sentence(Note(f"{RULE}/answer.{form}", values))


def form_of(one: Difference) -> Literal["unknown", "changed", "open", "usual"]:
    """Returns which sentence a figure has: `open` where it is not clear, and only the two periods
    say what is usual."""
    if one.usual is None:
        return "unknown"
    if one.is_unusual:
        return "changed"
    return "usual" if one.usual.pairs else "open"


def overall(analysis: PeriodsAnalysis) -> Note:
    """Returns how many figures differ by more than usual, and which of them the most."""
    number, unusual = len(analysis.differences), analysis.unusual
    if not unusual:
        return _as_sentence(Note.of(f"{RULE}/answer.none", figures=number))
    values = {**_values(unusual[0], analysis), "times": times_of(unusual[0])}
    values |= {"figures": number, "unusual": len(unusual)}
    return _as_sentence(Note(f"{RULE}/answer.most", values))


def usual_from(analysis: PeriodsAnalysis) -> Note:
    """Returns what the usual difference is known from."""
    code = f"{RULE}/usual.{analysis.source}"
    return Note(code) if analysis.source == "within" else Note.of(code, pairs=analysis.pairs)


def limits(analysis: PeriodsAnalysis) -> Iterator[Note]:
    """Yields what makes this comparison weaker, then what none can show."""
    if analysis.source == "within":
        yield Note(f"{RULE}/never.within")
    for one in analysis.periods:
        share = one.read_s / max(one.seconds, 1e-9)
        if share < _READ:
            yield Note.of(f"{RULE}/never.read", label=one.label, share=100.0 * share)
    width = max(one.width_s for one in analysis.periods)
    if width >= 2 * _SHORT_S:
        yield Note.of(f"{RULE}/never.thinned", width=width)
    yield Note(f"{RULE}/never.randomised")
    yield Note(f"{RULE}/never.chance")


_SHORT_S = 10.0


def _values(one: Difference, analysis: PeriodsAnalysis) -> dict[str, Value]:
    return {
        "figure": title_of(one.figure, analysis),
        "first": value_of(one.first, one.figure),
        "second": value_of(one.second, one.figure),
        "change": change_of(one),
    }


def _as_sentence(claim: Note) -> Note:
    return Note.of("findings/sentence", clause=claim)
