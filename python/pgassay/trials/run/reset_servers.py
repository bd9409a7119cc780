"""Every server of a trial, reset to the arm that it runs.

Enters: a planned trial, the plan, the opened target. Leaves: one `TrialServer`, or one for each arm
where the arms' servers run side by side. Never: runs the load.

Side by side, servers are reset in an order that moves on from trial to trial: the files of the last
one were copied last, so they are the best cached.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from pgassay.plan.model import Arm, Plan, PlannedTrial
from pgassay.refusals.refusal import TrialRefused
from pgassay.server.owned.several_targets import SeveralTargets
from pgassay.server.protocol import ResetReport, ServerFacts, Target
from pgassay.trials.run.testbeds import Testbeds


@dataclass(frozen=True)
class TrialServer:
    """A server that was reset for a trial."""

    arm: Arm
    """The arm it runs; in a switchback the one that stands for all."""
    target: Target
    facts: ServerFacts
    reset: ResetReport


def reset_servers(
    trial: PlannedTrial, plan: Plan, target: Target, testbeds: Testbeds, *, resumed: bool
) -> list[TrialServer]:
    """Resets the servers of a trial, returned in the order of the plan's arms; `resumed` asks for a
    fresh start."""
    if plan.side_by_side:
        return _reset_side_by_side(trial, plan, target, testbeds)
    arm = plan.arm(trial.arm)
    facts = target.choose(testbeds.of_arm[arm.id])
    restart = (resumed or plan.begins_plot(trial)) if plan.hard else None
    return [TrialServer(arm, target, facts, target.reset(arm.settings, arm.knobs, restart=restart))]


def _reset_side_by_side(
    trial: PlannedTrial, plan: Plan, target: Target, testbeds: Testbeds
) -> list[TrialServer]:
    if not isinstance(target, SeveralTargets):
        raise TrialRefused("not-side-by-side")
    if trial.directories:
        testbed_of = [testbeds.of_arm[arm.id] for arm in plan.arms]
        target.exchange(
            {
                testbeds.of_arm[arm]: testbed_of[number - 1]
                for arm, number in trial.directories.items()
            }
        )
    done: dict[str, TrialServer] = {}
    for arm in reset_order(trial, plan):
        testbed = testbeds.of_arm[arm.id]
        facts = target.choose(testbed)
        reset = target.reset(arm.settings, arm.knobs, restart=True)
        done[arm.id] = TrialServer(arm, target.server_of(testbed), facts, reset)
    return [done[arm.id] for arm in plan.arms]


def reset_order(trial: PlannedTrial, plan: Plan) -> tuple[Arm, ...]:
    """The last has the warmest caches. Lengths of slices change with every block, so the order
    changes with every second one: each length meets each order."""
    first = trial.block // 2 % len(plan.arms)
    return (*plan.arms[first:], *plan.arms[:first])


def describe_resets(
    trial: PlannedTrial, servers: list[TrialServer], testbeds: Testbeds
) -> dict[str, Any]:
    """Returns the `reset` object of trial.json."""
    first = servers[0]
    described = first.reset.described()
    where = {name: value for name, value in asdict(testbeds.of_arm[trial.arm]).items() if value}
    if where:
        described["ground"] = where | {"version": first.facts.version}
    if testbeds.side_by_side:
        described["duration_s"] = sum(one.reset.duration_s for one in servers)
        described["arms"] = {
            one.arm.id: {
                **one.reset.described(),
                "version": one.facts.version,
                "directory": trial.directories.get(one.arm.id, at),
            }
            for at, one in enumerate(servers, start=1)
        }
        described["sampled"] = first.arm.id
    return described
