"""The experiment that would test the first suspect of two periods.

Enters: a comparison of periods, the present values of settings. Leaves: the text of an experiment
file, or nothing. Never: claims that the suspect is the cause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from pgassay.analysis.observation.periods.model import Difference, PeriodsAnalysis, SettingChange
from pgassay.analysis.observation.periods.settings import VERSION
from pgassay.analysis.reading.plain_text import one_line
from pgassay.findings.next_spec import next_spec
from pgassay.findings.observation.periods import RULE, title_of, value_of
from pgassay.findings.wording import texts_of
from pgassay.notes import Note
from pgassay.spec.reading.tables import toml_literal
from pgassay.spec.secrets.redaction import redacted

_FILE = texts_of(__name__)
_WIDTH = 1000
_FEWEST_CLIENTS, _MOST_CLIENTS = 2, 64


@dataclass(frozen=True)
class Proposal:
    """An experiment, and what it would test."""

    name: str
    """Of the suspect; `setting` for one that was changed."""
    why: tuple[Note, ...]
    spec: str
    """Ready for `pgassay run`; each line of `why` is a comment at its head."""


def proposal_of(analysis: PeriodsAnalysis, present: Mapping[str, str]) -> Proposal | None:
    """Returns the experiment for the first suspect that there is one for: a setting that was
    changed, then the figures that differ by more than usual, in their order."""
    if not analysis.unusual:
        return None
    return next(_proposals(analysis, present), None)


def _proposals(analysis: PeriodsAnalysis, present: Mapping[str, str]) -> Iterator[Proposal]:
    for change in analysis.settings:
        if change.name != VERSION and (found := _of_setting(change, analysis, present)):
            yield found
    for one in analysis.unusual:
        for entry in _FILE["suspect"]:
            values = entry["values"]
            if _matches(one, values) and (found := _of_figure(one, entry, analysis, present)):
                yield found


def _matches(one: Difference, values: Mapping[str, Any]) -> bool:
    figure = one.figure
    name = f"{figure.name}/{figure.thing}" if figure.thing else figure.name
    has_risen = one.second > one.first
    return has_risen and any(fnmatchcase(name, pattern) for pattern in values["when"])


def _of_setting(
    change: SettingChange, analysis: PeriodsAnalysis, present: Mapping[str, str]
) -> Proposal | None:
    factors = {"postgres": {change.name: [change.first, change.second]}}
    name, first, second = change.name, change.first, change.second
    why = Note.of(f"{RULE}/suspect.setting", name=name, first=first, second=second)
    question = str(_FILE["setting"]["question"]).format(name=name)
    return _proposal("setting", (why,), question, {}, factors, analysis, present)


def _of_figure(
    one: Difference,
    entry: Mapping[str, Any],
    analysis: PeriodsAnalysis,
    present: Mapping[str, str],
) -> Proposal | None:
    values, figure = entry["values"], one.figure
    first, second = (value_of(value, figure) for value in (one.first, one.second))
    title = title_of(figure, analysis)
    why = [Note.of(f"{RULE}/suspect.changed", figure=title, first=first, second=second)]
    if text := analysis.texts.get(figure.thing):
        why.append(Note.of(f"{RULE}/suspect.statement", text=text))
    question, factors = str(entry["question"]), values["factors"]
    return _proposal(values["name"], tuple(why), question, values, factors, analysis, present)


def _proposal(
    name: str,
    why: tuple[Note, ...],
    question: str,
    values: Mapping[str, Any],
    factors: Mapping[str, Any],
    analysis: PeriodsAnalysis,
    present: Mapping[str, str],
) -> Proposal | None:
    try:
        spec = next_spec(_base(values, analysis), {}, question, factors, present=present)
    except KeyError:  # a setting whose present value nothing recorded
        return None
    if not spec:
        return None
    about, stand_in = Note(f"{RULE}/suspect.about"), Note(f"{RULE}/suspect.stand_in")
    every = (about, *why, stand_in)
    head = "".join(f"# {redacted(one_line(str(one), _WIDTH))}\n" for one in every)
    return Proposal(name, every, f"{head}\n{spec}")


def _base(values: Mapping[str, Any], analysis: PeriodsAnalysis) -> str:
    base = _FILE["base"]["values"]
    active = next((one.second for one in analysis.of("sessions")), 0.0)
    is_varied = "scale" in values.get("factors", {}).get("workload", {})
    scale = "" if is_varied else f"scale = {int(base['scale'])}\n"
    clients = max(_FEWEST_CLIENTS, min(_MOST_CLIENTS, round(active)))
    return (
        f"[workload]\nuse = {toml_literal(str(values.get('workload', base['workload'])))}\n"
        f"{scale}"
        f"[load]\nclients = {clients}\nstep = {toml_literal(str(base['step']))}\n"
    )
