"""The answers of which an experiment file is made, each checked as the file's own key is.

Enters: text of a flag or an answer. Leaves: values for the file, or a SpecError that says what is
wrong with that text. Never: asks, or reaches a server.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pgassay.refusals.refusal import Refusal, refuse
from pgassay.spec.model import ExperimentFile
from pgassay.spec.reading.tables import check_table
from pgassay.spec.reading.texts import path_from
from pgassay.spec.refusals.tables import too_few, unfit_settings
from pgassay.spec.settings.catalogue import check_name, names, takes_restart
from pgassay.spec.workload.folder import load_workload, ready_workloads

EMBEDDED = "embedded"
YES, NO = ("y", "yes"), ("n", "no")


@dataclass
class Answers:
    """The answers from which `pgassay new` makes an experiment file."""

    dsn: str | None = None
    version: int = 18
    factors: dict[str, list[str]] = field(default_factory=dict)
    allow_changes: bool = False
    mode: str = ""
    workload: str = ""
    scale: int = 1
    clients: int | str | list[int] = 1
    step: str = ""
    effect: str = ""
    question: str = ""
    has_own_connections: bool = False
    """Whether a scenario of the workload has a number of connections for itself."""
    is_installed: bool = False
    """Whether the workload's tables are on the server already."""

    @property
    def target(self) -> dict[str, Any]:
        """The table [target] of the file."""
        if self.dsn is None:
            return {"version": self.version}
        return {"dsn": self.dsn, "allow_changes": True}

    @property
    def restarts(self) -> list[str]:
        """The settings among the factors that a server takes only at its start."""
        return [name for name in self.factors if takes_restart(name)]


def server(text: str) -> str | None:
    """Returns a checked connection string; None for an embedded server."""
    if text.strip().lower() == EMBEDDED:
        return None
    _check({"target": {"dsn": text}})
    return text


def setting_and_levels(text: str) -> tuple[str, str]:
    """Returns the two parts of `NAME=LEVEL,LEVEL`."""
    name, equals, levels = text.partition("=")
    if not equals or not name.strip():
        raise Refusal("factor-form", repr(text))
    return name.strip(), levels


def factor(name: str, text: str, target: Mapping[str, Any]) -> tuple[str, list[str]]:
    """A setting in PostgreSQL's spelling, and its levels; double quotes keep a comma in one."""
    try:
        levels = [one.strip() for one in next(csv.reader([text], skipinitialspace=True), [])]
    except csv.Error:
        raise Refusal("value-of-several-lines") from None
    refuse(too_few(name, tuple(one for one in levels if one)))
    file = _check({"target": dict(target), "factors": {"postgres": {name: levels}}})
    return next(iter(file.factors.postgres)), levels


def in_a_list(level: str) -> str:
    """Returns a level as it stands in a list of levels: quoted where it has a comma."""
    quoted = level.replace('"', '""')
    return f'"{quoted}"' if "," in level or '"' in level else level


def name_of_setting(text: str, major: int | None) -> str:
    """Returns a setting in PostgreSQL's spelling, which that version (or any) has."""
    name = next((known for known in names(major) if known.lower() == text.strip().lower()), text)
    check_name(None, name.strip(), major)
    return name.strip()


def workload(text: str, beside: Path) -> str:
    """A ready workload, or a folder as it is found from `beside`, where the file will be."""
    use = text.strip()
    folder = path_from(use, Path())
    if use not in ready_workloads() and (folder / "workload.toml").is_file():
        use = f"{os.path.relpath(folder, beside)}/"
    load_workload(use, beside, file="")
    return use


def scale(text: str) -> int:
    """Returns the size of the data that an answer names."""
    try:
        number = int(text)
    except ValueError:
        raise Refusal("answer-not-whole", text=text) from None
    return _check({"workload": {"use": "payments", "scale": number}}).workload.scale


def clients(text: str) -> int | str | list[int]:
    """Returns the clients that an answer names: a number, a list of numbers, or a range."""
    found = _check({"load": {"clients": text}}).load.clients
    if ".." in text:
        return text.strip()
    return found[0] if len(found) == 1 else list(found)


def step(text: str) -> str:
    """Returns the duration that an answer names, with its unit."""
    _check({"load": {"step": _bare(text)}})
    return text.strip() if not _is_number(text) else f"{text.strip()}s"


def effect(text: str) -> str:
    """Returns the share that an answer names; a bare number is per cent where it is 1 or more."""
    written = text.strip()
    if _is_number(written):
        number = float(written)
        written = f"{number:g}%" if number >= 1 else f"{100 * number:g}%"
    _check({"design": {"smallest_effect": written}})
    return written


def question(text: str) -> str:
    """Returns an answer that is one line of text."""
    if not text.strip():
        raise Refusal("no-sentence")
    return " ".join(text.split())


def is_yes(text: str) -> bool:
    """Returns whether an answer is yes."""
    word = text.strip().lower()
    if word not in (*YES, *NO):
        raise Refusal("answer-not-yes-or-no", repr(text))
    return word in YES


def usual_question(factors: Sequence[str], workload_name: str) -> str:
    """Returns the question of an experiment with these settings."""
    name = Path(workload_name).name
    if not factors:
        return f"How fast is {name}?"
    if len(factors) == 1:
        return f"Does {factors[0]} matter for {name}?"
    return f"Do {', '.join(factors[:-1])} and {factors[-1]} matter for {name}?"


def _is_number(text: str) -> bool:
    return text.strip().replace(".", "", 1).isdecimal()


def _bare(text: str) -> Any:
    return float(text) if _is_number(text) else text.strip()


def _check(table: dict[str, Any]) -> ExperimentFile:
    """The file's own rules for a few of its keys; the error does not name the key, for the user
    has answered a question."""
    try:
        file = check_table(ExperimentFile, table, "")
        refuse(unfit_settings(file))
    except Refusal as refusal:
        raise refusal.at(None) from None
    return file
