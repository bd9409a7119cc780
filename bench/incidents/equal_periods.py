"""Two equal periods of a real server: `python -m bench.incidents.equal_periods OBSERVATION`.

Enters: an observation under a steady load. Leaves: as JSON, of the first half beside the second,
how many figures differ by more than usual, and what is listed first. Never: says that they differ.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pgassay.workflows.periods import compare_within

_SHOWN = 5


def main() -> None:
    """Prints what was found in an observation."""

    def halves(whole: tuple[int, int]) -> tuple[tuple[int, int], tuple[int, int]]:
        first, last = whole
        middle = (first + last) // 2
        return (first, middle), (middle, last)

    found = compare_within(Path(sys.argv[1]), halves, str).analysis
    listed = [*found.unusual, *(one for one in found.differences if not one.is_unusual)]
    shown = [
        {
            "figure": one.figure.name,
            "of": one.figure.thing,
            "change_pct": one.change_pct,
            "times_usual": one.times_usual,
            "unusual": one.is_unusual,
        }
        for one in listed[:_SHOWN]
    ]
    figures, unusual = len(found.differences), len(found.unusual)
    seconds = [one.seconds for one in found.periods]
    print(
        json.dumps(
            {"seconds": seconds, "figures": figures, "unusual": unusual, "first": shown}, indent=1
        )
    )


if __name__ == "__main__":
    main()
