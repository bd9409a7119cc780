"""A run as it happens: block, trial, arm, step, tps, time left.

Enters: the events of a run. Leaves: a live line on a terminal, one plain line per trial elsewhere.
Never: writes to stdout.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.text import Text

from pgassay.cli.console import err, plain
from pgassay.plan.model import Plan, PlannedTrial


class _TimeLeft(ProgressColumn):
    """`least_s` and `most_s` of the task, as minutes."""

    def render(self, task: Task) -> Text:
        least, most = task.fields.get("least_s"), task.fields.get("most_s")
        if least is None or most is None:
            return Text("")
        if most - least < 1:
            return Text(f"{clock(least)} left")
        return Text(f"{clock(least)} to {clock(most)} left")


class RunProgress:
    """An observer that draws; use it as a context manager."""

    def __init__(self) -> None:
        self._plan: Plan | None = None
        self._live = err.is_terminal
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[now]}"),
            _TimeLeft(),
            console=err,
            transient=True,
            disable=not self._live,
        )
        self._task = self._bar.add_task("starting", total=None, now="")
        self._began = 0.0
        self._done = 0
        self._spent_s = 0.0
        self._trial: PlannedTrial | None = None
        self._label = ""

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def planned(self, plan: Plan) -> None:
        """Say what will be done, and how long it may take."""
        self._plan = plan
        arms = len(plan.arms)
        least, most = (blocks * arms * plan.trial_s for blocks in self._bounds(plan))
        err.print(f"[bold]{plain(plan.question)}[/bold]")
        length = clock(least) if least == most else f"{clock(least)} to {clock(most)}"
        err.print(f"{arms} arms, {_blocks(plan)}, trials of {plan.trial_s:.0f} s: about {length}")
        for warning in plan.warnings:
            self.warned(warning)

    def preparing(self, what: str) -> None:
        """A stretch of work outside the trials."""
        # Drawn at once: a phase shorter than a frame shows too.
        self._bar.update(self._task, description=plain(what), total=None, now="", refresh=True)
        if not self._live:
            err.print(plain(what))

    def trial_began(self, trial: PlannedTrial, label: str) -> None:
        """A trial's reset has begun."""
        plan = self._known_plan()
        self._trial, self._label, self._began = trial, label, time.monotonic()
        self._bar.update(
            self._task,
            description=f"block {trial.block}/{plan.max_blocks} trial {trial.number} "
            f"[bold]{plain(label)}[/bold]",
            total=sum(step.duration_s for step in plan.steps),
            completed=0,
            now="reset",
            refresh=True,
        )
        self._show_time_left(0.0)

    def loading(self, progress: Mapping[str, Any]) -> None:
        """The load runs."""
        state = "" if progress["measured"] else "warm-up, "
        self._bar.update(
            self._task,
            completed=progress["elapsed_s"],
            now=f"{state}{progress['clients']} clients, {progress['tps']:,.0f} tps",
        )
        self._show_time_left(time.monotonic() - self._began)

    def trial_ended(self, trial: PlannedTrial, tps: float | None) -> None:
        """A trial is over and stored."""
        took = time.monotonic() - self._began
        self._done += trial.repeats is None
        self._spent_s += took
        shown = "no tps" if tps is None else f"{tps:>9,.0f} tps"
        err.print(
            f"block {trial.block:>2}  trial {trial.number:>3}  {shown}  {plain(self._label)}",
            style=None if tps is not None else "yellow",
        )

    def warned(self, text: str) -> None:
        """Something worth a line."""
        err.print(f"[yellow]warning:[/yellow] {plain(text)}")

    def _show_time_left(self, into_trial_s: float) -> None:
        plan, trial = self._known_plan(), self._trial
        if trial is None:
            return
        each = self._spent_s / self._done if self._done else plan.trial_s
        arms = len(plan.arms)
        done = max(self._done, trial.number - 1)  # a resumed run has trials of before
        left = [
            max(0.0, (max(blocks, trial.block) * arms - done) * each - into_trial_s)
            for blocks in self._bounds(plan)
        ]
        self._bar.update(self._task, least_s=left[0], most_s=left[1])

    @staticmethod
    def _bounds(plan: Plan) -> tuple[int, int]:
        return plan.min_blocks, plan.last_block

    def _known_plan(self) -> Plan:
        if self._plan is None:
            raise RuntimeError("a trial began before its plan was shown")
        return self._plan


def clock(seconds: float) -> str:
    """Such as `45 s`, `12 min` or `3 h 05 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"


def _blocks(plan: Plan) -> str:
    least, most = RunProgress._bounds(plan)
    return f"{least} blocks" if least == most else f"{least} to {most} blocks"
