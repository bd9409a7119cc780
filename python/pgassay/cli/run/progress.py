"""The progress of a run: block, trial, arm, step, time left, load, waits, host.

Enters: the events of a run. Leaves: a live view on a terminal, one plain line per trial elsewhere.
Never: writes to stdout.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, Progress, SpinnerColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

from pgassay.cli.run.fleet_at_work import FleetAtWork
from pgassay.cli.run.time_left import TimeLeft
from pgassay.cli.terminal.console import counted, err, plain, warn
from pgassay.cli.terminal.live_view import LiveView, LoadRates, figures_table
from pgassay.notes import Note
from pgassay.plan.description import time_range
from pgassay.plan.model import Plan, PlannedTrial
from pgassay.plan.risks import SHOWN_AT_ONCE
from pgassay.quantities import rate
from pgassay.server.comparison import ServerCompared
from pgassay.trials.run.progress import ProgressListener
from pgassay.trials.sampling.live_view import LiveFigures

_FRAMES = 2.0
"""A second; few, because the view may share processors with the load and the server."""


def _state(task: Task) -> Text:
    """The current activity and the time left."""
    return Text("  ".join(filter(None, (task.fields["now"], task.fields.get("left")))))


Forecast = Callable[[Plan], tuple[Plan, Note | None]]
"""The plan with the length of its trials as prior runs here had it, and what it finds, if known."""


class RunProgress(LiveView, ProgressListener):
    """Shows the progress of a run on standard error; a context manager."""

    def __init__(
        self,
        *,
        live: bool = True,
        forecast: Forecast | None = None,
        notes_in: str = "in the report",
    ) -> None:
        super().__init__(live=live)
        self._forecast, self._notes_in = forecast, notes_in
        self._plan: Plan
        self._is_fleet = False
        self._time_left: TimeLeft
        self._fleet: FleetAtWork
        self._below: RenderableType | None = None
        self._rates = LoadRates()
        self._others: Sequence[str] = ()
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", table_column=Column(no_wrap=True)),
            BarColumn(bar_width=20),
            console=err,
            disable=not self.is_live,
        )
        self._task = self._bar.add_task("starting", total=None, now="")
        self._view = Live(
            get_renderable=self.drawing, console=err, transient=True, refresh_per_second=_FRAMES
        )
        self._began = 0.0
        self._done = 0
        self._trial: PlannedTrial | None = None
        self._label = ""
        self.servers: list[ServerCompared] = []
        """The existing servers that the run has left."""

    def drawing(self) -> RenderableType:
        """Returns the whole view."""
        if self._is_fleet:
            self._bar.update(self._task, left=self._fleet.left())
        below = [] if self._below is None else [self._below]
        return Group(self._bar.get_renderable(), _state(self._bar.tasks[0]), *below)

    def planned(self, plan: Plan) -> None:
        """Print the question, the size of the run, how long it may take and what it finds; then
        how many notes the plan has."""
        found = None
        if self._forecast is not None:
            plan, found = self._forecast(plan)
        self._plan, self._time_left, self._fleet = plan, TimeLeft(plan), FleetAtWork(plan)
        parts = [counted(len(plan.arms), "arm"), _blocks(plan), time_range(plan)]
        if found is not None:
            parts.append(plain(str(found)))
        question = f"[bold]{plain(plan.question)}[/bold]  " if plan.question.strip() else ""
        err.print(question + ", ".join(parts))
        at_once = [note for note in plan.notes if note.code in SHOWN_AT_ONCE]
        for note in at_once:
            self.warned(str(note))
        if others := len(plan.notes) - len(at_once):
            err.print(plain(f"{counted(others, 'note')} on this plan: {self._notes_in}"))

    def replanned(self, plan: Plan) -> None:
        """Notes that the time left is that of the trials which are left."""
        self._plan = plan
        self._time_left.replanned(plan)

    def preparing(self, what: str) -> None:
        """Work outside the trials begins."""
        self._below, self._is_fleet = None, False
        self._bar.update(self._task, description=plain(what), total=None, now="", left="")
        # Drawn at once: a phase shorter than a frame shows too.
        self._refresh()
        if not self.is_live:
            err.print(plain(what))

    def trial_began(self, trial: PlannedTrial, label: str) -> None:
        """A trial's reset has begun."""
        plan = self._plan
        self._trial, self._label, self._began = trial, label, time.monotonic()
        self._below, self._rates = None, LoadRates()
        if trial.repeats is None:
            # Of a resumed run, trials of before are among them.
            self._done = self._time_left.before(trial)
        self._bar.update(
            self._task,
            description=f"block {trial.block}/{plan.last_block} trial {trial.number} "
            f"[bold]{plain(label)}[/bold]",
            total=sum(step.duration_s for step in plan.steps),
            completed=0,
            now="reset",
        )
        self._show_time_left(0.0)
        self._refresh()

    def loading(self, progress: Mapping[str, Any], live: LiveFigures | None = None) -> None:
        """The load is running; called a few times a second."""
        if self.is_live:
            now = self._rates.add(progress)
            server = (
                None
                if live is None
                else figures_table(live, err.width, with_tps=False, others=self._others)
            )
            self._below = now if server is None else Group(now, server)
        state = "" if progress["measured"] else "warm-up, "
        self._bar.update(
            self._task,
            completed=progress["elapsed_s"],
            now=state + counted(progress["clients"], "client"),
        )
        self._show_time_left(time.monotonic() - self._began)

    def trial_ended(self, trial: PlannedTrial, tps: float | None) -> None:
        """A trial has ended and is stored."""
        self._time_left.trial_took(time.monotonic() - self._began)
        if trial.repeats is None:
            self._done = self._time_left.before(trial) + 1
        plan = self._plan
        unit = "tps" if plan.queries is None else "queries/s"
        shown = f"{f'no {unit}' if tps is None else f'{rate(tps)} {unit}':>13}"
        # Arms that ran at once are a trial each.
        label = plan.arm(trial.arm).label if plan.together else self._label
        left = "" if self.is_live else f"  ({self._left(0.0)})"
        err.print(
            f"block {trial.block:>2}  trial {trial.number:>3}  {shown}  {plain(label)}{left}",
            style=None if tps is not None else "yellow",
        )

    def trial_of_fleet(
        self, trial: PlannedTrial, label: str, server: str, tps: float | None
    ) -> None:
        """A trial of one of several servers has ended and is stored."""
        self._fleet.trial_ended(server)
        self._bar.update(self._task, completed=self._fleet.done)
        shown = f"{'no tps' if tps is None else f'{rate(tps)} tps':>13}"
        left = "" if self.is_live else f"  ({self._fleet.left()})"
        err.print(
            f"block {trial.block:>2}  trial {trial.number:>3}  {shown}  {plain(label)}"
            f"  on {plain(server)}{left}",
            style=None if tps is not None else "yellow",
        )

    def fleet_at_work(self, running: Mapping[str, int], finished: int) -> None:
        """Servers have begun or ended a block."""
        self._fleet.running(running, finished)
        self._is_fleet = True
        self._bar.update(
            self._task,
            description=self._fleet.described(),
            total=self._plan.last_block * len(self._plan.block(1)),
            completed=self._fleet.done,
            now="",
        )
        self._refresh()

    def others_named(self, names: Sequence[str]) -> None:
        """Keeps the names for the live view."""
        self._others = names

    def compared(self, server: ServerCompared) -> None:
        """Keeps how a server was left, for the end of the command."""
        self.servers.append(server)

    def warned(self, text: str) -> None:
        """Print a warning."""
        warn(text)

    def _refresh(self) -> None:
        if self.is_live:
            self._view.refresh()

    def _show_time_left(self, into_trial_s: float) -> None:
        self._bar.update(self._task, left=self._left(into_trial_s))

    def _left(self, into_trial_s: float) -> str:
        trial = self._trial
        return "" if trial is None else self._time_left.text(trial, self._done, into_trial_s)


def _blocks(plan: Plan) -> str:
    least, most = plan.min_blocks, plan.last_block
    return counted(least, "block") if least == most else f"{least} to {most} blocks"
