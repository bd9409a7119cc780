"""Carry out one `pgassay draw`: read the source, write the folder, say what it covers.

Enters: what is asked. Leaves: a workload folder, a short end on stdout, progress on stderr.
Never: leaves a folder behind where nothing could be drawn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from shlex import quote

from pgassay.cli.terminal.console import counted, err, labelled, out, print_table, silenced
from pgassay.draw.model import Drawing, Source
from pgassay.draw.roles import looked_up_by, roles_of
from pgassay.draw.writing.coverage import coverage_of, largest_losses, note_of_code, time_of
from pgassay.draw.writing.experiment_file import EXPERIMENT, FirstQuestion, experiment_toml
from pgassay.draw.writing.fidelity import FIDELITY
from pgassay.draw.writing.folder import Writing, write_folder
from pgassay.notes import Note
from pgassay.plan.risks import lacks_of_trace
from pgassay.quantities import clock, share
from pgassay.samples.storage.files import refuse_filled, write_atomically
from pgassay.server.connection.session import as_target_error
from pgassay.server.existing.observed import ObservedServer
from pgassay.server.statements import statement
from pgassay.spec.load.trace_file import lacks_of

_TRACE, _REPLAY = "trace.parquet", "replay.toml"
_LINE_EVERY_S = 30.0
_MOST_CHARACTERS = 70
_VARIED = "random_page_cost"
_LEVELS = ("1.1", "4")


@dataclass(frozen=True)
class Drawn:
    """A drawing, and the first question that its server suggests."""

    drawing: Drawing
    factor: FirstQuestion | None = None
    trace: Callable[[Path], None] | None = None
    """Writes the trace of the log, where there is one."""


def carry_out(
    draw: Callable[[], Drawn], folder: Path, writing: Writing, *, quiet: bool, trace: bool = False
) -> None:
    """Draws, writes the folder and says what is in it."""
    refuse_filled(folder)
    experiments = [EXPERIMENT]
    lacks: tuple[Note, ...] = ()
    with silenced(quiet, err):
        drawn = draw()
        drawing = write_folder(drawn.drawing, folder, replace(writing, factor=drawn.factor))
        if trace and drawn.trace is not None:
            drawn.trace(folder / _TRACE)
            shown = quote(str(folder / _REPLAY))
            text = experiment_toml(drawing, writing.dsn, drawn.factor, shown, _TRACE)
            write_atomically(folder / _REPLAY, text.encode())
            experiments.append(_REPLAY)
            lacks = lacks_of_trace(**lacks_of(folder / _TRACE))
    _say(drawing, folder, experiments, lacks)


def from_statistics(
    dsn: str,
    seconds: float,
    skew: tuple[str, ...],
    transactions: Path | None,
    rows: int | None,
) -> Drawn:
    """Draws from the statistics of a running server."""
    from pgassay.draw.statistics.drawing import draw_statistics
    from pgassay.draw.statistics.options import ROWS, StatisticsOptions

    err.print(f"reading the server's statistics for {clock(seconds)}; it is only read")
    options = StatisticsOptions(
        seconds=seconds,
        skew=skew,
        transactions=transactions,
        rows=rows or ROWS,
        progress=_Progress(seconds),
    )
    factor = _first_question(dsn)
    return Drawn(draw_statistics(dsn, options), factor)


@dataclass(frozen=True)
class AskedOfALog:
    """Whose statements of a log are drawn, and how it was written; as in `LogOptions`."""

    database: str | None
    user: str | None
    application: str | None
    prefix: str | None
    sampled: float
    most_scenarios: int


def from_log(
    patterns: list[str], asked: AskedOfALog, dsn: str | None, rows: int | None, *, mask: bool
) -> Drawn:
    """Draws from the files of a server's log; a pattern stands for the names that fit it. The
    server of `dsn`, if one is given, suggests the first question. With `mask` no constant stays in
    a text."""
    from pgassay.draw.log.drawing import draw_log
    from pgassay.draw.log.new_keys import with_keys_as_logged
    from pgassay.draw.log.options import LogOptions
    from pgassay.draw.log.trace import write_trace

    files = [file for pattern in patterns for file in _files_of(Path(pattern))]
    err.print(f"reading {counted(len(files), 'file')} of a log")
    options = LogOptions(**asdict(asked), keep_constants=not mask, progress=_Share())
    if rows is not None:
        options = replace(options, most_rows=rows)
    drawing = draw_log(files, options)
    # A replay takes one database, that which the scenarios are of.
    traced = replace(options, database=options.database or drawing.figures.database or None)
    trace = partial(write_trace, files, options=traced)
    if dsn is None:
        return Drawn(with_keys_as_logged(drawing), trace=trace)
    factor = _first_question(dsn)
    return Drawn(_looked_up(drawing, dsn), factor, trace)


def _looked_up(drawing: Drawing, dsn: str) -> Drawing:
    """With what the server says of the log's role: where it looks for names, its settings; and with
    keys for the rows it inserts that the server has not."""
    from pgassay.draw.log.new_keys import with_new_keys

    with as_target_error("looking at the server"), ObservedServer(dsn).connect() as session:
        calls = dict.fromkeys(roles_of(session, name=drawing.role).values(), 1)
        schemas, notes = looked_up_by(session, calls)
        found = replace(drawing, schemas=schemas, notes=(*drawing.notes, *notes))
        return with_new_keys(found, session)


def _files_of(pattern: Path) -> list[Path]:
    """The files whose names fit the last part of a path; the path itself where none do."""
    found = sorted(pattern.parent.glob(pattern.name)) if pattern.name else []
    return found or [pattern]


class _Share:
    """Prints on stderr what share of the files is read."""

    def __init__(self) -> None:
        self._said_s = time.monotonic()

    def __call__(self, part: float) -> None:
        if time.monotonic() - self._said_s >= _LINE_EVERY_S:
            self._said_s = time.monotonic()
            err.print(f"{share(part)} of the log")


class _Progress:
    """Prints on stderr how far the reading is."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._said_s = seconds, time.monotonic()

    def __call__(self, elapsed_s: float) -> None:
        if time.monotonic() - self._said_s >= _LINE_EVERY_S:
            self._said_s = time.monotonic()
            err.print(f"{clock(elapsed_s)} of {clock(self._seconds)}")


def _first_question(dsn: str) -> FirstQuestion:
    """The server's own value of a setting that often matters, and another."""
    with as_target_error("looking at the server"), ObservedServer(dsn).connect() as session:
        row = session.execute(
            statement("existing/one_setting"), (_VARIED,), prepare=False
        ).fetchone()
    now = str(row[0]) if row else _LEVELS[1]
    return FirstQuestion(_VARIED, (now, next(one for one in _LEVELS if one != now)))


def _say(drawing: Drawing, folder: Path, experiments: Sequence[str], lacks: Sequence[Note]) -> None:
    coverage = coverage_of(drawing)
    labelled("written   ", str(folder))
    labelled(
        "covered   ",
        f"{share(coverage.calls_share)} of the calls,"
        f" {share(coverage.time_share)} of the time of statements on the source",
    )
    rows = [
        (one.name, str(one.transactions), share(coverage.share_of(time_of(one))))
        for one in sorted(drawing.scenarios, key=lambda one: -time_of(one))
    ]
    # Statistics do not know transactions: each statement is one for itself, unless it was grouped.
    counts = "calls" if drawing.source is Source.STATISTICS else "transactions"
    print_table(("scenario", counts, "time"), rows)
    for lost in largest_losses(drawing):
        part = share(coverage.share_of(lost.time_ms))
        text = lost.text[:_MOST_CHARACTERS]
        labelled(
            "lost      ",
            f"{text} ({counted(lost.calls, 'call')}, {part} of the time):"
            f" {note_of_code(lost.reason)}",
        )
    for note in lacks:
        labelled("replay    ", str(note))
    labelled("read      ", f"{folder / FIDELITY} says how true it is")
    for experiment in experiments:
        for command in ("plan", "run"):
            path = quote(str(folder / experiment))
            out.print(f"next      pgassay {command} {path}", markup=False)
