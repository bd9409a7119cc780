"""The text of the experiment file.

Enters: checked answers. Leaves: commented TOML, and the plan that it gives.
Never: lets a name or a value out of its quotes or its comment.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from pgassay.cli.new.answers import Answers
from pgassay.cli.new.offered import Offer
from pgassay.cli.terminal.console import one_line
from pgassay.errors import SpecError
from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan
from pgassay.plan.modes import SWITCHBACK
from pgassay.refusals.refusal import Refusal
from pgassay.spec.experiment import Spec
from pgassay.spec.parse import parse_spec
from pgassay.spec.reading.tables import toml_key, toml_literal


def file_text(answers: Answers, offers: Mapping[str, Offer], commands: str) -> str:
    """Returns the text of the whole file; `commands` says how it is run."""
    template = (files(__package__) / "experiment.toml.j2").read_text("utf-8")
    environment = Environment(  # noqa: S701 - TOML, whose values `toml` quotes
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters.update(toml=toml_literal, toml_key=toml_key)
    notes = {name: one_line(offers[name].about) for name in answers.factors if name in offers}
    text = environment.from_string(template).render(
        a=answers,
        notes=notes,
        commands=one_line(commands),
        restarts=list(map(one_line, answers.restarts)),
    )
    try:
        tomllib.loads(text)
        text.encode()
    except (tomllib.TOMLDecodeError, UnicodeEncodeError):
        raise Refusal("answer-not-utf8") from None
    return text


def planned(text: str, path: Path) -> tuple[Spec, Plan]:
    """Returns the experiment and the plan of a file with this text at that path; a refusal does not
    name the file, which is not written yet."""
    try:
        spec = parse_spec(text, source="", beside=path.parent)
        return spec, make_plan(spec)
    except Refusal as refusal:
        if refusal.code != "mode-not-valid":
            raise
        raise Refusal("answers-of-no-switchback", why=refusal.values["why"]) from None


def fits_sessions(answers: Answers) -> bool:
    """Whether the factors can be varied in the load's sessions, with no change of the server."""
    usual = replace(
        answers, mode=SWITCHBACK, workload="payments-write", clients=1, step="60s", effect="2%"
    )
    try:
        planned(file_text(usual, {}, ""), Path("experiment.toml"))
    except SpecError:
        return False
    return True
