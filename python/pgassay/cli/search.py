"""`pgassay load --search`: probes of a server, and what they show.

Enters: a load to probe with, an objective, a range. Leaves: a summary or `pgassay.search/1`.
Never: decides what is shown; `analysis/search.py` does.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import typer

from pgassay.analysis.search import SearchResult, levels_between, search
from pgassay.cli.console import err, out
from pgassay.errors import ExitCode, SpecError
from pgassay.plan.steps import Step, warmed_up
from pgassay.spec.objective import LATENCIES, Objective, parse_objective
from pgassay.target.protocol import ConnectionParameters
from pgassay.trials.doubts import CLIENT_LIMITED, is_client_limited, missed_rate
from pgassay.trials.load import LoadRequest, open_load, run_load

SCHEMA = "pgassay.search/1"
DEFAULT_PROBE_S = 10.0
_DEFAULT_WARMUP_S = 2.0


@dataclass(frozen=True)
class SearchChoices:
    """What is searched for, over what, how finely, how surely."""

    objective: Objective
    over: Literal["rate", "clients"]
    levels: tuple[float, ...]
    confidence: float


def search_choices(
    objective: str | None,
    over: str | None,
    lowest: float | None,
    highest: float | None,
    within: str,
    confidence: str,
) -> SearchChoices | None:
    """The search asked for, or None; SpecError where its options do not make one."""
    if objective is None:
        for option, value in (("--over", over), ("--from", lowest), ("--to", highest)):
            if value is not None:
                raise SpecError(f"{option} belongs to --search; add it")
        return None
    try:
        asked = parse_objective(objective)
    except ValueError as error:
        raise SpecError(f"--search {objective}: {error}") from None
    if over not in ("rate", "clients"):
        raise SpecError("--search needs --over rate or --over clients")
    if lowest is None or highest is None or not 0 < lowest < highest:
        raise SpecError("--search needs --from A and --to B with 0 < A < B")
    whole = over == "clients"
    if whole and (lowest != int(lowest) or highest != int(highest)):
        raise SpecError("--from and --to are whole numbers of clients")
    share = _share("--within", within, 0.001, 1.0)
    levels = levels_between(lowest, highest, share, whole=whole)
    sure = _share("--confidence", confidence, 0.5, 0.9999)
    return SearchChoices(asked, "clients" if whole else "rate", levels, sure)


def run_search(
    choices: SearchChoices,
    request: LoadRequest,
    parameters: ConnectionParameters,
    *,
    as_json: bool,
) -> None:
    """Probe until the answer is shown, and print it."""
    seen: list[dict[str, Any]] = []
    doubts: dict[str, None] = {}

    def probe(level: float) -> bool:
        asked = _at(request, choices.over, level, len(seen))
        result = run_load(open_load(asked, parameters), lambda _: None)
        figures = probe_figures(result)
        missed = any(missed_rate(step, asked.steps) for step in result["steps"])
        held = choices.objective.holds(figures) and not missed
        seen.append({"figures": figures, "tps": result["tps"], "rate_reached": not missed})
        if is_client_limited(result, asked.threads):
            doubts[CLIENT_LIMITED] = None
        what = ", ".join(
            f"{c.quantity} {_shown(figures[c.quantity])}" for c in choices.objective.clauses
        )
        verdict = "holds" if held else "breaks"
        short = ", the rate was not reached" if missed else ""
        err.print(f"{_level(choices.over, level)}: {what}{short}: {verdict}", markup=False)
        return held

    found = search(choices.levels, probe, choices.confidence)
    if as_json:
        typer.echo(json.dumps(search_object(choices, found, seen, list(doubts))))
    else:
        _print(choices, found, list(doubts))
    if found.holds is None:
        raise typer.Exit(ExitCode.UNDECIDED)


def probe_figures(result: Mapping[str, Any]) -> dict[str, float | None]:
    """What an objective judges: with a rate, the time from when a transaction was due."""
    # One that has not ended has taken too long already, if it has taken longer than asked.
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
) -> dict[str, Any]:
    """The object of `pgassay load --search … --json`."""
    probes = [{**asdict(probe), **told} for probe, told in zip(found.probes, seen, strict=True)]
    return {
        "schema": SCHEMA,
        "objective": choices.objective.text,
        "over": choices.over,
        "from": choices.levels[0],
        "to": choices.levels[-1],
        "confidence": choices.confidence,
        "confirmations": found.confirmations,
        "holds": found.holds,
        "breaks": found.breaks,
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
    steps: tuple[Step, ...] = warmed_up([step], warmups[0] if warmups else _DEFAULT_WARMUP_S)
    # Another seed each time: the same keys again would make the probes less than independent.
    return replace(
        request,
        steps=steps,
        seed=(request.seed + number) % 2**63,
        threads=min(request.threads, step.clients),
    )


def _print(choices: SearchChoices, found: SearchResult, doubts: list[str]) -> None:
    out.print(f"objective     {choices.objective.text}", markup=False)
    needed = found.confirmations
    if found.holds is None:
        out.print(f"holds         at no level from {choices.levels[0]:g} could it be shown to")
    else:
        how = f"held in {needed} of {needed} fresh probes"
        out.print(f"holds         {_level(choices.over, found.holds)}: {how}")
    if found.breaks is None:
        out.print(f"breaks        at no level up to {choices.levels[-1]:g} could it be shown to")
    else:
        how = f"broke in {needed} of {needed} fresh probes"
        out.print(f"breaks        {_level(choices.over, found.breaks)}: {how}")
    out.print(
        f"confidence    {choices.confidence:.4g}: at the level that holds, a probe holds more"
        " often than not, and at the one that breaks, less"
    )
    out.print(f"probes        {len(found.probes)}")
    for doubt in doubts:
        err.print(f"warning: {doubt}", style="yellow", markup=False)


def _level(over: str, level: float) -> str:
    return f"{level:g} {'transactions a second' if over == 'rate' else 'clients'}"


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
