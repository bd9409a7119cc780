"""The stretches of a curve whose band excludes zero, in words.

Enters: effects with a simultaneous band. Leaves: text. Never: computes a band.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pgassay.analysis.statistics.values import Interval
from pgassay.findings.wording import signed_percent


def clear_ranges(
    effects: Sequence[float],
    bands: Sequence[Interval | None],
    margin: float,
    where: Callable[[int, int], str],
) -> tuple[str, bool]:
    """Neighbouring points that clearly differ the same way, in words; whether that is all points.

    A difference that is surely within ± the margin is left out, however clear it is.
    """
    signs = [
        0 if b is None or -margin < b[0] <= b[1] < margin else (b[0] > 0.0) - (b[1] < 0.0)
        for b in bands
    ]
    parts = []
    begin = 0
    for at in range(1, len(signs) + 1):
        if at < len(signs) and signs[at] == signs[begin]:
            continue
        if signs[begin]:
            least, most = min(effects[begin:at], key=abs), max(effects[begin:at], key=abs)
            sizes = dict.fromkeys((signed_percent(least), signed_percent(most)))
            way = "higher" if signs[begin] > 0 else "lower"
            parts.append(f"{way} {where(begin, at - 1)} ({' to '.join(sizes)})")
        begin = at
    return ", ".join(parts), len(set(signs)) == 1 and bool(parts)
