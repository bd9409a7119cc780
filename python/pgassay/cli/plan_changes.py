"""What `pgassay plan` says of an existing server: signs of production and every change to come.

Enters: a spec and its plan. Leaves: lines on stdout, or an object for `--json`.
Never: changes anything, nor fails where the server cannot be reached: the plan stands without it.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from pgassay.cli.console import out, plain
from pgassay.errors import TargetError
from pgassay.plan.demands import demands_of
from pgassay.plan.model import Plan
from pgassay.spec.host_knobs import HUGE, TAKEN_AT_START
from pgassay.spec.parse import Spec
from pgassay.target.access import access_of
from pgassay.target.account import server_account
from pgassay.target.host_knobs import doubts_on
from pgassay.target.placement import Placement
from pgassay.target.preview import preview_existing
from pgassay.target.preview_model import PlannedChange, Preview
from pgassay.target.workspace import disk_of_workspaces
from pgassay.trials.grounds import grounds_of
from pgassay.trials.thresholds import unwatched

Ahead = Preview | str | None
"""A preview; why there is none; None where the server is one of our own."""


def look_ahead(spec: Spec, plan: Plan) -> Ahead:
    """Look at the server that a spec names, if it names one."""
    target = spec.file.target
    if target.way is None:
        return None
    wanted = {name: [value] for name, value in spec.file.settings.postgres.items()}
    for factor in plan.factors:
        if factor.kind == "postgres":
            wanted[factor.name] = list(factor.levels)
    try:
        return preview_existing(
            target.way,
            accept=target.accept,
            settings=wanted,
            building_sql=spec.workload.building_sql(spec.file.workload.scale),
            access=access_of(target),
            rule=spec.file.reset_rule(),
            allow_changes=target.allow_changes,
            schema_variants=len(grounds_of(spec, plan).schema_variants),
            demands=demands_of(spec, plan).values(),
            restarts_for_knobs=any(
                name.startswith((HUGE, *TAKEN_AT_START)) for name in spec.file.factors.host
            ),
        )
    except TargetError as error:
        return str(error)


def ahead_to_json(ahead: Ahead) -> dict[str, Any]:
    """What the object of `plan --json` holds besides the plan."""
    match ahead:
        case None:
            return {}
        case str():
            return {"server": None, "server_not_seen": ahead}
        case Preview():
            return {"server": asdict(ahead)}


def knobs_refused(spec: Spec, ahead: Ahead) -> list[str]:
    """What the server's host would refuse of its knobs, a line each."""
    held = {name: (value,) for name, value in spec.file.settings.host.items()}
    wanted = {**held, **spec.file.factors.host}
    if not wanted:
        return []
    data = None
    if ahead is None:
        data = disk_of_workspaces(server_account())
    elif isinstance(ahead, Preview) and ahead.data_directory is not None:
        data = Path(ahead.data_directory)
    host = access_of(spec.file.target).host()
    try:
        return doubts_on(wanted, data, host)
    finally:
        host.close()


def held_to_json(spec: Spec, placement: Placement) -> dict[str, Any]:
    """What is the same in every arm, for `--json`."""
    settings = spec.file.settings
    return {
        "held": {"postgres": settings.postgres, "host": settings.host},
        "placement": placement.described(),
        "reset": spec.file.reset_rule().described(),
    }


def print_ahead(ahead: Ahead) -> None:
    """Every sign, every refusal, every change, a line each."""
    if ahead is None:
        return
    if isinstance(ahead, str):
        out.print(
            f"[yellow]server:[/yellow] not seen, so its changes are not known: {plain(ahead)}"
        )
        return
    out.print(f"server    {plain(ahead.server)}, PostgreSQL {plain(ahead.version)}")
    for sign in ahead.signs:
        if sign.name in ahead.accepted:
            out.print(f"[yellow]sign:[/yellow] {plain(str(sign))}; accepted")
        else:
            stops = f'stops the run unless target.accept has "{sign.name}"'
            out.print(f"[red]sign:[/red] {plain(str(sign))}; {plain(stops)}")
    for refusal in ahead.refusals:
        out.print(f"[red]stops:[/red] {plain(refusal)}")
    if not ahead.sees_host:
        out.print(f"[yellow]risk:[/yellow] {unwatched()}; target.ssh lets them see it")
    if ahead.stopped:
        out.print(
            "[yellow]stopped:[/yellow] nothing was started to look closer; only in the run, before"
            " its first trial, it shows:"
        )
        for what in ahead.later:
            out.print(f"later     {plain(what)}")
    print_changes(ahead.changes)


def print_changes(changes: tuple[PlannedChange, ...]) -> None:
    """What a run changes and takes back."""
    for change in changes:
        out.print(f"change    {plain(change.where)}: {plain(change.what)}; {change.takes}")
