"""What a plan has found on existing servers and hosts, and its lines on the terminal.

Enters: previews and refusals. Leaves: a `Found`; lines on stdout. Never: looks at a server, or
loads what does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pgassay.cli.terminal.console import labelled
from pgassay.errors import PgassayError
from pgassay.notes import Note
from pgassay.trials.guards.thresholds import unwatched

if TYPE_CHECKING:  # it takes psycopg
    from pgassay.server.preview.host import Preview


@dataclass(frozen=True)
class Found:
    """What was found; nothing where every server is one of our own and no knob is asked for."""

    server: Preview | None = None
    servers: Mapping[str, Preview] = field(default_factory=dict)
    """Those of a fleet, by name."""
    knobs_refused: Sequence[str] = ()
    """Knobs that the host would refuse, a line each."""
    knobs_idle: Sequence[str] = ()
    """Knobs that do nothing there, a line each."""
    risks: Sequence[Note] = ()
    refused: Sequence[PgassayError] = ()
    """What this machine lacks for servers of our own."""

    @property
    def previews(self) -> list[Preview]:
        """Returns what was found on each server."""
        return [*([] if self.server is None else [self.server]), *self.servers.values()]

    @property
    def stops(self) -> bool:
        """Whether a run would stop before its first trial."""
        return bool(self.knobs_refused or self.refused) or any(one.stops for one in self.previews)

    def print_servers(self) -> None:
        """Prints every accepted sign of production and every change, a line each."""
        for one in self.previews:
            _print_server(one)

    def print_stops(self) -> None:
        """Prints what would stop a run before its first trial, a line each."""
        for one in self.previews:
            for sign in one.open_signs:
                accept = f'stops the run unless target.accept has "{sign.name}"'
                labelled("stops: ", f"{sign}; {accept}", "red")
            for refusal in one.refusals:
                labelled("stops: ", str(refusal), "red")
        for stop in (*self.knobs_refused, *map(str, self.refused)):
            labelled("stops: ", stop, "red")


def _print_server(preview: Preview) -> None:
    labelled("server    ", f"{preview.server}, PostgreSQL {preview.version}")
    for sign in preview.signs:
        if sign.name in preview.accepted:
            labelled("sign: ", f"{sign}; accepted", "yellow")
    if not preview.sees_host:
        labelled("risk: ", f"{unwatched()}; target.ssh lets them see it", "yellow")
    for change in preview.changes:
        labelled("change    ", f"{change.where}: {change.what}; {change.takes}")
