"""What `pgassay load --search` looks for.

Enters: the options. Leaves: the objective with its levels and confidence, and the options of one
probe; or a SpecError that names the option. Never: reaches a server.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from pgassay.analysis.search import levels_between
from pgassay.cli.load.options import LoadOptions
from pgassay.cli.load.request import MOST_RATE
from pgassay.cli.load.rules import refuse_beside_search
from pgassay.refusals.refusal import Refusal, UnfitValue
from pgassay.spec.load.objective import Objective, parse_objective


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
