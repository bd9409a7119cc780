"""What a search does and found, for people.

Enters: the search, its probes, its result. Leaves: lines on stdout, progress on stderr.
Never: judges a probe.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from pgassay.analysis.search import SearchResult, Support, most_probes
from pgassay.cli.load.search_choices import SearchChoices
from pgassay.cli.terminal.console import counted, err, out, print_table
from pgassay.quantities import clock
from pgassay.trials.load.engine import LoadRequest


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
