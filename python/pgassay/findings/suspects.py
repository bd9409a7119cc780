"""Experiments that would test what an observation shows.

Enters: what was found, the present values of settings. Leaves: the text of an experiment file, or
nothing. Never: claims that the suspect is the cause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from pgassay.analysis.reading.plain_text import one_line
from pgassay.analysis.reading.setting_sizes import setting_text
from pgassay.findings.next_spec import next_spec
from pgassay.findings.wording import texts_of
from pgassay.notes import Note
from pgassay.samples.forms.environment import EnvironmentFile
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


@dataclass(frozen=True)
class Stand:
    """What an experiment has to resemble."""

    sessions: float
    """Average active sessions, which its clients are as many as."""
    present: Mapping[str, str]
    """Setting → value."""


def present_in(environment: EnvironmentFile) -> Mapping[str, str]:
    """Returns the settings that were recorded, sizes as an experiment file writes them."""
    every = environment.server.every_setting
    return {name: setting_text(str(one.value)) for name, one in every.items()}


def suspects_of(kind: str, name: str) -> Iterator[Mapping[str, Any]]:
    """Yields the entries for a figure (`kind` is `when`) or for a sign (`signs`)."""
    for entry in _FILE["suspect"]:
        if any(fnmatchcase(name, pattern) for pattern in entry["values"][kind]):
            yield entry


def of_setting(
    name: str, levels: Sequence[str], why: Sequence[Note], stand: Stand
) -> Proposal | None:
    """Returns the experiment that compares two values of a setting; None where none can be made."""
    question = str(_FILE["setting"]["question"]).format(name=name)
    return _proposal("setting", why, question, {}, {"postgres": {name: [*levels]}}, stand)


def of_suspect(entry: Mapping[str, Any], why: Sequence[Note], stand: Stand) -> Proposal | None:
    """Returns the experiment of an entry; None where none can be made."""
    values = entry["values"]
    question, factors = str(entry["question"]), values["factors"]
    return _proposal(values["name"], why, question, values, factors, stand)


def about_statement(text: str) -> Note:
    """Returns the note that names a statement to put in the place of the stand-in."""
    return Note.of("findings/suspect-statement", text=text)


def _proposal(
    name: str,
    why: Sequence[Note],
    question: str,
    values: Mapping[str, Any],
    factors: Mapping[str, Any],
    stand: Stand,
) -> Proposal | None:
    try:
        spec = next_spec(_base(values, stand), {}, question, factors, present=stand.present)
    except KeyError:  # a setting whose present value nothing recorded
        return None
    if not spec:
        return None
    every = (*why, Note("findings/suspect-stand-in"))
    head = "".join(f"# {redacted(one_line(str(one), _WIDTH))}\n" for one in every)
    return Proposal(name, every, f"{head}\n{spec}")


def _base(values: Mapping[str, Any], stand: Stand) -> str:
    base = _FILE["base"]["values"]
    is_varied = "scale" in values.get("factors", {}).get("workload", {})
    scale = "" if is_varied else f"scale = {int(base['scale'])}\n"
    clients = max(_FEWEST_CLIENTS, min(_MOST_CLIENTS, round(stand.sessions)))
    return (
        f"[workload]\nuse = {toml_literal(str(values.get('workload', base['workload'])))}\n"
        f"{scale}"
        f"[load]\nclients = {clients}\nstep = {toml_literal(str(base['step']))}\n"
    )
