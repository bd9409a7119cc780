"""Studies on the terminal: the list, and the texts of one.

Enters: studies. Leaves: lines or one JSON object on stdout. Never: runs one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from pgassay.analysis.noise.prior_runs import conditions_of, timed
from pgassay.cli.terminal.console import labelled, out, plain
from pgassay.plan.description import time_range
from pgassay.plan.design import make_plan
from pgassay.samples.noise_history import noise_records
from pgassay.studies.catalogue import Form, Study, names, study

Records = Sequence[Mapping[str, Any]]
_LABELS = {
    "question": "question",
    "source": "source",
    "hypothesis": "hypothesis",
    "mechanism": "mechanism",
    "found_by_source": "found there",
    "errors_of_source": "its errors",
    "compared": "found here",
    "quick": "quick form",
    "limits": "limits",
}
"""Keys of study.toml, in the order they are read in, and their labels."""
_WIDTH = 13
_BELOW = "    "


def show_studies(*, as_json: bool) -> None:
    """All studies: name, title, time of the quick form, source, what the host must allow."""
    every = [study(name) for name in names()]
    if as_json:
        _print_json(every)
        return
    widest = max(len(one.name) for one in every) + 2
    records = noise_records()
    for one in every:
        labelled(one.name.ljust(widest), f"{one.texts.title}; {takes(one, Form.QUICK, records)}")
        labelled(_BELOW, one.texts.source)
        for need in one.texts.needs:
            labelled(_BELOW, f"needs {need}")


def show_study(one: Study, *, as_json: bool) -> None:
    """Prints everything that a study says."""
    if as_json:
        _print_json([one])
        return
    out.print(f"[bold]{plain(one.texts.title)}[/bold]")
    for key, label in _LABELS.items():
        text = getattr(one.texts, key)
        if text:
            labelled(label.ljust(_WIDTH), text)
    for need in one.texts.needs:
        labelled("needs".ljust(_WIDTH), need)
    records = noise_records()
    for form, option in ((Form.QUICK, ""), (Form.FULL, " --full")):
        line = f"{takes(one, form, records)}: pgassay study run {one.name}{option}"
        labelled(str(form).ljust(_WIDTH), line)
    more = f"pgassay study show {one.name} --file quick > my.toml"
    labelled("on yours".ljust(_WIDTH), f"{more}, then edit [target] and pgassay run my.toml")


def takes(one: Study, form: Form, records: Records) -> str:
    """Returns text such as `about 14 min`, as `pgassay plan` says it by records of prior runs."""
    spec = one.spec(form)
    return time_range(timed(make_plan(spec), conditions_of(spec), records))


def _print_json(found: list[Study]) -> None:
    records = noise_records()
    objects = [_object(one, records) for one in found]
    typer.echo(json.dumps({"schema": "pgassay.studies/1", "studies": objects}))


def _object(one: Study, records: Records) -> dict[str, Any]:
    times = {f"{form}_takes": takes(one, form, records) for form in Form}
    return {"name": one.name, **one.texts.model_dump(mode="json"), **times}
