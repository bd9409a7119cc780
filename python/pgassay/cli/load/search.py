"""`pgassay load --search`: probes of a server, and what they show.

Enters: the options; a load to probe with. Leaves: the objective, its levels and confidence, or a
SpecError that names the option; lines on stderr; a summary or `pgassay.search/1`.
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

from pgassay.analysis.search import SearchResult, Support, levels_between, most_probes, search
from pgassay.cli.load.options import LoadOptions
from pgassay.cli.load.request import MOST_RATE, refuse_beside_search
from pgassay.cli.load.result import asked_object, server_object
from pgassay.cli.terminal.console import counted, err, out, print_table, warn
from pgassay.errors import ExitCode
from pgassay.quantities import clock
from pgassay.refusals.refusal import Refusal, UnfitValue
from pgassay.server.protocol import ConnectionParameters
from pgassay.spec.load.objective import LATENCIES, Objective, parse_objective
from pgassay.spec.secrets.redaction import redacted_value
from pgassay.trials.load.caveats import CLIENT_LIMITED, is_client_limited, missed_rate
from pgassay.trials.load.engine import LoadRequest
from pgassay.trials.load.engine_load import EngineLoad
from pgassay.trials.load.group import OnThisMachine


@dataclass(frozen=True)
class SearchChoices:
    """The objective, what is varied, the levels to choose from, the confidence asked for."""

    objective: Objective
    over: Literal["rate", "clients"]
    levels: tuple[float, ...]
    confidence: float


def search_choices(options: LoadOptions) -> SearchChoices:
    """Returns the search that the options ask for."""
    refuse_beside_search(options)
    try:
        objective = parse_objective(options.search or "")
    except UnfitValue as error:
        raise error.refusal.at(f"--search {options.search}") from None
    if options.over is None:
        raise Refusal("search-over-nothing")
    low, high = options.lowest, options.highest
    if low is None or high is None or not 0 < low < high <= MOST_RATE:
        raise Refusal("search-without-range", most=MOST_RATE)
    whole = options.over == "clients"
    if whole and (low != int(low) or high != int(high)):
        raise Refusal("clients-not-whole")
    within = _share("--within", options.within or "5%", 0.001, 1.0)
    levels = levels_between(low, high, within, whole=whole)
    confidence = _share("--confidence", options.confidence or "95%", 0.5, 0.9999)
    return SearchChoices(objective, options.over, levels, confidence)


def probe_options(options: LoadOptions, choices: SearchChoices) -> LoadOptions:
    """The options of one probe, at the lowest level; 10 s after a warm-up of 2 s by default."""
    return replace(
        options,
        duration=options.duration or 10.0,
        warmup=options.warmup or "2s",
        rate=repr(choices.levels[0]) if choices.over == "rate" else None,
    )


def _share(option: str, written: str, least: float, most: float) -> float:
    try:
        number = float(written.rstrip("% ")) / (100 if "%" in written else 1)
    except ValueError:
        number = math.nan
    if not least <= number <= most:
        raise Refusal("share-of-search-form", f"{option} {written}")
    return number


SCHEMA = "pgassay.search/1"
DISAGREE = (
    "probes of one level disagree: the host is noisy, or the level is close to the limit; keep the"
    " host idle, or make probes longer (-T)"
)


def run_search(
    choices: SearchChoices, request: LoadRequest, parameters: ConnectionParameters, *, as_json: bool
) -> None:
    """Probes loads until one level is shown to hold and one to break, and prints them."""
    probed: list[dict[str, Any]] = []
    warnings: list[str] = []
    answers: dict[float, set[bool]] = {}
    print_announcement(choices, request)

    def probe(level: float) -> bool:
        asked = _at_level(request, choices.over, level, len(probed))
        result = EngineLoad(asked, parameters, OnThisMachine()).run(lambda _: None)
        figures = _judged_figures(result)
        missed = any(missed_rate(step, asked.steps) for step in result["steps"])
        held = choices.objective.holds(figures) and not missed
        probed.append({"figures": figures, "tps": result["tps"], "rate_reached": not missed})
        print_probe(choices, level, probed[-1], held=held)
        answers.setdefault(level, set()).add(held)
        for text in probe_caveats(result, asked.threads, answers[level]):
            if text not in warnings:
                # At once, not at the end: the user may want to stop and mend it.
                warnings.append(text)
                warn(text)
        return held

    found = search(choices.levels, probe, choices.confidence)
    if as_json:
        described = _search_object(choices, request, found, probed)
        server = server_object(parameters)
        whole = {"schema": SCHEMA, "server": server, **described, "warnings": warnings}
        typer.echo(json.dumps(redacted_value(whole)))
    else:
        print_search(choices, found, probed)
    if found.holds is None:
        raise typer.Exit(ExitCode.UNDECIDED)


def probe_caveats(result: Mapping[str, Any], threads: int, answers: set[bool]) -> list[str]:
    """Returns what limits a search, as one probe and all `answers` at its level show it."""
    found = [str(CLIENT_LIMITED)] if is_client_limited(result, threads) else []
    return [*found, DISAGREE] if len(answers) > 1 else found


def _at_level(request: LoadRequest, over: str, level: float, number: int) -> LoadRequest:
    steps = tuple(
        replace(step, rate=level) if over == "rate" else replace(step, clients=int(level))
        for step in request.steps
    )
    # Another seed each time: with the same keys the probes would not be independent.
    return replace(
        request,
        steps=steps,
        seed=(request.seed + number) % 2**63,
        threads=min(request.threads, steps[0].clients),
    )


def _judged_figures(result: Mapping[str, Any]) -> dict[str, float | None]:
    """Latencies in ms, `failed` in per cent; with a rate, latency counts from the due moment."""
    # A transaction that has not ended has taken at least this long, and may be too slow already.
    latency = result["latency_with_unfinished_ms"]
    lost = result["failed"] + result.get("skipped", 0)
    tried = result["transactions"] + lost
    return {
        **{name: latency[name] for name in LATENCIES},
        "failed": 100.0 * lost / tried if tried else None,
    }


def _search_object(
    choices: SearchChoices,
    request: LoadRequest,
    found: SearchResult,
    probed: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """What was asked and what was found, as docs/json.md describes it."""
    asked = asked_object(request)
    if choices.over == "clients":
        asked["clients"] = None
    probes = [{**asdict(probe), **one} for probe, one in zip(found.probes, probed, strict=True)]
    return {
        "asked": asked,
        "objective": choices.objective.text,
        "over": choices.over,
        "from": choices.levels[0],
        "to": choices.levels[-1],
        "confidence": choices.confidence,
        **asdict(found),
        "probes": probes,
    }


def print_announcement(choices: SearchChoices, request: LoadRequest) -> None:
    """Prints, before the first probe, how long the search may take."""
    most = most_probes(len(choices.levels), choices.confidence)
    probe_s = sum(step.duration_s for step in request.steps)
    err.print(
        f"{len(choices.levels)} levels from {_level(choices.over, choices.levels[0])} to"
        f" {choices.levels[-1]:.10g}, at most {most} probes of {probe_s:g} s:"
        f" {clock(most * probe_s)} at most",
        markup=False,
    )


def print_probe(
    choices: SearchChoices, level: float, probe: Mapping[str, Any], *, held: bool
) -> None:
    """Prints what one probe measured, and whether the objective held."""
    names = [clause.quantity for clause in choices.objective.clauses]
    figures = [f"{name} {_figure(probe['figures'][name], _unit(name))}" for name in names]
    missed = [] if probe["rate_reached"] else ["the rate was not reached"]
    verdict = "holds" if held else "breaks"
    shown = f"{_level(choices.over, level)}: {', '.join(figures + missed)}: {verdict}"
    err.print(shown, markup=False)


def print_search(
    choices: SearchChoices, found: SearchResult, probed: Sequence[Mapping[str, Any]]
) -> None:
    """Prints the probes level by level, then the answer with its confidence."""
    _print_levels(choices, found, probed)
    out.print(f"objective     {choices.objective.text}", markup=False)
    lowest, highest = choices.levels[0], choices.levels[-1]
    none_holds, none_breaks = f"no level from {lowest:.10g} up", f"no level up to {highest:.10g}"
    _print_side(
        choices, "holds", none_holds, "even the lowest breaks", found.holds, found.best_held
    )
    _print_side(
        choices, "breaks", none_breaks, "even the highest holds", found.breaks, found.best_broken
    )
    out.print(
        "confidence    that most probes at that level hold (or break), corrected for all tests;"
        f" {choices.confidence:.4g} was asked for"
    )


def _print_levels(
    choices: SearchChoices, found: SearchResult, probed: Sequence[Mapping[str, Any]]
) -> None:
    """A row for each level that was probed: how often it held, and its median figures."""
    names = [clause.quantity for clause in choices.objective.clauses]
    by_level: dict[float, list[tuple[bool, Mapping[str, Any]]]] = {}
    for probe, measured in zip(found.probes, probed, strict=True):
        by_level.setdefault(probe.level, []).append((probe.held, measured))
    print_table(
        (choices.over, "probes", "held", "tps", *(f"{name} {_unit(name)}" for name in names)),
        (
            (
                f"{level:.10g}",
                str(len(probes)),
                str(sum(held for held, _ in probes)),
                f"{statistics.median(one['tps'] for _, one in probes):.1f}",
                *(_figure(_median([one["figures"][name] for _, one in probes])) for name in names),
            )
            for level, probes in sorted(by_level.items())
        ),
    )


def _print_side(
    choices: SearchChoices,
    side: str,
    none: str,
    untested: str,
    level: float | None,
    best: Support | None,
) -> None:
    """The level shown to hold (or break), else the best-supported one."""
    if best is None:  # bisection ended at an end of the range, so no level was left to test
        out.print(f"{side:<13} {none}: {untested}")
        return
    claim = _level(choices.over, best.level)
    if level is None:
        claim = f"{none} was shown to; best supported: {claim}"
    support = f"{best.agreeing} of {best.probes} confirming probes"
    out.print(f"{side:<13} {claim}: {support}, confidence {best.confidence:.3g}", markup=False)


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def _level(over: str, level: float) -> str:
    if over == "rate":
        return f"{level:.10g} transactions per second"
    return counted(int(level), "client")


def _unit(quantity: str) -> str:
    return "%" if quantity == "failed" else "ms"


def _figure(value: float | None, unit: str = "") -> str:
    return "unknown" if value is None else f"{value:.3g} {unit}".rstrip()
