"""`pgassay plan SPEC`: the options of the command.

Enters: the command line. Leaves: the plan on stdout. Never: changes anything.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pgassay.cli.terminal.elsewhere import OfExperiment
from pgassay.cli.terminal.options import GatesOnly, GateTexts, Json, Untrusted, option
from pgassay.spec.mode import Mode

COMMAND_CLASS = OfExperiment


def plan(
    spec: Annotated[Path, typer.Argument(help="The experiment file.")],
    seed: Annotated[
        int | None, option("--seed", "Use this seed, not the file's design.seed.", min=0)
    ] = None,
    mode: Annotated[
        Mode | None, option("--mode", "Use this mode, not the file's design.mode.")
    ] = None,
    untrusted: Untrusted = False,
    gate: GateTexts = None,
    gates_only: GatesOnly = False,
    as_json: Json = False,
) -> None:
    """Show what `run` would do: arms, order, changes, time and risks."""
    from pgassay.spec.parse import load_spec

    checked = load_spec(spec, seed, mode, untrusted=untrusted)
    from pgassay.cli.plan.watch import begin_watch

    watch = begin_watch(checked)
    # After it: a mistake need not wait for imports.
    from pgassay.cli.plan.shown import show_plan
    from pgassay.cli.terminal.gates import gates_of

    show_plan(checked, watch, as_json=as_json, gates=gates_of(gate), gates_only=gates_only)
