"""`pgassay run SPEC`: the options of the command.

Enters: the command line. Leaves: a run, new or resumed; or a SetupError where options contradict
each other. Never: loads more than the options need before they are known to be right.
"""

from __future__ import annotations

from pathlib import Path
from shlex import join
from typing import Annotated

import typer

from pgassay.cli.terminal.elsewhere import OfExperiment
from pgassay.cli.terminal.options import (
    GatesOnly,
    GateTexts,
    GateUndecided,
    Json,
    Plain,
    Quiet,
    RunOut,
    Untrusted,
    option,
)
from pgassay.refusals.refusal import SetupRefused
from pgassay.spec.mode import Mode

COMMAND_CLASS = OfExperiment


def run(
    spec: Annotated[
        Path, typer.Argument(help="The experiment file; with --resume, the run directory.")
    ],
    out: RunOut = None,
    seed: Annotated[
        int | None, option("--seed", "Use this seed, not the file's design.seed.", min=0)
    ] = None,
    mode: Annotated[
        Mode | None, option("--mode", "Use this mode, not the file's design.mode.")
    ] = None,
    resume: Annotated[
        bool, option("--resume", "Continue an interrupted run at its next trial.")
    ] = False,
    accept: Annotated[
        list[str] | None,
        option("--accept", "With --resume: accept this difference of the server; repeatable."),
    ] = None,
    yes: Annotated[
        bool, option("--yes -y", "With --resume: do also what your own record does not have.")
    ] = False,
    aa: Annotated[
        bool, option("--aa", "Compare the baseline with itself, to measure this host's noise.")
    ] = False,
    untrusted: Untrusted = False,
    gate: GateTexts = None,
    gate_undecided: GateUndecided = "worse",
    gates_only: GatesOnly = False,
    no_live: Plain = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run an experiment and report its verdict.

    An experiment file and a run directory are code: they name programs and SQL that
    run with your rights. --untrusted is for a file that you have not read.
    """
    if resume:
        kept = {
            "--seed": seed is not None,
            "--aa": aa,
            "--mode": mode is not None,
            "--untrusted": untrusted,
            "--gates-only": gates_only,
        }
        for option, is_given in kept.items():
            if is_given:
                raise SetupRefused("option-of-a-new-run", option=option)
    elif accept:
        raise SetupRefused("option-of-resume", option="--accept")
    elif yes:
        raise SetupRefused("option-of-resume", option="--yes")
    from pgassay.spec.parse import load_spec

    checked = None if resume else load_spec(spec, seed, mode, untrusted=untrusted)
    # Statistics and reports take a second to import, which a mistake in the file need not wait for.
    from pgassay.cli.run.execution import conclude, follow, go_on
    from pgassay.cli.terminal.gates import gates_of
    from pgassay.samples.directory import default_run_path

    gates = gates_of(gate, only=gates_only)
    if checked is None:
        outcome = go_on(
            spec, out, accept or [], yes=yes, live=not no_live, quiet=quiet, gates=gates
        )
    else:
        path = out or default_run_path(f"{spec.stem}-aa" if aa else spec.stem)
        outcome = follow(
            checked,
            path,
            calibrates=aa,
            live=not no_live,
            quiet=quiet,
            gates=gates,
            gates_only=gates_only,
            planned_by=join(("pgassay", "plan", str(spec))),
        )
    conclude(outcome, as_json=as_json, gate_undecided=gate_undecided)
