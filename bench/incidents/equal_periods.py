"""Two equal periods of a real server: `python -m bench.incidents.equal_periods OBSERVATION`.

Enters: an observation under a steady load. Leaves: as JSON, of the first half beside the second,
which figures differ by more than usual, and which one came nearest. Never: says that they differ.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pgassay.workflows.periods import compare_within


def main() -> None:
    """Prints what was found in an observation."""

    def halves(whole: tuple[int, int]) -> tuple[tuple[int, int], tuple[int, int]]:
        first, last = whole
        middle = (first + last) // 2
        return (first, middle), (middle, last)

    found = compare_within(Path(sys.argv[1]), halves, str).analysis
    largest = max(found.differences, key=lambda one: abs(one.times_usual or 0.0))
    said = {
        "seconds": [round(one.seconds) for one in found.periods],
        "figures": len(found.differences),
        "unusual": [f"{one.figure.name}/{one.figure.thing}" for one in found.unusual],
        "largest": f"{largest.figure.name}/{largest.figure.thing}",
        "times_usual": largest.times_usual,
    }
    print(json.dumps(said, indent=1))


if __name__ == "__main__":
    main()
