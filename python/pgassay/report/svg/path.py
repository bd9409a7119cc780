"""Points in pixels → the data of an SVG path.

Enters: pixel coordinates with holes. Leaves: path data, of long series no more than can be seen.
Never: drops a highest or lowest value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

Point = tuple[float, float]


def pieces(points: Iterable[tuple[float, float | None]]) -> list[list[Point]]:
    """The runs of points between holes."""
    return [
        [(x, y) for x, y in run if y is not None]
        for is_hole, run in groupby(points, key=lambda point: point[1] is None)
        if not is_hole
    ]


def thinned(points: Sequence[Point], most: int) -> Sequence[Point]:
    """At most about so many points: of each stretch the first, lowest, highest and last stay."""
    if len(points) <= most:
        return points
    left, right = points[0][0], points[-1][0]
    stretches = max(1, most // 4)
    width = (right - left) / stretches or 1.0
    kept: list[Point] = []
    for _, run in groupby(
        points, key=lambda point: min(int((point[0] - left) / width), stretches - 1)
    ):
        own = list(enumerate(run))
        places = {
            own[0][0],
            own[-1][0],
            min(own, key=lambda one: one[1][1])[0],
            max(own, key=lambda one: one[1][1])[0],
        }
        kept += [own[place][1] for place in sorted(places)]
    return kept


def path_data(runs: Iterable[Sequence[Point]]) -> str:
    """Absolute moves and lines, to a tenth of a pixel across and a hundredth up."""
    return "".join(_run(run) for run in runs if run)


def _run(run: Sequence[Point]) -> str:
    (x, y), *rest = run
    # A line to itself: with round ends a single point is a dot.
    after = rest or [(x, y)]
    return f"M{x:.1f} {y:.2f}L" + " ".join(f"{a:.1f} {b:.2f}" for a, b in after)
