"""Gates on the command line: read before anything begins, settled after everything is reported.

Enters: what --gate and --gate-undecided were given, outcomes. Leaves: gates, warnings, an error
that carries the exit status. Never: decides an outcome.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pgassay.analysis.gates.fit import refuse_unnamed
from pgassay.analysis.gates.grammar import parse_gates
from pgassay.analysis.gates.model import GateOutcome, GateResult
from pgassay.cli.terminal.console import one_line, warn
from pgassay.findings.answer.gates import gate_lines
from pgassay.plan.model import Gate, Plan
from pgassay.refusals.refusal import GateOpen, GateRefused, SetupRefused


def gates_of(texts: Sequence[str] | None, *, only: bool = False) -> tuple[Gate, ...]:
    """Returns the gates that the command line names; `only` where they alone end the run."""
    if only and not texts:
        raise SetupRefused("gates-only-without-gate")
    return parse_gates(texts or ())


def refuse_without_comparison(gates: Sequence[Gate], plan: Plan, of: Path) -> None:
    """Refuses gates for a run of one arm or an A/A run, which compares nothing, and gates on what
    the run does not have."""
    if gates and plan.calibrates:
        raise SetupRefused("gate-of-identical-arms", str(of))
    if gates and plan.describes:
        raise SetupRefused("gate-of-described", str(of))
    if gates and not plan.factors:
        raise SetupRefused("gate-of-nothing-varied", str(of))
    refuse_unnamed(gates, plan)


def refuse_other_gates(gates: Sequence[Gate], plan: Plan, of: Path) -> None:
    """Refuses other gates than those that the run was begun with, by which it ends."""
    if gates and set(gates) != set(plan.gates):
        begun = " ".join(f'--gate "{one.text}"' for one in plan.gates) or "no --gate"
        raise SetupRefused("gates-of-the-run", str(of), begun=begun)


def settle(results: Sequence[GateResult], undecided: str) -> None:
    """End with 3 where a gate failed, with 4 where one is undecided and that is to fail.

    A metric that is worse by its verdict never passes without a line. A gate that was on nothing
    ends with 4 always.
    """
    failed, opened = (
        [one_line(str(line.sentence)) for line in gate_lines(results) if line.outcome is wanted]
        for wanted in (GateOutcome.FAILED, GateOutcome.UNDECIDED)
    )
    if failed:
        raise GateRefused("gate-failed", first=failed[0], more=_more(failed))
    absent, worse = (
        [one_line(str(line.sentence)) for line in gate_lines(some)]
        for some in ([one for one in results if not one.checks], _only_worse(results))
    )
    if undecided == "pass":
        for text in worse:
            warn(f"gate undecided: {text}")
    demanded = {"pass": absent, "fail": opened}.get(undecided, [*absent, *worse])
    if demanded:
        raise GateOpen("gate-undecided", first=demanded[0], more=_more(demanded))


def _only_worse(results: Sequence[GateResult]) -> list[GateResult]:
    """The checks that are undecided while the metric is worse by its verdict."""
    found = (
        replace(one, checks=tuple(check for check in one.checks if check.is_worse))
        for one in results
    )
    return [one for one in found if one.checks]


def _more(lines: Sequence[str]) -> str:
    return f"; and {len(lines) - 1} more" if lines[1:] else ""
