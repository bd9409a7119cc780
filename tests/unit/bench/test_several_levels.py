"""Simulated levels have the effects they should, and dropped arms have no further trials."""

from __future__ import annotations

import math

import pytest
from bench.validate.whole_trials.adverse.several_levels import PART, do, effects

pytestmark = pytest.mark.slow


def test_levels_have_the_effects_that_a_row_names() -> None:
    gain = math.log1p(0.02)
    assert effects((4, "no effect")) == [0.0, 0.0, 0.0]
    assert effects((8, "one level has 2 %")) == [gain, *[0.0] * 6]
    assert effects((4, "half of them have")) == [gain, -gain, 0.0]


@pytest.mark.parametrize(
    "name", [pytest.param("no effect", marks=pytest.mark.heavy), "half of them have"]
)
def test_levels_that_share_their_error_are_rarely_wrong_and_need_fewer_trials(name: str) -> None:
    found = do(((4, name), 0))
    assert found["different"] <= 0.12 * PART
    assert found["equivalent"] <= 0.12 * PART
    assert found["hold"] >= 0.93 * 3 * PART
    assert found["trials"] < 73 * PART
