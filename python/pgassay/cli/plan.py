"""`pgassay plan SPEC`: what a run would do, without doing it.

Enters: an experiment file. Leaves: arms, order, changes, time and risks on stdout.
Never: changes anything, of the host neither; an existing server is looked at, if it can be reached.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from pgassay.cli.console import out, plain
from pgassay.cli.plan_changes import (
    ahead_to_json,
    held_to_json,
    knobs_refused,
    look_ahead,
    print_ahead,
)
from pgassay.cli.plan_factors import print_factors, schema_to_json
from pgassay.cli.plan_outlook import expectation_of, expectation_to_json, print_expectation
from pgassay.cli.progress import clock
from pgassay.plan.described import (
    aliases,
    combinations_line,
    mode_lines,
    order_of,
    plots_line,
    restarts_line,
)
from pgassay.plan.design import make_plan
from pgassay.plan.model import Plan
from pgassay.plan.plots import restarts_every_trial
from pgassay.plan.steps import Step
from pgassay.plan.store import plan_to_json
from pgassay.spec.mode import Mode
from pgassay.spec.parse import Spec, load_spec
from pgassay.target.access import access_of
from pgassay.target.placement import Placement, resolve_placement
from pgassay.trials.loads import check_load
from pgassay.trials.preparing import check_new_servers
from pgassay.trials.servers import check_servers


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("plan")(plan)


def plan(
    spec: Annotated[Path, typer.Argument(help="The experiment file.")],
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Overrules the file's design.seed.")
    ] = None,
    mode: Annotated[
        Mode | None, typer.Option("--mode", help="Overrules the file's design.mode.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what a run would do: arms, order, changes, time and risks."""
    checked = load_spec(spec, seed, mode)
    check_load(checked)
    check_servers(checked)
    placement = resolve_placement(checked.file.placement, checked.file.settings.host)
    drawn = make_plan(checked)
    check_new_servers(checked, drawn)
    ahead = look_ahead(checked, drawn)
    refused = knobs_refused(checked, ahead)
    if as_json:
        found = {
            **plan_to_json(drawn),
            "design": _design(checked, drawn),
            **held_to_json(checked, placement),
            **schema_to_json(checked),
            **ahead_to_json(ahead),
            "knobs_refused": refused,
            **expectation_to_json(expectation_of(checked, drawn)),
        }
        typer.echo(json.dumps(found))
    else:
        _print(checked, drawn, placement, refused)
        print_expectation(out, expectation_of(checked, drawn), drawn)
        print_ahead(ahead)


def _print(spec: Spec, drawn: Plan, placement: Placement, knobs: list[str]) -> None:
    out.print(f"[bold]{plain(drawn.question)}[/bold]")
    out.print(f"target    {plain(_target(spec, drawn))}")
    out.print(f"workload  {plain(spec.workload.name)}, scale {spec.file.workload.scale}:")
    _print_load(spec, drawn)
    out.print(f"metric    {drawn.metric}, smallest effect {100 * drawn.smallest_effect:g} %")
    _print_settings(spec)
    print_factors(spec)
    for part, label in placement.described().items():
        out.print(f"place     {part}: {label}")
    rule = spec.file.reset_rule()
    out.print(f"reset     {rule.level}: {rule.level.does}; caches {rule.caches}")
    _print_arms(drawn)
    for line in mode_lines(drawn):
        out.print(f"mode      {plain(line)}")
    _print_design(spec, drawn)
    _print_order(drawn)
    for warning in (*drawn.warnings, *placement.warnings, *knobs):
        out.print(f"[yellow]risk:[/yellow] {plain(warning)}")


def _print_load(spec: Spec, drawn: Plan) -> None:
    command = spec.file.load.command
    if command is not None:
        out.print(f"load      {plain(shlex.join(command))}")
    else:
        shares = [scenario for scenario in spec.workload.scenarios if scenario.weight > 0]
        total = sum(scenario.weight for scenario in shares)
        for scenario in shares:
            out.print(f"            {scenario.weight / total:6.1%}  {plain(scenario.name)}")
        for scenario in spec.workload.scenarios:
            if scenario.weight < 0:
                own = f"{-scenario.weight:g} connections of its own"
                out.print(f"            {plain(scenario.name)}: {own}")
    order = "" if drawn.order == "ordered" else ", in an order drawn for every block"
    out.print(f"trial     {', '.join(_step(step) for step in drawn.steps)}{order}")


def _step(step: Step) -> str:
    rate = "" if step.rate is None else f" at {step.rate:g} tps"
    kind = "" if step.measured else "warm-up "
    return f"{kind}{step.clients} clients{rate} × {step.duration_s:g} s"


def _target(spec: Spec, drawn: Plan) -> str:
    target = spec.file.target
    if drawn.side_by_side:
        return f"{len(drawn.arms)} servers of our own, one for each arm, up at the same time"
    servers = spec.file.factors.target.servers()
    if servers:
        return f"{len(servers)} servers of our own, one of which runs at a time"
    if target.is_existing:
        changes = "may be changed" if target.allow_changes else "will not be changed"
        control = access_of(target).control
        restarts = f", by `{control.label}`" if control and target.allow_restart else ""
        named = target.dsn if target.data is None else f"{target.data} {target.dsn or ''}".strip()
        host = f"; its host over ssh ({target.ssh})" if target.ssh else ""
        return f"existing server ({named}); its settings {changes}{restarts}{host}"
    if target.bin is not None:
        return f"a server of our own, from {target.bin}"
    return f"a server of our own, embedded PostgreSQL {target.version or 18}"


def _print_settings(spec: Spec) -> None:
    for name, value in spec.file.settings.postgres.items():
        out.print(f"held      {plain(name)} = {plain(value)}")
    for name, value in spec.file.settings.host.items():
        out.print(f"host      {plain(name)} = {plain(value)}, held; put back at the end")
    for name, levels in spec.file.factors.host.items():
        out.print(f"host      {plain(name)} = {plain(', '.join(levels))}; put back at the end")


def _print_arms(drawn: Plan) -> None:
    for arm in drawn.arms:
        out.print(f"arm {arm.id:<5} {plain(arm.label)}")


def _print_design(spec: Spec, drawn: Plan) -> None:
    """How several factors are combined and randomised."""
    if len(drawn.factors) < 2:
        return
    for name, value in _design(spec, drawn).items():
        for line in [value] if isinstance(value, str) else value:
            out.print(f"{name:<9} {plain(line)}")


def _design(spec: Spec, drawn: Plan) -> dict[str, str | list[str]]:
    every = restarts_every_trial(spec.file)
    return {
        "arms": combinations_line(drawn),
        "alias": list(aliases(drawn)),
        "plots": plots_line(drawn),
        "restarts": restarts_line(drawn, every_trial=every),
    }


def _print_order(drawn: Plan) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("block", justify="right")
    table.add_column("order of arms")
    last = drawn.last_block
    for block in range(1, last + 1):
        needed = "" if block <= drawn.min_blocks else "  [dim]if still undecided[/dim]"
        needed += "  [dim]look[/dim]" if block in drawn.looks else ""
        table.add_row(str(block), plain(order_of(drawn, block)) + needed)
    out.print(table)
    least, most = (
        clock(blocks * len(drawn.block(1)) * drawn.trial_s) for blocks in (drawn.min_blocks, last)
    )
    out.print(f"time      about {least if least == most else f'{least} to {most}'}")
    out.print(f"seed      {drawn.seed}")
