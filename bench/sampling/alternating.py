"""One long load during which an experiment's samplers are switched on and off.

Enters: a server and a shape of load. Leaves: throughput with them against without, round by round,
and the processor time of the samplers and of the sessions that answer them. Never: counts the time
in which they resume.

Runs of seconds one after another differ by far more than one per cent; turns of two seconds inside
one load have the same neighbours. The samplers keep their sessions: in a run of minutes opening
them and planning their queries is no cost, in a turn it would be most of it.
"""

from __future__ import annotations

import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from bench import machine
from bench.engine.processes import Shape, configuration, for_samplers
from bench.server import Server
from bench.tables import mean_ratio
from pgassay import _core
from pgassay.server.connection.session import connect
from pgassay.server.protocol import SAMPLER_NAME

_TURN_S, _CUT_S, _WARMUP_S, _INTERVAL_S = 2.25, 0.25, 3.0, 0.05
"""A turn holds two readings of what is read each second, and the late one that is cut."""
_SESSIONS = "SELECT pid FROM pg_stat_activity WHERE application_name = %s"


@dataclass(frozen=True)
class Turns:
    """The results of one load."""

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
    """Run the load and let samplers work beside it by turns; raises RuntimeError if it ends
    early."""
    length_s = rounds * 2 * (_TURN_S + 0.05) + 2 * _WARMUP_S
    shape = replace(Shape(scenario, clients, length_s), interval_s=_INTERVAL_S)
    order = random.Random(1)
    load = _core.Load(json.dumps(configuration(server, shape, "auto")))
    machine.wait_for_quiet()
    load.connect()
    with _samplers(server) as samplers:
        load.start()
        time.sleep(_WARMUP_S)  # the load's, and that of the samplers' queries
        sessions = _sessions(server)
        before = [machine.process_s(pid) for pid in (samplers, *sessions)]
        turns: list[_Turn] = []
        for number in range(rounds):
            for sampled in order.sample((True, False), 2):
                os.kill(samplers, signal.SIGCONT if sampled else signal.SIGSTOP)
                begun = _core.now_ns()
                time.sleep(_TURN_S)
                turns.append(_Turn(number, sampled, begun + int(_CUT_S * 1e9), _core.now_ns()))
        os.kill(samplers, signal.SIGCONT)
        used = [machine.process_s(pid) for pid in (samplers, *sessions)]
    if load.wait(0.0):
        raise RuntimeError("the load ended before the last turn")
    load.stop()
    while not load.wait(60.0):
        pass
    ratio = mean_ratio(_logs_of_ratios(load, turns))
    # Those who are stopped, and the sessions nobody asks, use nothing.
    own_s, *sessions_s = (now - then for now, then in zip(used, before, strict=True))
    seconds = rounds * _TURN_S
    return Turns(
        shape,
        rounds,
        *ratio,
        own_s / seconds,
        sum(sessions_s) / seconds,
    )


@contextmanager
def _samplers(server: Server) -> Iterator[int]:
    """The running process of the samplers."""
    command = [sys.executable, "-m", "bench.sampling.samplers", json.dumps(for_samplers(server))]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            if process.stdout is None or process.stdout.readline() != "at work\n":
                raise RuntimeError("the samplers did not begin")
            yield process.pid
        finally:
            process.send_signal(signal.SIGCONT)
            process.communicate()


def _sessions(server: Server) -> list[int]:
    """The processes that answer the samplers."""
    with connect(server.parameters) as session:
        return [int(row[0]) for row in session.execute(_SESSIONS, (SAMPLER_NAME,)).fetchall()]


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
