"""The live view of a server: its figures of the moment as a line and as a small table.

Enters: `LiveFigures`. Leaves: text that fits 60 columns and uses more where the terminal is wider.
Never: shows as zero what was not measured; colours where NO_COLOR forbids it (rich sees to that).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from pgassay.analysis.reading.metrics import class_of
from pgassay.cli.terminal.console import err, one_line, plain
from pgassay.quantities import rate, spaced
from pgassay.trials.sampling.live_view import LiveFigures

_NO_ANSWER = "no samples lately: the server answers slowly or not at all"
_MOST_EVENTS = 6
_BAR_COLUMNS = 16
_MB = 2**20
_RATE_WINDOW_S = 3.0
_COLOURS = {
    "cpu": "green",
    "wal": "red",
    "data_io": "blue",
    "lock": "magenta",
    "lwlock": "yellow",
    "ipc": "cyan",
}


class LoadRates:
    """Computes the rates of a load over the last seconds, from its progress."""

    def __init__(self) -> None:
        self._kept: deque[Mapping[str, Any]] = deque()

    def add(self, progress: Mapping[str, Any]) -> Text:
        """The line of figures now; a load command has no latencies and counts anew in each step."""
        if self._kept and progress["transactions"] < self._kept[-1]["transactions"]:
            self._kept.clear()
        self._kept.append(progress)
        while progress["elapsed_s"] - self._kept[0]["elapsed_s"] > _RATE_WINDOW_S:
            self._kept.popleft()
        first = self._kept[0]
        seconds = progress["elapsed_s"] - first["elapsed_s"]
        done, failed = (progress[n] - first[n] for n in ("transactions", "failed"))
        if seconds <= 0:
            return Text("")
        parts = [f"{rate(done / seconds)} tps"]
        if done and "latency_ms" in progress:
            mean = (progress["latency_ms"] - first["latency_ms"]) / done
            parts.append(f"{mean:.2f} ms mean latency")
        line = Text("  ".join(parts), style="bold")
        if failed:
            line.append(f"  {failed:,} failed", style="red")
        return line


def is_live() -> bool:
    """Returns whether standard error is a terminal that can be drawn on."""
    return err.is_terminal and not err.is_dumb_terminal


class LiveView:
    """A drawing on standard error that is refreshed on a terminal; a context manager."""

    _view: Live
    """Made by the subclass."""

    def __init__(self, *, live: bool) -> None:
        """With `live` false, nothing is drawn even on a terminal."""
        self.is_live = live and is_live()

    def __enter__(self) -> Self:
        if self.is_live:
            self._view.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.is_live:
            self._view.stop()


def figures_line(figures: LiveFigures, *, with_tps: bool = True) -> str:
    """Returns the figures of the moment as one plain line."""
    if not figures.answers:
        return _NO_ANSWER
    parts = [f"{rate(figures.tps)} commits/s"] if with_tps and figures.tps is not None else []
    parts.append(f"{sum(figures.sessions.values()):.1f} active")
    parts += [f"{one_line(event)} {busy:.1f}" for event, busy in list(figures.sessions.items())[:3]]
    if figures.checkpoint:
        parts.append("checkpoint running")
    parts += _host_parts(figures)
    return ", ".join(parts)


def figures_table(
    figures: LiveFigures, width: int, *, with_tps: bool = True, others: Sequence[str] = ()
) -> RenderableType:
    """Returns the figures of the moment on a few lines: transactions, the largest waits,
    checkpoint, host; `others` are the names of other programs."""
    if not figures.answers:
        return Text(_NO_ANSWER, style="yellow")
    first = []
    if with_tps and figures.tps is not None:
        first.append(f"[bold]{rate(figures.tps)}[/bold] commits/s")
        if figures.rollbacks:
            first.append(f"[red]{spaced(figures.rollbacks, 0)} rollbacks/s[/red]")
    first.append(f"{sum(figures.sessions.values()):.1f} active sessions")
    if figures.checkpoint:
        first.append("[yellow]checkpoint running[/yellow]")
    lines: list[RenderableType] = [Text.from_markup("  ".join(first))]
    if figures.sessions:
        lines.append(_waits(figures, width))
    host = _host_parts(figures, others)
    if host:
        lines.append(Text("host  " + "  ".join(host)))
    return Group(*lines)


def _waits(figures: LiveFigures, width: int) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(max_width=max(width - _BAR_COLUMNS - 12, 20), no_wrap=True)
    table.add_column(justify="right", min_width=6)
    table.add_column(no_wrap=True)
    largest = max(figures.sessions.values())
    for event, busy in list(figures.sessions.items())[:_MOST_EVENTS]:
        kind, _, name = event.partition(":")
        of_class = "cpu" if event == "CPU" else class_of(kind, name)
        bar = "█" * max(1, round(_BAR_COLUMNS * busy / largest))
        colour = _COLOURS.get(of_class, "white")
        table.add_row(plain(event), f"{busy:.2f}", f"[{colour}]{bar}[/{colour}]")
    return table


def _host_parts(figures: LiveFigures, others: Sequence[str] = ()) -> list[str]:
    parts = []
    if figures.processors is not None:
        parts.append(f"CPU {figures.processors['busy']:.0f} %")
        parts.append(f"iowait {figures.processors['iowait']:.0f} %")
        if figures.processors.get("others", 0.0) >= 0.5:
            named = f" ({one_line(', '.join(others))})" if others else ""
            parts.append(f"other programs {figures.processors['others']:.0f} %{named}")
        if figures.processors["steal"] >= 0.5:
            parts.append(f"steal {figures.processors['steal']:.0f} %")
    if figures.read_bytes_s is not None and figures.written_bytes_s is not None:
        parts.append(f"read {figures.read_bytes_s / _MB:.1f} MB/s")
        parts.append(f"written {figures.written_bytes_s / _MB:.1f} MB/s")
    return parts
