"""What a run would do, on the terminal.

Enters: a checked spec. Leaves: arms, order, changes, time and risks on stdout.
Never: changes anything on the server or its host; an existing server is only read.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import typer
from rich.padding import Padding
from rich.table import Table

from pgassay.analysis.gates.forecast import GateOutlook, gate_outlooks
from pgassay.analysis.noise.endpoint_outlooks import endpoint_outlooks
from pgassay.analysis.noise.prior_runs import conditions_of
from pgassay.analysis.verdicts.collapses import collapse_outlook
from pgassay.cli.plan.found import Found
from pgassay.cli.plan.levels import print_factors
from pgassay.cli.plan.watch import used_by_others
from pgassay.cli.terminal.console import counted, labelled, out, plain
from pgassay.cli.terminal.critical_values import kept_critical_values
from pgassay.cli.terminal.expectation import expectation_of, print_expectation, timed_here
from pgassay.cli.terminal.gates import refuse_without_comparison
from pgassay.errors import ExitCode
from pgassay.findings.answer.endpoints import foreseen as endpoints_foreseen
from pgassay.findings.answer.endpoints import price
from pgassay.findings.answer.limits import collapse_line
from pgassay.findings.noise.busy import busy_host
from pgassay.findings.noise.forecast import gate_columns, gate_rows, gate_sentences
from pgassay.plan.description import (
    aliases,
    combinations_line,
    mode_lines,
    order_of,
    plots_line,
    restarts_line,
    time_range,
)
from pgassay.plan.design import make_plan
from pgassay.plan.duet import built_apart
from pgassay.plan.model import Gate, Plan
from pgassay.plan.plots import restarts_every_trial
from pgassay.plan.server_settings import server_settings
from pgassay.plan.steps import Step
from pgassay.plan.store import plan_to_json
from pgassay.quantities import duration, spaced
from pgassay.refusals.refusal import refuse
from pgassay.samples.noise_history import noise_records
from pgassay.server.hosts.placement import Placement
from pgassay.spec.experiment import Spec
from pgassay.spec.workload.folder import Scenario
from pgassay.trials.host.other_programs import HostWatch
from pgassay.trials.run.refusals.before_servers import (
    refusals_of_plan,
    refuse_experiment,
    servers_under_test,
)


def show_plan(
    checked: Spec,
    watch: HostWatch | None,
    *,
    as_json: bool,
    gates: Sequence[Gate] = (),
    gates_only: bool = False,
) -> None:
    """Draws the plan, looks at the server, and prints all of it with what the watch has seen.

    Ends with exit status 1 where a run would stop before its first trial.
    """
    placement = refuse_experiment(checked)
    drawn = replace(make_plan(checked), gates=tuple(gates), gates_only=gates_only)
    refuse_without_comparison(gates, drawn, Path(checked.source))
    refused = refusals_of_plan(checked, drawn)
    if checked.file.target.fleet is not None:
        refuse(refused, checked.source)
    found = replace(_found(checked, drawn), refused=refused)
    risks = (*built_apart(_by_version(checked, drawn)), *found.risks)
    drawn = replace(drawn, notes=(*drawn.notes, *risks))
    drawn = _with_copies(checked, timed_here(checked, drawn), found)
    with kept_critical_values():
        expected = expectation_of(checked, drawn)
        records, conditions = list(noise_records()), conditions_of(checked)
        foreseen = gate_outlooks(drawn, conditions, records)
        endpoints = endpoint_outlooks(drawn, conditions, records)
    outlook = collapse_outlook(drawn)
    others = used_by_others(watch, checked, found)
    if as_json:
        file, variants = checked.file, checked.variants.to_json()
        generators = file.load.generators
        rows = {
            one.name: one.parameters.described()
            for one in checked.workload.scenarios
            if one.parameters is not None
        }
        servers = {name: one.described() for name, one in found.servers.items()}
        described = {
            **plan_to_json(drawn),
            "design": _design(checked, drawn),
            "held": {"postgres": file.settings.postgres, "host": file.settings.host},
            "placement": placement.described(),
            "reset": file.reset_rule().described(),
            **({} if file.guard is None else {"guard": file.guard.model_dump(exclude_none=True)}),
            **({"schema_variants": variants["schema"]} if "schema" in variants else {}),
            **({"parameters": rows} if rows else {}),
            **({} if generators is None else {"generators": generators.model_dump()}),
            **({} if found.server is None else {"server": found.server.described()}),
            **({"servers": servers} if servers else {}),
            **({"refused": list(map(str, refused))} if refused else {}),
            "knobs_refused": [*found.knobs_refused, *found.knobs_idle],
            "stops": found.stops,
            "collapses": None if outlook is None else asdict(outlook),
            "expected": None if expected is None else asdict(expected),
            "endpoints_foreseen": [asdict(one) for one in endpoints],
            "gates_foreseen": [asdict(one) for one in foreseen],
            **({} if others is None else {"other_programs": others.described()}),
        }
        typer.echo(json.dumps(described))
    else:
        _print(checked, drawn, placement, found.knobs_idle)
        print_expectation(expected, drawn)
        for sentence in endpoints_foreseen(endpoints, drawn):
            labelled("endpoint  ", str(sentence))
        if (busy := busy_host(others, expected)) is not None:
            labelled("host      ", str(busy))
        if outlook is not None:
            labelled("collapses ", str(collapse_line(outlook)))
        _print_gates_foreseen(foreseen)
        found.print_servers()
        found.print_stops()
    if found.stops:
        raise typer.Exit(ExitCode.USAGE)


def _found(spec: Spec, drawn: Plan) -> Found:
    """What is found on existing servers and on the host of knobs; nothing where there are none."""
    file = spec.file
    if not (file.target.is_existing or file.settings.host or file.factors.host):
        return Found()
    from pgassay.cli.plan.server import look  # it takes psycopg

    return look(spec, drawn)


def _with_copies(spec: Spec, drawn: Plan, found: Found) -> Plan:
    """The plan with the time that copies of a server take, where no prior run says, and where they
    are all that is made before the first trial."""
    setup_s = None if found.server is None else found.server.setup_s
    if drawn.outside_s is not None or any(spec.workload.building_sql(1)):
        return drawn
    return replace(drawn, outside_s=setup_s)


def _by_version(spec: Spec, drawn: Plan) -> list[list[str]]:
    """Of a duet's servers: those of each major version."""
    found: dict[int, list[str]] = {}
    if drawn.exchanges_directories:
        for name, installation in servers_under_test(spec).items():
            found.setdefault(installation.major, []).append(name)
    return list(found.values())


def _print(spec: Spec, drawn: Plan, placement: Placement, knobs: Sequence[str]) -> None:
    out.print(f"[bold]{plain(drawn.question)}[/bold]")
    labelled("target    ", _target(spec, drawn))
    labelled("workload  ", f"{spec.workload.name}, scale {spec.file.workload.scale}:")
    _print_load(spec, drawn)
    share = f"{100 * drawn.smallest_effect:g} %"
    limit = f"an effect below {share} does not matter"
    judged = "described side by side, without a verdict" if drawn.describes else limit
    labelled("metric    ", f"{drawn.metric}; {judged}")
    if endpoints := price(drawn):
        labelled("endpoints ", str(endpoints))
    for limit in [] if spec.file.guard is None else spec.file.guard.described():
        labelled("limit     ", limit)
    _print_settings(spec)
    print_factors(spec)
    for part, label in placement.described().items():
        labelled("place     ", f"{part}: {label}")
    rule = spec.file.reset_rule()
    labelled("reset     ", f"{rule.level}: {rule.level.does}; caches {rule.caches}")
    _print_arms(drawn)
    for line in mode_lines(drawn):
        labelled("mode      ", line)
    _print_design(spec, drawn)
    _print_order(drawn)
    if spec.file.profile is not None and not drawn.alternates:
        arms = counted(len(drawn.arms), "arm")
        labelled("profile   ", f"{arms} once more under perf afterwards, which is not measured")
    for warning in (*map(str, drawn.notes), *placement.warnings, *knobs):
        labelled("risk: ", warning, "yellow")


def _print_load(spec: Spec, drawn: Plan) -> None:
    command, generators = spec.file.load.command, spec.file.load.generators
    if generators is not None:
        labelled("load      ", generators.described)
    if command is not None:
        labelled("load      ", shlex.join(command))
    elif drawn.queries is not None:
        labelled("load      ", str(drawn.queries.described()))
    elif drawn.replay is not None:
        labelled("load      ", str(drawn.replay.described()))
    else:
        shares = [scenario for scenario in spec.workload.scenarios if scenario.weight > 0]
        total = sum(scenario.weight for scenario in shares)
        for scenario in shares:
            rows = _parameters(scenario)
            labelled(f"            {scenario.weight / total:6.1%}  ", scenario.name + rows)
        for scenario in spec.workload.scenarios:
            if scenario.weight < 0:
                alone = counted(round(-scenario.weight), "connection")
                runs = "runs" if scenario.weight == -1 else "run"
                rows = _parameters(scenario)
                labelled("            ", f"{scenario.name}: {alone} that {runs} nothing else{rows}")
    if spec.workload.checks:
        names = ", ".join(check.name for check in spec.workload.checks)
        labelled("checks    ", f"of the data after each load: {names}")
    order = "" if drawn.order == "ordered" else ", in an order drawn for every block"
    whole = sum(step.duration_s for step in drawn.steps)
    parts = [_step(step) for step in drawn.steps] if drawn.replay is None else [duration(whole)]
    labelled("trial     ", ", ".join(parts) + order)


def _parameters(scenario: Scenario) -> str:
    file = scenario.parameters
    if file is None:
        return ""
    rows, columns = spaced(file.rows, 0), counted(len(file.columns), "column")
    order = "drawn at random" if file.order == "random" else "one after the other"
    return f"; parameters: {rows} {'row' if file.rows == 1 else 'rows'} of {columns}, {order}"


def _step(step: Step) -> str:
    rate = "" if step.rate is None else f" at {step.rate:g} tps"
    kind = "" if step.measured else "warm-up "
    return f"{kind}{counted(step.clients, 'client')}{rate} × {step.duration_s:g} s"


def _target(spec: Spec, drawn: Plan) -> str:
    target = spec.file.target
    if drawn.side_by_side:
        copies = ", copies of an existing one" if spec.file.copies_existing else ""
        return (
            f"{len(drawn.arms)} servers started by pgassay{copies}, one for each arm, all running"
            " at once"
        )
    fleet = target.fleet
    if fleet is not None:
        count = "every node" if fleet.count is None else f"each of {fleet.count} nodes"
        if fleet.servers:
            return (
                f"existing servers, each driven from a node of its own of the Ray cluster"
                f" ({fleet.ray}): {'; '.join(fleet.servers)}; {_changes(spec, drawn)}"
            )
        return f"a server started by pgassay on {count} of the Ray cluster ({fleet.ray})"
    servers = spec.file.factors.target.servers()
    if servers:
        on_copies = f", on copies of an existing one ({target.dsn})" if target.dsn else ""
        return f"{len(servers)} servers started by pgassay, one at a time{on_copies}"
    if spec.file.copies_existing:
        return f"a server started by pgassay, on a base backup of an existing one ({target.dsn})"
    if target.is_existing:
        from pgassay.server.existing.access import access_of  # it takes psycopg

        control = access_of(target).control
        restarts = f", by `{control.label}`" if control and target.allow_restart else ""
        host = f"; its host over ssh ({target.ssh})" if target.ssh else ""
        return f"existing server ({target.dsn}); {_changes(spec, drawn)}{restarts}{host}"
    if target.bin is not None:
        return f"a server started by pgassay, from {target.bin}"
    return f"a server started by pgassay, embedded PostgreSQL {target.version or 18}"


def _changes(spec: Spec, drawn: Plan) -> str:
    whose = "their" if spec.file.target.fleet is not None else "its"
    changed = server_settings(spec.file, drawn.factors)
    what = "are changed, and put back at the end" if changed else "are not changed"
    return f"{whose} settings {what}"


def _print_settings(spec: Spec) -> None:
    for name, value in spec.file.settings.postgres.items():
        labelled("held      ", f"{name} = {value}")
    for name, value in spec.file.settings.host.items():
        labelled("host      ", f"{name} = {value}, held; put back at the end")
    for name, levels in spec.file.factors.host.items():
        labelled("host      ", f"{name} = {', '.join(levels)}; put back at the end")


def _print_arms(drawn: Plan) -> None:
    for arm in drawn.arms:
        labelled(f"arm {arm.id:<5} ", arm.label)


def _print_design(spec: Spec, drawn: Plan) -> None:
    """How several factors are combined and randomised."""
    if len(drawn.factors) < 2:
        return
    for name, value in _design(spec, drawn).items():
        for line in [value] if isinstance(value, str) else value:
            labelled(f"{name:<9} ", line)


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
        is_look = block in drawn.looks and not drawn.calibrates
        needed += "  [dim]interim look[/dim]" if is_look else ""
        table.add_row(str(block), plain(order_of(drawn, block)) + needed)
    out.print(table)
    out.print(f"time      {time_range(drawn)}")
    out.print(f"seed      {drawn.seed}")


_INDENT = 10


def _print_gates_foreseen(outlooks: Sequence[GateOutlook]) -> None:
    """How often each gate will be decided, by the true change; nothing without gates."""
    for outlook in outlooks:
        sentences = gate_sentences(outlook)
        for at, sentence in enumerate(sentences):
            labelled("gate      ", str(sentence))
            if outlook.forecasts:
                table = Table(box=None, padding=(0, 2, 0, 0))
                for title in gate_columns():
                    table.add_column(title, justify="right")
                for row in gate_rows(outlook.forecasts[at]):
                    table.add_row(*row)
                out.print(Padding(table, (0, 0, 0, _INDENT), expand=False))
