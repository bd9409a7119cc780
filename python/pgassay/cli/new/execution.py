"""Write the experiment file, once it is known to be one that `plan` takes.

Enters: the file's path, what flags say. Leaves: the file; on stdout its time and the next commands.
Never: writes a file that `pgassay plan` would refuse, or over one that is there without `force`.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from pgassay.cli.new import terminal
from pgassay.cli.new.file_text import file_text, planned
from pgassay.cli.new.gathering import Gathering, Given
from pgassay.cli.terminal.console import counted, labelled, out
from pgassay.cli.terminal.expectation import timed_here
from pgassay.plan.description import time_range
from pgassay.refusals.refusal import Refusal

__all__ = ["Given", "write_experiment"]
_USUAL_NAME = "experiment.toml"


def write_experiment(file: Path | None, given: Given, *, asks: bool, force: bool) -> None:
    """Gathers the answers, checks the file that they make, writes it and says what comes next."""
    asks = asks and terminal.can_ask()

    def free(text: str) -> Path:
        path = Path(text).expanduser()
        refuse_taken(path, force=force)
        return path

    if file is not None:
        path = free(str(file))
    elif asks:
        path = terminal.ask("file", _USUAL_NAME, free)
    else:
        path = free(_USUAL_NAME)
    gathering = Gathering(given, path.parent, asks)
    answers = gathering.all()
    shown = shlex.quote(f"./{path}" if str(path).startswith("-") else str(path))
    commands = f"`pgassay plan {shown}` shows the plan, `pgassay run {shown}` carries it out."
    text = file_text(answers, gathering.offers, commands)
    spec, plan = planned(text, path)
    write(path, text, force=force)
    labelled("written   ", str(path))
    labelled("arms      ", f"{len(plan.arms)}, {counted(plan.min_blocks, 'block')} at least")
    labelled("time      ", time_range(timed_here(spec, plan)))
    for note in notes(gathering):
        labelled("note      ", note, "yellow")
    for command in ("plan", "run"):
        out.print(f"next      pgassay {command} {shown}", markup=False)


def notes(gathering: Gathering) -> list[str]:
    """Returns what still has to be decided in the file, a line each."""
    answers = gathering.answers
    found = []
    if not answers.factors:
        found.append("nothing is varied, so a run measures one arm; --vary NAME=VALUE,VALUE")
    if answers.dsn is not None and answers.restarts:
        found.append(
            f"{', '.join(answers.restarts)}: takes a restart of that server, which the file must"
            " allow: allow_restart and service"
        )
    if answers.mode:
        found.append(
            "values alternate in the load's own sessions (switchback); the server is not changed"
        )
    return found


def refuse_taken(path: Path, *, force: bool) -> None:
    """Raises SpecError where the file cannot be written, before anything is asked."""
    if path.is_dir():
        raise Refusal("folder-to-write").in_file(str(path))
    if not path.parent.is_dir():
        raise Refusal("no-folder-to-write-to", folder=path.parent).in_file(str(path))
    if path.exists() and not force:
        raise Refusal("file-there-already").in_file(str(path))


def write(path: Path, text: str, *, force: bool) -> None:
    """Writes the file; without `force`, only one that is not there."""
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise Refusal("file-not-writable", why=error.strerror).in_file(str(path)) from None
