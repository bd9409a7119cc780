"""The progress of an observation.

Enters: the figures of the moment. Leaves: a live view on a terminal, a line every 10 s elsewhere.
Never: writes to stdout.
"""

from __future__ import annotations

from collections.abc import Mapping

from rich.live import Live
from rich.table import Table
from rich.text import Text

from pgassay.cli.terminal.console import err, labelled, plain
from pgassay.cli.terminal.live_view import LiveView, figures_line, figures_table
from pgassay.quantities import clock
from pgassay.trials.sampling.live_view import LiveFigures
from pgassay.workflows.observation import Request

_LINE_EVERY_S = 10.0


class ObserveProgress(LiveView):
    """Shows the progress of an observation on standard error; a context manager."""

    def __init__(self, *, live: bool = True) -> None:
        super().__init__(live=live)
        self._view = Live(console=err, auto_refresh=False, transient=True)
        self._request = Request()
        self._server = ""
        self._drawn_s = self._line_s = 0.0

    def began(self, server: str, request: Request) -> None:
        """Sampling has begun."""
        self._server, self._request = server, request
        until = "until Ctrl-C" if request.duration_s is None else f"for {clock(request.duration_s)}"
        err.print(f"observing {plain(server)} {until}; the server is only read")

    def sampled(self, elapsed_s: float, live: LiveFigures | None) -> None:
        """Redraw every second; without a terminal, print a line every 10 s."""
        if live is None:
            return
        if not self.is_live:
            if elapsed_s - self._line_s >= _LINE_EVERY_S:
                self._line_s = elapsed_s
                err.print(f"{clock(elapsed_s)}: {figures_line(live)}", markup=False)
            return
        if elapsed_s - self._drawn_s >= 1.0:
            self._drawn_s = elapsed_s
            self._view.update(self.drawing(elapsed_s, live), refresh=True)

    def drawing(self, elapsed_s: float, live: LiveFigures) -> Table:
        """Returns the whole view."""
        left = ""
        if self._request.duration_s is not None:
            left = f", {clock(max(self._request.duration_s - elapsed_s, 0.0))} left"
        head = Text(f"{plain(self._server)}  {clock(elapsed_s)}{left}", style="bold")
        head.truncate(err.width, overflow="ellipsis")
        view = Table.grid()
        view.add_row(head)
        view.add_row(figures_table(live, err.width))
        return view

    def took(self, cost: Mapping[str, float]) -> None:
        """Show nothing: the report has it."""

    def stored(self, segments: int, disk_bytes: int) -> None:
        """Show nothing: the report has it."""

    def warned(self, text: str) -> None:
        """Print a note."""
        labelled("note: ", text, "yellow", console=err)
