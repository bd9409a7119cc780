"""`pgassay load --search`: probes of a server, and what they show.

Enters: a load to probe with, an objective, a range. Leaves: a summary or `pgassay.search/1`.
Never: decides which level holds; `analysis/search.py` does.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import typer
from rich.table import Table

from pgassay.analysis.search import SearchResult, Support, levels_between, most_probes, search
from pgassay.cli.load.choices import MOST_RATE, LoadChoices
from pgassay.cli.load.result import asked_object, server_object
from pgassay.cli.load.rules import refuse_beside_search
from pgassay.cli.terminal.console import counted, err, out
from pgassay.errors import ExitCode, SpecError
from pgassay.plan.steps import Step, warmed_up
from pgassay.server.protocol import ConnectionParameters
from pgassay.spec.load.objective import LATENCIES, Objective, parse_objective
from pgassay.spec.reading.units import clock
from pgassay.spec.secrets.redaction import redacted_value
from pgassay.trials.load.caveats import CLIENT_LIMITED, is_client_limited, missed_rate
from pgassay.trials.load.engine import LoadRequest, open_load, run_load

SCHEMA = "pgassay.search/1"
DEFAULT_PROBE_S = 10.0
_DEFAULT_WARMUP = "2s"
_DEFAULT_WITHIN = "5%"
_DEFAULT_CONFIDENCE = "95%"


@dataclass(frozen=True)
class SearchChoices:
    """The objective, what is varied, the levels to choose from, the confidence asked for."""

    objective: Objective
    over: Literal["rate", "clients"]
    levels: tuple[float, ...]
    confidence: float


def search_choices(
    objective: str | None,
    over: str | None,
    lowest: float | None,
    highest: float | None,
    within: str | None,
    confidence: str | None,
) -> SearchChoices | None:
    """The search asked for, or None; SpecError where its options do not make one."""
    if objective is None:
        for option, value in {
            "--over": over,
            "--from": lowest,
            "--to": highest,
            "--within": within,
            "--confidence": confidence,
        }.items():
            if value is not None:
                raise SpecError(f"{option} belongs to --search; add it")
        return None
    try:
        asked = parse_objective(objective)
    except ValueError as error:
        raise SpecError(f"--search {objective}: {error}") from None
    if over not in ("rate", "clients"):
        raise SpecError("--search needs --over rate or --over clients")
    if lowest is None or highest is None or not 0 < lowest < highest <= MOST_RATE:
        raise SpecError(
            f"--search needs --from A and --to B with 0 < A < B, at most {MOST_RATE:.0e}"
        )
    whole = over == "clients"
    if whole and (lowest != int(lowest) or highest != int(highest)):
        raise SpecError("--from and --to are whole numbers of clients")
    share = _share("--within", within or _DEFAULT_WITHIN, 0.001, 1.0)
    levels = levels_between(lowest, highest, share, whole=whole)
    sure = _share("--confidence", confidence or _DEFAULT_CONFIDENCE, 0.5, 0.9999)
    return SearchChoices(asked, "clients" if whole else "rate", levels, sure)


def probing(choices: LoadChoices, wanted: SearchChoices) -> LoadChoices:
    """The load of a probe; its level is set before each."""
    refuse_beside_search(choices, wanted.over)
    return replace(
        choices,
        duration=choices.duration or DEFAULT_PROBE_S,
        warmup=choices.warmup or _DEFAULT_WARMUP,
        rate=repr(wanted.levels[0]) if wanted.over == "rate" else None,
    )


def run_search(
    choices: SearchChoices,
    request: LoadRequest,
    parameters: ConnectionParameters,
    *,
    as_json: bool,
) -> None:
    """Probe until a level is shown to hold and one to break, and print them."""
    seen: list[dict[str, Any]] = []
    warnings: dict[str, None] = {}
    _announce(choices, request)

    def probe(level: float) -> bool:
        asked = _at(request, choices.over, level, len(seen))
        result = run_load(open_load(asked, parameters), lambda _: None)
        figures = probe_figures(result)
        missed = any(missed_rate(step, asked.steps) for step in result["steps"])
        held = choices.objective.holds(figures) and not missed
        seen.append({"figures": figures, "tps": result["tps"], "rate_reached": not missed})
        _print_probe(choices, level, seen[-1], held=held)
        if is_client_limited(result, asked.threads) and CLIENT_LIMITED not in warnings:
            # At once, not at the end: the user may want to stop and mend it.
            warnings[CLIENT_LIMITED] = None
            err.print(f"warning: {CLIENT_LIMITED}", style="yellow", markup=False)
        return held

    found = search(choices.levels, probe, choices.confidence)
    if as_json:
        server = server_object(parameters)
        result = search_object(choices, found, seen, list(warnings), request, server)
        typer.echo(json.dumps(redacted_value(result)))
    else:
        print_search(choices, found, seen)
    if found.holds is None:
        raise typer.Exit(ExitCode.UNDECIDED)


def _announce(choices: SearchChoices, request: LoadRequest) -> None:
    """How long it may take, before the first probe."""
    most = most_probes(len(choices.levels), choices.confidence)
    probe_s = sum(step.duration_s for step in request.steps)
    err.print(
        f"{len(choices.levels)} levels from {_level(choices.over, choices.levels[0])} to"
        f" {choices.levels[-1]:.10g}, at most {most} probes of {probe_s:g} s:"
        f" {clock(most * probe_s)} at most",
        markup=False,
    )


def _print_probe(
    choices: SearchChoices, level: float, seen: Mapping[str, Any], *, held: bool
) -> None:
    figures = ", ".join(
        f"{clause.quantity} {_shown(seen['figures'][clause.quantity])}"
        for clause in choices.objective.clauses
    )
    short = "" if seen["rate_reached"] else ", the rate was not reached"
    verdict = "holds" if held else "breaks"
    err.print(f"{_level(choices.over, level)}: {figures}{short}: {verdict}", markup=False)


def probe_figures(result: Mapping[str, Any]) -> dict[str, float | None]:
    """The figures an objective judges; with a rate, latency counts from the scheduled start."""
    # A transaction that has not ended has taken at least this long, and may be too slow already.
    latency = result["latency_with_unfinished_ms"]
    tried = result["transactions"] + result["failed"] + result.get("skipped", 0)
    lost = result["failed"] + result.get("skipped", 0)
    failed = 100.0 * lost / tried if tried else None
    return {**{name: latency[name] for name in LATENCIES}, "failed": failed}


def search_object(
    choices: SearchChoices,
    found: SearchResult,
    seen: list[dict[str, Any]],
    warnings: list[str],
    request: LoadRequest,
    server: Mapping[str, Any],
) -> dict[str, Any]:
    """The object of `pgassay load --search … --json`."""
    asked = asked_object(request)
    if choices.over == "clients":
        asked["clients"] = None
    probes = [{**asdict(probe), **one} for probe, one in zip(found.probes, seen, strict=True)]
    return {
        "schema": SCHEMA,
        "server": server,
        "asked": asked,
        "objective": choices.objective.text,
        "over": choices.over,
        "from": choices.levels[0],
        "to": choices.levels[-1],
        "confidence": choices.confidence,
        "confirmations": found.confirmations,
        "holds": found.holds,
        "breaks": found.breaks,
        "best_held": None if found.best_held is None else asdict(found.best_held),
        "best_broken": None if found.best_broken is None else asdict(found.best_broken),
        "probes": probes,
        "warnings": warnings,
    }


def _at(request: LoadRequest, over: str, level: float, number: int) -> LoadRequest:
    measured = request.steps[-1]
    if over == "rate":
        step = replace(measured, rate=level)
    else:
        step = replace(measured, clients=int(level))
    warmups = [s.duration_s for s in request.steps if not s.measured]
    steps: tuple[Step, ...] = warmed_up([step], warmups[0] if warmups else None)
    # Another seed each time: with the same keys the probes would not be independent.
    return replace(
        request,
        steps=steps,
        seed=(request.seed + number) % 2**63,
        threads=min(request.threads, step.clients),
    )


def print_search(
    choices: SearchChoices, found: SearchResult, seen: Sequence[Mapping[str, Any]]
) -> None:
    """The probes level by level, then the answer with its confidence."""
    out.print(_table(choices, found, seen))
    out.print(f"objective     {choices.objective.text}", markup=False)
    ends = choices.levels[0], choices.levels[-1]
    _print_side(choices, "holds", found.holds, found.best_held, f"no level from {ends[0]:.10g} up")
    _print_side(
        choices, "breaks", found.breaks, found.best_broken, f"no level up to {ends[1]:.10g}"
    )
    out.print(
        "confidence    that a probe at that level holds (or breaks) more often than not,"
        f" corrected for all tests; {choices.confidence:.4g} was asked for"
    )


def _table(choices: SearchChoices, found: SearchResult, seen: Sequence[Mapping[str, Any]]) -> Table:
    """A row for each level that was probed: how often it held, and its median figures."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    names = [clause.quantity for clause in choices.objective.clauses]
    units = [f"{name} {'%' if name == 'failed' else 'ms'}" for name in names]
    titles = (choices.over, "probes", "held", "tps", *units)
    for index, title in enumerate(titles):
        table.add_column(title, justify="right" if index else "left")
    by_level: dict[float, list[tuple[bool, Mapping[str, Any]]]] = {}
    for probe, one in zip(found.probes, seen, strict=True):
        by_level.setdefault(probe.level, []).append((probe.held, one))
    for level, probes in sorted(by_level.items()):
        figures = [[one["figures"][name] for _, one in probes] for name in names]
        table.add_row(
            f"{level:.10g}",
            str(len(probes)),
            str(sum(held for held, _ in probes)),
            f"{statistics.median(one['tps'] for _, one in probes):.1f}",
            *(_shown(_median(values)) for values in figures),
        )
    return table


def _print_side(
    choices: SearchChoices, name: str, shown: float | None, best: Support | None, none: str
) -> None:
    if best is None:
        # Only where bisection ended at an end of the range is no level left to test.
        end = "even the lowest breaks" if name == "holds" else "even the highest holds"
        out.print(f"{name:<13} {none}: {end}")
        return
    counted = (
        f"{best.agreeing} of {best.probes} confirming probes, confidence {best.confidence:.3g}"
    )
    if shown is not None:
        out.print(f"{name:<13} {_level(choices.over, shown)}: {counted}", markup=False)
        return
    best_level = _level(choices.over, best.level)
    out.print(
        f"{name:<13} {none} was shown to; best supported: {best_level}: {counted}", markup=False
    )


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def _level(over: str, level: float) -> str:
    if over == "rate":
        return f"{level:.10g} transactions a second"
    return counted(int(level), "client")


def _shown(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g}"


def _share(option: str, written: str, least: float, most: float) -> float:
    try:
        number = float(written.rstrip("% ")) / (100 if "%" in written else 1)
    except ValueError:
        number = math.nan
    if not least <= number <= most:
        raise SpecError(f"{option} {written}: write a share such as 5% or 0.05")
    return number
