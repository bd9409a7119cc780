"""An observation as it goes on.

Enters: what is seen. Leaves: a live view on a terminal, a line now and then elsewhere.
Never: writes to stdout.
"""

from __future__ import annotations

from rich.live import Live
from rich.table import Table
from rich.text import Text

from pgassay.cli.console import err, plain
from pgassay.cli.live import LiveView, seen_line, seen_table
from pgassay.observation import Request
from pgassay.spec.units import clock
from pgassay.trials.glance import Seen

_LINE_EVERY_S = 10.0


class ObserveProgress(LiveView):
    """An observer that draws; use it as a context manager."""

    def __init__(self, *, live: bool = True) -> None:
        super().__init__(live=live)
        self._view = Live(console=err, auto_refresh=False, transient=True)
        self._request = Request()
        self._server = ""
        self._drawn_s = self._line_s = 0.0

    def began(self, server: str, request: Request) -> None:
        """The samplers are at work."""
        self._server, self._request = server, request
        until = "until Ctrl-C" if request.duration_s is None else f"for {clock(request.duration_s)}"
        err.print(f"observing {plain(server)} {until}; it is only read")

    def seen(self, elapsed_s: float, seen: Seen | None) -> None:
        """Redraws each second; without a terminal a line each ten."""
        if seen is None:
            return
        if not self.is_live:
            if elapsed_s - self._line_s >= _LINE_EVERY_S:
                self._line_s = elapsed_s
                err.print(f"{clock(elapsed_s)}: {seen_line(seen)}", markup=False)
            return
        if elapsed_s - self._drawn_s >= 1.0:
            self._drawn_s = elapsed_s
            self._view.update(self.drawing(elapsed_s, seen), refresh=True)

    def drawing(self, elapsed_s: float, seen: Seen) -> Table:
        """The whole view."""
        left = ""
        if self._request.duration_s is not None:
            left = f", {clock(max(self._request.duration_s - elapsed_s, 0.0))} left"
        head = Text(f"{plain(self._server)}  {clock(elapsed_s)}{left}", style="bold")
        head.truncate(err.width, overflow="ellipsis")
        view = Table.grid()
        view.add_row(head)
        view.add_row(seen_table(seen, err.width))
        return view

    def warned(self, text: str) -> None:
        """Something worth a line."""
        err.print(f"[yellow]note:[/yellow] {plain(text)}")
