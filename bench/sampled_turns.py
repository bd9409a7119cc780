"""One long load beside which an experiment's samplers come and go by turns.

Enters: a server and a shape of load. Leaves: throughput with them against without, round by round,
and the processor time of the samplers and of the sessions that answer them. Never: counts the time
in which they open or close their sessions.

Runs of seconds one after another differ by far more than one per cent; turns of a second inside
one load have the same neighbours.
"""

from __future__ import annotations

import json
import math
import random
import time
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from bench import machine
from bench.processes import Shape, configuration
from bench.server import Server
from pgassay import _core
from pgassay.target.session import connect
from pgassay.trials.host_sources import HostSources
from pgassay.trials.sampling import APPLICATION_NAME, open_sampler

_TURN_S, _CUT_S, _WARMUP_S, _INTERVAL_S = 1.5, 0.3, 3.0, 0.1
_SESSIONS = "SELECT pid FROM pg_stat_activity WHERE application_name = %s"


@dataclass(frozen=True)
class Turns:
    """What came of one load."""

    shape: Shape
    rounds: int
    ratio: float
    low: float
    high: float
    """Geometric mean over rounds of throughput with samplers against without; its 95 % interval."""
    own_share: float
    """Processors that the samplers' threads used."""
    session_share: float
    """Processors that their sessions in the server used."""


@dataclass(frozen=True)
class _Turn:
    number: int
    sampled: bool
    start_ns: int
    end_ns: int


def take_turns(server: Server, scenario: str, clients: int, rounds: int) -> Turns:
    """Run the load and let samplers come and go beside it; raises RuntimeError if it ends early."""
    length_s = rounds * 2 * (_TURN_S + 0.25) + 2 * _WARMUP_S
    shape = replace(Shape(scenario, clients, length_s), interval_s=_INTERVAL_S)
    sources, order = server.sources(), random.Random(1)
    load = _core.Load(json.dumps(configuration(server, shape, "auto")))
    machine.wait_for_quiet()
    load.connect()
    load.start()
    time.sleep(_WARMUP_S)
    turns: list[_Turn] = []
    own_s = session_s = 0.0
    for number in range(rounds):
        for sampled in order.sample((True, False), 2):
            used = _sampled_turn(server, sources, load) if sampled else (0.0, 0.0)
            if not sampled:
                time.sleep(_TURN_S)
            own_s, session_s = own_s + used[0], session_s + used[1]
            now = _core.now_ns()
            begun = now - int(_TURN_S * 1e9)
            turns.append(_Turn(number, sampled, begun + int(_CUT_S * 1e9), now))
    if load.wait(0.0):
        raise RuntimeError("the load ended before the last turn")
    load.stop()
    while not load.wait(60.0):
        pass
    logs = _logs_of_ratios(load, turns)
    mean, error = float(np.mean(logs)), float(stats.sem(logs))
    reach = float(stats.t.ppf(0.975, len(logs) - 1)) * error
    seconds = rounds * _TURN_S
    return Turns(
        shape,
        rounds,
        math.exp(mean),
        math.exp(mean - reach),
        math.exp(mean + reach),
        own_s / seconds,
        session_s / seconds,
    )


def _sampled_turn(server: Server, sources: HostSources, load: _core.Load) -> tuple[float, float]:
    """One turn with samplers: what their threads and what their sessions used of processors, in
    seconds."""
    sampler, _ = open_sampler(server.parameters, server.facts.version_num, load=load, host=sources)
    try:
        with connect(server.parameters) as session:
            rows = session.execute(_SESSIONS, (APPLICATION_NAME,)).fetchall()
        pids = [int(row[0]) for row in rows]
        before = sum(machine.process_s(pid) for pid in pids)
        own = float(json.loads(sampler.cost())["cpu_s"])
        time.sleep(_TURN_S)
        served = sum(machine.process_s(pid) for pid in pids) - before
        return float(json.loads(sampler.cost())["cpu_s"]) - own, served
    finally:
        sampler.stop()


def _logs_of_ratios(load: _core.Load, turns: list[_Turn]) -> list[float]:
    intervals = load.intervals()
    starts = np.array(intervals["start_ns"])
    done = np.array(intervals["transactions"])
    seen: dict[tuple[int, bool], float] = {}
    for turn in turns:
        inside = (starts >= turn.start_ns) & (starts + int(_INTERVAL_S * 1e9) <= turn.end_ns)
        seen[turn.number, turn.sampled] = float(done[inside].mean())
    return [
        math.log(seen[number, True] / seen[number, False])
        for number in sorted({turn.number for turn in turns})
    ]
