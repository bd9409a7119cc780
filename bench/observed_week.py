"""A week of an observation, made up as slices, and how long it takes to open.

Enters: how many signals. Leaves: the directory of an observation; a page of times. Never: observes
a server.

    python -m bench.observed_week [--signals 1500] [--out docs/measured/observed-week.md]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bench.machine import load_average, memory_kb, this_machine
from bench.tables import page, table
from pgassay.analysis.observation.slices import SLICE_S, Slices
from pgassay.analysis.observation.stored_slices import as_table, slices_in
from pgassay.analysis.reading.counters import Key
from pgassay.samples.forms.observation import ObservationFile
from pgassay.samples.observation_directory import ObservationDirectory
from pgassay.trials.model.columns import COUNTERS, WAITS
from pgassay.trials.model.record import Columns, Piece, SegmentEnd
from pgassay.workflows.retention import MINUTE_S

DAY_S, SEGMENT_S, FILE_S = 86_400, 600, 14_400
START_S = 1_800_000_000
_S = 10**9
_PLACE = "../observation.md#slices-and-what-is-kept-for-weeks"
_LEVEL_SHARE = 0.7
"""Of the signals that stay as they are over a segment, as most counters of a server do."""


def made_slices(keys: list[Key], start_s: int, seconds: int, width_s: float, seed: int) -> Slices:
    """Slices of a server with a wave of a day; most signals change slowly or not at all."""
    count = round(seconds / width_s)
    source = np.random.default_rng(seed)
    starts = (start_s + np.arange(count) * width_s) * _S
    wave = 1.0 + 0.5 * np.sin(2 * np.pi * (start_s + np.arange(count) * width_s) / DAY_S)
    still = round(_LEVEL_SHARE * len(keys))
    values = {
        key: np.zeros(count) if at < still else wave * source.lognormal(at % 7, 0.1, count)
        for at, key in enumerate(keys)
    }
    full = np.full(count, width_s)
    return Slices(starts.astype(np.int64), full, full, values)


def signals(number: int) -> list[Key]:
    """Keys of this number of signals."""
    known: list[Key] = [
        ("class", "", "lock"),
        ("metric", "", "tps"),
        ("sessions", "", "Lock:tuple"),
    ]
    made = [("tables", f"public.t{at // 20}", f"column_{at % 20}") for at in range(number)]
    return [*made[: number - len(known)], *known]


def make_week(directory: ObservationDirectory, number: int) -> None:
    """Six days of thinned slices, and a day of segments without samples."""
    keys = signals(number)
    directory.write_file(directory.MARK, ObservationFile(server="made up", ended_by="duration"))
    last, start_s = 0, START_S
    while start_s < START_S + 6 * DAY_S:
        last += FILE_S // SEGMENT_S
        slices = made_slices(keys, start_s, FILE_S, MINUTE_S, last)
        directory.write_thinned(as_table(slices), last=last, width_s=MINUTE_S, instead_of=None)
        start_s += FILE_S
    nothing: Columns = {name: [] for name in COUNTERS.names}
    piece = Piece({name: [] for name in WAITS.names}, nothing, nothing)
    while start_s < START_S + 7 * DAY_S:
        last += 1
        end = SegmentEnd(start_s * _S, (start_s + SEGMENT_S) * _S, nothing, (), "log", (), {}, ())
        with directory.write_segment(last) as segment:
            segment.add(piece)
            segment.finish(end)
        slices = made_slices(keys, start_s, SEGMENT_S, SLICE_S, last)
        directory.write_slices(last, as_table(slices))
        start_s += SEGMENT_S


def measured(number: int, rounds: int = 3) -> tuple[str, ...]:
    """A row: signals, slices, megabytes on disk, the median of seconds, memory."""
    with tempfile.TemporaryDirectory(dir=Path.home()) as folder:
        directory = ObservationDirectory.create(Path(folder) / "week")
        make_week(directory, number)
        room = sum(one.stat().st_size for one in directory.path.rglob("*s.parquet"))
        taken, hours = [], []
        for _ in range(rounds):
            began = time.perf_counter()
            slices = slices_in(directory)
            taken.append(time.perf_counter() - began)
            began = time.perf_counter()
            slices.merged(3600)
            hours.append(time.perf_counter() - began)
    return (
        str(number),
        str(len(slices)),
        f"{room / 2**20:.1f}",
        f"{np.median(taken):.2f}",
        f"{np.median(hours):.2f}",
        f"{memory_kb() / 1024:.0f}",
    )


def main() -> None:
    """Print the rows and write the page."""
    options = argparse.ArgumentParser()
    options.add_argument("--signals", type=int, nargs="*", default=[500, 1500])
    options.add_argument("--out", type=Path, default=Path("docs/measured/observed-week.md"))
    given = options.parse_args()
    head = (
        "signals",
        "slices",
        "MB on disk",
        "opened in s",
        "merged to hours in s",
        "MB of memory",
    )
    about = (
        f"Made by `make bench` on {datetime.now(UTC):%Y-%m-%d}; {this_machine()}; load average "
        f"{load_average():.1f}. A made-up week: six days of slices of a minute and one of ten "
        f"seconds, as [an observation keeps them]({_PLACE}); {100 * _LEVEL_SHARE:.0f} % of the "
        "signals do not change within a file. Medians of 3 rounds. Wanted: opened in less than 5 s "
        "on two processors."
    )
    rows = table(head, (measured(number) for number in given.signals))
    given.out.write_text(
        page("Time of opening a week of an observation", about, {"": rows}), "utf-8"
    )


if __name__ == "__main__":
    main()
