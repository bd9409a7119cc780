"""`pgassay load --search`: probes of a server, and what they show.

Enters: a load to probe with, an objective, its levels. Leaves: a summary or `pgassay.search/1`.
Never: decides which level holds; `analysis/search.py` does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import typer

from pgassay.analysis.search import SearchResult, search
from pgassay.cli.load.result import asked_object, server_object
from pgassay.cli.load.search_choices import SearchChoices
from pgassay.cli.load.search_summary import print_announcement, print_probe, print_search
from pgassay.cli.terminal.console import warn
from pgassay.errors import ExitCode
from pgassay.server.protocol import ConnectionParameters
from pgassay.spec.load.objective import LATENCIES
from pgassay.spec.secrets.redaction import redacted_value
from pgassay.trials.load.caveats import CLIENT_LIMITED, is_client_limited, missed_rate
from pgassay.trials.load.engine import LoadRequest
from pgassay.trials.load.engine_load import EngineLoad
from pgassay.trials.load.group import OnThisMachine

SCHEMA = "pgassay.search/1"
DISAGREE = (
    "probes of one level disagree: the host is noisy, or the level is close to the limit; keep the"
    " host idle, or make probes longer (-T)"
)


def run_search(
    choices: SearchChoices,
    request: LoadRequest,
    parameters: ConnectionParameters,
    *,
    as_json: bool,
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
