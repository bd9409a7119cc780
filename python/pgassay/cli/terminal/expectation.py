"""What a run can be expected to find, before it begins.

Enters: a spec and its plan. Leaves: the plan with its times, an expectation from earlier runs on
this host, and its lines on stdout. Never: estimates.
"""

from __future__ import annotations

from pgassay.analysis.noise.prior_runs import Expectation, conditions_of, expect, timed
from pgassay.cli.terminal.console import labelled
from pgassay.findings.noise.forecast import expectation_lines
from pgassay.plan.model import Plan
from pgassay.samples.noise_history import noise_records
from pgassay.spec.experiment import Spec


def timed_here(spec: Spec, plan: Plan) -> Plan:
    """Returns the plan with the times that earlier runs on this host took."""
    return timed(plan, conditions_of(spec), noise_records())


def expectation_of(spec: Spec, plan: Plan) -> Expectation | None:
    """Returns what a run can be expected to find, from earlier runs on this host."""
    return expect(conditions_of(spec), plan, noise_records())


def print_expectation(found: Expectation | None, plan: Plan) -> None:
    """Prints the expectation in a few lines; nothing where there is nothing to compare."""
    for label, sentence in expectation_lines(found, plan):
        labelled(f"{label:<9} ", str(sentence))
