"""Servers of a fleet: the small form of `make validate`."""

from __future__ import annotations

import pytest
from bench.validate.whole_trials.server_errors import APART, PART, SAME, World, simulate

pytestmark = pytest.mark.slow


def one_of(worlds: tuple[World, ...], effects: tuple[float, ...], blocks: int) -> World:
    return next(w for w in worlds if (w.effects, w.blocks) == (effects, blocks))


def test_the_same_effect_is_rarely_said_to_depend_on_the_server() -> None:
    found = simulate((one_of(SAME, (0.05, 0.05), 8), 0))
    # Seeded, so the same every time; the bound is what one honest run in ten thousand passes.
    assert found["depends"] <= 0.15 * PART
    assert found["missed"] <= 0.15 * PART


def test_an_effect_that_only_one_server_has_is_found() -> None:
    assert simulate((one_of(APART, (0.0, 0.0, 0.0, 0.1), 12), 0))["depends"] >= 0.95 * PART


def test_effects_that_differ_by_what_matters_are_rarely_said_to_agree() -> None:
    assert simulate((one_of(APART, (0.05, 1.05 * 1.02 - 1.0), 24), 0))["agrees"] <= 0.15 * PART
