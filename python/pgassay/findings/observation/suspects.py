"""The experiment that would test the first suspect of two periods.

Enters: a comparison of periods, the present values of settings. Leaves: a `Proposal`, or nothing.
Never: claims that the suspect is the cause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pgassay.analysis.observation.periods.model import Difference, PeriodsAnalysis, SettingChange
from pgassay.analysis.observation.periods.settings import VERSION
from pgassay.findings.observation.periods import RULE, title_of, value_of
from pgassay.findings.suspects import (
    Proposal,
    Stand,
    about_statement,
    of_setting,
    of_suspect,
    suspects_of,
)
from pgassay.notes import Note

_ABOUT = Note(f"{RULE}/suspect.about")


def proposal_of(analysis: PeriodsAnalysis, present: Mapping[str, str]) -> Proposal | None:
    """Returns the experiment for the first suspect that there is one for: a setting that was
    changed, then the figures that differ by more than usual, in their order."""
    if not analysis.unusual:
        return None
    active = next((one.second for one in analysis.of("sessions")), 0.0)
    return next(_proposals(analysis, Stand(active, present)), None)


def _proposals(analysis: PeriodsAnalysis, stand: Stand) -> Iterator[Proposal]:
    for change in analysis.settings:
        if change.name != VERSION and (found := _of_setting(change, stand)):
            yield found
    for one in analysis.unusual:
        if one.second <= one.first:
            continue
        figure = one.figure
        name = f"{figure.name}/{figure.thing}" if figure.thing else figure.name
        for entry in suspects_of("when", name):
            if found := of_suspect(entry, [*_why(one, analysis)], stand):
                yield found


def _of_setting(change: SettingChange, stand: Stand) -> Proposal | None:
    name, first, second = change.name, change.first, change.second
    why = Note.of(f"{RULE}/suspect.setting", name=name, first=first, second=second)
    return of_setting(name, (first, second), (_ABOUT, why), stand)


def _why(one: Difference, analysis: PeriodsAnalysis) -> Iterator[Note]:
    figure = one.figure
    first, second = (value_of(value, figure) for value in (one.first, one.second))
    title = title_of(figure, analysis)
    yield _ABOUT
    yield Note.of(f"{RULE}/suspect.changed", figure=title, first=first, second=second)
    if text := analysis.texts.get(figure.thing):
        yield about_statement(text)
