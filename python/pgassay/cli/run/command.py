"""`pgassay run SPEC`: the options of the command.

Enters: the command line. Leaves: a run, new or resumed; or a SetupError where options contradict
each other. Never: loads more than the options need before they are known to be right.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pgassay.errors import SetupError
from pgassay.spec.mode import Mode


def run(
    spec: Annotated[
        Path, typer.Argument(help="The experiment file; with --resume, the run directory.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="Run directory to create [pgassay-runs/…].")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Use this seed, not the file's design.seed.")
    ] = None,
    mode: Annotated[
        Mode | None, typer.Option("--mode", help="Use this mode, not the file's design.mode.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an interrupted run at its next trial.")
    ] = False,
    accept: Annotated[
        list[str] | None,
        typer.Option(
            "--accept", help="With --resume: accept this difference of the server; repeatable."
        ),
    ] = None,
    aa: Annotated[
        bool,
        typer.Option(
            "--aa", help="Compare the baseline with itself, to measure this host's noise."
        ),
    ] = False,
    no_live: Annotated[
        bool, typer.Option("--plain", help="Print lines instead of a live view.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Run an experiment and report its verdict."""
    if resume:
        kept = {"--seed": seed is not None, "--aa": aa, "--mode": mode is not None}
        for option, is_given in kept.items():
            if is_given:
                raise SetupError(f"--resume keeps the plan of the run; drop {option}")
    elif accept:
        raise SetupError("--accept only works with --resume; drop it")
    from pgassay.spec.parse import load_spec

    checked = None if resume else load_spec(spec, seed, mode)
    # Statistics and reports take a second to import, which a mistake in the file need not wait for.
    from pgassay.cli.run.carrying_out import conclude, follow, go_on
    from pgassay.samples.run_directory import default_run_path

    if checked is None:
        outcome = go_on(spec, out, accept or [], live=not no_live)
    else:
        path = out or default_run_path(f"{spec.stem}-aa" if aa else spec.stem)
        outcome = follow(checked, path, calibrates=aa, live=not no_live)
    conclude(outcome, as_json=as_json)
