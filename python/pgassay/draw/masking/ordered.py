"""Other texts of the same lengths, in the same order, with the same common beginnings.

Enters: texts. Leaves: text → its replacement. Never: gives two texts the same replacement.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from os.path import commonprefix
from random import Random

Draw = Callable[[Sequence[str]], Sequence[str]]
"""Gives as many characters as it gets, in rising order both."""

_LETTERS = (
    string.ascii_lowercase,
    string.digits + string.ascii_lowercase,
    string.digits + string.ascii_uppercase + string.ascii_lowercase,
)
_BEYOND = 0x4E00
"""The first of 20 000 letters, for places where more than 62 different ones stand."""
_HEX = "0123456789abcdef"


def letters(random: Random) -> Draw:
    """Draws letters for any characters; lower-case ones where those suffice."""

    def draw(given: Sequence[str]) -> Sequence[str]:
        fitting = (one for one in _LETTERS if len(one) >= len(given))
        alphabet = next(fitting, None) or "".join(map(chr, range(_BEYOND, _BEYOND + 20_000)))
        if len(alphabet) < len(given):
            alphabet = "".join(given)
        return _sample(alphabet, len(given), random)

    return draw


def hex_digits(random: Random) -> Draw:
    """Draws hexadecimal digits for those; other characters stay."""

    def draw(given: Sequence[str]) -> Sequence[str]:
        digits = [one for one in given if one in _HEX]
        return given if len(digits) < len(given) else _sample(_HEX, len(given), random)

    return draw


def decimals(random: Random) -> Draw:
    """Draws the digits behind a decimal point; 0 stays, so that 2 and 2.0 stay equal."""

    def draw(given: Sequence[str]) -> Sequence[str]:
        zeros = [one for one in given if one == "0"]
        return [*zeros, *_sample("123456789", len(given) - len(zeros), random)]

    return draw


def _sample(alphabet: str, count: int, random: Random) -> list[str]:
    if count == 1:
        return [random.choice(alphabet)]
    return [alphabet[place] for place in sorted(random.sample(range(len(alphabet)), count))]


def ordered(texts: Iterable[str], draw: Draw) -> Mapping[str, str]:
    """Returns a replacement for each text, of the same number of characters."""
    found: dict[str, str] = {}
    waiting = [(sorted(set(texts)), "")]
    while waiting:
        group, begun = waiting.pop()
        shared = commonprefix([group[0], group[-1]]) if group else ""  # noqa: RUF071 - of letters
        begun += "".join(draw([one])[0] for one in shared[len(begun) :])
        depth = len(begun)
        if group and len(group[0]) == depth:
            found[group[0]] = begun
            group = group[1:]
        branches = [(at, list(own)) for at, own in groupby(group, itemgetter(depth))]
        drawn = draw([at for at, _ in branches])
        for (_, own), letter in zip(branches, drawn, strict=True):
            waiting.append((own, begun + letter))
    return found
