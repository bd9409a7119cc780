"""Averages are over time: a slow phase that is looked at seldom weighs as much as it lasted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgassay.analysis.measures.signals import sessions_by_event
from pgassay.analysis.observation.model import ObservationSummary
from pgassay.analysis.observation.summary import summarise_observation
from pgassay.analysis.waits.wait_profile import WaitProfile, times_of_looks
from pgassay.samples.observation_directory import ObservationDirectory
from pgassay.trials.model.columns import WAITS
from pgassay.trials.model.record import Piece
from support.synthetic.segments import NOTHING, S, end_of, write

SLOW_FROM, SLOW_TO, OVER = 200, 300, 400
"""Seconds: before and after that one session is busy, and in it nine."""


def ns(times_s: Sequence[float]) -> Any:
    return np.array([round(at * S) for at in times_s], np.int64)


def seconds_of_looks(
    looks: Any, since_ns: int | None = None, gaps: Sequence[tuple[int, int]] = ()
) -> list[float]:
    return [float(time_ns) / S for time_ns in times_of_looks(looks, since_ns, gaps)]


def test_even_looks_weigh_alike() -> None:
    assert seconds_of_looks(ns([1, 2, 3, 4])) == pytest.approx([1, 1, 1, 1])


def test_a_sample_weighs_half_of_the_pauses_beside_it() -> None:
    assert seconds_of_looks(ns([0, 1, 2, 12, 13, 14])) == pytest.approx([1, 1, 5.5, 5.5, 1, 1])


def test_no_sample_represents_time_without_an_answer() -> None:
    looks = ns([0, 1, 2, 12, 13, 14])
    assert seconds_of_looks(looks, gaps=[(3 * S, 11 * S)]) == pytest.approx([1] * 6)
    assert seconds_of_looks(ns([0, 1, 2, 900, 901, 902])) == pytest.approx([1] * 6)


def test_the_pause_between_two_segments_is_counted_once() -> None:
    looks = ns([0, 1, 2, 3, 13, 14, 15, 16])
    one, other = looks[:4], looks[4:]
    seconds = [*seconds_of_looks(one, 0), *seconds_of_looks(other, int(one[-1]))]
    assert sum(seconds) == pytest.approx(16, abs=0.01)


def test_signals_and_the_wait_profile_of_a_segment_give_an_event_the_same_sessions() -> None:
    looks = [10, 11, 12, 40, 41, 42, 44]
    row = dict.fromkeys(WAITS.names) | {"backend_type": "client backend", "pid": 7}
    table = pa.Table.from_pylist(
        [
            row | {"tick_ns": at * S, "wait_event": name, "wait_event_type": name and "IO"}
            for at, name in zip(
                looks, (None, None, "WalSync", None, "WalSync", None, None), strict=True
            )
        ],
        schema=WAITS,
    )
    since, gaps = 7 * S, [(13 * S, 39 * S)]
    profile = WaitProfile(table, since_ns=since, gaps=gaps)
    found = dict(sessions_by_event(table, 0, 60 * S, since_ns=since, gaps=gaps))
    sessions = {name: value for (source, _, name), value in found.items() if source == "sessions"}
    assert sessions == pytest.approx(dict(profile.event_sessions(0, 60 * S)))


@given(st.lists(st.floats(0.02, 60), min_size=1, max_size=60), st.integers(0, 60))
def test_looks_share_all_time_however_they_are_cut_into_segments(
    pauses: list[float], cut: int
) -> None:
    looks = ns(np.r_[0.0, np.cumsum(pauses)].tolist())
    cut = min(cut, len(looks) - 1)
    parts = [part for part in (looks[:cut], looks[cut:]) if len(part)]
    seconds, since = [0.0], 0
    for part in parts:
        seconds += seconds_of_looks(part, since)
        since = int(part[-1])
    assert min(seconds[1:]) > 0
    assert sum(seconds) == pytest.approx(float(looks[-1]) / S, abs=0.01 * len(looks))


def looks_at(times_s: Sequence[float]) -> dict[str, list[Any]]:
    """Rows of busy sessions, whoever is busy at these times."""
    ticks = [round(at * S) for at in times_s for _ in range(9 if SLOW_FROM <= at < SLOW_TO else 1)]
    count = len(ticks)
    slow = [SLOW_FROM * S <= at < SLOW_TO * S for at in ticks]
    return {
        "tick_ns": ticks,
        "pid": list(range(count)),
        "leader_pid": [None] * count,
        "backend_type": ["client backend"] * count,
        "state": ["active"] * count,
        "wait_event_type": ["Lock" if one else None for one in slow],
        "wait_event": ["tuple" if one else None for one in slow],
        "query_id": [None] * count,
        "xact_start_ns": [None] * count,
        "scenario": [None] * count,
    }


def answers(until_s: int) -> dict[str, list[Any]]:
    """Counters each second: the server is there all the time."""
    times = range(until_s)
    return {
        "time_ns": [at * S for at in times], "source": ["cluster"] * until_s,
        "object": [""] * until_s, "name": ["xact_commit"] * until_s,
        "value": [100.0 * at for at in times],
    }  # fmt: skip


def observed_at(
    folder: Path, pause_s: Callable[[float], float], segments_s: Sequence[int]
) -> ObservationSummary:
    times = [0.05]
    while times[-1] + pause_s(times[-1]) < OVER:
        times.append(times[-1] + pause_s(times[-1]))
    directory = ObservationDirectory.create(folder)
    edges = [0, *np.cumsum(segments_s).tolist()]
    counted = answers(OVER)
    for number, (start, end) in enumerate(pairwise(edges), 1):
        own = {name: column[start:end] for name, column in counted.items()}
        waits = looks_at([at for at in times if start <= at < end])
        write(directory, number, Piece(waits, own, NOTHING), end_of(start, end))
    return summarise_observation(list(directory.segments()))


@pytest.mark.parametrize("segments_s", [[OVER], [100] * 4, [10, 250, 40, 100]])
def test_a_slow_phase_that_is_looked_at_seldom_weighs_by_its_time(
    tmp_path: Path, segments_s: list[int]
) -> None:
    rng = np.random.default_rng(7)
    even = observed_at(tmp_path / "even", lambda _: 0.1, [OVER])
    uneven = observed_at(
        tmp_path / "uneven",
        lambda at: rng.uniform(4, 12) if SLOW_FROM <= at < SLOW_TO else 0.1,
        segments_s,
    )
    # A quarter of the time nine are busy; by looks alone it would be about 0.06.
    assert even.classes["lock"] == pytest.approx(9 / 4, rel=0.01)
    assert uneven.classes["lock"] == pytest.approx(9 / 4, rel=0.08)
    assert uneven.events["Lock:tuple"] == pytest.approx(uneven.classes["lock"], rel=0.01)
    assert uneven.active_sessions == pytest.approx(even.active_sessions, rel=0.08)
    assert uneven.gaps_ns == ()


def test_a_lost_connection_is_no_rest(tmp_path: Path) -> None:
    directory = ObservationDirectory.create(tmp_path / "run")
    times = [n / 10 for n in range(1000)] + [310 + n / 10 for n in range(900)]
    counted = answers(OVER)
    seen = [n for n, at in enumerate(counted["time_ns"]) if not 100 * S < at < 310 * S]
    own = {name: [column[n] for n in seen] for name, column in counted.items()}
    write(directory, 1, Piece(looks_at(times), own, NOTHING), end_of(0, OVER))
    observed = summarise_observation(list(directory.segments()))
    assert observed.gaps_ns == ((100 * S, 310 * S),)
    assert observed.classes.get("lock", 0.0) == 0.0
    assert observed.active_sessions == pytest.approx(1.0)
