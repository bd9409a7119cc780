"""What goes on at a server right now, as lines and as a small table; and views that go on.

Enters: a `Seen`. Leaves: text that fits 60 columns, and uses more where there are more.
Never: shows what was not seen as zero, or colours what NO_COLOR forbids (rich's business).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from pgassay.analysis.metrics import class_of
from pgassay.cli.console import err, one_line, plain
from pgassay.trials.glance import Seen

_MOST_EVENTS = 6
_BAR_COLUMNS = 16
_MB = 1e6
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
    """A load's progress → what it did in the last seconds."""

    def __init__(self) -> None:
        self._kept: deque[Mapping[str, Any]] = deque()

    def add(self, progress: Mapping[str, Any]) -> Text:
        """The line of figures now. A program of the user's has no latencies, and counts by step."""
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
        parts = [f"{done / seconds:,.0f} tps"]
        if done and "latency_ms" in progress:
            mean = (progress["latency_ms"] - first["latency_ms"]) / done
            parts.append(f"{mean:.2f} ms mean latency")
        line = Text("  ".join(parts), style="bold")
        if failed:
            line.append(f"  {failed:,} failed", style="red")
        return line


def is_live() -> bool:
    """Whether standard error is a terminal that can be drawn on."""
    return err.is_terminal and not err.is_dumb_terminal


class LiveView:
    """What is drawn over and over where standard error is a terminal; a context manager."""

    _view: Live
    """Made by the heir, once it has what it draws."""

    def __init__(self, *, live: bool) -> None:
        """`live` says whether a terminal may be drawn on at all."""
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


def seen_line(seen: Seen, *, with_tps: bool = True) -> str:
    """One plain line."""
    if not seen.answers:
        return "nothing seen lately: the server does not answer, or slowly"
    parts = [f"{seen.tps:,.0f} commits/s"] if with_tps and seen.tps is not None else []
    parts.append(f"{sum(seen.sessions.values()):.1f} active")
    parts += [f"{one_line(event)} {busy:.1f}" for event, busy in list(seen.sessions.items())[:3]]
    if seen.checkpoint:
        parts.append("checkpoint under way")
    parts += _host_parts(seen)
    return ", ".join(parts)


def seen_table(seen: Seen, width: int, *, with_tps: bool = True) -> RenderableType:
    """Transactions, the largest waits, checkpoint, host."""
    if not seen.answers:
        return Text("nothing seen lately: the server does not answer, or slowly", style="yellow")
    first = []
    if with_tps and seen.tps is not None:
        first.append(f"[bold]{seen.tps:,.0f}[/bold] commits/s")
        if seen.rollbacks:
            first.append(f"[red]{seen.rollbacks:,.0f} rollbacks/s[/red]")
    first.append(f"{sum(seen.sessions.values()):.1f} active sessions")
    if seen.checkpoint:
        first.append("[yellow]checkpoint under way[/yellow]")
    lines: list[RenderableType] = [Text.from_markup("  ".join(first))]
    if seen.sessions:
        lines.append(_waits(seen, width))
    host = _host_parts(seen)
    if host:
        lines.append(Text("host  " + "  ".join(host)))
    return Group(*lines)


def _waits(seen: Seen, width: int) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(max_width=max(width - _BAR_COLUMNS - 12, 20), no_wrap=True)
    table.add_column(justify="right", min_width=6)
    table.add_column(no_wrap=True)
    largest = max(seen.sessions.values())
    for event, busy in list(seen.sessions.items())[:_MOST_EVENTS]:
        kind, _, name = event.partition(":")
        of_class = "cpu" if event == "CPU" else class_of(kind, name)
        bar = "█" * max(1, round(_BAR_COLUMNS * busy / largest))
        colour = _COLOURS.get(of_class, "white")
        table.add_row(plain(event), f"{busy:.2f}", f"[{colour}]{bar}[/{colour}]")
    return table


def _host_parts(seen: Seen) -> list[str]:
    parts = []
    if seen.processors is not None:
        parts.append(f"CPU {seen.processors['busy']:.0f} %")
        parts.append(f"iowait {seen.processors['iowait']:.0f} %")
        if seen.processors["steal"] >= 0.5:
            parts.append(f"steal {seen.processors['steal']:.0f} %")
    if seen.read_bytes_s is not None and seen.written_bytes_s is not None:
        parts.append(f"read {seen.read_bytes_s / _MB:.1f} MB/s")
        parts.append(f"written {seen.written_bytes_s / _MB:.1f} MB/s")
    return parts
