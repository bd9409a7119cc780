"""What a run can be expected to find, from earlier runs on this host.

Enters: a spec and its plan. Leaves: lines, or an object for machines.
Never: fails; where nothing is known, others' experience is told as such.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.console import Console

from pgassay.analysis.experience import Expectation, expect
from pgassay.cli.console import plain
from pgassay.findings.calibration import expectation_lines
from pgassay.plan.model import Plan
from pgassay.samples.noise_memory import remembered_noise
from pgassay.spec.parse import Spec


def expectation_of(spec: Spec, plan: Plan) -> Expectation | None:
    """By what is remembered on this machine."""
    return expect(spec, plan, remembered_noise())


def print_expectation(console: Console, found: Expectation | None, plan: Plan) -> None:
    """A few lines, nothing where there is nothing to compare."""
    for label, sentence in expectation_lines(found, plan):
        console.print(f"{label:<9} {plain(sentence)}")


def expectation_to_json(found: Expectation | None) -> dict[str, Any]:
    """For `pgassay plan --json`."""
    return {"expected": None if found is None else asdict(found)}
