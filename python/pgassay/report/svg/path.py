"""Points in pixels → the data of an SVG path.

Enters: pixel coordinates, with NaN where there is a hole. Leaves: path data, of long series no more
than can be seen. Never: drops a highest or lowest value.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.float64]


def pieces(*coordinates: Pixels) -> Iterator[tuple[Pixels, ...]]:
    """Splits points at holes, where any coordinate is missing."""
    known = ~np.isnan(coordinates).any(axis=0)
    changes = np.flatnonzero(np.diff(known, prepend=False, append=False))
    for begin, end in changes.reshape(-1, 2).tolist():
        yield tuple(values[begin:end] for values in coordinates)


def thinned(x: Pixels, y: Pixels, most: int) -> tuple[Pixels, Pixels]:
    """Thins a line to about so many points; of each stretch first, lowest, highest and last
    stay."""
    if len(x) <= most:
        return x, y
    stretches = max(1, most // 4)
    width = (x[-1] - x[0]) / stretches or 1.0
    stretch = np.minimum(((x - x[0]) / width).astype(np.int64), stretches - 1)
    begins = np.r_[0, np.flatnonzero(np.diff(stretch)) + 1]
    ends = np.r_[begins[1:], len(x)]
    kept = [begins, ends - 1]
    for extreme in (np.minimum, np.maximum):
        reached = np.flatnonzero(y == np.repeat(extreme.reduceat(y, begins), ends - begins))
        kept.append(reached[np.searchsorted(reached, begins)])  # the first of each stretch
    places = np.unique(np.concatenate(kept))
    return x[places], y[places]


def path_data(x: Pixels, y: Pixels) -> str:
    """Writes a move and lines through the points, to a tenth of a pixel across and a hundredth
    up."""
    first, *rest = map("{:.1f} {:.2f}".format, x.tolist(), y.tolist())
    # A line to itself: with round ends a single point is a dot.
    return f"M{first}L" + " ".join(rest or [first])
