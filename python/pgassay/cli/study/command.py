"""`pgassay study ACTION [NAME]`: the options of the command.

Enters: the command line. Leaves: the list of studies, a study's texts, its plan, or a run; or a
SetupError where options do not fit the action. Never: changes a study.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from pgassay.cli.terminal.options import Json, Plain, Quiet, RunOut, option
from pgassay.refusals.refusal import SetupRefused


class Action(StrEnum):
    """What `pgassay study` does: it lists studies, shows one, plans or runs one."""

    LIST = "list"
    SHOW = "show"
    PLAN = "plan"
    RUN = "run"


class FileOf(StrEnum):
    """The forms of a study, without importing what reads them."""

    QUICK = "quick"
    FULL = "full"


_TAKEN = {
    Action.LIST: {"--json"},
    Action.SHOW: {"--file", "--json"},
    Action.PLAN: {"--full", "--json"},
    Action.RUN: {"--full", "--out", "--plain", "--quiet", "--json"},
}


def _names(incomplete: str) -> list[str]:
    from pgassay.studies.catalogue import names

    return [name for name in names() if name.startswith(incomplete)]


def study(
    action: Annotated[Action, typer.Argument(help="One of list, show, plan and run.")],
    name: Annotated[
        str | None,
        typer.Argument(help="For show, plan and run: the study.", autocompletion=_names),
    ] = None,
    file: Annotated[
        FileOf | None,
        option("--file", "show: print this experiment file alone, to edit and run: quick or full."),
    ] = None,
    full: Annotated[
        bool, option("--full", "plan, run: with the source's own durations, which takes hours.")
    ] = False,
    out: RunOut = None,
    no_live: Plain = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Look at ready experiments on known questions, and run them.

    Each study has a quick form, which takes minutes on two processors, and a full one
    with the durations of the article or talk that asked the question first.
    """
    given = {
        "--file": file is not None,
        "--full": full,
        "--out": out is not None,
        "--plain": no_live,
        "--quiet": quiet,
        "--json": as_json,
    }
    for one, is_given in given.items():
        if is_given and one not in _TAKEN[action]:
            raise SetupRefused("not-for-this-action", action=action, one=one)
    if file and as_json:
        raise SetupRefused("study-file-as-json")
    from pgassay.cli.study.shown import show_studies, show_study

    if action is Action.LIST:
        if name is not None:
            raise SetupRefused("name-for-all-studies", name=name)
        show_studies(as_json=as_json)
        return
    if name is None:
        raise SetupRefused("study-without-name", action=action)
    from pgassay.studies.catalogue import Form
    from pgassay.studies.catalogue import study as study_of

    found = study_of(name)
    if action is Action.SHOW and file is not None:
        typer.echo(found.experiment(Form(file)), nl=False)
        return
    if action is Action.SHOW:
        show_study(found, as_json=as_json)
        return
    spec = found.spec(Form.FULL if full else Form.QUICK)
    if action is Action.PLAN:
        from pgassay.cli.plan.watch import begin_watch

        watch = begin_watch(spec)
        from pgassay.cli.plan.shown import show_plan

        show_plan(spec, watch, as_json=as_json)
        return
    from pgassay.cli.run.execution import conclude, follow
    from pgassay.samples.directory import default_run_path

    path = out or default_run_path(name)
    planned_by = f"pgassay study plan {name}{' --full' if full else ''}"
    outcome = follow(spec, path, live=not no_live, quiet=quiet, planned_by=planned_by)
    conclude(outcome, as_json=as_json)
