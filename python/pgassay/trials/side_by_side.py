"""The servers of a trial in which each arm has one of its own, all up at the same time.

Enters: a planned trial, what its run has in common. Leaves: every server reset to its arm; one that
is watched beside the first, and what it says when the load is over. Never: runs the load.

Servers are reset in an order that moves on from trial to trial, for the last one's files were
copied last and are the best cached. All are sampled, so that none of them pays for it alone; what
is stored are the samples of the first arm's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pgassay import _core
from pgassay.errors import TrialError
from pgassay.plan.model import Arm, Plan, PlannedTrial
from pgassay.spec.arms import spec_of_arm
from pgassay.spec.parse import Spec
from pgassay.target.placement import Place
from pgassay.target.protocol import ConnectionParameters, ResetReport, ServerFacts, Target
from pgassay.target.session import told_as_target_error
from pgassay.target.several import SeveralTargets
from pgassay.trials.checkpoints import checkpoints_in_counters
from pgassay.trials.client_side import as_the_client
from pgassay.trials.drained import Drained
from pgassay.trials.grounds import Grounds
from pgassay.trials.guards import Remark
from pgassay.trials.queries import extensions_in
from pgassay.trials.sameness import SamenessWatch
from pgassay.trials.sampling import open_sampler
from pgassay.trials.server_log.reader import ServerLog
from pgassay.trials.thresholds import Limits


@dataclass(frozen=True)
class ArmServer:
    """An arm's own server, reset for a trial."""

    arm: Arm
    target: Target
    """The server by itself."""
    facts: ServerFacts
    reset: ResetReport

    def described(self) -> dict[str, Any]:
        """For trial.json."""
        return {**asdict(self.reset), "version": self.facts.version}


def reset_side_by_side(
    trial: PlannedTrial, plan: Plan, grounds: Grounds, target: Target
) -> tuple[ArmServer, ...]:
    """The servers of all arms, in the order of the plan's arms."""
    if not isinstance(target, SeveralTargets):
        raise TrialError("only servers of pgassay's own can run side by side")
    done: dict[str, ArmServer] = {}
    for arm in reset_order(trial, plan):
        ground = grounds.of_arm[arm.id]
        facts = target.choose(ground)
        reset = target.reset(arm.levels_of("postgres"), arm.levels_of("host"), restart=True)
        done[arm.id] = ArmServer(arm, target.standing_on(ground), facts, reset)
    return tuple(done[arm.id] for arm in plan.arms)


def reset_order(trial: PlannedTrial, plan: Plan) -> tuple[Arm, ...]:
    """The last has the warmest caches. Lengths of slices change with every block, so the order
    does with every second: each length goes with every order."""
    first = trial.block // 2 % len(plan.arms)
    return (*plan.arms[first:], *plan.arms[:first])


def connections_of(servers: Sequence[ArmServer], spec: Spec) -> dict[str, ConnectionParameters]:
    """Arm → where the load's clients of that arm connect, and with which settings."""
    return {
        one.arm.id: as_the_client(
            one.target.parameters(), spec_of_arm(spec, one.arm.by_kind).file.load
        )
        for one in servers
    }


class WatchedBeside:
    """A server other than the first arm's, watched by the same guards."""

    def __init__(self, server: ArmServer, limits: Limits) -> None:
        """Looks at it before the load opens its connections."""
        self._server = server
        target, facts = server.target, server.facts
        self._watch = SamenessWatch(target, facts, limits)
        address = target.parameters().host
        self._log = ServerLog(target.connect, address, facts.log_file, machine=target.host())
        with told_as_target_error("looking at the server"), target.connect() as session:
            self._extensions = extensions_in(session)
        self._sampler: _core.Sampler | None = None
        self._samples: Drained | None = None

    @property
    def postmaster(self) -> int | None:
        """Its process id on the host."""
        return self._watch.postmaster

    def sample(self, load: _core.Load | None, place: Place | None, waits_every_s: float) -> None:
        """Begin to sample it, as the first arm's server is sampled; the host is sampled once."""
        server = self._server
        self._sampler, _ = open_sampler(
            server.target.parameters(),
            server.facts.version_num,
            load=load,
            extensions=self._extensions,
            place=place,
            waits_every_s=waits_every_s,
        )
        self._samples = Drained(self._sampler)

    def look(self) -> None:
        """To be called often while the load runs."""
        if self._samples is not None:
            self._samples.look()

    def stop(self) -> None:
        """End its sampling."""
        if self._sampler is not None:
            self._sampler.stop()

    def warnings(self) -> list[str]:
        """What could not be read of this server, with the arm's name before it."""
        told = [] if self._sampler is None else self._sampler.warnings()
        return [f"{self._server.arm.label}: {text}" for text in told]

    def crash(self) -> str:
        """The log's words of a process that ended by a signal; empty where none did."""
        return self._log.read().crash

    def remarks(self, spec: Spec, result: Mapping[str, Any]) -> list[Remark]:
        """What the guards say, with the arm's name before it."""
        arm, samples = self._server.arm, self._samples
        if samples is None:
            return []
        samples.take()
        counters = samples.counters_of("checkpointer", "wal_position", "progress")
        checkpoints = checkpoints_in_counters(counters)
        own = spec_of_arm(spec, arm.by_kind)
        waits = samples.each_wait()
        found = self._watch.remarks(own, arm, result, waits, counters, checkpoints)
        return [
            Remark(one.guard, one.grade, f"{arm.label}: {one.text}")
            for one in found
            if one.guard not in _OF_THE_HOST
        ]


_OF_THE_HOST = frozenset(
    ("host-knobs", "foreign-cpu", "steal", "throttled", "disk", "clock-step", "server-clock-step",
     "host-unseen")
)  # fmt: skip
"""Guards that have said so already of the first arm's server."""
