"""`pgassay load`: one load on one server, with pgbench's letters.

Enters: scripts, clients, a duration, libpq's connection settings. Leaves: a summary or the
`pgassay.load/1` object. Never: changes a setting, makes a table or keeps a file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from pgassay.cli.connection import Database, Host, Port, User, connection_string
from pgassay.cli.console import err
from pgassay.cli.load_report import load_object, print_load
from pgassay.errors import ExitCode, SpecError
from pgassay.plan.model import Step
from pgassay.spec.scripts import BUILTINS, builtin_script, read_script
from pgassay.spec.workload import Scenario
from pgassay.target.pgbench_scale import pgbench_scale
from pgassay.target.session import resolve
from pgassay.trials.load import LoadRequest, open_load, run_load

_NO_END_S = 100 * 365 * 86400.0
_DEFAULT_TRANSACTIONS = 10


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("load")(load)


def load(
    database: Database = None,
    host: Host = None,
    port: Port = None,
    user: User = None,
    clients: Annotated[int, typer.Option("-c", "--client", min=1, help="Connections.")] = 1,
    threads: Annotated[int, typer.Option("-j", "--jobs", min=1, help="Engine threads.")] = 1,
    duration_s: Annotated[
        float | None, typer.Option("-T", "--time", min=0.001, help="Seconds.")
    ] = None,
    transactions: Annotated[
        int | None, typer.Option("-t", "--transactions", min=1, help="Per client [10].")
    ] = None,
    files: Annotated[
        list[str] | None, typer.Option("-f", "--file", help="Script FILE[@WEIGHT]; repeatable.")
    ] = None,
    builtins: Annotated[
        list[str] | None,
        typer.Option("-b", "--builtin", help=f"NAME[@WEIGHT] of {', '.join(BUILTINS)}."),
    ] = None,
    select_only: Annotated[
        bool, typer.Option("-S", "--select-only", help="-b select-only.")
    ] = False,
    simple_update: Annotated[
        bool, typer.Option("-N", "--skip-some-updates", help="-b simple-update.")
    ] = False,
    protocol: Annotated[
        str, typer.Option("-M", "--protocol", help="simple or prepared.")
    ] = "simple",
    scale: Annotated[
        int | None, typer.Option("-s", "--scale", min=1, help="Value of :scale.")
    ] = None,
    define: Annotated[
        list[str] | None, typer.Option("-D", "--define", help="VARIABLE=VALUE; repeatable.")
    ] = None,
    no_vacuum: Annotated[
        bool, typer.Option("-n", "--no-vacuum", help="Accepted: nothing is vacuumed.")
    ] = False,
    progress_s: Annotated[
        float | None, typer.Option("-P", "--progress", min=0.1, help="A line every SEC.")
    ] = None,
    seed: Annotated[int, typer.Option("--random-seed", min=0, help="Of the scripts.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Put one load on a server, with pgbench's letters and scripts."""
    if duration_s is not None and transactions is not None:
        raise SpecError("-t and -T exclude each other; keep one")
    if protocol not in ("simple", "prepared"):
        raise SpecError(f"-M {protocol}: known are simple, prepared")
    names = [*(builtins or []), *(["select-only"] * select_only)]
    names += ["simple-update"] * simple_update
    scenarios = [read_script(named) for named in files or []]
    scenarios += [builtin_script(named) for named in names or ([] if files else ["tpcb-like"])]
    variables = _defined(define or [])
    parameters = resolve(connection_string(database, host, port, user))
    if scale is None and not files:
        scale = pgbench_scale(parameters)
    request = LoadRequest(
        scenarios=_distinct(scenarios),
        steps=(Step(clients, duration_s or _NO_END_S, measured=True),),
        variables={"scale": scale or 1, **variables},
        seed=seed,
        threads=min(threads, clients),
        protocol=protocol,
        transactions_per_client=_count(duration_s, transactions),
    )
    opened = open_load(request, parameters)
    result = run_load(opened, _reporter(progress_s))
    if as_json:
        typer.echo(json.dumps(load_object(result)))
    else:
        print_load(result, request)
    if result["lost_connections"] or not result["transactions"]:
        raise typer.Exit(ExitCode.TRIALS)


def _count(duration_s: float | None, transactions: int | None) -> int | None:
    if duration_s is not None:
        return None
    return transactions or _DEFAULT_TRANSACTIONS


def _defined(pairs: list[str]) -> dict[str, int | float | str]:
    found: dict[str, int | float | str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier():
            raise SpecError(f"-D {pair}: write VARIABLE=VALUE")
        found[name] = _number_or_text(value)
    return found


def _number_or_text(value: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def _distinct(scenarios: list[Scenario]) -> list[Scenario]:
    """The same script twice is two scenarios; their names must tell them apart."""
    seen: dict[str, int] = {}
    found = []
    for scenario in scenarios:
        seen[scenario.name] = seen.get(scenario.name, 0) + 1
        again = seen[scenario.name]
        name = scenario.name if again == 1 else f"{scenario.name} ({again})"
        found.append(Scenario(name, scenario.file, scenario.script, scenario.weight))
    return found


def _reporter(every_s: float | None) -> Callable[[Mapping[str, Any]], None]:
    """Prints a line like pgbench's each `every_s` seconds; without it, nothing."""
    due = every_s or 0.0

    def report(progress: Mapping[str, Any]) -> None:
        nonlocal due
        if every_s is None or progress["elapsed_s"] < due:
            return
        due += every_s
        err.print(
            f"progress: {progress['elapsed_s']:.1f} s, {progress['tps']:.1f} tps,"
            f" {progress['failed']} failed"
        )

    return report
