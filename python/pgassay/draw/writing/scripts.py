"""The script of a drawn scenario, with comments that say what it is on the source.

Enters: a scenario. Leaves: text in pgbench's script language. Never: has a value of a parameter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from pgassay.draw.model import DrawnScenario, DrawnStatement
from pgassay.draw.writing.coverage import Coverage, time_of
from pgassay.quantities import share

_TENTHS = 10


def script_of(scenario: DrawnScenario, coverage: Coverage, *, think_times: bool = False) -> str:
    """Returns the script; with `think_times`, clients pause within a transaction as they did on the
    source."""
    lines = [
        f"-- {scenario.name}. On the source {scenario.transactions} transactions,"
        f" {share(coverage.share_of(time_of(scenario)))} of the time of all statements."
    ]
    if scenario.explicit:
        lines.append("BEGIN;")
    for place, one in enumerate(scenario.statements):
        pauses = scenario.pauses_us[place - 1] if 0 < place <= len(scenario.pauses_us) else ()
        if think_times and len(pauses) > _TENTHS:
            lines += _pause(scenario, place, pauses)
        lines += [_comment(one, coverage), _ended(one)]
    if scenario.explicit:
        lines.append(f"{scenario.ends};")
    return "\n".join(lines) + "\n"


def _comment(one: DrawnStatement, coverage: Coverage) -> str:
    figures = one.figures
    mean = f"{figures.time_ms / figures.calls:.3g} ms each" if figures.calls else "never ended"
    part = share(coverage.share_of(figures.time_ms))
    return f"-- {figures.calls} calls, {mean}, {part} of the time."


def _ended(one: DrawnStatement) -> str:
    """The statement with what ends it, which a comment in its last line must not swallow."""
    text = one.text.strip()
    end = ";" if one.returns is None else rf" \gset {one.returns}".rstrip()
    return f"{text}\n{end}" if "--" in text.rpartition("\n")[2] else f"{text}{end}"


def _pause(scenario: DrawnScenario, place: int, tenths: Sequence[int]) -> Iterator[str]:
    """Commands that wait as long as the source's clients did: each tenth of the pauses is as
    likely, and within it each length."""
    taken = {one.name for statement in scenario.statements for one in statement.parameters}
    drawn, pause = (_free(f"{word}_{place}", taken) for word in ("tenth", "pause"))
    cases = " ".join(
        f"WHEN :{drawn} = {number} THEN random({low}, {max(low, high)})"
        for number, (low, high) in enumerate(pairwise(tenths))
    )
    yield f"\\set {drawn} random(0, {_TENTHS - 1})"
    yield f"\\set {pause} CASE {cases} END"
    yield f"\\sleep :{pause} us"


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
