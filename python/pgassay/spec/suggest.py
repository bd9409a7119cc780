"""The nearest right name, for every "unknown …" a user meets.

Enters: a wrong word and the right ones. Leaves: a short English clause, or nothing.
Never: guesses wildly; a far-off word gets the whole list where that is short.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(word: str, known: Iterable[str], *, list_up_to: int = 12) -> str:
    """`"; did you mean X?"`, else `"; known are A, B"` where there are few, else `""`."""
    names = sorted(set(known))
    by_lower = {name.lower(): name for name in names}
    near = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.7)
    if near:
        return f"; did you mean {by_lower[near[0]]}?"
    if 0 < len(names) <= list_up_to:
        return f"; known are {', '.join(names)}"
    return ""
