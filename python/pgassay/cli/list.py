"""`pgassay list`: the runs of a folder.

Enters: a folder, and which of its runs are wanted. Leaves: one line per run on stdout.
Never: analyses, cuts a path.
"""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from pgassay.cli.terminal.console import err, one_line, out
from pgassay.cli.terminal.options import Json, option
from pgassay.quantities import signed_percent
from pgassay.refusals.refusal import DirectoryRefused
from pgassay.samples.address import local_path, url_of
from pgassay.samples.layout import RUNS_FOLDER
from pgassay.samples.overview import RunOverview, State, runs_in
from pgassay.stores.address import shown

_GAP = "  "
_SHORTEST_QUESTION = 24
"""Columns; with fewer left, the question is not shown."""


_REASONS = {
    "few-blocks": "few blocks",
    "other-programs": "other programs",
    "near-margin": "near the margin",
    "noise": "noise",
}
"""Why a verdict is undecided (`analysis.verdicts.model.Reason`), in few words."""


class StateName(StrEnum):
    """The states of a run (`samples.overview.State`), in one word each."""

    FINISHED = "finished"
    RUNNING = "running"
    UNFINISHED = "unfinished"
    CHANGES_LEFT = "changes-left"
    UNREADABLE = "unreadable"


class VerdictName(StrEnum):
    """The verdicts of `analysis.compare.model`, which takes too long to import, and two more."""

    BETTER = "better"
    WORSE = "worse"
    NEGLIGIBLE = "negligible"
    EQUIVALENT = "equivalent"
    UNDECIDED = "undecided"
    CALIBRATION = "calibration"
    DESCRIBED = "described"
    MEASURED = "measured"
    OBSERVATION = "observation"


def list_runs(
    folder: Annotated[
        Path, typer.Argument(help="A folder that holds run directories, or its URL.")
    ] = Path(RUNS_FOLDER),
    state: Annotated[
        list[StateName] | None,
        option("--state", f"Only runs in this state: {', '.join(StateName)}; repeatable."),
    ] = None,
    verdict: Annotated[
        list[VerdictName] | None,
        option("--verdict", f"Only runs with this verdict: {', '.join(VerdictName)}; repeatable."),
    ] = None,
    question: Annotated[
        str | None, option("--question", "Only runs with this text in their question.")
    ] = None,
    last: Annotated[
        int | None, option("-n --last", "Only the newest so many of them.", min=1)
    ] = None,
    newest_first: Annotated[
        bool, option("--newest-first -r", "The newest first, not the oldest.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the runs in a folder: date, state, verdict and effect."""
    if url_of(folder):
        from pgassay.stores.fetching import fetched
        from pgassay.stores.wanted import OVERVIEW

        folder = fetched(folder, OVERVIEW)
    folder = local_path(folder)
    if not folder.is_dir():
        raise DirectoryRefused("no-such-folder", folder)
    every = runs_in(folder)
    runs = [run for run in every if _is_asked_for(run, state, verdict, question)]
    runs = runs[-last:] if last else runs
    runs = runs[::-1] if newest_first else runs
    if as_json:
        found = [_object(run) for run in runs]
        typer.echo(json.dumps({"schema": "pgassay.list/1", "runs": found}))
        return
    if not runs:
        none = f"none of the {len(every)} runs in {shown(folder)} is like this"
        err.print(none if every else f"no runs in {shown(folder)}", markup=False)
        return
    typer.echo("\n".join(lines(runs, out.width)))  # rich takes a second for ten thousand lines
    for run in runs:
        if run.state is State.CHANGES_LEFT:
            err.print(
                f"{shown(run.path)}: its run was killed and left changes on its server;"
                f" `pgassay recover {shown(run.path)}` undoes them",
                markup=False,
            )


def _is_asked_for(
    run: RunOverview,
    states: list[StateName] | None,
    verdicts: list[VerdictName] | None,
    question: str | None,
) -> bool:
    return (
        (not states or run.state.replace(" ", "-") in states)
        and (not verdicts or not set(verdicts).isdisjoint(run.verdicts))
        and (question is None or question.casefold() in run.question.casefold())
    )


def lines(runs: list[RunOverview], width: int) -> list[str]:
    """One line per run below a line of headings; the path comes last and is never cut."""
    rows = [("started", "result", "effect", "trials"), *(_cells(run) for run in runs)]
    widths = [max(len(row[at]) for row in rows) for at in range(4)]
    paths = ["run", *(one_line(shown(run.path)) for run in runs)]
    questions = ["question", *(one_line(run.question) for run in runs)]
    taken = sum(widths) + 5 * len(_GAP) + max(map(len, paths))
    longest = max(map(len, questions))
    room = min(longest, width - taken)
    found = []
    for row, question, path in zip(rows, questions, paths, strict=True):
        cells = [
            cell.rjust(size) if at >= 2 else cell.ljust(size)
            for at, (cell, size) in enumerate(zip(row, widths, strict=True))
        ]
        if room >= min(_SHORTEST_QUESTION, longest):
            cells.append(question if len(question) <= room else question[: room - 1] + "…")
            cells[-1] = cells[-1].ljust(room)
        found.append(_GAP.join([*cells, path]))
    return found


def _cells(run: RunOverview) -> tuple[str, str, str, str]:
    started = "" if run.started is None else f"{run.started.astimezone():%Y-%m-%d %H:%M}"
    result = run.state.value if run.state is not State.FINISHED else run.badge or run.state.value
    if run.state is State.FINISHED and run.reason in _REASONS:
        result += f": {_REASONS[run.reason]}"
    if run.more_verdicts and run.state is State.FINISHED:
        result += f", {run.more_verdicts} more"
    effect = "" if run.effect_pct is None else signed_percent(run.effect_pct)
    return started, result, effect, "" if run.verdict == "observation" else str(run.trials)


def _object(run: RunOverview) -> dict[str, Any]:
    verdict = run.verdict or (
        State.UNREADABLE if run.state is State.UNREADABLE else State.UNFINISHED
    )
    return {
        "run": shown(run.path),
        "question": run.question,
        "trials": run.trials,
        "verdict": verdict,
        "state": run.state,
        "started": None if run.started is None else run.started.isoformat(),
        "effect_pct": run.effect_pct,
        "reason": run.reason,
        "more_verdicts": run.more_verdicts,
    }
