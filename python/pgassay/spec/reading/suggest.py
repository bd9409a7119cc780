"""Suggest the nearest known name after "unknown …".

Enters: the unknown word and the known names. Leaves: a short English clause, or nothing.
Never: suggests a name that is not similar; then a short list of known names is shown whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_FEW = 3


def slip_of(word: str, known: Iterable[str]) -> str:
    """Returns the known name that the word differs from by a letter or so, or an empty text."""
    near = get_close_matches(word.lower(), list(known), n=1, cutoff=0.9)
    return near[0] if near else ""


def did_you_mean(word: str, known: Iterable[str], *, list_up_to: int = 12) -> str:
    """Returns `"did you mean X?"`, also of the few names that contain the word, or `"known are A,
    B"` where few are known, or an empty text."""
    names = sorted(set(known))
    by_lower = {name.lower(): name for name in names}
    near = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.7)
    if near:
        return f"did you mean {by_lower[near[0]]}?"
    holding = [name for name in names if word and word.lower() in name.lower()]
    if 0 < len(holding) <= _FEW:
        return f"did you mean {' or '.join(holding)}?"
    if 0 < len(names) <= list_up_to:
        return f"known are {', '.join(names)}"
    return ""
