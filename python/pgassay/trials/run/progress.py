"""What a run reports while it goes on.

Enters: events of the pipeline and of trials. Leaves: nothing.
Never: influences the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pgassay.plan.model import Plan, PlannedTrial
from pgassay.server.comparison import ServerCompared
from pgassay.trials.sampling.live_view import LiveFigures


class ProgressListener:
    """Follows a run; every method returns at once. What a listener does not override is silent."""

    def planned(self, plan: Plan) -> None:
        """The plan is drawn; nothing has been touched."""

    def replanned(self, plan: Plan) -> None:
        """Reports that some arms have no trials in later blocks."""

    def preparing(self, what: str) -> None:
        """A stretch of work outside the trials has begun."""

    def trial_began(self, trial: PlannedTrial, label: str) -> None:
        """A trial's reset has begun."""

    def loading(self, progress: Mapping[str, Any], live: LiveFigures | None = None) -> None:
        """The load runs: the object of `Load.progress`, and what the server does meanwhile."""

    def trial_ended(self, trial: PlannedTrial, tps: float | None) -> None:
        """A trial is over and stored."""

    def trial_of_fleet(
        self, trial: PlannedTrial, label: str, server: str, tps: float | None
    ) -> None:
        """A trial is over and stored that ran on one of several servers, beside others."""

    def fleet_at_work(self, running: Mapping[str, int], finished: int) -> None:
        """Says which server of a fleet runs which block now, and how many blocks are finished."""

    def others_named(self, names: Sequence[str]) -> None:
        """Names the other programs that used most of the host's processors lately."""

    def compared(self, server: ServerCompared) -> None:
        """An existing server was left, after everything was undone that could be."""

    def warned(self, text: str) -> None:
        """Reports something worth a line."""
