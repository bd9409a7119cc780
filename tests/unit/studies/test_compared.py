"""What a page says of a study's run by hand is kept of that run; the rest is made of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from tools.studies.kept import RESULTS

from pgassay.studies.catalogue import names, study

FIGURE = re.compile(r"(?<![\w.])(\d{1,3}(?:[ \u202f]\d{3})+|\d+)(\.\d+)?")
COUNTED = 12
"""Whole numbers up to this are counts of things more often than figures."""
PER = (1, 100, 1000, 0.001, 1e-6)
"""A kept figure times this: a share in per cent, seconds in ms, bytes in kB or MB."""
KEPT = [name for name in names() if (RESULTS / f"{name}.json").is_file()]


def figures(kept: Any) -> Iterator[float]:
    """Every number, those in texts, too; of a change in per cent also how many times as much."""
    if isinstance(kept, dict):
        for name, value in kept.items():
            yield from figures(value)
            if name == "effect_pct":
                yield 1.0 + value / 100.0
    elif isinstance(kept, list):
        for value in kept:
            yield from figures(value)
    elif isinstance(kept, str):
        yield from (number(found) for found in FIGURE.finditer(kept))
    elif isinstance(kept, int | float) and not isinstance(kept, bool):
        yield abs(float(kept))


def number(found: re.Match[str]) -> float:
    return float(re.sub(r"[ \u202f]", "", found[0]))


def unit_of_its_last_digit(found: re.Match[str]) -> float:
    whole, decimals = re.sub(r"[ \u202f]", "", found[1]), (found[2] or ".")[1:]
    if decimals:
        return float(10.0 ** -len(decimals))
    return float(10.0 ** (len(whole) - len(whole.rstrip("0"))))


@pytest.mark.parametrize("name", KEPT)
def test_every_figure_that_is_compared_with_the_source_is_kept(name: str) -> None:
    texts = study(name).texts
    files = [RESULTS / f"{name}.{ending}" for ending in ("json", "traced")]
    known = [
        each
        for file in files
        if file.is_file()
        for each in figures(json.loads(file.read_text("utf-8")))
    ]
    known += figures([texts.found_by_source, texts.errors_of_source or "", texts.quick])
    missing = [
        found[0]
        for found in FIGURE.finditer(texts.compared or "")
        if found[2] or number(found) > COUNTED
        if not any(
            abs(each * per - number(found)) <= 0.5 * unit_of_its_last_digit(found) + 1e-9
            for each in known
            for per in PER
        )
    ]
    assert missing == []
