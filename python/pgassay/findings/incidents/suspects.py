"""The experiment that would test the first sign of an incident.

Enters: incidents, texts of statements, the present values of settings. Leaves: a `Proposal`, or
nothing. Never: claims that the sign is the cause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from pgassay.analysis.observation.incidents.model import Incident, Incidents, Sign
from pgassay.analysis.observation.incidents.statements import STATEMENT
from pgassay.findings.incidents.signs import sign_of
from pgassay.findings.suspects import Proposal, Stand, about_statement, of_suspect, suspects_of
from pgassay.notes import Note

_RULE = "findings/incidents/signs"
_OF_PLANS = ("plan-change", STATEMENT)


def proposal_of(
    found: Incidents,
    texts: Mapping[str, str],
    present: Mapping[str, str],
    number: int | None = None,
) -> Proposal | None:
    """Returns the experiment for an incident, counted from 1; without a number for the largest one,
    by session-seconds beyond the usual, that there is one for."""
    numbered = list(enumerate(found.found, start=1))
    if number is None:
        numbered.sort(key=lambda entry: -entry[1].extra_session_s)
    else:
        numbered = numbered[number - 1 : number]
    every = (p for at, one in numbered for p in _proposals(at, one, texts, present))
    return next(every, None)


def _proposals(
    number: int, incident: Incident, texts: Mapping[str, str], present: Mapping[str, str]
) -> Iterator[Proposal]:
    stand = Stand(incident.sessions, present)
    for sign in incident.signs:
        why = [*_why(number, incident, sign, texts)]
        for name in (f"{sign.kind}/{one}" for one in (*sign.objects, "")):
            for entry in suspects_of("signs", name.rstrip("/")):
                if found := of_suspect(entry, why, stand):
                    yield found


def _why(number: int, incident: Incident, sign: Sign, texts: Mapping[str, str]) -> Iterator[Note]:
    began = f"{datetime.fromtimestamp(incident.start_ns / 1e9, UTC):%Y-%m-%d %H:%M:%S}"
    yield Note(f"{_RULE}/suspect.about")
    yield Note.of(
        f"{_RULE}/suspect.incident",
        number=number,
        began=began,
        length=incident.seconds,
        sign=sign_of(sign),
    )
    if sign.kind in _OF_PLANS:
        plans = [each for each in incident.signs if each.kind == STATEMENT]
        changed = [queryid for each in plans for queryid in each.objects]
        busiest = [one.queryid for one in incident.statements]
        if text := next((texts[one] for one in (*changed, *busiest) if one in texts), ""):
            yield about_statement(text)
