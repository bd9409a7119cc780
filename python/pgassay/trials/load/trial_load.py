"""Chooses the load of a trial: the engine's scripts, a trace, or a user's program.

Enters: a planned trial, what its run has in common. Leaves: a `TrialLoad`, its connections open.
Never: starts it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, cast

from pgassay import _core
from pgassay.plan.model import Plan, PlannedTrial
from pgassay.plan.steps import steps_of
from pgassay.refusals.refusal import TrialRefused
from pgassay.server.hosts.placement import NOWHERE, Placement
from pgassay.server.protocol import ConnectionParameters
from pgassay.spec.arms import spec_of_arm
from pgassay.spec.experiment import Spec, Writes
from pgassay.spec.load.of_queries import FEWEST, counted_of
from pgassay.spec.load.replayed import trace_of
from pgassay.spec.load.table import LoadTable
from pgassay.trials.load.engine import LoadRequest, as_the_client
from pgassay.trials.load.engine_load import EngineLoad
from pgassay.trials.load.group import Generators, OnThisMachine
from pgassay.trials.load.program.load import CommandLoad, CommandRequest
from pgassay.trials.load.slices import PARTS, slices_of
from pgassay.trials.model.columns import PackedTables
from pgassay.trials.model.record import Columns

_ANSWERS_IN = 2
"""Blocks in which the answers of rewritten queries are compared: two tell whether they vary."""
ALONE_BUSY_POLL_S = 50e-6
"""Longer than a backend takes for a row by its key, shorter than one that waits for a disk."""


NOTHING_HIDDEN: Mapping[str, bytes] = {}


class TrialLoad(Protocol):
    """A load that a trial runs once."""

    native: _core.Load | None
    """The engine's load, whose connections the sampler tags."""

    leading_bits: int | None
    """Of a latency, so many bits decide its bucket; None where latencies are exact."""

    backends: frozenset[int]
    """The server's processes of its connections, as far as they are known."""

    placed: Mapping[str, str]
    """Where its threads or processes ran, once it has run; empty where no place was asked for."""

    @property
    def kept(self) -> tuple[Path, ...]:
        """The files of the load that are moved into the trial's folder."""

    def run(
        self, watch: Callable[[Mapping[str, Any]], None], own_transactions: Callable[[], int]
    ) -> dict[str, Any]:
        """Runs the load to its end and returns the object of `Load.result`."""

    def intervals(self) -> Columns:
        """Returns the columns of `Load.intervals`."""

    def stored(self) -> dict[str, Any]:
        """Returns what a `TrialRecord` has of this kind of load alone, by field."""


class ArmsAtOnce(Protocol):
    """A load that has run several arms."""

    def of_arm(
        self, arm: str, waits: PackedTables
    ) -> tuple[dict[str, Any], Columns, dict[str, Any]]:
        """Returns what `run`, `intervals` and `stored` return, of one arm, with its own of all
        waits."""


def open_trial_load(
    trial: PlannedTrial,
    whole: Spec,
    plan: Plan,
    servers: Mapping[str, ConnectionParameters],
    output: Callable[[int], Path],
    placement: Placement,
    generators: Generators,
    beside: Sequence[PlannedTrial] = (),
    hides: Mapping[str, bytes] = NOTHING_HIDDEN,
) -> TrialLoad:
    """Opens the load of one trial, or of all trials of a block that are carried out at once;
    `output` makes the folder of a trial's own files.

    `beside` are the others of those. `servers` are those of the trial by arm: one alone, or one for
    each arm. `hides` is the SQL, by arm, that its transactions begin with. Raises GeneratorLost.
    """
    clients = {
        arm: as_the_client(server, spec_of_arm(whole, plan.arm(arm).by_kind).file.load)
        for arm, server in servers.items()
    }
    spec = spec_of_arm(whole, plan.arm(trial.arm).by_kind)
    connection = as_the_client(next(iter(servers.values())), spec.file.load)
    if spec.file.load.replay is not None:
        return _open_replay(spec, connection, placement)
    if spec.file.workload.queries is not None:
        return _open_queries([trial, *beside], whole, plan, servers, placement, hides)
    if spec.file.load.command is None:
        of_arms = clients if plan.side_by_side else None
        asked = replace(engine_request(trial, whole, plan, placement), servers=of_arms)
        dsn = spec.file.target.dsn or ""
        return EngineLoad(asked, connection, generators, dsn=dsn, place=placement.client)
    folder = output(trial.number)
    variables = {
        "PGASSAY_SEED": str(plan.trial_seed(trial.block)),
        "PGASSAY_TRIAL": str(trial.number),
        "PGASSAY_BLOCK": str(trial.block),
        "PGASSAY_ARM": trial.arm,
        "PGASSAY_SCALE": str(spec.file.workload.scale),
        "PGASSAY_OUTPUT": str(folder),
    }
    request = CommandRequest(
        load=spec.file.load,
        steps=plan.steps_in(trial.block),
        folder=spec.folder,
        output=folder,
        variables=variables,
    )
    return CommandLoad(request, connection, placement.client)


def _open_replay(spec: Spec, connection: ConnectionParameters, placement: Placement) -> TrialLoad:
    # Loads of scripts do without what reads traces.
    from pgassay.trials.load.replay_load import ReplayLoad, ReplayRequest

    load = spec.file.load
    trace = trace_of(load, spec.folder)
    if trace.facts != spec.trace:
        raise TrialRefused("trace-changed", "load.replay", path=trace.path)
    request = ReplayRequest(
        trace, load.speed, load.interval, load.time_limit, _busy_poll_s(load, placement)
    )
    return ReplayLoad(request, connection, placement.client)


def _open_queries(
    trials: Sequence[PlannedTrial],
    whole: Spec,
    plan: Plan,
    servers: Mapping[str, ConnectionParameters],
    placement: Placement,
    hides: Mapping[str, bytes],
) -> TrialLoad:
    # Loads of scripts do without what reads rows of parameters.
    from pgassay.trials.load.query_set.load import QueryLoad, QueryRequest
    from pgassay.trials.load.query_set.runner import ArmQueries
    from pgassay.trials.load.query_set.texts import sent

    arms = [plan.arm(one.arm) for one in trials]
    specs = [spec_of_arm(whole, arm.by_kind) for arm in arms]
    load = specs[0].file.load
    every = (one.name for one in specs[0].workload.scenarios)
    repeats = trials[0].queries or dict.fromkeys(every, counted_of(load) or FEWEST)
    request = QueryRequest(
        arms=[
            ArmQueries(
                arm.id,
                {one.name: sent(one) for one in spec.workload.scenarios if one.name in repeats},
                arm.session_settings,
                hides.get(arm.id, b""),
            )
            for arm, spec in zip(arms, specs, strict=True)
        ],
        scenarios=[one for one in specs[0].workload.scenarios if one.name in repeats],
        clients=load.clients[0],
        repeats=repeats,
        timeout_s=load.timeout,
        is_warm=load.caches == "warm",
        reads_only=whole.file.loads_existing,
        seed=plan.trial_seed(trials[0].block),
        explains_output=not whole.file.factors.target.servers(),
        answers=_rewritten(whole, plan) if trials[0].block <= _ANSWERS_IN else (),
    )
    (server,) = servers.values()
    return QueryLoad(request, as_the_client(server, whole.file.load), placement.client)


def _rewritten(whole: Spec, plan: Plan) -> frozenset[str]:
    """The queries whose text is not the same in all arms."""
    texts = [
        {one.name: one.script for one in spec_of_arm(whole, arm.by_kind).workload.scenarios}
        for arm in plan.arms
    ]
    return frozenset(name for name in texts[0] if len({one[name] for one in texts}) > 1)


def open_writes(
    trial: PlannedTrial,
    whole: Spec,
    plan: Plan,
    server: ConnectionParameters,
    placement: Placement,
) -> EngineLoad:
    """Opens the writes that a trial of a query set, which has some, runs last."""
    spec = spec_of_arm(whole, plan.arm(trial.arm).by_kind)
    writes = cast(Writes, spec.writes)
    asked = LoadRequest(
        scenarios=writes.scenarios,
        steps=steps_of(writes.load),
        variables={"scale": spec.file.workload.scale},
        seed=plan.trial_seed(trial.block),
        threads=writes.load.threads,
        protocol=writes.load.protocol,
        max_tries=writes.load.max_tries,
    )
    connection = as_the_client(server, spec.file.load)
    return EngineLoad(asked, connection, OnThisMachine(), place=placement.client)


def engine_request(
    trial: PlannedTrial, whole: Spec, plan: Plan, placement: Placement = NOWHERE
) -> LoadRequest:
    """Returns what one trial asks of the engine; only what the file's user wrote is passed on."""
    spec = spec_of_arm(whole, plan.arm(trial.arm).by_kind)
    load = spec.file.load
    given = load.model_fields_set
    limit = load.latency_limit
    slices, scenarios, interval_s = load.slices, spec.workload.scenarios, load.interval
    if trial.slice_s is not None:
        slices, scenarios = slices_of(trial, whole, plan)
        interval_s = trial.slice_s / PARTS
    return LoadRequest(
        scenarios=scenarios,
        steps=plan.steps_in(trial.block),
        variables={"scale": spec.file.workload.scale},
        seed=plan.trial_seed(trial.block),
        threads=load.threads,
        protocol=load.protocol,
        interval_s=interval_s,
        arrivals=load.arrivals if "arrivals" in given else None,
        latency_limit_ms=None if limit is None else limit * 1e3,
        pools=load.pools if "pools" in given else None,
        think_time=load.think_time,
        max_tries=load.max_tries if "max_tries" in given else None,
        reconnect=load.reconnect if "reconnect" in given else None,
        allow_shell=True if load.allow_shell else None,
        transport=load.transport if "transport" in given else None,
        busy_poll_s=_busy_poll_s(load, placement),
        slices=slices,
    )


def _busy_poll_s(load: LoadTable, placement: Placement) -> float | None:
    """As the file says; else threads that have CPUs to themselves poll between answers."""
    if load.busy_poll is not None:
        return load.busy_poll
    client = placement.client
    cpus = client.cpus if client and placement.keeps_client_alone else None
    return ALONE_BUSY_POLL_S if cpus and load.threads <= len(cpus) else None
